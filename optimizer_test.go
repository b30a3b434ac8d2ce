package grfgp_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/graph"
	"grfgp/internal/testkit"
)

// pathAndStar is a path over the even nodes, 0 to 18, and a star over the odd
// ones round node 7, numbered without regard to locality.
func pathAndStar(t testing.TB) *graph.Graph {
	t.Helper()
	var e graph.Edges
	for i := uint32(0); i < 18; i += 2 {
		e.U, e.V = append(e.U, i), append(e.V, i+2)
	}
	for i := uint32(1); i < 20; i += 2 {
		if i != 7 {
			e.U, e.V = append(e.U, 7), append(e.V, i)
		}
	}
	g, _, err := graph.FromEdges(graph.NumberIDs(20), e, graph.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// lowest picks the lowest numbers, and remembers what it saw as measured.
type lowest struct{ saw *[]int }

func (l lowest) Pick(ctx context.Context, s bayesopt.Surrogate, c *bayesopt.Candidates, n int, _ uint64) ([]bayesopt.Suggestion, error) {
	*l.saw = s.Measured()
	mean, err := s.Mean(ctx, c.Nodes())
	if err != nil {
		return nil, err
	}
	var picks []bayesopt.Suggestion
	for len(picks) < n {
		best := -1
		for at, node := range c.Nodes() {
			if c.Open(at) && (best < 0 || node < c.Nodes()[best]) {
				best = at
			}
		}
		if best < 0 {
			break
		}
		c.Take(best)
		picks = append(picks, bayesopt.Suggestion{Node: c.Nodes()[best], Value: mean[best]})
	}
	return picks, nil
}

// Policies of the caller refer to nodes by the numbers of the graph.
func TestPoliciesKnowNodesOfTheGraph(t *testing.T) {
	t.Parallel()
	g := pathAndStar(t)
	told := []int{4, 1, 16, 9, 3, 14}
	value := func(node int) float64 { return math.Sin(float64(node)) + float64(node%2) }
	build := func(opts bayesopt.Options) *grfgp.Optimizer {
		o, err := grfgp.NewOptimizer(g, grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Scales: "one"}}, opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range told {
			if err := o.Tell(i, value(i)); err != nil {
				t.Fatal(err)
			}
		}
		return o
	}
	next := func(o *grfgp.Optimizer, n int) []int {
		nodes, _, err := o.Next(t.Context(), bayesopt.Request{Count: n})
		if err != nil {
			t.Fatal(err)
		}
		return nodes
	}
	odd := []int{1, 3, 5, 7, 9, 11, 13, 15, 17, 19}
	for name, c := range map[string]struct {
		policy bayesopt.Policy
		want   []int
	}{
		"bfs":    {bayesopt.BreadthFirst{Graph: g.Adjacency()}, []int{2, 6, 7, 18}}, // beside 4, beside 1, beside 16
		"dfs":    {bayesopt.DepthFirst{Graph: g.Adjacency()}, []int{12, 10, 8, 6}},  // from 14 down the path
		"degree": {bayesopt.HighestDegree{Graph: g.Adjacency()}, []int{7}},
	} {
		if got := next(build(bayesopt.Options{Policy: c.policy}), len(c.want)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	for _, i := range next(build(bayesopt.Options{Policy: bayesopt.VarianceReduction{Over: odd}}), 3) {
		if i%2 == 0 {
			t.Errorf("node %d is of the path, which does not count", i)
		}
	}

	var saw []int
	budget, cost := 6.0, make([]float64, 20)
	for i := range cost {
		cost[i] = 1 + float64(i)
	}
	o := build(bayesopt.Options{Policy: lowest{&saw}, Limits: bayesopt.Limits{Cost: cost}})
	a, err := o.Ask(t.Context(), bayesopt.Request{Count: 5, Budget: &budget})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Suggestions) != 2 || a.Suggestions[0].Node != 0 || a.Suggestions[1].Node != 2 || a.Short != bayesopt.BudgetReached ||
		!slices.Equal(saw, told) {
		t.Errorf("%+v, and %v were seen as measured", a, saw)
	}
	for _, s := range a.Suggestions {
		if s.Cost != cost[s.Node] || math.Abs(s.Value-s.Mean) > 1e-9 {
			t.Errorf("%+v: want a cost of %v, and the mean that the policy saw", s, cost[s.Node])
		}
	}
}

func TestOptimizerRefuses(t *testing.T) {
	t.Parallel()
	g := pathAndStar(t)
	for _, opts := range []bayesopt.Options{
		{Allowed: []int{20}}, {Policy: bayesopt.VarianceReduction{Over: []int{-1}}}, {Goal: bayesopt.Threshold(math.NaN())},
	} {
		if _, err := grfgp.NewOptimizer(g, grfgp.Spec{}, opts); !errors.Is(err, bayesopt.ErrOptions) {
			t.Errorf("%+v: %v", opts, err)
		}
	}
	o, err := grfgp.NewOptimizer(g, grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Scales: "one"}}, bayesopt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		if err := o.Tell(i, float64(i)); err != nil {
			t.Fatal(err)
		}
	}
	known, err := o.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, nodes := range [][]int{{-1}, {3, 20}} {
		if _, err := known.Predict(t.Context(), nodes); !errors.Is(err, grfgp.ErrNode) {
			t.Errorf("%v: %v", nodes, err)
		}
	}
}

// A sibling has the same kernel as a separate Optimizer, whichever was created
// first.
func TestSiblingsDoNotDependOnTheFirst(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	g := communities(t, 1600, 2, 8, 3, 0.5).graph // where Thompson sampling is by series, all else by features
	spec := grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Scales: "one", Trend: "none"}}
	draws, learns := bayesopt.Options{Seed: 1}, bayesopt.Options{Goal: bayesopt.Learn, Seed: 1}
	method := func(o *grfgp.Optimizer, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for i := range 6 {
			if err := o.Tell(100*i, math.Sin(float64(i))); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := o.Snapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
		chosen, _ := o.Chosen()
		return chosen.Method
	}
	first, err := grfgp.NewOptimizer(g, spec, learns)
	if err != nil {
		t.Fatal(err)
	}
	alone := method(grfgp.NewOptimizer(g, spec, draws))
	if beside := method(first.Sibling(draws)); beside != alone || beside == method(first.Sibling(learns)) {
		t.Errorf("%s as a sibling, %s alone", beside, alone)
	}
}

// Optimizer.Run with an automatically chosen kernel: which of 60 places on a ring
// are above the level?
func ExampleOptimizer_run() {
	g, _ := graph.Ring(60)
	measure := func(_ context.Context, node int) (float64, error) {
		return math.Cos(2 * math.Pi * float64(node) / 60), nil
	}
	o, err := grfgp.NewOptimizer(g, grfgp.Spec{}, bayesopt.Options{Goal: bayesopt.Threshold(0.45), Seed: 1})
	if err != nil {
		panic(err)
	}
	if _, err := o.Run(context.Background(), bayesopt.Request{Count: 20}, measure); err != nil {
		panic(err)
	}
	var all []int
	for i := range 60 {
		all = append(all, i)
	}
	now, err := o.Snapshot(context.Background())
	if err != nil {
		panic(err)
	}
	p, err := now.Predict(context.Background(), all)
	if err != nil {
		panic(err)
	}
	wrong := 0
	for i, mean := range p.Mean {
		if value, _ := measure(context.Background(), i); (mean > 0.45) != (value > 0.45) {
			wrong++
		}
	}
	fmt.Printf("after %d measurements %d of 60 are misjudged\n", o.Data().Len(), wrong)
	// Output: after 20 measurements 0 of 60 are misjudged
}

// Each request states the pending nodes of others and the remaining budget.
func ExampleOptimizer_Ask() {
	ctx := context.Background()
	g, _ := graph.Grid(6, 6)
	o, err := grfgp.NewOptimizer(g, grfgp.Spec{}, bayesopt.Options{Goal: bayesopt.Learn})
	if err != nil {
		panic(err)
	}
	for i := 0; i < 36; i += 5 {
		o.Tell(i, float64(i%6+i/6))
	}
	budget := 2.0
	first, err := o.Ask(ctx, bayesopt.Request{Count: 1, Budget: &budget})
	if err != nil {
		panic(err)
	}
	budget--
	busy := []int{first.Suggestions[0].Node}
	second, err := o.Ask(ctx, bayesopt.Request{Count: 5, Pending: busy, Budget: &budget})
	if err != nil {
		panic(err)
	}
	fmt.Println(len(second.Suggestions), "more:", second.Short)
	fmt.Println("another node:", second.Suggestions[0].Node != busy[0])
	fmt.Println("teaches less:", second.Suggestions[0].Value < first.Suggestions[0].Value)
	// Output:
	// 1 more: budget_reached
	// another node: true
	// teaches less: true
}

// On graphs of high degree ForSearch chooses a series for Thompson sampling and
// features for other policies; on other graphs it chooses features for all.
func TestWhatIsDrawnFrom(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	crowded, err := graph.BarabasiAlbert(1600, 6, 1)
	if err != nil {
		t.Fatal(err)
	}
	grid, err := graph.Grid(40, 40)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		graph *graph.Graph
		goal  bayesopt.Goal
		want  string
	}{{crowded, bayesopt.Maximize, "series"}, {crowded, bayesopt.Learn, "grf"}, {grid, bayesopt.Maximize, "grf"}} {
		o, err := grfgp.NewOptimizer(c.graph, grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Scales: "one"}},
			bayesopt.Options{Goal: c.goal})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			if err := o.Tell(100*i, float64(i%4)); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := o.Next(t.Context(), bayesopt.Request{Count: 1}); err != nil {
			t.Fatal(err)
		}
		if spec, ok := o.Chosen(); !ok || spec.Method != c.want {
			t.Errorf("%v on %d edges: %q, want %q", c.goal, c.graph.Adjacency().NNZ()/2, spec.Method, c.want)
		}
	}
}

// On large graphs ForSearch leaves out roles, whose draws take long, unless they were
// asked for by Terms.
func TestSearchRoles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		nodes int
		spec  grfgp.Spec
		want  string
	}{
		{20_000, grfgp.Spec{}, ""},
		{20_001, grfgp.Spec{}, "none"},
		{20_001, grfgp.Spec{Roles: "auto"}, "none"},
		{20_001, grfgp.Spec{Expression: grfgp.Expression{Terms: grfgp.GraphTerm | grfgp.CovariateTerm}}, "none"},
		{20_001, grfgp.Spec{Expression: grfgp.Expression{Terms: grfgp.GraphTerm | grfgp.RoleTerm}, Roles: "auto"}, "auto"},
	} {
		g, err := graph.Ring(c.nodes)
		if err != nil {
			t.Fatal(err)
		}
		got := c.spec.ForSearch(g, nil)
		if err := got.Check(); err != nil || got.Roles != c.want {
			t.Errorf("%d nodes, %+v: roles %q, want %q; %v", c.nodes, c.spec, got.Roles, c.want, err)
		}
	}
}

// The loop by hand: ask, measure, tell.
func ExampleNewOptimizer() {
	ctx := context.Background()
	g, _ := graph.Grid(12, 12)
	measure := func(node int) float64 { return 9 - math.Hypot(float64(node%12)-8, float64(node/12)-3) }

	o, err := grfgp.NewOptimizer(g, grfgp.Spec{}, bayesopt.Options{Goal: bayesopt.Maximize, Seed: 1})
	if err != nil {
		panic(err)
	}
	for range 25 {
		nodes, _, err := o.Next(ctx, bayesopt.Request{Count: 1})
		if err != nil {
			panic(err)
		}
		o.Tell(nodes[0], measure(nodes[0]))
	}
	node, value, _ := o.Best()
	fmt.Printf("column %d, row %d, value %v\n", node%12, node/12, value)
	// Output: column 8, row 3, value 9
}
