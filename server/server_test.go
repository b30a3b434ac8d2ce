package server_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"grfgp/server"
	"grfgp/store"
	"grfgp/study"
)

// A graph has one id however it came.
func TestGraphHasOneID(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	id := h.PutRing(50)
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := h.Must("GET", "/v1/graphs/"+id, nil, nil).Body
	for name, upload := range map[string]struct {
		body    []byte
		headers []with
	}{
		"plain":             {[]byte(ring(50)), []with{"Content-Type: text/csv"}},
		"gzip":              {zipped(t, []byte(ring(50))), []with{"Content-Type: application/gzip"}},
		"gzip on the way":   {zipped(t, []byte(ring(50))), []with{"Content-Type: text/csv", "Content-Encoding: gzip"}},
		"zstd":              {enc.EncodeAll([]byte(ring(50)), nil), []with{"Content-Type: application/octet-stream"}},
		"tabs":              {[]byte(strings.ReplaceAll(ring(50), ",", "\t")), []with{"Content-Type: text/tab-separated-values"}},
		"as it was kept":    {packed, []with{"Content-Type: application/vnd.grfgp.network"}},
		"with column names": {[]byte(strings.Replace(ring(50), "source,target", "p,q", 1)), []with{"Content-Type: text/csv"}},
	} {
		var g struct{ ID string }
		query := ""
		if name == "with column names" {
			query = "?column=source=p&column=target=q&header=yes"
		}
		if h.Must("POST", "/v1/graphs"+query, upload.body, &g, upload.headers...); g.ID != id {
			t.Errorf("%s: %s, want %s", name, g.ID, id)
		}
	}
	var list struct{ Graphs []store.GraphInfo }
	if h.Must("GET", "/v1/graphs", nil, &list); len(list.Graphs) != 1 {
		t.Errorf("%d graphs", len(list.Graphs))
	}
}

// One study whose events cannot be replayed hides no other.
func TestListDamaged(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Create(10)
	if err := h.Store.Log("broken").Append(t.Context(), study.Event{Seq: 1, Time: time.Unix(0, 0).UTC(), Data: study.Resumed{}}); err != nil {
		t.Fatal(err)
	}
	var list struct {
		Studies []struct {
			Name, Problem string
			Status        study.Status
		}
	}
	h.Must("GET", "/v1/studies", nil, &list)
	if len(list.Studies) != 2 || list.Studies[0].Status != study.StatusDamaged || !strings.Contains(list.Studies[0].Problem, "event 1") ||
		list.Studies[1].Status != study.StatusOpen {
		t.Errorf("%+v", list.Studies)
	}
}

func TestMetaTellsLimits(t *testing.T) {
	t.Parallel()
	h := newHost(t, small, func(o *server.Options) { o.Token, o.ReadOnly, o.Limits.Patience = secret, true, 20*time.Second })
	var meta struct {
		Token    bool
		ReadOnly bool `json:"read_only"`
		Limits   map[string]any
	}
	h.Must("GET", "/v1/meta", nil, &meta)
	for name, want := range map[string]any{"body_bytes": 4096, "graph_bytes": 16384, "rows": 20, "page": 10, "id_bytes": 256,
		"patience": "20s"} {
		if fmt.Sprint(meta.Limits[name]) != fmt.Sprint(want) {
			t.Errorf("%s is %v, want %v", name, meta.Limits[name], want)
		}
	}
	if !meta.Token || !meta.ReadOnly {
		t.Errorf("%+v", meta)
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Create(10)
	h.Must("POST", "/v1/studies/s/asks", `{"count":3}`, nil)
	h.Must("PUT", "/v1/studies/s/trials/1/result", `{"value":1}`, nil)
	h.Do("BREW", "/v1/studies/s", nil)
	h.Do("GET", "/nowhere/at/all", nil)
	text := string(h.Must("GET", "/metrics", nil, nil).Body)
	for _, line := range []string{
		`grfgp_requests_total{method="POST",route="POST /v1/studies/{s}/asks",status="201"} 1`,
		`grfgp_requests_total{method="other",route="/v1/studies/{s}",status="405"} 1`,
		`grfgp_requests_total{method="GET",route="/",status="404"} 1`,
		"grfgp_trials_issued_total 3", "grfgp_values_told_total 1", "grfgp_studies_open 1", "grfgp_event_streams 0",
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no %s", line)
		}
	}
}

// fullStore has no room for more than so many events.
type fullStore struct {
	store.Store
	room int64
}

func (s fullStore) Log(name string) study.Log { return fullLog{s.Store.Log(name), s.room} }

type fullLog struct {
	study.Log
	room int64
}

func (l fullLog) Append(ctx context.Context, events ...study.Event) error {
	if events[len(events)-1].Seq > l.room {
		return fmt.Errorf("%w: make room on that disk", store.ErrFull)
	}
	return l.Log.Append(ctx, events...)
}

func (l fullLog) Events(ctx context.Context, after int64) iter.Seq2[study.Event, error] {
	return l.Log.Events(ctx, after)
}

// A disk that is full is said to be so, and nothing is half done.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(o *server.Options) { o.Store = fullStore{openStore(t, store.Memory), 2} })
	h.Create(10)
	h.Must("POST", "/v1/studies/s/asks", nil, nil)
	h.refused("full", 507, "PUT", "/v1/studies/s/trials/1/result", `{"value":1}`)
	h.refused("full", 507, "POST", "/v1/studies/s/asks", nil)
	var view struct {
		Seq    int64
		Values int
		Trials map[string]int
	}
	if h.Must("GET", "/v1/studies/s", nil, &view); view.Seq != 2 || view.Values != 0 || view.Trials["pending"] != 1 {
		t.Errorf("%+v", view)
	}
}

// A server that ends takes no more, finishes what is under way, and ends streams.
func TestServeEndsInOrder(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Create(10)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Server.Serve(ctx, l, time.Minute) }()
	base := "http://" + l.Addr().String()
	events, err := http.NewRequest("GET", base+"/v1/studies/s/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	events.Header.Set("Accept", "text/event-stream")
	stream, err := http.DefaultClient.Do(events)
	if err != nil {
		t.Fatal(err)
	}
	reader, writer := io.Pipe()
	uploaded := make(chan int, 1)
	go func() {
		resp, err := http.Post(base+"/v1/graphs", "text/csv", reader)
		if err != nil {
			t.Error(err)
			uploaded <- 0
			return
		}
		resp.Body.Close()
		uploaded <- resp.StatusCode
	}()
	if _, err := writer.Write([]byte("source,target\n")); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { // this request and the upload
		return strings.Contains(string(h.Must("GET", "/metrics", nil, nil).Body), "grfgp_requests_in_flight 2\n")
	})
	cancel()
	if _, err := io.ReadAll(stream.Body); err != nil {
		t.Errorf("the stream was cut off: %v", err)
	}
	writer.Write([]byte("a,b\n"))
	writer.Close()
	if status := <-uploaded; status != 201 {
		t.Errorf("upload: %d", status)
	}
	if err := <-ended; err != nil {
		t.Errorf("serve: %v", err)
	}
	if _, err := http.Get(base + "/healthz"); err == nil {
		t.Error("it still answers")
	}
}
