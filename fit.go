package grfgp

import (
	"cmp"
	"context"
	"fmt"

	"grfgp/gp"
	"grfgp/graph"
)

// Model is a Gaussian process on a graph, fitted to measurements and conditioned
// on them. Nodes are numbered as in the graph that was given.
type Model struct {
	spec      Spec // with the choices filled in
	choice    Choice
	hash      [32]byte // of the graph
	data      gp.Data  // as given
	state     gp.State
	place     []int // place[node] is the node's number in the ordered graph
	noiseSD   float64
	posterior *gp.Posterior
}

// Choice says what was chosen, and why.
type Choice struct {
	Family     string       `json:"family"`
	Method     string       `json:"method"`
	Hops       int          `json:"hops,omitempty"`
	Why        []string     `json:"why"`
	Fit        gp.FitReport `json:"fit"`
	Candidates []Candidate  `json:"candidates"`
}

// Candidate is a family that was tried.
type Candidate struct {
	Family        string  `json:"family"`
	LogLikelihood float64 `json:"log_likelihood"`
	LOOScore      float64 `json:"loo_score"` // mean leave-one-out log density
}

// Choice returns what was chosen, and why.
func (m *Model) Choice() Choice { return m.choice }

// NoiseSD returns the standard deviation of a measurement's noise.
func (m *Model) NoiseSD() float64 { return m.noiseSD }

// Data returns the measurements that the model is conditioned on.
func (m *Model) Data() gp.Data { return m.data }

// Fit chooses a kernel as spec says, learns its hyperparameters, and conditions
// on the measurements.
func Fit(ctx context.Context, g *graph.Graph, d gp.Data, spec Spec) (*Model, error) {
	w, err := newWorkshop(g, spec)
	if err != nil {
		return nil, err
	}
	return w.fit(ctx, d)
}

// fit tries the families that the Spec leaves and keeps the likeliest.
func (w *workshop) fit(ctx context.Context, d gp.Data) (*Model, error) {
	if err := w.checkNodes(d.Nodes); err != nil {
		return nil, err
	}
	m := &Model{spec: w.spec, place: w.place, hash: w.hash, data: d}
	own := gp.Data{Nodes: m.internal(d.Nodes), Y: d.Y, NoiseVar: d.NoiseVar}
	m.choice.Method, m.choice.Hops, m.choice.Why = w.decide(own.Len())

	var solver gp.Solver
	if err := solver.UnmarshalText([]byte(cmp.Or(w.spec.Solver, "auto"))); err != nil {
		return nil, err
	}
	var best *gp.Model
	for _, f := range w.spec.families(m.choice.Hops) {
		k, err := w.kernel(ctx, f, m.choice.Method, m.choice.Hops)
		if err != nil {
			return nil, err
		}
		fitted, report, err := gp.Fit(ctx, k, own, gp.FitOptions{
			Solver: solver, Mean: w.spec.Mean, NoiseSD: w.spec.NoiseSD, Starts: starts(f), Seed: w.spec.Seed,
		})
		if err != nil {
			return nil, err
		}
		m.choice.Candidates = append(m.choice.Candidates, Candidate{f.name, report.LogLikelihood, report.LOOScore})
		if best == nil || report.LogLikelihood > m.choice.Fit.LogLikelihood {
			best, m.choice.Fit, m.choice.Family = fitted, report, f.name
			m.spec.Family, m.spec.Nu = f.family, f.nu
		}
	}
	if len(m.choice.Candidates) > 1 {
		m.choice.Why = append(m.choice.Why, fmt.Sprintf("%s has the highest likelihood of the %d families tried", m.choice.Family, len(m.choice.Candidates)))
	}
	m.choice.Why = append(m.choice.Why, solved(m.choice.Fit, own.Len()))
	m.spec.Method, m.spec.Hops = m.choice.Method, m.choice.Hops
	m.noiseSD, m.state = best.NoiseSD(), best.State()
	var err error
	m.posterior, err = best.Condition(ctx, own)
	return m, err
}

// solved says how systems were solved.
func solved(r gp.FitReport, measurements int) string {
	if r.Solver == gp.Exact {
		return fmt.Sprintf("%d measurements are few enough to solve exactly", measurements)
	}
	return fmt.Sprintf("%d measurements are solved by iteration, to a residual of %.1g while learning", measurements, r.Residual)
}

// checkNodes says which measurement is at no node.
func (w *workshop) checkNodes(nodes []int) error {
	for k, i := range nodes {
		if i < 0 || i >= len(w.place) {
			return fmt.Errorf("%w: measurement %d is at node %d of %d", gp.ErrData, k, i, len(w.place))
		}
	}
	return nil
}

// internal returns the numbers of nodes in the ordered graph.
func (m *Model) internal(nodes []int) []int {
	at := make([]int, len(nodes))
	for k, i := range nodes {
		at[k] = m.place[i]
	}
	return at
}

// Prediction is what is known of some nodes.
type Prediction struct {
	Mean []float64
	SD   []float64 // of the quantity itself; a reading has the noise on top
}

// SDError is the relative standard error of the standard deviations that Predict
// gives for so many nodes: 0 where they are exact, and about 0.04 where they come
// from posterior samples because exact ones would take too long.
func (m *Model) SDError(nodes int) float64 {
	if m.posterior.Exact(nodes) {
		return 0
	}
	return gp.SampledSDError
}

// Predict returns mean and standard deviation of the quantity at the nodes.
func (m *Model) Predict(ctx context.Context, nodes []int) (Prediction, error) {
	at := m.internal(nodes)
	mean, err := m.posterior.Mean(ctx, at)
	if err != nil {
		return Prediction{}, err
	}
	variance, err := m.posterior.Variance(ctx, at)
	if err != nil {
		return Prediction{}, err
	}
	return Prediction{mean, roots(variance)}, nil
}
