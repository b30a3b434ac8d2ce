package grfgp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"grfgp"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/testkit"
)

// field is a smooth function on a grid, measured at every third node.
func field(t testing.TB, side int) (*graph.Graph, gp.Data) {
	t.Helper()
	g, err := graph.Grid(side, side)
	if err != nil {
		t.Fatal(err)
	}
	var d gp.Data
	for i := 0; i < g.Len(); i += 3 {
		x, y := float64(i%side), float64(i/side)
		d.Nodes = append(d.Nodes, i)
		d.Y = append(d.Y, 20+5*math.Sin(x/4)+3*math.Cos(y/3)+0.5*math.Sin(float64(7*i)))
	}
	return g, d
}

var specs = []grfgp.Spec{
	{},
	{Expression: grfgp.Expression{Family: "matern"}},
	{Expression: grfgp.Expression{Family: "matern", Nu: 1, Method: "series"}},
	{Expression: grfgp.Expression{Family: "diffusion", Method: "grf", Hops: 12}, Walks: 50, Seed: 3},
	{Expression: grfgp.Expression{Family: "free", Method: "grf", Hops: 6}},
	{Expression: grfgp.Expression{Family: "diffusion", Method: "lowrank"}, Rank: 150},
	{Expression: grfgp.Expression{Family: "diffusion", Method: "grf"}, Solver: "iterative"},
	{Expression: grfgp.Expression{Family: "diffusion", Method: "grf", Trend: "degree"}},
}

// Every representation predicts the smooth part of the field far better than its
// mean, at nodes that were not measured: with an error of less than a third. It is
// more certain at measured nodes than between them, by 5 % or more, and errors are
// as large as it says within a factor of 2.5 either way (the noise, a sine of the
// node's number, is not quite independent).
func TestEveryRepresentationPredicts(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const side = 15
	g, d := field(t, side)
	measured := map[int]bool{}
	for _, i := range d.Nodes {
		measured[i] = true
	}
	all := make([]int, g.Len())
	truth, mean := make([]float64, g.Len()), 0.0
	for i := range all {
		all[i] = i
		truth[i] = 20 + 5*math.Sin(float64(i%side)/4) + 3*math.Cos(float64(i/side)/3)
		if !measured[i] {
			mean += truth[i] / float64(g.Len()-len(measured))
		}
	}
	for _, spec := range specs {
		m, err := grfgp.Fit(context.Background(), g, d, spec)
		if err != nil {
			t.Fatalf("%+v: %v", spec, err)
		}
		p, err := m.Predict(context.Background(), all)
		if err != nil {
			t.Fatal(err)
		}
		var wrong, flat, z, at, between float64 // mean squares, and mean standard deviations
		for i := range all {
			n := float64(len(measured))
			if measured[i] {
				at += p.SD[i] / n
				continue
			}
			n = float64(g.Len()) - n
			e := p.Mean[i] - truth[i]
			wrong += e * e / n
			flat += (truth[i] - mean) * (truth[i] - mean) / n
			z += e * e / p.SD[i] / p.SD[i] / n
			between += p.SD[i] / n
		}
		share, size := math.Sqrt(wrong/flat), math.Sqrt(z)
		t.Logf("%+v: error %.3f of that of the mean, %.2f standard deviations; sd %.3f at measured nodes, %.3f between", spec, share, size, at,
			between)
		if !(share < 1.0/3) || !(size > 0.4 && size < 2.5) || !(at > 0 && at < 0.95*between) {
			t.Errorf("%+v: error %.3f of that of the mean, %.2f standard deviations; sd %.3f at measured nodes, %.3f between", spec, share, size, at,
				between)
		}
		c := m.Choice()
		if len(c.Why) == 0 || c.Family == "" || c.Method == "" {
			t.Errorf("%+v: no reason for %+v", spec, c)
		}
	}
}

// A model that was saved and loaded gives the same bits; another graph, an
// incomplete file and a file of another kind are refused.
func TestSaveAndLoad(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g, d := field(t, 10)
	other, _ := field(t, 11)
	for _, spec := range specs {
		m, err := grfgp.Fit(ctx, g, d, spec)
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := m.Save(&file); err != nil {
			t.Fatal(err)
		}
		saved := file.Bytes()
		again, err := grfgp.Load(ctx, bytes.NewReader(saved), g)
		if err != nil {
			t.Fatal(err)
		}
		nodes := []int{0, 5, 99}
		want, err := m.Predict(ctx, nodes)
		if err != nil {
			t.Fatal(err)
		}
		got, err := again.Predict(ctx, nodes)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || again.NoiseSD() != m.NoiseSD() {
			t.Errorf("%+v: %v after loading, %v before", spec, got, want)
		}
		for name, bad := range map[string][]byte{"empty": nil, "foreign": []byte("node,value\n1,2\n"), "torn": saved[:len(saved)/2],
			"altered": bytes.Replace(saved, []byte("theta"), []byte("thetb"), 1)} {
			if _, err := grfgp.Load(ctx, bytes.NewReader(bad), g); !errors.Is(err, grfgp.ErrFile) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := grfgp.Load(ctx, bytes.NewReader(saved), other); !errors.Is(err, grfgp.ErrFile) {
			t.Errorf("another graph: %v", err)
		}
	}
}

func TestSpecIsChecked(t *testing.T) {
	t.Parallel()
	g, d := field(t, 6)
	noise, none, endless := -1.0, math.NaN(), math.Inf(1)
	for _, spec := range []grfgp.Spec{
		{Expression: grfgp.Expression{Family: "rbf"}}, {Expression: grfgp.Expression{Method: "magic"}}, {Expression: grfgp.Expression{Nu: 2}},
		{Expression: grfgp.Expression{Family: "matern", Nu: -1}},
		{Expression: grfgp.Expression{Hops: -1}}, {Expression: grfgp.Expression{Hops: 1000}}, {Solver: "magic"}, {Walks: -1}, {Rank: -1},
		{NoiseSD: &noise},
		{Expression: grfgp.Expression{Trend: "up"}}, {Expression: grfgp.Expression{Method: "lowrank", Trend: "degree"}},
		{Expression: grfgp.Expression{Family: "matern", Nu: none}}, {Expression: grfgp.Expression{Nu: none}},
		{Expression: grfgp.Expression{Family: "matern", Nu: endless}},
		{NoiseSD: &none}, {NoiseSD: &endless}, {Mean: &none}, {Mean: &endless},
		{Expression: grfgp.Expression{Laplacian: "signed"}}, {Expression: grfgp.Expression{Family: "power"}}, {Alpha: []float64{1}},
		{Expression: grfgp.Expression{Family: "power"}, Alpha: []float64{0, 1}},
		{Expression: grfgp.Expression{Family: "power"}, Alpha: []float64{1, none}}, {Expression: grfgp.Expression{Family: "power"},
			Alpha: []float64{1, 2}},
	} {
		if _, err := grfgp.Fit(context.Background(), g, d, spec); !errors.Is(err, grfgp.ErrSpec) {
			t.Errorf("%+v: %v", spec, err)
		}
	}
	d.Nodes[0] = 36
	if _, err := grfgp.Fit(context.Background(), g, d, grfgp.Spec{}); !errors.Is(err, gp.ErrData) {
		t.Errorf("a measurement outside the graph: %v", err)
	}
}

// From a graph and a few measurements to a prediction with its credible interval at
// any node.
func ExampleFit() {
	g, err := graph.Ring(60)
	if err != nil {
		panic(err)
	}
	var d gp.Data
	for i := 0; i < 60; i += 4 {
		d.Nodes = append(d.Nodes, i)
		d.Y = append(d.Y, 10+3*math.Sin(2*math.Pi*float64(i)/60))
	}
	m, err := grfgp.Fit(context.Background(), g, d, grfgp.Spec{})
	if err != nil {
		panic(err)
	}
	p, err := m.Predict(context.Background(), []int{14, 46})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.1f %.1f\n", p.Mean[0], p.Mean[1])
	// Output: 13.0 7.0
}
