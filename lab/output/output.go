// Package output is the folder that a reproduction of the paper writes to. It holds
//
//	NAME/              cached results of finished parts, one file each
//	NAME.csv           keys and numbers of all rows
//	NAME-costs.csv     seconds and bytes, which differ from run to run
//	NAME-FIGURE.png    figures
//	NAME.json          the Summary: tables, findings and origin
//	report.html, .md   a report on every experiment with results in the folder
//
// where NAME is that of an experiment.
package output

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"grfgp/internal/atomicfile"
	"grfgp/lab/experiment"
)

// Errors that callers tell apart.
var (
	// ErrInUse means that another process is writing to the folder.
	ErrInUse = errors.New("folder in use by another process")
	// ErrDamaged means that a file of the folder is missing or cannot be read.
	ErrDamaged = errors.New("damaged")
)

// Folder is an output folder, locked for this process.
type Folder struct {
	dir  string
	lock *os.File
}

// Summary is the outcome of one experiment.
type Summary struct {
	Version int                 `json:"version"`
	Name    string              `json:"name"`
	Title   string              `json:"title"`
	About   string              `json:"about"`
	Options experiment.Options  `json:"options"`
	Parts   int                 `json:"cells"`
	Listed  int                 `json:"listed,omitempty"`  // all parts, with those that did not run
	Seconds float64             `json:"seconds,omitempty"` // total time of the parts; 0: not known
	Program string              `json:"program,omitempty"` // program and machine that wrote the summary
	Columns []Column            `json:"columns"`
	Section *experiment.Section `json:"section"`
}

// Column explains a column of the CSV files.
type Column struct {
	Name  string `json:"name"`
	About string `json:"about"`
	Cost  bool   `json:"cost,omitempty"` // in NAME-costs.csv
}

// Open creates the folder if needed and locks it until Close.
func Open(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		f.Close()
		return nil, err
	}
	return &Folder{dir, f}, nil
}

// Close unlocks the folder. The lock file stays: removing it would race with other
// processes.
func (f *Folder) Close() { f.lock.Close() }

// Plan plans an experiment with the parts that are finished in this folder.
func (f *Folder) Plan(e *experiment.Experiment, opts experiment.Options, say func(format string, args ...any)) (*experiment.Plan, error) {
	return experiment.NewPlan(e, opts, cache(filepath.Join(f.dir, e.Name)), say)
}

// cache is a folder with a file per part.
type cache string

func (c cache) Load(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(string(c), name))
}

func (c cache) Save(name string, data []byte) error {
	if err := os.MkdirAll(string(c), 0o777); err != nil {
		return err
	}
	return writeBytes(filepath.Join(string(c), name), data)
}

func writeBytes(path string, data []byte) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

const figureDPI = 144

// Write makes tables and figures of the results and writes all files of the experiment;
// the summary, which refers to the others, comes last. Version is that of the program.
func (f *Folder) Write(e *experiment.Experiment, opts experiment.Options, r *experiment.Results, version string) (*Summary, error) {
	section, err := e.Show(opts, r)
	if err != nil {
		return nil, fmt.Errorf("tables and figures of %s: %w", e.Name, err)
	}
	section.Tables = slices.DeleteFunc(section.Tables, func(t experiment.Table) bool { return len(t.Rows) == 0 }) // of parts that have not run
	s := &Summary{
		Version: 1, Name: e.Name, Title: e.Title, About: e.About, Options: opts, Parts: len(r.Parts), Listed: r.Listed,
		Seconds: e.Seconds(r.Rows), Section: section,
		Program: fmt.Sprintf("grfgp %s, %s/%s, %d processors, threads: %d", version, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(),
			runtime.GOMAXPROCS(0)),
	}
	for _, c := range e.Columns {
		s.Columns = append(s.Columns, Column{c.Name, c.About, c.Kind == experiment.Cost})
	}
	table := func(file string, write func(io.Writer, experiment.Rows) error) error {
		return atomicfile.Write(filepath.Join(f.dir, file), func(w io.Writer) error { return write(w, r.Rows) })
	}
	if err := table(e.Name+".csv", e.WriteCSV); err != nil {
		return nil, err
	}
	if e.HasCosts() {
		if err := table(e.Name+"-costs.csv", e.WriteCosts); err != nil {
			return nil, err
		}
	}
	for _, figure := range section.Figures {
		if err := writeBytes(f.figure(e.Name, figure), figure.Picture.PNG(figureDPI)); err != nil {
			return nil, err
		}
	}
	data, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", e.Name, err)
	}
	return s, writeBytes(filepath.Join(f.dir, e.Name+".json"), append(data, '\n'))
}

func (f *Folder) figure(name string, figure experiment.Figure) string {
	return filepath.Join(f.dir, figureFile(name, figure))
}

func figureFile(name string, figure experiment.Figure) string {
	return name + "-" + figure.Name + ".png"
}

// Summary reads the summary of an experiment, nil if the folder has none.
func (f *Folder) Summary(name string) (*Summary, error) {
	path := filepath.Join(f.dir, name+".json")
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var s Summary
	if err := json.Unmarshal(data, &s); err != nil || s.Section == nil {
		return nil, fmt.Errorf("%w: %s; remove it, or run 'grfgp-lab reproduce %s' again", ErrDamaged, path, name)
	}
	return &s, nil
}
