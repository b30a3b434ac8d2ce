// Package experiment runs the paper's tables and figures again, and puts our
// numbers beside the paper's: by the authors' protocol, and by a clean one.
//
// An Experiment is a list of small independent cells, mostly one seed of one arm
// at one size. Run computes those that are not yet on a Shelf, puts each there
// when it is finished, and gathers all of them into Results. The experiment then
// makes a Section of the results: tables, figures and findings.
package experiment

import (
	"context"
	"errors"
	"regexp"
)

// Errors that callers tell apart.
var (
	// ErrNoData is about data that an experiment needs and that is not on this machine.
	ErrNoData = errors.New("experiment: no data")
	// ErrNoPart is about a choice that leaves no cell.
	ErrNoPart = errors.New("experiment: no such part")
	// ErrUnfinished is about finished cells where there are none.
	ErrUnfinished = errors.New("experiment: nothing is finished")

	errNeedless = errors.New("experiment: another cell takes its place")
)

// Experiment is one study of the paper.
type Experiment struct {
	Name    string // one word, for the command line and for files
	Title   string
	About   string // what is done, and how the two protocols differ: a paragraph
	Version int    // to be raised when the code gives other results for the same settings
	Columns []Column
	Took    []string // columns of costs that add up to the seconds of a cell; none: nobody has measured them
	// Cells lists the work. It must be quick and always the same for the same
	// options: what is costly, such as reading data, belongs into the cells.
	Cells func(Options) []Cell
	// Show makes tables and figures of the results of all cells.
	Show func(Options, *Results) (*Section, error)
}

// Options say how much to run.
type Options struct {
	Quick bool   `json:"quick"` // a minute's work, to see that all is well
	Seeds int    `json:"seeds"` // repetitions; 0 means as many as the experiment finds proper
	Seed  uint64 `json:"seed"`
	// Only leaves the cells whose names it matches; nil leaves all.
	Only *regexp.Regexp `json:"only,omitempty"`
	// Finished runs nothing: results are of cells on the shelf alone.
	Finished bool `json:"finished,omitempty"`
}

// Repeats returns how often to repeat: as asked for, or as many as are proper.
func (o Options) Repeats(quick, full int) int {
	switch {
	case o.Seeds > 0:
		return o.Seeds
	case o.Quick:
		return quick
	}
	return full
}

// Cell is the least piece of work that is kept.
type Cell struct {
	Name string // unique within the experiment; letters, digits, '.', '-' and '_'
	// Settings are all that the result depends on, beside the code. They are
	// written as JSON: another value is another cell.
	Settings any
	Work     float64 // expected seconds or so, for the time left; 0 means 1
	// Ready says what keeps the cell from running, wrapping ErrNoData with how to get
	// the data. It is asked only if the cell must run. Nil means that nothing is needed.
	Ready func() error
	// Run computes the result, the same for the same settings but for columns of
	// cost. It calls progress, from any goroutine, if it takes long.
	Run func(ctx context.Context, progress func(done, total int64)) (*Result, error)
}

// Kind says what a column holds.
type Kind int

const (
	Key    Kind = iota // what was run: arm, size, seed
	Number             // what came of it, the same in every run
	Cost               // seconds and bytes, of one machine and one run
)

// Column is a column of the results.
type Column struct {
	Name  string
	Kind  Kind
	About string // unit and meaning
}

// Section is what an experiment shows.
type Section struct {
	Tables   []Table  `json:"tables"`
	Figures  []Figure `json:"figures"`
	Findings []string `json:"findings"` // a sentence each
}
