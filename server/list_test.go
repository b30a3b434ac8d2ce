package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"grfgp/server"
	"grfgp/store"
	"grfgp/study"
)

// fill puts studies into a store, each with some events.
func fill(t testing.TB, s store.Store, graph string, studies, events int) {
	t.Helper()
	ctx := context.Background()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for k := range studies {
		name := fmt.Sprintf("s%03d", k)
		settings, err := study.Settings{Name: name, Graph: graph, Seed: uint64(k), Cost: map[string]float64{"n1": 2}}.Complete()
		if err != nil {
			t.Fatal(err)
		}
		all := []study.Event{{Seq: 1, Time: at, Data: study.Created{Settings: settings}}}
		for seq := int64(2); seq <= int64(events); seq++ {
			all = append(all, study.Event{Seq: seq, Time: at.Add(time.Duration(seq) * time.Second), By: "anna",
				Data: study.Observed{Values: []study.Measurement{{Node: "n1", Value: float64(seq)}}}})
		}
		state, err := study.Replay(all...)
		if err != nil {
			t.Fatal(err)
		}
		if err := (&study.Archive{Events: all, State: state}).Write(ctx, s.Log(name)); err != nil {
			t.Fatal(err)
		}
	}
}

// list returns the list of studies, without what their engines do.
func (s *host) list() (text string, n int) {
	s.T.Helper()
	var list struct{ Studies []map[string]any }
	s.Must("GET", "/v1/studies", nil, &list)
	for _, v := range list.Studies {
		delete(v, "engine")
		v["graph"] = v["graph"].(map[string]any)["id"]
	}
	raw, err := json.Marshal(list.Studies)
	if err != nil {
		s.T.Fatal(err)
	}
	return string(raw), len(list.Studies)
}

// A list replays no study, and shows the same as if it had. A study whose summary is missing,
// because an event was appended without one, is replayed once, and not kept in memory.
func TestListReplaysNothing(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(o *server.Options) { o.Store = openStore(t, filepath.Join(t.TempDir(), "studies.db")) })
	graph := h.PutRing(10)
	fill(t, h.Store, graph, 5, 20)
	if err := h.Store.Log("s003").Append(t.Context(), study.Event{
		Seq: 21, Time: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), Data: study.Paused{Note: "old"}}); err != nil {
		t.Fatal(err)
	}
	first, n := h.list()
	if n != 5 {
		t.Fatalf("%d studies", n)
	}
	if studies, _ := h.Server.InMemory(); studies != 0 {
		t.Errorf("%d studies are in memory", studies)
	}
	infos, err := h.Store.Studies(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range infos {
		if i.Summary == nil {
			t.Errorf("%s has no summary", i.Name)
		}
		h.Must("GET", "/v1/studies/"+i.Name, nil, nil)
	}
	if second, _ := h.list(); second != first {
		t.Errorf("with studies in memory the list is\n%s\nand without\n%s", second, first)
	}
	h.Must("POST", "/v1/studies/s001/asks", `{"count":2}`, nil)
	h.Must("PUT", "/v1/studies/s001/trials/1/result", `{"value":7}`, nil)
	h.Must("PUT", "/v1/studies/s001/trials/2/result", `{"failed":true}`, nil)
	open, _ := h.list()
	h.Server.Close()
	again := newHost(t, func(o *server.Options) { o.Store = h.Store })
	if closed, _ := again.list(); closed != open {
		t.Errorf("after a restart the list is\n%s\nand was\n%s", closed, open)
	}
}

// Studies and graphs that nobody uses leave the memory, those in use stay, and a study that
// comes back is the same.
func TestEviction(t *testing.T) {
	t.Parallel()
	var passed atomic.Int64
	clock := func() time.Time { return time.Now().Add(time.Duration(passed.Load())) }
	h := newHost(t, func(o *server.Options) { o.Now, o.Limits.Keep, o.Limits.Studies = clock, 5*time.Minute, 3 })
	graph := h.PutRing(10)
	fill(t, h.Store, graph, 6, 5)
	for k := range 6 {
		h.Must("POST", fmt.Sprintf("/v1/studies/s%03d/asks", k), `{"count":1,"lease":"100h"}`, nil)
	}
	want := func(wantStudies, wantGraphs int) {
		t.Helper()
		h.Server.Evict()
		if studies, graphs := h.Server.InMemory(); studies != wantStudies || graphs != wantGraphs {
			t.Errorf("%d studies and %d graphs in memory, want %d and %d", studies, graphs, wantStudies, wantGraphs)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := h.HTTP.Client().Do(h.Request("GET", "/v1/studies/s000/events", nil, with("Accept: text/event-stream")).WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	want(6, 1) // all were used a moment ago
	passed.Add(int64(time.Minute))
	h.Must("GET", "/v1/studies/s004", nil, nil)
	want(3, 1)
	passed.Add(int64(4*time.Minute + 30*time.Second))
	want(2, 1) // s000 has a stream, and s004 was used
	before, _ := h.list()
	passed.Add(int64(time.Minute))
	want(1, 1)
	cancel()
	eventually(t, func() bool {
		h.Server.Evict()
		studies, _ := h.Server.InMemory()
		return studies == 0
	})
	want(0, 0)
	if after, _ := h.list(); after != before {
		t.Errorf("the list is\n%s\nand was\n%s", after, before)
	}
	h.Must("PUT", "/v1/studies/s004/trials/1/result", `{"value":9}`, nil)
	var view struct{ Values int }
	if h.Must("GET", "/v1/studies/s004", nil, &view); view.Values != 5 {
		t.Errorf("%d values", view.Values)
	}
}

// BenchmarkList is the first list of a server with 200 studies of 3,000 events each.
func BenchmarkList(b *testing.B) {
	h := newHost(b, func(o *server.Options) { o.Store = openStore(b, filepath.Join(b.TempDir(), "studies.db")) })
	graph := h.PutRing(10)
	fill(b, h.Store, graph, 200, 3000)
	b.ResetTimer()
	for b.Loop() {
		again := newHost(b, func(o *server.Options) { o.Store = h.Store })
		if _, n := again.list(); n != 200 {
			b.Fatal(n)
		}
		again.Close()
	}
}
