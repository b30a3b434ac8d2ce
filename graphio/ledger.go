package graphio

import (
	"fmt"
	"strings"
)

// Ledger counts every line of a file by its outcome. The counts add up to Total.
type Ledger struct {
	// unit of the counts: "lines", "edge elements" for GraphML, or that of another format, such as "edges", "nodes", "records"
	Unit        string `json:"unit"`
	Total       int64  `json:"total"`
	Header      int64  `json:"header"`
	Edges       int64  `json:"edges"`        // became an edge of the graph
	Rows        int64  `json:"rows"`         // became a row of a table: a node, a measurement or a label
	Repeats     int64  `json:"repeats"`      // repeated an edge, a node or a measurement given before
	SelfLoops   int64  `json:"self_loops"`   // dropped edges from a node to itself
	ZeroWeights int64  `json:"zero_weights"` // dropped edges of weight zero
	Missing     int64  `json:"missing"`      // measurements without a value, labels without a class
	Unknown     int64  `json:"unknown"`      // measurements and labels of nodes that are not in the graph
	Blank       int64  `json:"blank"`
	Comments    int64  `json:"comments"`
	Bad         int64  `json:"bad"`
}

// term is a number of lines of one kind.
type term struct {
	count int64
	kind  string // in the plural
}

// String returns "1 edge" or "2 edges".
func (t term) String() string {
	if t.count == 1 {
		return "1 " + strings.TrimSuffix(t.kind, "s")
	}
	return fmt.Sprintf("%d %s", t.count, t.kind)
}

// terms returns the counts of all kinds of lines.
func (l Ledger) terms() []term {
	return []term{
		{l.Header, "header"},
		{l.Edges, "edges"},
		{l.Rows, "rows"},
		{l.Repeats, "repeats"},
		{l.SelfLoops, "self loops"},
		{l.ZeroWeights, "zero weights"},
		{l.Missing, "missing values"},
		{l.Unknown, "unknown ids"},
		{l.Blank, "blank"},
		{l.Comments, "comments"},
		{l.Bad, "bad"},
	}
}

// String returns the ledger as a sum: "5 lines = 1 header + 4 edges".
func (l Ledger) String() string {
	var sum []string
	for _, t := range l.terms() {
		if t.count > 0 {
			sum = append(sum, t.String())
		}
	}
	if len(sum) == 0 {
		sum = []string{"0"}
	}
	return fmt.Sprintf("%v = %s", term{l.Total, l.Unit}, strings.Join(sum, " + "))
}

// Balanced reports whether the counts add up to Total.
func (l Ledger) Balanced() bool {
	sum := int64(0)
	for _, t := range l.terms() {
		sum += t.count
	}
	return sum == l.Total
}

// close checks the ledger of a file that has been read.
func (l Ledger) close(name string) error {
	if !l.Balanced() {
		return fmt.Errorf("reading %s: the ledger does not add up: %v", name, l)
	}
	return nil
}

// add counts the lines of a block.
func (l *Ledger) add(b *block) {
	l.Total += b.lines
	l.Header += b.header
	l.Blank += b.blank
	l.Comments += b.comments
	l.Bad += int64(len(b.bad))
}
