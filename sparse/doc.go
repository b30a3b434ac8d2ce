// Package sparse has matrices in compressed-row form (CSR) and their products with
// blocks of vectors. All products of large sparse matrices in this module run
// here.
//
// # The matrix
//
// A CSR matrix keeps its non-zero entries row by row in three arrays: the entries
// of row i are rowPtr[i] … rowPtr[i+1]−1, each with a column colIdx[p] and a value
// val[p]. NewCSR checks the arrays and takes them over; a matrix never changes
// afterwards and is safe for concurrent use.
//
//	    ⎡ 0 2 0 ⎤      rowPtr = 0 1 3 3
//	A = ⎢ 1 0 3 ⎥      colIdx = 1 0 2
//	    ⎣ 0 0 0 ⎦      val    = 2 1 3
//
// # Products
//
// Mul computes A·X for a dense block X with one right-hand side per column, which
// reads A once for all columns; T gives the transpose for Aᵀ·X, and Times the
// sparse product A·B.
//
// Every entry of a product is a sum over the entries of a row in stored order,
// without fused multiply-add. The result therefore has the same bits on every
// processor, in assembly and in Go, for any number of threads, and for any set of
// columns that are multiplied together.
//
// Sizes that do not fit are a programming error and panic; arrays that do not make
// a matrix are an error that wraps ErrFormat.
package sparse
