package server_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"

	"grfgp/internal/testkit"
	"grfgp/server"
)

// zipped packs text.
func zipped(t testing.TB, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// skippable compresses with zstd, after a frame that decoders skip.
func skippable(t *testing.T, text []byte) []byte {
	t.Helper()
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return enc.EncodeAll(text, []byte("\x50\x2a\x4d\x18\x01\x00\x00\x00."))
}

func small(o *server.Options) {
	o.Limits.Body, o.Limits.Graph, o.Limits.Rows, o.Limits.Page = 4096, 16<<10, 20, 10
}

func TestBodiesWithinLimits(t *testing.T) {
	t.Parallel()
	h := newHost(t, small)
	h.Create(40)
	bomb := zipped(t, bytes.Repeat([]byte(" "), 1<<20))
	long := fmt.Sprintf(`{"note":%q}`, strings.Repeat("x", 5000))
	tell := "/v1/studies/s/trials/1/result"
	csv := with("Content-Type: text/csv")
	packed := with("Content-Encoding: gzip")
	var rows []map[string]any
	for range 21 {
		rows = append(rows, map[string]any{"node": "n1", "value": 1})
	}
	for _, test := range []struct {
		name    string
		method  string
		path    string
		body    any
		headers []with
		kind    string
		status  int
	}{
		{"large", "POST", "/v1/studies/s/pause", long, nil, "too-large", 413},
		{"large and packed", "POST", "/v1/studies/s/pause", zipped(t, []byte(long)), []with{packed}, "too-large", 413},
		{"bomb", "PUT", tell, bomb, []with{packed}, "too-large", 413},
		{"large graph", "POST", "/v1/graphs", ring(5000), []with{csv}, "too-large", 413},
		{"large graph, packed", "POST", "/v1/graphs", zipped(t, []byte(ring(5000))), []with{csv}, "too-large", 413},
		{"large graph, packed on the way", "POST", "/v1/graphs", zipped(t, []byte(ring(5000))), []with{csv, packed}, "too-large", 413},
		{"graph packed twice", "POST", "/v1/graphs", zipped(t, zipped(t, []byte(ring(5)))), []with{csv}, "media-type", 415},
		{"large graph in zstd after a skippable frame", "POST", "/v1/graphs", skippable(t, []byte(ring(5000))), []with{csv}, "too-large", 413},
		{"bomb of a graph", "POST", "/v1/graphs", bomb, []with{csv}, "too-large", 413},
		{"large import", "POST", "/v1/imports", strings.Repeat("x", 17<<10), []with{csv}, "too-large", 413},
		{"bomb of an import", "POST", "/v1/imports", bomb, []with{packed}, "too-large", 413},
		{"many rows", "POST", "/v1/studies/s/observations", map[string]any{"observations": rows}, nil, "too-large", 413},
		{"unknown packing", "PUT", tell, `{}`, []with{"Content-Encoding: br"}, "media-type", 415},
		{"not packed", "PUT", tell, `{}`, []with{packed}, "malformed", 400},
		{"cut off", "PUT", tell, zipped(t, []byte(`{"value":1}`))[:15], []with{packed}, "malformed", 400},
		{"not JSON", "PUT", tell, `value=1`, nil, "malformed", 400},
		{"two values", "PUT", tell, `{"value":1}{"value":2}`, nil, "malformed", 400},
		{"no end", "PUT", tell, `{"value":1`, nil, "malformed", 400},
		{"wrong shape", "PUT", tell, `{"value":"one"}`, nil, "malformed", 400},
		{"unknown field", "PUT", tell, `{"value":1,"volume":2}`, nil, "malformed", 400},
		{"no value", "PUT", tell, `{}`, nil, "malformed", 400},
		{"null", "PUT", tell, `{"value":null}`, nil, "malformed", 400},
		{"value and failed", "PUT", tell, `{"value":1,"failed":true}`, nil, "malformed", 400},
		{"not UTF-8", "PUT", tell, "{\"note\":\"\xff\"}", nil, "malformed", 400},
		{"a form", "PUT", tell, `{"value":1}`, []with{"Content-Type: application/x-www-form-urlencoded"}, "media-type", 415},
		{"plain text", "POST", "/v1/studies/s/asks", `{"count":1}`, []with{"Content-Type: text/plain"}, "media-type", 415},
		{"large page", "GET", "/v1/studies/s/trials?limit=11", nil, nil, "malformed", 400},
		{"unknown parameter", "GET", "/v1/studies/s/trials?lmit=5", nil, nil, "malformed", 400},
		{"long key", "POST", "/v1/studies/s/asks", `{}`, []with{with("Idempotency-Key: " + strings.Repeat("k", 257))}, "invalid", 400},
		{"long holder", "POST", "/v1/studies/s/asks", map[string]any{"holder": strings.Repeat("h", 257)}, nil, "invalid", 400},
		{"none", "POST", "/v1/studies/s/asks", `{"count":0}`, nil, "invalid", 400},
		{"too many", "POST", "/v1/studies/s/asks", `{"count":10001}`, nil, "invalid", 400},
		{"negative lease", "POST", "/v1/studies/s/asks", `{"lease":"-1h"}`, nil, "invalid", 400},
		{"long id", "POST", "/v1/graphs", "a," + strings.Repeat("b", 257) + "\n", []with{csv}, "bad-data", 422},
		{"bad graph", "POST", "/v1/graphs", "source,target,weight\na,b,-1\n", []with{csv}, "bad-data", 422},
		{"image of a graph", "POST", "/v1/graphs", ring(5), []with{"Content-Type: image/png"}, "media-type", 415},
		{"no archive", "POST", "/v1/imports", "hello\n", nil, "bad-data", 422},
		{"no such graph", "POST", "/v1/studies", `{"name":"x","graph":"0000"}`, nil, "not-found", 404},
		{"no such study", "POST", "/v1/studies/x/asks", nil, nil, "not-found", 404},
		{"no such trial", "PUT", "/v1/studies/s/trials/7/result", `{"value":1}`, nil, "not-found", 404},
		{"no such observation", "DELETE", "/v1/studies/s/observations/7", nil, nil, "not-found", 404},
		{"no such node", "POST", "/v1/studies", map[string]any{"name": "x", "graph": h.PutRing(40), "allowed": []string{"zz"}}, nil,
			"unknown-node", 422},
		{"no such goal", "POST", "/v1/studies", map[string]any{"name": "x", "graph": h.PutRing(40), "goal": "win"}, nil, "malformed", 400},
	} {
		t.Run(test.name, func(t *testing.T) {
			on := &host{h.On(t)}
			on.refused(test.kind, test.status, test.method, test.path, test.body, test.headers...)
		})
	}
	var view struct{ Seq int64 }
	if h.Must("GET", "/v1/studies/s", nil, &view); view.Seq != 1 {
		t.Errorf("%d events after nothing that was right", view.Seq)
	}
	h.Must("POST", "/v1/studies/s/pause", zipped(t, []byte(`{"note":"in time"}`)), nil, packed)
}

// Where is what in a body: pointers lead to the row.
func TestRowPointers(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Create(10)
	for body, want := range map[string]string{
		`{"observations":[{"node":"n1","value":1},{"node":"zz","value":1}]}`:     "#/observations/1/node",
		`{"observations":[{"node":"n1","value":1},{"node":"n2","value":1e999}]}`: "#/observations/1/value",
		`{"observations":[{"node":"n1","value":"NaN"}]}`:                         "#/observations/0/value",
		`{"observations":[{"node":"n1"}]}`:                                       "#/observations/0/value",
		`{"observations":[{"value":1}]}`:                                         "#/observations/0/node",
		`{"observations":[]}`:                                                    "#/observations",
	} {
		p := h.problem(h.Do("POST", "/v1/studies/s/observations", body))
		if len(p.Errors) != 1 || p.Errors[0].Pointer != want {
			t.Errorf("%s: %+v, want %s", body, p, want)
		}
	}
	var list struct{ Total int }
	if h.Must("GET", "/v1/studies/s/observations", nil, &list); list.Total != 0 {
		t.Errorf("%d rows were taken of what is all or none", list.Total)
	}
}

// A body that trickles in is cut off, and so is a request without an end.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(o *server.Options) { o.Limits.BodyTime = 2 * time.Second })
	h.Create(10)
	paths := []string{"/v1/studies/s/pause", "/v1/graphs", "/v1/imports"}
	conns := make([]net.Conn, len(paths))
	for i, path := range paths {
		var err error
		if conns[i], err = net.Dial("tcp", h.HTTP.Listener.Addr().String()); err != nil {
			t.Fatal(err)
		}
		defer conns[i].Close()
		fmt.Fprintf(conns[i], "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\nContent-Length: 1000\r\n\r\n{", path)
	}
	for i, path := range paths {
		text, err := io.ReadAll(conns[i]) // ends: the server hangs up
		if err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 408 ") || !strings.Contains(string(text), "urn:grfgp:problem:slow") {
			t.Errorf("%s: %v\n%s", path, err, text)
		}
	}
}

// Those who come when all places are taken are told to come back. Uploads, downloads and
// streams take no places of other requests.
func TestTooManyAtOnce(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(o *server.Options) { o.Limits.Concurrent, o.Limits.Uploads, o.Limits.Streams = 1, 1, 1 })
	h.Create(10)
	begin := func(path, first string, headers ...with) (end func(rest string) answer) {
		t.Helper()
		reader, writer := io.Pipe()
		done := make(chan answer, 1)
		go func() {
			a, err := h.Try("POST", path, reader, headers...)
			if err != nil {
				t.Error(err)
			}
			done <- a
		}()
		if _, err := writer.Write([]byte(first)); err != nil {
			t.Fatal(err)
		}
		return func(rest string) answer {
			writer.Write([]byte(rest))
			writer.Close()
			return <-done
		}
	}
	upload := func() answer {
		return h.Do("POST", "/v1/graphs", "source,target\na,c\n", "Content-Type: text/csv")
	}
	endUpload := begin("/v1/graphs", "source,target\n", "Content-Type: text/csv")
	eventually(t, func() bool { _, uploads := h.Server.Taken(); return uploads == 1 }) // asking by an upload could take its place
	a := upload()
	if p := h.problem(a); p.Type != "urn:grfgp:problem:busy" || !strings.Contains(p.Detail, "uploads") || a.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	h.Must("GET", "/v1/meta", nil, nil)
	first := h.stream("s", "")
	if a := h.Do("GET", "/v1/studies/s/events", nil, "Accept: text/event-stream"); a.Status != http.StatusTooManyRequests {
		t.Errorf("second stream: %d", a.Status)
	}
	h.Must("GET", "/v1/meta", nil, nil)
	eventually(t, func() bool { requests, _ := h.Server.Taken(); return requests == 0 }) // places are given back after the answer
	endPause := begin("/v1/studies/s/pause", "{")
	eventually(t, func() bool { requests, _ := h.Server.Taken(); return requests == 1 })
	if a := h.Do("GET", "/v1/meta", nil); a.Status != http.StatusTooManyRequests {
		t.Errorf("a second request: %d", a.Status)
	}
	if a := h.Do("GET", "/healthz", nil); a.Status != 200 {
		t.Errorf("health: %d", a.Status)
	}
	var list struct{ Graphs []struct{ ID string } }
	if a := endPause("}"); a.Status != 200 {
		t.Errorf("pause: %d %s", a.Status, a.Body)
	}
	h.Must("GET", "/v1/graphs", nil, &list)
	h.Must("GET", "/v1/graphs/"+list.Graphs[0].ID, nil, nil)
	first.close()
	if a := endUpload("a,b\n"); a.Status != 201 {
		t.Errorf("upload: %d %s", a.Status, a.Body)
	}
	eventually(t, func() bool { return upload().Status/100 == 2 })
}

// A body that unpacks to far more than its size is refused early, for that reason.
func TestBombs(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t) // of sizes
	h := newHost(t)
	bomb := strings.Repeat("a,b\n", 8<<20)
	var zipped, zstandard bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.WriteString(z, bomb)
	z.Close()
	s, err := zstd.NewWriter(&zstandard)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(s, bomb)
	s.Close()
	for name, send := range map[string]func() problem{
		"gzip file": func() problem {
			return h.refused("too-large", 413, "POST", "/v1/graphs", zipped.Bytes(), "Content-Type: text/csv")
		},
		"zstd file": func() problem {
			return h.refused("too-large", 413, "POST", "/v1/graphs", zstandard.Bytes(), "Content-Type: text/csv")
		},
		"encoding": func() problem {
			return h.refused("too-large", 413, "POST", "/v1/graphs", zipped.Bytes(), "Content-Type: text/csv", "Content-Encoding: gzip")
		},
	} {
		if p := send(); !strings.Contains(p.Detail, "100 times its size") {
			t.Errorf("%s: %s", name, p.Detail)
		}
	}
	// A file of edges that packs well is none.
	zipped.Reset()
	z = gzip.NewWriter(&zipped)
	io.WriteString(z, ring(300_000))
	z.Close()
	h.Must("POST", "/v1/graphs", zipped.Bytes(), nil, "Content-Type: text/csv")
}

// The time in which a server works on what has arrived is not that of the client.
func TestDeadlineCountsWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := new(deadlines)
		body := server.NewSteady(strings.NewReader("abcd"), d, time.Minute)
		one := make([]byte, 1)
		body.Read(one)
		time.Sleep(time.Hour) // the server works
		body.Read(one)
		if d.left < time.Minute {
			t.Errorf("%v are left of a minute", d.left)
		}
	})
}

// deadlines is a ResponseWriter that notes how much time a read has.
type deadlines struct {
	http.ResponseWriter
	left time.Duration
}

func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.left = time.Until(at)
	return nil
}

// A graph that several read is in memory once, and no longer than they read it.
func TestOneCopyOfAGraph(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	id := h.PutRing(10)
	a, endA, errA := h.Server.Borrow(t.Context(), id)
	b, endB, errB := h.Server.Borrow(t.Context(), id)
	if errA != nil || errB != nil || &a[0] != &b[0] {
		t.Errorf("two copies (%v, %v)", errA, errB)
	}
	endA()
	endB()
	if n := h.Server.Lent(); n != 0 {
		t.Errorf("%d graphs are kept", n)
	}
	if _, _, err := h.Server.Borrow(t.Context(), strings.Repeat("0", 64)); err == nil || h.Server.Lent() != 0 {
		t.Errorf("no graph: %v, %d are kept", err, h.Server.Lent())
	}
}

// What an upload is told to set are parameters that it has.
func TestUploadRemedies(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	for _, c := range []struct{ name, body, want string }{
		{"decimal signs", "u;v;w\na;b;1,5\nb;c;1.5\n", "edges: some numbers have a point (1.5) and others a comma (1,5); write them alike"},
		{"distance", "u,v,km\na,b,5\n", "edges: column km looks like a distance; as a weight it would make distant nodes similar; use it as a " +
			"similarity (larger means more similar) with weights=similarity, use it as a distance (w = mean distance / distance) with " +
			"weights=distance, or treat all edges as equal with weights=ignore"},
		{"ends", "from,to,source,target\na,b,c,d\n", "edges: the ends of an edge may be from and to or source and target; say which with " +
			"column=source=from&column=target=to or column=source=source&column=target=target"},
		{"header", "Person,Friend\nAnn,Bob\nCid,Dan\n", `edges: line 1 ("Person" and "Friend") may be a header or the first edge; take it as ` +
			`a header with header=yes, or take it as the first edge with header=no`},
		{"row", "u,v\na,b\nc\n", "edges:3:2: 1 field, but 2 are expected; complete the line, or leave such rows out with on_bad_row=skip"},
		{"one column", "a\nb\n", "edges: an edge needs two ends, but there is only one column; give a file of edges"},
		{"only a header", "source,target\n", "edges: it contains no edges, only a header; name another file"},
	} {
		if p := h.problem(h.Do("POST", "/v1/graphs", c.body, "Content-Type: text/csv")); p.Detail != c.want {
			t.Errorf("%s: %q, want %q", c.name, p.Detail, c.want)
		}
	}
	var taken struct{ Report struct{ Warnings []string } }
	h.Must("POST", "/v1/graphs", "u,v\na,a\na,b\n", &taken, "Content-Type: text/csv")
	if want := []string{"edges from a node to itself: 1; left out"}; !slices.Equal(taken.Report.Warnings, want) {
		t.Errorf("warnings %q, want %q", taken.Report.Warnings, want)
	}
}
