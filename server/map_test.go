package server_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"grfgp/server"
	"grfgp/study"
)

// mapHead is the head of a map.
type mapHead struct {
	Seq, Known            int64
	Model, Thinned        bool
	Coordinates           string
	Bounds, Box           []float64
	Total, Visible, Shown int
	Range                 map[string][]float64
}

func (h *host) mapOf(query string) (mapHead, table) {
	h.t.Helper()
	a := h.must("GET", "/v1/studies/s/map"+query, nil, nil)
	c := readColumns(h.t, a.body)
	var head mapHead
	if err := json.Unmarshal(c.head, &head); err != nil {
		h.t.Fatal(err)
	}
	return head, c
}

// gridStudy makes the study s on a grid of side × side nodes at whole coordinates.
func (h *host) gridStudy(side int) {
	h.t.Helper()
	var nodes, edges strings.Builder
	nodes.WriteString("id,x,y,allowed\n")
	edges.WriteString("source,target\n")
	for i := range side * side {
		x, y := i%side, i/side
		fmt.Fprintf(&nodes, "n%d,%d,%d,%v\n", i, x, y, i != 3)
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
	h.must("POST", "/v1/graphs", body, &g, "Content-Type: multipart/form-data; boundary=cut")
	if g.Coordinates != "planar" {
		h.t.Fatalf("coordinates: %s", g.Coordinates)
	}
	h.must("POST", "/v1/studies", study.Settings{Name: "s", Graph: g.ID}, nil)
}

// A map of few nodes shows all of them, as they are.
func TestMapOfAll(t *testing.T) {
	h := newHost(t)
	h.gridStudy(10)
	head, c := h.mapOf("")
	if head.Model || head.Thinned || head.Total != 100 || head.Visible != 100 || head.Shown != 100 || head.Coordinates != "planar" || fmt.Sprint(head.Bounds) != "[0 0 9 9]" {
		t.Errorf("head %+v", head)
	}
	if len(c.floats["mean"]) != 0 || len(c.counts["edge_from"]) != 180 {
		t.Errorf("%d means without a model, %d edges", len(c.floats["mean"]), len(c.counts["edge_from"]))
	}
	h.observe(five)
	h.must("POST", "/v1/studies/s/asks", `{}`, nil)
	var trial study.Trial
	h.must("GET", "/v1/studies/s/trials/1", nil, &trial)
	head, c = h.mapOf("")
	if !head.Model || head.Known == 0 || len(head.Range["sd"]) != 2 {
		t.Errorf("head %+v", head)
	}
	var page struct {
		Nodes []struct {
			Node           string
			Number         int
			Mean, SD, X, Y float64
			Measured       bool
			Pending        bool
		}
	}
	h.must("GET", "/v1/studies/s/predictions", nil, &page)
	for k, n := range page.Nodes {
		flags := 0
		if n.Measured {
			flags |= 1
		}
		if n.Pending {
			flags |= 2
		}
		if n.Node == "n3" {
			flags |= 8
		}
		if c.texts["id"][k] != n.Node || c.counts["number"][k] != uint32(n.Number) || c.floats["x"][k] != float32(n.X) || c.floats["y"][k] != float32(n.Y) ||
			c.floats["mean"][k] != float32(n.Mean) || c.floats["sd"][k] != float32(n.SD) || int(c.bytes["flags"][k]) != flags || c.counts["stands"][k] != 1 {
			t.Errorf("row %d is not %+v", k, n)
		}
		if n.Node == trial.Node && !n.Pending {
			t.Errorf("%s is pending, and the page does not say so", n.Node)
		}
	}
	for k, from := range c.counts["edge_from"] {
		to := c.counts["edge_to"][k]
		if d := math.Abs(float64(c.floats["x"][from]-c.floats["x"][to])) + math.Abs(float64(c.floats["y"][from]-c.floats["y"][to])); d != 1 {
			t.Errorf("an edge from row %d to %d", from, to)
		}
	}
	head, c = h.mapOf("?box=2,3,4,5&edges=no")
	if head.Visible != 9 || head.Shown != 9 || head.Total != 100 || c.counts["edge_from"] != nil {
		t.Errorf("a part: %+v", head)
	}
	tag := h.must("GET", "/v1/studies/s/map", nil, nil).header.Get("ETag")
	if a := h.do("GET", "/v1/studies/s/map", nil, with("If-None-Match: "+tag)); a.status != 304 || len(a.body) != 0 {
		t.Errorf("what the client has: %d", a.status)
	}
}

// A map of many nodes shows some: those at which something happened, and for the
// others one per place, standing for all of its place.
func TestMapThins(t *testing.T) {
	h := newHost(t, func(o *server.Options) { o.Limits.MapNodes = 500 })
	h.gridStudy(60)
	h.observe(five)
	for _, most := range []int{500, 100, 7, 5, 1} {
		head, c := h.mapOf(fmt.Sprintf("?nodes=%d", most))
		if head.Shown > most || head.Shown < most/2 || !head.Thinned || head.Visible != 3600 {
			t.Errorf("at most %d: %+v", most, head)
		}
		stands, measured := 0, 0
		for k := range head.Shown {
			stands += int(c.counts["stands"][k])
			measured += int(c.bytes["flags"][k] & 1)
		}
		if most > 5 && stands != 3600 || measured != min(5, most) {
			t.Errorf("at most %d: they stand for %d, %d are measured", most, stands, measured)
		}
		if !slices.IsSorted(c.counts["number"]) {
			t.Errorf("at most %d: not in order", most)
		}
	}
	_, c := h.mapOf("")
	cells := map[[2]int]bool{}
	for k := range c.floats["x"] {
		cells[[2]int{int(c.floats["x"][k]) / 10, int(c.floats["y"][k]) / 10}] = true
	}
	if len(cells) != 36 {
		t.Errorf("only %d of 36 parts of the map are shown", len(cells))
	}
	h.refused("malformed", 400, "GET", "/v1/studies/s/map?nodes=501", nil)
	for _, box := range []string{"1", "1,2,3", "1,2,3,4,5", "a,b,c,d", "5,5,1,1", "0,0,1,"} {
		h.refused("malformed", 400, "GET", "/v1/studies/s/map?box="+box, nil)
	}
}
