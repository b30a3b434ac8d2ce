package replay_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"testing"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/graph"
	"grfgp/internal/testkit"
	"grfgp/replay"
)

// hill is a ring with one broad hill on it; every tenth value is not known.
func hill(t testing.TB, n int) (*graph.Graph, []float64) {
	t.Helper()
	g, err := graph.Ring(n)
	if err != nil {
		t.Fatal(err)
	}
	truth := make([]float64, n)
	for i := range truth {
		a := 2 * math.Pi * float64(i) / float64(n)
		truth[i] = 3*math.Cos(a-1) + math.Cos(3*a) + 0.05*math.Sin(float64(13*i))
		if i%10 == 7 {
			truth[i] = math.NaN()
		}
	}
	return g, truth
}

func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// named returns policies by their names.
func named(goal bayesopt.Goal, g *graph.Graph, names ...string) []replay.Policy {
	return must(replay.Named(goal, g, names...))
}

func simulate(t testing.TB, g *graph.Graph, truth []float64, spec grfgp.Spec, opts replay.Options) *replay.Result {
	t.Helper()
	s, err := replay.Run(context.Background(), g, truth, spec, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// After 25 measurements of a smooth ring, the expected regret of random search is
// 0.07. That of Thompson sampling must be at most a fifth, with a significant
// difference over eight paired seeds. Replays of random picks must agree with the
// exact expectation within four standard errors.
func TestThompsonBeatsRandom(t *testing.T) {
	t.Parallel()
	g, truth := hill(t, 300)
	s := simulate(t, g, truth, grfgp.Spec{Seed: 1}, replay.Options{
		Goal: bayesopt.Maximize, Policies: named(bayesopt.Maximize, g, "thompson", "random"), Start: 10, Steps: 15, Seeds: 8, Seed: 1,
	})
	expected := s.Uniform[24].Loss
	if e := s.Final("thompson"); e.Mean > expected/5 || e.Seeds != 8 {
		t.Errorf("thompson ends at %+v, uniform draws at %.3g", e, expected)
	}
	if e := s.Gain("thompson", "random"); !e.Clear() || e.Mean <= 0 {
		t.Errorf("thompson is better than random by %+v", e)
	}
	if e := s.GainOverUniform("random"); math.Abs(e.Mean) > 4*e.SE {
		t.Errorf("random is better than uniform draws by %+v", e)
	}
	if s.Best.Value != slices.MaxFunc(truth, func(a, b float64) int {
		if math.IsNaN(a) || a < b {
			return -1
		}
		return 1
	}) || truth[s.Best.Node] != s.Best.Value || s.Best.Nodes != 1 || s.Known != 270 {
		t.Errorf("%+v of %d", s.Best, s.Known)
	}
}

// Policies have the same starting nodes, and measure no node twice and no node
// whose value is unknown; regret never increases.
func TestReplays(t *testing.T) {
	t.Parallel()
	g, truth := hill(t, 60)
	policies := []string{"thompson", "bfs", "degree", "random"}
	s := simulate(t, g, truth, grfgp.Spec{}, replay.Options{
		Goal: bayesopt.Minimize, Policies: named(bayesopt.Minimize, g, policies...), Start: 6, Steps: 20, Batch: 3, Seeds: 2, Seed: 5,
	})
	for r, one := range s.Replays {
		first := s.Replays[r/len(policies)*len(policies)]
		if one.Policy != policies[r%4] || one.Seed != r/4 || !one.Done || len(one.Nodes) != 26 || len(one.Curve) != 26 {
			t.Fatalf("replay %d: %+v", r, one)
		}
		if !slices.Equal(one.Nodes[:6], first.Nodes[:6]) {
			t.Errorf("%s begins with %v, %s with %v", one.Policy, one.Nodes[:6], first.Policy, first.Nodes[:6])
		}
		least := math.Inf(1)
		for k, i := range one.Nodes {
			if math.IsNaN(truth[i]) || slices.Contains(one.Nodes[:k], i) {
				t.Errorf("%s measured node %d in vain", one.Policy, i)
			}
			least = min(least, truth[i]-s.Best.Value)
			if p := one.Curve[k]; p.Measured != k+1 || p.Loss != least {
				t.Errorf("%s after %d: %+v, want %v", one.Policy, k+1, p, least)
			}
		}
	}
	if slices.Equal(s.Replays[0].Nodes[:6], s.Replays[4].Nodes[:6]) {
		t.Error("two seeds begin alike")
	}
	curve := s.Mean("bfs")
	want := (s.Replays[1].Curve[9].Loss + s.Replays[5].Curve[9].Loss) / 2
	if len(curve) != 26 || curve[9].Seeds != 2 || math.Abs(curve[9].Mean-want) > 1e-15 {
		t.Errorf("mean %+v, want %v", curve[9], want)
	}
}

// Uniform is the mean and the standard deviation over all subsets of nodes.
func TestUniformRegret(t *testing.T) {
	t.Parallel()
	g, err := graph.Ring(9)
	if err != nil {
		t.Fatal(err)
	}
	truth := []float64{3, -1, 4, 1, -5, 9, 2, 9, math.NaN()}
	s := simulate(t, g, truth, grfgp.Spec{}, replay.Options{
		Policies: named(bayesopt.Maximize, g, "random"), Start: 2, Steps: 99, Seeds: 1, Count: []int{}, Scatter: []float64{}})
	if len(s.Uniform) != 8 || s.Steps != 6 || s.Best.Nodes != 2 || truth[s.Best.Node] != 9 {
		t.Fatalf("%+v", s)
	}
	for m := 1; m <= 8; m++ {
		sets, mean, square := 0.0, 0.0, 0.0
		for set := range uint(1 << 8) {
			if bits.OnesCount(set) != m {
				continue
			}
			regret := math.Inf(1)
			for i := range 8 {
				if set>>i&1 == 1 {
					regret = min(regret, 9-truth[i])
				}
			}
			sets, mean, square = sets+1, mean+regret, square+regret*regret
		}
		mean, square = mean/sets, square/sets
		p := s.Uniform[m-1]
		if p.Measured != m || math.Abs(p.Loss-mean) > 1e-12 || math.Abs(p.SD-math.Sqrt(square-mean*mean)) > 1e-7 {
			t.Errorf("%d draws: %+v, want %v ± %v", m, p, mean, math.Sqrt(square-mean*mean))
		}
	}
}

var simulations = []struct {
	goal     bayesopt.Goal
	policies []string
	spec     grfgp.Spec
}{
	{bayesopt.Maximize, []string{"thompson", "ei", "dfs"}, grfgp.Spec{Seed: 2}},
	{bayesopt.Learn, []string{"learn", "variance", "random"}, grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Method: "grf",
		Scales: "many"}, Seed: 2}},
	{bayesopt.Threshold(1), []string{"straddle", "random"}, grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Method: "series"},
		Seed: 2}},
}

// Concurrent replays share kernels; neither that nor the number of threads
// changes a bit.
func TestReplayAtAnyNumberOfThreads(t *testing.T) {
	g, truth := hill(t, 40)
	for _, c := range simulations {
		var first []byte
		for _, threads := range []int{1, 4} {
			before := runtime.GOMAXPROCS(threads)
			s := simulate(t, g, truth, c.spec, replay.Options{
				Goal: c.goal, Policies: named(c.goal, g, c.policies...), Start: 6, Steps: 4, Seeds: 2, Seed: 9})
			runtime.GOMAXPROCS(before)
			text, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = text
			} else if string(text) != string(first) {
				t.Errorf("%v by %v: another result with %d threads", c.goal, c.policies, threads)
			}
		}
	}
}

// The scored predictions are those of a separate Optimizer after the same
// measurements.
func TestScores(t *testing.T) {
	t.Parallel()
	g, truth := hill(t, 40)
	for _, c := range simulations[1:] {
		s := simulate(t, g, truth, c.spec, replay.Options{
			Goal: c.goal, Policies: named(c.goal, g, c.policies...), Start: 6, Steps: 8, Seeds: 1, Seed: 9, Looks: 4})
		for _, r := range s.Replays {
			o, err := grfgp.NewOptimizer(g, c.spec, bayesopt.Options{Policy: bayesopt.Random{}, Retrain: bayesopt.Schedule{First: 6}})
			if err != nil {
				t.Fatal(err)
			}
			var rest []int
			for i, v := range truth {
				if !math.IsNaN(v) && !slices.Contains(r.Nodes, i) {
					rest = append(rest, i)
				}
			}
			for _, i := range r.Nodes {
				if err := o.Tell(i, truth[i]); err != nil {
					t.Fatal(err)
				}
			}
			p, err := must(o.Snapshot(context.Background())).Predict(context.Background(), rest)
			if err != nil {
				t.Fatal(err)
			}
			square, sd, wrong := 0.0, 0.0, 0.0
			for k, i := range rest {
				square += (p.Mean[k] - truth[i]) * (p.Mean[k] - truth[i])
				sd += p.SD[k]
				if (p.Mean[k] > 1) != (truth[i] > 1) {
					wrong++
				}
			}
			n := float64(len(rest))
			want := replay.Point{Measured: 14, Loss: math.Sqrt(square / n), SD: sd / n}
			if c.goal != bayesopt.Learn {
				want = replay.Point{Measured: 14, Loss: wrong / float64(s.Known)}
			}
			got := r.Curve[len(r.Curve)-1]
			if got.Measured != 14 || math.Abs(got.Loss-want.Loss) > 1e-9 || math.Abs(got.SD-want.SD) > 1e-9 {
				t.Errorf("%v, %s: %+v, want %+v", c.goal, r.Policy, got, want)
			}
			if len(r.Curve) != 5 || r.Curve[0].Measured != 6 {
				t.Errorf("%v, %s: looks %+v", c.goal, r.Policy, r.Curve)
			}
		}
	}
}

// An interrupted run returns the finished replays.
func TestInterrupted(t *testing.T) {
	g, truth := hill(t, 80)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	ctx, cancel := context.WithCancel(context.Background())
	s, err := replay.Run(ctx, g, truth, grfgp.Spec{}, replay.Options{
		Policies: named(bayesopt.Maximize, g, "random", "bfs"), Start: 5, Steps: 10, Seeds: 3,
		Progress: func(done, total int64) {
			if total != 60 {
				t.Errorf("%d of %d", done, total)
			}
			if done == 34 {
				cancel()
			}
		},
	})
	if !errors.Is(err, context.Canceled) || s == nil {
		t.Fatalf("%v, %v", s, err)
	}
	for r, want := range []int{15, 15, 15, 9, 0, 0} {
		if got := s.Replays[r]; len(got.Nodes) != want || len(got.Curve) != want || got.Done != (want == 15) {
			t.Errorf("replay %d: %d nodes, done: %v; want %d", r, len(got.Nodes), got.Done, want)
		}
	}
	if s.Final("random").Seeds != 1 || s.Gain("bfs", "random").Seeds != 1 || s.Mean("bfs")[14].Seeds != 1 || s.Gain("bfs", "dfs").Seeds != 0 {
		t.Errorf("seeds that one policy alone has finished count: %+v %+v", s.Final("random"), s.Gain("bfs", "random"))
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	g, truth := hill(t, 20)
	fine := replay.Options{Policies: named(bayesopt.Maximize, g, "random"), Start: 2, Steps: 2, Seeds: 1}
	for want, change := range map[string]func(o *replay.Options) []float64{
		"no policy":         func(o *replay.Options) []float64 { o.Policies = []replay.Policy{}; return truth },
		"name of another":   func(o *replay.Options) []float64 { o.Policies = append(o.Policies, o.Policies[0]); return truth },
		"no value":          func(o *replay.Options) []float64 { o.Policies = []replay.Policy{{Name: "luck"}}; return truth },
		"-1 seeds":          func(o *replay.Options) []float64 { o.Seeds = -1; return truth },
		"-1 starting nodes": func(o *replay.Options) []float64 { o.Start = -1; return truth },
		"nothing to choose": func(o *replay.Options) []float64 { o.Start = 18; return truth },
		"19 values for 20":  func(o *replay.Options) []float64 { return truth[1:] },
		"node 3 is infinite": func(o *replay.Options) []float64 {
			odd := slices.Clone(truth)
			odd[3] = math.Inf(1)
			return odd
		},
	} {
		opts := fine
		values := change(&opts)
		if _, err := replay.Run(context.Background(), g, values, grfgp.Spec{}, opts); !errors.Is(err, bayesopt.ErrOptions) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := replay.Named(bayesopt.Maximize, g, "random", "luck"); !errors.Is(err, bayesopt.ErrOptions) {
		t.Errorf("%v", err)
	}
	if _, err := replay.Run(context.Background(), g, truth, grfgp.Spec{Expression: grfgp.Expression{Family: "rbf"}},
		fine); !errors.Is(err, grfgp.ErrSpec) {
		t.Errorf("%v", err)
	}
}

// A gain is tested by Student's t test, and only with enough replays that differ.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		e    replay.Estimate
		want replay.Outcome
	}{
		{replay.Estimate{}, replay.Incomplete},
		{replay.Estimate{Mean: 9, SE: 1, Seeds: 4}, replay.TooFew},
		{replay.Estimate{Seeds: 5}, replay.Equal},
		{replay.Estimate{Mean: 9, Seeds: 5}, replay.Constant},
		{replay.Estimate{Mean: 2.7, SE: 1, Seeds: 5}, replay.Unclear}, // t(4) = 2.776
		{replay.Estimate{Mean: 2.8, SE: 1, Seeds: 5}, replay.Better},
		{replay.Estimate{Mean: -2.8, SE: 1, Seeds: 5}, replay.Worse},
	} {
		if got := c.e.Outcome(); got != c.want {
			t.Errorf("%+v is judged %s, want %s", c.e, got, c.want)
		}
	}
}

func TestEstimateClear(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		e    replay.Estimate
		want bool
	}{
		{replay.Estimate{Mean: 9, Seeds: 1}, false},
		{replay.Estimate{Mean: 2.7, SE: 1, Seeds: 5}, false}, // t is 2.776
		{replay.Estimate{Mean: -2.8, SE: 1, Seeds: 5}, true},
		{replay.Estimate{Mean: 9, SE: 0.1, Seeds: 4}, false}, // too few,
		{replay.Estimate{Mean: 9, Seeds: 50}, false},         // and all the same
		{replay.Estimate{Mean: 2.1, SE: 1, Seeds: 20}, true}, // 2.093
		{replay.Estimate{Seeds: 5}, false},
	} {
		if got := c.e.Clear(); got != c.want {
			t.Errorf("%+v is clear: %v", c.e, got)
		}
	}
}

// If all replays find the best node, the gain is no more certain than with the
// same number of random searches: five successes of five with probability ½ each
// happen once in 32 times.
func TestGainOverUniformIsNeverSure(t *testing.T) {
	t.Parallel()
	s := &replay.Result{Policies: []string{"ei"}, Seeds: 5, Uniform: []replay.Point{{Measured: 1, Loss: 0.5, SD: 0.5}}}
	for seed := range s.Seeds {
		s.Replays = append(s.Replays, replay.Replay{Policy: "ei", Seed: seed, Done: true, Curve: []replay.Point{{Measured: 1}}})
	}
	e := s.GainOverUniform("ei")
	if want := 0.5 / math.Sqrt(5); e.Mean != 0.5 || math.Abs(e.SE-want) > 1e-12 || e.Clear() {
		t.Errorf("%+v, clear: %v; want a standard error of %v", e, e.Clear(), want)
	}
}

// The nodes that a policy measures do not depend on the other policies, even if
// one draws from a series and the other needs variances.
func TestPoliciesDoNotChangeEachOther(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	g, err := graph.BarabasiAlbert(1600, 6, 1)
	if err != nil {
		t.Fatal(err)
	}
	truth := make([]float64, g.Len())
	for i := range truth {
		truth[i] = math.Sin(float64(i) / 50)
	}
	replay := func(policies ...string) map[string][]int {
		s := simulate(t, g, truth, grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Scales: "one"}},
			replay.Options{Policies: named(bayesopt.Maximize, g, policies...), Start: 8, Steps: 4, Seeds: 1})
		nodes := map[string][]int{}
		for _, r := range s.Replays {
			nodes[r.Policy] = r.Nodes
		}
		return nodes
	}
	together := replay("thompson", "ucb", "random")
	for name, nodes := range together {
		if alone := replay(name)[name]; !slices.Equal(alone, nodes) {
			t.Errorf("%s measures %v alone, and %v beside others", name, alone, nodes)
		}
	}
}

// Would suggestions have found the highest node sooner than random picks?
func ExampleRun() {
	g, _ := graph.Grid(9, 9)
	heights := make([]float64, g.Len())
	for i := range heights {
		heights[i] = 9 - math.Hypot(float64(i%9)-6, float64(i/9)-3)
	}
	s, err := replay.Run(context.Background(), g, heights, grfgp.Spec{}, replay.Options{
		Goal: bayesopt.Maximize, Start: 5, Steps: 20, Seeds: 8,
	})
	if err != nil {
		panic(err)
	}
	gain := s.Gain("thompson", "random")
	fmt.Printf("thompson misses the best by %.1f, and beats random: %v\n", s.Final("thompson").Mean, gain.Mean > 0 && gain.Clear())
	// Output: thompson misses the best by 0.0, and beats random: true
}
