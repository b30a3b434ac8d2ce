package grfgp

import (
	"slices"
	"testing"

	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/ranks"
	"grfgp/internal/testkit"
	"grfgp/kernel"
	"grfgp/plan"
)

// Kernels that Fit makes for large graphs compute some rows by themselves, so that ranks divide the memory of
// predictions, and a share of a prediction has the bits of the whole.
func TestSharesOfLargeGraphs(t *testing.T) {
	t.Parallel()
	g, err := graph.Ring(plan.Default().LazyNodes + 2000)
	if err != nil {
		t.Fatal(err)
	}
	g = g.Ordered()
	d := gp.Data{Nodes: []int{5, 900, 1800, 3000, 20000, 30000}, Y: []float64{1, 2, 1.5, 3, 0.2, 0.4}}
	for _, scales := range []string{"one", "many"} {
		if testkit.Raced && scales == "many" {
			continue // the same code on more nodes
		}
		spec := Spec{Expression: Expression{Family: "diffusion", Method: "grf", Scales: scales, Trend: "none", Variance: "natural",
			Laplacian: "normalized", Hops: 3}, Roles: "none", Seed: 1}
		m, err := Fit(t.Context(), g, d, spec)
		if err != nil {
			t.Fatal(err)
		}
		nodes := g.Nodes()
		if !kernel.ByRows(m.posterior.Prior()) {
			t.Errorf("%s: whole lists", scales)
		}
		whole, err := m.Predict(t.Context(), nodes)
		if err != nil {
			t.Fatal(err)
		}
		s := Share{nil, nodes, ranks.Even(len(nodes), 3)} // of the first of three ranks
		part, err := m.PredictShare(t.Context(), s, nil)
		if err != nil {
			t.Fatal(err)
		}
		lo, hi := s.Range()
		if hi-lo >= len(nodes) || !slices.Equal(part.Mean, whole.Mean[lo:hi]) || !slices.Equal(part.SD, whole.SD[lo:hi]) {
			t.Errorf("%s: the part [%d, %d) differs", scales, lo, hi)
		}
	}
}
