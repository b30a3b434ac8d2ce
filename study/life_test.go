package study_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"grfgp/study"
)

func TestArchivedStudyIsReadOnly(t *testing.T) {
	t.Parallel()
	x := newTable(t, 5, nil)
	first := x.ask(t, 2)
	if err := x.Pause(x.ctx, "holiday", "anna"); err != nil {
		t.Fatal(err)
	}
	if err := x.Archive(x.ctx, "ended", "ben"); err != nil {
		t.Fatal(err)
	}
	at := x.Seq()
	if err := x.Archive(x.ctx, "again", "ben"); err != nil || x.Seq() != at {
		t.Errorf("archiving twice: %v, %d events", err, x.Seq()-at)
	}
	x.clock.Add(48 * time.Hour) // beyond the leases
	refused := map[string]error{
		"expire":  x.Expire(x.ctx),
		"pause":   x.Pause(x.ctx, "", ""),
		"close":   x.Close(x.ctx, "", ""),
		"resume":  x.Resume(x.ctx, ""),
		"tell":    second(x.Tell(x.ctx, first[0].Trial, study.Outcome{Value: 1}, "")),
		"observe": second(x.Observe(x.ctx, "", []study.Measurement{{Node: "n1", Value: 1}}, "", "")),
		"queue":   second(x.Queue(x.ctx, []string{"n4"}, "", "")),
		"ask":     second(x.Ask(x.ctx, study.AskRequest{Count: 1})),
		"take":    second(x.Ask(x.ctx, study.AskRequest{Nodes: []string{"n4"}})),
	}
	for what, err := range refused {
		if what == "expire" {
			if err != nil {
				t.Errorf("expire: %v", err)
			}
		} else if !errors.Is(err, study.ErrConflict) || !strings.Contains(err.Error(), "archived") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if x.Seq() != at {
		t.Errorf("%d events of an archived study", x.Seq()-at)
	}
	x = reopen(t, x)
	if err := x.Restore(x.ctx, "ben"); err != nil {
		t.Fatal(err)
	}
	x.View(func(s *study.State) {
		if s.Status != study.StatusPaused || s.Stopped == nil || s.Stopped.Note != "holiday" {
			t.Errorf("restored as %s, %+v", s.Status, s.Stopped)
		}
	})
	if err := x.Expire(x.ctx); err != nil || x.trial(1).State != study.TrialExpired {
		t.Errorf("%v; trial %+v", err, x.trial(1))
	}
}

func second[T any](_ T, err error) error { return err }

func TestDeletedStudy(t *testing.T) {
	t.Parallel()
	x := newTable(t, 5, nil)
	broken := errors.New("the disk fails")
	if err := x.Delete(x.ctx, func(context.Context) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	x.ask(t, 1) // it is there still
	woken := make(chan error)
	go func() { woken <- x.Wait(x.ctx, x.Seq()) }()
	if err := x.Delete(x.ctx, func(context.Context) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := <-woken; !errors.Is(err, study.ErrNotFound) {
		t.Errorf("waiting: %v", err)
	}
	if _, err := x.Tell(x.ctx, 1, study.Outcome{Value: 1}, ""); !errors.Is(err, study.ErrNotFound) {
		t.Errorf("a result of a deleted study: %v", err)
	}
}

// The queue goes first, in order, whatever the policy; and verify knows it.
func TestQueue(t *testing.T) {
	t.Parallel()
	budget := 6.0
	x := newTable(t, 10, func(s *study.Settings) { s.Budget = &budget })
	if _, err := x.Queue(x.ctx, []string{"n7", "n2", "n5"}, "near the valve", "anna"); err != nil {
		t.Fatal(err)
	}
	at := x.Seq()
	if q, err := x.Queue(x.ctx, []string{"n2", "n7"}, "", "ben"); err != nil || len(q) != 3 || x.Seq() != at {
		t.Errorf("queued again: %v, %v", q, err)
	}
	if _, err := x.Queue(x.ctx, []string{"nowhere"}, "", ""); !errors.Is(err, study.ErrUnknownNode) {
		t.Errorf("%v", err)
	}
	if got, _, err := x.Preview(x.ctx, 2); err != nil || got.List[0].Node != "n7" || got.List[1].Node != "n2" {
		t.Errorf("preview %+v, %v", got, err)
	}
	a := x.ask(t, 2)
	if a[0].Node != "n7" || a[1].Node != "n2" || a[0].Why != "queued by anna: near the valve" || a[0].Mean != nil {
		t.Errorf("%+v", a)
	}
	if _, err := x.Queue(x.ctx, []string{"n7"}, "", ""); !errors.Is(err, study.ErrConflict) {
		t.Errorf("a reserved node: %v", err)
	}
	x = reopen(t, x)
	b := x.ask(t, 2)
	if b[0].Node != "n5" || b[1].Why != "drawn" {
		t.Errorf("%+v", b)
	}
	own, err := x.Ask(x.ctx, study.AskRequest{Nodes: []string{"n0"}, Holder: "ben", Key: "k"})
	if err != nil && !errors.Is(err, study.ErrConflict) { // the draw may have it
		t.Fatal(err)
	}
	if err == nil {
		if own.Trials[0].Why != "chosen by ben" || !own.Chosen {
			t.Errorf("%+v", own)
		}
		if again, err := x.Ask(x.ctx, study.AskRequest{Nodes: []string{"n0"}, Holder: "ben", Key: "k"}); err != nil || again.Seq != own.Seq {
			t.Errorf("the same key: %+v, %v", again, err)
		}
		if _, err := x.Ask(x.ctx, study.AskRequest{Nodes: []string{"n1"}, Holder: "ben", Key: "k"}); !errors.Is(err, study.ErrConflict) {
			t.Errorf("the same key for another node: %v", err)
		}
	}
	if _, err := x.Queue(x.ctx, x.open(3), "", ""); err != nil {
		t.Fatal(err)
	}
	last, err := x.Ask(x.ctx, study.AskRequest{Count: 5})
	if err != nil || last.Short == "" {
		t.Errorf("beyond the budget: %+v, %v", last, err)
	}
	x.View(func(s *study.State) {
		if s.Spent() > budget || len(s.Queue) == 0 {
			t.Errorf("spent %v of %v, queue %v", s.Spent(), budget, s.Queue)
		}
	})
	if v, err := study.Verify(x.ctx, x.Events(x.ctx, 0), by(newDraws(10, x.Settings()))); err != nil || v.Suggestions != 3 {
		t.Errorf("%+v, %v", v, err)
	}
}

// open returns nodes that are neither reserved nor measured.
func (x *table) open(n int) (nodes []string) {
	x.View(func(s *study.State) {
		for i := 0; len(nodes) < n; i++ {
			if node := fmt.Sprint("n", i); !slices.Contains(s.Pending(), node) {
				nodes = append(nodes, node)
			}
		}
	})
	return nodes
}

// A change of settings is an event: later asks follow the new ones, earlier ones stay
// verifiable, and an archive under another name has both.
func TestChangedSettings(t *testing.T) {
	t.Parallel()
	x := newTable(t, 12, nil)
	x.ask(t, 2)
	was := x.Settings()
	to, err := was.Merge([]byte(`{"budget": 4, "lease": "30m", "seed": 99, "repeats": true}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Change(x.ctx, was, to, "too little money", "anna"); err != nil {
		t.Fatal(err)
	}
	at := x.Seq()
	if _, err := x.Change(x.ctx, was, to, "", ""); err != nil || x.Seq() != at {
		t.Errorf("the same change again: %v", err)
	}
	other := to
	other.Seed = 5
	if _, err := x.Change(x.ctx, was, other, "", ""); !errors.Is(err, study.ErrConflict) {
		t.Errorf("a change of older settings: %v", err)
	}
	asked, err := x.Ask(x.ctx, study.AskRequest{Count: 5})
	if err != nil || len(asked.Trials) != 2 || asked.Until != x.clock.Now().Add(30*time.Minute) {
		t.Errorf("%+v, %v", asked, err)
	}
	engines := study.Checks{Engine: func(s study.Settings) (study.Engine, error) { return newDraws(12, s), nil }}
	if v, err := study.Verify(x.ctx, x.Events(x.ctx, 0), engines); err != nil || v.Suggestions != 2 {
		t.Errorf("%+v, %v", v, err)
	}
	var file bytes.Buffer
	if err := study.Export(&file, nil, x.Events(x.ctx, 0)); err != nil {
		t.Fatal(err)
	}
	a, err := study.ReadArchive(&file)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Rename("copy"); err != nil {
		t.Fatal(err)
	}
	again, err := study.Replay(a.Events...)
	if err != nil || again.Settings.Name != "copy" || *again.Settings.Budget != 4 || again.Settings.Seed != 99 {
		t.Errorf("%+v, %v", again, err)
	}
	removed, err := to.Merge([]byte(`{"budget": null}`))
	if err != nil || removed.Budget != nil || removed.Seed != 99 {
		t.Errorf("%+v, %v", removed, err)
	}
}

func TestChangesThatAreRefused(t *testing.T) {
	t.Parallel()
	x := newTable(t, 5, nil)
	if _, err := x.Observe(x.ctx, "", []study.Measurement{{Node: "n1", Value: 0.5}}, "", ""); err != nil {
		t.Fatal(err)
	}
	was := x.Settings()
	for patch, want := range map[string]error{
		`{"name": "other"}`:             study.ErrInvalid,
		`{"graph": "other"}`:            study.ErrInvalid,
		`{"budget": -1}`:                study.ErrInvalid,
		`{"lease": "-1s"}`:              study.ErrInvalid,
		`{"leese": "1s"}`:               study.ErrInvalid,
		`{"spec": {"rank": -2}}`:        study.ErrInvalid,
		`{"spec": {"values": "count"}}`: study.ErrConflict, // 0.5 is none
		`[1]`:                           study.ErrInvalid,
		`{} {}`:                         study.ErrInvalid,
		``:                              study.ErrInvalid,
	} {
		to, err := was.Merge([]byte(patch))
		if err == nil {
			_, err = x.Change(x.ctx, was, to, "", "")
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", patch, err, want)
		}
	}
}

// An archive with a node that the graph does not have is found.
func TestArchiveNodes(t *testing.T) {
	t.Parallel()
	x := newTable(t, 5, nil)
	if _, err := x.Observe(x.ctx, "", []study.Measurement{{Node: "n1", Value: 1}}, "", ""); err != nil {
		t.Fatal(err)
	}
	ids := newDraws(5, x.Settings()).IDs()
	var all []study.Event
	for e, err := range x.Events(x.ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	a := &study.Archive{Events: all}
	if err := a.CheckNodes(ids); err != nil {
		t.Errorf("%v", err)
	}
	a.Events[1].Data = study.Observed{Values: []study.Measurement{{Node: "nowhere", Value: 1}}}
	if err := a.CheckNodes(ids); !errors.Is(err, study.ErrCorrupt) {
		t.Errorf("%v", err)
	}
}
