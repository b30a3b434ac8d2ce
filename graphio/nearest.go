package graphio

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
)

// NearestNeighbours joins each node of a table to its k nearest: by lat and lon
// over the globe or, without these, by x and y in the plane. Every node keeps its
// id, and the weights are those of [graph.KNN].
func NearestNeighbours(nodes *NodeTable, k int) (*Network, error) {
	fail := func(code Code, what string, remedies ...Remedy) (*Network, error) {
		file := "node table"
		if nodes.Report != nil {
			file = nodes.Report.File
		}
		return nil, &Error{Code: code, Table: TableNodes, File: file, What: what, Remedies: remedies}
	}
	first, second, metric := nodes.Lat, nodes.Lon, graph.GreatCircle
	if first == nil || second == nil {
		first, second, metric = nodes.X, nodes.Y, graph.Planar
	}
	if first == nil || second == nil {
		return fail(CodeAmbiguous, "there are no columns lat and lon, or x and y",
			do("name them", nameColumn(RoleLat, ""), nameColumn(RoleLon, "")))
	}
	coords := mat.NewDense(len(first), 2, nil)
	for i := range first {
		if math.IsNaN(first[i]) || math.IsNaN(second[i]) {
			return fail(CodeContent, fmt.Sprintf("node %q has no coordinates", nodes.IDs.At(i)), do("give them"), do("leave the node out"))
		}
		coords.SetRow(i, []float64{first[i], second[i]})
	}
	if n := len(first); k >= n {
		way := do(fmt.Sprintf("give a number from 1 to %d", n-1))
		if n < 3 {
			way = do("add nodes")
		}
		return fail(CodeOption, fmt.Sprintf("it has %s, too few for %s of each", counted(n, "node"), counted(k, "nearest neighbour")), way)
	}
	g, err := graph.KNN(coords, k, metric)
	if err != nil {
		return fail(CodeOption, fmt.Sprintf("its nodes cannot be connected to their %d nearest: %v", k, err),
			do(fmt.Sprintf("give a number from 1 to %d", len(first)-1)))
	}
	if g, err = graph.New(g.Adjacency(), nodes.IDs); err != nil {
		return nil, err
	}
	return NewNetwork(g, nodes, nodes.Report), nil
}
