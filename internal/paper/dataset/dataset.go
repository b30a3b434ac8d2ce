// Package dataset knows the public data of the paper by name: where its files
// are looked for, how they are checked, what they hold, and where they are
// downloaded from when somebody asks for it. Nothing here uses the network but
// [Store.Fetch].
package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"grfgp/graph"
)

// Errors that callers tell apart.
var (
	ErrUnknown     = errors.New("dataset: no such data set")
	ErrMissing     = errors.New("dataset: not here")
	ErrDamaged     = errors.New("dataset: not what was expected")
	ErrUnreachable = errors.New("dataset: cannot be downloaded")
)

// Set is a data set of the paper, or a stand-in for one.
type Set struct {
	Name    string
	Short   string // its name in tables
	Title   string
	Home    string // page that describes it
	Licence string
	StandIn string // name of the set that it stands in for, which could not be had; results on one say nothing of the other
	Note    string // how it differs from the paper's, if it does
	Nodes   int
	Edges   int // distinct pairs of different nodes
	Degree  int // highest degree; 0: not known
	Forms   []Form
	read    func(context.Context, place) (*graph.Graph, error)
}

// Form is a way in which a set may lie on disk; one of them is enough.
type Form struct {
	Files []File // all of them are needed
	URL   string // of the only file; "" where nobody publishes it in this form
}

// File is one file, by its path below the folder of all data.
type File struct {
	Path   string
	Bytes  int64  // 0: not known
	SHA256 string // in hexadecimal; "" where the publisher states none
}

// All returns every set, those of the paper first.
func All() []Set { return slices.Clone(sets) }

// Named returns the set of that name.
func Named(name string) (Set, error) {
	var names []string
	for _, s := range sets {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Set{}, fmt.Errorf("%w: %q; there are %s", ErrUnknown, name, strings.Join(names, ", "))
}

// Download returns the form that can be downloaded; false if there is none.
func (s Set) Download() (Form, bool) {
	for _, f := range s.Forms {
		if f.URL != "" {
			return f, true
		}
	}
	return Form{}, false
}

// check says how a graph differs from the one that the set is known to be.
func (s Set) check(g *graph.Graph) error {
	if g.Len() != s.Nodes || g.Edges() != s.Edges {
		return fmt.Errorf("%w: %s has %d nodes and %d edges, want %d and %d: the file is another one, or its publisher has changed it",
			ErrDamaged, s.Name, g.Len(), g.Edges(), s.Nodes, s.Edges)
	}
	return nil
}
