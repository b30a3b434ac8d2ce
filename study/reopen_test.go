package study_test

import (
	"errors"
	"testing"
	"time"

	"grfgp/study"
)

// However a trial ended, reopening makes it pending again, as if it had not.
func TestReopen(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(x *table) error{
		"told": func(x *table) error {
			_, err := x.Tell(x.ctx, 1, study.Outcome{Value: 4150, Note: "n"}, "anna")
			return err
		},
		"failed":    func(x *table) error { _, err := x.Tell(x.ctx, 1, study.Outcome{Failed: true}, "anna"); return err },
		"abandoned": func(x *table) error { _, err := x.Abandon(x.ctx, 1, "flooded", "anna"); return err },
		"released":  func(x *table) error { _, err := x.Release(x.ctx, 1, "anna"); return err },
		"expired":   func(x *table) error { x.clock.Add(time.Hour); return x.Expire(x.ctx) },
	} {
		x := newTable(t, 3, nil)
		x.ask(t, 1)
		before := x.trial(1)
		if err := end(x); err != nil {
			t.Fatal(name, err)
		}
		if name != "expired" && x.trial(1).By != "anna" {
			t.Errorf("%s: ended by %q", name, x.trial(1).By)
		}
		if _, err := x.Reopen(x.ctx, 1, "slip", "anna"); err != nil {
			t.Fatal(name, err)
		}
		got := x.trial(1)
		if name == "expired" {
			if !got.Until.After(before.Until) {
				t.Errorf("the lease ends %v", got.Until)
			}
			got.Until = before.Until
		}
		if got != before {
			t.Errorf("%s: %+v, and before %+v", name, got, before)
		}
		x.View(func(st *study.State) {
			if n := len(st.AbandonedNodes()) + len(st.Measurements()); n != 0 {
				t.Errorf("%s: %v, %v", name, st.AbandonedNodes(), st.Measurements())
			}
			if name == "told" && st.Records[0].Note != "slip" {
				t.Errorf("%+v", st.Records[0])
			}
		})
		if _, err := x.Reopen(x.ctx, 1, "", ""); err != nil { // again
			t.Error(name, err)
		}
		if _, err := x.Tell(x.ctx, 1, study.Outcome{Value: 4150}, ""); err != nil { // it was right after all
			t.Error(name, err)
		}
	}
}

// What others did meanwhile stands.
func TestReopenRefused(t *testing.T) {
	t.Parallel()
	x := newTable(t, 1, nil)
	x.ask(t, 1)
	if _, err := x.Release(x.ctx, 1, ""); err != nil {
		t.Fatal(err)
	}
	x.ask(t, 1)
	if _, err := x.Reopen(x.ctx, 1, "", ""); !errors.Is(err, study.ErrConflict) {
		t.Errorf("the node is reserved by another: %v", err)
	}
	if _, err := x.Reopen(x.ctx, 9, "", ""); !errors.Is(err, study.ErrNotFound) {
		t.Errorf("no such trial: %v", err)
	}
	two := 2.0
	x = newTable(t, 5, func(s *study.Settings) { s.Budget = &two })
	x.ask(t, 2)
	if _, err := x.Abandon(x.ctx, 1, "", ""); err != nil {
		t.Fatal(err)
	}
	x.ask(t, 1)
	if _, err := x.Reopen(x.ctx, 1, "", ""); !errors.Is(err, study.ErrConflict) {
		t.Errorf("the budget is spent: %v", err)
	}
}

// A value that was retracted by mistake comes back, with its note and to its trial.
func TestReinstate(t *testing.T) {
	t.Parallel()
	x := newTable(t, 5, nil)
	x.ask(t, 1)
	if _, err := x.Tell(x.ctx, 1, study.Outcome{Value: 3, Note: "by hand"}, "anna"); err != nil {
		t.Fatal(err)
	}
	before := x.trial(1)
	for range 2 {
		if _, err := x.Retract(x.ctx, 1, "wrong", "ben"); err != nil {
			t.Fatal(err)
		}
		v, err := x.Reinstate(x.ctx, 1, "ben")
		if err != nil || v.Retracted || v.Note != "by hand" || v.By != "anna" {
			t.Fatalf("%+v, %v", v, err)
		}
	}
	x.View(func(st *study.State) {
		best, ok := st.Best()
		if len(st.Measurements()) != 1 || !ok || best.Number != 1 || st.Counts()[study.TrialDone] != 1 || st.Spent() != 1 {
			t.Errorf("%v, %+v, %v, %v", st.Measurements(), best, st.Counts(), st.Spent())
		}
	})
	if got := x.trial(1); got.State != study.TrialDone || *got.Value != *before.Value || got.Number != 1 {
		t.Errorf("%+v", got)
	}
	if _, err := x.Retract(x.ctx, 1, "", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Tell(x.ctx, 1, study.Outcome{Value: 4}, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Reinstate(x.ctx, 1, ""); !errors.Is(err, study.ErrConflict) {
		t.Errorf("the trial has another value: %v", err)
	}
}
