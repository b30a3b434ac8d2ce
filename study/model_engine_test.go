package study_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/study"
)

// field is a study of a smooth function on a grid.
type field struct {
	*study.Study
	log   study.Log
	graph *graph.Graph
	nodes *graphio.NodeTable
	clock *clock
	ctx   context.Context
	keep  study.CheckpointStore  // nil: none
	value func(node int) float64 // nil: truth
}

const side = 9

// truth is a hill in one corner and a lower one in the other.
func truth(node int) float64 {
	r, c := float64(node/side), float64(node%side)
	return math.Exp(-((r-2)*(r-2)+(c-6)*(c-6))/8) + 0.6*math.Exp(-((r-7)*(r-7)+(c-1)*(c-1))/8)
}

func newField(t testing.TB, nodes *graphio.NodeTable, change func(*study.Settings)) *field {
	t.Helper()
	g, err := graph.Grid(side, side)
	if err != nil {
		t.Fatal(err)
	}
	s := study.Settings{Name: "field", Graph: "g", Seed: 5, Spec: grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion",
		Scales: "one"}, Seed: 1}}
	if change != nil {
		change(&s)
	}
	log := new(study.MemoryLog)
	c := &clock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	if _, err := study.Create(t.Context(), log, s, "", c.now); err != nil {
		t.Fatal(err)
	}
	return (&field{log: log, graph: g, nodes: nodes, clock: c}).restart(t)
}

// restart replays the log with a new engine.
func (f *field) restart(t testing.TB) *field {
	t.Helper()
	g := &field{log: f.log, graph: f.graph, nodes: f.nodes, clock: f.clock, keep: f.keep, value: f.value, ctx: t.Context()}
	var err error
	g.Study, err = study.Open(t.Context(), g.log, study.Options{Now: g.clock.Now, Engine: func(context.Context) (study.Engine, error) {
		o, err := study.NewModelEngine(g.graph, g.nodes, g.Settings())
		if err == nil && g.keep != nil {
			o.UseCheckpoints(g.keep)
		}
		return o, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// ask returns the nodes that are handed out.
func (f *field) ask(t testing.TB, n int) []study.Issued {
	t.Helper()
	a, err := f.Ask(f.ctx, study.AskRequest{Count: n})
	if err != nil {
		t.Fatal(err)
	}
	return a.Trials
}

// measure tells the values of trials.
func (f *field) measure(t testing.TB, trials []study.Issued) {
	t.Helper()
	for _, i := range trials {
		node, _ := f.graph.IDs().Lookup([]byte(i.Node))
		value := truth(node)
		if f.value != nil {
			value = f.value(node)
		}
		if _, err := f.Tell(f.ctx, i.Trial, study.Outcome{Value: value}, ""); err != nil {
			t.Fatal(err)
		}
	}
}

// hard does what happens in a study and returns all that was handed out: batches,
// results out of order, failures, a retraction, an expired lease. It calls
// restart after every step.
func hard(t *testing.T, f *field, restart func(*field) *field) string {
	t.Helper()
	var handed bytes.Buffer
	var open []study.Issued
	for step := range 25 {
		trials := f.ask(t, 1+step%3)
		for _, i := range trials {
			fmt.Fprintln(&handed, i.Trial, i.Node, i.Why)
			if i.Mean != nil {
				fmt.Fprintln(&handed, *i.Mean, *i.SD)
			}
		}
		open = append(open, trials...)
		for len(open) > 3 { // the first is slow
			f.measure(t, open[1:2])
			open = slices.Delete(open, 1, 2)
		}
		var err error
		switch step {
		case 6:
			_, err = f.Tell(f.ctx, open[1].Trial, study.Outcome{Failed: true}, "")
			open = slices.Delete(open, 1, 2)
		case 9:
			_, err = f.Retract(f.ctx, 3, "", "")
		case 12:
			_, err = f.Observe(f.ctx, "", []study.Measurement{{Node: "0", Value: truth(0)}, {Node: "7", Value: truth(7)}}, "", "")
		case 15:
			f.clock.Add(25 * time.Hour)
		case 18:
			f.measure(t, open[:1]) // late
			open = open[1:]
		}
		if err != nil {
			t.Fatal(err)
		}
		f = restart(f)
	}
	return handed.String()
}

// A suggestion is a function of the settings and the events: restarts and the
// number of threads change nothing.
func TestRestarts(t *testing.T) {
	for _, goal := range []bayesopt.Goal{bayesopt.Maximize, bayesopt.Learn, bayesopt.Threshold(0.3)} {
		t.Run(goal.String(), func(t *testing.T) {
			set := func(s *study.Settings) { s.Goal = goal }
			straight := func(f *field) *field { return f }
			want := hard(t, newField(t, nil, set), straight)
			step := 0
			for name, c := range map[string]struct {
				threads int
				restart func(*field) *field
			}{
				"8 threads": {8, straight},
				"1 thread":  {1, straight},
				"restarted at 1 thread": {1, func(f *field) *field {
					if step++; step%6 == 0 {
						return f.restart(t)
					}
					return f
				}},
				"restarted half way at 8 threads": {8, func(f *field) *field {
					if f.Seq() > 30 && f.Seq() < 36 {
						return f.restart(t)
					}
					return f
				}},
			} {
				was := runtime.GOMAXPROCS(c.threads)
				got := hard(t, newField(t, nil, set), c.restart)
				runtime.GOMAXPROCS(was)
				if got != want {
					t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
				}
			}
		})
	}
}

// shelf is a Keeper that counts.
type shelf struct {
	learned    []byte
	kept, read int
	err        error // of reading
}

func (s *shelf) Save(_ context.Context, learned []byte) error {
	s.learned = slices.Clone(learned)
	s.kept++
	return nil
}

func (s *shelf) Load(context.Context) ([]byte, error) {
	s.read++
	return s.learned, s.err
}

// What is kept spares trainings and changes nothing, retractions included.
func TestKeeper(t *testing.T) {
	t.Parallel()
	want := hard(t, newField(t, nil, nil), func(f *field) *field { return f })
	f, s := newField(t, nil, nil), new(shelf)
	f.keep = s
	f = f.restart(t)
	if got := hard(t, f, func(f *field) *field { return f.restart(t) }); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if s.kept < 4 || s.kept > 15 || s.read < 20 {
		t.Errorf("kept %d times and read %d times in 25 steps", s.kept, s.read)
	}
	for _, foreign := range []string{"", "{}", `{"from":"x","checkpoint":{"measurements":9}}`, string(s.learned[:len(s.learned)/2]),
		"cannot be read"} {
		f, g := newField(t, nil, nil), newField(t, nil, nil)
		other := &shelf{learned: []byte(foreign)}
		if foreign == "cannot be read" {
			other.err = errors.New(foreign)
		}
		g.keep = other
		g = g.restart(t)
		for range 3 {
			a, b := f.ask(t, 4), g.ask(t, 4)
			if a[3].Node != b[3].Node {
				t.Errorf("%.20q changed what is suggested", foreign)
			}
			f.measure(t, a)
			g.measure(t, b)
		}
	}
}

// Exported and read again, the model goes on as well.
func TestImportGoesOn(t *testing.T) {
	t.Parallel()
	f := newField(t, nil, nil)
	f.measure(t, f.ask(t, 9))
	f.ask(t, 2)
	var text bytes.Buffer
	if err := study.Export(&text, nil, f.Events(f.ctx, 0)); err != nil {
		t.Fatal(err)
	}
	a, err := study.ReadArchive(&text)
	if err != nil {
		t.Fatal(err)
	}
	log := new(study.MemoryLog)
	if err := a.Write(f.ctx, log); err != nil {
		t.Fatal(err)
	}
	g := (&field{log: log, graph: f.graph, clock: f.clock}).restart(t)
	if got, want := g.ask(t, 4), f.ask(t, 4); !slices.EqualFunc(got, want,
		func(a, b study.Issued) bool { return a.Node == b.Node && *a.Mean == *b.Mean }) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Nodes asked for one by one are no look-alikes: to learn, what is reserved
// counts as known.
func TestReservedNodesCount(t *testing.T) {
	t.Parallel()
	f := newField(t, nil, func(s *study.Settings) { s.Goal = bayesopt.Learn })
	f.measure(t, f.ask(t, 6))
	g := newField(t, nil, func(s *study.Settings) { s.Goal = bayesopt.Learn })
	g.measure(t, g.ask(t, 6))
	batch := f.ask(t, 4)
	for k := range batch {
		if one := g.ask(t, 1); one[0].Node != batch[k].Node {
			t.Errorf("node %d is %s one by one and %s in a batch", k, one[0].Node, batch[k].Node)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	labels := make([]string, side*side)
	nodes := &graphio.NodeTable{Cost: make([]float64, side*side), Allowed: make([]bool, side*side), Group: make([]string, side*side)}
	for i := range labels {
		nodes.Cost[i], nodes.Allowed[i], nodes.Group[i] = 2, i%2 == 0, fmt.Sprint(i%4)
	}
	seven := 7.0
	f := newField(t, nodes, func(s *study.Settings) { s.Budget = &seven })
	a, err := f.Ask(f.ctx, study.AskRequest{Count: 5})
	if err != nil || len(a.Trials) != 3 || a.Short != bayesopt.BudgetReached {
		t.Fatalf("%+v, %v", a, err)
	}
	for _, i := range a.Trials {
		if node, _ := f.graph.IDs().Lookup([]byte(i.Node)); node%2 != 0 || i.Cost != 2 {
			t.Errorf("%+v", i)
		}
	}
	f = newField(t, nodes, func(s *study.Settings) { s.GroupCap = 1 })
	if a, err := f.Ask(f.ctx, study.AskRequest{Count: 5}); err != nil || len(a.Trials) != 2 || a.Short != bayesopt.GroupsFull {
		t.Errorf("%+v, %v", a, err)
	}
	f = newField(t, nodes, func(s *study.Settings) { // in place of the table
		s.Allowed, s.Cost, s.GroupCap = []string{"1", "3", "5"}, map[string]float64{"1": 3}, 1
		s.Group = map[string]string{"1": "g", "3": "g"}
	})
	if a, err := f.Ask(f.ctx, study.AskRequest{Count: 5}); err != nil || len(a.Trials) != 2 {
		t.Errorf("%+v, %v", a, err)
	}
	for name, change := range map[string]func(*study.Settings){
		"allowed": func(s *study.Settings) { s.Allowed = []string{"nowhere"} },
		"cost":    func(s *study.Settings) { s.Cost = map[string]float64{"nowhere": 1} },
		"group":   func(s *study.Settings) { s.GroupCap, s.Group = 1, map[string]string{"nowhere": "g"} },
	} {
		if _, err := newField(t, nil, change).Ask(t.Context(), study.AskRequest{Count: 1}); !errors.Is(err, study.ErrUnknownNode) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := newField(t, nil, func(s *study.Settings) { s.GroupCap = 1 }).Ask(t.Context(), study.AskRequest{Count: 1}); !errors.Is(err,
		study.ErrInvalid) {
		t.Errorf("a cap without groups: %v", err)
	}
	nodes.Cost[4] = math.NaN()
	if _, err := newField(t, nodes, nil).Ask(t.Context(), study.AskRequest{Count: 1}); !errors.Is(err, study.ErrInvalid) {
		t.Errorf("a node without cost: %v", err)
	}
}

func TestSnapshot(t *testing.T) {
	t.Parallel()
	f := newField(t, nil, nil)
	if _, err := f.Predictions(f.ctx); !errors.Is(err, study.ErrNoModel) {
		t.Errorf("nothing measured: %v", err)
	}
	for range 6 {
		f.measure(t, f.ask(t, 5))
	}
	p, err := f.Predictions(f.ctx)
	if err != nil || len(p.Mean) != side*side || len(p.SD) != side*side || p.Measurements != 30 || p.Spec.Family != "diffusion" {
		t.Fatalf("%+v, %v", p, err)
	}
	if again, err := f.Predictions(f.ctx); err != nil || again != p {
		t.Errorf("made twice: %v", err)
	}
	worst := 0.0
	for i, m := range p.Mean {
		worst = max(worst, math.Abs(m-truth(i))/(p.SD[i]+0.05))
	}
	if worst > 5 {
		t.Errorf("predictions are %.1f sd off", worst)
	}
	// The same model as one that is told all at once.
	g := f.restart(t)
	if q, err := g.Predictions(f.ctx); err != nil || !slices.Equal(q.Mean, p.Mean) || !slices.Equal(q.SD, p.SD) {
		t.Errorf("other predictions after a restart: %v", err)
	}
	v, err := f.Calibration(f.ctx)
	if err != nil || len(v.HeldOut) != 30 || !(v.RMSE < v.BaselineRMSE["overall mean"]) {
		t.Errorf("%+v, %v", v, err)
	}
	f.View(func(s *study.State) {
		h, best := s.History(), math.Inf(-1)
		for k, point := range h {
			best = max(best, point.Value)
			if *point.Best != best || k >= 10 && point.Mean == nil {
				t.Errorf("%+v, want best %v", point, best)
			}
		}
		if b, ok := s.Best(); !ok || b.Value != best || best < 0.9 {
			t.Errorf("best %+v of %v", b, best)
		}
	})
	if _, err := f.Retract(f.ctx, 1, "", ""); err != nil {
		t.Fatal(err)
	}
	if less, err := f.Predictions(f.ctx); err != nil || less == p || less.Measurements != 29 {
		t.Errorf("a value less: %v", err)
	}
}

func Example() {
	ctx := context.Background()
	g, _ := graph.Grid(5, 5)
	log := new(study.MemoryLog) // or the Log of a store
	settings, err := study.Settings{Name: "pipes", Graph: "by its hash", Goal: bayesopt.Maximize, Seed: 1}.Complete()
	if err != nil {
		fmt.Println(err)
	}
	if _, err := study.Create(ctx, log, settings, "anna", time.Now()); err != nil {
		fmt.Println(err)
	}
	s, err := study.Open(ctx, log, study.Options{Engine: func(context.Context) (study.Engine, error) {
		return study.NewModelEngine(g, nil, settings)
	}})
	if err != nil {
		fmt.Println(err)
	}
	answer, err := s.Ask(ctx, study.AskRequest{Count: 2, Holder: "ben"})
	if err != nil {
		fmt.Println(err)
	}
	for _, trial := range answer.Trials {
		if _, err := s.Tell(ctx, trial.Trial, study.Outcome{Value: 0.5}, "ben"); err != nil {
			fmt.Println(err)
		}
	}
	s.View(func(st *study.State) {
		fmt.Println(len(st.Records), "measurements,", st.Spent(), "spent,", st.Seq, "events")
	})
	// Output: 2 measurements, 2 spent, 4 events
}

func TestVerify(t *testing.T) {
	t.Parallel()
	f := newField(t, nil, nil)
	hard(t, f, func(f *field) *field { return f })
	engine, err := study.NewModelEngine(f.graph, nil, f.Settings())
	if err != nil {
		t.Fatal(err)
	}
	v, err := study.Verify(f.ctx, f.Events(f.ctx, 0), by(engine))
	if err != nil || int64(v.Events) != f.Seq() || v.Suggestions != 25 {
		t.Errorf("%+v, %v", v, err)
	}
	for what, alter := range map[string]func(study.Event) study.Payload{
		"a mean": func(e study.Event) study.Payload {
			if p, ok := e.Data.(study.Asked); ok && p.Trials[0].Mean != nil {
				p.Trials = slices.Clone(p.Trials)
				mean := *p.Trials[0].Mean + 1e-3
				p.Trials[0].Mean = &mean
				return p
			}
			return nil
		},
		"a value": func(e study.Event) study.Payload {
			if p, ok := e.Data.(study.Told); ok && p.Value != nil {
				value := *p.Value + 0.1
				p.Value = &value
				return p
			}
			return nil
		},
	} {
		altered := func(yield func(study.Event, error) bool) {
			done := false
			for e, err := range f.Events(f.ctx, 0) {
				if p := alter(e); p != nil && !done {
					e.Data, done = p, true
				}
				if !yield(e, err) {
					return
				}
			}
		}
		if _, err := study.Verify(f.ctx, altered, by(engine)); !errors.Is(err, study.ErrCorrupt) {
			t.Errorf("%s was altered: %v", what, err)
		}
	}
	other := f.Settings()
	other.Spec.Family, other.Goal = "matern", bayesopt.Minimize
	if engine, err = study.NewModelEngine(f.graph, nil, other); err != nil {
		t.Fatal(err)
	}
	if _, err := study.Verify(f.ctx, f.Events(f.ctx, 0), by(engine)); !errors.Is(err, study.ErrCorrupt) {
		t.Errorf("by another model: %v", err)
	}
	// One that shares features with another study comes to the same.
	sibling, err := engine.Sibling(nil, f.Settings())
	if err != nil {
		t.Fatal(err)
	}
	if sibling, err = sibling.Sibling(nil, f.Settings()); err != nil {
		t.Fatal(err)
	}
	if v, err := study.Verify(f.ctx, f.Events(f.ctx, 0), by(sibling)); err != nil || v.Suggestions != 25 {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := study.Verify(f.ctx, f.Events(f.ctx, 3), study.Checks{}); !errors.Is(err, study.ErrCorrupt) {
		t.Errorf("from the middle: %v", err)
	}
}
