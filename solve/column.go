package solve

import (
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"grfgp/internal/parallel"
)

// Triangular solves with one right-hand side read L once, and are limited by memory. Panels
// of rows are solved one after the other; what a panel adds to the other elements is
// computed on all processors. Every element is the sum of plain substitution, in its order:
// the bits are those of blas64.Trsv at any size and number of threads.

const (
	panelRows  = 64  // rows that are solved by one processor
	columnRows = 256 // rows of a system that is worth sharing
	sharedRows = 128 // rows, or columns, that a processor takes at a time
)

// solveColumn replaces the vector b, whose elements are inc apart, by L⁻¹·b or
// L⁻ᵀ·b. A small system allocates nothing.
func solveColumn(t blas.Transpose, l blas64.General, b []float64, inc int) {
	n := l.Rows
	if n < columnRows {
		blas64.Trsv(t, lower(l), blas64.Vector{N: n, Inc: inc, Data: b})
		return
	}
	kept := sums.Get().(*[]float64)
	defer sums.Put(kept)
	if cap(*kept) < 2*n {
		*kept = make([]float64, 2*n)
	}
	x := b[:(n-1)*inc+1]
	if inc != 1 {
		x = (*kept)[n : 2*n]
		for i := range x {
			x[i] = b[i*inc]
		}
	}
	if t == blas.NoTrans {
		solveDown(l, x, (*kept)[:n])
	} else {
		solveUp(l, x)
	}
	if inc != 1 {
		for i, v := range x {
			b[i*inc] = v
		}
	}
}

var sums = sync.Pool{New: func() any { return new([]float64) }}

// solveDown replaces x by L⁻¹·x; sum is scratch of as many elements.
func solveDown(l blas64.General, x, sum []float64) {
	n := len(x)
	clear(sum)
	for lo := 0; lo < n; lo += panelRows {
		hi := min(n, lo+panelRows)
		for i := lo; i < hi; i++ {
			x[i] = substituted(row(l, i)[lo:i], x[lo:i], sum[i], x[i], row(l, i)[i])
		}
		if n-hi < columnRows {
			addPanel(l, x, sum, lo, hi, hi, n)
			continue
		}
		parallel.Ranges(n-hi, sharedRows, func(from, to int) { addPanel(l, x, sum, lo, hi, hi+from, hi+to) })
	}
}

// substituted returns (y − sum − Σ l_j·x_j)/d, where what is subtracted is added up first.
func substituted(l, x []float64, sum, y, d float64) float64 {
	for j, v := range l {
		sum += x[j] * v
	}
	return (y - sum) / d
}

// addPanel adds columns [lo, hi) of L·x to sum in the rows [from, to), four at a time: the
// additions of a row wait for each other.
func addPanel(l blas64.General, x, sum []float64, lo, hi, from, to int) {
	x = x[lo:hi]
	i := from
	for ; i+4 <= to; i += 4 {
		a, b, c, d := row(l, i)[lo:hi], row(l, i+1)[lo:hi], row(l, i+2)[lo:hi], row(l, i+3)[lo:hi]
		s, t, u, v := sum[i], sum[i+1], sum[i+2], sum[i+3]
		b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
		for j, w := range x[:len(a)] {
			s += w * a[j]
			t += w * b[j]
			u += w * c[j]
			v += w * d[j]
		}
		sum[i], sum[i+1], sum[i+2], sum[i+3] = s, t, u, v
	}
	for ; i < to; i++ {
		s := sum[i]
		for j, v := range row(l, i)[lo:hi] {
			s += x[j] * v
		}
		sum[i] = s
	}
}

// solveUp replaces x by L⁻ᵀ·x.
func solveUp(l blas64.General, x []float64) {
	for hi := len(x); hi > 0; hi -= panelRows {
		lo := max(0, hi-panelRows)
		for i := hi - 1; i >= lo; i-- {
			x[i] /= row(l, i)[i]
			subtractRows(l, x, i, i+1, lo, i)
		}
		if lo < columnRows {
			subtractRows(l, x, lo, hi, 0, lo)
			continue
		}
		parallel.Ranges(lo, sharedRows, func(from, to int) { subtractRows(l, x, lo, hi, from, to) })
	}
}

// subtractRows subtracts x_i times row i of L from the elements [from, to) of x, for the rows
// [lo, hi) from the last to the first.
func subtractRows(l blas64.General, x []float64, lo, hi, from, to int) {
	y := blas64.Vector{N: to - from, Inc: 1, Data: x[from:to]}
	if y.N == 0 {
		return
	}
	for i := hi - 1; i >= lo; i-- {
		blas64.Axpy(-x[i], blas64.Vector{N: y.N, Inc: 1, Data: row(l, i)[from:to]}, y)
	}
}
