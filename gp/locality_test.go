package gp

import (
	"math"
	"math/rand/v2"
	"testing"

	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
	"grfgp/kernel"
	"grfgp/plan"
)

// shuffledGrid returns a square grid whose nodes are numbered at random, and a smooth
// function of every node, by its id.
func shuffledGrid(t testing.TB, side int) (*graph.Graph, map[string]float64) {
	t.Helper()
	g, err := graph.Grid(side, side)
	if err != nil {
		t.Fatal(err)
	}
	truth := map[string]float64{}
	for i := range g.Len() {
		truth[g.IDs().At(i)] = math.Sin(float64(i%side)/4) + math.Cos(float64(i/side)/5)
	}
	if g, err = g.Permute(rand.New(rng.New(1, "shuffled grid")).Perm(g.Len())); err != nil {
		t.Fatal(err)
	}
	return g, truth
}

// components counts those of the graph of some nodes and the edges between them.
func components(t testing.TB, g *graph.Graph, nodes []int) int {
	t.Helper()
	part, err := g.Subgraph(nodes)
	if err != nil {
		t.Fatal(err)
	}
	_, sizes := part.Components()
	return len(sizes)
}

// On a graph in locality order patches are connected.
func TestPatchesAreConnected(t *testing.T) {
	t.Parallel()
	shuffled, _ := shuffledGrid(t, 40)
	for _, patch := range patches(allNodes(shuffled.Len()), plan.Patches{Windows: 4, Size: 300}) {
		if n := components(t, shuffled.Ordered(), patch); n != 1 {
			t.Errorf("a patch of the ordered graph has %d components", n)
		}
		if n := components(t, shuffled, patch); n < 100 {
			t.Errorf("a patch of the shuffled graph has %d components: there is nothing to show", n)
		}
	}
}

// In another order the result is as right.
func TestAnyOrderFitsAsWell(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const noise = 0.1
	shuffled, truth := shuffledGrid(t, 24)
	for name, g := range map[string]*graph.Graph{"shuffled": shuffled, "ordered": shuffled.Ordered()} {
		if name == "ordered" && !testkit.IsFull() {
			continue
		}
		k, err := kernel.NewSeries(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{}, 8)
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rng.New(2, "measured"))
		var d Data
		for i := 0; i < g.Len(); i += 2 {
			d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, truth[g.IDs().At(i)]+noise*random.NormFloat64())
		}
		m, _, err := Fit(background, k, d, FitOptions{Solver: Iterative})
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Condition(background, d)
		if err != nil {
			t.Fatal(err)
		}
		mean, err := p.Mean(background, allNodes(g.Len()))
		if err != nil {
			t.Fatal(err)
		}
		square := 0.0
		for i, v := range mean {
			e := v - truth[g.IDs().At(i)]
			square += e * e / float64(len(mean))
		}
		if rmse := math.Sqrt(square); rmse > noise || math.Abs(m.NoiseSD()/noise-1) > 0.2 {
			t.Errorf("%s: error %.3g, noise %.3g, want below %g and about %g", name, rmse, m.NoiseSD(), noise, noise)
		}
	}
}
