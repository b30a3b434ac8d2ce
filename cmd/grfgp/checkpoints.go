package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"grfgp"
	"grfgp/gp"
	"grfgp/internal/atomicfile"
)

// checkpointFlag is that of verbs whose fits can take long.
func (m *modelFlags) checkpointFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&m.checkpoints, "checkpoints", "", "`folder` for states of fits with the iterative solver: after an interruption, the same command goes on from the last")
}

// together says how fits go on: over the ranks, and from checkpoints.
func (a *app) together(dir string) (grfgp.Together, error) {
	t := grfgp.Together{Ranks: a.ranks}
	if dir == "" {
		return t, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return t, usagef("--checkpoints %s: %v; name a folder that can be written to", dir, err)
	}
	t.Checkpoints = &checkpoints{dir: dir, talk: a.talk}
	return t, nil
}

// checkpoints keep states of fits in files of a folder.
type checkpoints struct {
	dir  string
	talk *talk
	told bool
}

var _ gp.Checkpoints = (*checkpoints)(nil)

func (c *checkpoints) file(name string) string { return filepath.Join(c.dir, name+".state") }

func (c *checkpoints) Load(name string) ([]byte, error) {
	data, err := os.ReadFile(c.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && !c.told {
		c.talk.Say("  the fit goes on from a checkpoint in %s", c.dir)
		c.told = true
	}
	return data, err
}

func (c *checkpoints) Save(name string, state []byte) error {
	return atomicfile.Write(c.file(name), func(w io.Writer) error {
		_, err := w.Write(state)
		return err
	})
}

func (c *checkpoints) Remove(name string) error {
	err := os.Remove(c.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
