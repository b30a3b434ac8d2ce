package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"grfgp/graphio"
	"grfgp/internal/paper/experiment"
)

// binder is the folder of a reproduction: finished cells in a folder for each
// experiment; CSV, figures and a chapter file beside them; and the report.
type binder struct {
	dir  string
	lock *os.File
}

// chapter is what one experiment came to, as it is kept and as it is answered.
type chapter struct {
	Version int                 `json:"version"`
	Name    string              `json:"name"`
	Title   string              `json:"title"`
	About   string              `json:"about"`
	Options experiment.Options  `json:"options"`
	Cells   int                 `json:"cells"`
	Listed  int                 `json:"listed,omitempty"`  // cells that there are in all
	Seconds float64             `json:"seconds,omitempty"` // that the cells took, wherever and whenever they ran; 0: not known
	Program string              `json:"program,omitempty"` // and machine, by which the chapter was written
	Columns []columnFact        `json:"columns"`
	Section *experiment.Section `json:"section"`
}

// columnFact explains a column of the CSV.
type columnFact struct {
	Name  string `json:"name"`
	About string `json:"about"`
	Cost  bool   `json:"cost,omitempty"` // in the file of costs
}

func columnFacts(columns []experiment.Column) []columnFact {
	var all []columnFact
	for _, c := range columns {
		all = append(all, columnFact{c.Name, c.About, c.Kind == experiment.Cost})
	}
	return all
}

// openBinder makes the folder where it is missing, and keeps other processes out
// of it.
func openBinder(dir string) (*binder, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, usagef("-o %s: %v; name another folder", dir, err)
	}
	f, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, usagef("-o %s: nothing can be written there (%v); name another folder", dir, err)
	}
	switch err := lockFile(f); {
	case errors.Is(err, errLocked):
		f.Close()
		return nil, &exitError{exitHeld, fmt.Errorf("another grfgp is at work in %s; wait for it, or give another folder with -o", dir)}
	case err != nil:
		f.Close()
		return nil, usagef("-o %s: %v; name another folder", dir, err)
	}
	return &binder{dir, f}, nil
}

// keepsFull says that a quick look would overwrite the results of a full run.
func (b *binder) keepsFull(chosen []*experiment.Experiment) error {
	for _, e := range chosen {
		if c, err := b.chapter(e.Name); err == nil && c != nil && !c.Options.Quick {
			return usagef("-o %s has results of a full run of %s, which a quick one would overwrite; name another folder", b.dir, e.Name)
		}
	}
	return nil
}

// thisProgram is the version, and the machine that it runs on.
func thisProgram() string {
	return fmt.Sprintf("grfgp %s, %s/%s, %d processors, threads: %d", version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.GOMAXPROCS(0))
}

// errLocked is what lockFile returns for a file that another process has locked.
var errLocked = errors.New("locked by another process")

// close lets others in. The file stays: removing it would race with them.
func (b *binder) close() { b.lock.Close() }

// shelf returns the place of an experiment's cells.
func (b *binder) shelf(name string) experiment.Shelf { return cellFolder(filepath.Join(b.dir, name)) }

// cellFolder is a shelf of files.
type cellFolder string

func (f cellFolder) Load(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(string(f), name))
}

func (f cellFolder) Save(name string, data []byte) error {
	if err := os.MkdirAll(string(f), 0o777); err != nil {
		return err
	}
	return writeBytes(filepath.Join(string(f), name), data)
}

func writeBytes(path string, data []byte) error {
	return graphio.WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

const figureDPI = 144

// write writes CSV files, figures, and at last the chapter that names them.
func (b *binder) write(e *experiment.Experiment, r *experiment.Results, c *chapter) error {
	table := func(file string, write func(io.Writer, experiment.Rows) error) error {
		return graphio.WriteFile(filepath.Join(b.dir, file), func(w io.Writer) error { return write(w, r.Rows) })
	}
	if err := table(e.Name+".csv", e.WriteCSV); err != nil {
		return err
	}
	if e.HasCosts() {
		if err := table(e.Name+"-costs.csv", e.WriteCosts); err != nil {
			return err
		}
	}
	for _, f := range c.Section.Figures {
		if err := writeBytes(b.figure(e.Name, f), f.Picture.PNG(figureDPI)); err != nil {
			return err
		}
	}
	data, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", e.Name, err)
	}
	return writeBytes(filepath.Join(b.dir, e.Name+".json"), append(data, '\n'))
}

func (b *binder) figure(name string, f experiment.Figure) string {
	return filepath.Join(b.dir, figureFile(name, f))
}

func figureFile(name string, f experiment.Figure) string { return name + "-" + f.Name + ".png" }

// chapter returns what is kept of an experiment, nil if nothing is.
func (b *binder) chapter(name string) (*chapter, error) {
	path := filepath.Join(b.dir, name+".json")
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var c chapter
	if err := json.Unmarshal(data, &c); err != nil || c.Section == nil {
		return nil, dataf("%s is damaged; remove it, or run 'grfgp reproduce %s' again", path, name)
	}
	return &c, nil
}
