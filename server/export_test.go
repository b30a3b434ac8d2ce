package server

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"grfgp/graphio"
)

// NewSteady returns the body of an upload that the server may wait for.
func NewSteady(body io.Reader, w http.ResponseWriter, wait time.Duration) io.Reader {
	return &steady{body, http.NewResponseController(w), wait}
}

// Borrow lends a packed graph.
func (s *Server) Borrow(ctx context.Context, id string) ([]byte, func(), error) {
	return s.borrow(ctx, id)
}

// Lent is how many packed graphs are lent.
func (s *Server) Lent() int {
	s.lent.mu.Lock()
	defer s.lent.mu.Unlock()
	return len(s.lent.graphs)
}

// RouteList lists the routes, for tests.
func RouteList() (list []struct{ Method, Path string }) {
	for _, r := range routes {
		list = append(list, struct{ Method, Path string }{r.method, r.path})
	}
	return list
}

// OpenAPI is the document as it is served.
func OpenAPI() []byte { return openAPIDocument }

// Specs is how many models are prepared for a graph.
func (s *Server) Specs(graph string) int {
	n := s.network(graph)
	n.making.Lock()
	defer n.making.Unlock()
	return len(n.engines)
}

// Attempts are the wrong tokens that a server remembers.
type Attempts struct{ attempts }

// Wrong counts a wrong token.
func (a *Attempts) Wrong(address string, now time.Time) { a.wrong(address, true, now) }

// Len is how many addresses are remembered.
func (a *Attempts) Len() int { return len(a.failed) }

// Damage is the text of an error for clients.
func Damage(err error) string { return damage(err) }

// Evict removes studies and graphs that nobody uses, as the server does now and then.
func (s *Server) Evict() { s.evict() }

// InMemory is how many studies and graphs are in memory.
func (s *Server) InMemory() (studies, graphs int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.studies), len(s.graphs)
}

// Taken is how many places of requests and of uploads are taken.
func (s *Server) Taken() (requests, uploaded int) { return len(s.gates[small]), len(s.gates[uploads]) }

// RunNearest finds the measurements nearest to a hundred nodes, when so many were measured.
func RunNearest(b *testing.B, net *graphio.Network, measured int) {
	step := net.Graph.Len() / measured
	for b.Loop() {
		s := &surroundings{net: &network{Network: net}, known: map[int]bool{}}
		for k := range measured {
			s.add(net.Graph.IDs().At(k * step))
		}
		s.arrange()
		for i := range 100 {
			s.nearest(i * 97 % net.Graph.Len())
		}
	}
}
