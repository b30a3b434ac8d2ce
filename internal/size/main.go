// Command size prints how large every package is, and writes the ceilings that its test holds
// them to.
//
//	go run ./internal/size                  prints a table
//	go run ./internal/size -write           lowers ceilings to today's sizes, and adds new packages
//	go run ./internal/size -write -raise    raises them too; the commit says why
//
// Lines are those of wc: code, comments and blank lines of Go, without tests.
package main

import (
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"text/tabwriter"
)

// ceilingsFile is where the ceilings are, from the root of the repository.
const ceilingsFile = "internal/size/ceilings.txt"

// Totals of packages, which have ceilings too. The lab is the laboratory: experiments,
// benchmarks and load tests, which are not in the product's program.
const (
	product = "product"
	lab     = "lab"
)

// Ceilings are sizes rounded up to a multiple of these, so that small changes need no new ceiling.
const (
	lineStep = 50
	nameStep = 10
)

// size is how large a package is.
type size struct {
	code, comments, blank int // lines without tests
	tests                 int // lines of tests
	exported              int // names
}

func (s size) lines() int { return s.code + s.comments + s.blank }

func (s *size) add(t size) {
	s.code += t.code
	s.comments += t.comments
	s.blank += t.blank
	s.tests += t.tests
	s.exported += t.exported
}

func main() {
	write := flag.Bool("write", false, "write today's sizes as ceilings where they are lower")
	raise := flag.Bool("raise", false, "with -write: also where they are higher")
	flag.Parse()
	if err := run(os.DirFS("."), *write, *raise, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
}

func run(root fs.FS, write, raise bool, out io.Writer) error {
	packages, err := measure(root)
	if err != nil {
		return err
	}
	if !write {
		return table(out, packages)
	}
	old := map[string]ceiling{}
	if text, err := fs.ReadFile(root, ceilingsFile); err == nil {
		if old, err = parseCeilings(string(text)); err != nil {
			return err
		}
	}
	return os.WriteFile(ceilingsFile, []byte(format(renew(old, packages, raise))), 0o644)
}

// measure returns the sizes of all packages by their folders.
func measure(root fs.FS) (map[string]size, error) {
	packages := map[string]size{}
	err := goFiles(root, func(name string, text []byte) error {
		f, err := parse(name, text)
		if err != nil {
			return err
		}
		s := packages[path.Dir(name)]
		s.add(f.size())
		packages[path.Dir(name)] = s
		return nil
	})
	for name, s := range packages {
		if s.lines() == 0 {
			delete(packages, name) // tests alone
		}
	}
	return packages, err
}

// goFiles visits all Go files but those of test data and of other programs' packages.
func goFiles(root fs.FS, visit func(name string, text []byte) error) error {
	return fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && name != "."):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		return visit(name, text)
	})
}

// part returns the total that a package belongs to.
func part(folder string) string {
	if folder == "cmd/grfgp-lab" || folder == "lab" || strings.HasPrefix(folder, "lab/") {
		return lab
	}
	return product
}

func totals(packages map[string]size) map[string]size {
	all := map[string]size{product: {}, lab: {}}
	for name, s := range packages {
		total := all[part(name)]
		total.add(s)
		all[part(name)] = total
	}
	return all
}

func table(out io.Writer, packages map[string]size) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, s size) {
		fmt.Fprintf(t, "%d\t%d\t%d\t%d\t%d\t%d\t  %s\n", s.lines(), s.code, s.comments, s.blank, s.tests, s.exported, name)
	}
	fmt.Fprint(t, "lines\tcode\tcomments\tblank\ttests\texported\t  package\n")
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		row(name, packages[name])
	}
	all := totals(packages)
	row(product, all[product])
	row(lab, all[lab])
	return t.Flush()
}
