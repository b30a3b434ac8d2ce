package graphio

import (
	"context"

	"grfgp/graph"
)

// Network is a graph in locality order, unless Options.Unordered said otherwise, with
// its node table and the report of the file.
type Network struct {
	Graph  *graph.Graph // its InputOrder is that of the file
	Nodes  *NodeTable   // row i is about node i of Graph; nil without a table
	Report *Report      // of the edges; nil if the graph was not read from a file
}

// NewNetwork puts a graph and its node table, whose row i is about node i of g,
// into locality order. Table and report may be nil.
func NewNetwork(g *graph.Graph, nodes *NodeTable, report *Report) *Network {
	ordered := g.Ordered()
	if ordered != g {
		nodes = nodes.follow(ordered)
	}
	return &Network{Graph: ordered, Nodes: nodes, Report: report}
}

// ReadGraph reads a graph from delimited text, MatrixMarket or GraphML, or maps a packed
// graph, see WritePacked. Nodes are
// numbered by locality, see [graph.Graph.Ordered], so shuffled rows give the same
// graph. The graph's InputOrder lists nodes in the order of the file, those of
// opts.Nodes first.
func ReadGraph(ctx context.Context, src Source, opts Options) (*Network, error) {
	if isPacked(src) {
		return readPacked(ctx, src, opts)
	}
	in, err := open(ctx, src, TableEdges, opts)
	if err != nil {
		return nil, err
	}
	defer in.close()
	if in.kind != nil {
		return readForeign(ctx, in, opts)
	}
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
