package server

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"strings"
	"sync"

	"grfgp/graphio"
	"grfgp/internal/layout"
	"grfgp/study"
)

// network is a graph of the store in memory, with a place for each node. It is
// loaded once, in the background, for all studies on it.
type network struct {
	id     string
	loaded chan struct{} // closed when net or err is there
	placed chan struct{} // closed when the places are, too
	err    error
	adrift error // why there are no places

	making     sync.Mutex
	optimizers map[string]*study.Optimizer // by Spec; they are told nothing

	*graphio.Network
	order       []int  // the nodes in the order of the file, by which the service numbers them:
	number      []int  // number[order[k]] = k
	coordinates string // geographic, planar or layout
	points      layout.Points
	bounds      box
}

// network returns a graph, which is perhaps still being loaded. One that could not
// be loaded is tried again.
func (s *Server) network(id string) *network {
	s.mu.Lock()
	n := s.graphs[id]
	if n != nil {
		s.mu.Unlock()
		return n
	}
	n = &network{id: id, loaded: make(chan struct{}), placed: make(chan struct{})}
	s.graphs[id] = n
	s.mu.Unlock()
	s.background(func() { s.load(n) })
	return n
}

func (s *Server) load(n *network) {
	n.err = safely(func() (err error) { n.Network, err = s.readNetwork(n.id); return err })
	if n.err == nil {
		n.order = n.Graph.InputOrder()
		n.number = make([]int, len(n.order))
		for k, i := range n.order {
			n.number[i] = k
		}
	}
	if n.err != nil {
		s.mu.Lock()
		delete(s.graphs, n.id)
		s.mu.Unlock()
		close(n.loaded)
		close(n.placed)
		return
	}
	close(n.loaded)
	n.adrift = safely(func() error { n.place(); return nil })
	close(n.placed)
	if n.adrift != nil {
		s.log.Error("a graph cannot be drawn", "graph", n.id, "error", n.adrift)
		return
	}
	s.log.Info("a graph is loaded", "graph", n.id, "nodes", n.Graph.Len(), "edges", n.Graph.Edges(), "places", n.coordinates)
}

func (s *Server) readNetwork(id string) (*graphio.Network, error) {
	packed, err := s.packed(s.ctx, id)
	if err != nil {
		return nil, err
	}
	return graphio.Unpack(packed)
}

// packed returns a graph as it is kept. What is no id never reaches the store.
func (s *Server) packed(ctx context.Context, id string) ([]byte, error) {
	if !isGraphID(id) {
		return nil, notFound.because("there is no graph %.80q; GET /v1/graphs lists them", id)
	}
	return s.opts.Store.Graph(ctx, id)
}

// isGraphID reports whether a text is the hash of a graph.
func isGraphID(id string) bool {
	return len(id) == 2*sha256.Size && strings.Trim(id, "0123456789abcdef") == ""
}

// layoutSeed is that of places which no coordinates give.
const layoutSeed = 1

// place gives each node a place: by its coordinates, or by the edges.
func (n *network) place() {
	switch n.coordinates = coordinates(n.Nodes); n.coordinates {
	case "geographic":
		n.points = layout.Geographic(n.Nodes.Lat, n.Nodes.Lon)
	case "planar":
		n.points = layout.Points{X: n.Nodes.X, Y: n.Nodes.Y}
	default:
		n.coordinates, n.points = "layout", layout.Of(n.Graph, layoutSeed)
	}
	n.bounds = nowhere
	for i := range n.points.X {
		if n.hasPlace(i) {
			n.bounds.take(n.points.X[i], n.points.Y[i])
		}
	}
}

// coordinates says which ones a table of nodes has.
func coordinates(nodes *graphio.NodeTable) string {
	switch {
	case nodes == nil:
	case nodes.Lat != nil && nodes.Lon != nil:
		return "geographic"
	case nodes.X != nil && nodes.Y != nil:
		return "planar"
	}
	return "none"
}

// farthest is where coordinates stop making sense: float32 ends near.
const farthest = 1e30

// hasPlace reports whether a node can be drawn.
func (n *network) hasPlace(i int) bool {
	return math.Abs(n.points.X[i]) < farthest && math.Abs(n.points.Y[i]) < farthest // false for NaN
}

// wait waits for the graph, and for its places if they are wanted. When ctx ends
// before, the error wraps errLoading.
func (n *network) wait(ctx context.Context, placed bool) error {
	for _, ready := range []chan struct{}{n.loaded, n.placed} {
		if ready == n.placed && !placed {
			break
		}
		select {
		case <-ready:
		case <-ctx.Done():
			return fmt.Errorf("%w: the graph is being loaded; ask again soon", errLoading)
		}
	}
	if placed && n.err == nil {
		return n.adrift
	}
	return n.err
}

// isLoaded reports whether the graph is there.
func (n *network) isLoaded() bool {
	select {
	case <-n.loaded:
		return n.err == nil
	default:
		return false
	}
}

// isPlaced reports whether the places are there, too.
func (n *network) isPlaced() bool {
	select {
	case <-n.placed:
		return n.err == nil && n.adrift == nil
	default:
		return false
	}
}
