package server

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// box is a rectangle of the plane, its bounds included.
type box struct{ x0, y0, x1, y1 float64 }

// emptyBox contains no point.
var emptyBox = box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}

// include extends the box to contain a point.
func (b *box) include(x, y float64) {
	b.x0, b.y0, b.x1, b.y1 = min(b.x0, x), min(b.y0, y), max(b.x1, x), max(b.y1, y)
}

// overlaps reports whether the boxes have a point in common.
func (b box) overlaps(o box) bool {
	return b.x0 <= o.x1 && o.x0 <= b.x1 && b.y0 <= o.y1 && o.y0 <= b.y1
}

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

// drawn says which nodes a map draws, one per row: all of them in the order of the file or, where
// they are too many, one of every step in that order. Which one is drawn by a hash, so that a
// regular graph gets no pattern that it does not have.
type drawn struct{ total, step int }

// drawnOf returns the rows of a map with at most so many of the nodes.
func drawnOf(total, most int) drawn {
	return drawn{total, max(1, (total+most-1)/most)}
}

func (d drawn) rows() int { return (d.total + d.step - 1) / d.step }

// number returns the number of the node in a row.
func (d drawn) number(row int) int {
	first := row * d.step
	return first + int(mixed(uint32(row))%uint32(min(d.step, d.total-first)))
}

// mixed is the finalizer of MurmurHash3; the page computes the same.
func mixed(h uint32) uint32 {
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

// layoutVersion changes whenever the positions of the same graph do.
const layoutVersion = 2

// coarseNodes is the number of drawn nodes from which on a position has 16 bits per
// coordinate instead of 24, which are all that the graphics of the page compute with.
const coarseNodes = 250_000

const (
	coarseTop = 1<<16 - 1
	fineTop   = 1<<24 - 1
)

// lattice turns positions into whole numbers: x is x0 + q·wide/top for q below top, and
// top stands for a node without position.
type lattice struct {
	x0, y0, wide, high float64
	top                float64
}

func (n *network) lattice(rows int) lattice {
	f := lattice{x0: n.bounds.x0, y0: n.bounds.y0, top: fineTop}
	if rows >= coarseNodes {
		f.top = coarseTop
	}
	if !finite(f.x0) { // no node has a position
		f.x0, f.y0 = 0, 0
	}
	// The largest coordinate becomes top − 1.
	f.wide = max(n.bounds.x1-n.bounds.x0, 0) * f.top / (f.top - 1)
	f.high = max(n.bounds.y1-n.bounds.y0, 0) * f.top / (f.top - 1)
	return f
}

// at returns the position of a node.
func (f lattice) at(n *network, i int) (x, y uint32) {
	if !n.hasPosition(i) {
		return uint32(f.top), uint32(f.top)
	}
	return f.along(n.points.X[i]-f.x0, f.wide), f.along(n.points.Y[i]-f.y0, f.high)
}

func (f lattice) along(v, length float64) uint32 {
	if length == 0 {
		return 0
	}
	return uint32(max(0, min(f.top-1, math.Round(v/length*f.top))))
}

// columns adds the positions of rows, as x and y with a prefix.
func (f lattice) columns(c *columns, prefix string, n *network, rows int, node func(row int) int) {
	x, y := make([]uint32, rows), make([]uint32, rows)
	for k := range rows {
		x[k], y[k] = f.at(n, node(k))
	}
	add := c.counts
	if f.top == coarseTop {
		add = c.shorts
	}
	add(prefix+"x", x)
	add(prefix+"y", y)
}

// graphMap returns the graph of a request, with its positions.
func (s *Server) graphMap(r *http.Request) (*network, error) {
	net := s.network(r.PathValue("g"))
	ctx, cancel := s.waitContext(r)
	defer cancel()
	return net, net.wait(ctx, true)
}

// placesHead is the header of the positions of a graph.
type placesHead struct {
	Kind        string      `json:"kind"`
	Total       int         `json:"total"` // nodes of the graph
	Placed      int         `json:"placed"`
	Rows        int         `json:"rows"`
	Step        int         `json:"step"` // the rows are all nodes if it is 1
	Edges       int         `json:"edges"`
	Coordinates string      `json:"coordinates"`
	Bounds      []number    `json:"bounds"`
	Frame       []number    `json:"frame"` // x0, y0, wide, high: x is x0 + q·wide/top
	Top         number      `json:"top"`   // q of nodes without position
	Projection  *projection `json:"projection,omitempty"`
}

// projection says how x and y of a geographic map follow from longitude and latitude: x is
// shrink times the degrees east of lon, y the latitude.
type projection struct {
	Lon    number `json:"lon"`
	Shrink number `json:"shrink"`
}

// showPlaces sends the positions of the nodes of a graph, which change with no measurement.
func (s *Server) showPlaces(w http.ResponseWriter, r *http.Request) error {
	if q := only(r); q.err != nil {
		return q.err
	}
	net, err := s.graphMap(r)
	if err != nil {
		return err
	}
	d := drawnOf(net.Graph.Len(), s.opts.Limits.MapNodes)
	if unchanged(w, r, fmt.Sprintf("places-%d-%d-%.32s", layoutVersion, d.step, net.id)) {
		return nil
	}
	f := net.lattice(d.rows())
	head := placesHead{Kind: "places", Total: d.total, Rows: d.rows(), Step: d.step, Edges: net.Graph.Edges(), Coordinates: net.coordinates,
		Bounds: net.bounds.list(), Frame: []number{number(f.x0), number(f.y0), number(f.wide), number(f.high)}, Top: number(f.top)}
	for i := range net.points.X {
		if net.hasPosition(i) {
			head.Placed++
		}
	}
	if net.coordinates == "geographic" {
		head.Projection = &projection{number(net.meridian), number(net.shrink)}
	}
	var c columns
	f.columns(&c, "", net, d.rows(), func(row int) int { return net.order[d.number(row)] })
	return c.send(w, head)
}

// mapEdges is the largest number of edges on a map; a map with more shows none.
const mapEdges = 60_000

// showEdges sends the edges that may be seen in a box, those that lead out of it included, unless
// they are too many to tell apart.
func (s *Server) showEdges(w http.ResponseWriter, r *http.Request) error {
	q := only(r, "box")
	if q.err != nil {
		return q.err
	}
	net, err := s.graphMap(r)
	if err != nil {
		return err
	}
	area, text := net.bounds, q.text("box")
	if text != "" {
		if area, err = readBox(text); err != nil {
			return err
		}
	}
	d := drawnOf(net.Graph.Len(), s.opts.Limits.MapNodes)
	if unchanged(w, r, fmt.Sprintf("edges-%d-%d-%.32s-%s", layoutVersion, d.step, net.id, strings.ReplaceAll(text, " ", ""))) {
		return nil
	}
	var from, to []uint32
	if d.step == 1 {
		from, to = net.edgesIn(area)
	}
	whole := len(from) <= mapEdges && d.step == 1
	if !whole {
		from, to = nil, nil
	}
	var c columns
	c.counts("from", from)
	c.counts("to", to)
	return c.send(w, map[string]any{"kind": "edges", "total": net.Graph.Edges(), "shown": len(from), "whole": whole})
}

// edgesIn returns the edges whose bounding box overlaps an area, each once, by the numbers of their
// nodes. It stops once there are more than mapEdges.
func (n *network) edgesIn(area box) (from, to []uint32) {
	everything := area == n.bounds
	for _, i := range n.order {
		if !n.hasPosition(i) {
			continue
		}
		cols, _ := n.Graph.Adjacency().Row(i)
		for _, j := range cols {
			if n.number[j] <= n.number[i] || !n.hasPosition(int(j)) {
				continue
			}
			if !everything {
				span := emptyBox
				span.include(n.points.X[i], n.points.Y[i])
				span.include(n.points.X[j], n.points.Y[j])
				if !span.overlaps(area) {
					continue
				}
			}
			from, to = append(from, uint32(n.number[i])), append(to, uint32(n.number[j]))
		}
		if len(from) > mapEdges {
			break
		}
	}
	return from, to
}
