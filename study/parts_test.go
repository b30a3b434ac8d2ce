package study_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"grfgp/study"
)

// An ask in parts gives distinct nodes, lets others in between, and is the same again with
// its key, also after it was broken off.
func TestAskInParts(t *testing.T) {
	t.Parallel()
	x := newTable(t, 300, nil)
	r := study.AskRequest{Count: 95, Key: "k", Holder: "anna"}
	ctx, cancel := context.WithCancel(t.Context())
	parts := study.Parts{Size: 10, Reserved: func(a study.Ask) {
		x.ask(t, 1) // another
		if len(a.Trials) == 40 {
			cancel()
		}
	}}
	broken, err := x.AskInParts(ctx, r, parts)
	if !errors.Is(err, context.Canceled) || len(broken.Trials) != 40 {
		t.Fatalf("%d trials, %v", len(broken.Trials), err)
	}
	x = reopen(t, x)
	whole, err := x.AskInParts(t.Context(), r, study.Parts{Size: 10})
	if err != nil || len(whole.Trials) != 95 || whole.Short != "" || whole.Count != 95 {
		t.Fatalf("%+v, %v", whole, err)
	}
	if !slices.Equal(whole.Trials[:40], broken.Trials) {
		t.Error("other nodes than before")
	}
	seen := map[string]bool{}
	for _, i := range whole.Trials {
		if seen[i.Node] {
			t.Errorf("node %s twice", i.Node)
		}
		seen[i.Node] = true
	}
	seq := x.Seq()
	if again, err := x.AskInParts(t.Context(), r, study.Parts{Size: 10}); err != nil || !slices.Equal(again.Trials, whole.Trials) ||
		x.Seq() != seq {
		t.Errorf("with the same key: %d trials, %v", len(again.Trials), err)
	}
	for _, other := range []study.AskRequest{{Count: 96, Key: "k", Holder: "anna"}, {Count: 10, Key: "k", Holder: "anna"},
		{Count: 95, Key: "k", Holder: "ben"}} {
		if _, err := x.AskInParts(t.Context(), other, study.Parts{Size: 10}); !errors.Is(err, study.ErrConflict) {
			t.Errorf("%+v: %v", other, err)
		}
	}
	if _, err := study.Verify(t.Context(), x.Events(t.Context(), 0), by(newDraws(x.nodes, x.Settings()))); err != nil {
		t.Error(err)
	}
	if rest, err := x.AskInParts(t.Context(), study.AskRequest{Count: 300}, study.Parts{Size: 70}); err != nil || rest.Short == "" ||
		len(rest.Trials) >= 300 {
		t.Errorf("more than there are: %d trials, %q, %v", len(rest.Trials), rest.Short, err)
	}
}

// An ask in one piece is answered in one piece again, also when parts are allowed.
func TestAskInPartsAfterWhole(t *testing.T) {
	t.Parallel()
	x := newTable(t, 300, nil)
	r := study.AskRequest{Count: 95, Key: "k", Holder: "anna"}
	whole, err := x.Ask(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := x.AskInParts(t.Context(), r, study.Parts{Size: 10}); err != nil || !slices.Equal(again.Trials, whole.Trials) {
		t.Errorf("%d trials, %v", len(again.Trials), err)
	}
}

// Who waits for another ask too long is told so.
func TestAskWaits(t *testing.T) {
	t.Parallel()
	x, log := newGated(t, 30)
	began, end := make(chan struct{}), make(chan struct{})
	log.let(func([]study.Event) error { close(began); <-end; return nil }, nil)
	done := make(chan error, 1)
	go func() {
		_, err := x.Ask(x.ctx, study.AskRequest{Count: 1})
		done <- err
	}()
	<-began
	if _, err := x.Ask(x.ctx, study.AskRequest{Count: 1, Wait: time.Millisecond}); !errors.Is(err, study.ErrBusy) {
		t.Errorf("%v", err)
	}
	log.let(nil, nil)
	close(end)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := x.Ask(x.ctx, study.AskRequest{Count: 1, Wait: time.Minute}); err != nil {
		t.Error(err)
	}
}
