package grfgp_test

import (
	"testing"

	"grfgp"
	"grfgp/graph"
)

// TestEstimateMemory: every method and job has an estimate, which grows with what it
// counts. 'grfgp-lab bench memory' compares it with what runs take.
func TestEstimateMemory(t *testing.T) {
	t.Parallel()
	estimate := func(side int, spec grfgp.Spec, job grfgp.Job) grfgp.Memory {
		t.Helper()
		m, err := grfgp.EstimateMemory(t.Context(), mustGrid(t, side), spec, job)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	few := grfgp.Job{Measurements: 10}
	five := grfgp.Spec{Expression: grfgp.Expression{Method: "grf", Hops: 5}}
	small, large := estimate(200, five, few), estimate(400, five, few)
	if small.Entries < 58 || small.Entries > 61 || small.Hops != 5 || small.Method != "grf" { // 61 but at the border
		t.Errorf("%v entries of %d hops, want nearly 61 of 5", small.Entries, small.Hops)
	}
	// Garbage, scratch memory and what small models take do not grow with the graph.
	const fixed = (64 + 64 + 10) << 20
	if r := float64(large.Bytes-fixed) / float64(small.Bytes-fixed); r < 3.6 || r > 4.2 {
		t.Errorf("%.2f times the memory for 4 times the nodes", r)
	}
	one := estimate(400, grfgp.Spec{Expression: grfgp.Expression{Method: "grf", Hops: 1, Scales: "one"}}, few)
	if one.Bytes >= large.Bytes || large.Least > large.Bytes || one.Bytes > large.Least*11/10 {
		t.Errorf("one hop takes %d bytes, promised were %d of %d", one.Bytes, large.Least, large.Bytes)
	}
	for _, method := range []string{"dense", "series", "grf", "lowrank"} {
		spec := grfgp.Spec{Expression: grfgp.Expression{Method: method}}
		base := estimate(30, spec, few)
		if base.Bytes < 10<<20 || base.Bytes > 200<<20 || base.Method != method {
			t.Errorf("%s: %+v", method, base)
		}
		for name, more := range map[string]int64{
			"nodes":        estimate(50, spec, few).Bytes,
			"measurements": estimate(30, spec, grfgp.Job{Measurements: 800}).Bytes,
			"places":       estimate(30, spec, grfgp.Job{Measurements: 10, Places: 900_000}).Bytes,
			"classes":      estimate(30, spec, grfgp.Job{Measurements: 400, Classes: 3, Places: 900}).Bytes,
			"searches":     estimate(30, spec, grfgp.Job{Measurements: 10, Places: 900, Searches: 16}).Bytes,
		} {
			if more <= base.Bytes {
				t.Errorf("%s: %d bytes with more %s, %d without", method, more, name, base.Bytes)
			}
		}
	}
	if _, err := grfgp.EstimateMemory(t.Context(), mustGrid(t, 3), grfgp.Spec{Expression: grfgp.Expression{Family: "none"}}, few); err == nil {
		t.Error("an invalid Spec was accepted")
	}
}

func mustGrid(t *testing.T, side int) *graph.Graph {
	t.Helper()
	g, err := graph.Grid(side, side)
	if err != nil {
		t.Fatal(err)
	}
	return g
}
