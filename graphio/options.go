package graphio

import (
	"fmt"
	"io"
	"slices"

	"grfgp/graph"
)

// Options say how files are read; the zero value finds everything out.
type Options struct {
	Columns   map[Role]string // which column has a role: its name, or its number from 1
	Delimiter Delimiter       // between fields
	Header    Header          // whether the first row holds names
	Decimal   Decimal         // how numbers are written
	BadRows   BadRows         // what becomes of rows that cannot be used
	Rejects   io.Writer       // receives skipped bad rows as they were; nil drops them

	// Progress, unless nil, is told how many bytes of the file have been used,
	// and how many there are or 0 where that is not known. It is called by one
	// goroutine at a time and must return soon.
	Progress func(done, total int64)

	// For graphs.
	Weights   Weights        // what a column of weights means
	Parallel  graph.Parallel // what several edges between two nodes mean
	KeepLoops bool           // keep self loops; the default drops and counts them
	Nodes     *NodeTable     // nodes known already: they come first, and may be lone

	// For measurements.
	Repeats  Repeats // what several values of one node become
	IgnoreSD bool    // a column of standard deviations has no effect on values: all readings have one noise

	blockSize int // bytes of text handed to a worker; tests vary it
}

// Delimiter stands between the fields of a row.
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

// Decimal says which sign parts the whole from the fraction of a number.
type Decimal string

// The choices for the decimal sign. A file uses one of them throughout.
const (
	DecimalAuto  Decimal = ""
	DecimalPoint Decimal = "point"
	DecimalComma Decimal = "comma"
)

// BadRows says what becomes of a row that cannot be used.
type BadRows string

// The choices for bad rows.
const (
	BadRowsFail BadRows = ""     // the first one is the error
	BadRowsSkip BadRows = "skip" // they are counted, and written to Rejects
)

// Weights says what the numbers of an edge mean.
type Weights string

// The choices for weights.
const (
	// WeightsAuto takes a column that is named as a weight, takes all edges as
	// equal where there is none, and stops at a column that may be a distance.
	WeightsAuto Weights = ""
	// WeightsSimilarity takes the numbers as weights: larger means more alike.
	WeightsSimilarity Weights = "similarity"
	// WeightsDistance turns distances into weights: w = mean distance / distance.
	WeightsDistance Weights = "distance"
	// WeightsIgnore takes all edges as equal.
	WeightsIgnore Weights = "ignore"
)

// check says which option has a value that it cannot have.
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
		return ask(fmt.Sprintf("%q is no delimiter", o.Delimiter), "give comma, semicolon, tab, pipe or blanks")
	case !slices.Contains([]Header{HeaderAuto, HeaderYes, HeaderNo}, o.Header):
		return ask(fmt.Sprintf("header %q is not known", o.Header), "give yes or no")
	case !slices.Contains([]Decimal{DecimalAuto, DecimalPoint, DecimalComma}, o.Decimal):
		return ask(fmt.Sprintf("decimal sign %q is not known", o.Decimal), "give point or comma")
	case !slices.Contains([]BadRows{BadRowsFail, BadRowsSkip}, o.BadRows):
		return ask(fmt.Sprintf("%q is no way to treat bad rows", o.BadRows), "give skip, or nothing to fail")
	case !slices.Contains([]Weights{WeightsAuto, WeightsSimilarity, WeightsDistance, WeightsIgnore}, o.Weights):
		return ask(fmt.Sprintf("weights cannot be %q", o.Weights), "give similarity, distance or ignore")
	case !slices.Contains([]Repeats{RepeatsMean, RepeatsKeep, RepeatsLast, RepeatsError}, o.Repeats):
		return ask(fmt.Sprintf("%q is no way to treat repeats", o.Repeats), "give keep, last or error, or nothing for the mean")
	}
	return nil
}
