package grfgp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/crossval"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
	"grfgp/replay"
)

// readAgain returns readings of noise 1 of every second node of a ring of 120,
// each node read 1, 4 or 16 times, and their means.
func readAgain(t testing.TB, seed uint64) (g *graph.Graph, rows, means gp.Data) {
	t.Helper()
	g, err := graph.Ring(120)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rng.New(seed, "read again"))
	for i := 0; i < g.Len(); i += 2 {
		for range []int{1, 4, 16}[random.IntN(3)] { // no two nodes have the same around them
			rows.Nodes = append(rows.Nodes, i)
			rows.Y = append(rows.Y, 30+2*math.Sin(2*math.Pi*float64(i)/40)+random.NormFloat64())
		}
	}
	random.Shuffle(rows.Len(), func(a, b int) {
		rows.Nodes[a], rows.Nodes[b] = rows.Nodes[b], rows.Nodes[a]
		rows.Y[a], rows.Y[b] = rows.Y[b], rows.Y[a]
	})
	return g, rows, rows.Pool()
}

// sameNumbers compares to a relative 1e-6: what is learned is the same to rounding,
// and an optimum is flat.
func sameNumbers(t *testing.T, what string, got, want []float64) {
	t.Helper()
	sameWithin(t, what, got, want, 1e-6)
}

func sameWithin(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for k := range want {
		if !(math.Abs(got[k]-want[k]) <= tol*max(1, math.Abs(want[k]))) {
			t.Fatalf("%s: number %d is %v, want %v", what, k, got[k], want[k])
		}
	}
}

// A model, including the chosen kernel, is the same whether repeated measurements
// are given one by one or as their mean, and it is saved with their counts.
func TestFitOfRepeats(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	ctx := context.Background()
	g, rows, means := readAgain(t, 1)
	for _, spec := range []grfgp.Spec{{}, {Expression: grfgp.Expression{Method: "grf", Family: "diffusion", Scales: "one"},
		Solver: "iterative"}} {
		one, err := grfgp.Fit(ctx, g, rows, spec)
		if err != nil {
			t.Fatal(err)
		}
		other, err := grfgp.Fit(ctx, g, means, spec)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := one.Choice(), other.Choice(); fmt.Sprint(a.Family, a.Why) != fmt.Sprint(b.Family, b.Why) {
			t.Errorf("by readings %v, by means %v", a, b)
		}
		want, err := one.Predict(ctx, g.Nodes())
		if err != nil {
			t.Fatal(err)
		}
		got, err := other.Predict(ctx, g.Nodes())
		if err != nil {
			t.Fatal(err)
		}
		// Means are rounded in another order, and learning stops by a tolerance where
		// the likelihood is flat; alternatives are as far from there as half a nat is.
		sameWithin(t, "mean", got.Mean, want.Mean, 1e-4)
		sameWithin(t, "sd", got.SD, want.SD, 5e-3)
		// Of some 400 readings at 60 nodes; its standard error is 1/√(2·360) = 3.7 %.
		if math.Abs(one.NoiseSD()-1) > 0.15 || math.Abs(other.NoiseSD()-one.NoiseSD()) > 2e-3 {
			t.Errorf("noise %v by readings, %v by means; it is 1", one.NoiseSD(), other.NoiseSD())
		}
		for _, m := range []*grfgp.Model{one, other} {
			var file bytes.Buffer
			if err := m.Save(&file); err != nil {
				t.Fatal(err)
			}
			again, err := grfgp.Load(ctx, &file, g)
			if err != nil {
				t.Fatal(err)
			}
			p, err := again.Predict(ctx, g.Nodes())
			if err != nil {
				t.Fatal(err)
			}
			q, err := m.Predict(ctx, g.Nodes())
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(p) != fmt.Sprint(q) || fmt.Sprint(again.Data()) != fmt.Sprint(m.Data()) {
				t.Error("a model is not the same after loading")
			}
		}
	}
}

// A file of another version is refused with advice.
func TestModelOfAnotherVersion(t *testing.T) {
	t.Parallel()
	g, _ := ring()
	_, err := grfgp.Load(context.Background(), strings.NewReader("grfgp-model 1 0123abcd\n{}\n"), g)
	if !errors.Is(err, grfgp.ErrFile) || !strings.Contains(err.Error(), `"grfgp-model 1"`) ||
		!strings.Contains(err.Error(), "fit and save the model again") {
		t.Error(err)
	}
}

// With given standard deviations a new measurement has noise too: their root mean
// square.
func TestNoiseOfGivenSDs(t *testing.T) {
	t.Parallel()
	g, d := ring()
	for k := range d.Nodes {
		d.NoiseVar = append(d.NoiseVar, []float64{0.01, 0.03}[k%2])
	}
	d.Nodes, d.Y, d.NoiseVar = d.Nodes[:14], d.Y[:14], d.NoiseVar[:14]
	m, err := grfgp.Fit(context.Background(), g, d, grfgp.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	if want := math.Sqrt(0.02); math.Abs(m.NoiseSD()-want) > 1e-9 {
		t.Errorf("noise %v, want %v", m.NoiseSD(), want)
	}
}

// Held-out values are compared with intervals of the right noise: that of a mean
// of n measurements is 1/√n of that of one. Over 10 seeds of 60 nodes 95 %
// intervals have the right coverage, within 3 binomial standard errors,
// 3·√(0.95·0.05/600) = 2.7 %. The quick suite has two seeds, 6.0 %, and compares one in
// ten of the values held out alone with a fit to the others.
func TestValidateMeans(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	seeds := testkit.Size(2, 10)
	ctx := context.Background()
	inside := 0.0
	for seed := range uint64(seeds) {
		g, _, means := readAgain(t, seed)
		spec := grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Scales: "one"}}
		opts := crossval.Options{Folds: means.Len(), Scheme: crossval.Scattered, ChooseAgain: true}
		if seed > 0 {
			opts.Folds = 10
		}
		v, err := crossval.Validate(ctx, g, means, spec, opts)
		if err != nil {
			t.Fatal(err)
		}
		inside += v.Coverage.At(0.95) * float64(len(v.HeldOut)) / float64(60*seeds)
		if seed > 0 {
			continue
		}
		for r, l := range v.HeldOut { // each in a fold of its own
			if r%testkit.Size(10, 1) > 0 {
				continue
			}
			k := slices.Index(means.Nodes, l.Node)
			rest := slices.Delete(g.Nodes()[:means.Len()], k, k+1)
			m, err := grfgp.Fit(ctx, g, means.Select(rest), spec)
			if err != nil {
				t.Fatal(err)
			}
			p, err := m.Predict(ctx, []int{l.Node})
			if err != nil {
				t.Fatal(err)
			}
			want := math.Hypot(p.SD[0], m.NoiseSD()/math.Sqrt(float64(means.Count[k])))
			sameNumbers(t, fmt.Sprintf("node %d, left out", l.Node), []float64{l.Mean, l.SD}, []float64{p.Mean[0], want})
		}
	}
	if math.Abs(inside-0.95) > 3*math.Sqrt(0.95*0.05/float64(60*seeds)) {
		t.Errorf("95 %% intervals hold %.1f %% of left-out means", 100*inside)
	}
}

// Suggestions, predictions and validation from means are those from all
// measurements one by one; a restart from a checkpoint changes nothing.
func TestTellAll(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g, rows, means := readAgain(t, 2)
	spec := grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Scales: "one"}}
	start := func(d gp.Data) *grfgp.Optimizer {
		t.Helper()
		o, err := grfgp.NewOptimizer(g, spec, bayesopt.Options{
			Goal: bayesopt.Learn, Retrain: bayesopt.Schedule{First: d.Len() - 1, Every: 1000, Drift: -1}})
		if err != nil {
			t.Fatal(err)
		}
		if err := o.TellAll(d.Slice(0, d.Len()-1)); err != nil {
			t.Fatal(err)
		}
		if _, err := o.Snapshot(ctx); err != nil { // trains before the last one is told
			t.Fatal(err)
		}
		if err := o.TellAll(d.Slice(d.Len()-1, d.Len())); err != nil {
			t.Fatal(err)
		}
		return o
	}
	// The last node has one reading in both.
	last := slices.Index(means.Count, 1)
	moveLast := func(d gp.Data, k int) gp.Data {
		var order []int
		for r := range d.Nodes {
			if r != k {
				order = append(order, r)
			}
		}
		return d.Select(append(order, k))
	}
	rows = moveLast(rows, slices.Index(rows.Nodes, means.Nodes[last]))
	means = moveLast(means, last)
	a, b := start(rows), start(means)
	if d := b.Data(); fmt.Sprint(d) != fmt.Sprint(means) {
		t.Errorf("told %v, want %v", d, means)
	}
	first, err := a.Ask(ctx, bayesopt.Request{Count: 3})
	if err != nil {
		t.Fatal(err)
	}
	second, err := b.Ask(ctx, bayesopt.Request{Count: 3})
	if err != nil {
		t.Fatal(err)
	}
	for k, s := range first.Suggestions {
		u := second.Suggestions[k]
		if s.Node != u.Node {
			t.Errorf("suggestion %d is node %d by readings, %d by means", k, s.Node, u.Node)
		}
		sameNumbers(t, "suggestion", []float64{u.Mean, u.SD, u.Value}, []float64{s.Mean, s.SD, s.Value})
	}
	known, err := b.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	v, err := crossval.ValidateSnapshot(ctx, known, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range v.HeldOut {
		k := slices.Index(means.Nodes, l.Node)
		if least := known.NoiseSD() / math.Sqrt(float64(means.Count[k])); l.SD <= least || means.Count[k] == 16 && l.SD > known.NoiseSD() {
			t.Errorf("the mean of %d readings is predicted with sd %v, where one has noise %v", means.Count[k], l.SD, known.NoiseSD())
		}
	}
	kept, ok := b.Checkpoint()
	if !ok {
		t.Fatal("nothing was trained")
	}
	c, err := b.Sibling(bayesopt.Options{Goal: bayesopt.Learn, Retrain: bayesopt.Schedule{First: means.Len() - 1, Every: 1000, Drift: -1}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.TellAll(means); err != nil {
		t.Fatal(err)
	}
	if err := c.Resume(ctx, kept); err != nil {
		t.Fatal(err)
	}
	third, err := c.Ask(ctx, bayesopt.Request{Count: 3})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(third.Suggestions) != fmt.Sprint(second.Suggestions) {
		t.Errorf("after a restart %v, before %v", third.Suggestions, second.Suggestions)
	}
}

func TestTellAllRefuses(t *testing.T) {
	t.Parallel()
	g, _ := ring()
	o, err := grfgp.NewOptimizer(g, grfgp.Spec{}, bayesopt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.TellAll(gp.Data{Nodes: []int{3}, Y: []float64{1}, Count: []int{2}, Scatter: []float64{1}}); err != nil {
		t.Fatal(err)
	}
	for what, d := range map[string]gp.Data{
		"node 60 of 60":          {Nodes: []int{1, 60}, Y: []float64{1, 2}},
		"is NaN":                 {Nodes: []int{1}, Y: []float64{math.NaN()}},
		"mean of 0 measurements": {Nodes: []int{1}, Y: []float64{1}, Count: []int{0}},
		"noise variances":        {Nodes: []int{1}, Y: []float64{1}, NoiseVar: []float64{1}},
		"the scatter of":         {Nodes: []int{1}, Y: []float64{1}, Count: []int{2}},
		"1 nodes and 2 values":   {Nodes: []int{1}, Y: []float64{1, 2}},
		"1 nodes and 2 scatter":  {Nodes: []int{1}, Y: []float64{1}, Scatter: []float64{0, 0}},
	} {
		if err := o.TellAll(d); !errors.Is(err, bayesopt.ErrNode) || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want %q in it", err, what)
		}
	}
	if d := o.Data(); d.Len() != 1 {
		t.Errorf("told %v", d)
	}
}

// A replay uses the counts of means: its final predictions are those of an
// Optimizer that was told the counts, not of one that was not.
func TestSimulateMeans(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g, _, means := readAgain(t, 3)
	truth, count, scatter := make([]float64, g.Len()), make([]int, g.Len()), make([]float64, g.Len())
	for i := range truth {
		truth[i] = math.NaN()
	}
	for k, i := range means.Nodes {
		truth[i], count[i], scatter[i] = means.Y[k], means.Count[k], means.Scatter[k]
	}
	spec := grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Scales: "one"}}
	retrain := bayesopt.Schedule{First: 30, Every: 1000, Drift: -1}
	opts := replay.Options{Goal: bayesopt.Learn, Policies: []replay.Policy{{Name: "random", Policy: bayesopt.Random{}}}, Start: 30, Steps: 10,
		Seeds: 1, Retrain: retrain, Count: count, Scatter: scatter}
	sim, err := replay.Run(ctx, g, truth, spec, opts)
	if err != nil {
		t.Fatal(err)
	}
	only := sim.Replays[0]
	last := only.Curve[len(only.Curve)-1]
	sd := func(counts bool) (mean float64) {
		o, err := grfgp.NewOptimizer(g, spec, bayesopt.Options{Policy: bayesopt.Random{}, Goal: bayesopt.Learn, Retrain: retrain})
		if err != nil {
			t.Fatal(err)
		}
		rows := make([]int, len(only.Nodes))
		for r, i := range only.Nodes {
			rows[r] = slices.Index(means.Nodes, i)
		}
		d := means.Select(rows)
		if !counts {
			d.Count, d.Scatter = nil, nil
		}
		if err := o.TellAll(d); err != nil {
			t.Fatal(err)
		}
		var rest []int
		for _, i := range means.Nodes {
			if !slices.Contains(only.Nodes, i) {
				rest = append(rest, i)
			}
		}
		p, err := must(o.Snapshot(ctx)).Predict(ctx, rest)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range p.SD {
			mean += v / float64(len(rest))
		}
		return mean
	}
	sameNumbers(t, "mean sd in the end", []float64{last.SD}, []float64{sd(true)})
	if other := sd(false); math.Abs(other/last.SD-1) < 0.05 {
		t.Errorf("mean sd %v, and without counts %v: the test tells nothing", last.SD, other)
	}
	opts.Count = count[:3]
	if _, err := replay.Run(ctx, g, truth, spec, opts); !errors.Is(err, bayesopt.ErrOptions) {
		t.Errorf("3 counts: %v", err)
	}
}

// One measurement is enough for predictions if the mean and the noise are known,
// with every method; otherwise the error says what is missing. The sd there is just below that of
// the noise; that of 256 draws has a standard error of 4.4 %.
func TestFitOfOneMeasurement(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g, _ := ring()
	d := gp.Data{Nodes: []int{7}, Y: []float64{13}}
	mean, noise := 10.0, 0.5
	for _, spec := range []grfgp.Spec{{}, {Expression: grfgp.Expression{Method: "series"}}, {Expression: grfgp.Expression{Method: "grf"}},
		{Expression: grfgp.Expression{Method: "lowrank"}}, {Expression: grfgp.Expression{Scales: "many"}},
		{Expression: grfgp.Expression{Family: "free", Method: "grf"}}, {Expression: grfgp.Expression{Method: "grf"}, Solver: "iterative"}} {
		if _, err := grfgp.Fit(ctx, g, d, spec); !errors.Is(err, gp.ErrData) ||
			!strings.Contains(err.Error(), "give both the mean and the noise") {
			t.Errorf("%+v: %v", spec, err)
		}
		spec.Mean, spec.NoiseSD = &mean, &noise
		m, err := grfgp.Fit(ctx, g, d, spec)
		if err != nil {
			t.Errorf("%+v: %v", spec, err)
			continue
		}
		p, err := m.Predict(ctx, []int{7, 37})
		if err != nil {
			t.Fatal(err)
		}
		if !(p.Mean[0] > 11 && p.Mean[0] < 13 && p.Mean[1] >= mean-0.5 && p.Mean[1] < p.Mean[0]) ||
			!(p.SD[0] > 0 && p.SD[0] < 1.15*noise && p.SD[1] > 2*p.SD[0]) {
			t.Errorf("%+v: %v ± %v there, %v ± %v afar", spec, p.Mean[0], p.SD[0], p.Mean[1], p.SD[1])
		}
	}
}
