package gp

import (
	"errors"
	"math"
	"testing"
)

// Predicting from afar is conditioning on all but the list.
func TestHeldOutLogDensity(t *testing.T) {
	t.Parallel()
	g := smallGraph(t)
	for name, k := range kernels(t, g) {
		d := someData(g.Len(), 12, 8)
		m, _, err := Fit(background, k, d, FitOptions{})
		if err != nil {
			t.Fatal(err)
		}
		lists := [][]int{{3}, {0, 5, 7}, {11, 1}}
		scores, err := m.HeldOutLogDensity(background, d, lists)
		if err != nil {
			t.Fatal(err)
		}
		for s, list := range lists {
			var rest Data
			out := map[int]bool{}
			for _, i := range list {
				out[i] = true
			}
			for i := range d.Len() {
				if !out[i] {
					rest.Nodes, rest.Y = append(rest.Nodes, d.Nodes[i]), append(rest.Y, d.Y[i])
				}
			}
			p := step[*Posterior](t)(m.Condition(background, rest))
			at := d.Nodes[list[0]]
			mean, variance := step[[]float64](t)(p.Mean(background, []int{at})), step[[]float64](t)(p.Variance(background, []int{at}))
			scale := m.units.Scale
			want := logNormal(d.Y[list[0]], mean[0], variance[0]+p.NoiseVar()) + math.Log(scale)
			if math.Abs(scores[s]-want) > 1e-8 {
				t.Errorf("%s: list %v has %v, want %v", name, list, scores[s], want)
			}
		}
	}
}

// oneByOne returns the log density of all measurements, each given those before it.
func oneByOne(t *testing.T, p *Posterior, d Data) (sum float64) {
	t.Helper()
	for k := range d.Len() {
		one := d.Slice(k, k+1)
		sum += step[[]float64](t)(p.LogDensity(background, one))[0]
		p = step[*Posterior](t)(p.Condition(background, one))
	}
	return sum
}

// log p(y, y*) = log p(y) + log p(y* | y), and measurements have the densities together that each has by itself; the
// log marginal likelihood is that of the fit in the units of the data. By iteration it is the same within five standard errors.
func TestDensitiesAddUp(t *testing.T) {
	t.Parallel()
	g := smallGraph(t)
	for name, k := range kernels(t, g) {
		d := someData(g.Len(), 14, 8)
		m, r, err := Fit(background, k, d, FitOptions{})
		if err != nil {
			t.Fatal(err)
		}
		post, numbers := step[*Posterior](t), step[[]float64](t)
		first, rest := d.Slice(0, 9), d.Slice(9, 14)
		some, all := post(m.Condition(background, first)), post(m.Condition(background, d))
		before, _, err := some.LogMarginalLikelihood(background)
		if err != nil {
			t.Fatal(err)
		}
		after, se, err := all.LogMarginalLikelihood(background)
		if err != nil || se != 0 {
			t.Fatal(err, se)
		}
		about(t, name+": log marginal likelihood of all", after, before+oneByOne(t, some, rest), 1e-9)
		about(t, name+": log marginal likelihood", after, r.LogLikelihood-float64(d.Len())*math.Log(m.units.Scale), 1e-9)
		for q, one := range numbers(some.LogDensity(background, rest)) {
			about(t, name+": log density", numbers(some.LogDensity(background, rest.Slice(q, q+1)))[0], one, 1e-9)
		}
		state := m.State()
		state.Solver = Iterative
		iterative, err := NewModel(k, state)
		if err != nil {
			t.Fatal(err)
		}
		p := post(iterative.Condition(background, d))
		value, se, err := p.LogMarginalLikelihood(background)
		if err != nil || !(math.Abs(value-after) <= 5*se+1e-3) {
			t.Errorf("%s: log marginal likelihood by iteration %v ± %v, want %v (%v)", name, value, se, after, err)
		}
		if _, _, err := p.LeaveOneOut(); !errors.Is(err, ErrNeedsExact) {
			t.Errorf("leave-one-out by iteration: %v", err)
		}
		if _, err := p.StandardizedResiduals(); !errors.Is(err, ErrNeedsExact) {
			t.Errorf("residuals by iteration: %v", err)
		}
	}
}

// Measurements at nodes that do not exist have no density, and none has density 1.
func TestDensityRefuses(t *testing.T) {
	t.Parallel()
	g := smallGraph(t)
	d := someData(g.Len(), 8, 8)
	m, _, err := Fit(background, kernels(t, g)["dense"], d, FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p := step[*Posterior](t)(m.Condition(background, d))
	bad := Data{Nodes: []int{99}, Y: []float64{1}}
	if _, err := p.LogDensity(background, bad); !errors.Is(err, ErrData) {
		t.Errorf("log density: %v", err)
	}
	if v, err := p.LogDensity(background, Data{}); v != nil || err != nil {
		t.Errorf("nothing has the log densities %v (%v)", v, err)
	}
}
