package dataset

import (
	"context"
	"fmt"
)

// Verification is what was found of a set.
type Verification struct {
	Files []VerifiedFile
	Nodes int
	Edges int
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
			return v, fmt.Errorf("%w: %s has %d bytes and the sum %s, not %s as %s; remove the file and fetch it again", ErrDamaged, p.path(f.Path), size, sum, want, basis)
		}
		v.Files = append(v.Files, VerifiedFile{p.path(f.Path), sum, basis})
	}
	g, err := set.read(ctx, p)
	if err != nil {
		return v, err
	}
	v.Nodes, v.Edges = g.Len(), g.Edges()
	return v, set.check(g)
}
