package server_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"grfgp/server"
	"grfgp/store"
	"grfgp/study"
)

// pieces notes how an answer was written, and how often its deadline moved.
type pieces struct {
	*httptest.ResponseRecorder
	longest, writes, deadlines int
}

func (p *pieces) Write(b []byte) (int, error) {
	p.writes++
	p.longest = max(p.longest, len(b))
	return p.ResponseRecorder.Write(b)
}

func (p *pieces) SetWriteDeadline(time.Time) error {
	p.deadlines++
	return nil
}

// A long answer is sent in pieces, each with its own deadline: a client that goes
// on reading is not cut off.
func TestAnswersInPieces(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	id := h.PutRing(30_000)
	want := string(h.Must("GET", "/v1/graphs/"+id, nil, nil).Body)
	p := &pieces{ResponseRecorder: httptest.NewRecorder()}
	h.Server.ServeHTTP(p, h.Request("GET", "/v1/graphs/"+id, nil))
	if p.Body.String() != want {
		t.Errorf("%d bytes, want %d", p.Body.Len(), len(want))
	}
	if p.longest > 64<<10 || p.writes < 2 || p.deadlines < p.writes {
		t.Errorf("%d bytes in %d pieces of at most %d, %d deadlines", len(want), p.writes, p.longest, p.deadlines)
	}
}

// Studies of the same name in two stores are not taken for each other, however
// far they have come.
func TestTagsOfTwoStores(t *testing.T) {
	t.Parallel()
	tags := map[string]int{}
	for k := range 3 {
		h := newHost(t)
		h.Create(10 + k/2)
		h.Observe(five)
		for _, view := range []string{"map", "predictions", "calibration"} {
			tag := h.Must("GET", "/v1/studies/s/"+view, nil, nil).Header.Get("ETag")
			if strings.Contains(tag, " ") {
				t.Errorf("a tag with a blank: %s", tag)
			}
			if before, ok := tags[tag]; ok {
				t.Errorf("%s: stores %d and %d both have %s", view, before, k, tag)
			}
			tags[tag] = k
		}
	}
}

// shaky is a store that panics when it is first asked for something.
type shaky struct {
	store.Store
	log, graph atomic.Bool
}

func (s *shaky) Log(name string) study.Log {
	if s.log.CompareAndSwap(true, false) {
		panic("a log")
	}
	return s.Store.Log(name)
}

func (s *shaky) Graph(ctx context.Context, id string) ([]byte, error) {
	if s.graph.CompareAndSwap(true, false) {
		panic("a graph")
	}
	return s.Store.Graph(ctx, id)
}

// A panic while a study or a graph is read fails those who wait, and nobody after
// them.
func TestPanicsWhileReading(t *testing.T) {
	t.Parallel()
	s := &shaky{Store: openStore(t, store.Memory)}
	newHost(t, func(o *server.Options) { o.Store = s }).Create(10)
	h := newHost(t, func(o *server.Options) { o.Store = s })
	s.log.Store(true)
	h.refused("internal", 500, "GET", "/v1/studies/s", nil)
	s.graph.Store(true)
	h.refused("internal", 500, "POST", "/v1/studies/s/asks", nil)
	h.Must("POST", "/v1/studies/s/asks", nil, nil)
}

// Studies of one Spec on a graph share what is made from it, and a server that
// was started again goes on from what was learned.
func TestOptimizersShareAndKeep(t *testing.T) {
	t.Parallel()
	kept := openStore(t, store.Memory)
	learn := func(change ...func(*server.Options)) *host {
		return newHost(t, append(change, func(o *server.Options) { o.Store, o.NewEngine = kept, nil })...)
	}
	h := learn()
	graph := h.PutRing(40)
	for k, name := range []string{"s", "t", "u"} {
		settings := study.Settings{Name: name, Graph: graph, Seed: uint64(k)}
		if name == "u" {
			settings.Spec.Family = "matern"
		}
		h.Must("POST", "/v1/studies", settings, nil)
	}
	if n := h.Server.Specs(graph); n != 2 {
		t.Errorf("what is costly was made %d times for two Specs", n)
	}
	var rows []string
	for i := range 8 {
		rows = append(rows, fmt.Sprintf(`{"node":"n%d","value":%d}`, 4*i, i*i))
	}
	h.Must("POST", "/v1/studies/s/observations", `{"observations":[`+strings.Join(rows, ",")+`]}`, nil)
	h.Must("GET", "/v1/studies/s/predictions", nil, nil)
	first, err := kept.Checkpoints("s").Load(t.Context())
	if err != nil || len(first) == 0 {
		t.Fatalf("nothing was kept: %v", err)
	}
	want := h.Must("GET", "/v1/studies/s/predictions?format=csv", nil, nil).Body
	h.Close()
	again := learn(func(o *server.Options) { o.ReadOnly = true })
	if got := again.Must("GET", "/v1/studies/s/predictions?format=csv", nil, nil).Body; string(got) != string(want) {
		t.Errorf("before:\n%s\nafter:\n%s", want, got)
	}
	if err := kept.Checkpoints("s").Save(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	shown := learn(func(o *server.Options) { o.ReadOnly = true })
	shown.Must("GET", "/v1/studies/s/predictions", nil, nil)
	if after, err := kept.Checkpoints("s").Load(t.Context()); err != nil || len(after) != 0 {
		t.Errorf("a server that only shows kept %d bytes (%v)", len(after), err)
	}
}
