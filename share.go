package grfgp

import (
	"context"
	"fmt"

	"grfgp/internal/ranks"
	"grfgp/progress"
	"grfgp/walk"
)

// Share is the part of a list of nodes, or of places, that this process predicts where
// several processes, ranks, run the same program with the same model: consecutive places.
// Predictions need nothing of other ranks. They are the bits that one process has, which
// predicts the whole list.
type Share struct {
	ranks  *ranks.Group
	nodes  []int // of all ranks
	layout ranks.Layout
}

// NewShare divides a list among ranks; nil stands for one process alone.
func NewShare(g *ranks.Group, nodes []int) Share {
	return Share{g, nodes, ranks.Even(len(nodes), g.Size())}
}

// Range returns the places of the list that belong to this rank, [lo, hi).
func (s Share) Range() (lo, hi int) { return s.layout.Range(s.ranks.Rank()) }

// Owner returns the rank that a place of the list belongs to.
func (s Share) Owner(place int) int { return s.layout.Owner(place) }

// PredictShare returns the prediction of Predict at the places of a share, and tells w how
// far it is. Memory is that of the share where the kernel has random features on a large
// graph, alone, with coarser scales, or in a sum with linear terms; other kernels predict
// all nodes on every rank.
func (m *Model) PredictShare(ctx context.Context, s Share, w *progress.Work) (Prediction, error) {
	if err := m.of.check(s.nodes); err != nil {
		return Prediction{}, err
	}
	return m.spec.predict(ctx, m.posterior, s, w)
}

// LimitsOfShare is Limits for the prediction of a share; all ranks call it. The error of
// walks is measured by rank 0 alone: others have no Walks.
func (m *Model) LimitsOfShare(ctx context.Context, s Share, p Prediction) (*Limits, error) {
	if err := m.of.check(s.nodes); err != nil {
		return nil, err
	}
	if lo, hi := s.Range(); len(p.Mean) != hi-lo || len(p.SD) != hi-lo {
		return nil, fmt.Errorf("limits of %d nodes for a prediction of %d; pass the prediction of these nodes", hi-lo, len(p.Mean))
	}
	count, err := m.priorOnly(ctx, s)
	if err != nil {
		return nil, err
	}
	all, _, err := ranks.Gather(ctx, s.ranks, []int{count})
	if err != nil {
		return nil, err
	}
	limits := &Limits{Nodes: len(s.nodes)}
	for _, n := range all {
		limits.PriorOnly += n
	}
	limits.Walks, err = m.walkError(ctx, s, p)
	return limits, err
}

// exact reports whether no row of the features has a sampling error. Ranks look at some
// rows each.
func (s Share) exact(ctx context.Context, f *walk.Features) (bool, error) {
	if s.ranks.Alone() {
		size := f.Size()
		return size.ExactRows == int64(size.Rows), nil
	}
	own, err := f.ExactRows(ctx, s.ranks.Rank()*f.Nodes()/s.ranks.Size(), (s.ranks.Rank()+1)*f.Nodes()/s.ranks.Size())
	if err != nil {
		return false, err
	}
	flag := []uint8{0}
	if own {
		flag[0] = 1
	}
	all, _, err := ranks.Gather(ctx, s.ranks, flag)
	for _, one := range all {
		own = own && one == 1
	}
	return own, err
}

// latents returns mean and standard deviation, on the scale of the model, of a prediction
// at some places of the list, on all ranks.
func (s Share) latents(ctx context.Context, p Prediction, places []int) (mean, sd []float64, err error) {
	lo, hi := s.Range()
	var own []float64
	for _, a := range places {
		if a >= lo && a < hi {
			m, v := p.At(a - lo).Latent()
			own = append(own, m, v)
		}
	}
	all, starts, err := ranks.Gather(ctx, s.ranks, own)
	if err != nil {
		return nil, nil, err
	}
	for _, a := range places {
		r := s.Owner(a)
		mean, sd = append(mean, all[starts[r]]), append(sd, all[starts[r]+1])
		starts[r] += 2
	}
	return mean, sd, nil
}
