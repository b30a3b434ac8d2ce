package server

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"grfgp/graphio"
	"grfgp/internal/layout"
	"grfgp/store"
	"grfgp/study"
)

// network is a graph in memory, with a map position for each node. It is loaded
// once, in the background, for all studies on it.
type network struct {
	id        string
	loaded    chan struct{} // closed when Network or err is set
	laidOut   chan struct{} // closed when points or layoutErr is set
	err       error
	layoutErr error
	used      time.Time // when somebody last asked for it; guarded by Server.mu

	making  sync.Mutex
	engines map[string]*study.ModelEngine // by Spec and covariates, without measurements: studies get siblings of them

	*graphio.Network
	order       []int  // the nodes in the order of the file, by which the service numbers them:
	number      []int  // number[order[k]] = k
	coordinates string // geographic, planar or layout
	points      layout.Points
	bounds      box

	meridian, shrink float64 // of geographic coordinates: x is shrink times the degrees east of the meridian

	searching sync.Once
	names     *nameIndex // made by the first search
}

// network returns a graph of the store, which may still be loading. If loading
// failed before, it is tried again.
func (s *Server) network(id string) *network {
	s.mu.Lock()
	n := s.graphs[id]
	if n != nil {
		n.used = s.opts.Now()
		s.mu.Unlock()
		return n
	}
	n = &network{id: id, loaded: make(chan struct{}), laidOut: make(chan struct{}), used: s.opts.Now()}
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
		close(n.laidOut)
		return
	}
	close(n.loaded)
	n.layoutErr = safely(func() error { n.layOut(); return nil })
	close(n.laidOut)
	if n.layoutErr != nil {
		s.log.Error("cannot lay out a graph", "graph", n.id, "error", n.layoutErr)
		return
	}
	s.log.Info("graph loaded", "graph", n.id, "nodes", n.Graph.Len(), "edges", n.Graph.Edges(), "coordinates", n.coordinates)
}

func (s *Server) readNetwork(id string) (*graphio.Network, error) {
	give, err := s.roomFor(id)
	if err != nil {
		return nil, err
	}
	defer give()
	packed, err := s.packed(s.ctx, id)
	if err != nil {
		return nil, err
	}
	return graphio.Decode(packed)
}

// roomFor reserves memory to load a graph of the store.
func (s *Server) roomFor(id string) (give func(), err error) {
	all, err := s.opts.Store.Graphs(s.ctx)
	if err != nil {
		return nil, err
	}
	k := slices.IndexFunc(all, func(g store.GraphInfo) bool { return g.ID == id })
	if k < 0 {
		return func() {}, nil // reading it says so
	}
	need := uploadFactor * all[k].Size
	return s.memory.takeBytes(s.ctx, need, 0, func(left int64) error {
		return fmt.Errorf("%w: the graph takes about %s, and %s of %s are left", study.ErrTooLarge, inUnits(need), inUnits(max(0, left)),
			inUnits(s.memory.most))
	})
}

// packed returns a packed graph of the store, which is asked for valid ids only.
func (s *Server) packed(ctx context.Context, id string) ([]byte, error) {
	if !isGraphID(id) {
		return nil, noGraph(id)
	}
	return s.opts.Store.Graph(ctx, id)
}

func noGraph(id string) error {
	return notFound.because("there is no graph %.80q", id)
}

// isGraphID reports whether a text has the form of a graph's id, a SHA-256.
func isGraphID(id string) bool {
	return len(id) == 2*sha256.Size && strings.Trim(id, "0123456789abcdef") == ""
}

// layoutSeed seeds the layout of graphs without coordinates.
const layoutSeed = 1

// layOut gives each node a map position, by its coordinates or by a layout of the
// graph.
func (n *network) layOut() {
	switch n.coordinates = coordinates(n.Nodes); n.coordinates {
	case "geographic":
		n.points = layout.Geographic(n.Nodes.Lat, n.Nodes.Lon)
		n.meridian, n.shrink = layout.Projection(n.Nodes.Lat, n.Nodes.Lon)
	case "planar":
		n.points = layout.Points{X: n.Nodes.X, Y: n.Nodes.Y}
	default:
		n.coordinates, n.points = "layout", layout.Of(n.Graph, layoutSeed)
	}
	n.bounds = emptyBox
	for i := range n.points.X {
		if n.hasPosition(i) {
			n.bounds.include(n.points.X[i], n.points.Y[i])
		}
	}
}

// coordinates returns the kind of coordinates in a node table: geographic, planar
// or none.
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

// maxCoordinate is the largest coordinate that is drawn; the page computes with
// float32.
const maxCoordinate = 1e30

// hasPosition reports whether a node can be drawn.
func (n *network) hasPosition(i int) bool {
	return math.Abs(n.points.X[i]) < maxCoordinate && math.Abs(n.points.Y[i]) < maxCoordinate // false for NaN
}

// wait waits for the graph, and for the map positions if positions is true. If ctx
// ends first, the error wraps errLoading.
func (n *network) wait(ctx context.Context, positions bool) error {
	if err := done(ctx, n.loaded); err != nil {
		return err
	}
	if n.err != nil || !positions {
		return n.err
	}
	if err := done(ctx, n.laidOut); err != nil {
		return err
	}
	return n.layoutErr
}

// done waits until a channel is closed. If ctx ends first, the error wraps
// errLoading.
func done(ctx context.Context, c <-chan struct{}) error {
	if isClosed(c) { // even if ctx has ended
		return nil
	}
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: the graph is being loaded; try again soon", errLoading)
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// isLoaded reports whether the graph is in memory.
func (n *network) isLoaded() bool { return isClosed(n.loaded) && n.err == nil }

// isLaidOut reports whether the nodes have map positions.
func (n *network) isLaidOut() bool { return n.isLoaded() && isClosed(n.laidOut) && n.layoutErr == nil }
