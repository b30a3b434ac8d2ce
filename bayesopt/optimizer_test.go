package bayesopt_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"grfgp/bayesopt"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
)

// hill is a smooth function on a grid, with a little fixed noise.
func hill(side int) func(node int) float64 {
	return func(i int) float64 {
		x, y := float64(i%side)/float64(side-1)-0.7, float64(i/side)/float64(side-1)-0.3
		return math.Exp(-(x*x+y*y)*6) + 0.01*math.Sin(float64(i*i))
	}
}

// rugged has many peaks and fixed noise.
func rugged(side int) func(node int) float64 {
	return func(i int) float64 {
		x, y := float64(i%side), float64(i/side)
		noise := rand.New(rng.New(9, "rugged", uint64(i))).NormFloat64()
		return math.Sin(0.9*x)*math.Cos(0.8*y) + 0.7*math.Sin(0.4*x+0.3*y) + 0.3*noise
	}
}

func options(seed uint64) bayesopt.Options { return bayesopt.Options{Seed: seed} }

// text is an answer as JSON, without times.
func text(t *testing.T, a bayesopt.Answer) string {
	t.Helper()
	a.Effort = bayesopt.Effort{}
	out, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// A suggestion is a function of seed, measurements and pending nodes: it has the
// same bytes from an Optimizer that was told all measurements at once, from one
// that resumes from a checkpoint stored as JSON, and at any number of threads.
func TestSuggestionsAfterARestart(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const side = 10
	g := must(graph.Grid(side, side))
	truth := hill(side)
	for name, solver := range map[string]gp.Solver{"exact": gp.Exact, "iterative": gp.Iterative} {
		for _, goal := range []bayesopt.Goal{bayesopt.Maximize, bayesopt.Learn, bayesopt.Threshold(0.5)} {
			t.Run(name+"/"+goal.String(), func(t *testing.T) {
				trainer := bayesopt.Train(grf(g, 6, 16), gp.FitOptions{Solver: solver, Epochs: 5})
				opts := bayesopt.Options{Seed: 4, Goal: goal}
				o := must(bayesopt.New(trainer, opts))
				var checkpoint bayesopt.Checkpoint
				var pending []int
				for step := range 20 {
					a := must(o.Ask(background, bayesopt.Request{Count: 2, Pending: pending, Draws: 8}))
					if second := a.Suggestions[1].Node; step%2 == 1 {
						pending = append(pending, second)
					} else if err := o.Tell(second, truth(second)); err != nil {
						t.Fatal(err)
					}
					if err := o.Tell(a.Suggestions[0].Node, truth(a.Suggestions[0].Node)); err != nil {
						t.Fatal(err)
					}
					if step == 17 {
						checkpoint, _ = o.Checkpoint()
					}
				}
				last := bayesopt.Request{Count: 3, Pending: pending, Draws: 8}
				next := text(t, must(o.Ask(background, last)))
				if e := o.Effort(); e.Trainings < 4 {
					t.Errorf("only %d trainings", e.Trainings)
				}
				if checkpoint.Measurements == 0 {
					t.Fatal("no checkpoint")
				}
				// Again from nothing, by one thread and by three, and from the checkpoint.
				var read bayesopt.Checkpoint
				if err := json.Unmarshal(must(json.Marshal(checkpoint)), &read); err != nil {
					t.Fatal(err)
				}
				for _, c := range []struct {
					threads int
					resume  bool
				}{{1, false}, {3, false}, {2, true}} {
					runtime.GOMAXPROCS(c.threads)
					again := must(bayesopt.New(trainer, opts))
					d := o.Data()
					for k, i := range d.Nodes {
						if err := again.Tell(i, d.Y[k]); err != nil {
							t.Fatal(err)
						}
					}
					if c.resume {
						if err := again.Resume(background, read); err != nil {
							t.Fatal(err)
						}
					}
					if got := text(t, must(again.Ask(background, last))); got != next {
						t.Errorf("%+v:\n%s, want\n%s", c, got, next)
					}
				}
			})
		}
	}
}

// On a star whose leaves all have the mean value, Thompson sampling with random
// features does not prefer the hub more than with the exact kernel: over 1,000
// draws its share is higher by less than five standard errors of the difference.
// Without additional walkers for hubs it would be, because the features would
// then give the hub many times its exact variance.
func TestNoPreferenceForTheHub(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const leaves, seeds = 200, 1000
	var e graph.Edges
	for leaf := uint32(1); leaf <= leaves; leaf++ {
		e.U, e.V = append(e.U, 0), append(e.V, leaf)
	}
	g, _, err := graph.FromEdges(graph.NumberIDs(leaves+1), e, graph.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d := gp.Data{Nodes: all(leaves + 1)[1:21], Y: make([]float64, 20)}
	open := append([]int{0}, all(leaves + 1)[21:]...)
	share := func(p *gp.Posterior) float64 {
		hub := 0.0
		for seed := range uint64(seeds) {
			if must(bayesopt.Thompson{}.Pick(background, p, candidates(leaves+1, open, bayesopt.Limits{}), 1, seed))[0].Node == 0 {
				hub++
			}
		}
		return hub / seeds
	}
	for _, beta := range []float64{2, 6} {
		exact := share(must(model(dense(g), 1, beta, 0.01).Condition(background, d)))
		bound := exact + 5*math.Sqrt(2*exact*(1-exact)/seeds)
		for _, walks := range []int{16, 100} {
			got := share(must(model(grf(g, 10, walks), 1, beta, 0.01).Condition(background, d)))
			t.Logf("β = %g: the hub's share is %.4f by %d walkers, %.4f by the exact kernel", beta, got, walks, exact)
			if got > bound {
				t.Errorf("β = %g, %d walkers: the hub's share is %.4f, by the exact kernel %.4f", beta, walks, got, exact)
			}
		}
		if beta == 2 {
			if got := share(must(model(features(g, 10, 16, 0), 1, beta, 0.01).Condition(background, d))); got < bound {
				t.Errorf("without walkers for hubs their share is %.4f: there is nothing to show", got)
			}
		}
	}
}

// Simple regret of many steps by the exact kernel and by random features, over
// the same seeds: means agree within three standard errors of their difference
// all along.
func TestRegretOfFeaturesAndExactKernelAgree(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	seeds, steps := testkit.Size(3, 6), testkit.Size(40, 200)
	const side = 20
	g := must(graph.Grid(side, side))
	truth := rugged(side)
	top := math.Inf(-1)
	for i := range side * side {
		top = max(top, truth(i))
	}
	regret := func(trainer bayesopt.Trainer, policy bayesopt.Policy, seed uint64) []float64 {
		o := must(bayesopt.New(trainer, bayesopt.Options{Seed: seed, Policy: policy,
			Retrain: bayesopt.Schedule{First: 10, Growth: 1, Drift: -1}}))
		for _, i := range rand.New(rng.New(seed, "start")).Perm(side * side)[:10] {
			if err := o.Tell(i, truth(i)); err != nil {
				t.Fatal(err)
			}
		}
		short, err := o.Run(background, bayesopt.Request{Count: steps}, func(_ context.Context, i int) (float64, error) { return truth(i), nil })
		if err != nil || short != bayesopt.Enough {
			t.Fatal(short, err)
		}
		curve, best := []float64{}, math.Inf(-1)
		for k, y := range o.Data().Y {
			best = max(best, y)
			if k >= 10 {
				curve = append(curve, top-best)
			}
		}
		return curve
	}
	opts := gp.FitOptions{MaxIter: 15, Starts: [][]float64{{1, 4}, {1, 16}}}
	exact, features := bayesopt.Train(dense(g), opts), bayesopt.Train(grf(g, 12, 50), opts)
	var a, b, r [][]float64
	for seed := range uint64(seeds) {
		a = append(a, regret(exact, nil, seed))
		b = append(b, regret(features, nil, seed))
		r = append(r, regret(exact, bayesopt.Random{}, seed))
	}
	moments := func(of [][]float64, step int) (mean, se float64) {
		for _, curve := range of {
			mean += curve[step] / float64(len(of))
		}
		for _, curve := range of {
			se += (curve[step] - mean) * (curve[step] - mean)
		}
		return mean, math.Sqrt(se / float64(len(of)*(len(of)-1)))
	}
	for step := range steps {
		ma, sa := moments(a, step)
		mb, sb := moments(b, step)
		mr, _ := moments(r, step)
		if step%25 == 24 {
			t.Logf("step %3d: exact %.4f ± %.4f, features %.4f ± %.4f, random %.4f", step+1, ma, sa, mb, sb, mr)
		}
		if math.Abs(ma-mb) > 3*math.Hypot(sa, sb)+0.01 {
			t.Errorf("step %d: regret %.4f ± %.4f by the exact kernel, %.4f ± %.4f by features", step+1, ma, sa, mb, sb)
		}
	}
	last, _ := moments(a, steps-1)
	if random, _ := moments(r, steps-1); last > random && steps == 200 {
		t.Errorf("regret %v after %d steps, random search has %v", last, steps, random)
	}
}

func TestConstraints(t *testing.T) {
	t.Parallel()
	const side, n = 6, 36
	g := must(graph.Grid(side, side))
	truth := hill(side)
	k := dense(g)
	budget, nothing := 7.0, 0.0
	costs, groups := make([]float64, n), make([]int, n)
	for i := range n {
		costs[i], groups[i] = 1+float64(i%4), i/side
	}
	told := []int{0, 7, 14, 21, 28, 35}
	for name, policy := range map[string]bayesopt.Policy{
		"thompson": nil, "ei": bayesopt.ExpectedImprovement{}, "learn": bayesopt.VarianceReduction{}, "random": bayesopt.Random{},
	} {
		for _, c := range []struct {
			what    string
			opts    bayesopt.Options
			ask     bayesopt.Request
			want    int
			short   bayesopt.Reason
			checked func(nodes []int) bool
		}{
			{"all", bayesopt.Options{}, bayesopt.Request{Count: 5}, 5, bayesopt.Enough, nil},
			{"everything", bayesopt.Options{}, bayesopt.Request{Count: 50}, n - 6, bayesopt.NoNodesLeft, nil},
			{"allowed", bayesopt.Options{Allowed: []int{0, 3, 5, 9}}, bayesopt.Request{Count: 5}, 3, bayesopt.NoNodesLeft, nil},
			{"repeats", bayesopt.Options{Allowed: []int{0, 3, 5, 9}, Repeats: true}, bayesopt.Request{Count: 5}, 4, bayesopt.NoNodesLeft, nil},
			{"pending", bayesopt.Options{Allowed: []int{3, 5, 9}}, bayesopt.Request{Count: 3, Pending: []int{5}}, 2, bayesopt.NoNodesLeft,
				func(nodes []int) bool { return !slices.Contains(nodes, 5) }},
			{"groups", bayesopt.Options{Limits: bayesopt.Limits{Group: groups, GroupCap: 2}}, bayesopt.Request{Count: 20, Pending: []int{1, 2}}, 10,
				bayesopt.GroupsFull, func(nodes []int) bool {
					count := map[int]int{0: 2}
					for _, i := range nodes {
						if count[groups[i]]++; count[groups[i]] > 2 {
							return false
						}
					}
					return true
				}},
			{"budget", bayesopt.Options{Limits: bayesopt.Limits{Cost: costs}}, bayesopt.Request{Count: 36, Pending: []int{3}, Budget: &budget}, -1,
				bayesopt.BudgetReached, func(nodes []int) bool {
					spent := 0.0
					for _, i := range nodes {
						spent += costs[i]
					}
					return spent <= budget && spent > budget-4
				}},
			{"spent", bayesopt.Options{Limits: bayesopt.Limits{Cost: costs}}, bayesopt.Request{Budget: &nothing}, 0, bayesopt.BudgetReached, nil},
		} {
			c.opts.Policy = policy
			o := must(bayesopt.New(bayesopt.Train(k, gp.FitOptions{}), c.opts))
			for _, i := range told {
				if err := o.Tell(i, truth(i)); err != nil {
					t.Fatal(err)
				}
			}
			a, err := o.Ask(background, c.ask)
			if err != nil {
				t.Fatal(err)
			}
			var nodes []int
			for _, s := range a.Suggestions {
				nodes = append(nodes, s.Node)
				if c.opts.Cost != nil && s.Cost != costs[s.Node] {
					t.Errorf("%s, %s: node %d costs %v", name, c.what, s.Node, s.Cost)
				}
				if !c.opts.Repeats && slices.Contains(told, s.Node) || c.opts.Allowed != nil && !slices.Contains(c.opts.Allowed, s.Node) {
					t.Errorf("%s, %s: node %d is suggested", name, c.what, s.Node)
				}
			}
			if c.want >= 0 && len(nodes) != c.want || a.Short != c.short || c.checked != nil && !c.checked(nodes) {
				t.Errorf("%s, %s: %v, %q", name, c.what, nodes, a.Short)
			}
			if distinct := slices.Compact(slices.Sorted(slices.Values(nodes))); len(distinct) != len(nodes) {
				t.Errorf("%s, %s: %v are not distinct", name, c.what, nodes)
			}
		}
	}
}

// An expensive node needs a higher expected gain than its cheap mirror image.
func TestCheapBeforeDear(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const n = 9 // a path, measured in the middle: i and 8−i are alike
	var e graph.Edges
	for i := range uint32(n - 1) {
		e.U, e.V = append(e.U, i), append(e.V, i+1)
	}
	g, _, err := graph.FromEdges(graph.NumberIDs(n), e, graph.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	costs := make([]float64, n)
	for i := range costs {
		costs[i] = 1
		if i > 4 {
			costs[i] = 3
		}
	}
	p := must(model(dense(g), 1, 2, 0.1).Condition(background, gp.Data{Nodes: []int{4}, Y: []float64{1}}))
	for _, name := range []string{"ei", "ucb", "straddle", "learn", "variance"} {
		policy := must(bayesopt.PolicyNamed(name, bayesopt.Threshold(3), nil))
		for _, l := range []bayesopt.Limits{{}, {Cost: costs}} {
			i := must(policy.Pick(background, p, candidates(n, []int{0, 1, 2, 3, 5, 6, 7, 8}, l), 1, 0))[0].Node
			if i > 4 && l.Cost != nil {
				t.Errorf("%s picks node %d, dearer than its mirror image", name, i)
			}
		}
	}
	// Thompson: the dear side gets some of 2,000 draws, and less than half by more
	// than five standard errors.
	dear := 0
	for seed := range uint64(2000) {
		c := candidates(n, []int{0, 1, 2, 3, 5, 6, 7, 8}, bayesopt.Limits{Cost: costs})
		if must(bayesopt.Thompson{}.Pick(background, p, c, 1, seed))[0].Node > 4 {
			dear++
		}
	}
	if dear == 0 || dear > 888 {
		t.Errorf("the dear side is picked %d times of 2,000", dear)
	}
}

func TestColdStart(t *testing.T) {
	t.Parallel()
	k := dense(must(graph.Grid(4, 4)))
	o := must(bayesopt.New(bayesopt.Train(k, gp.FitOptions{}), options(1)))
	if _, err := o.Update(background); !errors.Is(err, bayesopt.ErrNoModel) {
		t.Errorf("nothing told: %v", err)
	}
	for step := range 8 { // all the same: no model
		a := must(o.Ask(background, bayesopt.Request{Count: 1}))
		if s := a.Suggestions[0]; s.Modelled || s.Why == "" {
			t.Errorf("step %d: %+v", step, s)
		}
		if err := o.Tell(a.Suggestions[0].Node, 2); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Tell(must(o.Ask(background, bayesopt.Request{Count: 1})).Suggestions[0].Node, 3); err != nil {
		t.Fatal(err)
	}
	a := must(o.Ask(background, bayesopt.Request{Draws: 64}))
	if s := a.Suggestions[0]; !s.Modelled || a.Effort.Trainings != 1 || s.SD <= 0 || s.Chance < 0 || s.Chance > 1 || a.Draws != 64 {
		t.Errorf("%+v", a)
	}
}

// Values that contradict the model trigger an early training; values as predicted
// do not.
func TestDrift(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const side = 12
	g := must(graph.Grid(side, side))
	for name, c := range map[string]struct {
		value func(i int, e float64) float64
		drift float64
		want  bool
	}{
		"as before":        {func(i int, e float64) float64 { return 0.3 * e }, 0, false},
		"rough":            {func(i int, e float64) float64 { return 3 * e }, 0, true},
		"rough, unwatched": {func(i int, e float64) float64 { return 3 * e }, -1, false},
	} {
		opts := bayesopt.Options{Policy: bayesopt.HighestVariance{}, Retrain: bayesopt.Schedule{First: 60, Every: 1000, Drift: c.drift}}
		o := must(bayesopt.New(bayesopt.Train(dense(g), gp.FitOptions{}), opts))
		random := rand.New(rng.New(3, "drift"))
		nodes := random.Perm(side * side)
		for r, i := range nodes[:100] {
			v := 0.3 * random.NormFloat64()
			if r >= 60 {
				v = c.value(i, random.NormFloat64())
			}
			if err := o.Tell(i, v); err != nil {
				t.Fatal(err)
			}
		}
		must(o.Update(background))
		at, _ := o.Checkpoint()
		if early := o.Effort().Trainings > 1; early != c.want || early && at.Measurements < 70 {
			t.Errorf("%s: %d trainings, the last at %d", name, o.Effort().Trainings, at.Measurements)
		}
	}
}

func TestTellRefuses(t *testing.T) {
	t.Parallel()
	o := must(bayesopt.New(bayesopt.Train(dense(must(graph.Grid(3, 3))), gp.FitOptions{}), options(1)))
	for _, c := range []struct {
		node  int
		value float64
	}{{-1, 0}, {9, 0}, {1, math.NaN()}, {1, math.Inf(1)}} {
		if err := o.Tell(c.node, c.value); !errors.Is(err, bayesopt.ErrNode) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if err := o.Resume(background, bayesopt.Checkpoint{Measurements: 3}); !errors.Is(err, bayesopt.ErrOptions) {
		t.Errorf("a checkpoint of other measurements: %v", err)
	}
	if d := o.Data(); d.Len() != 0 {
		t.Errorf("%+v", d)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	trainer := bayesopt.Train(dense(must(graph.Grid(2, 2))), gp.FitOptions{})
	for _, o := range []bayesopt.Options{
		{Allowed: []int{4}}, {Allowed: []int{1, 1}},
		{Limits: bayesopt.Limits{Cost: []float64{1}}}, {Limits: bayesopt.Limits{Cost: []float64{1, 0, 1, 1}}},
		{Limits: bayesopt.Limits{Cost: []float64{1, 1, 1, math.NaN()}}}, {Limits: bayesopt.Limits{Group: []int{0, 0, 0, 4}}},
		{Limits: bayesopt.Limits{GroupCap: 2}}, {Goal: "maximise"},
		{Goal: bayesopt.Threshold(math.NaN())}, {Goal: bayesopt.Threshold(math.Inf(1))},
		{Retrain: bayesopt.Schedule{Every: -1}}, {Retrain: bayesopt.Schedule{Growth: math.NaN()}},
	} {
		if _, err := bayesopt.New(trainer, o); !errors.Is(err, bayesopt.ErrOptions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestGoals(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"maximize", "minimize", "learn", "threshold=-2.5"} {
		var g bayesopt.Goal
		if err := json.Unmarshal(must(json.Marshal(text)), &g); err != nil || g.String() != text {
			t.Errorf("%s is read as %v: %v", text, g, err)
		}
	}
	for _, text := range []string{"", "max", "threshold", "threshold=", "threshold=nan", "threshold=1e999", "learn=1"} {
		if g, err := bayesopt.ParseGoal(text); !errors.Is(err, bayesopt.ErrOptions) {
			t.Errorf("%q is read as %v", text, g)
		}
	}
	for _, name := range []string{"thompso", "bfs", "straddle"} {
		if _, err := bayesopt.PolicyNamed(name, bayesopt.Learn, nil); !errors.Is(err, bayesopt.ErrOptions) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The default policy of every goal has a name and suits the goal; policies that
// seek the best node do not suit other goals.
func TestPoliciesThatSuit(t *testing.T) {
	t.Parallel()
	for _, goal := range []bayesopt.Goal{bayesopt.Maximize, bayesopt.Minimize, bayesopt.Learn, bayesopt.Threshold(2)} {
		if named := must(bayesopt.PolicyNamed(goal.PolicyName(), goal, nil)); !reflect.DeepEqual(named, goal.Policy()) {
			t.Errorf("%v: %s is %#v, want %#v", goal, goal.PolicyName(), named, goal.Policy())
		}
		for _, name := range bayesopt.PolicyNames() {
			want := true
			switch name {
			case "thompson", "ei", "ucb":
				want = goal.Seeks()
			case "learn", "variance":
				want = !goal.Seeks()
			case "straddle":
				_, want = goal.Level()
			}
			if goal.Suits(must(bayesopt.PolicyNamed(name, bayesopt.Threshold(2), noEdges{}))) != want {
				t.Errorf("%s suits %v: %v", name, goal, !want)
			}
		}
	}
}

// noEdges is a graph without edges.
type noEdges struct{}

func (noEdges) Row(int) ([]uint32, []float64) { return nil, nil }

// Rounding of sums does not change what a budget buys.
func TestBudgetsRound(t *testing.T) {
	t.Parallel()
	const n = 20
	cost := make([]float64, n)
	for i := range cost {
		cost[i] = 0.1
	}
	for want := range n {
		budget := float64(want) / 10
		limits := bayesopt.Limits{Cost: cost}
		if picks := must(bayesopt.Random{}.Pick(background, nil, must(bayesopt.NewCandidates(n, all(n), limits, &budget)), n,
			1)); len(picks) != want {
			t.Errorf("a budget of %v buys %d nodes of 0.1", budget, len(picks))
		}
		o := must(bayesopt.New(bayesopt.Train(dense(must(graph.Ring(n))), gp.FitOptions{}),
			bayesopt.Options{Policy: bayesopt.Random{}, Limits: limits}))
		if short := must(o.Run(background, bayesopt.Request{Count: n, Budget: &budget},
			func(_ context.Context, i int) (float64, error) { return float64(i), nil })); o.Data().Len() != want || short != bayesopt.BudgetReached {
			t.Errorf("a budget of %v buys %d measurements of 0.1: %q", budget, o.Data().Len(), short)
		}
	}
}

// Minimising a value is the same as maximising its negative.
func TestMinimizeIsMaximizeOfTheOpposite(t *testing.T) {
	t.Parallel()
	const side = 6
	k := dense(must(graph.Grid(side, side)))
	truth := hill(side)
	find := func(goal bayesopt.Goal, toward float64) []int {
		o := must(bayesopt.New(bayesopt.Train(k, gp.FitOptions{}),
			bayesopt.Options{Goal: goal, Policy: must(bayesopt.PolicyNamed("ei", goal, nil)), Seed: 2}))
		if _, err := o.Run(background, bayesopt.Request{Count: 15},
			func(_ context.Context, i int) (float64, error) { return toward * truth(i), nil }); err != nil {
			t.Fatal(err)
		}
		node, value, ok := o.Best()
		if !ok || value != toward*truth(node) {
			t.Errorf("the best is node %d with %v", node, value)
		}
		return o.Data().Nodes
	}
	if up, down := find(bayesopt.Maximize, 1), find(bayesopt.Minimize, -1); !slices.Equal(up, down) {
		t.Errorf("%v up, %v down", up, down)
	}
}

func TestRunStops(t *testing.T) {
	t.Parallel()
	k := dense(must(graph.Grid(2, 3)))
	o := must(bayesopt.New(bayesopt.Train(k, gp.FitOptions{}), options(1)))
	broken := errors.New("broken")
	if _, err := o.Run(background, bayesopt.Request{Count: 3},
		func(context.Context, int) (float64, error) { return 0, broken }); !errors.Is(err, broken) || o.Data().Len() != 0 {
		t.Errorf("%v, %d measurements", err, o.Data().Len())
	}
	short, err := o.Run(background, bayesopt.Request{Count: 100}, func(_ context.Context, i int) (float64, error) { return float64(i), nil })
	if short != bayesopt.NoNodesLeft || err != nil || o.Data().Len() != 6 {
		t.Errorf("%q, %v, %d measurements", short, err, o.Data().Len())
	}
}

// By default hyperparameters are learned at 5 measurements and whenever these have
// grown by a quarter: at 5, 7, 9, 12, 15, 19, 24 and 30.
func TestTrainsByAQuarter(t *testing.T) {
	t.Parallel()
	const side = 6
	o := must(bayesopt.New(bayesopt.Train(dense(must(graph.Grid(side, side))), gp.FitOptions{Fixed: true}),
		bayesopt.Options{Retrain: bayesopt.Schedule{Drift: -1}}))
	truth, last := rugged(side), 0
	var at []int
	for i := range 32 {
		if err := o.Tell(i, truth(i)); err != nil {
			t.Fatal(err)
		}
		if _, err := o.Update(background); err != nil && !errors.Is(err, bayesopt.ErrNoModel) {
			t.Fatal(err)
		}
		if now := o.Effort().Trainings; now > last {
			last, at = now, append(at, i+1)
		}
	}
	if want := []int{5, 7, 9, 12, 15, 19, 24, 30}; !slices.Equal(at, want) {
		t.Errorf("trained at %v, want %v", at, want)
	}
}

// For a threshold, Chance is the probability that the quantity is above the
// level, by its mean and standard deviation.
func TestChanceOfBeingAbove(t *testing.T) {
	t.Parallel()
	const side, level = 6, 0.3
	o := must(bayesopt.New(bayesopt.Train(dense(must(graph.Grid(side, side))), gp.FitOptions{}),
		bayesopt.Options{Goal: bayesopt.Threshold(level), Seed: 1}))
	truth := hill(side)
	for i := 0; i < side*side; i += 3 {
		if err := o.Tell(i, truth(i)); err != nil {
			t.Fatal(err)
		}
	}
	above := 0
	for _, s := range must(o.Ask(background, bayesopt.Request{Count: 12})).Suggestions {
		if want := distuv.UnitNormal.CDF((s.Mean - level) / s.SD); !s.Modelled || s.SD <= 0 || math.Abs(s.Chance-want) > 1e-12 {
			t.Errorf("node %d with %v ± %v is above %v with chance %v, want %v", s.Node, s.Mean, s.SD, level, s.Chance, want)
		}
		if s.Mean > level {
			above++
		}
	}
	if above == 0 || above == 12 {
		t.Errorf("%d of 12 means are above the level", above)
	}
}

// HighestDegree ranks nodes by neighbours per cost.
func TestDegreePerCost(t *testing.T) {
	t.Parallel()
	g := must(graph.BarabasiAlbert(40, 2, 1))
	cost := make([]float64, 40)
	for i := range cost {
		cost[i] = 1 + float64(i%7)
	}
	picks := must(bayesopt.HighestDegree{Graph: g.Adjacency()}.Pick(background, nil, candidates(40, all(40), bayesopt.Limits{Cost: cost}), 40,
		1))
	degree, last := g.Degrees(), math.Inf(1)
	for _, p := range picks {
		rank := float64(degree[p.Node]) / cost[p.Node]
		if rank > last || p.Value != float64(degree[p.Node]) {
			t.Errorf("node %d with %v neighbours for %v comes after %v a unit", p.Node, p.Value, cost[p.Node], last)
		}
		last = rank
	}
	if len(picks) != 40 {
		t.Errorf("%d picks", len(picks))
	}
}
