package gp

import (
	"context"
	"errors"
	"fmt"

	"grfgp/internal/ranks"
	"grfgp/kernel"
	"grfgp/space"
)

// ErrShared is wrapped by errors of Posterior methods that are for one process.
var ErrShared = errors.New("several processes share this posterior")

// share is what a rank has of a system of measurements that several ranks solve
// together.
type share struct {
	group  *ranks.Group
	layout ranks.Layout
	all    Data // the measurements of all ranks
	space  space.Space
	hold   *hold
}

// newShare returns the share of this rank in the measurements, of which a rank has at least some;
// nil where each rank has to compute all. Ranks call it together.
func newShare(ctx context.Context, g *ranks.Group, k kernel.Kernel, d Data, constant float64, least int) (*share, error) {
	if g.Alone() || d.Len() < least*g.Size() {
		return nil, nil
	}
	s := &share{g, ranks.Even(d.Len(), g.Size()), d, space.Together(ctx, g, false), new(hold)}
	r, err := newRows(ctx, s.space, k, s.data().Nodes, constant, kernel.RootOptions{})
	if r == nil {
		return nil, err
	}
	s.hold.keep([]*rows{r})
	return s, nil
}

// data returns the measurements of this rank.
func (s *share) data() Data {
	lo, hi := s.layout.Range(s.group.Rank())
	return s.all.Slice(lo, hi)
}

// Ranks returns the processes that share the posterior, and which nodes this one has: it
// must be asked for these alone, and all call the same methods. The group is nil if there
// is one process, or each has all of the posterior.
func (p *Posterior) Ranks() (g *ranks.Group, lo, hi int) {
	if p.share == nil {
		return nil, 0, p.Nodes()
	}
	g = p.share.group
	lo, hi = ranks.Even(p.Nodes(), g.Size()).Range(g.Rank())
	return g, lo, hi
}

// allData returns the measurements of all ranks, standardised.
func (p *Posterior) allData() Data {
	if p.share != nil {
		return p.share.all
	}
	return p.data
}

// alone returns an error if several processes share the posterior.
func (p *Posterior) alone(what string) error {
	if p.share == nil {
		return nil
	}
	return fmt.Errorf("%s of %d measurements over %d ranks: %w; use one process", what, p.share.all.Len(), p.share.group.Size(), ErrShared)
}
