package bayesopt_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"grfgp/bayesopt"
	"grfgp/gp"
	"grfgp/graph"
)

func picked(a bayesopt.Answer) []int {
	var nodes []int
	for _, s := range a.Suggestions {
		nodes = append(nodes, s.Node)
	}
	return nodes
}

// A caller who keeps the books gets what Ask gives who keeps them; asked one by
// one, policies that plan ahead pick what they pick in a batch.
func TestSuggestAndAsk(t *testing.T) {
	const side, n = 8, 5
	g := must(graph.Grid(side, side))
	truth := hill(side)
	for _, name := range []string{"learn", "straddle", "variance", "ucb", "ei"} {
		goal := bayesopt.Maximize
		if name == "straddle" {
			goal = bayesopt.Threshold(0.4)
		}
		policy := must(bayesopt.PolicyNamed(name, goal, nil))
		o := must(bayesopt.New(bayesopt.Train(grf(g, 6, 16), gp.FitOptions{}), bayesopt.Options{Goal: goal, Policy: policy}))
		for _, i := range []int{0, 9, 20, 33, 45, 63} {
			if err := o.Tell(i, truth(i)); err != nil {
				t.Fatal(err)
			}
		}
		batch := must(o.Suggest(background, bayesopt.Request{Count: n}))
		var one []int
		for range n {
			a := must(o.Suggest(background, bayesopt.Request{Count: 1, Pending: one}))
			one = append(one, picked(a)...)
		}
		if !slices.Equal(one, picked(batch)) {
			t.Errorf("%s: %v one by one, %v in a batch", name, one, picked(batch))
		}
		if len(o.Pending()) != 0 {
			t.Errorf("%s: %v is held", name, o.Pending())
		}
		if asked := must(o.Ask(background, n)); !slices.Equal(picked(asked), picked(batch)) || asked.Suggestions[1].Mean != batch.Suggestions[1].Mean || asked.Suggestions[1].SD != batch.Suggestions[1].SD {
			t.Errorf("%s: Ask %+v, Suggest %+v", name, asked.Suggestions, batch.Suggestions)
		}
		for _, i := range o.Pending() {
			o.Release(i)
		}
		var held []int
		for k := range n {
			a := must(o.Ask(background, 1))
			held = append(held, picked(a)...)
			if k < len(batch.Suggestions) && math.Abs(a.Suggestions[0].Value-batch.Suggestions[k].Value) > 1e-9 {
				t.Errorf("%s: pick %d is worth %v with those before it held, %v in a batch", name, k, a.Suggestions[0].Value, batch.Suggestions[k].Value)
			}
		}
		if !slices.Equal(held, picked(batch)) {
			t.Errorf("%s: %v one by one and held, %v in a batch", name, held, picked(batch))
		}
		for _, i := range held {
			o.Release(i)
		}
		var next []int
		for range n {
			nodes, _, err := o.Next(background, 1)
			if err != nil {
				t.Fatal(err)
			}
			next = append(next, nodes...)
		}
		if !slices.Equal(next, held) {
			t.Errorf("%s: Next gives %v, Ask %v", name, next, held)
		}
	}
}

func TestSuggestRequests(t *testing.T) {
	g := must(graph.Ring(10))
	limits := bayesopt.Limits{Cost: make([]float64, 10), Group: make([]int, 10), GroupCap: 2}
	for i := range 10 {
		limits.Cost[i], limits.Group[i] = 1, i%2
	}
	o := must(bayesopt.New(bayesopt.Train(grf(g, 3, 8), gp.FitOptions{}), bayesopt.Options{Policy: bayesopt.Random{}, Limits: limits}))
	if err := o.Tell(0, 1); err != nil {
		t.Fatal(err)
	}
	two, some := 2.0, []int{2, 3, 4, 5, 6, 7, 8, 9}
	for name, c := range map[string]struct {
		r     bayesopt.Request
		want  int
		short bayesopt.Reason
	}{
		"groups":    {bayesopt.Request{Count: 9}, 4, bayesopt.GroupsFull},
		"pending":   {bayesopt.Request{Count: 9, Pending: []int{2, 3}}, 2, bayesopt.GroupsFull},
		"budget":    {bayesopt.Request{Count: 9, Budget: &two}, 2, bayesopt.BudgetReached},
		"closed":    {bayesopt.Request{Count: 9, Closed: some}, 1, bayesopt.NoNodesLeft},
		"enough":    {bayesopt.Request{Count: 2, Closed: some[1:]}, 2, bayesopt.Enough},
		"all taken": {bayesopt.Request{Count: 1, Closed: append([]int{1}, some...)}, 0, bayesopt.NoNodesLeft},
	} {
		a, err := o.Suggest(background, c.r)
		if err != nil || len(a.Suggestions) != c.want || a.Short != c.short {
			t.Errorf("%s: %v, %q, %v; want %d, %q", name, picked(a), a.Short, err, c.want, c.short)
		}
		if slices.Contains(picked(a), 0) {
			t.Errorf("%s: what is measured came again: %v", name, picked(a))
		}
	}
	first := must(o.Suggest(background, bayesopt.Request{Count: 3, Seed: 1}))
	if again := must(o.Suggest(background, bayesopt.Request{Count: 3, Seed: 1})); !slices.Equal(picked(first), picked(again)) {
		t.Errorf("%v, then %v by the same seed", picked(first), picked(again))
	}
	minus := -1.0
	for _, r := range []bayesopt.Request{{Count: 0}, {Count: 1, Budget: &minus}} {
		if _, err := o.Suggest(background, r); !errors.Is(err, bayesopt.ErrOptions) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	for _, r := range []bayesopt.Request{{Count: 1, Pending: []int{10}}, {Count: 1, Closed: []int{-1}}} {
		if _, err := o.Suggest(background, r); !errors.Is(err, bayesopt.ErrNode) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}
