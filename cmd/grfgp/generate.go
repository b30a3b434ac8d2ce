package main

import (
	"fmt"
	"strings"

	"grfgp/graph"
	"grfgp/graphio"
)

const generateHelp = "make a graph instead: ring:N, ring:N,K (K neighbours each side), grid:ROWSxCOLS, ba:N,M (Barabási–Albert), blocks:N,K,IN,OUT (K blocks, degrees within and between) or rmat:SCALE,EDGES"

// generate makes the graph that a --generate flag describes.
func (a *app) generate(spec string) (*graphio.Network, error) {
	s := a.talk.Stage("making a graph")
	g, err := parseGraph(spec, a.seed)
	if err != nil {
		return nil, usagef("--generate %q: %v", spec, err)
	}
	s.Done("%d nodes and %d edges", g.Len(), g.Edges())
	report := &graphio.Report{File: spec, Format: "generated", Nodes: g.Len(), Edges: g.Edges()}
	report.Ledger.Unit, report.Ledger.Total, report.Ledger.Edges = "edges", int64(g.Edges()), int64(g.Edges())
	return &graphio.Network{Graph: g, Report: report}, nil
}

func parseGraph(spec string, seed uint64) (*graph.Graph, error) {
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
		return graph.RingK(n, k)
	case kind == "grid" && read("%dx%d", &n, &k):
		return graph.Grid(n, k)
	case kind == "ba" && read("%d,%d", &n, &k):
		return graph.BarabasiAlbert(n, k, seed)
	case kind == "rmat" && read("%d,%d", &n, &k):
		// The mix of the Graph500 benchmark.
		return graph.RMAT(n, k, 0.57, 0.19, 0.19, 0.05, seed)
	case kind == "blocks" && read("%d,%d,%g,%g", &n, &k, &in, &out) && k > 0 && n >= k:
		sizes := make([]int, k)
		for b := range sizes {
			sizes[b] = (b+1)*n/k - b*n/k
		}
		own, others := float64(n)/float64(k), float64(n)-float64(n)/float64(k)
		return graph.StochasticBlock(sizes, func(a, b int) float64 {
			if a == b {
				return min(1, in/own)
			}
			return min(1, out/max(1, others))
		}, seed)
	}
	return nil, fmt.Errorf("write it as ring:1000, ring:1000,4, grid:30x30, ba:1000,3, blocks:1000,8,10,2 or rmat:10,8000")
}
