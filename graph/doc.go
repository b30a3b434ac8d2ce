// Package graph has weighted undirected graphs whose nodes have ids: building and
// checking, components, breadth-first search, locality order, normalised matrices,
// coarser graphs, generators and nearest neighbours.
//
// A graph is a symmetric matrix A of positive weights. D_i = Σ_j A_ij is the strength,
// or weighted degree, of node i. [Graph.Normalized] returns the matrix W that kernels
// are functions of, by default Ã = D^-½ A D^-½, whose Laplacian is I − Ã.
//
// # Nodes and ids
//
// A node is a number from 0 to Len() − 1. Its id is text, as in the user's files, and
// [IDs] translates between the two. [New], [FromEdges] and the generators number nodes
// as they are given. [Graph.Ordered] numbers them by locality, so that neighbours have
// close numbers; the result does not depend on the numbers before. A graph is ordered
// once, where it is made, and every other package uses these numbers.
// [Graph.InputOrder] lists the nodes in the order that they had, for output.
//
//	g, _, err := graph.FromEdges(ids, edges, graph.BuildOptions{})
//	…
//	g = g.Ordered()
//	for _, i := range g.InputOrder() {
//		fmt.Println(g.IDs().At(i)) // as in ids
//	}
//
// # Distances
//
// Distances are hops, the edges on a shortest path. [Graph.Hops] returns those of all
// nodes from a set of nodes, [Search] visits nodes by distance, and [Graph.Components]
// and [Graph.Unreached] tell what cannot be reached.
//
// # Coarser graphs
//
// [Graph.Coarsen] joins neighbouring nodes into cells, and cells into larger cells. A
// [Level] has the graph of its cells and the interpolation from cells to the nodes
// below, from which package kernel makes kernels of long reach.
package graph
