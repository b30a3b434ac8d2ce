package crossval_test

import (
	"context"
	"encoding/json"
	"errors"
	"grfgp"
	"grfgp/crossval"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/testkit"
	"grfgp/kernel"
	"math"
	"testing"
)

// field is a smooth function on a grid, measured at every third node.
func field(t testing.TB, side int) (*graph.Graph, gp.Data) {
	t.Helper()
	g, err := graph.Grid(side, side)
	if err != nil {
		t.Fatal(err)
	}
	var d gp.Data
	for i := 0; i < g.Len(); i += 3 {
		x, y := float64(i%side), float64(i/side)
		d.Nodes = append(d.Nodes, i)
		d.Y = append(d.Y, 20+5*math.Sin(x/4)+3*math.Cos(y/3)+0.5*math.Sin(float64(7*i)))
	}
	return g, d
}

// On a smooth field the model beats every baseline, and the coverage of its
// intervals is right: within four binomial standard deviations for 225/3 = 75
// values.
func TestValidate(t *testing.T) {
	t.Parallel()
	g, d := field(t, 15)
	for _, scheme := range testkit.FewIfRaced(1, []crossval.Scheme{crossval.Scattered, crossval.Neighbourhoods}) {
		v, err := crossval.Validate(context.Background(), g, d, grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion"}},
			crossval.Options{Folds: 5, Scheme: scheme})
		if err != nil {
			t.Fatal(err)
		}
		if len(v.HeldOut) != d.Len() {
			t.Errorf("%s: %d of %d measurements were left out", scheme, len(v.HeldOut), d.Len())
		}
		for name, rmse := range v.BaselineRMSE {
			if scheme == crossval.Scattered && v.RMSE > rmse {
				t.Errorf("%s: RMSE %v, %s has %v", scheme, v.RMSE, name, rmse)
			}
		}
		if len(v.Coverage) != 3 {
			t.Errorf("%s: coverage %v", scheme, v.Coverage)
		}
		for _, c := range v.Coverage {
			if off := math.Abs(c.Share - c.Level); scheme == crossval.Scattered && off > 4*math.Sqrt(c.Level*(1-c.Level)/float64(d.Len())) {
				t.Errorf("%s: %v %% intervals cover %v", scheme, 100*c.Level, c.Share)
			}
		}
	}
	if _, err := crossval.Validate(context.Background(), g, d, grfgp.Spec{},
		crossval.Options{Folds: 1, Scheme: crossval.Scattered}); !errors.Is(err, grfgp.ErrSpec) {
		t.Errorf("one fold: %v", err)
	}
}

// fixedly validates a fitted model with its hyperparameters.
func fixedly(t *testing.T, g *graph.Graph, m *grfgp.Model, folds int) (*crossval.Validation, error) {
	return crossval.Validate(t.Context(), g, m.Data(), m.Spec(), crossval.Options{Folds: folds, Model: m, Fixed: true})
}

// With hyperparameters held fixed the scores are close to those of learning anew, and held-out values
// still do not take part in their own prediction.
func TestValidateFixed(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	g, d := field(t, 12)
	for _, spec := range []grfgp.Spec{{Expression: grfgp.Expression{Family: "diffusion"}},
		{Expression: grfgp.Expression{Family: "diffusion"}, Transform: "log"}} {
		m, err := grfgp.Fit(t.Context(), g, d, spec)
		if err != nil {
			t.Fatal(err)
		}
		fixed, err := fixedly(t, g, m, 4)
		if err != nil {
			t.Fatal(err)
		}
		anew, err := crossval.Validate(t.Context(), g, d, spec, crossval.Options{Folds: 4, ChooseAgain: true})
		if err != nil {
			t.Fatal(err)
		}
		if fixed.Learned != crossval.LearnedNothing || anew.Learned != crossval.LearnedKernel || len(fixed.HeldOut) != d.Len() ||
			len(fixed.BaselineRMSE) != len(anew.BaselineRMSE) || math.Abs(fixed.RMSE/anew.RMSE-1) > 0.2 {
			t.Errorf("%q: RMSE %v, anew %v", spec.Transform, fixed.RMSE, anew.RMSE)
		}
		for k, h := range fixed.HeldOut {
			if h.Node != anew.HeldOut[k].Node {
				t.Fatalf("other folds than those of Validate")
			}
		}
	}
	m, err := grfgp.Fit(t.Context(), g, d, grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion"}})
	if err != nil {
		t.Fatal(err)
	}
	odd := d.Clone()
	odd.Y[5] += 40
	other, err := m.Condition(t.Context(), odd)
	if err != nil {
		t.Fatal(err)
	}
	before, err := fixedly(t, g, m, d.Len())
	if err != nil {
		t.Fatal(err)
	}
	after, err := fixedly(t, g, other, d.Len())
	if err != nil {
		t.Fatal(err)
	}
	for k, h := range after.HeldOut {
		if h.Node == d.Nodes[5] && h.Mean != before.HeldOut[k].Mean {
			t.Errorf("a held-out value changes its own prediction from %v to %v", before.HeldOut[k].Mean, h.Mean)
		}
	}
}

// The zero value of Options means ten scattered folds, or fewer if fewer nodes
// were measured; measurements of a single node cannot be validated.
func TestZeroOptions(t *testing.T) {
	t.Parallel()
	g, d := field(t, 6)
	v, err := crossval.Validate(t.Context(), g, d, grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion"}}, crossval.Options{})
	if err != nil || v.Folds != 10 || v.Scheme != crossval.Scattered || len(v.HeldOut) != d.Len() {
		t.Errorf("%+v, %v", v, err)
	}
	few := d.Select([]int{0, 0, 1, 2, 3, 4, 5})
	if v, err = crossval.Validate(t.Context(), g, few, grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion"}},
		crossval.Options{}); err != nil || v.Folds != 6 {
		t.Errorf("six nodes: %+v, %v", v, err)
	}
	if _, err := crossval.Validate(t.Context(), g, d.Select([]int{0, 0}), grfgp.Spec{}, crossval.Options{}); !errors.Is(err, gp.ErrData) {
		t.Errorf("one node: %v", err)
	}
}

// In JSON coverages are an object with levels as keys.
func TestCoveragesAsJSON(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(crossval.Coverages{{Level: 0.5, Share: 0.25}, {Level: 0.95, Share: 1}})
	if err != nil || string(text) != `{"0.5":0.25,"0.95":1}` {
		t.Errorf("%s, %v", text, err)
	}
}

// A custom family is validated like the others.
func init() {
	kernel.Register(kernel.Family{Name: "own", Of: func(kernel.Member) (kernel.Modulation, error) { return kernel.Diffusion{}, nil }})
}

func TestValidateCustomFamily(t *testing.T) {
	t.Parallel()
	g, d := field(t, 9)
	v, err := crossval.Validate(t.Context(), g, d, grfgp.Spec{Expression: grfgp.Expression{Family: "own"}}, crossval.Options{Folds: 4})
	if err != nil || len(v.HeldOut) != d.Len() || !(v.RMSE < v.BaselineRMSE[crossval.Mean]) {
		t.Errorf("%+v, %v", v, err)
	}
}
