package grfgp

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/bayesopt"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/kernel"
)

// changing is a ring with measurements of a function of node and time: each node is
// measured in about a third of the periods, with noise of sd 0.1.
func changing(t testing.TB, nodes int, times []float64, seed uint64) (*graph.Graph, gp.Data) {
	t.Helper()
	g, err := graph.Ring(nodes)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rng.New(seed, "changing"))
	var d gp.Data
	for p, at := range times {
		for i := range nodes {
			if r.IntN(3) > 0 {
				continue
			}
			x := 2 * math.Pi * float64(i) / float64(nodes)
			d.Nodes = append(d.Nodes, Place(g, i, p))
			d.Y = append(d.Y, 5+2*math.Sin(x)+math.Sin(2*x+at/3)+0.1*r.NormFloat64())
		}
	}
	return g, d
}

var unevenTimes = []float64{0, 1, 2, 3.5, 4, 7}

// simplest fixes all choices but the hyperparameters.
func simplest(times []float64, model string) Spec {
	mean := 5.0
	return Spec{Expression: Expression{Family: "diffusion", Laplacian: "normalized", Scales: "one", Trend: "none", Variance: "natural",
		Terms: GraphTerm, Method: "dense"}, Roles: "none", Times: times, TimeModel: model, Mean: &mean}
}

// explicit returns the posterior mean and variance at all places by dense algebra: the
// kernel on nodes times that of time, entry by entry.
func explicit(t testing.TB, m *Model, d gp.Data, rho func(p, q int) float64) (mean, variance []float64) {
	t.Helper()
	s, g := m.fitted.State(), m.of.graph
	own, err := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	if err != nil {
		t.Fatal(err)
	}
	cov, err := own.At(s.Theta[:2])
	if err != nil {
		t.Fatal(err)
	}
	nodes := mat.NewSymDense(g.Len(), nil)
	if err := cov.Gram(t.Context(), nodes, g.Nodes()); err != nil {
		t.Fatal(err)
	}
	entry := func(a, b int) float64 {
		i, p := AtPlace(g, a)
		j, q := AtPlace(g, b)
		return nodes.At(i, j) * rho(p, q) * s.Units.Scale * s.Units.Scale
	}
	h, y := mat.NewSymDense(d.Len(), nil), mat.NewVecDense(d.Len(), nil)
	for a, r := range d.Nodes {
		for b, c := range d.Nodes {
			h.SetSym(a, b, entry(r, c))
		}
		h.SetSym(a, a, h.At(a, a)+m.NoiseSD()*m.NoiseSD())
		y.SetVec(a, d.Y[a]-*m.spec.Mean)
	}
	var chol mat.Cholesky
	if !chol.Factorize(h) {
		t.Fatal("not positive definite")
	}
	var weight mat.VecDense
	if err := chol.SolveVecTo(&weight, y); err != nil {
		t.Fatal(err)
	}
	for place := range m.of.places() {
		row := mat.NewVecDense(d.Len(), nil)
		for a, r := range d.Nodes {
			row.SetVec(a, entry(place, r))
		}
		var solved mat.VecDense
		if err := chol.SolveVecTo(&solved, row); err != nil {
			t.Fatal(err)
		}
		mean = append(mean, *m.spec.Mean+mat.Dot(row, &weight))
		variance = append(variance, entry(place, place)-mat.Dot(row, &solved))
	}
	return mean, variance
}

// takenAsKnown returns the model with hyperparameters taken as known.
func takenAsKnown(t *testing.T, m *Model, own gp.Data) *Model {
	t.Helper()
	state, plain := m.fitted.State(), *m
	state.Alternatives = nil
	k, err := m.of.chosenKernel(t.Context(), m.spec.Expression)
	if err != nil {
		t.Fatal(err)
	}
	if plain.fitted, err = gp.NewModel(k, state); err != nil {
		t.Fatal(err)
	}
	if plain.posterior, err = plain.fitted.Condition(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	plain.noiseSD = plain.fitted.NoiseSD()
	return &plain
}

// Predictions at all places are those of an explicit Gaussian process with the Kronecker
// product of nodes and time, by both models over time and both solvers. A model file
// keeps the times, and gives the same bits.
func TestPlacesAreThoseOfAKroneckerProduct(t *testing.T) {
	t.Parallel()
	g, d := changing(t, 12, unevenTimes, 3)
	for _, c := range []struct {
		model, solver string
		tolerance     float64
	}{{"joint", "exact", 1e-7}, {"separate", "exact", 1e-7}, {"joint", "iterative", 2e-3}, {"", "exact", 1e-7}} {
		spec := simplest(unevenTimes, c.model)
		spec.Solver = c.solver
		m, err := Fit(t.Context(), g, d, spec)
		if err != nil {
			t.Fatal(err)
		}
		m = takenAsKnown(t, m, d)
		theta := m.fitted.State().Theta
		rho := func(p, q int) float64 {
			if c.model == "separate" {
				return map[bool]float64{true: 1}[p == q]
			}
			return (1 + theta[3]*math.Exp(-math.Abs(unevenTimes[p]-unevenTimes[q])/theta[2])) / (1 + theta[3])
		}
		mean, variance := explicit(t, m, d, rho)
		places := make([]int, 12*len(unevenTimes))
		for k := range places {
			places[k] = k
		}
		p, err := m.Predict(t.Context(), places)
		if err != nil {
			t.Fatal(err)
		}
		for k := range places {
			sd := math.Sqrt(variance[k])
			if math.Abs(p.Mean[k]-mean[k]) > c.tolerance || math.Abs(p.SD[k]-sd) > c.tolerance+5*m.SDError(len(places))*sd { // five standard errors
				t.Fatalf("%s, %s: place %d: %v ± %v, want %v ± %v", c.model, c.solver, k, p.Mean[k], p.SD[k], mean[k], sd)
			}
		}
		var file bytes.Buffer
		if err := m.Save(&file); err != nil {
			t.Fatal(err)
		}
		again, err := Load(t.Context(), &file, g)
		if err != nil {
			t.Fatal(err)
		}
		q, err := again.Predict(t.Context(), places)
		if err != nil || !slices.Equal(q.Mean, p.Mean) || !slices.Equal(q.SD, p.SD) || !slices.Equal(again.spec.Times, unevenTimes) {
			t.Errorf("%s, %s: the loaded model differs: %v", c.model, c.solver, err)
		}
	}
}

// Everything is chosen by itself; the order of rows does not matter. Further periods
// change no prediction; the nearer they are to measurements, the more is known.
func TestPlacesByThemselves(t *testing.T) {
	t.Parallel()
	g, d := changing(t, 30, unevenTimes, 5)
	m, err := Fit(t.Context(), g, d, Spec{Times: unevenTimes})
	if err != nil {
		t.Fatal(err)
	}
	now := Places(g, g.Nodes(), 5)
	p, err := m.Predict(t.Context(), now)
	if err != nil {
		t.Fatal(err)
	}
	square := 0.0
	for k, place := range now {
		i, period := AtPlace(g, place)
		x := 2 * math.Pi * float64(i) / 30
		e := p.Mean[k] - (5 + 2*math.Sin(x) + math.Sin(2*x+unevenTimes[period]/3))
		square += e * e / 30
	}
	if square > 0.25 { // a tenth of the variance
		t.Errorf("mean squared error %.3g in the last period, want less than 0.25", square)
	}
	backwards, order := d, []int(nil)
	for k := range d.Nodes {
		order = append(order, d.Len()-1-k)
	}
	backwards = d.Select(order)
	other, err := Fit(t.Context(), g, backwards, Spec{Times: unevenTimes})
	if err != nil {
		t.Fatal(err)
	}
	if q, err := other.Predict(t.Context(), now); err != nil || !slices.Equal(p.Mean, q.Mean) || !slices.Equal(p.SD, q.SD) {
		t.Errorf("another order of rows changes predictions: %v", err)
	}
	further, err := m.OverPeriods(t.Context(), []float64{0, 1, 2, 3.5, 4, 6.9, 7, 1e6}, nil)
	if err != nil {
		t.Fatal(err)
	}
	q, err := further.Predict(t.Context(), Places(g, g.Nodes(), 6))
	if err != nil {
		t.Fatal(err)
	}
	for i, sd := range p.SD { // sums over periods are in another order
		near(t, "mean with further periods", q.Mean[i], p.Mean[i], 1e-9*sd)
		near(t, "sd with further periods", q.SD[i], sd, 1e-9*sd)
	}
	near, err := further.Predict(t.Context(), Places(g, g.Nodes(), 5))
	if err != nil {
		t.Fatal(err)
	}
	far, err := further.Predict(t.Context(), Places(g, g.Nodes(), 7))
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Mean {
		if math.Abs(near.Mean[i]-p.Mean[i]) > 0.3 || far.SD[i] <= near.SD[i] {
			t.Errorf("node %d: %.3g ± %.3g just before the last period, %.3g ± %.3g long after it, %.3g in it", i, near.Mean[i], near.SD[i],
				far.Mean[i], far.SD[i], p.Mean[i])
		}
	}
	if _, err := m.OverPeriods(t.Context(), unevenTimes[1:], nil); !errors.Is(err, ErrSpec) {
		t.Errorf("periods without one that has measurements: %v", err)
	}
}

// Uses without time refuse it, and invalid times and places are errors that say so.
func TestPlacesRefused(t *testing.T) {
	t.Parallel()
	g, d := changing(t, 12, unevenTimes, 3)
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{Times: []float64{1, 1}}, "not after the one before it"},
		{Spec{Times: []float64{math.NaN()}}, "finite"},
		{Spec{Times: []float64{1, 2}, TimeModel: "both"}, "joint or separate"},
		{Spec{TimeModel: "joint"}, "needs the times"},
		{Spec{Times: []float64{1, 2}, TimeNames: []string{"a"}}, "1 names of 2 periods"},
		{Spec{Expression: Expression{Method: "lowrank"}, Times: []float64{1, 2}}, "lowrank has no model over time"},
	} {
		if err := c.spec.Check(); !errors.Is(err, ErrSpec) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	spec := simplest(unevenTimes, "")
	if _, err := NewOptimizer(g, spec, bayesopt.Options{}); !errors.Is(err, ErrSpec) {
		t.Errorf("a search over time: %v", err)
	}
	spec.Mean, spec.Variance = nil, ""
	if _, err := Classify(context.Background(), g, gp.Labels{Nodes: []int{0, 1}, Class: []int{0, 1}, Classes: 2}, spec,
		gp.Dirichlet); !errors.Is(err, ErrSpec) {
		t.Errorf("classes over time: %v", err)
	}
	m, err := Fit(t.Context(), g, d, simplest(unevenTimes, ""))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Predict(t.Context(), []int{12 * 6}); !errors.Is(err, ErrNode) ||
		!strings.Contains(err.Error(), "place 72, with 12 nodes and 6 periods") {
		t.Errorf("a place beyond: %v", err)
	}
}

// In independent periods the measurements of others inform no place; in dependent ones
// they do.
func TestPlacesPriorOnly(t *testing.T) {
	t.Parallel()
	g, d := changing(t, 12, unevenTimes, 3)
	var rows []int
	for k, place := range d.Nodes {
		if _, period := AtPlace(g, place); period != 4 {
			rows = append(rows, k)
		}
	}
	d = d.Select(rows)
	places := append(Places(g, g.Nodes(), 4), Places(g, g.Nodes(), 5)...)
	for model, want := range map[string]int{"joint": 0, "separate": 12} {
		for _, method := range []string{"dense", "grf"} {
			spec := simplest(unevenTimes, model)
			spec.Method = method
			if method == "grf" {
				spec.Hops = 6
			}
			m, err := Fit(t.Context(), g, d, spec)
			if err != nil {
				t.Fatal(err)
			}
			p, err := m.Predict(t.Context(), places)
			if err != nil {
				t.Fatal(err)
			}
			l, err := m.Limits(t.Context(), places, p)
			if err != nil || l.PriorOnly != want || l.Nodes != 24 {
				t.Errorf("%s, %s: %+v, %v; want %d without information", model, method, l, err, want)
			}
		}
	}
}
