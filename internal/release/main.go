// Command release builds the program for all platforms and packs each build with the
// licence, the documentation, man pages and shell completions:
//
//	go run ./internal/release               # all platforms, into dist
//	go run ./internal/release -only linux/amd64 -o /somewhere
//
// The same commit and the same version of Go give the same bytes, on any machine and in any
// folder: there is no cgo, paths are trimmed, and files in archives have the time of the
// commit. SHA256SUMS lists the checksums.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"grfgp/internal/version"
)

// platforms are those that releases are built for.
var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

// platform is an operating system and an architecture.
type platform struct{ system, arch string }

func (p platform) String() string { return p.system + "/" + p.arch }

// program is the name of the program's file.
func (p platform) program() string {
	if p.system == "windows" {
		return "grfgp.exe"
	}
	return "grfgp"
}

func main() {
	out := flag.String("o", "dist", "`folder` for the archives")
	only := flag.String("only", "", "build for this `platform` alone, such as linux/amd64")
	changed := flag.Bool("changed", false, "build although there are changes that are not committed; the program then names no commit")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *out, *only, *changed); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out, only string, changed bool) error {
	chosen := platforms
	if only != "" {
		k := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == only })
		if k < 0 {
			return fmt.Errorf("-only %s: give one of %v", only, platforms)
		}
		chosen = platforms[k : k+1]
	}
	root, err := sources()
	if err != nil {
		return err
	}
	s, err := stateOf(ctx, root, changed)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "grfgp-release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	common, err := documentation(ctx, root, filepath.Join(work, "manual"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	var archives []string
	for _, p := range chosen {
		began := time.Now()
		program := filepath.Join(work, p.system+"-"+p.arch, p.program())
		if err := build(ctx, root, p, s.commit, program); err != nil {
			return err
		}
		archive, err := pack(out, p, s.time, append(slices.Clone(common), file{p.program(), program, true}))
		if err != nil {
			return err
		}
		fmt.Printf("%s (%s)\n", archive, time.Since(began).Round(time.Second))
		archives = append(archives, archive)
	}
	return writeSums(filepath.Join(out, "SHA256SUMS"), archives)
}

// sources returns the root of the repository.
func sources() (string, error) {
	mod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	root := filepath.Dir(strings.TrimSpace(string(mod)))
	if _, err := os.Stat(filepath.Join(root, "cmd", "grfgp")); err != nil {
		return "", errors.New("start it within the repository of grfgp")
	}
	return root, nil
}

// state is what is released.
type state struct {
	commit string    // empty: unknown
	time   time.Time // of the commit
}

// stateOf returns the commit of the sources, which must have no other changes unless changed
// is true.
func stateOf(ctx context.Context, root string, changed bool) (state, error) {
	if changed {
		return state{time: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}, nil // the first that zip knows
	}
	git := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = root
		out, err := cmd.Output()
		return strings.TrimSpace(string(out)), err
	}
	status, err := git("status", "--porcelain")
	if err != nil {
		return state{}, fmt.Errorf("git status: %w; outside of a repository give -changed", err)
	}
	if status != "" {
		return state{}, errors.New("there are changes that are not committed: commit them, or give -changed")
	}
	commit, err := git("rev-parse", "HEAD")
	if err != nil {
		return state{}, err
	}
	text, err := git("log", "-1", "--format=%ct")
	if err != nil {
		return state{}, err
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	return state{commit, time.Unix(seconds, 0).UTC()}, err
}

// build builds the program for a platform.
func build(ctx context.Context, root string, p platform, commit, program string) error {
	flags := "-s -w -buildid="
	if commit != "" {
		flags += " -X grfgp/internal/version.commit=" + commit
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", program, "./cmd/grfgp")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0", "GOOS="+p.system, "GOARCH="+
		p.arch)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building for %v: %w\n%s", p, err, out)
	}
	return nil
}

// documentation returns the files that every archive has. Man pages and completions are
// written to a folder.
func documentation(ctx context.Context, root, manual string) ([]file, error) {
	cmd := exec.CommandContext(ctx, "go", "run", "./cmd/grfgp", "manual", manual)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("writing the manual: %w\n%s", err, out)
	}
	all, err := below(manual, ".")
	if err != nil {
		return nil, err
	}
	docs, err := below(root, "docs")
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		all = append(all, file{name, filepath.Join(root, name), false})
	}
	return append(all, docs...), nil
}

// archiveName is the name of an archive, without its ending.
func archiveName(p platform) string {
	return fmt.Sprintf("grfgp-%s-%s-%s", version.Number(), p.system, p.arch)
}
