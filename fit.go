package grfgp

import (
	"cmp"
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

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
	Scales     string       `json:"scales"`
	Hops       int          `json:"hops,omitempty"`
	Why        []string     `json:"why"`
	Fit        gp.FitReport `json:"fit"`
	Candidates []Candidate  `json:"candidates"`
}

// Candidate is a kernel that was tried.
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

// candidate is a kernel that the Spec leaves open.
type candidate struct {
	family
	many bool // scales
}

func (c candidate) String() string {
	if c.many {
		return c.name + ", many scales"
	}
	return c.name
}

// sketchFrom is the number of measurements from which candidates are compared by
// a sample of them.
const sketchFrom = 1500

// fit tries the kernels that the Spec leaves and keeps the likeliest.
func (w *workshop) fit(ctx context.Context, d gp.Data) (*Model, error) {
	if err := w.checkNodes(d.Nodes); err != nil {
		return nil, err
	}
	m := &Model{spec: w.spec, place: w.place, hash: w.hash, data: d}
	own := gp.Data{Nodes: m.internal(d.Nodes), Y: d.Y, NoiseVar: d.NoiseVar}
	m.choice.Method, m.choice.Hops, m.choice.Why = w.decide(own.Len())
	scales, why, err := w.decideScales(own.Nodes, m.choice.Method, m.choice.Hops)
	if err != nil {
		return nil, err
	}
	m.choice.Why = append(m.choice.Why, why)
	opts := gp.FitOptions{Mean: w.spec.Mean, NoiseSD: w.spec.NoiseSD, Seed: w.spec.Seed}
	if err := opts.Solver.UnmarshalText([]byte(cmp.Or(w.spec.Solver, "auto"))); err != nil {
		return nil, err
	}
	families := w.spec.families(m.choice.Hops)
	sketch := len(families)*len(scales) > 1 && own.Len() > sketchFrom
	opts.Sketch = sketch

	var best *gp.Model
	var chosen candidate
	try := func(c candidate) error {
		k, err := w.kernel(ctx, c.family, m.choice.Method, m.choice.Hops, c.many)
		if err != nil {
			return err
		}
		opts.Starts = c.starts(k)
		fitted, report, err := gp.Fit(ctx, k, own, opts)
		if err != nil {
			return err
		}
		m.choice.Candidates = append(m.choice.Candidates, Candidate{c.String(), report.LogLikelihood, report.LOOScore})
		if best == nil || report.LogLikelihood > m.choice.Fit.LogLikelihood {
			best, m.choice.Fit, chosen = fitted, report, c
		}
		return nil
	}
	// The first family decides on the scales, the others are tried on those.
	for _, many := range scales {
		if err := try(candidate{families[0], many}); err != nil {
			return nil, err
		}
	}
	for _, f := range families[1:] {
		if err := try(candidate{f, chosen.many}); err != nil {
			return nil, err
		}
	}
	if sketch {
		k, err := w.kernel(ctx, chosen.family, m.choice.Method, m.choice.Hops, chosen.many)
		if err != nil {
			return nil, err
		}
		opts.Sketch, opts.Starts = false, [][]float64{best.Theta()}
		if best, m.choice.Fit, err = gp.Fit(ctx, k, own, opts); err != nil {
			return nil, err
		}
	}
	m.choose(chosen, sketch, own.Len())
	m.noiseSD, m.state = best.NoiseSD(), best.State()
	m.posterior, err = best.Condition(ctx, own)
	return m, err
}

// choose fills in what was chosen, and why.
func (m *Model) choose(c candidate, sketch bool, measurements int) {
	m.choice.Family, m.choice.Scales = c.name, "one"
	if c.many {
		m.choice.Scales = "many"
	}
	m.spec.Family, m.spec.Nu, m.spec.Scales = c.family.family, c.nu, m.choice.Scales
	m.spec.Method, m.spec.Hops = m.choice.Method, m.choice.Hops
	if n := len(m.choice.Candidates); n > 1 {
		by := ""
		if sketch {
			by = ", by a sample of the measurements"
		}
		m.choice.Why = append(m.choice.Why, fmt.Sprintf("%v has the highest likelihood of the %d kernels tried%s", c, n, by))
	}
	m.choice.Why = append(m.choice.Why, solved(m.choice.Fit, measurements))
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

// Sample returns draws of the quantity at the nodes, a column each: functions
// that the measurements leave possible. Draw s is the same for the same seed,
// however many are asked for.
func (m *Model) Sample(ctx context.Context, nodes []int, draws int, seed uint64) (*mat.Dense, error) {
	return m.posterior.Sample(ctx, m.internal(nodes), draws, seed)
}
