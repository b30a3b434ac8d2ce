package grfgp

import (
	"math"
	"strconv"
	"testing"

	"grfgp/gp"
	"grfgp/graph"
)

// loneRing is a ring with more nodes that have no edge, in the order of their ids: those of
// the ring first.
func loneRing(t *testing.T, n, alone int) *graph.Graph {
	t.Helper()
	ids := graph.NewIDs(n + alone)
	var e graph.Edges
	for i := range n + alone {
		ids.Intern([]byte(strconv.Itoa(i)))
		if i < n {
			e.U, e.V = append(e.U, uint32(i)), append(e.V, uint32((i+1)%n))
		}
	}
	g, _, err := graph.FromEdges(ids, e, graph.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// smoothData are values of mean 5 and sd 0.28 at every third node of a ring, and a small noise.
func smoothData(n int) (d gp.Data) {
	for i := 0; i < n; i += 3 {
		d.Nodes = append(d.Nodes, i)
		d.Y = append(d.Y, 5+0.4*math.Sin(2*math.Pi*float64(i)/float64(n))+0.03*math.Cos(float64(7*i)))
	}
	return d
}

// A node without neighbours has about the mean and the spread of the data, whatever the
// representation, and other nodes are predicted as without it.
func TestLoneNodesHaveTheSpreadOfTheData(t *testing.T) {
	t.Parallel()
	const n, alone = 120, 3
	with, without := loneRing(t, n, alone), loneRing(t, n, 0)
	d := smoothData(n)
	for name, spec := range map[string]Spec{
		"dense":         {Expression: Expression{Method: "dense", Scales: "one"}},
		"series":        {Expression: Expression{Method: "series", Scales: "one"}},
		"features":      {Expression: Expression{Method: "grf", Scales: "one", Hops: 8}},
		"unit variance": {Expression: Expression{Method: "dense", Scales: "one", Variance: "unit"}},
		"layers":        {Expression: Expression{Method: "dense", Scales: "many"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec.Family, spec.Roles, spec.Trend, spec.Laplacian, spec.Seed = "diffusion", "none", "none", "normalized", 1
			m, err := Fit(t.Context(), with, d, spec)
			if err != nil {
				t.Fatal(err)
			}
			p, err := m.Predict(t.Context(), with.Nodes())
			if err != nil {
				t.Fatal(err)
			}
			for i := n; i < n+alone; i++ {
				if sd := p.SD[i]; math.Abs(p.Mean[i]-5) > 0.15 || sd < 0.14 || sd > 0.56 {
					t.Errorf("lone node %d: %.3f ± %.3f, want about 5 ± 0.28", i, p.Mean[i], sd)
				}
			}
			if name == "layers" { // one layer more joins components
				return
			}
			other, err := Fit(t.Context(), without, d, spec)
			if err != nil {
				t.Fatal(err)
			}
			q, err := other.Predict(t.Context(), without.Nodes())
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				if math.Abs(p.Mean[i]-q.Mean[i]) > 1e-3 || math.Abs(p.SD[i]-q.SD[i]) > 1e-3 {
					t.Fatalf("node %d: %v ± %v beside lone nodes, %v ± %v without", i, p.Mean[i], p.SD[i], q.Mean[i], q.SD[i])
				}
			}
		})
	}
}

// A measured lone node is drawn towards the mean by its noise, and hyperparameters stay
// those of the other nodes.
func TestMeasuredLoneNodes(t *testing.T) {
	t.Parallel()
	const n = 120
	g := loneRing(t, n, 2)
	d := smoothData(n)
	d.Nodes, d.Y = append(d.Nodes, n), append(d.Y, 5.5)
	m, err := Fit(t.Context(), g, d, Spec{Expression: Expression{Family: "diffusion", Method: "dense", Scales: "one", Variance: "natural"},
		Roles: "none"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predict(t.Context(), []int{n, n + 1})
	if err != nil {
		t.Fatal(err)
	}
	if p.Mean[0] < 5.4 || p.Mean[0] > 5.5 || p.SD[0] > 0.1 || p.Mean[1] < 4.9 || p.Mean[1] > 5.45 || p.SD[1] > 0.56 {
		t.Errorf("%.3f ± %.3f at the measured node, %.3f ± %.3f at the other", p.Mean[0], p.SD[0], p.Mean[1], p.SD[1])
	}
}
