package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
)

// Flags that name files, in every verb that has them.
var (
	inputFlags = []string{"edges", "nodes", "measurements", "labels", "model", "from", "truth", "allowed", "exclude", "pending", "cost",
		"group"}
	outputFlags = []string{"out", "rejects", "save-model", "plot"}
)

// checkFiles refuses, before any work is done, two inputs from standard input,
// outputs that cannot be written, and outputs that would overwrite an input or each
// other.
func (a *App) checkFiles(flags *pflag.FlagSet) error {
	type named struct {
		flag, path string
		info       fs.FileInfo
	}
	var taken []named // what no output may be
	stream := ""      // the flag of standard input
	for _, flag := range inputFlags {
		if valueOf(flags, flag) == "-" {
			if !a.Ranks.Alone() {
				return Usagef("--%s -: all %d ranks read the file, and standard input reaches one of them only; give the name of a file", flag,
					a.Ranks.Size())
			}
			if stream != "" {
				return Usagef("--%s - and --%s -: only one file can come from standard input", stream, flag)
			}
			stream = flag
		}
		if path := valueOf(flags, flag); path != "" {
			if info, err := a.stat(path); err == nil { // reading says what is wrong with others
				taken = append(taken, named{flag, path, info})
			}
		}
	}
	for _, flag := range outputFlags {
		path := valueOf(flags, flag)
		if path == "" {
			continue
		}
		place, err := filepath.EvalSymlinks(path)
		if err != nil {
			place = path // new
		}
		info, err := os.Stat(place)
		switch {
		case err != nil || info.Mode().IsRegular():
			if err := writable(place); err != nil {
				return Usagef("--%s %s: %v", flag, path, err)
			}
		case info.IsDir():
			return Usagef("--%s %s is a directory; name a file in it", flag, path)
		default:
			continue // a device or a pipe: nothing is lost there
		}
		for _, other := range taken {
			if info != nil && other.info != nil && os.SameFile(info, other.info) || samePlace(place, other.path) {
				return Usagef("--%s %s would overwrite --%s %s; name another file", flag, path, other.flag, other.path)
			}
		}
		taken = append(taken, named{flag, place, info})
	}
	return nil
}

// valueOf returns the value of a flag, "" where the verb has no such flag.
func valueOf(flags *pflag.FlagSet, name string) string {
	if f := flags.Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

// stat looks at a file, "-" being the standard input that Run was given.
func (a *App) stat(path string) (fs.FileInfo, error) {
	if path != "-" {
		return os.Stat(path)
	}
	if f, ok := a.In.(*os.File); ok {
		return f.Stat()
	}
	return nil, fs.ErrNotExist
}

// samePlace tells whether two paths, of files that may not exist yet, are one.
func samePlace(a, b string) bool {
	a, errA := filepath.Abs(a)
	b, errB := filepath.Abs(b)
	return errA == nil && errB == nil && a == b
}

// writable says why no file can be created at path, if so. Files are first written
// under a temporary name in the same directory.
func writable(path string) error {
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("there is no directory %s; create it first", dir)
	}
	f, err := os.CreateTemp(dir, ".grfgp-*.tmp")
	if err != nil {
		return fmt.Errorf("cannot write to %s; check its permissions (%w)", dir, err)
	}
	f.Close()
	return os.Remove(f.Name())
}

// SameFile reports whether two paths name one file.
func SameFile(a, b string) bool {
	if a == "-" || b == "-" {
		return false
	}
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}
