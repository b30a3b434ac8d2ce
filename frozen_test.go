package grfgp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/bayesopt"
	"grfgp/covariate"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/gpu"
	"grfgp/internal/ranks"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
)

var freeze = flag.Bool("freeze", false, "write testdata/frozen.jsonl from what TestFrozen computes")

const frozenFile = "testdata/frozen.jsonl"

// frozen is what a whole run gave when it was frozen: numbers that a change of the code must not change.
type frozen struct {
	Name   string    `json:"name"`
	Spec   Spec      `json:"spec,omitzero"`   // complete
	State  *gp.State `json:"state,omitempty"` // learned
	LogLik float64   `json:"log_likelihood,omitempty"`
	Mean   []float64 `json:"mean,omitempty"` // at the nodes of frozenNodes,
	SD     []float64 `json:"sd,omitempty"`
	Draw   []float64 `json:"draw,omitempty"` // and a posterior draw there
	Class  []float64 `json:"class,omitempty"`
	Chosen []int     `json:"chosen,omitempty"` // suggestions, one after another
}

// frozenTask is a run: a graph, what was measured on it, and a Spec.
type frozenTask struct {
	name   string
	graph  func() *graph.Graph
	kind   string // of values: empty, count, share, yes-no, duration, positive, student
	every  int    // measured nodes: every so many
	spec   Spec
	given  bool // noise variances, repeats and a known mean
	column bool // covariates
	device bool // on a simulated card
	ranks  int  // 0: one process
	class  gp.ClassMethod
	search bool
	full   bool // takes seconds: in the full suite alone
}

func frozenGraph(make func() (*graph.Graph, error)) func() *graph.Graph {
	return func() *graph.Graph {
		g, err := make()
		if err != nil {
			panic(err)
		}
		return g.Ordered()
	}
}

var (
	frozenRing  = frozenGraph(func() (*graph.Graph, error) { return graph.Ring(120) })
	frozenGrid  = frozenGraph(func() (*graph.Graph, error) { return graph.Grid(12, 15) })
	frozenHubs  = frozenGraph(func() (*graph.Graph, error) { return graph.BarabasiAlbert(260, 2, 3) })
	frozenLone  = frozenGraph(func() (*graph.Graph, error) { return withLone(10, 14, 6) })
	frozenSheet = frozenGraph(func() (*graph.Graph, error) { return graph.Grid(46, 60) })
	frozenWeb   = frozenGraph(func() (*graph.Graph, error) { return graph.BarabasiAlbert(2400, 3, 5) })
	frozenLarge = frozenGraph(func() (*graph.Graph, error) { return graph.Grid(180, 190) })
	frozenIsles = frozenGraph(func() (*graph.Graph, error) { return withLone(180, 190, 9) })
)

// withLone is a grid with some nodes that have no neighbours.
func withLone(r, c, lone int) (*graph.Graph, error) {
	g, err := graph.Grid(r, c)
	if err != nil {
		return nil, err
	}
	e := graph.Edges{W: []float64{}}
	for u := range g.Len() {
		cols, vals := g.Adjacency().Row(u)
		for p, v := range cols {
			if int(v) > u {
				e.U, e.V, e.W = append(e.U, uint32(u)), append(e.V, v), append(e.W, vals[p])
			}
		}
	}
	all, _, err := graph.FromEdges(graph.NumberIDs(g.Len()+lone), e, graph.BuildOptions{})
	return all, err
}

// data returns measurements of a smooth function, and columns of which one has a part in it.
func (k frozenTask) data(g *graph.Graph) (d gp.Data, columns *covariate.Set, err error) {
	n, periods := g.Len(), max(1, len(k.spec.Times))
	random := rand.New(rng.New(11, "frozen"))
	x := make([][]float64, 2)
	for c := range x {
		for range n {
			x[c] = append(x[c], random.NormFloat64())
		}
	}
	if k.column {
		columns, err = covariate.Encode([]covariate.Column{covariate.NewNumbers("load", x[0]), covariate.NewNumbers("other", x[1])}, n,
			covariate.Options{})
		if err != nil {
			return d, nil, err
		}
	}
	d.Nodes = []int{}
	for place := range n * periods {
		if int(uint32(place)*2654435761)%k.every != 0 {
			continue
		}
		i, p := place%n, place/n
		f := math.Sin(float64(i)/float64(n)*9+0.3*float64(p)) + 0.4*math.Cos(float64(i)/7)
		if k.column {
			f += math.Tanh(x[0][i])
		}
		noise := random.NormFloat64()
		y := f + 0.2*noise
		switch k.kind {
		case "count":
			e := 1 + float64(i%5)
			d.Exposure = append(d.Exposure, e)
			y = math.Floor(e*math.Exp(f) + random.Float64())
		case "share":
			e := 4 + float64(i%3)
			d.Exposure = append(d.Exposure, e)
			y = math.Floor(e/(1+math.Exp(-2*f)) + random.Float64()*0.999)
		case "yes-no":
			if y = 0; f+0.5*noise > 0.2 {
				y = 1
			}
		case "duration":
			y = -math.Log(random.Float64()) * math.Exp(f)
		case "positive":
			y = math.Exp(f + 0.3*noise)
		case "student":
			if i%13 == 0 {
				y += 5
			}
		}
		d.Nodes, d.Y = append(d.Nodes, place), append(d.Y, y)
		if k.given {
			d.NoiseVar = append(d.NoiseVar, 0.02+0.03*float64(i%4))
		}
	}
	return d, columns, nil
}

// nodes returns where results are compared: ends, middle, near measurements and far from them.
func (k frozenTask) nodes(g *graph.Graph) []int {
	n := g.Len() * max(1, len(k.spec.Times))
	return []int{0, 1, n / 7, n / 3, n/3 + 1, n / 2, 2*n/3 + 1, 4 * n / 5, n - 2, n - 1}
}

func (k frozenTask) trainer(g *graph.Graph, columns *covariate.Set, spec Spec) (*Trainer, error) {
	spec.Covariates = columns
	if spec.Device = "cpu"; k.device {
		spec.Device = "gpu"
	}
	return newTrainer(g, spec, func() (*gp.Card, error) { return gp.NewCard(gpu.Simulate(gpu.Simulated{}), true), nil })
}

// run does the whole run, with the Spec and the state of the golden file if there are such.
func (k frozenTask) run(ctx context.Context, g *graph.Graph, from *frozen, group *ranks.Group) (f frozen, err error) {
	f.Name = k.name
	d, columns, err := k.data(g)
	if err != nil {
		return f, err
	}
	if k.class >= 0 {
		return f, k.classify(ctx, g, d, columns, &f)
	}
	spec := k.spec
	if from != nil {
		spec = from.Spec
	}
	t, err := k.trainer(g, columns, spec)
	if err != nil {
		return f, err
	}
	if k.search {
		return f, k.suggest(ctx, t, d, &f)
	}
	t.FitTogether(Together{Ranks: group})
	var m *Model
	if from == nil {
		if m, err = t.Fit(ctx, d); err != nil {
			return f, err
		}
		f.LogLik = m.choice.Fit.LogLikelihood
	} else {
		s := &savedModel{Spec: t.spec, State: *from.State, NoiseSD: 1, Nodes: d.Nodes, Y: d.Y, Noise: d.NoiseVar, Exposure: d.Exposure}
		if m, err = t.revive(ctx, s); err != nil {
			return f, err
		}
		own, err := spec.ownData(t.places(), m.data)
		if err != nil {
			return f, err
		}
		if m.posterior, err = m.fitted.Within(1e-10).Condition(ctx, own); err != nil {
			return f, err
		}
	}
	f.Spec = m.spec.anywhere()
	state := m.fitted.State()
	f.State = &state
	nodes := k.nodes(g)
	if k.ranks > 0 {
		return f, k.predictTogether(ctx, m, nodes, group, &f)
	}
	p, err := m.Predict(ctx, nodes)
	if err != nil {
		return f, err
	}
	f.Mean, f.SD = p.Mean, p.SD
	draw, err := m.Sample(ctx, nodes, 1, 5)
	if err == nil {
		f.Draw = mat.Col(nil, 0, draw)
	}
	return f, err
}

// predictTogether predicts all nodes, each rank its own, and keeps some.
func (k frozenTask) predictTogether(ctx context.Context, m *Model, nodes []int, group *ranks.Group, f *frozen) error {
	p, err := m.PredictShare(ctx, NewShare(group, m.of.graph.Nodes()), nil)
	if err != nil {
		return err
	}
	mean, _, err := ranks.Gather(ctx, group, p.Mean)
	if err != nil {
		return err
	}
	sd, _, err := ranks.Gather(ctx, group, p.SD)
	for _, i := range nodes {
		f.Mean, f.SD = append(f.Mean, mean[i]), append(f.SD, sd[i])
	}
	return err
}

func (k frozenTask) classify(ctx context.Context, g *graph.Graph, d gp.Data, columns *covariate.Set, f *frozen) error {
	l := gp.Labels{Nodes: d.Nodes, Classes: 3}
	for _, y := range d.Y {
		c := 0
		switch {
		case y > 0.6:
			c = 2
		case y > -0.3:
			c = 1
		}
		l.Class = append(l.Class, c)
	}
	t, err := k.trainer(g, columns, k.spec)
	if err != nil {
		return err
	}
	c, err := t.Classify(ctx, l, k.class)
	if err != nil {
		return err
	}
	f.LogLik = c.choice.Fit.LogLikelihood
	p, err := c.Probabilities(ctx, k.nodes(g))
	if err == nil {
		f.Class = p.RawMatrix().Data
	}
	return err
}

func (k frozenTask) suggest(ctx context.Context, t *Trainer, d gp.Data, f *frozen) error {
	o, err := t.Optimizer(bayesopt.Options{Seed: 3})
	if err != nil {
		return err
	}
	if err := o.TellAll(d); err != nil {
		return err
	}
	for range 6 {
		nodes, _, err := o.Next(ctx, bayesopt.Request{Count: 1})
		if err != nil {
			return err
		}
		f.Chosen = append(f.Chosen, nodes...)
		if err := o.Tell(nodes[0], math.Sin(float64(nodes[0]))); err != nil {
			return err
		}
	}
	return nil
}

// frozenTasks are all runs: every family, representation, likelihood and composition, both solvers, classes, searches, a
// card and several processes.
func frozenTasks() []frozenTask {
	const none = gp.ClassMethod(-1)
	one := Spec{Expression: Expression{Family: "diffusion", Method: "dense", Scales: "one", Trend: "none", Variance: "natural",
		Laplacian: normalized, Terms: GraphTerm}, Roles: "none", Seed: 1}
	with := func(change func(s *Spec)) Spec {
		s := one
		change(&s)
		return s
	}
	matern := func(nu float64) func(s *Spec) { return func(s *Spec) { s.Family, s.Nu = "matern", nu } }
	var all []frozenTask
	add := func(name string, g func() *graph.Graph, every int, spec Spec, more ...func(k *frozenTask)) {
		k := frozenTask{name: name, graph: g, every: every, spec: spec, class: none}
		for _, m := range more {
			m(&k)
		}
		all = append(all, k)
	}
	method := func(name string, more ...func(s *Spec)) Spec {
		return with(func(s *Spec) {
			s.Method = name
			if name == "grf" || name == "lowrank" {
				s.Hops = 6
			}
			for _, m := range more {
				m(s)
			}
		})
	}
	many, unit := func(s *Spec) { s.Scales = "many" }, func(s *Spec) { s.Variance = "unit" }
	trend, iterative := func(s *Spec) { s.Trend = "degree" }, func(s *Spec) { s.Solver = "iterative" }
	raw, signless := func(s *Spec) { s.Laplacian = "raw" }, func(s *Spec) { s.Laplacian = "signless" }
	free := func(s *Spec) { s.Family, s.Hops = "free", 5 }
	power := func(s *Spec) { s.Family, s.Alpha = "power", []float64{1, 0.6, 0.3, 0.1} }
	covariates := func(s *Spec) { s.Terms = GraphTerm | CovariateTerm }
	values := func(kind string) func(k *frozenTask) {
		return func(k *frozenTask) { k.kind, k.spec.Values = kind, kind }
	}
	column := func(k *frozenTask) { k.column = true }
	given := func(k *frozenTask) { k.given = true }
	device := func(k *frozenTask) { k.device = true }
	full := func(k *frozenTask) { k.full = true }

	for _, name := range []string{"dense", "series", "grf"} {
		add(name+", diffusion", frozenGrid, 3, method(name))
		add(name+", matern 1/2", frozenHubs, 3, method(name, matern(0.5)))
		add(name+", matern 2, unit", frozenHubs, 3, method(name, matern(2), unit))
		add(name+", free", frozenRing, 3, method(name, free))
		add(name+", power", frozenRing, 4, method(name, power))
		add(name+", raw", frozenHubs, 4, method(name, raw))
		add(name+", signless", frozenRing, 2, method(name, signless))
		add(name+", many", frozenGrid, 3, method(name, many))
		add(name+", many, unit, trend", frozenHubs, 3, method(name, many, unit, trend))
		add(name+", lone, trend", frozenLone, 3, method(name, trend))
		add(name+", lone, many", frozenLone, 3, method(name, many))
		add(name+", covariates", frozenGrid, 3, method(name, covariates), column)
	}
	add("lowrank", frozenGrid, 3, method("lowrank", func(s *Spec) { s.Rank = 40 }))
	for _, kind := range []string{"count", "share", "yes-no", "duration", "positive", "student"} {
		add("dense, "+kind, frozenGrid, 2, method("dense"), values(kind))
	}
	add("grf, count, many", frozenHubs, 2, method("grf", many), values("count"))
	add("dense, given noise, known mean", frozenGrid, 3, method("dense", func(s *Spec) { mean := 0.1; s.Mean = &mean }), given)
	add("dense, log", frozenGrid, 3, method("dense", func(s *Spec) { s.Transform = "log" }), func(k *frozenTask) { k.kind = "positive" })
	add("dense, product", frozenGrid, 3, method("dense", func(s *Spec) { s.Terms = GraphTerm | CovariateTerm | ProductTerm }), column)
	add("dense, roles", frozenHubs, 3, method("dense", func(s *Spec) { s.Roles, s.Terms = "auto", GraphTerm|RoleTerm }))
	times := func(s *Spec) { s.Times = []float64{0, 1, 2.5, 4} }
	add("dense, time", frozenRing, 3, method("dense", times))
	add("grf, time, table", frozenRing, 1, method("grf", times))
	add("grf, time, many, trend", frozenLone, 4, method("grf", times, many, trend))
	add("dense, separate", frozenRing, 3, method("dense", times, func(s *Spec) { s.TimeModel = "separate" }))
	add("automatic, grid", frozenGrid, 3, Spec{Seed: 1})
	add("automatic, hubs", frozenHubs, 3, Spec{Seed: 1}, full)

	for _, name := range []string{"series", "grf"} {
		add(name+", iterative", frozenSheet, 2, method(name, iterative))
		add(name+", iterative, many", frozenSheet, 3, method(name, iterative, many))
		add(name+", iterative, unit, trend", frozenWeb, 3, method(name, iterative, unit, trend), full)
		add(name+", iterative, lone", frozenLone, 2, method(name, iterative))
		add(name+", iterative, Fourier", frozenSheet, 4, method(name, iterative, covariates, func(s *Spec) { s.Pairs = 64 }), column, full)
		add(name+", iterative, time", frozenRing, 2, method(name, iterative, times))
		add(name+", iterative, count", frozenSheet, 3, method(name, iterative), values("count"), full)
	}
	add("grf, iterative, given noise", frozenSheet, 3, method("grf", iterative), given)
	add("grf, iterative, card", frozenSheet, 3, method("grf", iterative), device)
	add("grf, iterative, many, card", frozenSheet, 4, method("grf", iterative, many), device)
	add("grf, card", frozenSheet, 6, method("grf", many), device)
	add("large", frozenLarge, 3, method("grf", func(s *Spec) { s.Hops = 3 }), full)
	add("large, many", frozenLarge, 3, method("grf", many, func(s *Spec) { s.Hops = 3 }), full)
	add("large, unit, trend", frozenLarge, 3, method("grf", unit, func(s *Spec) { s.Hops = 3 }), full)
	add("large, lone, many", frozenIsles, 3, method("grf", many, func(s *Spec) { s.Hops = 3 }), full)
	add("large, few", frozenLarge, 300, method("grf", many, func(s *Spec) { s.Hops = 3 }), full)
	for _, n := range []int{2, 3} {
		of := func(k *frozenTask) { k.ranks = n }
		add(fmt.Sprintf("large, %d ranks", n), frozenLarge, 2, method("grf", func(s *Spec) { s.Hops = 3 }), of, full)
		add(fmt.Sprintf("large, many, %d ranks", n), frozenLarge, 2, method("grf", many, func(s *Spec) { s.Hops = 3 }), of, full)
	}
	classes := func(m gp.ClassMethod) func(k *frozenTask) { return func(k *frozenTask) { k.class = m } }
	for m := gp.Dirichlet; int(m) < len(gp.ClassMethodNames()); m++ {
		add("classes, "+m.String(), frozenGrid, 3, method("dense", unit), classes(m))
		add("classes, grf, many, "+m.String(), frozenHubs, 3, method("grf", unit, many), classes(m), full)
	}
	search := func(k *frozenTask) { k.search = true }
	add("search, dense", frozenGrid, 9, Spec{Seed: 1}, search)
	add("search, grf", frozenSheet, 90, method("grf", many), search)
	add("search, large", frozenLarge, 900, method("grf", many, func(s *Spec) { s.Hops = 3 }), search, full)
	return all
}

// TestFrozen compares whole runs with what they gave when testdata/frozen.jsonl was written: at the hyperparameters of that
// time to a billionth of a standard deviation, where systems are solved by factors, and to a millionth, where they
// are solved by iteration to a residual of 1e-10; and learned again, to the accuracy of learning.
func TestFrozen(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	golden := map[string]frozen{}
	if !*freeze {
		text, err := os.ReadFile(frozenFile)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			var f frozen
			if err := json.Unmarshal(line, &f); err != nil {
				t.Fatal(err)
			}
			golden[f.Name] = f
		}
	}
	tasks := frozenTasks()
	made := make([]frozen, len(tasks))
	t.Run("runs", func(t *testing.T) {
		for i, k := range tasks {
			t.Run(k.name, func(t *testing.T) {
				t.Parallel()
				if k.full && !*freeze {
					testkit.Full(t)
				}
				if *freeze {
					made[i] = k.frozen(t)
					return
				}
				want, ok := golden[k.name]
				if !ok {
					t.Fatalf("not in %s: go test -run TestFrozen . -freeze", frozenFile)
				}
				k.compare(t, want)
			})
		}
	})
	if !*freeze || t.Failed() {
		return
	}
	var text bytes.Buffer
	for _, f := range made {
		if err := json.NewEncoder(&text).Encode(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(frozenFile, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// learned is a run from the measurements to the predictions.
func (k frozenTask) learned(t *testing.T) (f frozen) {
	t.Helper()
	g := k.graph()
	run := func(ctx context.Context, group *ranks.Group) error {
		got, err := k.run(ctx, g, nil, group)
		if group.Alone() || group.Rank() == 0 {
			f = got
		}
		return err
	}
	var err error
	if k.ranks > 0 {
		err = ranks.Together(t.Context(), k.ranks, run)
	} else {
		err = run(t.Context(), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// frozen is learned, with the predictions of the state that was learned as compare makes them.
func (k frozenTask) frozen(t *testing.T) frozen {
	t.Helper()
	f := k.learned(t)
	if f.State == nil {
		return f
	}
	again, err := k.run(t.Context(), k.graph(), &f, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.Mean, f.SD, f.Draw = again.Mean, again.SD, again.Draw
	return f
}

func (k frozenTask) compare(t *testing.T, want frozen) {
	exact := want.State != nil && want.State.Solver == gp.Exact
	if want.State != nil {
		g := k.graph()
		got, err := k.run(t.Context(), g, &want, nil)
		if err != nil {
			t.Fatal(err)
		}
		most := 1e-6
		if exact && !k.device {
			most = 1e-9
		}
		for j, sd := range want.SD {
			near(t, fmt.Sprintf("mean %d", j), got.Mean[j], want.Mean[j], most*sd)
			near(t, fmt.Sprintf("sd %d", j), got.SD[j], want.SD[j], most*sd)
			if want.Draw != nil {
				near(t, fmt.Sprintf("draw %d", j), got.Draw[j], want.Draw[j], cmp.Or(1e3*most*sd, most))
			}
		}
	}
	if want.State != nil && !exact && !testkit.IsFull() {
		return // learning takes long
	}
	again := k.learned(t)
	if want.State == nil {
		near(t, "log likelihood", again.LogLik, want.LogLik, 1e-6*math.Abs(want.LogLik))
		for j, p := range want.Class {
			near(t, fmt.Sprintf("probability %d", j), again.Class[j], p, 1e-6)
		}
		if !slices.Equal(again.Chosen, want.Chosen) {
			t.Errorf("suggestions %v, want %v", again.Chosen, want.Chosen)
		}
		return
	}
	if a, b := again.Spec.Expression, want.Spec.Expression; a != b {
		t.Errorf("chose %+v, want %+v", a, b)
		return
	}
	loose := 1e-4
	if !exact {
		loose = 1e-2
	}
	near(t, "log likelihood", again.LogLik, want.LogLik, loose*math.Abs(want.LogLik))
	for j, v := range want.SD {
		near(t, fmt.Sprintf("learned mean %d", j), again.Mean[j], want.Mean[j], 10*loose*v)
		near(t, fmt.Sprintf("learned sd %d", j), again.SD[j], want.SD[j], 10*loose*v)
	}
}

func near(t *testing.T, what string, got, want, most float64) {
	t.Helper()
	if !(math.Abs(got-want) <= most) {
		t.Errorf("%s is %v, want %v: off by %.2g, more than %.2g", what, got, want, math.Abs(got-want), most)
	}
}
