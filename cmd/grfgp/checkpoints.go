package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"grfgp"
	"grfgp/gp"
	"grfgp/internal/atomicfile"
	"grfgp/internal/cli"
	"grfgp/internal/plural"
)

// checkpointFlag is that of verbs whose fits can take long.
func (m *modelFlags) checkpointFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&m.checkpoints, "checkpoints", "",
		"`folder` for checkpoints of iterative fits; after an interruption, the same command continues from the last one")
}

// together says how fits go on: over the ranks, and from checkpoints.
func (a *app) together(dir string) (grfgp.Together, error) {
	t := grfgp.Together{Ranks: a.Ranks}
	if dir == "" {
		return t, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return t, cli.Usagef("--checkpoints %s: %v; name a folder that can be written to", dir, err)
	}
	t.Checkpoints = &checkpoints{dir: dir, talk: a.Talk}
	return t, nil
}

// checkpointEvery is how much time passes between two states. It is a variable for tests.
var checkpointEvery = 30 * time.Second

// checkpoints keep states of fits in files of a folder.
type checkpoints struct {
	dir  string
	talk *cli.Talk
}

var _ gp.Checkpoints = (*checkpoints)(nil)

func (c *checkpoints) file(name string) string { return filepath.Join(c.dir, name+".state") }

func (c *checkpoints) Load(name string) ([]byte, error) {
	data, err := os.ReadFile(c.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// Every implements gp.Checkpoints.
func (c *checkpoints) Every() time.Duration { return checkpointEvery }

// Resumed says that a fit goes on.
func (c *checkpoints) Resumed(epochs int) {
	c.talk.Say("  the fit continues from a checkpoint in %s, after %s", c.dir, plural.Count(epochs, "epochs"))
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
