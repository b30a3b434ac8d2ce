package server

import (
	"context"
	"fmt"
	"math"

	"grfgp/graphio"
	"grfgp/internal/layout"
)

// network is a graph of the store in memory, with a place for each node. It is
// loaded once, in the background, for all studies on it.
type network struct {
	id     string
	loaded chan struct{} // closed when net or err is there
	placed chan struct{} // closed when the places are, too
	err    error

	*graphio.Network
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
	if n.Network, n.err = s.readNetwork(n.id); n.err != nil {
		s.mu.Lock()
		delete(s.graphs, n.id)
		s.mu.Unlock()
		close(n.loaded)
		close(n.placed)
		return
	}
	close(n.loaded)
	n.place()
	close(n.placed)
	s.log.Info("a graph is loaded", "graph", n.id, "nodes", n.Graph.Len(), "edges", n.Graph.Edges(), "places", n.coordinates)
}

func (s *Server) readNetwork(id string) (*graphio.Network, error) {
	packed, err := s.opts.Store.Graph(s.ctx, id)
	if err != nil {
		return nil, err
	}
	return graphio.Unpack(packed)
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
func coordinates(nodes *graphio.Nodes) string {
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
		return n.err == nil
	default:
		return false
	}
}
