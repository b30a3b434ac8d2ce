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

// Asked one by one, with earlier suggestions pending, policies that use lookahead
// pick the same nodes with the same scores as in a batch.
func TestPendingNodes(t *testing.T) {
	t.Parallel()
	const side, n = 8, 5
	g := must(graph.Grid(side, side))
	truth := hill(side)
	for _, policy := range []bayesopt.Policy{bayesopt.VarianceReduction{}, bayesopt.Straddle{Level: 0.4}, bayesopt.HighestVariance{},
		bayesopt.UCB{}, bayesopt.ExpectedImprovement{}} {
		o := must(bayesopt.New(bayesopt.Train(grf(g, 6, 16), gp.FitOptions{}), bayesopt.Options{Policy: policy}))
		for _, i := range []int{0, 9, 20, 33, 45, 63} {
			if err := o.Tell(i, truth(i)); err != nil {
				t.Fatal(err)
			}
		}
		batch := must(o.Ask(background, bayesopt.Request{Count: n}))
		var asked, next []int
		for k := range n {
			a := must(o.Ask(background, bayesopt.Request{Pending: asked}))
			if s := a.Suggestions[0]; math.Abs(s.Value-batch.Suggestions[k].Value) > 1e-9 {
				t.Errorf("%T: pick %d has the score %v after pending nodes, %v in a batch", policy, k, s.Value, batch.Suggestions[k].Value)
			}
			nodes, _, err := o.Next(background, bayesopt.Request{Pending: next})
			if err != nil {
				t.Fatal(err)
			}
			asked, next = append(asked, picked(a)...), append(next, nodes...)
		}
		if !slices.Equal(asked, picked(batch)) || !slices.Equal(next, asked) {
			t.Errorf("%T: Ask %v and Next %v one by one, %v in a batch", policy, asked, next, picked(batch))
		}
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
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
		"excluded":  {bayesopt.Request{Count: 9, Excluded: some}, 1, bayesopt.NoNodesLeft},
		"enough":    {bayesopt.Request{Count: 2, Excluded: some[1:]}, 2, bayesopt.Enough},
		"all taken": {bayesopt.Request{Excluded: append([]int{1}, some...)}, 0, bayesopt.NoNodesLeft},
	} {
		a, err := o.Ask(background, c.r)
		if err != nil || len(a.Suggestions) != c.want || a.Short != c.short {
			t.Errorf("%s: %v, %q, %v; want %d, %q", name, picked(a), a.Short, err, c.want, c.short)
		}
		if slices.Contains(picked(a), 0) {
			t.Errorf("%s: what is measured came again: %v", name, picked(a))
		}
	}
	// What costs too much hides no full group, whose nodes come when there is room.
	limits.Cost[7], limits.Cost[9], limits.Group[9] = 9, 9, 2
	dear := must(bayesopt.New(bayesopt.Train(grf(g, 3, 8), gp.FitOptions{}), bayesopt.Options{Policy: bayesopt.Random{}, Limits: limits}))
	five := 5.0
	if a := must(dear.Ask(background, bayesopt.Request{Count: 9, Budget: &five})); len(a.Suggestions) != 4 || a.Short != bayesopt.GroupsFull {
		t.Errorf("full groups, and a node beyond the budget: %v, %q", picked(a), a.Short)
	}
	if a := must(dear.Ask(background, bayesopt.Request{
		Count: 9, Budget: &five, Pending: []int{0, 2}, Excluded: []int{1, 3, 4, 5, 6, 8}})); len(a.Suggestions) != 0 ||
		a.Short != bayesopt.BudgetReached {
		t.Errorf("nodes beyond the budget alone: %v, %q", picked(a), a.Short)
	}
	first := must(o.Ask(background, bayesopt.Request{Count: 3, Seed: 1}))
	if again := must(o.Ask(background, bayesopt.Request{Count: 3, Seed: 1})); !slices.Equal(picked(first), picked(again)) {
		t.Errorf("%v, then %v by the same seed", picked(first), picked(again))
	}
	minus := -1.0
	for _, r := range []bayesopt.Request{{Count: -1}, {Budget: &minus}, {Draws: -1}} {
		if _, err := o.Ask(background, r); !errors.Is(err, bayesopt.ErrOptions) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	for _, r := range []bayesopt.Request{{Count: 1, Pending: []int{10}}, {Count: 1, Excluded: []int{-1}}} {
		if _, err := o.Ask(background, r); !errors.Is(err, bayesopt.ErrNode) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}
