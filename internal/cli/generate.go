package cli

import (
	"fmt"
	"math"
	"strings"

	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/internal/plural"
)

const generateHelp = "generate a `graph`: ring:N, ring:N,K (K neighbours on each side), grid:ROWSxCOLS, roads:ROWSxCOLS (streets with " +
	"gaps), ba:N,M (Barabási–Albert), blocks:N,K,IN,OUT (K blocks, mean degrees within and between) or rmat:SCALE,EDGES"

// generate returns the graph that --generate describes, in locality order or as it is made.
func (a *App) generate(spec string, unordered bool) (*graphio.Network, error) {
	s := a.Talk.Stage("generating a graph")
	p, err := ParseGenerator(spec)
	if err != nil {
		return nil, Usagef("--generate %q: %v", spec, err)
	}
	need := p.bytes()
	if unordered {
		need = p.unorderedBytes()
	}
	if free := Size(0).Most(); free > 0 && need > float64(free) {
		return nil, TooLargef("--generate %s: %.3g nodes and %.3g edges need about %.3g GiB, and %s of memory are free", spec, p.Nodes, p.Edges,
			need/(1<<30), free)
	}
	g, err := p.Make(a.Seed)
	if err != nil {
		return nil, Usagef("--generate %q: %v", spec, err)
	}
	report := &graphio.Report{File: spec, Format: "generated", Nodes: g.Len(), Edges: g.Edges()}
	report.Ledger.Unit, report.Ledger.Total, report.Ledger.Edges = "edges", int64(g.Edges()), int64(g.Edges())
	net := &graphio.Network{Graph: g, Report: report}
	if !unordered {
		net = graphio.NewNetwork(g, nil, report)
	}
	s.Done("%s and %s", plural.Count(g.Len(), "nodes"), plural.Count(g.Edges(), "edges"))
	return net, nil
}

// Generator is a graph to generate, with its approximate size.
type Generator struct {
	Nodes, Edges float64
	Make         func(seed uint64) (*graph.Graph, error)
}

// bytes is the peak memory while the graph is generated, ordered and
// normalised; measured, and within 20 % on graphs of a million edges and more.
func (p Generator) bytes() float64 { return 100*p.Nodes + 80*p.Edges }

// unorderedBytes is the peak while the graph is generated and packed: per node, 99 bytes were measured
// on a grid of 10⁷ nodes, 59 on a ring of 10⁸, 162 with 3 random edges for each of 10⁷ nodes.
func (p Generator) unorderedBytes() float64 { return 45*p.Nodes + 40*p.Edges }

// ParseGenerator reads what --generate takes.
func ParseGenerator(spec string) (Generator, error) {
	kind, sizes, _ := strings.Cut(spec, ":")
	n, k, in, out := 0, 1, 0.0, 0.0
	read := func(format string, args ...any) bool {
		// The extra %s must find nothing left.
		var rest string
		got, _ := fmt.Sscanf(sizes, format+"%s", append(args, &rest)...)
		return got == len(args)
	}
	switch {
	case kind == "ring" && (read("%d", &n) || read("%d,%d", &n, &k)):
		return Generator{float64(n), float64(n) * float64(k), func(uint64) (*graph.Graph, error) { return graph.RingK(n, k) }}, nil
	case kind == "grid" && read("%dx%d", &n, &k):
		nodes := float64(n) * float64(k)
		return Generator{nodes, 2 * nodes, func(uint64) (*graph.Graph, error) { return graph.Grid(n, k) }}, nil
	case kind == "roads" && read("%dx%d", &n, &k):
		nodes := 0.9 * float64(n) * float64(k)
		return Generator{nodes, 1.35 * nodes, func(seed uint64) (*graph.Graph, error) { return graph.Roads(n, k, seed) }}, nil
	case kind == "ba" && read("%d,%d", &n, &k):
		return Generator{float64(n), float64(n) * float64(k), func(seed uint64) (*graph.Graph, error) {
			return graph.BarabasiAlbert(n, k, seed)
		}}, nil
	case kind == "rmat" && read("%d,%d", &n, &k):
		// The mix of the Graph500 benchmark.
		return Generator{math.Ldexp(1, n), float64(k), func(seed uint64) (*graph.Graph, error) {
			return graph.RMAT(n, k, 0.57, 0.19, 0.19, 0.05, seed)
		}}, nil
	case kind == "blocks" && read("%d,%d,%g,%g", &n, &k, &in, &out) && k > 0 && n >= k:
		return Generator{float64(n), float64(n) * (in + out) / 2, func(seed uint64) (*graph.Graph, error) {
			return blocks(n, k, in, out, seed)
		}}, nil
	}
	return Generator{}, fmt.Errorf("write it as ring:1000, ring:1000,4, grid:30x30, roads:30x30, ba:1000,3, blocks:1000,8,10,2 or " +
		"rmat:10,8000")
}

// blocks returns the options of k blocks of about equal size, by the mean numbers of
// neighbours of a node within its block and outside.
func blocks(n, k int, within, others float64, seed uint64) (*graph.Graph, error) {
	sizes := make([]int, k)
	for b := range sizes {
		sizes[b] = (b+1)*n/k - b*n/k
	}
	own := float64(n) / float64(k)
	return graph.StochasticBlock(sizes, func(a, b int) float64 {
		if a == b {
			return min(1, within/own)
		}
		return min(1, others/max(1, float64(n)-own))
	}, seed)
}
