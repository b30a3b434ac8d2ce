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
		"rank 1e11":              {six, grfgp.Spec{Method: "lowrank", Rank: 100_000_000_000}, 1 << 40},
		"largest rank":           {six, grfgp.Spec{Method: "lowrank", Rank: 1 << 62}, 1 << 60},
		"rank 20,000":            {ring, grfgp.Spec{Method: "lowrank", Rank: 20_000}, 6 << 30},
		"16M walkers × 254 hops": {ring, grfgp.Spec{Method: "grf", Walks: 1 << 24, Hops: 254}, 4 << 30},
		"many pairs":             {mustGrid(t, 10), grfgp.Spec{Terms: []string{"graph", "roles"}, Pairs: 1 << 40}, 1 << 40},
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
	if usual, long := hours(grfgp.Spec{Method: "grf"}), hours(grfgp.Spec{Method: "lowrank", Rank: 2_000_000}); usual > 0.01 || long < 10 {
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
		"same degree":        {Trend: "degree"},
		"at most 3000 nodes": {Method: "dense"},
		"gains nothing":      {Method: "lowrank", Rank: 3002},
		"no covariates":      {Terms: []string{"covariates"}},
		"no method":          {Method: "none"},
	} {
		if err := spec.CheckOn(ring); !errors.Is(err, grfgp.ErrSpec) || !strings.Contains(err.Error(), reason) {
			t.Errorf("%+v: %v, want %q", spec, err, reason)
		}
	}
	for _, spec := range []grfgp.Spec{{}, {Method: "grf"}, {Method: "lowrank", Rank: 3001}, {Trend: "none"}} {
		if err := spec.CheckOn(ring); err != nil {
			t.Errorf("%+v: %v", spec, err)
		}
	}
	if err := (grfgp.Spec{Trend: "degree", Method: "dense"}).CheckOn(mustGrid(t, 10)); err != nil {
		t.Error(err)
	}
}
