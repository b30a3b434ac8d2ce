package solve

import (
	"context"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/dense"
	"grfgp/internal/parallel"
)

// Recursions that leave nearly all work on triangles to products of large
// blocks, which run on all processors. Only lower triangles are read.

// Right-hand sides of a small triangle that one processor takes at a time.
const (
	stripMost  = 192
	stripLeast = 48
)

// solveStrips calls do for strips of m right-hand sides of a triangle of n rows, which are so
// wide that all processors have some.
func solveStrips(n, m int, do func(lo, hi int)) {
	const worthwhile = 1 << 18 // multiplications that are worth a second goroutine
	if n*n/2*m < worthwhile {
		do(0, m)
		return
	}
	size, enough := stripMost, 2*parallel.Workers(m)
	for size > stripLeast && m < enough*size {
		size /= 2
	}
	parallel.Ranges(m, size, do)
}

// byColumns cuts b into as many strips of columns as there are processors, calls do for all of them at the same
// time, and reports true, if that is worthwhile for a triangle of n rows. Every processor then works through the
// whole triangle by itself.
func byColumns(n int, b dense.Matrix, do func(strip dense.Matrix)) bool {
	const worthwhile = 1 << 24 // multiplications; fewer take less time than starting goroutines
	most := parallel.Workers(b.Cols / stripLeast)
	if most == 1 || n <= dense.MaxTriangle || n*n/2*b.Cols < worthwhile {
		return false
	}
	const step = 12
	size := ((b.Cols+most-1)/most + step - 1) / step * step
	parallel.Tasks((b.Cols+size-1)/size, func(k int) { do(b.Block(0, b.Rows, k*size, min(b.Cols, (k+1)*size))) })
	return true
}

// half is where a matrix of size n > leaf is cut: at a multiple of leaf.
func half(n int) int { return (n/leaf + 1) / 2 * leaf }

// quarters returns the blocks of a lower triangle larger than leaf.
func quarters(l dense.Matrix) (l11, l21, l22 dense.Matrix) {
	n, h := l.Rows, half(l.Rows)
	return l.Block(0, h, 0, h), l.Block(h, n, 0, h), l.Block(h, n, h, n)
}

// solveLower replaces b by L⁻¹·b. For b·L⁻ᵀ give it bᵀ.
func solveLower(l, b dense.Matrix) {
	if !byColumns(l.Rows, b, func(strip dense.Matrix) { solveLowerStrip(l, strip) }) {
		solveLowerStrip(l, b)
	}
}

func solveLowerStrip(l, b dense.Matrix) {
	n, m := l.Rows, b.Cols
	if n <= dense.MaxTriangle {
		solveStrips(n, m, func(lo, hi int) { dense.Solve(l, b.Block(0, n, lo, hi)) })
		return
	}
	l11, l21, l22 := quarters(l)
	b1, b2 := b.Block(0, l11.Rows, 0, m), b.Block(l11.Rows, n, 0, m)
	solveLowerStrip(l11, b1)
	dense.Add(b2, -1, l21, b1)
	solveLowerStrip(l22, b2)
}

// solveLowerT replaces b by L⁻ᵀ·b. For b·L⁻¹ give it bᵀ.
func solveLowerT(l, b dense.Matrix) {
	if !byColumns(l.Rows, b, func(strip dense.Matrix) { solveLowerStripT(l, strip) }) {
		solveLowerStripT(l, b)
	}
}

func solveLowerStripT(l, b dense.Matrix) {
	n, m := l.Rows, b.Cols
	if n <= dense.MaxTriangle {
		solveStrips(n, m, func(lo, hi int) { dense.SolveT(l, b.Block(0, n, lo, hi)) })
		return
	}
	l11, l21, l22 := quarters(l)
	b1, b2 := b.Block(0, l11.Rows, 0, m), b.Block(l11.Rows, n, 0, m)
	solveLowerStripT(l22, b2)
	dense.Add(b1, -1, l21.T(), b2)
	solveLowerStripT(l11, b1)
}

// factor replaces the lower triangle of a by its Cholesky factor. It returns
// the first pivot that is not positive and finite, which is left in its place,
// or −1. Once ctx has ended it leaves the rest as it is.
func factor(ctx context.Context, a dense.Matrix) int {
	if a.Rows <= leaf {
		return factorLeaf(a)
	}
	a11, a21, a22 := quarters(a)
	if pivot := factor(ctx, a11); pivot >= 0 {
		return pivot
	}
	// Rows of a21 by rows: every element is the same sum as at once.
	for lo := 0; lo < a21.Rows && ctx.Err() == nil; lo += uninterrupted {
		hi := min(a21.Rows, lo+uninterrupted)
		rows := a21.Block(lo, hi, 0, a21.Cols)
		solveLower(a11, rows.T())
		if lo > 0 {
			dense.Add(a22.Block(lo, hi, 0, lo), -1, rows, a21.Block(0, lo, 0, a21.Cols).T())
		}
		dense.AddLower(a22.Block(lo, hi, lo, hi), -1, rows, rows.T())
	}
	if ctx.Err() != nil {
		return -1
	}
	if pivot := factor(ctx, a22); pivot >= 0 {
		return a11.Rows + pivot
	}
	return -1
}

// uninterrupted is how many rows below a triangle are worked on without looking whether a
// context has ended: 10¹⁰ operations for 10,000 measurements.
const uninterrupted = 2048

// invert replaces L by L⁻¹. The block below the diagonal becomes −L22⁻¹·L21·L11⁻¹.
func invert(l dense.Matrix) {
	if l.Rows <= leaf {
		invertLeaf(l)
		return
	}
	l11, l21, l22 := quarters(l)
	solveLowerT(l11, l21.T())
	solveLower(l22, l21)
	negate(l21)
	invert(l11)
	invert(l22)
}

// square replaces U = Lᵀ, which is on and above the diagonal of u, by UUᵀ = LᵀL.
// Panel after panel of its columns is taken out and its square put in.
func square(u blas64.Symmetric) {
	const panel = 96
	sum, buf := dense.OfSymmetric(u), make([]float64, u.N*panel)
	for lo := 0; lo < u.N; lo += panel {
		hi := min(u.N, lo+panel)
		taken := blas64.General{Rows: hi, Cols: hi - lo, Stride: hi - lo, Data: buf[:hi*(hi-lo)]}
		clear(taken.Data)
		parallel.Ranges(hi, 256, func(first, last int) {
			for i := first; i < last; i++ {
				from := u.Data[i*u.Stride:][max(i, lo):hi]
				copy(row(taken, i)[max(i, lo)-lo:], from)
				clear(from)
			}
		})
		p := dense.Of(taken)
		dense.AddLower(sum.Block(0, hi, 0, hi).T(), 1, p, p.T())
	}
}

// inverseLower returns L⁻¹, with zeros above the diagonal.
func inverseLower(l blas64.General) blas64.General {
	n := l.Rows
	inv := blas64.General{Rows: n, Cols: n, Stride: max(n, 1), Data: make([]float64, n*n)}
	for i := range n {
		copy(row(inv, i)[:i+1], row(l, i))
	}
	invert(dense.Of(inv))
	return inv
}

// lower is the lower triangle of a.
func lower(a blas64.General) blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: a.Rows, Stride: a.Stride, Data: a.Data}
}

// lowerOf returns the lower triangle of h, with zeros above the diagonal.
func lowerOf(h *mat.SymDense) blas64.General {
	n := h.SymmetricDim()
	l := blas64.General{Rows: n, Cols: n, Stride: max(n, 1), Data: doubles.Get(n * n)}
	copyLower(dense.Of(l), dense.OfSymmetric(h.RawSymmetric()).T())
	parallel.Ranges(n, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			clear(row(l, i)[i+1:])
		}
	})
	return l
}

// copyLower copies the lower triangle with the diagonal, in blocks that fit the
// cache whichever way the two lie in memory.
func copyLower(dst, src dense.Matrix) {
	const size = 64
	parallel.Ranges(dst.Rows, size, func(lo, hi int) {
		for left := 0; left < hi; left += size {
			for i := lo; i < hi; i++ {
				to, from := dst.Data[i*dst.RowStep:], src.Data[i*src.RowStep:]
				for j := left; j < min(left+size, i+1); j++ {
					to[j*dst.ColStep] = from[j*src.ColStep]
				}
			}
		}
	})
}

// negate changes all signs.
func negate(a dense.Matrix) {
	if a.ColStep != 1 {
		a = a.T()
	}
	parallel.Ranges(a.Rows, max(1, 1<<15/max(1, a.Cols)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := a.Data[i*a.RowStep:][:a.Cols]
			for j, v := range row {
				row[j] = -v
			}
		}
	})
}

// dot is xᵀy over the length of x.
func dot(x, y []float64) float64 {
	return blas64.Dot(blas64.Vector{N: len(x), Inc: 1, Data: x}, blas64.Vector{N: len(x), Inc: 1, Data: y})
}
