package grfgp_test

import (
	"math"
	"testing"
	"time"

	"grfgp"
	"grfgp/gp"
	"grfgp/graph"
)

// limits fits, predicts all nodes and returns the limits.
func limits(t *testing.T, g *graph.Graph, d gp.Data, spec grfgp.Spec) *grfgp.Limits {
	t.Helper()
	m, err := grfgp.Fit(t.Context(), g, d, spec)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predict(t.Context(), g.Nodes())
	if err != nil {
		t.Fatal(err)
	}
	l, err := m.Limits(t.Context(), g.Nodes(), p)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Two paths, with measurements at the beginning of the first. In every
// representation predictions on the other path are those of the prior; walks of 3
// hops give covariance up to 6 hops.
func TestPriorOnly(t *testing.T) {
	t.Parallel()
	const long, short, known, hops = 60, 40, 10, 3
	var e graph.Edges
	for i := range long + short {
		if i != long-1 && i != long+short-1 {
			e.U, e.V, e.W = append(e.U, uint32(i)), append(e.V, uint32(i+1)), append(e.W, 1)
		}
	}
	g, _, err := graph.FromEdges(graph.NumberIDs(long+short), e, graph.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var d gp.Data
	for i := range known {
		d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, math.Sin(float64(i)/3))
	}
	for _, c := range []struct {
		spec grfgp.Spec
		want int
	}{
		{grfgp.Spec{Expression: grfgp.Expression{Method: "dense"}}, short},
		{grfgp.Spec{Expression: grfgp.Expression{Method: "dense", Scales: "many"}}, short},
		{grfgp.Spec{Expression: grfgp.Expression{Method: "series", Scales: "one"}}, short},
		{grfgp.Spec{Expression: grfgp.Expression{Method: "series", Scales: "one", Family: "free", Hops: hops}}, long + short - known - 2*hops},
		{grfgp.Spec{Expression: grfgp.Expression{Method: "dense", Scales: "one", Family: "free", Hops: hops}}, long + short - known - 2*hops},
		{grfgp.Spec{Expression: grfgp.Expression{Method: "series", Scales: "one", Family: "diffusion", Hops: hops}},
			long + short - known - 2*hops},
		{grfgp.Spec{Expression: grfgp.Expression{Method: "dense", Scales: "one", Family: "power"}, Alpha: []float64{1, 0.5, 0.25}},
			long + short - known - 2},
		{grfgp.Spec{Expression: grfgp.Expression{Method: "grf", Scales: "one", Hops: hops}}, long + short - known - 2*hops},
		{grfgp.Spec{Expression: grfgp.Expression{Method: "grf", Scales: "one", Trend: "degree", Hops: hops}}, long + short - known - 2*hops},
		{grfgp.Spec{Expression: grfgp.Expression{Method: "grf", Scales: "many", Hops: hops}}, short},
		{grfgp.Spec{Expression: grfgp.Expression{Method: "lowrank", Hops: hops}}, long + short - known - 2*hops},
	} {
		l := limits(t, g, d, c.spec)
		if l.PriorOnly != c.want || l.Nodes != g.Len() {
			t.Errorf("%+v: %d of %d nodes are the prior alone, want %d", c.spec, l.PriorOnly, l.Nodes, c.want)
		}
		// Rows of a path are exact: only the projection of lowrank is random.
		if (l.Walks != nil) != (c.spec.Method == "lowrank") {
			t.Errorf("%+v: walks are said to err by %+v", c.spec, l.Walks)
		}
	}
}

// BenchmarkLimits measures the time of Limits relative to that of fitting one
// family and predicting all nodes.
func BenchmarkLimits(b *testing.B) {
	g, err := graph.BarabasiAlbert(20_000, 3, 1)
	if err != nil {
		b.Fatal(err)
	}
	var d gp.Data
	for k := range 500 {
		d.Nodes, d.Y = append(d.Nodes, 40*k), append(d.Y, math.Sin(float64(k)/25)+math.Cos(float64(k*k)))
	}
	var before, limits time.Duration
	for b.Loop() {
		start := time.Now()
		m, err := grfgp.Fit(b.Context(), g, d, grfgp.Spec{Expression: grfgp.Expression{Method: "grf", Family: "diffusion", Trend: "none"},
			Seed: 1})
		if err != nil {
			b.Fatal(err)
		}
		p, err := m.Predict(b.Context(), g.Nodes())
		if err != nil {
			b.Fatal(err)
		}
		before += time.Since(start)
		start = time.Now()
		if _, err := m.Limits(b.Context(), g.Nodes(), p); err != nil {
			b.Fatal(err)
		}
		limits += time.Since(start)
	}
	b.ReportMetric(limits.Seconds()/before.Seconds(), "limits/rest")
}
