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

// Network is a graph as it was read.
type Network struct {
	Graph  *graph.Graph
	Nodes  *NodeTable // a row for each node of Graph, in its order; nil where no file says anything about nodes
	Report *Report
}

// ReadGraph reads the edges of a graph from delimited text, MatrixMarket or
// GraphML, whichever the file turns out to be. Nodes are numbered in the order
// in which they are first seen, those of opts.Nodes before all others.
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
