package crossval_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"grfgp"
	"grfgp/crossval"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
)

// A function on a ring that turns over eight periods, each node measured in half of
// them. Places are held out one by one, or nodes in all periods, or those of the latest
// period. The model beats every baseline, and 95 % intervals of 30·8/2 = 120 values
// hold 95 % within four binomial standard deviations.
func TestValidateOverTime(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const nodes = 30
	times := []float64{0, 1, 2, 3, 4, 5, 6, 7}
	g, err := graph.Ring(nodes)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rng.New(4, "validate over time"))
	var d gp.Data
	for p, at := range times {
		for _, i := range r.Perm(nodes)[:nodes/2] {
			x := 2 * math.Pi * float64(i) / nodes
			d.Nodes, d.Y = append(d.Nodes, grfgp.Place(g, i, p)), append(d.Y, 2*math.Sin(x)+math.Sin(3*x+at/2)+0.15*r.NormFloat64())
		}
	}
	spec := grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion"}, Times: times}
	for _, c := range []struct {
		scheme crossval.Scheme
		rows   int
	}{{crossval.Scattered, d.Len()}, {crossval.Neighbourhoods, d.Len()}, {crossval.LatestPeriod, nodes / 2}} {
		v, err := crossval.Validate(t.Context(), g, d, spec, crossval.Options{Folds: 5, Scheme: c.scheme})
		if err != nil {
			t.Fatal(err)
		}
		if len(v.HeldOut) != c.rows || len(v.BaselineRMSE) != 4 {
			t.Errorf("%s: %d values held out, want %d; baselines %v", c.scheme, len(v.HeldOut), c.rows, v.BaselineRMSE)
		}
		folds := map[[2]int]int{}
		for _, h := range v.HeldOut {
			if h.Node >= nodes || c.scheme == crossval.LatestPeriod && h.Period != 7 {
				t.Fatalf("%s: %+v", c.scheme, h)
			}
			key := [2]int{h.Node, h.Period}
			if c.scheme == crossval.Neighbourhoods {
				key[1] = 0
			}
			if before, again := folds[key]; again && before != h.Fold {
				t.Errorf("%s: node %d is in folds %d and %d", c.scheme, h.Node, before, h.Fold)
			}
			folds[key] = h.Fold
		}
		for name, rmse := range v.BaselineRMSE {
			if c.scheme != crossval.Neighbourhoods && v.RMSE > rmse {
				t.Errorf("%s: error %.3g, that of %s is %.3g", c.scheme, v.RMSE, name, rmse)
			}
		}
		if share := v.Coverage.At(0.95); c.scheme == crossval.Scattered && math.Abs(share-0.95) > 4*math.Sqrt(0.95*0.05/float64(d.Len())) {
			t.Errorf("95 %% intervals hold %.1f %%", 100*share)
		}
	}
	spec.Times = nil
	some := gp.Data{Nodes: []int{1, 5, 9}, Y: []float64{1, 2, 3}}
	if _, err := crossval.Validate(t.Context(), g, some, spec, crossval.Options{Folds: 2, Scheme: crossval.LatestPeriod}); !errors.Is(err,
		grfgp.ErrSpec) {
		t.Errorf("the latest period without times: %v", err)
	}
}

// The baseline of a node takes the value nearest in time, the earlier of two as near, and
// the nearest node of the period where there is none.
func TestSameNode(t *testing.T) {
	t.Parallel()
	g, err := graph.Ring(8)
	if err != nil {
		t.Fatal(err)
	}
	times := []float64{0, 1, 2, 6}
	d := gp.Data{
		Nodes: []int{grfgp.Place(g, 2, 2), grfgp.Place(g, 2, 0), grfgp.Place(g, 2, 3), grfgp.Place(g, 5, 1)},
		Y:     []float64{30, 10, 60, 7},
	}
	test := gp.Data{Nodes: []int{grfgp.Place(g, 2, 1), grfgp.Place(g, 5, 3), grfgp.Place(g, 1, 3)}, Y: []float64{0, 0, 0}}
	got, err := crossval.SameNodeRows(t.Context(), g, times, d, test)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range []float64{10, 7, 60} {
		if got[k] != want {
			t.Errorf("row %d: %v, want %v", k, got[k], want)
		}
	}
}
