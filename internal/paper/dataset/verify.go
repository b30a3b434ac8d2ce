package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"grfgp/graph"
	"grfgp/graphio"
)

// Verification is what was found of a set.
type Verification struct {
	Files  []VerifiedFile
	Nodes  int
	Edges  int
	Degree int // highest
}

// VerifiedFile is a file whose sum is as it should be.
type VerifiedFile struct {
	Path   string
	SHA256 string
	Basis  string // what the sum was compared with, in words
}

// What a sum was compared with.
const (
	BasisStated   = "it should be"
	BasisRecorded = "at first download"
	BasisNone     = "nobody has stated: the counts alone were checked"
)

// Verify compares the sums of a set's files with those that are known, or else
// with those that were recorded when they were downloaded, and the nodes and
// edges that they hold with those of the paper.
func (s Store) Verify(ctx context.Context, set Set) (Verification, error) {
	p, err := s.find(set)
	if err != nil {
		return Verification{}, err
	}
	first, err := recorded(p.root)
	if err != nil {
		return Verification{}, err
	}
	var v Verification
	for _, f := range p.form.Files {
		sum, size, err := sumOf(ctx, p.path(f.Path))
		if err != nil {
			return v, err
		}
		want, basis := f.SHA256, BasisStated
		if want == "" {
			want, basis = first[f.Path], BasisRecorded
		}
		if want == "" {
			want, basis = sum, BasisNone
		}
		if sum != want {
			return v, fmt.Errorf("%w: %s has %d bytes and the sum %s, not %s as %s; %s", ErrDamaged, p.path(f.Path), size, sum, want, basis, set.afresh())
		}
		v.Files = append(v.Files, VerifiedFile{p.path(f.Path), sum, basis})
	}
	g, err := set.load(ctx, p)
	if err != nil {
		return v, err
	}
	v.Nodes, v.Edges, v.Degree = g.Len(), g.Edges(), slices.Max(g.Degrees())
	return v, nil
}

// load reads a set from its place and looks whether it is the one of the paper. If
// not, the error names the files and says how to get others.
func (s Set) load(ctx context.Context, p place) (*graph.Graph, error) {
	g, err := s.graph(ctx, p)
	return g, s.remedied(p, err)
}

// remedied adds to an error about damage which files they are and how to get others.
func (s Set) remedied(p place, err error) error {
	if !errors.Is(err, ErrDamaged) {
		return err
	}
	var files []string
	for _, f := range p.form.Files {
		files = append(files, p.path(f.Path))
	}
	return fmt.Errorf("%w; it was read from %s; %s", err, strings.Join(files, ", "), s.afresh())
}

// graph is load without the place.
func (s Set) graph(ctx context.Context, p place) (*graph.Graph, error) {
	g, err := s.read(ctx, p)
	var file *graphio.Error
	if errors.As(err, &file) {
		bare := *file
		bare.Remedies = nil // they are for files of one's own
		return nil, fmt.Errorf("%w: %w", ErrDamaged, &bare)
	}
	if err != nil {
		return nil, err
	}
	return g, s.check(g)
}

// afresh says what to do about damaged files.
func (s Set) afresh() string {
	if _, ok := s.Download(); ok {
		return "remove it, and 'grfgp dataset fetch " + s.Name + "' downloads it again"
	}
	return "prepare it again from " + s.Home
}
