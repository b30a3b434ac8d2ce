package study_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"grfgp/bayesopt"
	"grfgp/internal/testkit"
	"grfgp/study"
)

// gated is a log whose writes wait until they are let through, and may fail.
type gated struct {
	study.MemoryLog
	mu    sync.Mutex
	write func(events []study.Event) error // nil: at once, and well
	read  error
	sizes []int // of the writes
}

func (g *gated) Append(ctx context.Context, events ...study.Event) error {
	g.mu.Lock()
	g.sizes = append(g.sizes, len(events))
	write := g.write
	g.mu.Unlock()
	if write != nil {
		if err := write(events); err != nil {
			return err
		}
	}
	return g.MemoryLog.Append(ctx, events...)
}

func (g *gated) Events(ctx context.Context, after int64) iter.Seq2[study.Event, error] {
	g.mu.Lock()
	err := g.read
	g.mu.Unlock()
	if err != nil {
		return func(yield func(study.Event, error) bool) { yield(study.Event{}, err) }
	}
	return g.MemoryLog.Events(ctx, after)
}

func (g *gated) let(write func([]study.Event) error, read error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.write, g.read = write, read
}

func newGated(t *testing.T, nodes int) (*table, *gated) {
	t.Helper()
	log := new(gated)
	if _, err := study.Create(t.Context(), log, settings(nil), "", time.Now()); err != nil {
		t.Fatal(err)
	}
	return reopen(t, &table{log: log, clock: &clock{now: time.Now()}, nodes: nodes}), log
}

// tellAll tells a value for each of n trials at once, the first of which the log keeps
// waiting until all others are in the queue, and returns their errors.
func tellAll(t *testing.T, x *table, log *gated, n int, then func([]study.Event) error) []error {
	t.Helper()
	began, end := make(chan struct{}), make(chan struct{})
	first := true
	log.let(func(events []study.Event) error {
		if first {
			first = false
			close(began)
			<-end
			return nil
		}
		if then == nil {
			return nil
		}
		return then(events)
	}, nil)
	errs := make([]error, n)
	var wg sync.WaitGroup
	tell := func(k int) {
		wg.Go(func() { _, errs[k] = x.Tell(x.ctx, k+1, study.Outcome{Value: float64(k)}, fmt.Sprint(k)) })
	}
	tell(0)
	<-began
	for k := 1; k < n; k++ {
		tell(k)
	}
	for x.Waiting() < n-1 {
		runtime.Gosched()
	}
	if x.Seq() != 2 {
		t.Errorf("event %d is to be seen before it is written", x.Seq())
	}
	close(end)
	wg.Wait()
	return errs
}

// Commands that come while one is being written are written together.
func TestGroup(t *testing.T) {
	t.Parallel()
	const n = 40
	x, log := newGated(t, 100)
	x.ask(t, n)
	for k, err := range tellAll(t, x, log, n, nil) {
		if err != nil {
			t.Errorf("tell %d: %v", k, err)
		}
	}
	if want := []int{1, 1, 1, n - 1}; !slices.Equal(log.sizes, want) { // created, asked, told, and the others
		t.Errorf("writes of %v events, want %v", log.sizes, want)
	}
	checkTold(t, x, n)
}

func checkTold(t *testing.T, x *table, n int) {
	t.Helper()
	again := reopen(t, x)
	if shown(t, again.Study) != shown(t, x.Study) {
		t.Error("the state is not that of the log")
	}
	x.View(func(s *study.State) {
		for k := range n {
			if trial := s.Trials[k]; trial.State != study.TrialDone || *trial.Value != float64(k) {
				t.Errorf("trial %+v", trial)
			}
		}
		if len(s.Records) != n {
			t.Errorf("%d values", len(s.Records))
		}
	})
}

// One command of a group that cannot be written, because it is too large for the disk for
// example, does not fail the others.
func TestGroupWithOneThatFails(t *testing.T) {
	t.Parallel()
	const n = 12
	x, log := newGated(t, 100)
	x.ask(t, n)
	isBad := func(e study.Event) bool { return e.By == "5" }
	errs := tellAll(t, x, log, n, func(events []study.Event) error {
		if slices.ContainsFunc(events, isBad) {
			return errDisk
		}
		return nil
	})
	for k, err := range errs {
		if k == 5 != errors.Is(err, errDisk) || k != 5 && err != nil {
			t.Errorf("tell %d: %v", k, err)
		}
	}
	log.let(nil, nil)
	if _, err := x.Tell(x.ctx, 6, study.Outcome{Value: 5}, ""); err != nil {
		t.Errorf("with room again: %v", err)
	}
	checkTold(t, x, n)
}

// The answer to a write of a group gets lost: what is in the log is taken, once, and if the
// log cannot be read either all are told so.
func TestGroupInDoubt(t *testing.T) {
	t.Parallel()
	const n = 8
	for _, c := range []struct{ written, readable bool }{{true, true}, {false, true}, {true, false}, {false, false}} {
		x, log := newGated(t, 100)
		x.ask(t, n)
		lost := false
		errs := tellAll(t, x, log, n, func(events []study.Event) error {
			if lost {
				return nil
			}
			lost = true
			if c.written {
				log.MemoryLog.Append(t.Context(), events...)
			}
			if !c.readable {
				log.let(nil, errDisk)
			}
			return errDisk
		})
		for k, err := range errs {
			if k > 0 && !c.readable != errors.Is(err, errDisk) || (k == 0 || c.readable) && err != nil {
				t.Errorf("%+v, tell %d: %v", c, k, err)
			}
		}
		log.let(nil, nil)
		for k := range n { // those who got no answer come again
			if _, err := x.Tell(x.ctx, k+1, study.Outcome{Value: float64(k)}, fmt.Sprint(k)); err != nil {
				t.Errorf("%+v, tell %d again: %v", c, k, err)
			}
		}
		checkTold(t, x, n)
	}
}

// What a log can still read but cannot keep is not taken.
func TestNotDurable(t *testing.T) {
	t.Parallel()
	x, log := newGated(t, 9)
	x.ask(t, 2)
	log.let(func(events []study.Event) error {
		log.MemoryLog.Append(t.Context(), events...)
		return fmt.Errorf("the file is gone: %w", study.ErrNotDurable)
	}, nil)
	if _, err := x.Tell(x.ctx, 1, study.Outcome{Value: 1}, ""); !errors.Is(err, study.ErrNotDurable) {
		t.Errorf("%v", err)
	}
}

// Who repeats a command is not answered before the first is written, and learns if it is not.
func TestRepeatedWhileWriting(t *testing.T) {
	t.Parallel()
	x, log := newGated(t, 9)
	x.ask(t, 1)
	began, end := make(chan struct{}), make(chan struct{})
	log.let(func([]study.Event) error { close(began); <-end; return errDisk }, nil)
	told := make(chan error, 2)
	tell := func() {
		_, err := x.Tell(x.ctx, 1, study.Outcome{Value: 1}, "")
		told <- err
	}
	go tell()
	<-began
	go tell()
	for x.Waiting() < 1 {
		runtime.Gosched()
	}
	log.let(func([]study.Event) error { return errDisk }, nil)
	close(end)
	for range 2 {
		if err := <-told; !errors.Is(err, errDisk) {
			t.Errorf("answered %v, with nothing written", err)
		}
	}
}

// Many clients with a log that fails at random, before or after it has written: what is
// answered is there once, and the state is that of the log.
func TestGroupsThatFailAtRandom(t *testing.T) {
	t.Parallel()
	const clients, each = 16, 40
	for seed := range uint64(testkit.Size(1, 4)) {
		x, log := newGated(t, clients*each)
		random := rand.New(rand.NewPCG(seed, 1))
		log.let(func(events []study.Event) error {
			switch random.IntN(4) { // one write at a time
			case 0:
				return errDisk
			case 1:
				log.MemoryLog.Append(context.Background(), events...)
				return errDisk
			}
			return nil
		}, nil)
		var wg sync.WaitGroup
		taken := make([]map[int]float64, clients)
		for c := range clients {
			taken[c] = map[int]float64{}
			wg.Go(func() {
				for k := range each {
					a, err := x.Ask(x.ctx, study.AskRequest{Count: 1, Key: fmt.Sprint(c, "-", k)})
					if err != nil {
						continue
					}
					trial := a.Trials[0].Trial
					if _, err := x.Tell(x.ctx, trial, study.Outcome{Value: float64(trial)}, ""); err == nil {
						taken[c][trial] = float64(trial)
					}
					if _, err := x.Observe(x.ctx, "", []study.Measurement{{Node: fmt.Sprint("n", c), Value: float64(k)}}, fmt.Sprint(c, "-", k),
						""); err == nil {
						taken[c][-k-1] = float64(k)
					}
				}
			})
		}
		wg.Wait()
		log.let(nil, nil)
		if again := reopen(t, x); shown(t, again.Study) != shown(t, x.Study) {
			t.Errorf("seed %d: the state is not that of the log", seed)
		}
		x.View(func(s *study.State) {
			notes := map[string]int{}
			for _, r := range s.Records {
				notes[r.Note]++
			}
			count := 0
			for c, of := range taken {
				count += len(of)
				for trial, value := range of {
					if trial < 0 {
						if n := notes[fmt.Sprint(c, "-", -trial-1)]; n != 1 {
							t.Errorf("seed %d: observation %d of client %d is there %d times", seed, -trial-1, c, n)
						}
					} else if got := s.Trials[trial-1]; got.Value == nil || *got.Value != value {
						t.Errorf("seed %d: trial %+v, told %v", seed, got, value)
					}
				}
			}
			if count < clients*each {
				t.Errorf("seed %d: only %d answers were good", seed, count)
			}
		})
	}
}

// A copy of a state shares nothing that events change: every map and slice is its own.
func TestClone(t *testing.T) {
	t.Parallel()
	x := newTable(t, 30, func(s *study.Settings) { s.Labels, s.Goal = true, bayesopt.Learn })
	if _, err := x.Ask(x.ctx, study.AskRequest{Count: 9, Key: "key"}); err != nil {
		t.Fatal(err)
	}
	for k := range 4 {
		if _, err := x.Tell(x.ctx, k+1, study.Outcome{Class: "a", Failed: k == 0}, ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := x.Observe(x.ctx, "key", []study.Measurement{{Node: "n20", Class: "b"}}, "", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Abandon(x.ctx, 9, "", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Queue(x.ctx, []string{"n29"}, "", ""); err != nil {
		t.Fatal(err)
	}
	x.View(func(s *study.State) {
		c := s.Clone()
		if !reflect.DeepEqual(s, c) {
			t.Errorf("the copy is\n%+v\nof\n%+v", c, s)
		}
		unshared(t, "State", reflect.ValueOf(s).Elem(), reflect.ValueOf(c).Elem())
	})
}

// unshared reports maps, slices and pointers in the fields of structs, and in the maps in
// them, that two values share. Settings and Stopped are replaced, never changed.
func unshared(t *testing.T, at string, a, b reflect.Value) {
	switch a.Kind() {
	case reflect.Struct:
		for k := range a.NumField() {
			if name := a.Type().Field(k).Name; !slices.Contains([]string{"Settings", "Stopped", "before", "Created", "Updated"}, name) {
				unshared(t, at+"."+name, a.Field(k), b.Field(k))
			}
		}
	case reflect.Map:
		if a.Len() == 0 {
			t.Errorf("%s is empty: the test shows nothing", at)
		} else if a.Pointer() == b.Pointer() {
			t.Errorf("%s is shared", at)
		}
		for _, key := range a.MapKeys() {
			unshared(t, at, a.MapIndex(key), b.MapIndex(key))
		}
	case reflect.Slice:
		if a.Len() == 0 {
			t.Errorf("%s is empty: the test shows nothing", at)
		} else if a.Pointer() == b.Pointer() {
			t.Errorf("%s is shared", at)
		}
	case reflect.Pointer:
		if a.Pointer() == b.Pointer() {
			t.Errorf("%s is shared", at)
		}
	}
}

// Sums that are kept up to date are those that one finds by adding up, whatever happened.
func TestSummary(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		x := newTable(t, 40, nil)
		random := rand.New(rand.NewPCG(seed, 2))
		for k := range 150 {
			x.ask(t, 1+random.IntN(2))
			trial := 1 + random.IntN(k+1)
			switch random.IntN(7) {
			case 0, 1, 2:
				x.Tell(x.ctx, trial, study.Outcome{Value: random.NormFloat64(), Failed: random.IntN(4) == 0}, "")
			case 3:
				x.Release(x.ctx, trial, "")
			case 4:
				x.Retract(x.ctx, 1+random.IntN(k/4+1), "", "")
			case 5:
				x.clock.Add(20 * time.Minute)
				x.Expire(x.ctx)
			case 6:
				x.Abandon(x.ctx, trial, "", "")
			}
			x.View(func(s *study.State) { checkSums(t, s) })
		}
	}
}

func checkSums(t *testing.T, s *study.State) {
	t.Helper()
	counts, spent, values := new(study.State).Counts(), 0.0, 0
	var best *study.Record
	for _, trial := range s.Trials {
		counts[trial.State]++
		if trial.State == study.TrialPending || trial.State == study.TrialDone {
			spent += trial.Cost
		}
	}
	for k, r := range s.Records {
		if !r.Retracted {
			if values++; best == nil || r.Value > best.Value {
				best = &s.Records[k]
			}
		}
	}
	m := s.Summary()
	if !reflect.DeepEqual(m.Trials, counts) || m.Spent != spent || m.Values != values || m.Seq != s.Seq {
		t.Fatalf("%+v; the trials are %v, spent %v, %d values", m, counts, spent, values)
	}
	if (best == nil) != (m.Best == nil) || best != nil && m.Best.Number != best.Number {
		t.Fatalf("best %+v, want %+v", m.Best, best)
	}
}

// The last events come from memory, older ones from the log, and together they are all.
func TestEncoded(t *testing.T) {
	t.Parallel()
	x := newTable(t, 60_000, nil)
	for k := range 4 {
		x.ask(t, 9_000) // more than is kept
		if _, err := x.Observe(x.ctx, "", []study.Measurement{{Node: fmt.Sprint("n", k), Value: 1}}, "", ""); err != nil {
			t.Fatal(err)
		}
	}
	var want strings.Builder
	for e, err := range x.Events(x.ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		text, err := e.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&want, e.Seq, e.Kind(), string(text))
	}
	var got strings.Builder
	var after int64
	for after < x.Seq() {
		p, err := x.Encoded(x.ctx, after)
		if err != nil || len(p.Events) == 0 {
			t.Fatalf("after %d: %v, %v", after, p, err)
		}
		if again, err := x.Encoded(x.ctx, after); err != nil || &again.Events[0].JSON[0] != &p.Events[0].JSON[0] {
			t.Errorf("the events after %d are there twice (%v)", after, err)
		}
		for _, e := range p.Events {
			fmt.Fprintln(&got, e.Seq, e.Kind, string(e.JSON))
			after = e.Seq
		}
	}
	if got.String() != want.String() {
		t.Errorf("%d bytes of events, want %d", got.Len(), want.Len())
	}
	if p, err := x.Encoded(x.ctx, after); err != nil || len(p.Events) != 0 {
		t.Errorf("behind the last: %v, %v", p, err)
	}
}

// BenchmarkExpire ends 100,000 leases at once, and replays that.
func BenchmarkExpire(b *testing.B) {
	const n = 100_000
	for b.Loop() {
		b.StopTimer()
		x := newTable(b, n, nil)
		for range n / study.MaxCount {
			x.ask(b, study.MaxCount)
		}
		x.clock.Add(time.Hour)
		b.StartTimer()
		if err := x.Expire(x.ctx); err != nil {
			b.Fatal(err)
		}
	}
}
