package grfgp_test

import (
	"testing"

	"grfgp"
	"grfgp/graph"
)

// TestEstimateMemory: the estimate is linear in the nodes, counts what features reach,
// and is smaller for models of short reach. 'grfgp bench memory' compares it with what
// runs take.
func TestEstimateMemory(t *testing.T) {
	estimate := func(side int, spec grfgp.Spec) grfgp.Memory {
		t.Helper()
		g, err := graph.Grid(side, side)
		if err != nil {
			t.Fatal(err)
		}
		m, err := grfgp.EstimateMemory(t.Context(), g, spec, 10)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if m := estimate(100, grfgp.Spec{Method: "grf"}); m.Bytes != 0 {
		t.Errorf("%d bytes for a small graph, want no estimate", m.Bytes)
	}
	if m := estimate(200, grfgp.Spec{Method: "series"}); m.Bytes != 0 {
		t.Errorf("%d bytes for a series, want no estimate", m.Bytes)
	}
	const spare = 128 << 20
	five := grfgp.Spec{Method: "grf", Hops: 5}
	small, large := estimate(200, five), estimate(400, five)
	if small.Entries < 58 || small.Entries > 61 || small.Hops != 5 { // 61 but at the border
		t.Errorf("%v entries of %d hops, want nearly 61 of 5", small.Entries, small.Hops)
	}
	if r := float64(large.Bytes-spare) / float64(small.Bytes-spare); r < 3.8 || r > 4.2 {
		t.Errorf("%.2f times the memory for 4 times the nodes", r)
	}
	one := estimate(400, grfgp.Spec{Method: "grf", Hops: 1, Scales: "one"})
	if one.Bytes >= large.Bytes || large.OneTerm > large.Bytes || one.Bytes > large.OneTerm*11/10 {
		t.Errorf("one hop takes %d bytes, promised were %d of %d", one.Bytes, large.OneTerm, large.Bytes)
	}
	if _, err := grfgp.EstimateMemory(t.Context(), mustGrid(t, 3), grfgp.Spec{Family: "none"}, 1); err == nil {
		t.Error("an invalid Spec was accepted")
	}
}

func mustGrid(t *testing.T, side int) *graph.Graph {
	g, err := graph.Grid(side, side)
	if err != nil {
		t.Fatal(err)
	}
	return g
}
