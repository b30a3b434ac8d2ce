package server_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"grfgp"
	"grfgp/graphio"
	"grfgp/server"
	"grfgp/server/servertest"
	"grfgp/store"
	"grfgp/study"
)

// mapScale says how numbers became colours.
type mapScale struct {
	Low, High, Min, Max float64
	Below, Above        int
}

// mapHead is the head of a map.
type mapHead struct {
	Seq, Known      int64
	Model, Learning bool
	Readings        int
	Rows, Step      int
	Level           *float64
	Scales          map[string]mapScale
}

func (h *host) mapOf(query string) (mapHead, table) {
	h.T.Helper()
	var head mapHead
	c := h.columns("/v1/studies/s/map"+query, &head)
	return head, c
}

// columns reads a table in binary columns, and its head.
func (h *host) columns(path string, head any) table {
	h.T.Helper()
	c := readColumns(h.T, h.Must("GET", path, nil, nil).Body)
	if err := json.Unmarshal(c.head, head); err != nil {
		h.T.Fatal(err)
	}
	return c
}

// graph is the id of the graph of the study s.
func (h *host) graph() string {
	h.T.Helper()
	var view struct{ Settings study.Settings }
	h.Must("GET", "/v1/studies/s", nil, &view)
	return view.Settings.Graph
}

// placesHead is the head of the places of a graph.
type placesHead struct {
	Total, Placed, Rows, Step, Edges int
	Coordinates                      string
	Bounds, Frame                    []float64
	Top                              float64
	Projection                       *struct{ Lon, Shrink float64 }
}

// gridStudy makes the study s on a grid of side × side nodes at whole coordinates.
func (h *host) gridStudy(side int) {
	h.T.Helper()
	var nodes, edges strings.Builder
	nodes.WriteString("id,x,y,allowed,label\n")
	edges.WriteString("source,target\n")
	for i := range side * side {
		x, y := i%side, i/side
		fmt.Fprintf(&nodes, "n%d,%d,%d,%v,Street %c%d\n", i, x, y, i != 3, 'A'+rune(y%26), x)
		if x+1 < side {
			fmt.Fprintf(&edges, "n%d,n%d\n", i, i+1)
		}
		if y+1 < side {
			fmt.Fprintf(&edges, "n%d,n%d\n", i, i+side)
		}
	}
	body := "--cut\r\nContent-Disposition: form-data; name=\"nodes\"; filename=\"n.csv\"\r\n\r\n" + nodes.String() +
		"\r\n--cut\r\nContent-Disposition: form-data; name=\"edges\"; filename=\"e.csv\"\r\n\r\n" + edges.String() + "\r\n--cut--\r\n"
	var g struct{ ID, Coordinates string }
	h.Must("POST", "/v1/graphs", body, &g, "Content-Type: multipart/form-data; boundary=cut")
	if g.Coordinates != "planar" {
		h.T.Fatalf("coordinates: %s", g.Coordinates)
	}
	h.Must("POST", "/v1/studies", study.Settings{Name: "s", Graph: g.ID}, nil)
}

// Places, values and marks are those of the predictions, as exactly as their bits allow.
func TestMapOfAll(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.gridStudy(10)
	var places placesHead
	at := h.columns("/v1/graphs/"+h.graph()+"/places", &places)
	if places.Total != 100 || places.Placed != 100 || places.Rows != 100 || places.Step != 1 || places.Edges != 180 ||
		places.Coordinates != "planar" || fmt.Sprint(places.Bounds) != "[0 0 9 9]" {
		t.Errorf("head %+v", places)
	}
	position := func(q uint32, axis int) float64 {
		return places.Frame[axis] + float64(q)/places.Top*places.Frame[2+axis]
	}
	h.mapOf("?wait=yes") // a glance may be too short to load the graph
	if head, c := h.mapOf(""); head.Model || head.Learning || head.Readings != 0 || len(c.counts["mean"]) != 0 {
		t.Errorf("without a model: %+v", head)
	}
	h.Observe(five)
	h.Must("POST", "/v1/studies/s/asks", `{}`, nil)
	head, c := h.mapOf("?wait=yes")
	if !head.Model || head.Learning || head.Known == 0 || head.Readings != 5 || head.Rows != 100 {
		t.Errorf("head %+v", head)
	}
	var page struct {
		Nodes []struct {
			Node              string
			Number            int
			Mean, SD, X, Y    float64
			Measured, Pending bool
		}
	}
	h.Must("GET", "/v1/studies/s/predictions", nil, &page)
	mean, sd := head.Scales["mean"], head.Scales["sd"]
	marks := map[uint32]byte{}
	for k, n := range page.Nodes {
		if math.Abs(position(at.counts["x"][k], 0)-n.X) > 1e-6 || math.Abs(position(at.counts["y"][k], 1)-n.Y) > 1e-6 {
			t.Errorf("%s is at %v, %v", n.Node, position(at.counts["x"][k], 0), position(at.counts["y"][k], 1))
		}
		if got := mean.Low + float64(c.counts["mean"][k])/math.MaxUint16*(mean.High-mean.Low); math.Abs(
			got-n.Mean) > (mean.High-mean.Low)/math.MaxUint16 {
			t.Errorf("%s: mean %v, want %v", n.Node, got, n.Mean)
		}
		if want := map[bool]byte{true: 8}[n.Node == "n3"]; c.bytes["flags"][k] != want {
			t.Errorf("%s has flags %d", n.Node, c.bytes["flags"][k])
		}
		if n.Measured {
			marks[uint32(n.Number)] |= 1
		}
		if n.Pending {
			marks[uint32(n.Number)] |= 2
		}
	}
	if sd.Low != 0.5 || sd.High != 0.5 {
		t.Errorf("sd %+v", sd)
	}
	if len(c.counts["mark_number"]) != 6 || len(marks) != 6 {
		t.Errorf("marks at %v", c.counts["mark_number"])
	}
	for k, number := range c.counts["mark_number"] {
		if c.bytes["mark_flags"][k] != marks[number] || c.counts["mark_x"][k] != at.counts["x"][number] ||
			c.counts["mark_y"][k] != at.counts["y"][number] || c.counts["mark_mean"][k] != c.counts["mean"][number] {
			t.Errorf("mark %d of node %d: %d", k, number, c.bytes["mark_flags"][k])
		}
	}
	for _, path := range []string{"/v1/studies/s/map", "/v1/graphs/" + h.graph() + "/places", "/v1/graphs/" + h.graph() + "/edges"} {
		tag := h.Must("GET", path, nil, nil).Header.Get("ETag")
		if a := h.Do("GET", path, nil, with("If-None-Match: "+tag)); a.Status != 304 || len(a.Body) != 0 {
			t.Errorf("%s: %d with %d bytes for %s", path, a.Status, len(a.Body), tag)
		}
	}
	h.refused("malformed", 400, "GET", "/v1/studies/s/map?wait=perhaps", nil)
}

// Edges that lead out of a box are sent with it; too many are not sent.
func TestEdgesOfABox(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.gridStudy(10)
	var head struct {
		Total, Shown int
		Whole        bool
	}
	path := "/v1/graphs/" + h.graph() + "/edges"
	if c := h.columns(path, &head); head.Total != 180 || head.Shown != 180 || !head.Whole || len(c.counts["from"]) != 180 {
		t.Errorf("%+v", head)
	}
	if c := h.columns(path+"?box=3.5,3.5,4.5,4.5", &head); head.Shown != 4 || len(c.counts["to"]) != 4 {
		t.Errorf("four edges lead to the node in the box: %+v %v", head, c.counts)
	}
	if h.columns(path+"?box=3.2,3.2,3.8,3.8", &head); head.Shown != 0 {
		t.Errorf("nothing is in the box: %+v", head)
	}
	for _, box := range []string{"1", "1,2,3", "1,2,3,4,5", "a,b,c,d", "5,5,1,1", "0,0,1,"} {
		h.refused("malformed", 400, "GET", path+"?box="+box, nil)
	}
}

// Of more nodes than a map may have, an even sample is drawn, with all marks.
func TestMapOfASample(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(o *server.Options) { o.Limits.MapNodes = 500 })
	h.gridStudy(60)
	h.Observe(five)
	var places placesHead
	at := h.columns("/v1/graphs/"+h.graph()+"/places", &places)
	head, c := h.mapOf("?wait=yes")
	if places.Step != 8 || places.Rows != 450 || head.Rows != 450 || len(at.counts["x"]) != 450 || len(c.counts["mean"]) != 450 ||
		len(c.counts["mark_number"]) != 5 {
		t.Errorf("%+v %+v", places, head)
	}
	columns := map[uint32]int{}
	for _, x := range at.counts["x"] {
		columns[x]++
	}
	if len(columns) < 50 {
		t.Errorf("the sample is in %d of 60 columns of the grid", len(columns))
	}
}

// One absurd measurement does not make all other nodes the same colour.
func TestColoursOfAnAbsurdValue(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(o *server.Options) {
		o.NewEngine = func(net *graphio.Network, s study.Settings) (study.Engine, error) {
			e, err := newSimple(net, s)
			return copying{e.(simple)}, err
		}
	})
	h.gridStudy(5)
	values := map[string]float64{}
	for k := range 20 {
		values[fmt.Sprintf("n%d", k)] = 30 + float64(k)
	}
	h.Observe(values)
	if head, _ := h.mapOf("?wait=yes"); head.Scales["mean"] != (mapScale{Low: 30, High: 49, Min: 30, Max: 49}) {
		t.Errorf("%+v", head.Scales["mean"])
	}
	h.Observe(map[string]float64{"n24": 4150})
	head, c := h.mapOf("?wait=yes")
	if s := head.Scales["mean"]; s.Low != 30 || s.High > 90 || s.High < 49 || s.Max != 4150 || s.Above != 1 || s.Below != 0 {
		t.Errorf("%+v", s)
	}
	if c.counts["mean"][24] != math.MaxUint16 {
		t.Errorf("the absurd value has the colour %d", c.counts["mean"][24])
	}
}

// copying predicts the value at measured nodes, and 40 elsewhere.
type copying struct{ simple }

func (e copying) Fit(ctx context.Context, m []study.Measurement) (study.Snapshot, error) {
	s, err := e.simple.Fit(ctx, m)
	if err != nil {
		return nil, err
	}
	return copyingSnapshot{s.(simpleSnapshot)}, nil
}

type copyingSnapshot struct{ simpleSnapshot }

func (k copyingSnapshot) Predict(_ context.Context, nodes []int) (p grfgp.Prediction, _ error) {
	p = grfgp.Prediction{Mean: slices.Repeat([]float64{40}, len(nodes)), SD: slices.Repeat([]float64{1}, len(nodes))}
	for _, r := range k.Readings {
		i, _ := k.IDs().Lookup([]byte(r.Node))
		p.Mean[slices.Index(nodes, i)] = r.Value
	}
	return p, nil
}

// Nodes are found by id and by label, in any case, the nearest match first.
func TestFindNodes(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.gridStudy(12)
	h.Observe(map[string]float64{"n13": 2.5})
	h.Must("GET", "/v1/studies/s/map", nil, nil) // nodes wait for the graph, and only the map for their places
	find := func(query string) (names []string) {
		t.Helper()
		var got struct {
			Nodes []struct {
				Node, Label string
				Measured    bool
				Value       float64
				X, Y        *float64
			}
		}
		h.Must("GET", "/v1/studies/s/nodes?"+query, nil, &got)
		for _, n := range got.Nodes {
			names = append(names, n.Node)
			if n.X == nil || n.Y == nil || n.Label == "" || (n.Node == "n13") != n.Measured {
				t.Errorf("%+v", n)
			}
		}
		return names
	}
	for query, want := range map[string][]string{
		"find=n13&limit=3":          {"n13", "n130", "n131"},
		"find=N14&limit=1":          {"n14"},
		"find=street+b3":            {"n15"},
		"find=b11":                  {"n23"},
		"find=eet+c1&limit=2":       {"n25", "n34"},
		"find=nowhere":              nil,
		"find=%0A":                  nil,
		"number=0&number=143":       {"n0", "n143"},
		"node=n7":                   {"n7"},
		"number=5&node=n6&find=n77": {"n5", "n6", "n77"},
	} {
		if got := find(query); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	h.refused("not-found", 404, "GET", "/v1/studies/s/nodes?number=144", nil)
	h.refused("not-found", 404, "GET", "/v1/studies/s/nodes?node=n144", nil)
	h.refused("malformed", 400, "GET", "/v1/studies/s/nodes?limit=0", nil)
}

// After a restart the places are there before the model is, the status says that work is under way until
// all of it has ended, and whoever follows the study is told of the end of predicting, when the map has
// its colours.
func TestEndOfPredictingIsTold(t *testing.T) {
	t.Parallel()
	kept := openStore(t, store.Memory)
	writer := newHost(t, func(o *server.Options) { o.Store = kept })
	writer.gridStudy(10)
	writer.Observe(five)
	writer.Close()
	fit, predict := make(chan struct{}), make(chan struct{})
	h := newHost(t, func(o *server.Options) {
		o.Store = kept
		o.NewEngine = func(net *graphio.Network, s study.Settings) (study.Engine, error) {
			e, err := newSimple(net, s)
			return servertest.Gated(e, fit, predict), err
		}
	})
	events := h.stream("s", "2")
	type status struct {
		State   string
		Running int
	}
	until := func(so func(status) bool) {
		t.Helper()
		for {
			e, ok := events.next()
			if !ok {
				t.Fatal("the stream ended")
			}
			var now status
			if e.kind == "engine" && json.Unmarshal([]byte(e.data), &now) == nil && so(now) {
				return
			}
		}
	}
	var places placesHead
	if h.columns("/v1/graphs/"+h.graph()+"/places", &places); places.Placed != 100 {
		t.Errorf("%+v", places)
	}
	if head, c := h.mapOf(""); head.Model || !head.Learning || head.Readings != 5 || len(c.counts["mark_number"]) != 5 {
		t.Errorf("while it learns: %+v", head)
	}
	until(func(s status) bool { return s.State == "learning" && s.Running == 2 }) // fitting, and predicting, which waits for it
	close(fit)
	until(func(s status) bool {
		if s.State == "ready" {
			t.Error("ready, while the predictions of the map are being computed")
		}
		return s.State != "learning" || s.Running == 1
	})
	if head, _ := h.mapOf(""); head.Model || !head.Learning {
		t.Errorf("while it predicts: %+v", head)
	}
	close(predict)
	until(func(s status) bool { return s.State == "ready" && s.Running == 0 })
	if head, c := h.mapOf(""); !head.Model || head.Learning || len(c.counts["mean"]) != 100 {
		t.Errorf("in the end: %+v", head)
	}
}

// What is long enough is compressed for those who can read it, and only for them.
func TestAnswersAreCompressed(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.gridStudy(40)
	h.Observe(five)
	plain := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	get := func(path, accept string) (*http.Response, []byte) {
		t.Helper()
		req := h.Request("GET", path, nil)
		if accept != "" {
			req.Header.Set("Accept-Encoding", accept)
		}
		resp, err := plain.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("%s: %d %v", path, resp.StatusCode, err)
		}
		return resp, body
	}
	for _, path := range []string{"/assets/app.css", "/v1/openapi.json", "/v1/studies/s/predictions", "/v1/studies/s/predictions?format=csv",
		"/v1/graphs/" + h.graph() + "/places"} {
		_, want := get(path, "")
		resp, body := get(path, "br, gzip")
		if resp.Header.Get("Content-Encoding") != "gzip" || len(body) >= len(want) ||
			!slices.Contains(resp.Header.Values("Vary"), "Accept-Encoding") {
			t.Errorf("%s: %q, %d of %d bytes", path, resp.Header.Get("Content-Encoding"), len(body), len(want))
			continue
		}
		z, err := gzip.NewReader(strings.NewReader(string(body)))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(z); err != nil || string(got) != string(want) {
			t.Errorf("%s: other bytes came out (%v)", path, err)
		}
		if tag := resp.Header.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
			t.Errorf("%s: the bytes differ and have the tag %s", path, tag)
		}
		if resp, _ := get(path, "gzip;q=0"); resp.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: compressed for those who refuse it", path)
		}
	}
	if resp, _ := get("/healthz", "gzip"); resp.Header.Get("Content-Encoding") != "" {
		t.Error("some bytes are compressed")
	}
	if resp, _ := get("/v1/graphs/"+h.graph(), "gzip"); resp.Header.Get("Content-Encoding") != "" {
		t.Error("a packed graph is compressed again")
	}
}
