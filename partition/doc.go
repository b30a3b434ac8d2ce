// Package partition plans how several processes share a graph: contiguous ranges of nodes in
// locality order, with about equal work; the nodes of others that each range needs, its
// rim; and the bytes that a product exchanges.
//
// A process owns the rows of its range: of the features Φ, and of every vector. For Φ·x it needs x at the
// columns of its rows, of which those outside its range come from their owners. For Φᵀ·y it sends what it has
// added up for these columns to their owners. A product with K = ΦΦᵀ takes both.
package partition
