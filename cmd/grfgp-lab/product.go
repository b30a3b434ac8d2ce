package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"grfgp/internal/cli"
)

// productFlag is the flag of verbs that run the program grfgp.
type productFlag struct{ program string }

func (f *productFlag) flag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.program, "program", "", "`file` of the program grfgp (default: the one beside this program; within the "+
		"repository one that is built from it; or the one of the PATH)")
}

// with runs do with a file of the program grfgp.
func (f *productFlag) with(ctx context.Context, a *app, do func(program string) error) (err error) {
	if f.program != "" {
		return do(f.program)
	}
	name := "grfgp"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if own, err := os.Executable(); err == nil {
		if beside := filepath.Join(filepath.Dir(own), name); isFile(beside) {
			return do(beside)
		}
	}
	if module, err := exec.CommandContext(ctx, "go", "list", "-m").Output(); err == nil && strings.TrimSpace(string(module)) == "grfgp" {
		dir, err := os.MkdirTemp("", "grfgp-lab-")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		built := filepath.Join(dir, name)
		s := a.Talk.Stage("building grfgp")
		if out, err := exec.CommandContext(ctx, "go", "build", "-tags", ownTags(), "-o", built, "grfgp/cmd/grfgp").CombinedOutput(); err != nil {
			return fmt.Errorf("go build grfgp/cmd/grfgp: %w\n%s", err, out)
		}
		s.Done("from the repository")
		return do(built)
	}
	if found, err := exec.LookPath(name); err == nil {
		return do(found)
	}
	return cli.Usagef("there is no program grfgp beside this one or in the PATH; give --program FILE, or work in the repository, where it " +
		"can be built")
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// ownTags are the build tags of this program, such as gpu.
func ownTags() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-tags" {
				return s.Value
			}
		}
	}
	return ""
}
