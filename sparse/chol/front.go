package chol

import (
	"math"

	"grfgp/internal/dense"
	"grfgp/internal/parallel"
)

// front is the dense matrix of a supernode on its way through elimination: its columns and the rows below them, with what
// the supernode's descendants leave. Columns are contiguous, step apart, a multiple of 4; what is above the diagonal means
// nothing.
type front struct {
	m, w, step int // rows, columns to eliminate
	data       []float64
}

const (
	narrow   = 32  // columns that the kernel in place takes at a time
	tall     = 192 // rows likewise: with narrow columns they stay in the second cache
	piece    = 64  // columns of a front that one processor sets at a time
	threaded = 256 // rows of a front that is worth several processors
)

// up4 rounds up to a multiple of 4.
func up4(n int) int { return (n + 3) &^ 3 }

// reset makes f a front of zeros.
func (f *front) reset(m, w int) {
	f.m, f.w, f.step = m, w, up4(m)
	if size := f.step*m + 16; cap(f.data) < size {
		f.data = make([]float64, size+size/4)
	}
	f.data = f.data[:f.step*m+16]
	spread(f.m, m, func(lo, hi int) { clear(f.data[lo*f.step : hi*f.step]) })
}

// spread calls do for pieces of n columns, on several processors if there are so many rows that it is worth it.
func spread(rows, n int, do func(lo, hi int)) {
	if rows < threaded {
		do(0, n)
		return
	}
	parallel.Ranges(n, piece, do)
}

// add adds the update of a child, the lower triangle of a matrix of rows at the given places, column by column.
func (f *front) add(update []float64, at []int32) {
	r := len(at)
	spread(f.m, r, func(lo, hi int) {
		from := update[lo*r-lo*(lo-1)/2:]
		for j := lo; j < hi; j++ {
			to := f.data[int(at[j])*f.step:][:f.m]
			rows := at[j:]
			for k, v := range from[:len(rows)] {
				to[rows[k]] += v
			}
			from = from[len(rows):]
		}
	})
}

// eliminate turns the first w columns into those of L, and subtracts their products from the others. It returns the first
// column whose pivot is not positive, −1 if there is none, and the pivot.
func (f *front) eliminate() (column int, pivot float64) {
	if column, pivot = f.columns(0, f.w); column >= 0 {
		return column, pivot
	}
	if f.w > narrow {
		l := f.view(f.w, f.m, 0, f.w)
		dense.AddLower(f.view(f.w, f.m, f.w, f.m), -1, l, l.T())
		return -1, 0
	}
	spread(f.m, f.m-f.w, func(lo, hi int) { f.subtract(f.w+lo, f.w+hi) })
	return -1, 0
}

// subtract subtracts the products of the first w columns from columns lo to hi of the rest, on and below the diagonal.
func (f *front) subtract(lo, hi int) {
	for j := lo; j < hi; j += 4 {
		i := j &^ 3
		dense.SubColumns(f.step-i, f.w, min(4, hi-j), f.data[i:], f.step, f.data[j:], f.step, 1, f.data[j*f.step+i:], f.step)
	}
}

// view is rows [r0, r1) and columns [c0, c1).
func (f *front) view(r0, r1, c0, c1 int) dense.Matrix {
	return dense.Matrix{Rows: f.m, Cols: f.m, RowStep: 1, ColStep: f.step, Data: f.data}.Block(r0, r1, c0, c1)
}

// columns factors columns [lo, hi), of which all earlier ones have been subtracted.
func (f *front) columns(lo, hi int) (column int, pivot float64) {
	if hi-lo > narrow {
		half := lo + ((hi-lo)/2+11)/12*12
		if column, pivot = f.columns(lo, half); column >= 0 {
			return column, pivot
		}
		dense.Add(f.view(half, f.m, half, hi), -1, f.view(half, f.m, lo, half), f.view(half, hi, lo, half).T())
		return f.columns(half, hi)
	}
	end := min(f.step, up4(hi))
	if f.m < threaded {
		end = f.step
	}
	if column, pivot = f.strip(lo, hi, lo, end); column >= 0 || end == f.step {
		return column, pivot
	}
	parallel.Ranges(f.step-end, tall, func(from, to int) { f.strip(lo, hi, end+from, end+to) })
	return -1, 0
}

// strip sets rows [r0, r1), of multiples of 4, of columns [lo, hi): the diagonal block among them, or below it.
func (f *front) strip(lo, hi, r0, r1 int) (column int, pivot float64) {
	for k := lo; k < hi; k += 4 {
		wide, top := min(4, hi-k), max(k, r0)
		if k > lo {
			dense.SubColumns(r1-top, k-lo, wide, f.data[lo*f.step+top:], f.step, f.data[lo*f.step+k:], f.step, 1, f.data[k*f.step+top:], f.step)
		}
		if r0 <= k {
			if column, pivot = f.corner(k, wide); column >= 0 {
				return column, pivot
			}
			top = k + wide
		}
		f.divide(k, wide, top, r1)
	}
	return -1, 0
}

// corner factors the diagonal block of at most four columns from k on. Products are converted to float64, which forbids the
// compiler to fuse them with sums on some processors and not on others.
func (f *front) corner(k, wide int) (column int, pivot float64) {
	for j := k; j < k+wide; j++ {
		col := f.data[j*f.step:][:k+4]
		for p := k; p < j; p++ {
			from := f.data[p*f.step:][:k+4]
			by := from[j]
			for i := j; i < k+wide; i++ {
				col[i] -= float64(from[i] * by)
			}
		}
		d := col[j]
		if !(d > 0) || math.IsInf(d, 1) {
			return j, d
		}
		d = math.Sqrt(d)
		col[j] = d
		for i := j + 1; i < k+wide; i++ {
			col[i] /= d
		}
	}
	return -1, 0
}

// divide solves for rows [r0, r1) of at most four columns from k on, given their diagonal block.
func (f *front) divide(k, wide, r0, r1 int) {
	if r0 >= r1 {
		return
	}
	at := func(i, j int) float64 { return f.data[(k+j)*f.step+k+i] }
	a := f.data[k*f.step:][r0:r1]
	switch wide {
	case 4:
		b, c, d := f.data[(k+1)*f.step:][r0:r1], f.data[(k+2)*f.step:][r0:r1], f.data[(k+3)*f.step:][r0:r1]
		ia, ib, ic, id := 1/at(0, 0), 1/at(1, 1), 1/at(2, 2), 1/at(3, 3)
		ba, ca, da, cb, db, dc := at(1, 0), at(2, 0), at(3, 0), at(2, 1), at(3, 1), at(3, 2)
		b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
		for i := range a {
			x := a[i] * ia
			y := (b[i] - float64(ba*x)) * ib
			z := (c[i] - float64(ca*x) - float64(cb*y)) * ic
			a[i], b[i], c[i] = x, y, z
			d[i] = (d[i] - float64(da*x) - float64(db*y) - float64(dc*z)) * id
		}
	default:
		for j := range wide {
			to := f.data[(k+j)*f.step:][r0:r1]
			for p := range j {
				by := at(j, p)
				for i, v := range f.data[(k+p)*f.step:][r0:r1] {
					to[i] -= float64(by * v)
				}
			}
			inverse := 1 / at(j, j)
			for i := range to {
				to[i] *= inverse
			}
		}
	}
}

// store copies the first w columns to l, without room between them.
func (f *front) store(l []float64) {
	spread(f.m, f.w, func(lo, hi int) {
		for j := lo; j < hi; j++ {
			to := l[j*f.m:][:f.m]
			clear(to[:j])
			copy(to[j:], f.data[j*f.step+j:][:f.m-j])
		}
	})
}

// leave copies what is left for the parent.
func (f *front) leave(update []float64) {
	r := f.m - f.w
	spread(f.m, r, func(lo, hi int) {
		to := update[lo*r-lo*(lo-1)/2:]
		for j := lo; j < hi; j++ {
			to = to[copy(to, f.data[(f.w+j)*f.step+f.w+j:][:r-j]):]
		}
	})
}
