// Package dataset finds, checks, reads and downloads the public data sets of the paper.
//
// A [Set] lists the files of a data set, with checksums and the number of nodes and edges
// that they must hold. A [Store] is a list of folders that are searched for these files:
// by default the folder in GRFGP_DATA and the user's cache. Only [Store.Fetch] uses the
// network.
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
	ErrUnknown     = errors.New("no such data set")
	ErrMissing     = errors.New("not on this machine")
	ErrDamaged     = errors.New("not the expected content")
	ErrUnreachable = errors.New("cannot be downloaded")
)

// Set is a data set of the paper, a stand-in for one, or one with covariates.
type Set struct {
	Name    string
	Short   string // name in tables
	Title   string
	Home    string // page that describes it
	Licence string
	StandIn string // name of the set that this one replaces; results on one do not carry over to the other
	Note    string // differences from the paper's description, if any
	Nodes   int
	Edges   int // distinct pairs of different nodes
	Degree  int // highest degree; 0: not known
	Forms   []Form
	read    func(context.Context, location) (*graph.Graph, error)
}

// Form is one way to store a set on disk: as the publisher's download, or as prepared
// files. One form is enough.
type Form struct {
	Files []File // all are needed
	URL   string // of the only file; "" if this form is not published
}

// File is one file, by its path below a folder of the store.
type File struct {
	Path   string
	Bytes  int64  // 0: not known
	SHA256 string // in hexadecimal; "" if the publisher states none
}

// All returns all sets: those of the paper, stand-ins, and sets with covariates that are not of the paper.
func All() []Set { return slices.Clone(sets) }

// Named returns the set with the given name.
func Named(name string) (Set, error) {
	var names []string
	for _, s := range sets {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Set{}, fmt.Errorf("%w: %q; the data sets are %s", ErrUnknown, name, strings.Join(names, ", "))
}

// Download returns the form that can be downloaded, and whether there is one.
func (s Set) Download() (Form, bool) {
	for _, f := range s.Forms {
		if f.URL != "" {
			return f, true
		}
	}
	return Form{}, false
}

// check compares the size of a graph with that of the set.
func (s Set) check(g *graph.Graph) error {
	if g.Len() != s.Nodes || g.Edges() != s.Edges {
		return fmt.Errorf("%w: %s has %d nodes and %d edges, want %d and %d: this is another file, or its publisher has changed it",
			ErrDamaged, s.Name, g.Len(), g.Edges(), s.Nodes, s.Edges)
	}
	return nil
}
