package grfgp

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/kernel"
	"grfgp/walk"
)

// Limits says how far predictions can be trusted: how many nodes no measurement
// informs, and the Monte-Carlo error of random walks.
type Limits struct {
	Nodes int `json:"nodes"` // predicted nodes
	// of them, nodes that have no covariance with any measurement, apart from the mean and the trend
	PriorOnly int        `json:"prior_only"`
	Walks     *WalkError `json:"walks,omitempty"` // nil: the kernel is exact
}

// WalkError is the Monte-Carlo error of a model whose kernel is estimated by random
// walks, at its hyperparameters.
type WalkError struct {
	Walkers int `json:"walkers"` // per node, at least; on the first coarser scale if the graph itself needs no walks

	// Kernel is the relative error ‖Φ − Ψ‖/‖Ψ‖ of the features Φ over all nodes, where
	// Ψ are the exact ones; Low and High are its 95 % confidence interval. It is 0 if
	// the features are exact and only coarser scales use walks. NoiseShare is the mean
	// share of a node's prior variance that is noise of the walks: variances are too
	// large by this share.
	Kernel     float64 `json:"kernel_error"`
	Low        float64 `json:"kernel_error_low"`
	High       float64 `json:"kernel_error_high"`
	NoiseShare float64 `json:"noise_share"`

	// Mean is the standard error of predicted means due to the walks, in posterior
	// standard deviations: a root mean square over Nodes nodes that are predicted
	// again with other walks. It is not measured, and Nodes is 0, if there are too
	// many measurements to sample walks from again.
	Mean  float64 `json:"mean_error"`
	Nodes int     `json:"mean_error_nodes"`
}

const (
	limitPilot = 128     // rows of features whose error is measured
	limitNodes = 256     // nodes that are predicted again
	limitRows  = 100_000 // most rows of features that are sampled again
)

// Limits returns the limits of p, the result of Predict for the nodes. It costs one
// product with the kernel. If the kernel is estimated by walks, it also samples new
// walks from a few hundred nodes and from the measured ones, and conditions on the
// measurements once more: a small part of the cost of fitting.
func (m *Model) Limits(ctx context.Context, nodes []int, p Prediction) (*Limits, error) {
	return m.LimitsOfShare(ctx, NewShare(nil, nodes), p)
}

// PriorOnly counts the nodes that have no covariance with any measurement, apart
// from the mean and the trend: their predictions are those of the prior.
func (m *Model) PriorOnly(ctx context.Context, nodes []int) (count int, err error) {
	return m.priorOnly(ctx, NewShare(nil, nodes))
}

// priorOnly is PriorOnly of a share, without the nodes of other ranks.
func (m *Model) priorOnly(ctx context.Context, s Share) (count int, err error) {
	lo, hi := s.Range()
	nodes, measured := s.nodes[lo:hi], m.posterior.Measured()
	if m.spec.Terms&knownTerms != 0 { // covariates and roles inform all nodes, of a period at least
		return m.of.when.Unseen(nodes, measured), nil
	}
	layered, err := m.of.layered(ctx, m.spec.Expression)
	if err != nil {
		return 0, err
	}
	if reach, known := m.spec.reach(); known || layered {
		hops := m.of.when.HopsToMeasured(measured)
		for _, i := range nodes {
			if h := hops(i); h < 0 || !layered && h > reach {
				count++
			}
		}
		return count, nil
	}
	joined, err := m.posterior.Connected(ctx, s.nodes, lo, hi)
	for _, ok := range joined {
		if !ok {
			count++
		}
	}
	return count, err
}

// reach returns the number of hops beyond which the kernel of a complete Spec
// with one scale is zero, if that follows from its formula. The computed entries
// of an exact kernel do not show it, because rounding leaves no zeros.
func (s Spec) reach() (hops int, known bool) {
	f, _ := kernel.FamilyNamed(s.Family)
	switch exact := s.Method == "dense" || s.Method == "series"; {
	case !exact:
		return 0, false
	case s.Method == "series" && s.Hops > 0:
		return 2 * s.Hops, true
	case f.Reach == nil:
		return 0, false
	}
	return f.Reach(s.member(s.Expression)), true
}

// walkError returns nil if the kernel is exact, and on ranks other than 0.
func (m *Model) walkError(ctx context.Context, s Share, p Prediction) (*WalkError, error) {
	prior, err := m.nodePrior(ctx)
	if err != nil {
		return nil, err
	}
	abilities := kernel.AbilitiesOf(prior)
	fine, coarse := abilities.Fine, abilities.Coarse
	walked, err := s.walked(ctx, fine, coarse)
	if err != nil {
		return nil, err
	}
	if !walked && m.spec.Method != "lowrank" { // lowrank has a random projection as well
		return nil, nil
	}
	chosen := rand.New(rng.New(m.spec.Seed, "limits")).Perm(len(s.nodes))[:min(len(s.nodes), limitNodes)]
	was, sd, err := s.latents(ctx, p, chosen)
	if err != nil || s.ranks.Rank() > 0 {
		return nil, err
	}
	e := &WalkError{}
	if fine == nil {
		e.Walkers = coarse[0].Features.Options().Walks
	} else {
		opts := fine.Features.Options()
		e.Walkers = opts.Walks
		on := m.of.walked(m.spec.Expression).walks()
		est, err := walk.Pilot(ctx, on.w, on.on(opts), fine.Coeffs, limitPilot)
		if err != nil {
			return nil, err
		}
		e.Kernel, e.Low, e.High, e.NoiseShare = est.Error, est.Low, est.High, est.NoiseShare
	}
	again := make([]int, len(chosen))
	for k, a := range chosen {
		again[k] = s.nodes[a]
	}
	twin, err := m.twin(ctx, fine, coarse, again)
	if twin == nil || err != nil {
		return e, err
	}
	mean, err := twin.Mean(ctx, again)
	if err != nil {
		return nil, err
	}
	// The difference of two means from independent walks has √2 times the standard
	// error of one.
	apart, variance := 0.0, 0.0
	for k := range chosen {
		apart += (mean[k] - was[k]) * (mean[k] - was[k]) / 2
		variance += sd[k] * sd[k]
	}
	if variance > 0 {
		e.Mean, e.Nodes = math.Sqrt(apart/variance), len(chosen)
	}
	return e, nil
}

// walked reports whether a row of the features, or of those of coarser scales, has a
// sampling error.
func (s Share) walked(ctx context.Context, fine *kernel.Sampling, coarse []kernel.Sampling) (bool, error) {
	if fine != nil {
		if exact, err := s.exact(ctx, fine.Features); err != nil || !exact {
			return true, err
		}
	}
	for _, c := range coarse {
		if exact, err := s.exact(ctx, c.Features); err != nil || !exact {
			return true, err
		}
	}
	return false, nil
}

// twin returns the posterior at the given nodes with other walks and the same
// hyperparameters; nil if too many rows would have to be sampled.
func (m *Model) twin(ctx context.Context, fine *kernel.Sampling, coarse []kernel.Sampling, nodes []int) (*gp.Posterior, error) {
	t := m.of
	spec := m.spec
	spec.Seed = rng.New(m.spec.Seed, "other walks").Uint64()
	other := t.with(spec, false)
	rows := NodesOf(t.graph, append(slices.Clone(m.posterior.Measured()), nodes...))
	slices.Sort(rows)
	rows = slices.Compact(rows)
	needed := [][]int{rows}
	total := len(rows)
	for _, l := range t.levels()[:len(coarse)] {
		rows = touched(l, rows)
		needed = append(needed, rows)
		total += len(rows)
	}
	if total > limitRows {
		return nil, nil
	}
	again := func(on walks, s kernel.Sampling, rows []int) (*walk.Features, error) {
		opts := on.on(s.Features.Options())
		opts.Seed = other.spec.Seed
		if n, _ := on.w.Dims(); n > t.limits.LazyNodes {
			return on.ground.Lazy(opts)
		}
		return walk.SampleRows(ctx, on.w, opts, rows)
	}
	if fine != nil {
		walked := other.walked(m.spec.Expression)
		f, err := again(walked.walks(), *fine, needed[0])
		if err != nil {
			return nil, err
		}
		walked.features[m.spec.Hops] = f
	}
	for k, s := range coarse {
		l := t.levels()[k]
		f, err := again(walksOn(l.Graph), s, needed[k+1])
		if err != nil {
			return nil, err
		}
		other.scales = append(other.scales, kernel.Scale{Prolong: l.Prolong, Features: f})
	}
	model, err := other.model(ctx, m.spec.Expression, m.fitted.State(), m.fitted.Card())
	if err != nil {
		return nil, err
	}
	own, err := m.spec.ownData(t.places(), m.data)
	if err != nil {
		return nil, err
	}
	return model.Condition(ctx, own)
}

// touched returns the cells of a level from which the given nodes of the level
// below are interpolated.
func touched(l graph.Level, nodes []int) []int {
	seen := make([]bool, l.Graph.Len())
	for _, i := range nodes {
		cols, _ := l.Prolong.Row(i)
		for _, j := range cols {
			seen[j] = true
		}
	}
	var cells []int
	for j, ok := range seen {
		if ok {
			cells = append(cells, j)
		}
	}
	return cells
}
