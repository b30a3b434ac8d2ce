package server

import (
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"grfgp/study"
)

// box is a rectangle of the plane, its bounds included.
type box struct{ x0, y0, x1, y1 float64 }

// emptyBox contains no point.
var emptyBox = box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}

// include extends the box to contain a point.
func (b *box) include(x, y float64) {
	b.x0, b.y0, b.x1, b.y1 = min(b.x0, x), min(b.y0, y), max(b.x1, x), max(b.y1, y)
}

func (b box) contains(x, y float64) bool { return x >= b.x0 && x <= b.x1 && y >= b.y0 && y <= b.y1 }

// list returns the box as it is written in JSON.
func (b box) list() []number {
	return []number{number(b.x0), number(b.y0), number(b.x1), number(b.y1)}
}

// readBox reads "x0,y0,x1,y1".
func readBox(text string) (b box, err error) {
	parts := strings.Split(text, ",")
	for k, to := range []*float64{&b.x0, &b.y0, &b.x1, &b.y1} {
		if len(parts) == 4 {
			*to, err = strconv.ParseFloat(parts[k], 64)
		}
		if len(parts) != 4 || err != nil || !finite(*to) {
			return b, malformed.because("box is four numbers x0,y0,x1,y1, not %q", text)
		}
	}
	if b.x0 > b.x1 || b.y0 > b.y1 {
		return b, malformed.because("box is x0,y0,x1,y1 with x0 ≤ x1 and y0 ≤ y1, not %q", text)
	}
	return b, nil
}

// Flags of a node on a map.
const (
	flagMeasured = 1 << iota
	flagPending
	flagAbandoned
	flagForbidden // not in the allowed nodes
)

// mapEdges is the largest number of edges on a map; a map with more shows none.
const mapEdges = 60_000

// showMap sends the nodes in a box, thinned out if they are many.
func (s *Server) showMap(w http.ResponseWriter, r *http.Request) error {
	q := only(r, "box", "nodes", "edges")
	most := q.count("nodes", s.opts.Limits.MapNodes, 1, s.opts.Limits.MapNodes)
	edges := q.choice("edges", "yes", "no") == "yes"
	if q.err != nil {
		return q.err
	}
	o, err := s.named(r)
	if err != nil {
		return err
	}
	ctx, cancel := s.waitContext(r)
	defer cancel()
	p, err := o.mapPredictions(ctx)
	if err != nil {
		return err
	}
	if err := o.net.wait(ctx, true); err != nil {
		return err
	}
	area := o.net.bounds
	if text := q.text("box"); text != "" {
		if area, err = readBox(text); err != nil {
			return err
		}
	}
	m := newMapView(o, p, area, most)
	if unchanged(w, r, o.etag("map", m.seq, m.known)) {
		return nil
	}
	return m.send(w, edges)
}

// glance is how long a map waits for new predictions when it has older ones.
const glance = time.Second

// mapPredictions returns the predictions to draw: older ones if those of the newest
// measurements take long, and nil if there are none yet.
func (o *openStudy) mapPredictions(ctx context.Context) (*study.Predictions, error) {
	if _, err := o.awaitEngine(ctx); err != nil {
		return nil, err
	}
	latest := o.LatestPredictions()
	if latest != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, glance)
		defer cancel()
	}
	p, err := o.awaitPredictions(ctx)
	switch {
	case errors.Is(err, errLoading):
		return latest, nil
	case errors.Is(err, study.ErrNoModel), errors.Is(err, study.ErrFit): // the status of the engine says why
		return nil, nil
	}
	return p, err
}

// mapView is the content of a map.
type mapView struct {
	*network
	seq     int64              // last event behind the flags
	known   int64              // last event behind the predictions; 0: there are none
	p       *study.Predictions // nil: no model
	flags   map[int]byte       // by node, of nodes that have any
	allowed []bool             // to be suggested; nil: all
	area    box
	visible int      // nodes in area
	shown   []int    // the nodes drawn, in the order of the file
	stands  []uint32 // number of nodes that each of shown stands for
}

func newMapView(o *openStudy, p *study.Predictions, area box, most int) *mapView {
	m := &mapView{network: o.net, p: p, flags: map[int]byte{}, allowed: o.allowedNodes(), area: area}
	ids := o.net.Graph.IDs()
	flag := func(id string, bit byte) {
		if i, ok := ids.Lookup([]byte(id)); ok {
			m.flags[i] |= bit
		}
	}
	o.View(func(st *study.State) {
		m.seq = st.Seq
		for _, r := range st.Measurements() {
			flag(r.Node, flagMeasured)
		}
		for _, id := range st.Pending() {
			flag(id, flagPending)
		}
		for _, id := range st.AbandonedNodes() {
			flag(id, flagAbandoned)
		}
	})
	if p != nil {
		m.known = p.Seq
	}
	var inside []int
	for _, i := range m.order {
		if m.hasPosition(i) && area.contains(m.points.X[i], m.points.Y[i]) {
			inside = append(inside, i)
		}
	}
	m.visible = len(inside)
	m.shown, m.stands = m.thin(inside, most)
	return m
}

// thin selects at most most nodes, in the order of the file, and counts the nodes that
// each stands for. Nodes with flags come first. Of the others it selects one per cell of a grid, the
// one whose mean is nearest to the average of its cell, so that the map has the
// colours of the full map.
func (m *mapView) thin(inside []int, most int) (shown []int, stands []uint32) {
	if len(inside) <= most {
		return inside, slices.Repeat([]uint32{1}, len(inside))
	}
	kept := map[int]uint32{}
	var rest []int
	for _, i := range inside {
		if m.flags[i] != 0 && len(kept) < most {
			kept[i] = 1
		} else {
			rest = append(rest, i)
		}
	}
	if room := most - len(kept); room > 0 {
		for i, n := range m.oneEach(rest, room) {
			kept[i] = n
		}
	}
	for i := range kept {
		shown = append(shown, i)
	}
	slices.SortFunc(shown, func(i, j int) int { return m.number[i] - m.number[j] })
	for _, i := range shown {
		stands = append(stands, kept[i])
	}
	return shown, stands
}

// oneEach returns one node per cell of a grid with at most the given number of cells,
// and the number of nodes in its cell.
func (m *mapView) oneEach(nodes []int, cells int) map[int]uint32 {
	area := emptyBox
	for _, i := range nodes {
		area.include(m.points.X[i], m.points.Y[i])
	}
	wide, high := max(area.x1-area.x0, math.SmallestNonzeroFloat32), max(area.y1-area.y0, math.SmallestNonzeroFloat32)
	across := min(cells, max(1, int(math.Sqrt(float64(cells)*wide/high))))
	down := max(1, cells/across)
	cell := func(i int) int {
		x := min(across-1, int(float64(across)*((m.points.X[i]-area.x0)/wide)))
		y := min(down-1, int(float64(down)*((m.points.Y[i]-area.y0)/high)))
		return y*across + x
	}
	count, sum := make([]uint32, across*down), make([]float64, across*down)
	for _, i := range nodes {
		c := cell(i)
		count[c]++
		sum[c] += m.mean(i)
	}
	best := make([]int, across*down)
	off := make([]float64, across*down)
	for k := range best {
		best[k], off[k] = -1, math.Inf(1)
	}
	for _, i := range nodes {
		c := cell(i)
		if d := math.Abs(m.mean(i) - sum[c]/float64(count[c])); d < off[c] || best[c] < 0 {
			best[c], off[c] = i, d
		}
	}
	one := map[int]uint32{}
	for c, i := range best {
		if i >= 0 {
			one[i] = count[c]
		}
	}
	return one
}

// mean returns the posterior mean at a node, 0 without a model.
func (m *mapView) mean(i int) float64 {
	if m.p == nil {
		return 0
	}
	return m.p.Mean[i]
}

// flag returns the flags of a node.
func (m *mapView) flag(i int) byte {
	f := m.flags[i]
	if m.allowed != nil && !m.allowed[i] {
		f |= flagForbidden
	}
	return f
}

// mapHead is the header of a map.
type mapHead struct {
	Kind        string              `json:"kind"`
	Seq         int64               `json:"seq"`
	Known       int64               `json:"known,omitempty"` // last event behind the predictions
	Model       bool                `json:"model"`
	Coordinates string              `json:"coordinates"`
	Bounds      []number            `json:"bounds"`
	Box         []number            `json:"box"`
	Total       int                 `json:"total"`
	Visible     int                 `json:"visible"`
	Shown       int                 `json:"shown"`
	Thinned     bool                `json:"thinned"`
	Range       map[string][]number `json:"range,omitempty"`
}

func (m *mapView) send(w http.ResponseWriter, edges bool) error {
	head := mapHead{
		Kind: "map", Seq: m.seq, Known: m.known, Model: m.p != nil, Coordinates: m.coordinates, Bounds: m.bounds.list(), Box: m.area.list(),
		Visible: m.visible, Shown: len(m.shown), Thinned: len(m.shown) < m.visible,
	}
	for i := range m.points.X {
		if m.hasPosition(i) {
			head.Total++
		}
	}
	var c columns
	numbers, flags := make([]uint32, len(m.shown)), make([]byte, len(m.shown))
	for k, i := range m.shown {
		numbers[k], flags[k] = uint32(m.number[i]), m.flag(i)
	}
	c.counts("number", numbers)
	c.floats("x", len(m.shown), func(k int) float64 { return m.points.X[m.shown[k]] })
	c.floats("y", len(m.shown), func(k int) float64 { return m.points.Y[m.shown[k]] })
	if m.p != nil {
		head.Range = map[string][]number{"mean": span(m.p.Mean), "sd": span(m.p.SD)}
		c.floats("mean", len(m.shown), func(k int) float64 { return m.p.Mean[m.shown[k]] })
		c.floats("sd", len(m.shown), func(k int) float64 { return m.p.SD[m.shown[k]] })
	}
	c.bytes("flags", flags)
	c.counts("stands", m.stands)
	if from, to := m.edges(); edges && len(from) <= mapEdges {
		c.counts("edge_from", from)
		c.counts("edge_to", to)
	}
	c.texts("id", len(m.shown), func(k int) []byte { return m.Graph.IDs().Bytes(m.shown[k]) })
	return c.send(w, head)
}

// span returns the smallest and the largest number.
func span(values []float64) []number {
	if len(values) == 0 {
		return nil
	}
	return []number{number(slices.Min(values)), number(slices.Max(values))}
}

// edges returns the edges between shown nodes, each once, by the rows of the nodes. It
// stops once there are more than mapEdges.
func (m *mapView) edges() (from, to []uint32) {
	row := make(map[int]uint32, len(m.shown))
	for k, i := range m.shown {
		row[i] = uint32(k)
	}
	for k, i := range m.shown {
		cols, _ := m.Graph.Adjacency().Row(i)
		for _, j := range cols {
			if other, ok := row[int(j)]; ok && m.number[j] > m.number[i] {
				from, to = append(from, uint32(k)), append(to, other)
			}
		}
		if len(from) > mapEdges {
			break
		}
	}
	return from, to
}
