package solve

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
)

// blockRows is how many rows one block of a sweep covers. Sums are taken per
// block and then over the blocks in order, so that they depend neither on the
// number of threads nor on the columns beside them.
const blockRows = 1024

// sweep calls do for every block of rows in [0, n). do adds to its own part,
// which starts as zeros; total is set to the sum of the parts. parts holds
// len(total) values per block.
func sweep(n int, total, parts []float64, do func(lo, hi int, part []float64)) {
	clear(total)
	if n <= blockRows {
		do(0, n, total)
		return
	}
	k := len(total)
	parallel.Ranges(n, blockRows, func(lo, hi int) {
		part := parts[lo/blockRows*k:][:k]
		clear(part)
		do(lo, hi, part)
	})
	for b := range rowBlocks(n) {
		for j, v := range parts[b*k:][:k] {
			total[j] += v
		}
	}
}

// rowBlocks returns the number of blocks of n rows.
func rowBlocks(n int) int { return (n + blockRows - 1) / blockRows }

// row returns row i of a.
func row(a blas64.General, i int) []float64 { return a.Data[i*a.Stride:][:a.Cols] }

// block is a view of rows [r0, r1) and columns [c0, c1) of a.
func block(a blas64.General, r0, r1, c0, c1 int) blas64.General {
	v := blas64.General{Rows: r1 - r0, Cols: c1 - c0, Stride: a.Stride}
	if v.Rows > 0 && v.Cols > 0 {
		v.Data = a.Data[r0*a.Stride+c0 : (r1-1)*a.Stride+c1]
	}
	return v
}

// shaped is the first n×k values of buf as a matrix.
func shaped(n, k int, buf []float64) *mat.Dense { return mat.NewDense(n, k, buf[:n*k]) }
