package storetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"grfgp/bayesopt"
	"grfgp/store"
	"grfgp/study"
)

// Run tests the contract of a store.Store. location returns the location of a new,
// empty store; durable stores keep their content after Close.
func Run(t *testing.T, durable bool, location func(t *testing.T) string) {
	for name, test := range map[string]func(t *testing.T, s store.Store){
		"empty":         empty,
		"events":        events,
		"sequence":      sequence,
		"many events":   manyEvents,
		"writers race":  writersRace,
		"studies":       studies,
		"graphs":        graphs,
		"checkpoints":   checkpoints,
		"marks":         marks,
		"study creates": creates,
		"summaries":     summaries,
		"encoded":       encoded,
		"deleted":       deleted,
		"health":        health,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t, location(t))) })
	}
	if durable {
		t.Run("reopened", func(t *testing.T) { reopened(t, location(t)) })
		t.Run("held", func(t *testing.T) { held(t, location(t)) })
	}
}

func open(t *testing.T, location string) store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), location, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)

// All returns events of every kind, in a valid order.
func All(name string) []study.Event {
	one, half := 1.0, 0.5
	settings := study.Settings{Name: name, Graph: "g", Goal: bayesopt.Threshold(0.25), Seed: 7, Budget: &one, Lease: study.DefaultLease,
		Cost: map[string]float64{"ä": 0.1, "b": 0.2}}
	changed := settings
	changed.Budget, changed.Lease = nil, study.Duration(time.Hour)
	trial := func(id int, node string) study.Issued {
		return study.Issued{Trial: id, Node: node, Cost: 0.1, Why: "because", Mean: &half, SD: &one}
	}
	var all []study.Event
	for _, p := range []study.Payload{
		study.Created{Settings: settings},
		study.Asked{Key: "k", Count: 3, Basis: 1, Until: noon.Add(time.Hour), Short: bayesopt.NoNodesLeft,
			Trials: []study.Issued{trial(1, "ä"), trial(2, "b\"\n")}},
		study.Told{Trial: 1, Value: &half, Note: "n"},
		study.Observed{Key: "o", Values: []study.Measurement{{Node: "c", Value: 1e308}, {Node: "d", Value: -5e-324}}},
		study.Renewed{Trial: 2, Until: noon.Add(2 * time.Hour)},
		study.Expired{Trials: []int{2}},
		study.Told{Trial: 2},
		study.Asked{Count: 3, Basis: 7, Until: noon, Trials: []study.Issued{trial(3, "e"), trial(4, "f")}},
		study.Released{Trial: 3},
		study.Abandoned{Trial: 4, Note: "gone"},
		study.Reopened{Trial: 4, Until: noon.Add(3 * time.Hour), Note: "found"},
		study.Retracted{Value: 1, Note: "wrong"},
		study.Reinstated{Value: 1},
		study.Paused{Note: "p"},
		study.Resumed{},
		study.Changed{Settings: changed, Note: "more"},
		study.Queued{Nodes: []study.Chosen{{Node: "g", Cost: 0.1}, {Node: "h", Cost: 0.2}}, Note: "mine"},
		study.Unqueued{Nodes: []string{"h"}},
		study.Asked{Count: 1, Basis: 18, Until: noon, Chosen: true,
			Trials: []study.Issued{{Trial: 5, Node: "g", Cost: 0.1, Why: "chosen by someone"}}},
		study.Archived{Note: "a"},
		study.Restored{},
		study.Closed{Note: "c"},
	} {
		all = append(all, study.Event{Seq: int64(len(all) + 1), Time: noon.Add(time.Duration(len(all)) * time.Second), By: "someone", Data: p})
	}
	return all
}

// plain returns events that are valid for a log but not for a study, numbered from
// first.
func plain(first, n int) []study.Event {
	all := make([]study.Event, n)
	for k := range all {
		all[k] = study.Event{Seq: int64(first + k), Time: noon, Data: study.Paused{Note: fmt.Sprint(first + k)}}
	}
	return all
}

// read returns the events with numbers above after.
func read(t *testing.T, l study.Log, after int64) []study.Event {
	t.Helper()
	var all []study.Event
	for e, err := range l.Events(t.Context(), after) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// same compares events by their JSON.
func same(t *testing.T, got, want []study.Event) {
	t.Helper()
	a, errA := json.Marshal(got)
	b, errB := json.Marshal(want)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("events (%v, %v)\n%s\nwant\n%s", errA, errB, a, b)
	}
}

func empty(t *testing.T, s store.Store) {
	all, err := s.Studies(t.Context())
	if err != nil || all == nil || len(all) != 0 {
		t.Errorf("studies %v, %v", all, err)
	}
	graphs, err := s.Graphs(t.Context())
	if err != nil || graphs == nil || len(graphs) != 0 {
		t.Errorf("graphs %v, %v", graphs, err)
	}
	if got := read(t, s.Log("nobody"), 0); len(got) != 0 {
		t.Errorf("events %v", got)
	}
}

func events(t *testing.T, s store.Store) {
	all := All("s")
	if _, err := study.Replay(all...); err != nil {
		t.Fatal(err)
	}
	l := s.Log("s")
	if err := l.Append(t.Context(), all[:5]...); err != nil {
		t.Fatal(err)
	}
	for _, e := range all[5:] {
		if err := l.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	same(t, read(t, l, 0), all)
	same(t, read(t, l, 4), all[4:])
	same(t, read(t, s.Log("s"), int64(len(all))), nil)
}

func sequence(t *testing.T, s store.Store) {
	l := s.Log("s")
	for _, bad := range [][]study.Event{plain(2, 1), plain(0, 1), append(plain(1, 2), plain(4, 1)...)} {
		if err := l.Append(t.Context(), bad...); !errors.Is(err, study.ErrSequence) {
			t.Errorf("events %v: %v", bad, err)
		}
	}
	if got := read(t, l, 0); len(got) != 0 {
		t.Fatalf("%v was written all the same", got)
	}
	if err := l.Append(t.Context(), plain(1, 3)...); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(t.Context(), plain(3, 2)...); !errors.Is(err, study.ErrSequence) {
		t.Errorf("number 3 twice: %v", err)
	}
	same(t, read(t, l, 0), plain(1, 3))
}

func manyEvents(t *testing.T, s store.Store) {
	const n = 1300
	l := s.Log("s")
	if err := l.Append(t.Context(), plain(1, n)...); err != nil {
		t.Fatal(err)
	}
	same(t, read(t, l, 0), plain(1, n))
	same(t, read(t, l, n-1), plain(n, 1))
	for e, err := range l.Events(t.Context(), 0) { // a reader does not keep a writer waiting
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq == 700 {
			if err := l.Append(t.Context(), plain(n+1, 1)...); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	same(t, read(t, l, n), plain(n+1, 1))
}

func writersRace(t *testing.T, s store.Store) {
	const writers, each = 8, 25
	l := s.Log("s")
	var won atomic.Int64
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := 1; n <= each; n++ {
				e := study.Event{Seq: int64(n), Time: noon, Data: study.Paused{Note: fmt.Sprint(w)}}
				err := l.Append(context.Background(), e)
				for errors.Is(err, study.ErrSequence) && len(read(t, l, int64(n-1))) == 0 { // not yet
					err = l.Append(context.Background(), e)
				}
				switch {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, study.ErrSequence):
					t.Errorf("event %d: %v", n, err)
				}
			}
		})
	}
	wg.Wait()
	if got := read(t, l, 0); len(got) != each || won.Load() != each {
		t.Errorf("%d events, %d of them said to be written; want %d", len(got), won.Load(), each)
	}
}

func studies(t *testing.T, s store.Store) {
	for _, name := range []string{"b", "a'; --", "Ü"} {
		if err := s.Log(name).Append(t.Context(), All(name)[:3]...); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Studies(t.Context())
	if err != nil || len(got) != 3 || got[0].Name != "a'; --" || got[1].Name != "b" || got[2].Name != "Ü" {
		t.Fatalf("%v, %v", got, err)
	}
	for _, i := range got {
		if i.Events != 3 || !i.Created.Equal(noon) || !i.Updated.Equal(noon.Add(2*time.Second)) {
			t.Errorf("%+v", i)
		}
		same(t, read(t, s.Log(i.Name), 0), All(i.Name)[:3])
	}
}

func graphs(t *testing.T, s store.Store) {
	big := bytes.Repeat([]byte("graph\x00\xff"), 200_000)
	for _, packed := range [][]byte{[]byte("small"), big, big} {
		id, err := s.PutGraph(t.Context(), packed)
		if err != nil || id != store.GraphID(packed) {
			t.Fatalf("id %s, %v", id, err)
		}
		back, err := s.Graph(t.Context(), id)
		if err != nil || !bytes.Equal(back, packed) {
			t.Fatalf("%d bytes back of %d, %v", len(back), len(packed), err)
		}
	}
	if _, err := s.Graph(t.Context(), "nothing"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no graph: %v", err)
	}
	if all, err := s.Graphs(t.Context()); err != nil || len(all) != 2 {
		t.Errorf("%v, %v", all, err)
	}
}

func checkpoints(t *testing.T, s store.Store) {
	if got, err := s.Checkpoints("s").Load(t.Context()); err != nil || got != nil {
		t.Errorf("no checkpoint saved: %q, %v", got, err)
	}
	if err := s.Checkpoints("s").Save(t.Context(), []byte("none")); err != nil {
		t.Error(err)
	}
	if got, err := s.Checkpoints("s").Load(t.Context()); err != nil || got != nil {
		t.Errorf("a checkpoint of no study: %q, %v", got, err)
	}
	if err := s.Log("s").Append(t.Context(), plain(1, 1)...); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"one", "two\x00"} {
		if err := s.Checkpoints("s").Save(t.Context(), []byte(want)); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Checkpoints("s").Load(t.Context()); err != nil || string(got) != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	if got, err := s.Checkpoints("t").Load(t.Context()); err != nil || got != nil {
		t.Errorf("another study: %q, %v", got, err)
	}
}

func deleted(t *testing.T, s store.Store) {
	ctx := t.Context()
	graph, err := s.PutGraph(ctx, []byte("packed"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := s.PutGraph(ctx, []byte("another"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if _, err := study.Create(ctx, s.Log(name), study.Settings{Name: name, Graph: graph}, "", noon); err != nil {
			t.Fatal(err)
		}
		if err := s.Log(name).Append(ctx, study.Event{Seq: 2, Time: noon, Data: study.Paused{}}); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.Checkpoints(name).Save(ctx, []byte("c")), s.SetMark(ctx, name, "m")); err != nil {
			t.Fatal(err)
		}
	}
	if uses, err := s.GraphStudies(ctx); err != nil || fmt.Sprint(uses) != fmt.Sprint(map[string][]string{graph: {"a", "b"}}) {
		t.Errorf("%v, %v", uses, err)
	}
	if err := s.DeleteGraph(ctx, graph); !errors.Is(err, store.ErrInUse) {
		t.Errorf("a graph in use: %v", err)
	}
	if err := s.DeleteGraph(ctx, other); err != nil {
		t.Error(err)
	}
	if err := s.DeleteGraph(ctx, other); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
	if err := s.DeleteStudy(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteStudy(ctx, "a"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
	marks, err := s.Marks(ctx)
	if err != nil || len(marks) != 1 || marks["b"] != "m" {
		t.Errorf("marks %v, %v", marks, err)
	}
	if c, err := s.Checkpoints("a").Load(ctx); err != nil || c != nil {
		t.Errorf("a checkpoint is left: %q, %v", c, err)
	}
	if got := read(t, s.Log("a"), 0); len(got) != 0 {
		t.Errorf("events are left: %v", got)
	}
	if got := read(t, s.Log("b"), 0); len(got) != 2 {
		t.Errorf("the other study has %v", got)
	}
	if all, err := s.Studies(ctx); err != nil || len(all) != 1 || all[0].Name != "b" {
		t.Errorf("%+v, %v", all, err)
	}
	if isNew, err := study.Create(ctx, s.Log("a"), study.Settings{Name: "a", Graph: graph}, "", noon); err != nil || !isNew {
		t.Errorf("created again: %v, %v", isNew, err)
	}
	if err := errors.Join(s.DeleteStudy(ctx, "a"), s.DeleteStudy(ctx, "b"), s.DeleteGraph(ctx, graph)); err != nil {
		t.Error(err)
	}
}

func health(t *testing.T, s store.Store) {
	ctx := t.Context()
	if err := errors.Join(s.Present(), s.Check(ctx, false), s.Check(ctx, true), s.Check(ctx, true)); err != nil {
		t.Error(err)
	}
	if _, err := s.PutGraph(ctx, bytes.Repeat([]byte("packed"), 1000)); err != nil {
		t.Fatal(err)
	}
	if stats, err := s.Stats(ctx); err != nil || stats.Bytes == 0 || stats.Commits.Failed != 0 {
		t.Errorf("%+v, %v", stats, err)
	}
	if marks, err := s.Marks(ctx); err != nil || len(marks) != 0 {
		t.Errorf("marks %v, %v", marks, err)
	}
	copied, size, err := s.Backup(ctx)
	if errors.Is(err, store.ErrNoBackup) {
		return
	}
	if err != nil || size == 0 {
		t.Fatalf("%d bytes, %v", size, err)
	}
	if err := copied.Close(); err != nil {
		t.Error(err)
	}
}

func creates(t *testing.T, s store.Store) {
	settings := study.Settings{Name: "s", Graph: "g"}
	for _, want := range []bool{true, false} {
		if isNew, err := study.Create(t.Context(), s.Log("s"), settings, "", noon); err != nil || isNew != want {
			t.Errorf("new %v, %v; want %v", isNew, err, want)
		}
	}
	settings.Seed = 9
	if _, err := study.Create(t.Context(), s.Log("s"), settings, "", noon); !errors.Is(err, study.ErrConflict) {
		t.Errorf("other settings: %v", err)
	}
	if _, err := study.Open(t.Context(), s.Log("t"), study.Options{}); !errors.Is(err, study.ErrNotFound) {
		t.Errorf("no study: %v", err)
	}
}

func reopened(t *testing.T, location string) {
	s := open(t, location)
	if err := s.Log("s").Append(t.Context(), All("s")...); err != nil {
		t.Fatal(err)
	}
	id, err := s.PutGraph(t.Context(), []byte("graph"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, location)
	same(t, read(t, s.Log("s"), 0), All("s"))
	if back, err := s.Graph(t.Context(), id); err != nil || string(back) != "graph" {
		t.Errorf("%q, %v", back, err)
	}
}

func held(t *testing.T, location string) {
	s := open(t, location)
	if other, err := store.Open(t.Context(), location, store.Options{}); !errors.Is(err, store.ErrHeld) {
		t.Fatalf("a second owner: %v, %v", other, err)
	}
	if err := s.Log("s").Append(t.Context(), plain(1, 1)...); err != nil {
		t.Errorf("the first owner, after that: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, location)
}

// marks are set, replaced and removed, by study.
func marks(t *testing.T, s store.Store) {
	set := func(name, text string) {
		t.Helper()
		if err := s.SetMark(t.Context(), name, text); err != nil {
			t.Fatal(err)
		}
	}
	want := func(want string) {
		t.Helper()
		if got, err := s.Marks(t.Context()); err != nil || fmt.Sprint(got) != want {
			t.Errorf("marks %v, want %s (%v)", got, want, err)
		}
	}
	want("map[]")
	set("a", "one")
	set("ä", "two")
	set("a", "three")
	want("map[a:three ä:two]")
	set("a", "")
	set("b", "")
	want("map[ä:two]")
	if all, err := s.Studies(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("studies %v: %v", all, err)
	}
}

// summaries are those of the last event, or none.
func summaries(t *testing.T, s store.Store) {
	l, ok := s.Log("s").(study.SummaryLog)
	if !ok {
		t.Fatalf("%T keeps no summaries", s.Log("s"))
	}
	state := new(study.State)
	all := All("s")
	add := func(with bool, events ...study.Event) {
		t.Helper()
		for _, e := range events {
			if err := state.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
		err := error(nil)
		if with {
			err = l.AppendSummary(t.Context(), state.Summary(), events...)
		} else {
			err = l.Append(t.Context(), events...)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	want := func(want *study.Summary) {
		t.Helper()
		infos, err := s.Studies(t.Context())
		if err != nil || len(infos) != 1 {
			t.Fatalf("%v, %v", infos, err)
		}
		a, errA := json.Marshal(infos[0].Summary)
		b, errB := json.Marshal(want)
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("summary\n%s\nwant\n%s", a, b)
		}
	}
	add(true, all[0])
	want(state.Summary())
	if m := state.Summary(); m.Settings.Cost != nil || state.Settings.Cost == nil {
		t.Error("a summary has lists of nodes")
	}
	add(true, all[1:5]...)
	want(state.Summary())
	add(false, all[5]) // by a program that writes none
	want(nil)
	add(true) // found later
	want(state.Summary())
	old := state.Summary()
	add(true, all[6:]...)
	if err := l.AppendSummary(t.Context(), old); err != nil {
		t.Error(err)
	}
	if infos, err := s.Studies(t.Context()); err != nil || infos[0].Summary != nil && infos[0].Summary.Seq != int64(len(all)) {
		t.Errorf("an older summary came late: %+v, %v", infos[0].Summary, err)
	}
}

// encoded events are those of Events.
func encoded(t *testing.T, s store.Store) {
	l, ok := s.Log("s").(study.EncodedLog)
	if !ok {
		t.Skip("the log encodes none")
	}
	all := All("s")
	if err := l.Append(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
	for _, most := range []int{1, 300, 1 << 20} {
		var got []study.Event
		for len(got) < len(all) {
			part, err := l.Encoded(t.Context(), int64(len(got)), most)
			if err != nil || len(part) == 0 {
				t.Fatalf("after %d: %v, %v", len(got), part, err)
			}
			for _, e := range part {
				var decoded study.Event
				if err := json.Unmarshal(e.JSON, &decoded); err != nil || decoded.Seq != e.Seq || decoded.Kind() != e.Kind {
					t.Fatalf("%+v: %v", e, err)
				}
				got = append(got, decoded)
			}
			if most == 1 && len(part) != 1 {
				t.Errorf("%d events in a byte", len(part))
			}
		}
		same(t, got, all)
	}
	if none, err := l.Encoded(t.Context(), int64(len(all)), 1000); err != nil || len(none) != 0 {
		t.Errorf("behind the last: %v, %v", none, err)
	}
}
