package grfgp_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/testkit"
)

// fourRings are rings of eight nodes, of which the first two have labels.
func fourRings(t *testing.T) (*graph.Graph, gp.Labels) {
	t.Helper()
	var e graph.Edges
	for ring := range uint32(4) {
		for i := range uint32(8) {
			e.U, e.V = append(e.U, 8*ring+i), append(e.V, 8*ring+(i+1)%8)
		}
	}
	g, _, err := graph.FromEdges(graph.NumberIDs(32), e, graph.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return g, gp.Labels{Nodes: []int{0, 3, 6, 8, 11, 14}, Class: []int{0, 0, 0, 1, 1, 1}, Classes: 2}
}

func TestSuggestLabels(t *testing.T) {
	t.Parallel()
	g, l := fourRings(t)
	c, err := grfgp.Classify(context.Background(), g, l, grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Scales: "one"}},
		gp.Dirichlet)
	if err != nil {
		t.Fatal(err)
	}
	var free []int
	for i := range g.Len() {
		if !slices.Contains(l.Nodes, i) {
			free = append(free, i)
		}
	}
	ask := func(n int, opts bayesopt.LabelOptions) ([]bayesopt.LabelSuggestion, bayesopt.Reason) {
		t.Helper()
		opts.Allowed, opts.Seed = free, 1
		picks, reason, err := bayesopt.SuggestLabels(context.Background(), c, n, opts)
		if err != nil {
			t.Fatal(err)
		}
		return picks, reason
	}
	// Nothing is known of the last two rings: each is asked about once before any
	// is again.
	picks, reason := ask(2, bayesopt.LabelOptions{})
	if len(picks) != 2 || reason != bayesopt.Enough || picks[0].Node/8+picks[1].Node/8 != 2+3 {
		t.Errorf("%+v, want one node of each of the last two rings", picks)
	}
	if !(picks[0].Reduction > 0 && picks[0].Reduction < 1) || len(picks[0].Probabilities) != 2 || picks[0].Cost != 1 {
		t.Errorf("%+v", picks[0])
	}
	// A pending node is as good as a label.
	if next, _ := ask(1, bayesopt.LabelOptions{Pending: []int{picks[0].Node}}); len(next) != 1 || next[0].Node/8 != picks[1].Node/8 {
		t.Errorf("%+v, want a node of the ring that none is pending in", next)
	}
	budget := 3.0
	if some, reason := ask(5, bayesopt.LabelOptions{Budget: &budget}); len(some) != 3 || reason != bayesopt.BudgetReached {
		t.Errorf("%d picks, %s", len(some), reason)
	}
	if all, reason := ask(100, bayesopt.LabelOptions{}); len(all) != len(free) || reason != bayesopt.NoNodesLeft {
		t.Errorf("%d picks, %s", len(all), reason)
	}
	if _, _, err := bayesopt.SuggestLabels(context.Background(), c, 1, bayesopt.LabelOptions{Allowed: []int{99}}); !errors.Is(err,
		bayesopt.ErrOptions) {
		t.Errorf("a node that is none: %v", err)
	}
}

// On graphs with more nodes than are considered, suggested labels still spread
// out and are better than random labels.
func TestSuggestLabelsOfMany(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	k := communities(t, 3000, 3, 6, 2, 0.01)
	spec := grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Method: "grf", Scales: "one"}}
	if !testkit.IsFull() {
		spec.Walks, spec.Roles = 20, "none"
	}
	c, err := grfgp.Classify(context.Background(), k.graph, k.train, spec, gp.Dirichlet)
	if err != nil {
		t.Fatal(err)
	}
	count := testkit.Size(4, 10)
	picks, _, err := bayesopt.SuggestLabels(context.Background(), c, count, bayesopt.LabelOptions{Allowed: k.test.Nodes, Seed: 1})
	if err != nil || len(picks) != count {
		t.Fatalf("%d picks, %v", len(picks), err)
	}
	seen := map[int]bool{}
	for q, p := range picks {
		if seen[p.Node] || slices.Contains(k.train.Nodes, p.Node) || q > 0 && p.Reduction > 3*picks[0].Reduction {
			t.Errorf("pick %d is %+v after %+v", q, p, picks[:q])
		}
		seen[p.Node] = true
	}
	if _, _, err := bayesopt.SuggestLabels(context.Background(), c, 2500, bayesopt.LabelOptions{Allowed: k.test.Nodes}); !errors.Is(err,
		bayesopt.ErrOptions) {
		t.Errorf("too many at once: %v", err)
	}
}
