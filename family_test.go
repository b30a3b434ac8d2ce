package grfgp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/testkit"
	"grfgp/kernel"
	"grfgp/kernel/kerneltest"
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

// Two families of the tests, and one that joins the automatic choice in a process of its own: see TestFamilyInOneFile.
func init() {
	kernel.Register(kernel.Family{Name: "three-steps", Of: func(kernel.Member) (kernel.Modulation, error) { return stepsSpectrum{}, nil }})
	kernel.Register(kernel.Family{Name: "by-length", Of: func(kernel.Member) (kernel.Modulation, error) { return steps{}, nil }})
	if os.Getenv(restarted) != "" {
		kernel.Register(kerneltest.Restart)
	}
}

const (
	custom    = "three-steps"
	restarted = "GRFGP_TEST_RESTART"
)

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
		if c := m.Choice(); c.Family != spec.Family {
			t.Errorf("%+v: chosen was %q", spec, c.Family)
		}
		p, err := m.Predict(t.Context(), nodes)
		if err != nil {
			t.Fatal(err)
		}
		return p.Mean
	}
	dense := predict(grfgp.Spec{Expression: grfgp.Expression{Family: custom, Method: "dense", Scales: "one", Trend: "none",
		Variance: "natural"}})
	for _, spec := range []grfgp.Spec{{Expression: grfgp.Expression{Family: custom, Method: "series"}},
		{Expression: grfgp.Expression{Family: "by-length", Hops: 3}},
		{Expression: grfgp.Expression{Family: "by-length", Method: "series", Hops: 3}},
		{Expression: grfgp.Expression{Family: custom, Method: "grf", Hops: 3}, Walks: 400}} {
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
	predict(grfgp.Spec{Expression: grfgp.Expression{Family: custom}})                                // everything else is chosen
	predict(grfgp.Spec{Expression: grfgp.Expression{Family: custom, Scales: "many", Method: "grf"}}) // other scales on top
	if _, err := grfgp.Classify(t.Context(), g, gp.Labels{Nodes: []int{0, 1, 79, 80}, Class: []int{0, 0, 1, 1}, Classes: 2},
		grfgp.Spec{Expression: grfgp.Expression{Family: custom}}, gp.Dirichlet); err != nil {
		t.Error(err)
	}
}

// A model with a registered family is loaded from its file.
func TestCustomFamilyIsLoaded(t *testing.T) {
	t.Parallel()
	g, d := customTask(t)
	m, err := grfgp.Fit(t.Context(), g, d, grfgp.Spec{Expression: grfgp.Expression{Family: custom}})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := m.Save(&file); err != nil {
		t.Fatal(err)
	}
	text := file.String()
	again, err := grfgp.Load(t.Context(), &file, g)
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
	var two bytes.Buffer
	if err := again.Save(&two); err != nil || two.String() != text {
		t.Errorf("%v, saved again as %s, first as %s", err, two.String(), text)
	}
}

// An Optimizer fits a custom family and resumes from a checkpoint that was stored
// as JSON.
func TestCustomFamilyInAnOptimizer(t *testing.T) {
	t.Parallel()
	g, d := customTask(t)
	build := func() *grfgp.Optimizer {
		o, err := grfgp.NewOptimizer(g, grfgp.Spec{Expression: grfgp.Expression{Family: custom}}, bayesopt.Options{Seed: 1})
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
	if chosen, ok := first.Chosen(); !ok || chosen.Family != custom {
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
	for _, spec := range []grfgp.Spec{
		{Expression: grfgp.Expression{Family: "four-steps"}}, {Expression: grfgp.Expression{Family: "by-length", Method: "dense"}},
		{Expression: grfgp.Expression{Family: custom, Nu: 1}}, {Expression: grfgp.Expression{Family: custom}, Alpha: []float64{1}},
	} {
		if err := spec.Check(); !errors.Is(err, grfgp.ErrSpec) {
			t.Errorf("%+v: %v", spec, err)
		}
	}
	if err := (grfgp.Spec{Expression: grfgp.Expression{Family: custom}}).Check(); err != nil {
		t.Error(err)
	}
}

// A family that one file registers is used in every place without another edit. A process of its own registers it, because
// it takes part in the automatic choice.
func TestFamilyInOneFile(t *testing.T) {
	t.Parallel()
	if !testkit.Apart(t, restarted) {
		return
	}
	g, d := customTask(t)
	if !slices.Contains(grfgp.Families(), "restart") {
		t.Errorf("families %v", grfgp.Families())
	}
	m, err := grfgp.Fit(t.Context(), g, d, grfgp.Spec{}) // automatic
	if err != nil {
		t.Fatal(err)
	}
	var tried []string
	for _, k := range m.Choice().Candidates {
		tried = append(tried, k.Family)
	}
	if !slices.Contains(tried, "restart") {
		t.Errorf("tried %q", tried)
	}
	var want []float64
	for _, method := range []string{"dense", "series", "grf", "lowrank"} {
		m, err := grfgp.Fit(t.Context(), g, d, grfgp.Spec{Expression: grfgp.Expression{Family: "restart", Method: method, Scales: "one",
			Hops: hopsOf(method)}, Walks: 400})
		if err != nil {
			t.Fatal(err)
		}
		if c := m.Choice(); c.Family != "restart" || c.Fit.Evaluations < 4 {
			t.Errorf("%s: chosen was %+v", method, c)
		}
		p, err := m.Predict(t.Context(), []int{1, 40})
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = p.Mean
		}
		for k, v := range p.Mean {
			if math.Abs(v-want[k]) > 0.15 {
				t.Errorf("%s predicts %v, dense %v", method, p.Mean, want)
			}
		}
		var file bytes.Buffer
		if err := m.Save(&file); err != nil {
			t.Fatal(err)
		}
		if again, err := grfgp.Load(t.Context(), &file, g); err != nil || again.Spec().Family != "restart" {
			t.Errorf("%s: loaded as %v", method, err)
		}
	}
	many, err := grfgp.Fit(t.Context(), g, d, grfgp.Spec{Expression: grfgp.Expression{Family: "restart", Method: "grf", Scales: "many"}})
	if err != nil {
		t.Fatal(err)
	}
	if c := many.Choice(); c.Hops != 5 { // coarser scales reach farther
		t.Errorf("%d hops with many scales", c.Hops)
	}
	l := gp.Labels{Classes: 2}
	for i := 0; i < g.Len(); i += 2 {
		l.Nodes, l.Class = append(l.Nodes, i), append(l.Class, i/41)
	}
	for _, spec := range []grfgp.Spec{{}, {Expression: grfgp.Expression{Family: "restart"}}} {
		c, err := grfgp.Classify(t.Context(), g, l, spec, gp.Dirichlet)
		if err != nil {
			t.Fatal(err)
		}
		if all := c.Choice().Candidates; !slices.ContainsFunc(all, func(k grfgp.TriedClassKernel) bool {
			return strings.HasPrefix(k.Family, "restart")
		}) {
			t.Errorf("classes tried %v", all)
		}
	}
	o, err := grfgp.NewOptimizer(g, grfgp.Spec{Expression: grfgp.Expression{Family: "restart"}}, bayesopt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.TellAll(d); err != nil {
		t.Fatal(err)
	}
	if _, _, err := o.Next(t.Context(), bayesopt.Request{Count: 1}); err != nil {
		t.Fatal(err)
	}
}

// hopsOf returns a longest walk for methods that need one, and 0 for the others.
func hopsOf(method string) int {
	if method == "grf" || method == "lowrank" {
		return 20
	}
	return 0
}
