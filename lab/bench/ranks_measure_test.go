package bench

import (
	"context"
	"fmt"
	"math"
	"testing"

	"grfgp/graph"
	"grfgp/internal/ranks"
	"grfgp/internal/testkit"
)

// TestMeasureRanks: the solution is the same at any number of ranks, and products on graphs with exact features send
// what the plan says.
func TestMeasureRanks(t *testing.T) {
	grid, err := graph.Grid(90, 60)
	if err != nil {
		t.Fatal(err)
	}
	hubs, err := graph.BarabasiAlbert(9000, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string]*graph.Graph{"grid": grid.Ordered(), "hubs": hubs.Ordered()} {
		digest := ""
		for size := 1; size <= 3; size++ {
			err := ranks.Together(t.Context(), size, func(ctx context.Context, group *ranks.Group) error {
				r, err := RanksRun{Group: group, Hops: 2, Columns: 3, Products: 1, Tol: 1e-3, Seed: 1}.Measure(ctx, g, func(string, ...any) {})
				if err != nil || group.Rank() > 0 {
					return err
				}
				if digest == "" {
					digest = r.Digest
				}
				if r.Digest != digest {
					return fmt.Errorf("another solution: %s, not %s", r.Digest, digest)
				}
				if r.Ranks != size || r.Nodes != g.Len() || r.Steps < 2 || r.Entries < int64(g.Len()) || (r.Counted > 0) != (size > 1) ||
					r.Sent < r.Counted {
					return fmt.Errorf("%+v", r)
				}
				if name == "grid" && r.Counted != r.Model {
					return fmt.Errorf("a product sends %d bytes, and the plan says %d", r.Counted, r.Model)
				}
				if size > 1 && math.Abs(float64(r.Counted)/float64(r.Model)-1) > 0.2 {
					return fmt.Errorf("a product sends %d bytes, and the plan says %d", r.Counted, r.Model)
				}
				return nil
			})
			if err != nil {
				t.Errorf("%s, %d ranks: %v", name, size, err)
			}
		}
	}
}

// TestNeeds: the arithmetic of the model, by hand.
func TestNeeds(t *testing.T) {
	c := Cluster{RAM: 100e9, Cores: 10, Memory: 200e9, Reached: 0.5, Network: 1e9, Latency: 1e-5, Walks: 1e6}
	s := Shape{Name: "flat", Degree: 4, Entries: 20, Values: 20, Rim: 2}
	k := Large{Hops: 3, Measured: 0.5, Epochs: 2, Columns: 5, Iterations: 7, Samples: 0, Final: 3}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	const n = 1e8
	rim := s.RimOf(n, 4, 3)
	near("rim", rim, 2*3*1e4)
	near("rim of two", s.RimOf(n, 2, 3), 3*1e4)
	near("rim of one", s.RimOf(n, 1, 3), 0)
	perNode := 16 + 12*4. + 9 + 5*20 + 5*20 + 48*20*0.5 + 8*6*5*0.5 + 2*8*16 + 80
	near("memory", k.memory(s, n, 4), 12*n+n/4*perNode+rim*8*2*16)
	seconds, sent, network := k.product(c, s, n, 4, 5)
	near("sent", sent, rim*1.5*4*5)
	near("network", network, sent/1e9+2*1e-5*2)
	near("product", seconds, n/4*(0.5*20*16+1.5*8*5)/100e9+network)
	need := k.Needs(c, s, n)
	least := 1
	for k.memory(s, n, least) > 80e9 {
		least++
	}
	if need.Machines != least || least < 2 {
		t.Fatalf("%d machines, want %d", need.Machines, least)
	}
	near("features", need.Features, n*20/(1e6*10*float64(least)))
	product, sent, _ := k.product(c, s, n, least, 5)
	near("training", need.Training, 2*(9*product+7*k.sweeps(c, n, least, 5)))
	one, lone, _ := k.product(c, s, n, least, 1)
	near("inference", need.Predict, 5*one+3*k.sweeps(c, n, least, 1))
	near("all bytes", need.Total, float64(least)*(2*9*sent+5*lone))
	if none := k.Needs(c, s, 1e10); none.Machines != 0 { // lists of all nodes alone are larger than a machine
		t.Errorf("%d machines for 10¹⁰ nodes", none.Machines)
	}
	social := Shape{Entries: 100, Spread: 0.5}
	near("rim of a social graph", social.RimOf(1e6, 10, 3), 9e5*(1-math.Exp(-5)))
}

// TestShapes: the rims that the model computes for a graph of another size are those of its plan, within a fifth.
func TestShapes(t *testing.T) {
	testkit.Full(t)
	const hops = 3
	shapes, err := Shapes(t.Context(), hops, 1)
	if err != nil {
		t.Fatal(err)
	}
	larger := []func() (*graph.Graph, error){
		func() (*graph.Graph, error) { return graph.Grid(600, 600) },
		func() (*graph.Graph, error) { return graph.Roads(620, 620, 7) },
		func() (*graph.Graph, error) { return graph.BarabasiAlbert(60_000, 3, 7) },
	}
	for k, s := range shapes {
		g, err := larger[k]()
		if err != nil {
			t.Fatal(err)
		}
		got, err := shapeOf(t.Context(), g.Ordered(), s.Name, s.Rim > 0, hops, 7)
		if err != nil {
			t.Fatal(err)
		}
		n := float64(g.Len())
		if a, b := s.RimOf(n, shapeRanks, hops), got.RimOf(n, shapeRanks, hops); math.Abs(a/b-1) > 0.2 {
			t.Errorf("%s of %.0f nodes: the model has a rim of %.0f, the plan of %.0f", s.Name, n, a, b)
		}
		if math.Abs(got.Entries/s.Entries-1) > 0.1 || got.Degree > 1.05*s.Degree {
			t.Errorf("%s: %+v, from fewer nodes %+v", s.Name, got, s)
		}
		t.Logf("%+v", s)
	}
}
