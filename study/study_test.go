package study_test

import (
	"context"
	"errors"
	"iter"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/study"
)

// Each trial begins pending; what a command makes of it.
func TestTrialStates(t *testing.T) {
	t.Parallel()
	type command = func(x *table) error
	tell := func(v float64) command {
		return func(x *table) error { _, err := x.Tell(x.ctx, 1, study.Outcome{Value: v}, ""); return err }
	}
	fail := func(x *table) error { _, err := x.Tell(x.ctx, 1, study.Outcome{Failed: true}, ""); return err }
	release := func(x *table) error { _, err := x.Release(x.ctx, 1, ""); return err }
	abandon := func(x *table) error { _, err := x.Abandon(x.ctx, 1, "", ""); return err }
	renew := func(x *table) error { _, err := x.Renew(x.ctx, 1, 0, ""); return err }
	retract := func(x *table) error { _, err := x.Retract(x.ctx, 1, "", ""); return err }
	expire := func(x *table) error { x.clock.Add(time.Hour); return x.Expire(x.ctx) }
	pause := func(x *table) error { return x.Pause(x.ctx, "", "") }
	closing := func(x *table) error { return x.Close(x.ctx, "", "") }

	for _, c := range []struct {
		name string
		do   []command
		want study.TrialState
		err  error // of the last command
		open bool  // its node may be handed out again
	}{
		{"nothing", nil, study.TrialPending, nil, false},
		{"told", []command{tell(1)}, study.TrialDone, nil, false},
		{"told twice", []command{tell(1), tell(1)}, study.TrialDone, nil, false},
		{"told otherwise", []command{tell(1), tell(2)}, study.TrialDone, study.ErrConflict, false},
		{"told, then failed", []command{tell(1), fail}, study.TrialDone, study.ErrConflict, false},
		{"failed", []command{fail}, study.TrialFailed, nil, true},
		{"failed twice", []command{fail, fail}, study.TrialFailed, nil, true},
		{"failed, then told", []command{fail, tell(1)}, study.TrialFailed, study.ErrConflict, true},
		{"released", []command{release}, study.TrialReleased, nil, true},
		{"released twice", []command{release, release}, study.TrialReleased, nil, true},
		{"released, then told", []command{release, tell(1)}, study.TrialDone, nil, false},
		{"told, then released", []command{tell(1), release}, study.TrialDone, study.ErrConflict, false},
		{"expired", []command{expire}, study.TrialExpired, nil, true},
		{"expired, then told", []command{expire, tell(1)}, study.TrialDone, nil, false},
		{"expired, then failed", []command{expire, fail}, study.TrialFailed, nil, true},
		{"expired, then renewed", []command{expire, renew}, study.TrialExpired, study.ErrConflict, true},
		{"expired, then abandoned", []command{expire, abandon}, study.TrialAbandoned, nil, false},
		{"abandoned", []command{abandon}, study.TrialAbandoned, nil, false},
		{"abandoned twice", []command{abandon, abandon}, study.TrialAbandoned, nil, false},
		{"abandoned, then told", []command{abandon, tell(1)}, study.TrialDone, nil, false},
		{"told, then abandoned", []command{tell(1), abandon}, study.TrialDone, study.ErrConflict, false},
		{"retracted", []command{tell(1), retract}, study.TrialRetracted, nil, true},
		{"retracted twice", []command{tell(1), retract, retract}, study.TrialRetracted, nil, true},
		{"retracted, then told as before", []command{tell(1), retract, tell(1)}, study.TrialRetracted, study.ErrConflict, true},
		{"retracted, then told anew", []command{tell(1), retract, tell(2)}, study.TrialDone, nil, false},
		{"retracted, then failed", []command{tell(1), retract, fail}, study.TrialRetracted, study.ErrConflict, true},
		{"nothing to retract", []command{retract}, study.TrialPending, study.ErrNotFound, false},
		{"paused, then told", []command{pause, tell(1)}, study.TrialDone, nil, false},
		{"closed, then told", []command{closing, tell(1)}, study.TrialDone, nil, false},
		{"renewed", []command{renew, expire}, study.TrialExpired, nil, true},
		{"not a number", []command{tell(math.NaN())}, study.TrialPending, study.ErrNotFinite, false},
		{"infinite", []command{tell(math.Inf(-1))}, study.TrialPending, study.ErrNotFinite, false},
		{"huge", []command{tell(1e308)}, study.TrialDone, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newTable(t, 5, nil)
			x.ask(t, 1)
			var err error
			for k, do := range c.do {
				if err = do(x); err != nil && k < len(c.do)-1 {
					t.Fatal(err)
				}
			}
			if !errors.Is(err, c.err) {
				t.Errorf("error %v, want %v", err, c.err)
			}
			if got := x.trial(1).State; got != c.want {
				t.Errorf("the trial is %s, want %s", got, c.want)
			}
			x.View(func(s *study.State) {
				if got := s.Available(s.Trials[0].Node); got != c.open {
					t.Errorf("the node is open: %v, want %v", got, c.open)
				}
			})
			if again := reopen(t, x); shown(t, again.Study) != shown(t, x.Study) {
				t.Errorf("after a restart\n%s\nwant\n%s", shown(t, again.Study), shown(t, x.Study))
			}
		})
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	x := newTable(t, 5, nil)
	for _, c := range []struct {
		name string
		do   func() error
		want study.Status
		err  error
	}{
		{"resume", func() error { return x.Resume(x.ctx, "") }, study.StatusOpen, nil},
		{"pause", func() error { return x.Pause(x.ctx, "lunch", "") }, study.StatusPaused, nil},
		{"pause again", func() error { return x.Pause(x.ctx, "", "") }, study.StatusPaused, nil},
		{"resume", func() error { return x.Resume(x.ctx, "") }, study.StatusOpen, nil},
		{"close", func() error { return x.Close(x.ctx, "", "") }, study.StatusClosed, nil},
		{"close again", func() error { return x.Close(x.ctx, "", "") }, study.StatusClosed, nil},
		{"resume", func() error { return x.Resume(x.ctx, "") }, study.StatusClosed, study.ErrConflict},
		{"pause", func() error { return x.Pause(x.ctx, "", "") }, study.StatusClosed, study.ErrConflict},
	} {
		if err := c.do(); !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", c.name, err, c.err)
		}
		x.View(func(s *study.State) {
			if s.Status != c.want {
				t.Errorf("%s: the study is %s, want %s", c.name, s.Status, c.want)
			}
		})
	}
	if x.Seq() != 4 {
		t.Errorf("%d events; what changes nothing is none", x.Seq())
	}
}

func TestShort(t *testing.T) {
	t.Parallel()
	two := 2.0
	for _, c := range []struct {
		name  string
		nodes int
		set   func(*study.Settings)
		do    func(x *table)
		got   int
		want  study.Reason
	}{
		{"enough", 9, nil, nil, 5, bayesopt.Enough},
		{"nodes", 3, nil, nil, 3, bayesopt.NoNodesLeft},
		{"no nodes", 3, nil, func(x *table) { x.Ask(x.ctx, study.AskRequest{Count: 3}) }, 0, bayesopt.NoNodesLeft},
		{"budget", 9, func(s *study.Settings) { s.Budget = &two }, nil, 2, bayesopt.BudgetReached},
		{"pending counts", 9, func(s *study.Settings) { s.Budget = &two }, func(x *table) { x.Ask(x.ctx, study.AskRequest{Count: 1}) }, 1,
			bayesopt.BudgetReached},
		{"expired does not", 9, func(s *study.Settings) { s.Budget = &two },
			func(x *table) { x.Ask(x.ctx, study.AskRequest{Count: 2}); x.clock.Add(time.Hour) }, 2, bayesopt.BudgetReached},
		{"paused", 9, nil, func(x *table) { x.Pause(x.ctx, "", "") }, 0, study.ReasonPaused},
		{"closed", 9, nil, func(x *table) { x.Close(x.ctx, "", "") }, 0, study.ReasonClosed},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newTable(t, c.nodes, c.set)
			if c.do != nil {
				c.do(x)
			}
			a, err := x.Ask(x.ctx, study.AskRequest{Count: 5})
			if err != nil || len(a.Trials) != c.got || a.Short != c.want || a.Trials == nil {
				t.Errorf("%+v, %v; want %d trials, short %q", a, err, c.got, c.want)
			}
		})
	}
}

// A node whose lease ran out is handed out again, and both results are kept.
func TestLateResults(t *testing.T) {
	t.Parallel()
	x := newTable(t, 1, nil)
	x.ask(t, 1)
	if more := x.ask(t, 1); len(more) != 0 {
		t.Fatalf("the only node is reserved, and was handed out: %v", more)
	}
	x.clock.Add(time.Hour - time.Microsecond)
	if more := x.ask(t, 1); len(more) != 0 {
		t.Fatalf("handed out before the lease ended: %v", more)
	}
	x.clock.Add(time.Microsecond)
	if again := x.ask(t, 1); len(again) != 1 || again[0].Trial != 2 {
		t.Fatalf("not handed out after the lease ended: %v", again)
	}
	if first, err := x.Tell(x.ctx, 1, study.Outcome{Value: 1}, "slow"); err != nil || !first.Late || first.State != study.TrialDone {
		t.Errorf("%+v, %v", first, err)
	}
	if second, err := x.Tell(x.ctx, 2, study.Outcome{Value: 2}, "quick"); err != nil || second.Late {
		t.Errorf("%+v, %v", second, err)
	}
	want := []study.Measurement{{Node: "n0", Value: 1}, {Node: "n0", Value: 2}}
	x.View(func(s *study.State) {
		if got := s.Measurements(); !slices.Equal(got, want) {
			t.Errorf("readings %v, want %v", got, want)
		}
	})
}

func TestRenew(t *testing.T) {
	t.Parallel()
	x := newTable(t, 3, nil)
	a, err := x.Ask(x.ctx, study.AskRequest{Count: 1, Lease: time.Minute})
	if err != nil || !a.Until.Equal(x.clock.Now().Add(time.Minute)) {
		t.Fatalf("%+v, %v", a, err)
	}
	x.clock.Add(50 * time.Second)
	if r, err := x.Renew(x.ctx, 1, 2*time.Minute, ""); err != nil || !r.Until.Equal(x.clock.Now().Add(2*time.Minute)) {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := x.Renew(x.ctx, 1, time.Minute, ""); !errors.Is(err, study.ErrInvalid) ||
		!strings.Contains(err.Error(), "give a longer lease") {
		t.Errorf("a lease was cut short: %v", err)
	}
	x.clock.Add(time.Minute)
	if err := x.Expire(x.ctx); err != nil || x.trial(1).State != study.TrialPending {
		t.Errorf("%+v, %v", x.trial(1), err)
	}
	x.clock.Add(time.Minute)
	if err := x.Expire(x.ctx); err != nil || x.trial(1).State != study.TrialExpired {
		t.Errorf("%+v, %v", x.trial(1), err)
	}
	if _, err := x.Renew(x.ctx, 1, -1, ""); !errors.Is(err, study.ErrInvalid) {
		t.Errorf("a lease of less than nothing: %v", err)
	}
}

// One key 32 times: one effect, 32 equal answers.
func TestOneKey(t *testing.T) {
	t.Parallel()
	x := newTable(t, 500, nil)
	answers := make([]study.Ask, 32)
	var wg sync.WaitGroup
	for k := range answers {
		wg.Go(func() {
			var err error
			if answers[k], err = x.Ask(x.ctx, study.AskRequest{Count: 3, Key: "key", Holder: "h"}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, a := range answers {
		if !reflect.DeepEqual(a, answers[0]) || len(a.Trials) != 3 {
			t.Errorf("%+v, want %+v", a, answers[0])
		}
	}
	if x.Seq() != 2 {
		t.Errorf("%d events", x.Seq())
	}
	if _, err := x.Tell(x.ctx, 1, study.Outcome{Value: 1}, ""); err != nil {
		t.Fatal(err)
	}
	answers[0].Ended = map[int]study.TrialState{1: study.TrialDone}
	if a, err := reopen(t, x).Ask(x.ctx, study.AskRequest{Count: 3, Key: "key", Holder: "h"}); err != nil ||
		!reflect.DeepEqual(a, answers[0]) {
		t.Errorf("after a result and a restart: %+v, %v", a, err)
	}
	if _, err := x.Ask(x.ctx, study.AskRequest{Count: 4, Key: "key", Holder: "h"}); !errors.Is(err, study.ErrConflict) {
		t.Errorf("the key for another ask: %v", err)
	}
}

func TestObserve(t *testing.T) {
	t.Parallel()
	x := newTable(t, 5, nil)
	for _, c := range []struct {
		row  int
		err  error
		rows []study.Measurement
	}{
		{1, study.ErrUnknownNode, []study.Measurement{{Node: "n1", Value: 1}, {Node: "x", Value: 1}}},
		{0, study.ErrNotFinite, []study.Measurement{{Node: "n1", Value: math.NaN()}, {Node: "n2", Value: 1}}},
		{1, study.ErrNotFinite, []study.Measurement{{Node: "n1", Value: 1}, {Node: "n2", Value: math.Inf(1)}}},
	} {
		var row *study.RowError
		if _, err := x.Observe(x.ctx, "", c.rows, "", ""); !errors.Is(err, c.err) || !errors.As(err, &row) || row.Row != c.row {
			t.Errorf("%v: %v", c.rows, err)
		}
	}
	if _, err := x.Observe(x.ctx, "", nil, "", ""); !errors.Is(err, study.ErrInvalid) {
		t.Errorf("no rows: %v", err)
	}
	if x.Seq() != 1 {
		t.Fatalf("%d events of what was refused", x.Seq()-1)
	}
	rows := []study.Measurement{{Node: "n1", Value: 1}, {Node: "n1", Value: -1e308}, {Node: "n3", Value: 3}}
	for range 2 {
		got, err := x.Observe(x.ctx, "k", rows, "", "me")
		if err != nil || len(got) != 3 || got[2].Number != 3 || got[1].Measurement != rows[1] || got[0].By != "me" {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	if x.Seq() != 2 {
		t.Errorf("%d events of one key", x.Seq()-1)
	}
	if _, err := x.Observe(x.ctx, "k", rows[:1], "", ""); !errors.Is(err, study.ErrConflict) {
		t.Errorf("the key for other values: %v", err)
	}
	for range 2 {
		if v, err := x.Retract(x.ctx, 1, "typo", ""); err != nil || !v.Retracted {
			t.Errorf("%+v, %v", v, err)
		}
	}
	x.View(func(s *study.State) {
		if got := s.Measurements(); !slices.Equal(got, rows[1:]) || s.Available("n1") || !s.Available("n0") || s.Spent() != 0 {
			t.Errorf("readings %v, n1 open %v, spent %v", got, s.Available("n1"), s.Spent())
		}
	})
	if err := x.Close(x.ctx, "", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Observe(x.ctx, "", rows, "", ""); !errors.Is(err, study.ErrConflict) {
		t.Errorf("closed: %v", err)
	}
}

// A node that failed rests until another value has come, unless all others are
// taken.
func TestFailedNodesRest(t *testing.T) {
	t.Parallel()
	x := newTable(t, 3, nil)
	first := x.ask(t, 1)[0]
	if _, err := x.Tell(x.ctx, 1, study.Outcome{Failed: true, Note: "no access"}, ""); err != nil {
		t.Fatal(err)
	}
	two := x.ask(t, 2)
	if len(two) != 2 || two[0].Node == first.Node || two[1].Node == first.Node {
		t.Fatalf("%v came again at once: %v", first, two)
	}
	if last := x.ask(t, 2); len(last) != 1 || last[0].Node != first.Node {
		t.Errorf("all others are taken, and not %v but %v came", first, last)
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	x := newTable(t, 5, nil)
	long := string(make([]byte, study.MaxID+1))
	for _, r := range []study.AskRequest{{Count: 0}, {Count: -1}, {Count: study.MaxCount + 1}, {Count: 1, Lease: -1}, {Count: 1, Key: long},
		{Count: 1, Holder: long}} {
		if _, err := x.Ask(x.ctx, r); !errors.Is(err, study.ErrInvalid) {
			t.Errorf("%d: %v", r.Count, err)
		}
	}
	for _, id := range []int{-1, 0, 1} {
		if _, err := x.Tell(x.ctx, id, study.Outcome{}, ""); !errors.Is(err, study.ErrNotFound) {
			t.Errorf("trial %d: %v", id, err)
		}
		if _, err := x.Release(x.ctx, id, ""); !errors.Is(err, study.ErrNotFound) {
			t.Errorf("trial %d: %v", id, err)
		}
	}
	if x.Seq() != 1 {
		t.Errorf("%d events", x.Seq())
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	minus, nan := -1.0, math.NaN()
	for name, change := range map[string]func(*study.Settings){
		"no name":       func(s *study.Settings) { s.Name = "" },
		"a path":        func(s *study.Settings) { s.Name = "../up" },
		"a dot":         func(s *study.Settings) { s.Name = ".hidden" },
		"no graph":      func(s *study.Settings) { s.Graph = "" },
		"policy":        func(s *study.Settings) { s.Policy = "luck" },
		"no level":      func(s *study.Settings) { s.Goal, s.Policy = bayesopt.Maximize, "straddle" },
		"budget":        func(s *study.Settings) { s.Budget = &minus },
		"no budget":     func(s *study.Settings) { s.Budget = &nan },
		"lease":         func(s *study.Settings) { s.Lease = -1 },
		"cost":          func(s *study.Settings) { s.Cost = map[string]float64{"a": 0} },
		"specification": func(s *study.Settings) { s.Spec = grfgp.Spec{Expression: grfgp.Expression{Family: "none"}} },
		"cap":           func(s *study.Settings) { s.GroupCap = -1 },
	} {
		if _, err := study.Create(t.Context(), new(study.MemoryLog), settings(change), "", time.Now()); !errors.Is(err, study.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Waiting ends with the next event, and with the context.
func TestWait(t *testing.T) {
	t.Parallel()
	x := newTable(t, 5, nil)
	if err := x.Wait(x.ctx, 0); err != nil {
		t.Error(err)
	}
	done := make(chan error)
	go func() { done <- x.Wait(x.ctx, 1) }()
	x.ask(t, 1)
	if err := <-done; err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(x.ctx)
	cancel()
	if err := x.Wait(ctx, x.Seq()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// shaky is a log whose disk is full now and then, and whose answers get lost.
type shaky struct {
	study.MemoryLog
	before, after bool
}

var errDisk = errors.New("disk")

func (s *shaky) Append(ctx context.Context, events ...study.Event) error {
	if s.before {
		return errDisk
	}
	if err := s.MemoryLog.Append(ctx, events...); err != nil || !s.after {
		return err
	}
	return errDisk
}

func (s *shaky) Events(ctx context.Context, after int64) iter.Seq2[study.Event, error] {
	return s.MemoryLog.Events(ctx, after)
}

// Whether an event was written or not, after an error the state is that of the
// log, and the same command may come again.
func TestLogFails(t *testing.T) {
	t.Parallel()
	log := new(shaky)
	if _, err := study.Create(t.Context(), log, settings(nil), "", time.Now()); err != nil {
		t.Fatal(err)
	}
	x := reopen(t, &table{log: log, clock: &clock{now: time.Now()}, nodes: 9})
	x.ask(t, 2)
	for _, c := range []struct{ before, after bool }{{true, false}, {false, true}} {
		was := shown(t, x.Study)
		trial := 1
		if c.after {
			trial = 2
		}
		log.before, log.after = c.before, c.after
		_, err := x.Tell(x.ctx, trial, study.Outcome{Value: 5}, "")
		if c.after { // the log has it
			if err != nil || x.trial(trial).State != study.TrialDone {
				t.Fatalf("a result that is in the log: %v", err)
			}
		} else if !errors.Is(err, errDisk) || shown(t, x.Study) != was {
			t.Fatalf("%v, and the state may not change with nothing written", err)
		}
		log.before, log.after = false, false
		if got, err := x.Tell(x.ctx, trial, study.Outcome{Value: 5}, ""); err != nil || got.State != study.TrialDone {
			t.Errorf("%+v, %v", got, err)
		}
	}
	x.View(func(s *study.State) {
		if len(s.Records) != 2 {
			t.Errorf("%d values", len(s.Records))
		}
	})
	if again := reopen(t, x); shown(t, again.Study) != shown(t, x.Study) {
		t.Error("the log says something else")
	}
}

// Two who write to one log both go on.
func TestTwoWriters(t *testing.T) {
	t.Parallel()
	x := newTable(t, 50, nil)
	y := reopen(t, x)
	for range 10 {
		x.ask(t, 2)
		y.ask(t, 1)
	}
	if err := x.Resume(x.ctx, ""); err != nil { // reads on
		t.Fatal(err)
	}
	x.ask(t, 1)
	seen := map[string]bool{}
	reopen(t, x).View(func(s *study.State) {
		for _, trial := range s.Trials {
			if seen[trial.Node] {
				t.Errorf("%s twice", trial.Node)
			}
			seen[trial.Node] = true
		}
		if len(s.Trials) != 31 {
			t.Errorf("%d trials", len(s.Trials))
		}
	})
}

// stuck is a log whose next event takes as long as somebody wants.
type stuck struct {
	study.MemoryLog
	began, end chan struct{} // nil: none is stuck
}

func (s *stuck) Append(ctx context.Context, events ...study.Event) error {
	if s.began != nil {
		close(s.began)
		<-s.end
	}
	return s.MemoryLog.Append(ctx, events...)
}

// Who reads does not wait for a disk that hangs, and sees what is on it.
func TestReadingWhileWriting(t *testing.T) {
	t.Parallel()
	log := new(stuck)
	if _, err := study.Create(t.Context(), log, settings(nil), "", time.Now()); err != nil {
		t.Fatal(err)
	}
	x := reopen(t, &table{log: log, clock: &clock{now: time.Now()}, nodes: 9})
	log.began, log.end = make(chan struct{}), make(chan struct{})
	paused := make(chan error, 1)
	go func() { paused <- x.Pause(x.ctx, "", "") }()
	<-log.began
	x.View(func(s *study.State) {
		if s.Seq != 1 || s.Status != study.StatusOpen {
			t.Errorf("event %d, %s: not written yet", s.Seq, s.Status)
		}
	})
	close(log.end)
	if err := <-paused; err != nil || x.Seq() != 2 {
		t.Errorf("event %d, %v", x.Seq(), err)
	}
}
