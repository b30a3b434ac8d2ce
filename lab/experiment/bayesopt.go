package experiment

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/gp"
	"grfgp/internal/rng"
	"grfgp/kernel"
	"grfgp/lab/dataset"
	"grfgp/replay"
)

// bayesOptimisation is Figure 4.
func bayesOptimisation() *Experiment {
	return &Experiment{
		Name: "bayesopt", Title: "Bayesian optimisation (Figure 4, Table 6)", Version: 5,
		About: `A search for the highest entry of a fixed, standardised table of values at the nodes of a graph, as in Figure 4. 1,000 nodes are measured at
random,
	then 1,000 more are chosen one by one (100 on social networks). Regret is the maximum of the table minus the best value measured. In the authors'
protocol the kernel has free coefficients for as many hops as theirs, is trained at the start and every 600 measurements (wind: 500),
	and the next node is
the best one in a posterior draw (Thompson sampling). Here it is learned by BFGS with exact solves (theirs: 1,000 steps of Adam,
	64 probes, relative residual 0.01, no
preconditioner), and its features have almost none of the noise of theirs,
	so it does not test their estimator. On social networks their noisy walks are run too, with
learned coefficients and with random ones, which are the starting values of theirs. Our
method chooses family, reach, scales and a trend in the degree by likelihood, and trains at the same measurements. All methods,
	with and without a model, start from the same nodes
for a given seed. The expected regret of uniform random draws is exact; the oracle measures nodes in the order of the noise-free function.`,
		Columns: []Column{
			{
				"panel", Key,
				"as in Figure 4, but g and h are stand-ins for g-twitch and h-youtube; five: a task that the authors ran but did not show"},
			{"task", Key, "graph and function"},
			{"arm", Key, "method that chooses nodes"},
			{"seed", Key, "repetition: seed of starting nodes, features and draws"},
			{"nodes", Number, "nodes of the graph"},
			{"start", Number, "nodes measured at random first"},
			{"steps", Number, "nodes chosen"},
			{"regret_start", Number, "in standard deviations of the table"},
			{"regret_tenth", Number, "after a tenth of the steps"},
			{"regret", Number, "after all steps"},
			{"found_at", Number, "steps until the highest node was found; empty: not found"},
			{"trainings", Number, "number of hyperparameter fits"},
			{"seconds", Cost, "whole search, with features"},
			{"train_seconds", Cost, "learning hyperparameters"},
			{"extend_seconds", Cost, "conditioning on new measurements"},
			{"pick_seconds", Cost, "drawing and choosing"},
			{"peak_bytes", Cost, "peak of heap objects"},
		},
		TimeColumns: []string{"seconds"},
		Parts:       bayesoptParts,
		Show:        showBayesopt,
	}
}

// arm is a method that chooses nodes.
type arm struct {
	key, title string
	policy     string // of replay.Run; "" if it is not used
	social     bool   // on social networks only
}

var arms = []arm{
	{"ours", "ours", "thompson", false},
	{"authors", "authors' kernel", "thompson", false},
	{"bfs", "BFS", "bfs", false},
	{"dfs", "DFS", "dfs", false},
	{"random", "random", "random", false},
	{"degree", "highest degree", "degree", true},
	{"walks", "authors' walks", "", true},
	{"untrained", "authors' walks, untrained", "", true},
	{"uniform", "uniform, in expectation", "", false},
	{"oracle", "oracle without noise", "", false},
}

func armNamed(key string) arm {
	return arms[slices.IndexFunc(arms, func(a arm) bool { return a.key == key })]
}

// searchSettings are the settings of a part.
type searchSettings struct {
	Panel, Data, Arm string
	Spec             grfgp.Spec
	Walks, Hops      int  `json:",omitempty"` // of the authors' features
	Untrained        bool `json:",omitempty"` // coefficients stay at their random starting values
	Retrain          bayesopt.Schedule
	Start, Steps     int
	Seed             uint64
}

func bayesoptParts(o Options) []Part {
	store, last := dataset.Default(), &lastTask{}
	var parts []Part
	order := panels(store)
	slices.SortStableFunc(order, func(p, q panel) int { return cmp.Compare(p.turn, q.turn) })
	for _, p := range order {
		if o.Quick && !p.quick {
			continue
		}
		have := p.ready(store)
		for _, a := range arms {
			if a.social && !p.social || a.key == "oracle" && p.data != "" {
				continue
			}
			seeds := o.Repeats(1, 5)
			if a.key == "uniform" || a.key == "oracle" {
				seeds = 1 // nothing is random
			}
			for seed := range seeds {
				c := searchPart(p, a, o, uint64(seed), last)
				c.Ready = have
				parts = append(parts, c)
			}
		}
	}
	return parts
}

func searchPart(p panel, a arm, o Options, seed uint64, last *lastTask) Part {
	s := searchSettings{Panel: p.key, Data: p.data, Arm: a.key, Start: 1000, Steps: p.steps, Seed: o.Seed + seed}
	work := p.work
	if o.Quick {
		s.Start, s.Steps, work = 200, 20, p.work/10
	}
	s.Retrain = bayesopt.Schedule{Every: p.every, Drift: -1}
	switch a.key {
	case "ours":
		s.Spec = grfgp.Spec{Seed: s.Seed}
	case "authors":
		s.Spec = grfgp.Spec{Expression: grfgp.Expression{Family: "free", Method: "grf", Scales: "one", Hops: p.hops, Trend: "none"},
			Walks: p.walks, Seed: s.Seed}
		work /= 5
	case "walks", "untrained":
		s.Walks, s.Hops, s.Untrained = p.walks, p.hops, a.key == "untrained"
		work /= 20
	default:
		work /= 100 // no model
	}
	return Part{Name: searchName(p.key, a.key, int(seed)), Settings: s, Work: work,
		Run: func(ctx context.Context, progress func(done, total int64)) (*Result, error) {
			task, err := last.load(ctx, p)
			if err != nil {
				return nil, err
			}
			row := Row{"panel": p.key, "task": p.title, "arm": a.key, "seed": int(seed), "nodes": task.graph.Len(), "start": s.Start,
				"steps": s.Steps}
			switch a.key {
			case "oracle":
				return oracle(task, s, row), nil
			case "uniform":
				return uniform(ctx, task, s, row)
			case "walks", "untrained":
				return searchWalking(ctx, task, s, row)
			}
			return search(ctx, task, s, a, row, progress)
		}}
}

func searchName(panel, arm string, seed int) string {
	return fmt.Sprintf("%s-%s-seed%d", panel, arm, seed)
}

// search replays one arm with replay.Run.
func search(ctx context.Context, task *searchTask, s searchSettings, a arm, row Row, progress func(done, total int64)) (*Result, error) {
	began, memory := time.Now(), watchMemory()
	g, table, _ := task.ordered()
	policies, err := replay.Named(bayesopt.Maximize, g, a.policy)
	if err != nil {
		return nil, err
	}
	sim, err := replay.Run(ctx, g, table, onProcessor(s.Spec), replay.Options{
		Goal: bayesopt.Maximize, Policies: policies, Start: s.Start, Steps: s.Steps, Seeds: 1, Seed: s.Seed, Retrain: s.Retrain,
		Progress: progress,
	})
	peak := memory()
	if err != nil {
		return nil, err
	}
	first := sim.Replays[0]
	curve := make([]float64, 0, s.Steps+1) // from the last starting node on
	for _, point := range first.Curve[s.Start-1:] {
		curve = append(curve, point.Loss)
	}
	costs(row, began, peak, first.Effort)
	return searchResult(row, curve), nil
}

// searchWalking searches with the authors' walks.
func searchWalking(ctx context.Context, task *searchTask, s searchSettings, row Row) (*Result, error) {
	began, memory := time.Now(), watchMemory()
	curve, effort, err := followWalks(ctx, task, s)
	peak := memory()
	if err != nil {
		return nil, err
	}
	costs(row, began, peak, effort)
	return searchResult(row, curve), nil
}

// followWalks runs Thompson sampling with the authors' features, from the same nodes as other
// searches. The noise of walks adds prior variance that grows with the degree of a node:
// where the value is the degree, that alone may find the highest node, without learning.
func followWalks(ctx context.Context, task *searchTask, s searchSettings) ([]float64, bayesopt.Effort, error) {
	none := bayesopt.Effort{}
	f, err := authorsFeatures(ctx, task.graph, s.Walks, s.Hops, s.Seed)
	if err != nil {
		return nil, none, err
	}
	k, err := kernel.NewGRF(f, kernel.Free{Len: s.Hops})
	if err != nil {
		return nil, none, err
	}
	o, err := bayesopt.New(bayesopt.Train(k, gp.FitOptions{Fixed: s.Untrained, Starts: randomStart(s.Hops, s.Seed)}),
		bayesopt.Options{Goal: bayesopt.Maximize, Seed: s.Seed, Retrain: s.Retrain})
	if err != nil {
		return nil, none, err
	}
	most, best := slices.Max(task.table), math.Inf(-1)
	for _, i := range startOf(task, s) {
		best = max(best, task.table[i])
		if err := o.Tell(i, task.table[i]); err != nil {
			return nil, none, err
		}
	}
	curve := []float64{most - best}
	_, err = o.Run(ctx, bayesopt.Request{Count: s.Steps}, func(_ context.Context, i int) (float64, error) {
		best = max(best, task.table[i])
		curve = append(curve, most-best)
		return task.table[i], nil
	})
	return curve, o.Effort(), err
}

// startOf returns the nodes that all searches of a seed start from. It draws them as
// replay.Run does.
func startOf(task *searchTask, s searchSettings) []int {
	_, _, was := task.ordered()
	random := rand.New(rng.New(s.Seed, "simulate start", 0))
	return at(was, random.Perm(len(was))[:s.Start])
}

// costs sets the cost columns.
func costs(row Row, began time.Time, peak float64, e bayesopt.Effort) {
	row["trainings"] = e.Trainings
	row["seconds"], row["peak_bytes"] = time.Since(began).Seconds(), peak
	row["train_seconds"], row["extend_seconds"], row["pick_seconds"] = e.Train.Seconds(), e.Extend.Seconds(), e.Pick.Seconds()
}

// uniform returns the expected regret of nodes drawn uniformly at random.
func uniform(ctx context.Context, task *searchTask, s searchSettings, row Row) (*Result, error) {
	g, table, _ := task.ordered()
	sim, err := replay.Run(ctx, g, table, onProcessor(grfgp.Spec{}), replay.Options{
		Goal: bayesopt.Maximize, Policies: []replay.Policy{{Name: "random", Policy: bayesopt.Random{}}}, Start: s.Start, Steps: s.Steps, Seeds: 1,
		Seed: s.Seed,
	})
	if err != nil {
		return nil, err
	}
	var curve, sd []float64
	for _, point := range sim.Uniform[s.Start-1:] {
		curve, sd = append(curve, point.Loss), append(sd, point.SD)
	}
	r := searchResult(row, curve)
	r.Arrays["sd"] = sd[len(sd)-1:]
	return r, nil
}

// oracle measures nodes in the order of the noise-free function, without starting nodes.
func oracle(task *searchTask, s searchSettings, row Row) *Result {
	order := allNodes(len(task.truth))
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(task.truth[j], task.truth[i]) })
	most, best := slices.Max(task.table), task.table[order[0]]
	curve := []float64{most - best} // with the maximum of the function measured before the first step
	for _, i := range order[:s.Steps] {
		best = max(best, task.table[i])
		curve = append(curve, most-best)
	}
	row["start"] = 0
	return searchResult(row, curve)
}

// searchResult is the result of a search with the given regret after 0, 1, … steps. Only
// the changes of the curve are stored.
func searchResult(row Row, curve []float64) *Result {
	steps := len(curve) - 1
	row["regret_start"], row["regret_tenth"], row["regret"] = curve[0], curve[steps/10], curve[steps]
	if at := slices.Index(curve, 0); at >= 0 {
		row["found_at"] = at
	}
	r := &Result{Rows: []Row{row}, Arrays: map[string][]float64{"steps": {float64(steps)}}}
	for k, v := range curve {
		if k == 0 || v != curve[k-1] {
			r.Arrays["at"], r.Arrays["regret"] = append(r.Arrays["at"], float64(k)), append(r.Arrays["regret"], v)
		}
	}
	return r
}

// curveOf returns the curve that searchResult stored.
func curveOf(r *Results, part string) []float64 {
	steps, at, regret := r.Array(part, "steps"), r.Array(part, "at"), r.Array(part, "regret")
	if len(steps) == 0 {
		return nil
	}
	curve := make([]float64, 0, int(steps[0])+1)
	for k, next := 0, 0; k <= int(steps[0]); k++ {
		if next < len(at) && int(at[next]) == k {
			next++
		}
		curve = append(curve, regret[next-1])
	}
	return curve
}
