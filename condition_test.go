package grfgp

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/covariate"
	"grfgp/gp"
	"grfgp/graph"
)

// Condition is the posterior of a fit in which kernel, hyperparameters, noise and units are
// those that were learned, for every kind of values, with many scales, and after Save and
// Load.
func TestCondition(t *testing.T) {
	t.Parallel()
	g, err := graph.Grid(9, 8)
	if err != nil {
		t.Fatal(err)
	}
	n := g.Len()
	lanes := make([]float64, n)
	for i := range lanes {
		lanes[i] = float64(i % 4)
	}
	known, err := covariate.Encode([]covariate.Column{covariate.NewNumbers("lanes", lanes)}, n, covariate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wave := func(i int) float64 { return math.Sin(float64(i) / 9) }
	for name, c := range map[string]struct {
		spec  Spec
		value func(i int) float64
		size  float64 // exposure; 0: none
	}{
		"gaussian":    {Spec{Expression: Expression{Family: "diffusion", Scales: "one"}, Roles: "none"}, wave, 0},
		"many scales": {Spec{Expression: Expression{Scales: "many"}, Roles: "none"}, wave, 0},
		"covariates": {Spec{Expression: Expression{Family: "diffusion", Scales: "one", Terms: GraphTerm | CovariateTerm},
			Roles: "none", Covariates: known},
			func(i int) float64 { return wave(i) + lanes[i] }, 0},
		"logarithms": {Spec{Expression: Expression{Family: "diffusion", Scales: "one"}, Roles: "none", Transform: "log"},
			func(i int) float64 { return math.Exp(wave(i)) }, 0},
		"counts": {Spec{Expression: Expression{Family: "diffusion", Scales: "one"}, Roles: "none", Values: "count"},
			func(i int) float64 { return math.Round(4 + 3*wave(i)) }, 2},
		"shares": {Spec{Expression: Expression{Family: "diffusion", Scales: "one"}, Roles: "none", Values: "share"},
			func(i int) float64 { return math.Round(5 + 4*wave(i)) }, 10},
		"yes and no": {Spec{Expression: Expression{Family: "diffusion", Scales: "one"}, Roles: "none", Values: "yes-no"},
			func(i int) float64 { return float64(i / 9 % 2) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			measure := func(start, step int) (d gp.Data) {
				for i := start; i < n; i += step {
					d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, c.value(i))
					if c.size > 0 {
						d.Exposure = append(d.Exposure, c.size)
					}
				}
				return d
			}
			first, then := measure(0, 3), measure(1, 4)
			m, err := Fit(t.Context(), g, first, c.spec)
			if err != nil {
				t.Fatal(err)
			}
			var file bytes.Buffer
			if err := m.Save(&file); err != nil {
				t.Fatal(err)
			}
			loaded, err := Load(t.Context(), &file, g, Spec{Covariates: c.spec.Covariates})
			if err != nil {
				t.Fatal(err)
			}
			other, err := loaded.Condition(t.Context(), then)
			if err != nil {
				t.Fatal(err)
			}
			if other.LearnedFrom() != first.Len() || other.Data().Len() != then.Len() {
				t.Errorf("learned from %d measurements, conditioned on %d; want %d and %d", other.LearnedFrom(), other.Data().Len(), first.Len(),
					then.Len())
			}
			// By hand: the chosen kernel with the saved state.
			k, err := m.of.chosenKernel(t.Context(), m.spec.Expression)
			if err != nil {
				t.Fatal(err)
			}
			fixed, err := gp.NewModel(k, m.fitted.State())
			if err != nil {
				t.Fatal(err)
			}
			own, err := m.spec.ownData(n, then)
			if err != nil {
				t.Fatal(err)
			}
			posterior, err := fixed.Condition(t.Context(), own)
			if err != nil {
				t.Fatal(err)
			}
			want, err := m.spec.predict(t.Context(), posterior, NewShare(nil, g.Nodes()), nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := other.Predict(t.Context(), g.Nodes())
			if err != nil {
				t.Fatal(err)
			}
			before, err := m.Predict(t.Context(), g.Nodes())
			if err != nil {
				t.Fatal(err)
			}
			differ := 0
			for i := range got.Mean {
				if got.Mean[i] != want.Mean[i] || got.SD[i] != want.SD[i] {
					t.Fatalf("node %d: %v ± %v, want %v ± %v", i, got.Mean[i], got.SD[i], want.Mean[i], want.SD[i])
				}
				if got.Mean[i] != before.Mean[i] {
					differ++
				}
			}
			if differ < n/2 {
				t.Errorf("%d of %d predictions changed", differ, n)
			}
			if _, err := m.Condition(t.Context(), gp.Data{Nodes: []int{n}, Y: []float64{1}}); !errors.Is(err, gp.ErrData) {
				t.Errorf("a node that the graph does not have: %v", err)
			}
		})
	}
}

// The mean is that of the formula m + k(·,x)ᵀ(K + σ²I)⁻¹(y − m) with what was learned from
// the first measurements, and the second ones.
func TestConditionByFormula(t *testing.T) {
	t.Parallel()
	const n = 40
	g, err := graph.Ring(n)
	if err != nil {
		t.Fatal(err)
	}
	data := func(start int) (d gp.Data) {
		for i := start; i < n; i += 4 {
			d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, 3+math.Cos(float64(i)/5))
		}
		return d
	}
	m, err := Fit(t.Context(), g, data(0), Spec{Expression: Expression{Family: "diffusion", Scales: "one"}, Roles: "none"})
	if err != nil {
		t.Fatal(err)
	}
	then := data(2)
	other, err := m.Condition(t.Context(), then)
	if err != nil {
		t.Fatal(err)
	}
	s := m.fitted.State()
	k, err := m.of.chosenKernel(t.Context(), m.spec.Expression)
	if err != nil {
		t.Fatal(err)
	}
	cov, err := k.At(s.Theta)
	if err != nil {
		t.Fatal(err)
	}
	all := mat.NewSymDense(n, nil)
	if err := cov.Gram(t.Context(), all, g.Nodes()); err != nil {
		t.Fatal(err)
	}
	at := func(i, j int) float64 { return all.At(i, j) + s.MeanVar }
	h, y := mat.NewDense(then.Len(), then.Len(), nil), mat.NewVecDense(then.Len(), nil)
	for a, i := range then.Nodes {
		for b, j := range then.Nodes {
			h.Set(a, b, at(i, j))
		}
		h.Set(a, a, at(i, i)+s.Noise)
		y.SetVec(a, (then.Y[a]-s.Units.Center)/s.Units.Scale)
	}
	var alpha mat.VecDense
	if err := alpha.SolveVec(h, y); err != nil {
		t.Fatal(err)
	}
	got, err := other.Predict(t.Context(), g.Nodes())
	if err != nil {
		t.Fatal(err)
	}
	for i, mean := range got.Mean {
		want := 0.0
		for a, j := range then.Nodes {
			want += at(i, j) * alpha.AtVec(a)
		}
		if want = s.Units.Center + s.Units.Scale*want; math.Abs(mean-want) > 1e-6 {
			t.Errorf("node %d: mean %v, want %v", i, mean, want)
		}
	}
}

// Measurements without noise variances do not suit a model that was fitted to some with
// them: it knows no noise of its own.
func TestConditionNeedsNoise(t *testing.T) {
	t.Parallel()
	g, err := graph.Ring(20)
	if err != nil {
		t.Fatal(err)
	}
	d := gp.Data{Nodes: []int{0, 5, 10, 15}, Y: []float64{1, 2, 1, 0}, NoiseVar: []float64{0.1, 0.1, 0.1, 0.1}}
	m, err := Fit(t.Context(), g, d, Spec{Expression: Expression{Family: "diffusion", Scales: "one"}, Roles: "none"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Condition(t.Context(), gp.Data{Nodes: []int{3}, Y: []float64{1}}); !errors.Is(err, gp.ErrData) {
		t.Errorf("%v", err)
	}
	if _, err := m.Condition(t.Context(), gp.Data{Nodes: []int{3}, Y: []float64{1}, NoiseVar: []float64{0.3}}); err != nil {
		t.Errorf("%v", err)
	}
}
