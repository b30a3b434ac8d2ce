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

// Verification is the result of Verify.
type Verification struct {
	Files  []VerifiedFile
	Nodes  int
	Edges  int
	Degree int // highest
}

// VerifiedFile is a file with a correct checksum.
type VerifiedFile struct {
	Path   string
	SHA256 string
	Basis  string // the checksum that it was compared with, in words
}

// Checksums that a file is compared with.
const (
	BasisStated   = "that of the prepared file"
	BasisRecorded = "that of the first download"
	BasisNone     = "not known before; only nodes and edges were checked"
)

// Verify compares the checksums of a set's files with the known ones, or else with those
// recorded at the first download, and the numbers of nodes and edges with the set's.
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
			return v, fmt.Errorf("%w: %s has %d bytes and the checksum %s instead of %s (%s); %s", ErrDamaged, p.path(f.Path), size, sum, want,
				basis, set.remedy())
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

// load reads and checks a set. Errors about damage name the files and say how to replace
// them.
func (s Set) load(ctx context.Context, p location) (*graph.Graph, error) {
	g, err := s.graph(ctx, p)
	return g, s.withRemedy(p, err)
}

// withRemedy adds to an error about damage the files and how to replace them.
func (s Set) withRemedy(p location, err error) error {
	if !errors.Is(err, ErrDamaged) {
		return err
	}
	var files []string
	for _, f := range p.form.Files {
		files = append(files, p.path(f.Path))
	}
	return fmt.Errorf("%w; read from %s; %s", err, strings.Join(files, ", "), s.remedy())
}

// graph is load without the remedy.
func (s Set) graph(ctx context.Context, p location) (*graph.Graph, error) {
	g, err := s.read(ctx, p)
	var file *graphio.Error
	if errors.As(err, &file) {
		bare := *file
		bare.Remedies = nil // hints for users' own files
		return nil, fmt.Errorf("%w: %w", ErrDamaged, &bare)
	}
	if err != nil {
		return nil, err
	}
	return g, s.check(g)
}

// remedy says how to replace damaged files.
func (s Set) remedy() string {
	if _, ok := s.Download(); ok {
		return "remove it, and 'grfgp-lab dataset fetch " + s.Name + "' downloads it again"
	}
	return "prepare it again from " + s.Home
}
