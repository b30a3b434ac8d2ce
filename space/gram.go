package space

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"grfgp/internal/parallel"
	"grfgp/sparse"
)

// Gram returns Aᵀ·diag(w)·A over the rows of all processes, of which a has those of this one. It reads A once, row by
// row: the entries of a column may be anywhere. Sums are integers, which have the same bits in any order: multiples of 2⁻⁶²
// of a bound of the largest. If float64 does not hold the bound, no element is a number.
func Gram(s Space, rows Axis, a *sparse.CSR, w []float64) (blas64.General, error) {
	n, m := a.Dims()
	sums := make([]float64, n)
	each(n, func(i int) {
		_, vals := a.Row(i)
		sum := 0.0
		for _, v := range vals {
			sum += math.Abs(v)
		}
		sums[i] = w[i] * sum * sum
	})
	bound := Sum(s, rows, sums)
	if err := s.Err(); err != nil {
		return blas64.General{}, err
	}
	if bound-bound != 0 { // not finite
		return blas64.General{Rows: m, Cols: m, Stride: m, Data: slices.Repeat([]float64{math.NaN()}, m*m)}, nil
	}
	_, exponent := math.Frexp(bound)
	scale := math.Ldexp(1, min(1000, 62-exponent))
	// Few parts, whatever n is. Neighbours meet the same columns: most parts have few rows.
	const most = 16
	size := max(4*blockRows, (n+most-1)/most)
	parts := make([]triangle, (n+size-1)/size)
	parallel.Ranges(n, size, func(lo, hi int) {
		part := make(triangle, m)
		for i := lo; i < hi; i++ {
			cols, vals := a.Row(i)
			part.addOuter(cols, vals, w[i]*scale)
		}
		parts[lo/size] = part
	})
	sum := triangle{}
	if len(parts) > 0 {
		sum = parts[0]
		parallel.Ranges(m, 4, func(lo, hi int) {
			for j := lo; j < hi; j++ {
				for _, part := range parts[1:] {
					sum.addRow(j, part[j])
				}
			}
		})
	}
	if rows.Shared() {
		all := make([]int64, m*m)
		for j, row := range sum {
			copy(all[j*m+j:], row)
		}
		if err := sumIntegers(s, all); err != nil {
			return blas64.General{}, err
		}
		sum = make(triangle, m)
		for j := range sum {
			sum[j] = all[j*m+j:][:m-j]
		}
	}
	out := blas64.General{Rows: m, Cols: m, Stride: m, Data: make([]float64, m*m)}
	parallel.Ranges(m, 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			above := out.Data[i*m:][:m]
			if len(sum) == 0 || sum[i] == nil {
				clear(above[i:])
				continue
			}
			for j, v := range sum[i] {
				above[i+j] = float64(v) / scale
			}
		}
	})
	parallel.Ranges(m, 16, func(lo, hi int) {
		for j := range hi { // columns lo to hi of the upper triangle become rows
			for i := max(lo, j+1); i < hi; i++ {
				out.Data[i*m+j] = out.Data[j*m+i]
			}
		}
	})
	return out, nil
}

// triangle is the upper triangle of a matrix of integers, by rows from the diagonal on; nil stands for a row of
// zeros.
type triangle [][]int64

// row returns row j, to add to.
func (t triangle) row(j int) []int64 {
	if t[j] == nil {
		t[j] = make([]int64, len(t)-j)
	}
	return t[j]
}

// addRow adds to row j.
func (t triangle) addRow(j int, row []int64) {
	switch {
	case row == nil:
	case t[j] == nil:
		t[j] = row
	default:
		to := t[j]
		for q, v := range row {
			to[q] += v
		}
	}
}

// addOuter adds scale·vvᵀ for v with the given entries.
func (t triangle) addOuter(cols []uint32, vals []float64, scale float64) {
	for p, j := range cols {
		row, v := t.row(int(j)), scale*vals[p]
		for q := p; q < len(cols); q++ {
			l, x := cols[q], int64(float64(v*vals[q])+0.5)
			switch {
			case l > j || q == p:
				row[l-j] += x
			case l == j: // the column comes twice
				row[0] += 2 * x
			default:
				t.row(int(l))[j-l] += x
			}
		}
	}
}
