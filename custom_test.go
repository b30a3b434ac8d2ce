package grfgp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"testing"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/kernel"
)

// steps is the kernel of a lazy walk of three steps, by walk length:
// K = s²((1−a)I + aW)⁶ with a = t/(1+t).
type steps struct{}

func (steps) Params() []kernel.Param {
	return []kernel.Param{{Name: "variance", Start: 1, Positive: true, Variance: true}, {Name: "t", Start: 1, Positive: true}}
}

func (steps) Coeffs(dst, theta []float64) {
	clear(dst)
	s, stay := math.Sqrt(theta[0]), 1/(1+theta[1])
	for l, binomial := range []float64{1, 3, 3, 1} {
		if l < len(dst) {
			dst[l] = s * binomial * math.Pow(stay, 3) * math.Pow(theta[1], float64(l))
		}
	}
}

func (k steps) CoeffsGrad(dst [][]float64, theta []float64) {
	k.Coeffs(dst[0], theta)
	k.Coeffs(dst[1], theta)
	for l := range dst[0] {
		dst[0][l] /= 2 * theta[0]
		dst[1][l] *= float64(l)/theta[1] - 3/(1+theta[1])
	}
}

// stepsSpectrum is the same by eigenvalue too, as exact kernels need it.
type stepsSpectrum struct{ steps }

func (stepsSpectrum) Density(w float64, theta []float64) float64 {
	return theta[0] * math.Pow((1+theta[1]*w)/(1+theta[1]), 6)
}

func (k stepsSpectrum) DensityGrad(dst []float64, w float64, theta []float64) {
	lazy := (1 + theta[1]*w) / (1 + theta[1])
	dst[0] = math.Pow(lazy, 6)
	dst[1] = theta[0] * 6 * math.Pow(lazy, 5) * (w - 1) / ((1 + theta[1]) * (1 + theta[1]))
}

var custom = grfgp.CustomFamily{Name: "three steps", Modulation: stepsSpectrum{}}

// customTask is a smooth quantity on a grid, measured at every third node.
func customTask(t *testing.T) (*graph.Graph, gp.Data) {
	t.Helper()
	g, err := graph.Grid(9, 9)
	if err != nil {
		t.Fatal(err)
	}
	var d gp.Data
	for i := 0; i < g.Len(); i += 3 {
		d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, math.Sin(float64(i%9)/3)+math.Cos(float64(i/9)/3))
	}
	return g, d
}

// A custom family is fitted in every representation; the exact representations
// agree with each other.
func TestCustomFamilyFits(t *testing.T) {
	t.Parallel()
	g, d := customTask(t)
	nodes := []int{1, 40, 80}
	predict := func(spec grfgp.Spec) []float64 {
		t.Helper()
		m, err := grfgp.Fit(t.Context(), g, d, spec)
		if err != nil {
			t.Fatal(err)
		}
		if c := m.Choice(); c.Family != custom.Name {
			t.Errorf("%+v: chosen was %q", spec, c.Family)
		}
		p, err := m.Predict(t.Context(), nodes)
		if err != nil {
			t.Fatal(err)
		}
		return p.Mean
	}
	byLength := grfgp.CustomFamily{Name: custom.Name, Modulation: steps{}}
	dense := predict(grfgp.Spec{Custom: &custom, Method: "dense", Scales: "one", Trend: "none", Variance: "natural"})
	for _, spec := range []grfgp.Spec{{Custom: &custom, Method: "series"}, {Custom: &byLength, Hops: 3},
		{Custom: &byLength, Method: "series", Hops: 3}, {Custom: &custom, Method: "grf", Walks: 400, Hops: 3}} {
		spec.Scales, spec.Trend, spec.Variance = "one", "none", "natural"
		limit := 1e-4
		if spec.Method == "grf" {
			limit = 0.1
		}
		for k, v := range predict(spec) {
			if math.Abs(v-dense[k]) > limit {
				t.Errorf("%+v: node %d is predicted as %v, by eigenvectors as %v", spec, nodes[k], v, dense[k])
			}
		}
	}
	predict(grfgp.Spec{Custom: &custom})                                // everything else is chosen
	predict(grfgp.Spec{Custom: &custom, Scales: "many", Method: "grf"}) // other scales on top
	if _, err := grfgp.Classify(t.Context(), g, gp.Labels{Nodes: []int{0, 1, 79, 80}, Class: []int{0, 0, 1, 1}, Classes: 2},
		grfgp.Spec{Custom: &custom}, gp.Dirichlet); err != nil {
		t.Error(err)
	}
}

// A saved model holds the name of its custom family; Load needs the family again.
func TestCustomFamilyIsLoaded(t *testing.T) {
	t.Parallel()
	g, d := customTask(t)
	m, err := grfgp.Fit(t.Context(), g, d, grfgp.Spec{Custom: &custom})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := m.Save(&file); err != nil {
		t.Fatal(err)
	}
	if _, err := grfgp.Load(t.Context(), bytes.NewReader(file.Bytes()), g); !errors.Is(err, grfgp.ErrFile) {
		t.Errorf("without the family: %v", err)
	}
	again, err := grfgp.Load(t.Context(), &file, g, grfgp.Spec{Custom: &grfgp.CustomFamily{Name: "another", Modulation: kernel.Diffusion{}}},
		grfgp.Spec{Custom: &custom})
	if err != nil {
		t.Fatal(err)
	}
	a, err := m.Predict(t.Context(), []int{1, 40})
	if err != nil {
		t.Fatal(err)
	}
	b, err := again.Predict(t.Context(), []int{1, 40})
	if err != nil {
		t.Fatal(err)
	}
	if a.Mean[0] != b.Mean[0] || a.SD[1] != b.SD[1] {
		t.Errorf("%v as saved, %v as loaded", a, b)
	}
}

// An Optimizer fits a custom family and resumes from a checkpoint that was stored
// as JSON.
func TestCustomFamilyInAnOptimizer(t *testing.T) {
	t.Parallel()
	g, d := customTask(t)
	build := func() *grfgp.Optimizer {
		o, err := grfgp.NewOptimizer(g, grfgp.Spec{Custom: &custom}, bayesopt.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := o.TellAll(d); err != nil {
			t.Fatal(err)
		}
		return o
	}
	first := build()
	next, _, err := first.Next(t.Context(), bayesopt.Request{Count: 3})
	if err != nil {
		t.Fatal(err)
	}
	if chosen, ok := first.Chosen(); !ok || chosen.Family != custom.Name {
		t.Errorf("chosen was %+v", chosen)
	}
	c, _ := first.Checkpoint()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var read bayesopt.Checkpoint
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	second := build()
	if err := second.Resume(t.Context(), read); err != nil {
		t.Fatal(err)
	}
	again, _, err := second.Next(t.Context(), bayesopt.Request{Count: 3})
	if err != nil {
		t.Fatal(err)
	}
	for k := range next {
		if next[k] != again[k] {
			t.Errorf("%v, after resuming %v", next, again)
			break
		}
	}
}

func TestCustomFamiliesAreChecked(t *testing.T) {
	t.Parallel()
	byLength := grfgp.CustomFamily{Name: "by length", Modulation: steps{}}
	for _, spec := range []grfgp.Spec{
		{Family: "three steps"}, {Family: "matern", Custom: &custom}, {Custom: &grfgp.CustomFamily{Name: "free", Modulation: steps{}}},
		{Custom: &grfgp.CustomFamily{Modulation: steps{}}}, {Custom: &grfgp.CustomFamily{Name: "nothing"}}, {Custom: &byLength, Method: "dense"},
		{Custom: &custom, Nu: 1}, {Custom: &custom, Alpha: []float64{1}},
	} {
		if err := spec.Check(); !errors.Is(err, grfgp.ErrSpec) {
			t.Errorf("%+v: %v", spec, err)
		}
	}
	if err := (grfgp.Spec{Family: custom.Name, Custom: &custom}).Check(); err != nil {
		t.Error(err)
	}
}
