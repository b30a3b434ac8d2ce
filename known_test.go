package grfgp_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grfgp"
	"grfgp/covariate"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
)

// columnTask is a value that depends on a column that is not smooth on the graph:
// nodes of a square grid, three in ten of which are measured with noise of sd 0.1.
func columnTask(t *testing.T, side int) (g *graph.Graph, set *covariate.Set, d gp.Data, truth []float64) {
	t.Helper()
	g, err := graph.Grid(side, side)
	if err != nil {
		t.Fatal(err)
	}
	g = g.Ordered()
	random := rand.New(rng.New(7, "columns"))
	n := g.Len()
	lanes, other := make([]float64, n), make([]float64, n)
	truth = make([]float64, n)
	for i := range n {
		lanes[i], other[i] = random.NormFloat64(), random.NormFloat64()
		truth[i] = math.Sin(2*lanes[i]) + lanes[i]
	}
	set, err = covariate.Encode([]covariate.Column{covariate.NewNumbers("lanes", lanes), covariate.NewNumbers("other", other)}, n,
		covariate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range random.Perm(n)[:n*3/10] {
		d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, truth[i]+0.1*random.NormFloat64())
	}
	return g, set, d, truth
}

func rmse(t *testing.T, m *grfgp.Model, truth []float64) float64 {
	t.Helper()
	nodes := make([]int, len(truth))
	for i := range nodes {
		nodes[i] = i
	}
	p, err := m.Predict(context.Background(), nodes)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for i, v := range p.Mean {
		sum += (v - truth[i]) * (v - truth[i]) / float64(len(truth))
	}
	return math.Sqrt(sum)
}

// What a column leaves unexplained may vary over many more hops than walks have: many
// scales of the graph are tried beside covariates, and halve the error at least.
func TestCovariatesReachFar(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	side := testkit.Size(40, 60)
	g, err := graph.Grid(side, side)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rng.New(7, "far"))
	load, truth := make([]float64, g.Len()), make([]float64, g.Len())
	for i := range truth {
		load[i] = random.NormFloat64()
		truth[i] = math.Sin(4*float64(i%side)/float64(side)) + math.Cos(5*float64(i/side)/float64(side)) + load[i]
	}
	set, err := covariate.Encode([]covariate.Column{covariate.NewNumbers("load", load)}, g.Len(), covariate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var d gp.Data
	for _, i := range random.Perm(g.Len())[:testkit.Size(80, 150)] {
		d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, truth[i]+0.2*random.NormFloat64())
	}
	spec := grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Method: "grf", Hops: 5},
		Covariates: set, Walks: 30, Roles: "none", Seed: 1}
	one := spec
	one.Scales = "one"
	far, err := grfgp.Fit(t.Context(), g, d, spec)
	if err != nil {
		t.Fatal(err)
	}
	near, err := grfgp.Fit(t.Context(), g, d, one)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := rmse(t, far, truth), rmse(t, near, truth); a > b/2 {
		t.Errorf("RMSE %.3f with all scales tried (%v), %.3f with one", a, far.Spec().Scales, b)
	}
}

// A model with covariates finds a value that depends on a column, which the graph alone
// cannot, says which terms it has, and does not use columns it was not given.
func TestCovariates(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	g, set, d, truth := columnTask(t, testkit.Size(14, 20))
	alone, err := grfgp.Fit(t.Context(), g, d, grfgp.Spec{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	with, err := grfgp.Fit(t.Context(), g, d, grfgp.Spec{Seed: 1, Covariates: set})
	if err != nil {
		t.Fatal(err)
	}
	// The sd of the truth is about 1.5, and that of the noise 0.1.
	if a, b := rmse(t, alone, truth), rmse(t, with, truth); a < 1 || b > 0.15 {
		t.Errorf("RMSE %.3f by the graph alone and %.3f with covariates, want more than 1 and less than 0.15", a, b)
	}
	if terms := with.Spec().Terms; !terms.Has(grfgp.CovariateTerm) {
		t.Errorf("terms %v, want covariates", terms)
	}
	if terms := alone.Spec().Terms; terms.Has(grfgp.CovariateTerm) {
		t.Errorf("terms %v without covariates", terms)
	}
	fixed, err := grfgp.Fit(t.Context(), g, d, grfgp.Spec{Expression: grfgp.Expression{Terms: grfgp.GraphTerm}, Seed: 1, Covariates: set})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := rmse(t, fixed, truth), rmse(t, alone, truth); got != want {
		t.Errorf("the term graph was requested: RMSE %v, want %v as without covariates", got, want)
	}
}

// A model file needs the same covariates, and then predicts the same bits.
func TestCovariatesInFiles(t *testing.T) {
	t.Parallel()
	g, set, d, _ := columnTask(t, testkit.Size(8, 20))
	m, err := grfgp.Fit(t.Context(), g, d,
		grfgp.Spec{Expression: grfgp.Expression{Terms: grfgp.GraphTerm | grfgp.CovariateTerm | grfgp.ProductTerm}, Seed: 1, Covariates: set})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := m.Save(&file); err != nil {
		t.Fatal(err)
	}
	saved := file.Bytes()
	if _, err := grfgp.Load(t.Context(), bytes.NewReader(saved), g); !errors.Is(err, grfgp.ErrFile) {
		t.Errorf("without covariates: error %v, want ErrFile", err)
	}
	other, err := covariate.Encode([]covariate.Column{
		covariate.NewNumbers("lanes", make([]float64, g.Len())), covariate.NewNumbers("i", ramp(g.Len()))}, g.Len(), covariate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := grfgp.Load(t.Context(), bytes.NewReader(saved), g, grfgp.Spec{Covariates: other}); !errors.Is(err, grfgp.ErrFile) {
		t.Errorf("with other covariates: error %v, want ErrFile", err)
	}
	again, err := grfgp.Load(t.Context(), bytes.NewReader(saved), g, grfgp.Spec{Covariates: set})
	if err != nil {
		t.Fatal(err)
	}
	want, err := m.Predict(t.Context(), g.Nodes())
	if err != nil {
		t.Fatal(err)
	}
	got, err := again.Predict(t.Context(), g.Nodes())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Mean, want.Mean) || !slices.Equal(got.SD, want.SD) {
		t.Error("predictions of the loaded model differ")
	}
}

func ramp(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i*i%97) / 7
	}
	return x
}

// On a graph with hubs, a value that depends on the degrees of a node's neighbours is
// predicted by roles, and not without them.
func TestRoles(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	g, err := graph.BarabasiAlbert(testkit.Size(300, 800), 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	g = g.Ordered()
	n, degrees := g.Len(), g.Degrees()
	truth := make([]float64, n)
	for i := range n {
		cols, _ := g.Adjacency().Row(i)
		for _, j := range cols {
			truth[i] += math.Log(float64(degrees[j])) / float64(len(cols))
		}
	}
	random := rand.New(rng.New(3, "roles"))
	var d gp.Data
	for _, i := range random.Perm(n)[:testkit.Size(100, 300)] {
		d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, truth[i]+0.05*random.NormFloat64())
	}
	with, err := grfgp.Fit(t.Context(), g, d, grfgp.Spec{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	without, err := grfgp.Fit(t.Context(), g, d, grfgp.Spec{Seed: 1, Roles: "none"})
	if err != nil {
		t.Fatal(err)
	}
	if terms := with.Spec().Terms; !terms.Has(grfgp.RoleTerm) {
		t.Errorf("terms %v, want roles", terms)
	}
	if terms := without.Spec().Terms; terms != grfgp.GraphTerm {
		t.Errorf("terms %v, want the graph alone", terms)
	}
	if a, b := rmse(t, with, truth), rmse(t, without, truth); a > b/3 {
		t.Errorf("RMSE %.4f with roles and %.4f without, want a third or less", a, b)
	}
}

// Covariates, terms and roles that contradict each other are refused.
func TestTermsChecked(t *testing.T) {
	t.Parallel()
	g, set, d, _ := columnTask(t, 20)
	for _, s := range []grfgp.Spec{
		{Expression: grfgp.Expression{Terms: grfgp.GraphTerm | 1<<7}}, {Expression: grfgp.Expression{Terms: grfgp.ProductTerm}},
		{Expression: grfgp.Expression{Terms: grfgp.GraphTerm | grfgp.ProductTerm}},
		{Expression: grfgp.Expression{Terms: grfgp.CovariateTerm}}, {Expression: grfgp.Expression{Terms: grfgp.GraphTerm | grfgp.RoleTerm},
			Roles: "none"}, {Roles: "some"},
		{Expression: grfgp.Expression{Terms: grfgp.GraphTerm | grfgp.CovariateTerm, Method: "lowrank"}, Covariates: set},
		{Expression: grfgp.Expression{Pairs: -1}},
	} {
		if _, err := grfgp.Fit(t.Context(), g, d, s); !errors.Is(err, grfgp.ErrSpec) {
			t.Errorf("%+v: error %v, want ErrSpec", s, err)
		}
	}
	small, err := graph.Grid(3, 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := grfgp.NewTrainer(small, grfgp.Spec{Covariates: set}); !errors.Is(err, grfgp.ErrSpec) {
		t.Errorf("covariates of another graph: error %v, want ErrSpec", err)
	}
}
