// Package graphio reads the graphs and tables that people have in files, and
// accounts for every line of them: what became an edge or a value, what was
// left out, and why.
//
// [ReadGraph] reads edges, [ReadNodes] what is known about each node,
// [ReadMeasurements] the values at some of them, [ReadLabels] their classes. Each finds out by itself how a
// file is packed, cut into fields and which column means what, and says so in a
// [Report]. Where a file can be read in two ways it stops and lists them.
package graphio

import (
	"context"

	"grfgp/graph"
)

// Network is a graph as it was read, in locality order.
type Network struct {
	Graph  *graph.Graph // its InputOrder is that of the file
	Nodes  *NodeTable   // a row for each node of Graph, in its order; nil where no file says anything about nodes
	Report *Report
}

// NewNetwork puts a graph into locality order, and with it a table whose row i is
// about node i of g. Table and report may be nil.
func NewNetwork(g *graph.Graph, nodes *NodeTable, report *Report) *Network {
	ordered := g.Ordered()
	if ordered != g {
		nodes = nodes.follow(ordered)
	}
	return &Network{Graph: ordered, Nodes: nodes, Report: report}
}

// ReadGraph reads the edges of a graph from delimited text, MatrixMarket or
// GraphML, whichever the file turns out to be. Nodes are numbered by locality, see
// [graph.Graph.Ordered]: shuffled rows give the same graph. The graph's InputOrder
// lists them as they are first seen, those of opts.Nodes before all others.
func ReadGraph(ctx context.Context, src Source, opts Options) (*Network, error) {
	in, err := open(ctx, src, TableEdges, opts)
	if err != nil {
		return nil, err
	}
	defer in.close()
	format, err := in.format()
	if err != nil {
		return nil, err
	}
	switch format {
	case formatMatrixMarket:
		return readMatrixMarket(ctx, in, opts)
	case formatGraphML:
		return readGraphML(ctx, in, opts)
	}
	return readDelimited(ctx, in, opts)
}
