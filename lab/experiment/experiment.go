// Package experiment reproduces the paper's tables and figures and compares our
// numbers with the paper's: once by the authors' protocol and once by a clean one.
//
// An [Experiment] is a list of small independent parts, mostly one seed of one method
// at one size. [NewPlan] finds the parts that a [Cache] does not hold yet, [Plan.Run]
// computes them, stores each as soon as it is finished, and collects the results of all
// parts. Experiment.Show then turns the results into a [Section]: tables, figures and
// findings.
package experiment

import (
	"context"
	"errors"
	"regexp"

	"grfgp/internal/ranks"
)

// Errors that callers tell apart.
var (
	// ErrNoData means that an experiment needs data that is not on this machine.
	ErrNoData = errors.New("no data")
	// ErrNoPart means that no part matches Options.Only.
	ErrNoPart = errors.New("no such part")
	// ErrUnfinished means that Options.Finished is set and the cache holds no part.
	ErrUnfinished = errors.New("no finished parts")

	// errSuperseded is returned by Part.Ready if another part replaces this one.
	errSuperseded = errors.New("superseded by another part")
)

// Experiment is one study of the paper.
type Experiment struct {
	Name    string // one word, used on the command line and in file names
	Title   string
	About   string // a paragraph: the task, and how the two protocols differ
	Version int    // raised when the code gives other results for the same settings
	Columns []Column
	// TimeColumns are the cost columns whose sum is the time of a part in seconds;
	// empty if the time is not measured.
	TimeColumns []string
	// Shared says that several processes can compute a part together (Options.Ranks).
	Shared bool
	// Parts lists the work. It must be fast and deterministic: expensive steps, such as
	// reading data, belong into Part.Run.
	Parts func(Options) []Part
	// Show makes tables and figures from the results of all parts.
	Show func(Options, *Results) (*Section, error)
}

// Options say how much to run.
type Options struct {
	Quick bool   `json:"quick"` // small sizes and few seeds, as a check that all works
	Seeds int    `json:"seeds"` // repetitions; 0: the default of each experiment
	Seed  uint64 `json:"seed"`
	// Only selects the parts whose names match; nil selects all.
	Only *regexp.Regexp `json:"only,omitempty"`
	// Finished computes nothing: results are those of the parts in the cache.
	Finished bool `json:"finished,omitempty"`
	// Ranks are the processes that compute the parts of a Shared experiment together; nil:
	// this one alone. Rank 0 has the plan, and the others Follow it.
	Ranks *ranks.Group `json:"-"`
}

// Repeats returns the number of repetitions: Seeds if it is set, otherwise the given
// number for quick or full runs.
func (o Options) Repeats(quick, full int) int {
	switch {
	case o.Seeds > 0:
		return o.Seeds
	case o.Quick:
		return quick
	}
	return full
}

// Part is the smallest unit of work that is cached.
type Part struct {
	Name string // unique within the experiment; letters, digits, '.', '-' and '_'
	// Settings hold everything that the result depends on, except the code. Their JSON
	// is part of the cache key.
	Settings any
	Work     float64 // expected time in seconds, for progress reports; 0 means 1
	// Ready reports why the part cannot run, with an error that wraps ErrNoData and says
	// how to get the data. It is called only for parts that are not cached. Nil means
	// that no data is needed.
	Ready func() error
	// Run computes the result. Except for cost columns, the result depends on Settings
	// alone. Long runs call progress, from any goroutine.
	Run func(ctx context.Context, progress func(done, total int64)) (*Result, error)
}

// Kind is the kind of a column.
type Kind int

const (
	Key    Kind = iota // identifies the run: method, size, seed
	Number             // a result, the same in every run
	Cost               // seconds or bytes, which differ from run to run
)

// Column is a column of the results.
type Column struct {
	Name  string
	Kind  Kind
	About string // unit and meaning
}

// Section is what an experiment contributes to the report.
type Section struct {
	Tables   []Table  `json:"tables"`
	Figures  []Figure `json:"figures"`
	Findings []string `json:"findings"` // one sentence each
}
