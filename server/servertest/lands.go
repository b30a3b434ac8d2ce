package servertest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/server"
	"grfgp/study"
)

// Coast keeps a chain of nodes along a meridian, 0.01 degrees apart, with names.
func (s *Host) Coast(n int) string {
	s.T.Helper()
	var nodes, edges strings.Builder
	nodes.WriteString("id,label,lat,lon\n")
	edges.WriteString("source,target\n")
	for i := range n {
		fmt.Fprintf(&nodes, "n%d,Pier %d,%.4f,-121.9\n", i, i, 37+0.01*float64(i))
		if i > 0 {
			fmt.Fprintf(&edges, "n%d,n%d\n", i-1, i)
		}
	}
	return s.PutTables(nodes.String(), edges.String())
}

// PutTables keeps a graph of a table of nodes and one of edges.
func (s *Host) PutTables(nodes, edges string) string {
	s.T.Helper()
	body, kind := Form(s.T, File{"nodes", nodes}, File{"edges", edges})
	var g struct{ ID string }
	s.Must("POST", "/v1/graphs", body, &g, kind)
	return g.ID
}

// WellDepth is the column depth of a node of Wells. It has nothing to do with the ring.
func WellDepth(i int) float64 { return 1.5 * float64(rand.New(rand.NewPCG(1, 1)).Perm(30)[i]) }

// Wells is a node table of a ring of 30 nodes, with several columns.
func Wells() string {
	var nodes strings.Builder
	nodes.WriteString("id,depth,type,drilled,serial,group\n")
	for i := range 30 {
		drilled := fmt.Sprintf("2024-%02d-%02d", 1+i%12, 1+i%28)
		if i < 3 {
			drilled = ""
		}
		fmt.Fprintf(&nodes, "n%d,%v,%s,%s,S-%d-x,%c\n", i, WellDepth(i), []string{"rock", "sand", "clay"}[i%3], drilled, 1000+i*i, 'a'+i%2)
	}
	return nodes.String()
}

// WellValues are measurements that depend on depth alone.
func WellValues(n int) (all []study.Measurement) {
	for i := range n {
		x := WellDepth(i)
		all = append(all, study.Measurement{Node: fmt.Sprintf("n%d", i), Value: (x - 18) * (x - 18)})
	}
	return all
}

// WithEngine is the engine that people get, on a machine that may be busy.
func WithEngine(o *server.Options) { o.NewEngine, o.Limits.Patience = nil, Patience }

// Quick is a model that is quickly trained.
var Quick = map[string]any{"seed": 1, "family": "matern", "nu": 2, "method": "dense", "scales": "one"}

// Land is a network whose truth is known.
type Land struct {
	*graphio.Network
	Truth []float64
	Known []int // nodes measured before anybody asks
}

// Village is a small land: its models are learned at once.
func Village(t testing.TB) Land {
	t.Helper()
	const side = 13
	g, err := graph.Grid(side, side)
	if err != nil {
		t.Fatal(err)
	}
	l := Land{Network: &graphio.Network{Graph: g, Nodes: &graphio.NodeTable{IDs: g.IDs()}}}
	for i := range side * side {
		x, y := float64(i/side), float64(i%side)
		l.Nodes.X, l.Nodes.Y = append(l.Nodes.X, x), append(l.Nodes.Y, y)
		l.Truth = append(l.Truth, 50+20*math.Sin(x/3)*math.Cos(y/4))
		if i%2 == 1 {
			l.Known = append(l.Known, i)
		}
	}
	return l
}

// Host starts a server with studies of the land, with some values each.
func (l Land) Host(t testing.TB, goal string, names ...string) *Host {
	t.Helper()
	packed, err := graphio.Encode(l.Network)
	if err != nil {
		t.Fatal(err)
	}
	h := New(t, WithEngine)
	var kept struct{ ID string }
	h.Must("POST", "/v1/graphs", packed, &kept, "Content-Type: application/vnd.grfgp.network")
	for k, name := range names {
		h.Must("POST", "/v1/studies", map[string]any{"name": name, "graph": kept.ID, "goal": goal, "budget": 60, "seed": k, "spec": Quick}, nil)
		var rows []study.Measurement
		for r, i := range l.Known {
			if r%6 == k {
				rows = append(rows, study.Measurement{Node: l.Graph.IDs().At(i), Value: l.Truth[i]})
			}
		}
		h.Must("POST", "/v1/studies/"+name+"/observations", map[string]any{"observations": rows, "by": "anna"}, nil)
	}
	return h
}

// Measure asks and tells the truth, so many times two.
func (l Land) Measure(h *Host, name string, rounds int) {
	for range rounds {
		var ask study.Ask
		h.Must("POST", "/v1/studies/"+name+"/asks", map[string]any{"count": 2, "holder": "anna"}, &ask)
		for _, trial := range ask.Trials {
			i, _ := l.Graph.IDs().Lookup([]byte(trial.Node))
			h.Must("PUT", fmt.Sprintf("/v1/studies/%s/trials/%d/result", name, trial.Trial), map[string]any{"value": l.Truth[i], "by": "ben"}, nil)
		}
	}
}
