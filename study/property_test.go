package study_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"grfgp/bayesopt"
	"grfgp/study"
)

// Whatever is commanded in whatever order: a replay gives the state, no node is
// reserved twice, and no ask goes beyond the budget.
func TestAnyCommands(t *testing.T) {
	t.Parallel()
	const runs, steps = 60, 120
	for seed := range uint64(runs) {
		random := rand.New(rand.NewPCG(seed, 1))
		budget := float64(random.IntN(12))
		nodes := 1 + random.IntN(15)
		x := newTable(t, nodes, func(s *study.Settings) {
			if s.Seed, s.Repeats = seed, random.IntN(4) == 0; seed%3 == 0 {
				s.Repeats, s.Labels, s.Goal = false, true, bayesopt.Learn
			}
			if random.IntN(4) > 0 {
				s.Budget = &budget
			}
		})
		for range steps {
			if err := anyCommand(x, random, nodes); err != nil && !expected(err) {
				t.Fatalf("seed %d: %v", seed, err)
			}
			x.View(func(s *study.State) { checkInvariants(t, s) })
			if random.IntN(20) == 0 {
				again := reopen(t, x)
				if shown(t, again.Study) != shown(t, x.Study) {
					t.Fatalf("seed %d: after a restart\n%s\nwant\n%s", seed, shown(t, again.Study), shown(t, x.Study))
				}
				x = again
			}
		}
		checkArchive(t, x)
	}
}

func expected(err error) bool {
	for _, known := range []error{study.ErrConflict, study.ErrNotFound, study.ErrInvalid, study.ErrNotFinite, study.ErrUnknownNode} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

func anyCommand(x *table, random *rand.Rand, nodes int) (err error) {
	trials, values := 0, 0
	x.View(func(s *study.State) { trials, values = len(s.Trials), len(s.Records) })
	trial := random.IntN(trials + 2)
	o := study.Outcome{Value: []float64{1, 2, -0.5, math.NaN(), 1e308, math.Inf(1)}[random.IntN(6)]}
	if x.Settings().Labels {
		o = []study.Outcome{{Class: "a"}, {Class: "b"}, {Class: "c"}, {Class: " a"}, {Value: 1}, {Class: "b", Value: 1}}[random.IntN(6)]
	}
	key := ""
	if random.IntN(2) == 0 {
		key = fmt.Sprint("k", random.IntN(10))
	}
	switch random.IntN(19) {
	case 0, 1, 2:
		_, err = x.Ask(x.ctx, study.AskRequest{Count: 1 + random.IntN(4), Key: key, Holder: "h"})
	case 3, 4, 5:
		_, err = x.Tell(x.ctx, trial, o, "h")
	case 6:
		_, err = x.Tell(x.ctx, trial, study.Outcome{Failed: true}, "h")
	case 7:
		_, err = x.Observe(x.ctx, key, []study.Measurement{{Node: fmt.Sprint("n", random.IntN(nodes+1)), Value: o.Value, Class: o.Class}}, "",
			"h")
	case 8:
		_, err = x.Release(x.ctx, trial, "h")
	case 9:
		if random.IntN(3) == 0 {
			_, err = x.Abandon(x.ctx, trial, "", "h")
		}
	case 10:
		_, err = x.Retract(x.ctx, random.IntN(values+2), "", "h")
	case 11:
		_, err = x.Renew(x.ctx, trial, time.Duration(random.IntN(100))*time.Minute, "h")
	case 12:
		x.clock.Add(time.Duration(random.IntN(50)) * time.Minute)
	case 13:
		if err = x.Pause(x.ctx, "", ""); err == nil {
			err = x.Resume(x.ctx, "")
		}
	case 14:
		_, err = x.Queue(x.ctx, []string{fmt.Sprint("n", random.IntN(nodes+1))}, "", "q")
	case 15:
		_, err = x.Unqueue(x.ctx, []string{fmt.Sprint("n", random.IntN(nodes))}, "q")
	case 16:
		_, err = x.Ask(x.ctx, study.AskRequest{Nodes: []string{fmt.Sprint("n", random.IntN(nodes))}, Key: key, Holder: "own"})
	case 17:
		was := x.Settings()
		to := was
		to.Repeats, to.Seed = random.IntN(2) == 0, uint64(random.IntN(4))
		if to.Budget != nil { // never lower: what is spent stays within it
			more := *to.Budget + float64(random.IntN(2))
			to.Budget = &more
		}
		_, err = x.Change(x.ctx, was, to, "", "c")
	case 18:
		if err = x.Archive(x.ctx, "", "a"); err == nil {
			at := x.Seq()
			_, refused := x.Tell(x.ctx, 1, study.Outcome{Value: 1}, "h")
			if x.Seq() != at {
				return fmt.Errorf("an archived study takes a result: %v", refused)
			}
			err = x.Restore(x.ctx, "a")
		}
	}
	return err
}

func checkInvariants(t testing.TB, s *study.State) {
	t.Helper()
	reserved := slices.Sorted(slices.Values(s.Pending()))
	if distinct := slices.Compact(slices.Clone(reserved)); len(distinct) != len(reserved) {
		t.Fatalf("reserved twice: %v", reserved)
	}
	late := 0.0 // results from the time after a lease count, and may go beyond
	for _, trial := range s.Trials {
		if trial.Late && trial.State == study.TrialDone {
			late += trial.Cost
		}
	}
	if b := s.Settings.Budget; b != nil && s.Spent() > *b+late {
		again := 0 // and so do values told anew after one was retracted
		for _, v := range s.Records {
			if v.Retracted && v.Trial > 0 && s.Trials[v.Trial-1].State == study.TrialDone {
				again++
			}
		}
		if s.Spent() > *b+late+float64(again) {
			t.Fatalf("spent %v of %v, %v of it late", s.Spent(), *b, late)
		}
	}
	labels := 0
	for _, c := range s.Classes() {
		labels += c.Count
	}
	if s.Settings.Labels && labels != len(s.Measurements()) {
		t.Fatalf("%d labels of all classes, of %d", labels, len(s.Measurements()))
	}
	counted := 0
	for _, n := range s.Counts() {
		counted += n
	}
	if counted != len(s.Trials) {
		t.Fatalf("%d trials in all states, of %d", counted, len(s.Trials))
	}
}

// What is exported and read again is the same, and so is what comes next.
func checkArchive(t *testing.T, x *table) {
	t.Helper()
	var text bytes.Buffer
	if err := study.Export(&text, []byte("graph"), x.Events(x.ctx, 0)); err != nil {
		t.Fatal(err)
	}
	a, err := study.ReadArchive(bytes.NewReader(text.Bytes()))
	if err != nil || string(a.Graph) != "graph" {
		t.Fatalf("%q, %v", a.Graph, err)
	}
	log := new(study.MemoryLog)
	if err := a.Write(x.ctx, log); err != nil {
		t.Fatal(err)
	}
	y := reopen(t, &table{log: log, clock: x.clock, nodes: x.nodes})
	if shown(t, x.Study) != shown(t, y.Study) {
		t.Fatalf("imported\n%s\nwant\n%s", shown(t, y.Study), shown(t, x.Study))
	}
	next, errX := x.Ask(x.ctx, study.AskRequest{Count: 3})
	also, errY := y.Ask(x.ctx, study.AskRequest{Count: 3})
	if fmt.Sprint(next, errX) != fmt.Sprint(also, errY) {
		t.Fatalf("next %v, want %v", also, next)
	}
	if err := a.Write(x.ctx, log); !errors.Is(err, study.ErrConflict) {
		t.Fatalf("written twice: %v", err)
	}
}

func TestArchiveDamaged(t *testing.T) {
	t.Parallel()
	x := newTable(t, 20, nil)
	x.ask(t, 5)
	x.Tell(x.ctx, 1, study.Outcome{Value: 2}, "h")
	var buf bytes.Buffer
	if err := study.Export(&buf, nil, x.Events(x.ctx, 0)); err != nil {
		t.Fatal(err)
	}
	text := buf.Bytes()
	for cut := range text {
		if _, err := study.ReadArchive(bytes.NewReader(text[:cut])); !errors.Is(err, study.ErrCorrupt) {
			t.Fatalf("cut off after %d bytes: %v", cut, err)
		}
	}
	for at := range text {
		bad := slices.Clone(text)
		bad[at] ^= 1
		if _, err := study.ReadArchive(bytes.NewReader(bad)); !errors.Is(err, study.ErrCorrupt) {
			t.Fatalf("a bit changed at %d, %q: %v", at, text[max(0, at-20):min(len(text), at+20)], err)
		}
	}
	for want, bad := range map[string]string{
		"was altered":           strings.Replace(string(text), `"value":2`, `"value":3`, 1),
		"truncated at line 1":   string(text[:30]),
		"not an exported study": "node,value\n",
	} {
		if _, err := study.ReadArchive(strings.NewReader(bad)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	if _, err := study.ReadArchive(bytes.NewReader(append(text, text...))); !errors.Is(err, study.ErrCorrupt) {
		t.Errorf("twice in one file: %v", err)
	}
	a, err := study.ReadArchive(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Rename("other/name"); !errors.Is(err, study.ErrInvalid) {
		t.Errorf("a bad name: %v", err)
	}
	if err := a.Rename("other"); err != nil || a.State.Settings.Name != "other" {
		t.Error(err)
	}
	if s, err := study.Replay(a.Events...); err != nil || s.Settings.Name != "other" {
		t.Error(err)
	}
}

func FuzzReadArchive(f *testing.F) {
	x := newTable(f, 20, nil)
	x.ask(f, 5)
	x.Tell(x.ctx, 1, study.Outcome{Value: 2}, "h")
	var buf bytes.Buffer
	if err := study.Export(&buf, []byte("g"), x.Events(x.ctx, 0)); err != nil {
		f.Fatal(err)
	}
	f.Add(buf.Bytes())
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := study.ReadArchive(bytes.NewReader(text))
		if err != nil {
			if !errors.Is(err, study.ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		if _, err := study.Replay(a.Events...); err != nil {
			t.Fatal(err)
		}
	})
}

// 64 clients ask 50 times each: all nodes differ and the budget is met.
func TestManyAsk(t *testing.T) {
	t.Parallel()
	const clients, asks, budget = 64, 50, 3000
	most := float64(budget)
	x := newTable(t, 4000, func(s *study.Settings) { s.Budget = &most })
	var wg sync.WaitGroup
	got := make([]int, clients)
	for c := range clients {
		wg.Go(func() {
			for k := range asks {
				a, err := x.Ask(x.ctx, study.AskRequest{Count: 1, Key: fmt.Sprint(c, "/", k), Holder: fmt.Sprint(c)})
				if err != nil {
					t.Error(err)
					return
				}
				got[c] += len(a.Trials)
				if len(a.Trials) == 1 && k%3 == 0 {
					if _, err := x.Tell(x.ctx, a.Trials[0].Trial, study.Outcome{Value: float64(k)}, ""); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	sum, seen := 0, map[string]bool{}
	for _, n := range got {
		sum += n
	}
	x.View(func(s *study.State) {
		for _, trial := range s.Trials {
			if seen[trial.Node] {
				t.Errorf("%s was handed out twice", trial.Node)
			}
			seen[trial.Node] = true
		}
		if sum != budget || len(s.Trials) != budget || s.Spent() != budget {
			t.Errorf("%d handed out, %d trials, %v spent; want %d", sum, len(s.Trials), s.Spent(), budget)
		}
	})
}

// Leases end while their holders tell: every value is kept once, no node has two
// leases at a time.
func TestLeaseRaces(t *testing.T) {
	t.Parallel()
	x := newTable(t, 12, func(s *study.Settings) { s.Repeats = true })
	var wg sync.WaitGroup
	told := make([]int, 8)
	for c := range told {
		wg.Go(func() {
			for k := range 60 {
				a, err := x.Ask(x.ctx, study.AskRequest{Count: 1, Lease: time.Minute})
				if err != nil {
					t.Error(err)
					return
				}
				x.clock.Add(17 * time.Second)
				for _, issued := range a.Trials {
					if _, err := x.Tell(x.ctx, issued.Trial, study.Outcome{Value: float64(k)}, ""); err != nil {
						t.Error(err)
					} else {
						told[c]++
					}
				}
				x.View(func(s *study.State) { checkInvariants(t, s) })
			}
		})
	}
	wg.Wait()
	sum := 0
	for _, n := range told {
		sum += n
	}
	x.View(func(s *study.State) {
		if len(s.Records) != sum {
			t.Errorf("%d values of %d told", len(s.Records), sum)
		}
	})
	if again := reopen(t, x); shown(t, again.Study) != shown(t, x.Study) {
		t.Error("a restart changed something")
	}
}
