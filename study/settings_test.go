package study_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/study"
)

// Policies that look at no predictions need no model.
func TestModelled(t *testing.T) {
	t.Parallel()
	threshold, err := bayesopt.ParseGoal("threshold=1")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range bayesopt.PolicyNames() {
		blind := slices.Contains([]string{"random", "bfs", "dfs", "degree"}, name)
		if got := (study.Settings{Policy: name, Goal: threshold}).UsesModel(); got == blind {
			t.Errorf("%s is modelled: %v", name, got)
		}
	}
}

// What is measured is checked when it is told, before it becomes an event.
func TestValuesOfAStudy(t *testing.T) {
	t.Parallel()
	for _, spec := range []grfgp.Spec{{Times: []float64{1, 2}}, {Device: "cpu"}, {Values: "odd"}, {Values: "count", Transform: "log"}} {
		if _, err := (study.Settings{Name: "a", Graph: "g", Spec: spec}).Complete(); !errors.Is(err, study.ErrInvalid) {
			t.Errorf("%+v: %v", spec, err)
		}
	}
	for _, c := range []struct {
		spec      grfgp.Spec
		good, bad []float64
	}{
		{grfgp.Spec{}, []float64{-1e9, 0.5}, nil},
		{grfgp.Spec{Values: "count"}, []float64{0, 7}, []float64{-1, 0.5}},
		{grfgp.Spec{Values: "yes-no"}, []float64{0, 1}, []float64{2}},
		{grfgp.Spec{Transform: "log"}, []float64{0.1}, []float64{0, -1}},
	} {
		f := newField(t, nil, func(s *study.Settings) { s.Spec.Values, s.Spec.Transform = c.spec.Values, c.spec.Transform })
		for k, v := range append(c.good, c.bad...) {
			_, err := f.Observe(f.ctx, "", []study.Measurement{{Node: "0", Value: v}}, "", "")
			if fits := k < len(c.good); fits != (err == nil) || !fits && !errors.Is(err, study.ErrInvalid) {
				t.Errorf("%+v, value %v: %v", c.spec, v, err)
			}
		}
		trial := f.ask(t, 1)[0].Trial
		for _, v := range c.bad {
			if _, err := f.Tell(f.ctx, trial, study.Outcome{Value: v}, ""); !errors.Is(err, study.ErrInvalid) {
				t.Errorf("%+v, told %v: %v", c.spec, v, err)
			}
		}
	}
}

// A search of counts: predictions are rates, intervals are above 0, and the suggestions
// are the same after restarts.
func TestStudyOfCounts(t *testing.T) {
	t.Parallel()
	set := func(s *study.Settings) { s.Spec.Values = "count" }
	counted := func() *field {
		f := newField(t, nil, set)
		f.value = func(node int) float64 { return math.Round(9 * truth(node)) }
		return f
	}
	f, g := counted(), counted()
	for range 6 {
		a, b := f.ask(t, 4), g.ask(t, 4)
		if !slices.EqualFunc(a, b, func(a, b study.Issued) bool { return a.Node == b.Node }) {
			t.Errorf("%v, after restarts %v", a, b)
		}
		f.measure(t, a)
		g.measure(t, b)
		g = g.restart(t)
	}
	p, err := f.Predictions(f.ctx)
	if err != nil || p.Spec.Values != "count" {
		t.Fatalf("%+v, %v", p, err)
	}
	lower, upper := p.Interval(0.95)
	for i := range lower {
		if !(0 <= lower[i] && lower[i] < p.Mean[i] && p.Mean[i] < upper[i]) {
			t.Errorf("node %d: %v in [%v, %v]", i, p.Mean[i], lower[i], upper[i])
		}
	}
	engine, err := study.NewModelEngine(f.graph, nil, f.Settings())
	if err != nil {
		t.Fatal(err)
	}
	if v, err := study.Verify(f.ctx, f.Events(f.ctx, 0), by(engine)); err != nil || v.Suggestions != 6 {
		t.Errorf("%+v, %v", v, err)
	}
}
