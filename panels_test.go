package grfgp_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/internal/objective"
	"grfgp/internal/rng"
)

// panel is a task of the paper's Bayesian optimisation: find the highest entry of
// a table from 1,000 random ones, by 1,000 more, or 100 on social networks.
type panel struct {
	name  string
	steps int
	hops  int // of the authors' learnable kernel
	task  func(t testing.TB) (*graph.Graph, []float64)
	paper string // final regret of their method, BFS, DFS and random search
}

const panelStart = 1000

func panels() []panel {
	made := func(f func() (*objective.Task, error)) func(testing.TB) (*graph.Graph, []float64) {
		return func(t testing.TB) (*graph.Graph, []float64) {
			task, err := f()
			if err != nil {
				t.Fatal(err)
			}
			return task.Graph, task.Table
		}
	}
	social := func(path string) func(testing.TB) (*graph.Graph, []float64) {
		return func(t testing.TB) (*graph.Graph, []float64) {
			g := readGraph(t, path, graphio.Options{})
			y := make([]float64, g.Len())
			for i, d := range g.Degrees() {
				y[i] = math.Log(float64(max(1, d)))
			}
			return g, standardised(y)
		}
	}
	wind := func(level int) func(testing.TB) (*graph.Graph, []float64) {
		return func(t testing.TB) (*graph.Graph, []float64) {
			k := windTask(t, level, graphio.WeightsIgnore)
			y := make([]float64, k.graph.Len())
			for r, i := range k.train.Nodes {
				y[i] = k.train.Y[r]
			}
			for r, i := range k.test.Nodes {
				y[i] = k.test.Y[r]
			}
			return k.graph, standardised(y)
		}
	}
	return []panel{
		{"a single peak, 1000²", 1000, 1, made(func() (*objective.Task, error) { return objective.SinglePeak(1000) }), ".405 / .487 / .440 / .508"},
		{"five peaks, 1000²", 1000, 1, made(func() (*objective.Task, error) { return objective.FivePeaks(1000) }), ".800 / .705"},
		{"b two peaks, 100²", 1000, 2, made(objective.TwoPeaks), "0 / .155 / .237 / .188"},
		{"c community", 1000, 2, made(objective.Community), ".015 / .035 / .034 / .031"},
		{"d circle", 1000, 1, made(objective.Circle), "0 / .022 / .022 / .050"},
		{"e Enron", 100, 1, social("snap/email-Enron.edges.csv.gz"), "0 / .11 / .29 / .59"},
		{"f Facebook", 100, 1, social("snap/musae_facebook_edges.csv.gz"), "0 / .20 / .49 / .70"},
		{"g Twitter, a stand-in for Twitch", 100, 1, social("snap_substitutes/ego-Twitter_undirected.edges.csv.gz"), ".47 / .48 / .50 / .94 on Twitch"},
		{"h Notre Dame, a stand-in for YouTube", 100, 1, social("snap_substitutes/web-NotreDame_undirected.edges.csv.gz"), "0 / .33 / .33 / 4.6 on YouTube"},
		{"i wind, 1000 hPa", 1000, 4, wind(1000), ".115 / .26 / .26 / .24"},
		{"j wind, 800 hPa", 1000, 4, wind(800), ".035 / .355 / .35 / .36"},
		{"k wind, 500 hPa", 1000, 4, wind(500), "0 / .15 / .15 / .12"},
	}
}

// standardised returns z-scores over all nodes.
func standardised(y []float64) []float64 {
	mean, sd := stat.PopMeanStdDev(y, nil)
	z := make([]float64, len(y))
	for i, v := range y {
		z[i] = (v - mean) / sd
	}
	return z
}

// search returns the regret after the start and after every step, how long the
// steps took together, and what was done.
func search(ctx context.Context, g *graph.Graph, table []float64, spec grfgp.Spec, policy string, retrain bayesopt.Schedule, steps int, seed uint64) ([]float64, bayesopt.Effort, error) {
	retrain.First = panelStart
	o, err := grfgp.NewOptimizer(g, spec, policy, bayesopt.Options{Seed: seed, Retrain: retrain})
	if err != nil {
		return nil, bayesopt.Effort{}, err
	}
	best, top := math.Inf(-1), slices.Max(table)
	tell := func(i int) error {
		best = max(best, table[i])
		return o.Tell(i, table[i])
	}
	for _, i := range rand.New(rng.New(seed, "panel start")).Perm(len(table))[:panelStart] {
		if err := tell(i); err != nil {
			return nil, o.Effort(), err
		}
	}
	regret := []float64{top - best}
	for range steps {
		nodes, short, err := o.Next(ctx, 1)
		if err != nil || len(nodes) == 0 {
			return nil, o.Effort(), fmt.Errorf("nothing to suggest: %q, %w", short, err)
		}
		if err := tell(nodes[0]); err != nil {
			return nil, o.Effort(), err
		}
		regret = append(regret, top-best)
	}
	return regret, o.Effort(), nil
}

// Every panel of Figure 4, by our choices and by the authors' kernel, beside
// searches without a model; a subtest each. GRFGP_SEEDS says how many seeds.
func TestPanelsTable(t *testing.T) {
	full(t)
	seeds := 5
	if n, err := strconv.Atoi(os.Getenv("GRFGP_SEEDS")); err == nil {
		seeds = n
	}
	for _, p := range panels() {
		t.Run(p.name, func(t *testing.T) {
			g, table := p.task(t)
			t.Logf("%d nodes; the paper's method, BFS, DFS, random: %s", g.Len(), p.paper)
			authors := grfgp.Spec{Family: "free", Method: "grf", Scales: "one", Hops: p.hops, Walks: 1000}
			for _, arm := range []struct {
				name, policy string
				spec         grfgp.Spec
				retrain      bayesopt.Schedule
			}{
				{"random", "random", grfgp.Spec{}, bayesopt.Schedule{}},
				{"bfs", "bfs", grfgp.Spec{}, bayesopt.Schedule{}},
				{"dfs", "dfs", grfgp.Spec{}, bayesopt.Schedule{}},
				{"degree", "degree", grfgp.Spec{}, bayesopt.Schedule{}},
				{"ours", "thompson", grfgp.Spec{Family: "diffusion"}, bayesopt.Schedule{Every: 1000, Drift: -1}},
				{"authors' kernel", "thompson", authors, bayesopt.Schedule{Every: 600, Drift: -1}},
			} {
				if only := os.Getenv("GRFGP_ARM"); only != "" && only != arm.name {
					continue
				}
				var last, middle []float64
				start := time.Now()
				var effort bayesopt.Effort
				for seed := range seeds {
					arm.spec.Seed = uint64(seed)
					regret, e, err := search(context.Background(), g, table, arm.spec, arm.policy, arm.retrain, p.steps, uint64(seed))
					if err != nil {
						t.Fatal(err)
					}
					last, middle, effort = append(last, regret[p.steps]), append(middle, regret[p.steps/10]), e
				}
				t.Logf("%s: regret %.3f ± %.3f, after a tenth of the steps %.3f ± %.3f (mean ± standard error of %d seeds: %.3f); %.0f s a seed, the last: training %.0f s, extending %.0f s, picking %.0f s",
					arm.name, mean(last), meanSE(last), mean(middle), meanSE(middle), seeds, last,
					time.Since(start).Seconds()/float64(seeds), effort.Train.Seconds(), effort.Extend.Seconds(), effort.Pick.Seconds())
			}
		})
	}
}

func mean(x []float64) float64 { return stat.Mean(x, nil) }

func meanSE(x []float64) float64 {
	if len(x) < 2 {
		return math.NaN()
	}
	return stat.StdDev(x, nil) / math.Sqrt(float64(len(x)))
}
