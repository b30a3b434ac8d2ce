package solve

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
)

// Recursions that leave nearly all work of a triangular solve to products of
// large blocks, which run on all processors. Only lower triangles are read.

// leaf is the size below which plain loops take over.
const leaf = 64

// half is where a matrix of size n > leaf is cut: at a multiple of leaf.
func half(n int) int { return (n/leaf + 1) / 2 * leaf }

// solveLower replaces b by L⁻¹·b.
func solveLower(l, b blas64.General) {
	n, m := l.Rows, b.Cols
	if n <= leaf || m == 1 {
		solveLeaf(blas.NoTrans, l, b)
		return
	}
	h := half(n)
	b1, b2 := block(b, 0, h, 0, m), block(b, h, n, 0, m)
	solveLower(block(l, 0, h, 0, h), b1)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, block(l, h, n, 0, h), b1, 1, b2)
	solveLower(block(l, h, n, h, n), b2)
}

// solveLowerT replaces b by L⁻ᵀ·b.
func solveLowerT(l, b blas64.General) {
	n, m := l.Rows, b.Cols
	if n <= leaf || m == 1 {
		solveLeaf(blas.Trans, l, b)
		return
	}
	h := half(n)
	b1, b2 := block(b, 0, h, 0, m), block(b, h, n, 0, m)
	solveLowerT(block(l, h, n, h, n), b2)
	blas64.Gemm(blas.Trans, blas.NoTrans, -1, block(l, h, n, 0, h), b2, 1, b1)
	solveLowerT(block(l, 0, h, 0, h), b1)
}

func solveLeaf(t blas.Transpose, l, b blas64.General) {
	if b.Cols == 1 {
		blas64.Trsv(t, lower(l), blas64.Vector{N: b.Rows, Inc: b.Stride, Data: b.Data})
		return
	}
	blas64.Trsm(blas.Left, t, 1, lower(l), b)
}

// lower is the lower triangle of a.
func lower(a blas64.General) blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: a.Rows, Stride: a.Stride, Data: a.Data}
}

// lowerOf returns the lower triangle of h, with zeros above the diagonal.
func lowerOf(h *mat.SymDense) blas64.General {
	n := h.SymmetricDim()
	l := blas64.General{Rows: n, Cols: n, Stride: max(n, 1), Data: make([]float64, n*n)}
	// gonum keeps the upper triangle. Blocks of rows here are blocks of columns
	// there, few enough for the cache.
	raw := h.RawSymmetric()
	parallel.Ranges(n, leaf, func(lo, hi int) {
		for j := range hi {
			from := raw.Data[j*raw.Stride:]
			for i := max(lo, j); i < hi; i++ {
				l.Data[i*n+j] = from[i]
			}
		}
	})
	return l
}

// factor replaces the lower triangle of a by its Cholesky factor. It returns
// the first pivot that is not positive and finite, which is left in its place,
// or −1.
func factor(a blas64.General) int {
	lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: a.Rows, Stride: a.Stride, Data: a.Data})
	for i := range a.Rows {
		if d := a.Data[i*a.Stride+i]; !(d > 0) || math.IsInf(d, 1) {
			return i
		}
	}
	return -1
}

// inverseLower returns L⁻¹, with zeros above the diagonal.
func inverseLower(l blas64.General) blas64.General {
	n := l.Rows
	inv := blas64.General{Rows: n, Cols: n, Stride: max(n, 1), Data: make([]float64, n*n)}
	for i := range n {
		copy(row(inv, i)[:i+1], row(l, i))
	}
	lapack64.Trtri(lower(inv))
	return inv
}

// dot is xᵀy over the length of x.
func dot(x, y []float64) float64 {
	return blas64.Dot(blas64.Vector{N: len(x), Inc: 1, Data: x}, blas64.Vector{N: len(x), Inc: 1, Data: y})
}
