package solve

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Recursions that leave nearly all work of a triangular factor to products of
// large blocks, which run on all processors. Only lower triangles are read.

// leaf is the size below which plain loops take over.
const leaf = 64

// half is where a matrix of size n > leaf is cut: at a multiple of leaf.
func half(n int) int { return (n/leaf + 1) / 2 * leaf }

// factor replaces the lower triangle of a by its Cholesky factor. It returns
// the first pivot that is not positive and finite, or −1. What is above the
// diagonal is overwritten.
func factor(a blas64.General) int {
	n := a.Rows
	if n <= leaf {
		return factorLeaf(a)
	}
	h := half(n)
	a11, a21, a22 := block(a, 0, h, 0, h), block(a, h, n, 0, h), block(a, h, n, h, n)
	if pivot := factor(a11); pivot >= 0 {
		return pivot
	}
	solveRight(a11, a21)
	// a22 −= a21·a21ᵀ, panel by panel down from the diagonal.
	const panel = 4 * leaf
	for c0 := 0; c0 < n-h; c0 += panel {
		c1 := min(c0+panel, n-h)
		blas64.Gemm(blas.NoTrans, blas.Trans, -1, block(a21, c0, n-h, 0, h), block(a21, c0, c1, 0, h), 1, block(a22, c0, n-h, c0, c1))
	}
	if pivot := factor(a22); pivot >= 0 {
		return h + pivot
	}
	return -1
}

func factorLeaf(a blas64.General) int {
	for i := range a.Rows {
		ai := row(a, i)[:i+1]
		for j := range i {
			ai[j] = (ai[j] - dot(ai[:j], row(a, j))) / a.Data[j*a.Stride+j]
		}
		d := ai[i] - dot(ai[:i], ai)
		if !(d > 0) || math.IsInf(d, 1) {
			ai[i] = d
			return i
		}
		ai[i] = math.Sqrt(d)
	}
	return -1
}

// dot is xᵀy over the length of x.
func dot(x, y []float64) float64 {
	return blas64.Dot(blas64.Vector{N: len(x), Inc: 1, Data: x}, blas64.Vector{N: len(x), Inc: 1, Data: y})
}

// solveRight replaces b by b·L⁻ᵀ.
func solveRight(l, b blas64.General) {
	n, m := l.Rows, b.Rows
	if n <= leaf {
		for i := range m {
			bi := row(b, i)
			for j := range bi {
				bi[j] = (bi[j] - dot(bi[:j], row(l, j))) / l.Data[j*l.Stride+j]
			}
		}
		return
	}
	h := half(n)
	b1, b2 := block(b, 0, m, 0, h), block(b, 0, m, h, n)
	solveRight(block(l, 0, h, 0, h), b1)
	blas64.Gemm(blas.NoTrans, blas.Trans, -1, b1, block(l, h, n, 0, h), 1, b2)
	solveRight(block(l, h, n, h, n), b2)
}

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
	lower := blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: l.Rows, Stride: l.Stride, Data: l.Data}
	if b.Cols == 1 {
		blas64.Trsv(t, lower, blas64.Vector{N: b.Rows, Inc: b.Stride, Data: b.Data})
		return
	}
	blas64.Trsm(blas.Left, t, 1, lower, b)
}

// inverseLower returns L⁻¹, with zeros above the diagonal.
func inverseLower(l blas64.General) blas64.General {
	n := l.Rows
	inv := blas64.General{Rows: n, Cols: n, Stride: max(n, 1), Data: make([]float64, n*n)}
	for i := range n {
		copy(row(inv, i)[:i+1], row(l, i))
	}
	invert(inv, make([]float64, half(n)*(n-half(n))))
	return inv
}

// invert replaces L, with zeros above the diagonal, by its inverse.
func invert(l blas64.General, scratch []float64) {
	n := l.Rows
	if n <= leaf {
		invertLeaf(l)
		return
	}
	h := half(n)
	l11, l21, l22 := block(l, 0, h, 0, h), block(l, h, n, 0, h), block(l, h, n, h, n)
	invert(l11, scratch)
	invert(l22, scratch)
	w := blas64.General{Rows: n - h, Cols: h, Stride: h, Data: scratch[:(n-h)*h]}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, l21, l11, 0, w)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, l22, w, 0, l21)
}

func invertLeaf(l blas64.General) {
	// Row i of the inverse: −(Σ_{j<i} L_ij · row j of the inverse)/L_ii, and 1/L_ii.
	var coeff [leaf]float64
	for i := range l.Rows {
		li := row(l, i)
		copy(coeff[:], li[:i])
		clear(li[:i])
		d := li[i]
		for j, c := range coeff[:i] {
			for t, v := range row(l, j)[:j+1] {
				li[t] -= c * v
			}
		}
		for t := range li[:i] {
			li[t] /= d
		}
		li[i] = 1 / d
	}
}
