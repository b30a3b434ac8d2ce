package grfgp

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
	"grfgp/kernel"
)

// A random walk along a path, known at 40 of its nodes, has a length scale of
// hundreds of hops. The series learns it as eigenvectors do.
func TestSeriesReachesAsFarAsDense(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	n := testkit.Size(700, 2000)
	ctx := context.Background()
	path, err := graph.Grid(1, n)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rng.New(1, "random walk"))
	var d gp.Data
	value := 0.0
	measured := random.Perm(n)[:40]
	at := map[int]bool{}
	for _, i := range measured {
		at[i] = true
	}
	for i := range n {
		value += random.NormFloat64() / math.Sqrt(float64(n))
		if at[i] {
			d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, value)
		}
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	var models [2]*Model
	var predictions [2]Prediction
	for k, method := range []string{"dense", "series"} {
		if models[k], err = Fit(ctx, path, d, Spec{Expression: Expression{Family: "matern", Nu: 0.5, Method: method, Scales: "one",
			Trend: "none"}}); err != nil {
			t.Fatal(err)
		}
		if predictions[k], err = models[k].Predict(ctx, all); err != nil {
			t.Fatal(err)
		}
	}
	dense, series := models[0].Choice().Fit, models[1].Choice().Fit
	t.Logf("dense: log likelihood %.3f at %.4g; series: %.3f at %.4g", dense.LogLikelihood, dense.Theta, series.LogLikelihood, series.Theta)
	if kappa := dense.Theta[1]; kappa < 100 {
		t.Fatalf("κ = %v is no long reach", kappa)
	}
	if gap := math.Abs(dense.LogLikelihood - series.LogLikelihood); gap > 1e-3 {
		t.Errorf("the likelihoods are %v apart", gap)
	}
	for i := range all {
		for _, gap := range []float64{predictions[0].Mean[i] - predictions[1].Mean[i], predictions[0].SD[i] - predictions[1].SD[i]} {
			if math.Abs(gap) > 1e-4 {
				t.Fatalf("node %d: %v ± %v by dense, %v ± %v by series", i, predictions[0].Mean[i], predictions[0].SD[i], predictions[1].Mean[i],
					predictions[1].SD[i])
			}
		}
	}
}

// The reasons state the part of a kernel that a representation leaves out: for a
// series that would need too many terms, and for a power series by walks.
func TestShortfallIsSaid(t *testing.T) {
	t.Parallel()
	hub, err := graph.Ring(40)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spec   Spec
		hops   int
		method string
		says   string
	}{
		{Spec{Expression: Expression{Family: "matern", Nu: 1}}, 0, "series", ""},
		{Spec{Expression: Expression{Family: "matern", Nu: 1}}, 10, "grf", ""},
		{Spec{Expression: Expression{Family: "power"}, Alpha: []float64{1, 0.5, 0.1}}, 0, "series", ""},
		{Spec{Expression: Expression{Family: "power"}, Alpha: []float64{1, 0.5, 0.1}}, 20, "grf", ""},
		{Spec{Expression: Expression{Family: "power"}, Alpha: []float64{1, 0, 4}}, 0, "dense", ""},
		{Spec{Expression: Expression{Family: "power"}, Alpha: []float64{1, 0, 4}}, 0, "series", ""},
		{Spec{Expression: Expression{Family: "power"}, Alpha: []float64{1, 0, 4}}, 10, "grf", "walks of 10 hops miss"},
	} {
		w, err := NewTrainer(hub, c.spec)
		if err != nil {
			t.Fatal(err)
		}
		e := c.spec.Expression
		e.Method, e.Hops = c.method, c.hops
		said, err := w.shortfall(e, kernel.Theta{{Path: "graph/kappa", Number: 1e4}})
		if got := strings.Join(said, "\n"); err != nil || (c.says == "") != (got == "") || !strings.Contains(got, c.says) {
			t.Errorf("%+v by %s: %q and %v, want %q", c.spec, c.method, got, err, c.says)
		}
	}
	if testkit.Raced {
		return // what follows is about numbers of a large graph
	}
	// A grid with more nodes than eigenvectors are sought for.
	large, err := graph.Grid(501, 401)
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewTrainer(large, Spec{Expression: Expression{Family: "matern", Nu: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for kappa, says := range map[float64]string{50: "", 1e4: "% of this kernel"} {
		said, err := w.shortfall(Expression{Family: "matern", Nu: 1, Method: "series"}, kernel.Theta{{Path: "graph/kappa", Number: kappa}})
		if got := strings.Join(said, "\n"); err != nil || (says == "") != (got == "") || !strings.Contains(got, says) {
			t.Errorf("κ = %v on a large grid: %q and %v, want %q", kappa, got, err, says)
		}
	}
}

// Under the signless Laplacian a long reach takes no more terms than under the
// usual one, and the series is the dense kernel.
func TestSignlessReach(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	ctx := context.Background()
	g, err := graph.Grid(1, 600)
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewTrainer(g, Spec{})
	if err != nil {
		t.Fatal(err)
	}
	theta := []float64{1, 1e5}
	rows := []int{0, 1, 17, 300, 599}
	gram := func(laplacian, method string) (*mat.SymDense, float64) {
		k, err := w.fine(ctx, Expression{Family: "diffusion", Laplacian: laplacian, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		cov, err := k.At(theta)
		if err != nil {
			t.Fatal(err)
		}
		out := mat.NewSymDense(len(rows), nil)
		if err := cov.Gram(ctx, out, rows); err != nil {
			t.Fatal(err)
		}
		return out, kernel.DiagFlops(cov, 1)
	}
	usual, usualCost := gram("normalized", "series")
	signless, cost := gram("signless", "series")
	exact, _ := gram("signless", "dense")
	for a := range rows {
		for b := range rows {
			if gap := math.Abs(signless.At(a, b) - exact.At(a, b)); gap > 1e-8*exact.At(a, a) {
				t.Errorf("entry %d, %d is %v, by eigenvectors %v", a, b, signless.At(a, b), exact.At(a, b))
			}
		}
	}
	if cost > 2*usualCost {
		t.Errorf("a column takes %.3g operations, on the usual Laplacian %.3g", cost, usualCost)
	}
	if math.Abs(usual.At(0, 1)+signless.At(0, 1)) > 1e-8*usual.At(0, 0) {
		t.Errorf("neighbours on a path covary by %v, signless by %v: want opposites", usual.At(0, 1), signless.At(0, 1))
	}
}

// Unit variance divides by the diagonal at all nodes. On a graph where a series takes
// hundreds of seconds for that, it is not tried automatically, and kernels that must
// have it use features.
func TestUnitVarianceCosts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		nodes, degree   int
		opens           bool
		method, classes string
	}{{2000, 3, true, "series", "series"}, {6000, 10, false, "series", "series"}, {30_000, 10, false, "series", "grf"}} {
		g, err := graph.BarabasiAlbert(c.nodes, c.degree, 1)
		if err != nil {
			t.Fatal(err)
		}
		w, err := NewTrainer(g, Spec{})
		if err != nil {
			t.Fatal(err)
		}
		method, _, _ := w.decide(100, false)
		if method != c.method {
			t.Errorf("%d nodes: method %s, want %s", c.nodes, method, c.method)
		}
		if opens := w.opensUnit(method); opens != c.opens {
			t.Errorf("%d nodes: unit variance is tried: %v, want %v", c.nodes, opens, c.opens)
		}
		if method, _, _ := w.decide(100, true); method != c.classes {
			t.Errorf("%d nodes of unit variance: method %s, want %s", c.nodes, method, c.classes)
		}
	}
}
