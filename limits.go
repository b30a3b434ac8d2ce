package grfgp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/kernel"
	"grfgp/walk"
)

// Limits are limits of predictions: nodes that no measurement informs, and the
// Monte-Carlo error of random walks.
type Limits struct {
	Nodes     int        `json:"nodes"`      // predicted nodes
	PriorOnly int        `json:"prior_only"` // predicted nodes without covariance with any measurement, apart from mean and trend
	Walks     *WalkError `json:"walks,omitempty"`
}

// WalkError is the Monte-Carlo error of a model whose kernel is made of random walks,
// at its hyperparameters.
type WalkError struct {
	Walkers int `json:"walkers"` // per node, at least; of the first coarser scale where the graph itself needs none

	// Kernel is the relative error of the features, ‖Φ − Ψ‖/‖Ψ‖ over all nodes, with a
	// 95 % interval; 0 if they are exact and only coarser scales use walks. NoiseShare
	// is the mean share of a node's prior variance that is noise of its walks:
	// variances are too large by it.
	Kernel     float64 `json:"kernel_error"`
	Low        float64 `json:"kernel_error_low"`
	High       float64 `json:"kernel_error_high"`
	NoiseShare float64 `json:"noise_share"`

	// Mean is the standard error of predicted means due to the walks, in posterior
	// standard deviations: root mean squares over Nodes nodes, predicted again with
	// other walks. Nodes = 0: not measured, because there are too many measurements
	// to sample walks from again.
	Mean  float64 `json:"mean_error"`
	Nodes int     `json:"mean_error_nodes"`
}

const (
	limitPilot = 128     // rows whose error is measured
	limitNodes = 256     // nodes that are predicted again
	limitRows  = 100_000 // most rows that are sampled again
)

// Limits returns the limits of the prediction that Predict returned for the nodes. It
// costs one product with the kernel and, if that is made of walks, walks from a few
// hundred nodes and from the measured ones and conditioning on the measurements once
// more: a small part of the cost of fitting.
func (m *Model) Limits(ctx context.Context, nodes []int, p Prediction) (*Limits, error) {
	if err := m.of.check(nodes); err != nil {
		return nil, err
	}
	if len(p.Mean) != len(nodes) || len(p.SD) != len(nodes) {
		return nil, fmt.Errorf("limits of %d nodes for a prediction of %d; pass the prediction of these nodes", len(nodes), len(p.Mean))
	}
	count, err := m.PriorOnly(ctx, nodes)
	if err != nil {
		return nil, err
	}
	walks, err := m.walkError(ctx, nodes, p)
	return &Limits{len(nodes), count, walks}, err
}

// PriorOnly counts the nodes that have no covariance with any measurement, except
// for mean and trend: their predictions are those of the prior.
func (m *Model) PriorOnly(ctx context.Context, nodes []int) (count int, err error) {
	measured := m.posterior.Measured()
	layered, err := m.of.layered(m.spec)
	if err != nil {
		return 0, err
	}
	if reach, known := m.spec.reach(); known || layered {
		hops := m.of.graph.Hops(measured)
		for _, i := range nodes {
			if hops[i] < 0 || !layered && hops[i] > reach {
				count++
			}
		}
		return count, nil
	}
	joined, err := kernel.Connected(ctx, m.posterior.Prior(), nodes, measured)
	for _, ok := range joined {
		if !ok {
			count++
		}
	}
	return count, err
}

// reach returns how many hops the kernel of a complete Spec on one scale reaches,
// where that follows from its formula: zeros of exact kernels are rounded.
func (s Spec) reach() (hops int, known bool) {
	switch exact := s.Method == "dense" || s.Method == "series"; {
	case !exact:
		return 0, false
	case s.Family == "free":
		return 2 * s.freeLen(), true
	case s.Method == "series" && s.Hops > 0:
		return 2 * s.Hops, true
	case s.Custom != nil:
		return 0, false
	case s.Family == "power":
		return len(s.Alpha) - 1, true
	}
	return math.MaxInt, true // throughout a component
}

// walkError is nil where the kernel is exact.
func (m *Model) walkError(ctx context.Context, nodes []int, p Prediction) (*WalkError, error) {
	abilities := kernel.AbilitiesOf(m.posterior.Prior())
	fine, coarse := abilities.Fine, abilities.Coarse
	walked := fine != nil && !exact(fine.Features)
	for _, c := range coarse {
		walked = walked || !exact(c.Features)
	}
	if !walked && m.spec.Method != "lowrank" { // which projects at random, too
		return nil, nil
	}
	e := &WalkError{}
	if fine == nil {
		e.Walkers = coarse[0].Features.Options().Walks
	} else {
		opts := fine.Features.Options()
		e.Walkers = opts.Walks
		walked := m.of.walked(m.spec)
		opts.Scale = m.of.graph.WalkScale(walked.kind)
		est, err := walk.Pilot(ctx, walked.w, opts, fine.Coeffs, limitPilot)
		if err != nil {
			return nil, err
		}
		e.Kernel, e.Low, e.High, e.NoiseShare = est.Error, est.Low, est.High, est.NoiseShare
	}
	chosen := rand.New(rng.New(m.spec.Seed, "limits")).Perm(len(nodes))[:min(len(nodes), limitNodes)]
	again := make([]int, len(chosen))
	for k, a := range chosen {
		again[k] = nodes[a]
	}
	twin, err := m.twin(ctx, fine, coarse, again)
	if twin == nil || err != nil {
		return e, err
	}
	mean, err := twin.Mean(ctx, again)
	if err != nil {
		return nil, err
	}
	// Two means by independent walks differ by √2 of the standard error of one.
	apart, variance := 0.0, 0.0
	for k, a := range chosen {
		apart += (mean[k] - p.Mean[a]) * (mean[k] - p.Mean[a]) / 2
		variance += p.SD[a] * p.SD[a]
	}
	if variance > 0 {
		e.Mean, e.Nodes = math.Sqrt(apart/variance), len(chosen)
	}
	return e, nil
}

func exact(f *walk.Features) bool {
	s := f.Size()
	return s.ExactRows == int64(s.Rows)
}

// twin returns the posterior at the given nodes with other walks and the same
// hyperparameters; nil if too many rows would have to be sampled.
func (m *Model) twin(ctx context.Context, fine *kernel.Sampling, coarse []kernel.Sampling, nodes []int) (*gp.Posterior, error) {
	t := m.of
	other := &Trainer{spec: m.spec, graph: t.graph, w: t.w, levels: t.levels, degree: t.degree, matrices: map[string]*matrix{}}
	other.spec.Seed = rng.New(m.spec.Seed, "other walks").Uint64()
	t.mu.Lock()
	for name, m := range t.matrices {
		twin := *m
		twin.features = map[int]*walk.Features{}
		other.matrices[name] = &twin
	}
	other.lead, other.leadless = t.lead, t.leadless
	t.mu.Unlock()

	rows := append(slices.Clone(m.posterior.Measured()), nodes...)
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
	again := func(g *graph.Graph, kind graph.Normalization, s kernel.Sampling, rows []int) (*walk.Features, error) {
		opts := s.Features.Options()
		opts.Seed, opts.Scale = other.spec.Seed, g.WalkScale(kind)
		return walk.SampleRows(ctx, g.Normalized(kind), opts, rows)
	}
	if fine != nil {
		walked := other.walked(m.spec)
		f, err := again(t.graph, walked.kind, *fine, needed[0])
		if err != nil {
			return nil, err
		}
		walked.features[m.spec.Hops] = f
	}
	for k, s := range coarse {
		l := t.levels()[k]
		f, err := again(l.Graph, graph.NormalizedAdjacency, s, needed[k+1])
		if err != nil {
			return nil, err
		}
		other.scales = append(other.scales, kernel.Scale{Prolong: l.Prolong, Features: f})
	}
	k, err := other.chosenKernel(ctx, m.spec)
	if err != nil {
		return nil, err
	}
	model, err := gp.NewModel(k, m.fitted.State())
	if err != nil {
		return nil, err
	}
	return model.Condition(ctx, pooled(m.data))
}

// touched returns the cells of a level from which nodes below are interpolated.
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
