package graphio

import (
	"fmt"
	"io"
	"slices"

	"grfgp/formats"
	"grfgp/graph"
)

// Options override the detection of a file's format. The zero value detects
// everything and stops at the first bad row.
type Options struct {
	Columns   map[Role]string // the column of a role: its name, or its number from 1
	Delimiter Delimiter       // between fields
	Header    Header          // whether the first row holds names
	Decimal   Decimal         // how numbers are written
	BadRows   BadRows         // whether bad rows are errors or skipped
	Rejects   io.Writer       // receives skipped bad rows unchanged; nil drops them
	Unit      string          // of values, weights and distances, before or after every number, such as mph, % or $: it is taken off
	Missing   []string        // further cells that stand for a missing value, such as -9999, as text or as the same number; see MissingNone

	// Progress, unless nil, receives the number of bytes read so far and the size
	// of the file, 0 if unknown. It is called by one goroutine at a time and must
	// return soon.
	Progress func(done, total int64)

	// For graphs.
	Weights   Weights        // meaning of the column of weights
	Parallel  graph.Parallel // meaning of several edges between two nodes
	KeepLoops bool           // keep self loops; the default drops and counts them
	// nodes of the graph, with or without edges; others may appear in the edges; for measurements and labels: see Points
	Nodes     *NodeTable
	Unordered bool // leave nodes in the order of the file; WritePacked orders them as it writes

	// For node tables.
	//
	// Points says that rows are points with measurements or labels. A table without ids then
	// has the numbers of rows as ids, from 1; rows at the same place are one node, with the
	// number of the first. The same file is read as measurements or labels with the result as
	// Nodes.
	Points bool
	Keep   []string // names of columns whose cells are also kept as text, unchanged (NodeTable.Texts), or KeepAll

	// For measurements and labels.
	Unknown Unknown // what becomes of rows whose ids the graph does not have

	// For measurements.
	Repeats  Repeats    // treatment of repeated measurements of a node
	IgnoreSD bool       // average repeated measurements with equal weights, whatever their sds
	Times    Times      // what becomes of the times of measurements
	Places   *NodeTable // row i is about node i of the graph: measurements with coordinates and without ids belong to the nearest node
	Within   float64    // metres, the largest distance of that node, or units of x and y; 0 means DefaultWithin
	Counts   bool       // values are counts, even without a column of exposures: those of a node are added, never averaged

	Formats formats.Options // what to take from a file of another program

	blockSize int // bytes of text handed to a worker; tests vary it
}

// Delimiter is the separator of the fields of a row.
type Delimiter string

// The choices for the delimiter.
const (
	DelimiterAuto      Delimiter = ""
	DelimiterComma     Delimiter = "comma"
	DelimiterSemicolon Delimiter = "semicolon"
	DelimiterTab       Delimiter = "tab"
	DelimiterPipe      Delimiter = "pipe"
	DelimiterBlanks    Delimiter = "blanks" // any run of blanks and tabs
)

// Header says whether the first row holds the names of the columns.
type Header string

// The choices for a header.
const (
	HeaderAuto Header = ""
	HeaderYes  Header = "yes"
	HeaderNo   Header = "no"
)

// Decimal is the decimal separator of numbers.
type Decimal string

// The choices for the decimal sign. A file uses one of them throughout.
const (
	DecimalAuto  Decimal = ""
	DecimalPoint Decimal = "point"
	DecimalComma Decimal = "comma"
)

// BadRows says whether a row that cannot be used is an error or is skipped.
type BadRows string

// The choices for bad rows.
const (
	BadRowsFail BadRows = ""     // the first bad row is the error
	BadRowsSkip BadRows = "skip" // bad rows are counted, and written to Rejects
)

// Unknown says what becomes of measurements and labels of nodes that the graph does not have.
type Unknown string

// The choices for rows of unknown nodes.
const (
	UnknownFew  Unknown = ""     // up to one row in a hundred is skipped, with a warning; more are an error
	UnknownSkip Unknown = "skip" // all are skipped, with a warning
)

// Weights says what the numeric column of edges means.
type Weights string

// The choices for weights.
const (
	// WeightsAuto uses a column that is named as a weight and gives all edges the
	// weight 1 if there is none. A column that may be a distance is an error.
	WeightsAuto Weights = ""
	// WeightsSimilarity takes the numbers as weights: larger means more similar.
	WeightsSimilarity Weights = "similarity"
	// WeightsDistance turns distances into weights: w = mean distance / distance.
	WeightsDistance Weights = "distance"
	// WeightsIgnore gives all edges the weight 1.
	WeightsIgnore Weights = "ignore"
)

// check returns an error about an option with an unknown value.
func (in *input) check(o Options) error {
	ask := func(what, next string) error { return in.fail(CodeOption, what, do(next)) }
	for role := range o.Columns {
		if !slices.Contains(roles, role) {
			var names []string
			for _, r := range roles {
				names = append(names, string(r))
			}
			return ask(fmt.Sprintf("there is no role %q for a column", role), "the roles are "+list(names, "and"))
		}
	}
	switch {
	case o.Delimiter != DelimiterAuto && separators[o.Delimiter] == 0:
		return ask(fmt.Sprintf("%q is not a delimiter", o.Delimiter), "give comma, semicolon, tab, pipe or blanks")
	case !slices.Contains([]Header{HeaderAuto, HeaderYes, HeaderNo}, o.Header):
		return ask(fmt.Sprintf("header %q is not known", o.Header), "give yes or no")
	case !slices.Contains([]Decimal{DecimalAuto, DecimalPoint, DecimalComma}, o.Decimal):
		return ask(fmt.Sprintf("decimal sign %q is not known", o.Decimal), "give point or comma")
	case !slices.Contains([]BadRows{BadRowsFail, BadRowsSkip}, o.BadRows):
		return ask(fmt.Sprintf("bad rows cannot be treated as %q", o.BadRows), "give skip, or nothing to fail")
	case !slices.Contains([]Unknown{UnknownFew, UnknownSkip}, o.Unknown):
		return ask(fmt.Sprintf("rows of unknown nodes cannot be treated as %q", o.Unknown), "give skip, or nothing to allow one in a hundred")
	case !slices.Contains([]Weights{WeightsAuto, WeightsSimilarity, WeightsDistance, WeightsIgnore}, o.Weights):
		return ask(fmt.Sprintf("weights cannot be %q", o.Weights), "give similarity, distance or ignore")
	case !slices.Contains([]Repeats{RepeatsMean, RepeatsKeep, RepeatsLast, RepeatsError}, o.Repeats):
		return ask(fmt.Sprintf("repeats cannot be treated as %q", o.Repeats), "give keep, last or error, or nothing for the mean")
	case !slices.Contains([]Times{TimesAuto, TimesKeep, TimesLatest, TimesIgnore}, o.Times):
		return ask(fmt.Sprintf("times cannot be treated as %q", o.Times), "give keep, latest or ignore")
	}
	return nil
}
