package study_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/study"
)

// classAt is the class of a node of the field: three vertical stripes.
func classAt(node int) string {
	return []string{"forest", "meadow", "water"}[node%side*3/side]
}

func newClasses(t testing.TB, change func(*study.Settings)) *field {
	return newField(t, nil, func(s *study.Settings) {
		s.Goal, s.Labels, s.Spec.Roles = bayesopt.Learn, true, "none"
		if change != nil {
			change(s)
		}
	})
}

// label tells the classes of trials.
func (f *field) label(t testing.TB, trials []study.Issued) {
	t.Helper()
	for _, i := range trials {
		node, _ := f.graph.IDs().Lookup([]byte(i.Node))
		if _, err := f.Tell(f.ctx, i.Trial, study.Outcome{Class: classAt(node)}, ""); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSettingsOfClasses(t *testing.T) {
	t.Parallel()
	good := study.Settings{Name: "a", Graph: "g", Goal: bayesopt.Learn, Classes: []string{"x", "y"}}
	if s, err := good.Complete(); err != nil || !s.Labels {
		t.Fatalf("%+v, %v", s, err)
	}
	for name, change := range map[string]func(*study.Settings){
		"a goal of values":   func(s *study.Settings) { s.Goal = bayesopt.Maximize },
		"a policy of values": func(s *study.Settings) { s.Policy = "thompson" },
		"a kind of values":   func(s *study.Settings) { s.Spec.Values = "count" },
		"a transform":        func(s *study.Settings) { s.Spec.Transform = "log" },
		"a trend":            func(s *study.Settings) { s.Spec.Trend = "degree" },
		"natural variance":   func(s *study.Settings) { s.Spec.Variance = "natural" },
		"repeats":            func(s *study.Settings) { s.Repeats = true },
		"one class":          func(s *study.Settings) { s.Classes = []string{"x"} },
		"no class":           func(s *study.Settings) { s.Classes = []string{} },
		"a class twice":      func(s *study.Settings) { s.Classes = []string{"x", "y", "x"} },
		"an empty name":      func(s *study.Settings) { s.Classes = []string{"x", ""} },
		"blanks":             func(s *study.Settings) { s.Classes = []string{"x", " y"} },
		"a control":          func(s *study.Settings) { s.Classes = []string{"x", "y\x1b"} },
		"too long":           func(s *study.Settings) { s.Classes = []string{"x", strings.Repeat("y", study.MaxID+1)} },
		"too many":           func(s *study.Settings) { s.Classes = manyClasses(study.MaxClasses + 1) },
	} {
		s := good
		change(&s)
		if _, err := s.Complete(); !errors.Is(err, study.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, policy := range []string{"", "random"} {
		s := good
		s.Policy = policy
		if s, err := s.Complete(); err != nil || s.UsesModel() != (policy == "") {
			t.Errorf("policy %q: %v", policy, err)
		}
	}
}

func manyClasses(n int) (all []string) {
	for k := range n {
		all = append(all, fmt.Sprint("class ", k))
	}
	return all
}

// A class in place of a value, and nothing else, is what a study of classes takes.
func TestResultsOfClasses(t *testing.T) {
	t.Parallel()
	for _, fixed := range [][]string{nil, {"water", "forest", "meadow"}} {
		f := newClasses(t, func(s *study.Settings) { s.Classes = fixed })
		trial := f.ask(t, 1)[0].Trial
		for _, o := range []study.Outcome{{Value: 1}, {}, {Class: "water", Value: 1}, {Class: "water", Exposure: 2}, {Class: " water"},
			{Class: strings.Repeat("w", study.MaxID+1)}} {
			if _, err := f.Tell(f.ctx, trial, o, ""); !errors.Is(err, study.ErrInvalid) {
				t.Errorf("told %+v: %v", o, err)
			}
			m := study.Measurement{Node: "0", Value: o.Value, Exposure: o.Exposure, Class: o.Class}
			if _, err := f.Observe(f.ctx, "", []study.Measurement{m}, "", ""); !errors.Is(err, study.ErrInvalid) {
				t.Errorf("observed %+v: %v", m, err)
			}
		}
		if _, err := f.Tell(f.ctx, trial, study.Outcome{Value: 1}, ""); !errors.Is(err, study.ErrKind) {
			t.Errorf("a value: %v", err)
		}
		_, err := f.Observe(f.ctx, "", []study.Measurement{{Node: "0", Class: "sand"}}, "", "")
		if known := fixed == nil; known != (err == nil) || !known && !errors.Is(err, study.ErrKind) {
			t.Errorf("a class of no list, with %v: %v", fixed, err)
		}
		told, err := f.Tell(f.ctx, trial, study.Outcome{Class: "water"}, "anna")
		if err != nil || told.Class != "water" || told.Value != nil || told.State != study.TrialDone {
			t.Fatalf("%+v, %v", told, err)
		}
		if _, err := f.Tell(f.ctx, trial, study.Outcome{Class: "water"}, "anna"); err != nil {
			t.Errorf("told again: %v", err)
		}
		if _, err := f.Tell(f.ctx, trial, study.Outcome{Class: "meadow"}, "anna"); !errors.Is(err, study.ErrConflict) ||
			!strings.Contains(err.Error(), `"water"`) {
			t.Errorf("told otherwise: %v", err)
		}
		if _, err := f.Retract(f.ctx, told.Number, "wrong", "anna"); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Tell(f.ctx, trial, study.Outcome{Class: "meadow"}, "anna"); err != nil {
			t.Errorf("told anew: %v", err)
		}
		var now, again []study.ClassCount
		f.View(func(s *study.State) { now = s.Classes() })
		f.restart(t).View(func(s *study.State) { again = s.Classes() })
		want := []study.ClassCount{{"sand", 1}, {"meadow", 1}}
		if fixed != nil {
			want = []study.ClassCount{{"water", 0}, {"forest", 0}, {"meadow", 1}}
		}
		if !slices.Equal(now, want) || !slices.Equal(again, want) {
			t.Errorf("classes %v, after a restart %v; want %v", now, again, want)
		}
	}
	f := newField(t, nil, nil)
	if _, err := f.Observe(f.ctx, "", []study.Measurement{{Node: "0", Class: "water"}}, "", ""); !errors.Is(err, study.ErrKind) {
		t.Errorf("a class in a study of values: %v", err)
	}
}

// A list of classes may grow, but not lose a class that was told.
func TestChangeClasses(t *testing.T) {
	t.Parallel()
	f := newClasses(t, func(s *study.Settings) { s.Classes = []string{"water", "meadow"} })
	if _, err := f.Observe(f.ctx, "", []study.Measurement{{Node: "0", Class: "meadow"}}, "", ""); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		to []string
		ok bool
	}{{[]string{"water", "meadow", "forest"}, true}, {[]string{"water", "forest"}, false}, {nil, true}} {
		to := f.Settings()
		to.Classes = c.to
		if _, err := f.Change(f.ctx, f.Settings(), to, "", ""); c.ok != (err == nil) || !c.ok && !errors.Is(err, study.ErrConflict) {
			t.Errorf("%v: %v", c.to, err)
		}
	}
	to := f.Settings()
	to.Labels = false
	if _, err := f.Change(f.ctx, f.Settings(), to, "", ""); !errors.Is(err, study.ErrConflict) {
		t.Errorf("a study of values, with a class: %v", err)
	}
	full := newClasses(t, nil)
	var rows []study.Measurement
	for k, class := range manyClasses(study.MaxClasses + 1) {
		rows = append(rows, study.Measurement{Node: fmt.Sprint(k % side), Class: class})
	}
	if _, err := full.Observe(full.ctx, "", rows, "", ""); !errors.Is(err, study.ErrInvalid) {
		t.Errorf("too many classes: %v", err)
	}
	if _, err := full.Observe(full.ctx, "", rows[:study.MaxClasses], "", ""); err != nil {
		t.Errorf("as many as there may be: %v", err)
	}
}

// Values are written as they were before there were classes, and all fields of records and
// points are.
func TestClassesInJSON(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	half := 0.5
	for want, v := range map[string]any{
		`{"node":"a","value":0}`:                study.Measurement{Node: "a"},
		`{"node":"a","value":3,"exposure":20}`:  study.Measurement{Node: "a", Value: 3, Exposure: 20},
		`{"node":"a","class":"x"}`:              study.Measurement{Node: "a", Class: "x"},
		`{"trial":1,"class":"x"}`:               study.Told{Trial: 1, Class: "x"},
		`{"trial":1,"value":0.5}`:               study.Told{Trial: 1, Value: &half},
		`{"values":[{"node":"a","class":"x"}]}`: study.Observed{Values: []study.Measurement{{Node: "a", Class: "x"}}},
		`{"observation":2,"node":"a","value":0.5,"trial":3,"seq":4,"time":"2026-01-02T03:04:05Z","by":"b","retracted":true,` +
			`"note":"n"}`: study.Record{
			Number: 2, Measurement: study.Measurement{Node: "a", Value: half}, Trial: 3, Seq: 4, Time: at, By: "b", Retracted: true, Note: "n"},
		`{"observation":2,"trial":3,"time":"2026-01-02T03:04:05Z","node":"a","class":"x","expected":"y","probability":0.5}`: study.HistoryPoint{
			Number: 2, Trial: 3, Time: at, Measurement: study.Measurement{Node: "a", Class: "x"}, Expected: "y", Probability: &half},
		`{"observation":2,"time":"2026-01-02T03:04:05Z","node":"a","value":0,"best":0.5,"mean":0.5,"sd":0.5}`: study.HistoryPoint{
			Number: 2, Time: at, Measurement: study.Measurement{Node: "a"}, Best: &half, Mean: &half, SD: &half},
	} {
		if got, err := json.Marshal(v); string(got) != want || err != nil {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
	var back study.Record
	if err := json.Unmarshal([]byte(`{"observation":2,"node":"a","class":"x","seq":4,"time":"2026-01-02T03:04:05Z"}`), &back); err != nil ||
		back.Class != "x" || back.Node != "a" {
		t.Errorf("%+v, %v", back, err)
	}
}

// explore labels nodes in batches, with a slow result, a failure and a retraction, and
// returns all that was suggested.
func explore(t *testing.T, f *field, restart func(*field) *field) (string, *field) {
	t.Helper()
	var all bytes.Buffer
	var slow []study.Issued
	for step := range 9 {
		trials := f.ask(t, 1+step%3)
		for _, i := range trials {
			fmt.Fprintln(&all, i.Trial, i.Node, i.Why, i.Expected)
			if i.Probability != nil {
				fmt.Fprintln(&all, *i.Probability)
			}
		}
		switch step {
		case 2:
			slow, trials = trials[:1], trials[1:]
		case 4:
			if _, err := f.Tell(f.ctx, trials[0].Trial, study.Outcome{Failed: true}, ""); err != nil {
				t.Fatal(err)
			}
			trials = trials[1:]
		case 5:
			if _, err := f.Retract(f.ctx, 2, "", ""); err != nil {
				t.Fatal(err)
			}
		case 6:
			trials = append(trials, slow...)
		}
		f.label(t, trials)
		f = restart(f)
	}
	return all.String(), f
}

// What is suggested follows from the settings and the events, at any number of threads, and
// Verify finds a class that was altered.
func TestClassRestarts(t *testing.T) {
	straight := func(f *field) *field { return f }
	want, f := explore(t, newClasses(t, nil), straight)
	if !strings.Contains(want, "could be") {
		t.Fatalf("no suggestion by a model:\n%s", want)
	}
	for name, restart := range map[string]func(*field) *field{
		"one thread": straight, "restarted": func(f *field) *field { return f.restart(t) }} {
		was := runtime.GOMAXPROCS(1)
		got, _ := explore(t, newClasses(t, nil), restart)
		runtime.GOMAXPROCS(was)
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
	checks := study.ChecksOn(f.graph, nil, true, "")
	v, err := study.Verify(f.ctx, f.Events(f.ctx, 0), checks)
	if err != nil || v.Suggestions != 9 {
		t.Errorf("%+v, %v", v, err)
	}
	altered := func(yield func(study.Event, error) bool) {
		done := false
		for e, err := range f.Events(f.ctx, 0) {
			if told, ok := e.Data.(study.Told); ok && !done && told.Class == "forest" {
				told.Class, done = "meadow", true
				e.Data = told
			}
			if !yield(e, err) {
				return
			}
		}
	}
	if _, err := study.Verify(f.ctx, iter.Seq2[study.Event, error](altered), checks); !errors.Is(err, study.ErrCorrupt) {
		t.Errorf("with an altered class: %v", err)
	}
}

// After some labels most nodes are predicted rightly, and the study knows how well.
func TestLearnClasses(t *testing.T) {
	t.Parallel()
	f := newClasses(t, func(s *study.Settings) { s.Classes = []string{"water", "meadow", "forest"} })
	if _, err := f.Predictions(f.ctx); !errors.Is(err, study.ErrNoModel) {
		t.Errorf("without labels: %v", err)
	}
	for range 8 {
		f.label(t, f.ask(t, 3))
	}
	p, err := f.Predictions(f.ctx)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i, c := range p.Class {
		if p.Classes[c] == classAt(i) {
			right++
		}
		if sum := p.Probabilities.At(i, 0) + p.Probabilities.At(i, 1) + p.Probabilities.At(i, 2); sum < 0.999 || sum > 1.001 ||
			p.Mean[i] != p.Probabilities.At(i, c) {
			t.Errorf("node %d: probabilities sum to %v, and that of class %d is %v", i, sum, c, p.Mean[i])
		}
	}
	if right < side*side*8/10 { // labels of a third of the nodes; 1/3 by chance
		t.Errorf("%d of %d nodes are predicted rightly", right, side*side)
	}
	c, err := f.ClassCalibration(f.ctx)
	if err != nil || len(c.HeldOut) < 20 || c.Accuracy < 0.5 || len(c.Confusion) != 3 || !slices.Equal(c.Classes, f.Settings().Classes) {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := f.Calibration(f.ctx); !errors.Is(err, study.ErrKind) {
		t.Errorf("calibration of values: %v", err)
	}
	var points []study.HistoryPoint
	f.View(func(s *study.State) { points = s.History() })
	if last := points[len(points)-1]; len(points) != 24 || last.Class == "" || last.Expected == "" || last.Probability == nil {
		t.Errorf("%d points, the last %+v", len(points), last)
	}
}

// Costs, a budget, groups and allowed nodes hold for classes too.
func TestLimitsOfClasses(t *testing.T) {
	t.Parallel()
	budget := 5.0
	f := newClasses(t, func(s *study.Settings) {
		s.Budget, s.Cost = &budget, map[string]float64{}
		for node := range side * side {
			if s.Cost[fmt.Sprint(node)] = 2; node < 2*side {
				s.Allowed = append(s.Allowed, fmt.Sprint(node))
			}
		}
	})
	if _, err := f.Observe(f.ctx, "", []study.Measurement{{Node: "0", Class: "forest"}, {Node: "8", Class: "water"}}, "", ""); err != nil {
		t.Fatal(err)
	}
	a, err := f.Ask(f.ctx, study.AskRequest{Count: 9})
	if err != nil || len(a.Trials) != 2 || a.Short != bayesopt.BudgetReached {
		t.Fatalf("%+v, %v", a, err)
	}
	for _, i := range a.Trials {
		if !slices.Contains(f.Settings().Allowed, i.Node) || i.Cost != 2 || i.Expected == "" {
			t.Errorf("%+v", i)
		}
	}
	all := newClasses(t, nil)
	if _, err := all.Observe(all.ctx, "", []study.Measurement{{Node: "0", Class: "forest"}, {Node: "8", Class: "water"}}, "", ""); err != nil {
		t.Fatal(err)
	}
	if a, err := all.Ask(all.ctx, study.AskRequest{Count: 200}); err != nil || len(a.Trials) != side*side-2 ||
		a.Short != bayesopt.NoNodesLeft {
		t.Errorf("%d trials, %s, %v", len(a.Trials), a.Short, err)
	}
}

// Several people ask, tell and look at the same time.
func TestClassesTogether(t *testing.T) {
	t.Parallel()
	f := newClasses(t, func(s *study.Settings) {
		s.Spec = grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Scales: "one"}, Roles: "none"}
	})
	var wg sync.WaitGroup
	for who := range 3 {
		wg.Go(func() {
			for range 3 {
				a, err := f.Ask(f.ctx, study.AskRequest{Count: 2, Holder: fmt.Sprint(who)})
				if err != nil {
					t.Error(err)
					return
				}
				f.label(t, a.Trials)
				if _, err := f.Predictions(f.ctx); err != nil && !errors.Is(err, study.ErrNoModel) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	f.View(func(s *study.State) {
		if len(s.Records) != 18 {
			t.Errorf("%d labels of 18", len(s.Records))
		}
	})
}
