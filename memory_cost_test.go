package grfgp_test

import (
	"errors"
	"strings"
	"testing"

	"grfgp"
	"grfgp/graph"
)

// Extreme Specs have an estimate, at once, that no machine satisfies.
func TestEstimateMemoryExtreme(t *testing.T) {
	t.Parallel()
	ring, err := graph.Ring(20_000)
	if err != nil {
		t.Fatal(err)
	}
	six, err := graph.Ring(6)
	if err != nil {
		t.Fatal(err)
	}
	few := grfgp.Job{Measurements: 5}
	for name, c := range map[string]struct {
		g     *graph.Graph
		spec  grfgp.Spec
		least int64
	}{
		"rank 1e11":              {six, grfgp.Spec{Expression: grfgp.Expression{Method: "lowrank"}, Rank: 100_000_000_000}, 1 << 40},
		"largest rank":           {six, grfgp.Spec{Expression: grfgp.Expression{Method: "lowrank"}, Rank: 1 << 62}, 1 << 60},
		"rank 20,000":            {ring, grfgp.Spec{Expression: grfgp.Expression{Method: "lowrank"}, Rank: 20_000}, 6 << 30},
		"16M walkers × 254 hops": {ring, grfgp.Spec{Expression: grfgp.Expression{Method: "grf", Hops: 254}, Walks: 1 << 24}, 4 << 30},
		"many pairs": {mustGrid(t, 10), grfgp.Spec{Expression: grfgp.Expression{Terms: grfgp.GraphTerm | grfgp.RoleTerm,
			Pairs: 1 << 40}}, 1 << 40},
	} {
		m, err := grfgp.EstimateMemory(t.Context(), c.g, c.spec, few)
		if err != nil || m.Bytes < c.least {
			t.Errorf("%s: %d bytes, want at least %d (%v)", name, m.Bytes, c.least, err)
		}
	}
	hours := func(spec grfgp.Spec) float64 {
		m, err := grfgp.EstimateMemory(t.Context(), ring, spec, few)
		if err != nil {
			t.Fatal(err)
		}
		return m.Seconds / 3600
	}
	if usual, long := hours(grfgp.Spec{Expression: grfgp.Expression{Method: "grf"}}),
		hours(grfgp.Spec{Expression: grfgp.Expression{Method: "lowrank"}, Rank: 2_000_000}); usual > 0.01 || long < 10 {
		t.Errorf("%v hours as usual, %v for a projection to two million dimensions", usual, long)
	}
}

// What cannot be fitted on a graph is refused with the reason.
func TestCheckOn(t *testing.T) {
	t.Parallel()
	ring, err := graph.Ring(3001)
	if err != nil {
		t.Fatal(err)
	}
	for reason, spec := range map[string]grfgp.Spec{
		"same degree":        {Expression: grfgp.Expression{Trend: "degree"}},
		"at most 3000 nodes": {Expression: grfgp.Expression{Method: "dense"}},
		"gains nothing":      {Expression: grfgp.Expression{Method: "lowrank"}, Rank: 3002},
		"no covariates":      {Expression: grfgp.Expression{Terms: grfgp.CovariateTerm}},
		"no method":          {Expression: grfgp.Expression{Method: "none"}},
	} {
		if err := spec.CheckOn(ring); !errors.Is(err, grfgp.ErrSpec) || !strings.Contains(err.Error(), reason) {
			t.Errorf("%+v: %v, want %q", spec, err, reason)
		}
	}
	for _, spec := range []grfgp.Spec{{}, {Expression: grfgp.Expression{Method: "grf"}}, {Expression: grfgp.Expression{Method: "lowrank"},
		Rank: 3001}, {Expression: grfgp.Expression{Trend: "none"}}} {
		if err := spec.CheckOn(ring); err != nil {
			t.Errorf("%+v: %v", spec, err)
		}
	}
	if err := (grfgp.Spec{Expression: grfgp.Expression{Trend: "degree", Method: "dense"}}).CheckOn(mustGrid(t, 10)); err != nil {
		t.Error(err)
	}
}
