package graphio

import (
	"fmt"
	"strings"
)

// Ledger says where every line of a file went. Its classes always add up to
// Total.
type Ledger struct {
	Unit        string `json:"unit"` // what is counted: "lines", or "edge elements" of GraphML
	Total       int64  `json:"total"`
	Header      int64  `json:"header"`
	Edges       int64  `json:"edges"`        // became an edge of the graph
	Rows        int64  `json:"rows"`         // of a table: became a node or a value
	Repeats     int64  `json:"repeats"`      // fell on an edge, a node or a measurement given before
	SelfLoops   int64  `json:"self_loops"`   // dropped edges from a node to itself
	ZeroWeights int64  `json:"zero_weights"` // dropped edges of weight zero
	Missing     int64  `json:"missing"`      // measurements without a value, labels without a class
	Unknown     int64  `json:"unknown"`      // measurements and labels of nodes that are not in the graph
	Blank       int64  `json:"blank"`
	Comments    int64  `json:"comments"`
	Bad         int64  `json:"bad"`
}

// Class is one line of the ledger.
type Class struct {
	Name  string
	Count int64
}

// String returns the class as in "1 edge" or "2 edges".
func (c Class) String() string {
	if c.Count == 1 {
		return "1 " + strings.TrimSuffix(c.Name, "s")
	}
	return fmt.Sprintf("%d %s", c.Count, c.Name)
}

// Classes returns the classes in the order in which they are told. Those of
// Ledger that have no count in this kind of file are zero.
func (l Ledger) Classes() []Class {
	return []Class{
		{"header", l.Header},
		{"edges", l.Edges},
		{"rows", l.Rows},
		{"repeats", l.Repeats},
		{"self loops", l.SelfLoops},
		{"zero weights", l.ZeroWeights},
		{"missing values", l.Missing},
		{"unknown ids", l.Unknown},
		{"blank", l.Blank},
		{"comments", l.Comments},
		{"bad", l.Bad},
	}
}

// String returns the ledger as a sum: "5 lines = 1 header + 4 edges".
func (l Ledger) String() string {
	var terms []string
	for _, c := range l.Classes() {
		if c.Count > 0 {
			terms = append(terms, c.String())
		}
	}
	if len(terms) == 0 {
		terms = []string{"0"}
	}
	return fmt.Sprintf("%v = %s", Class{l.Unit, l.Total}, strings.Join(terms, " + "))
}

// Balanced reports whether the classes add up to Total.
func (l Ledger) Balanced() bool {
	sum := int64(0)
	for _, c := range l.Classes() {
		sum += c.Count
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

// add takes over what a block was found to hold.
func (l *Ledger) add(b *block) {
	l.Total += b.lines
	l.Header += b.header
	l.Blank += b.blank
	l.Comments += b.comments
	l.Bad += int64(len(b.bad))
}
