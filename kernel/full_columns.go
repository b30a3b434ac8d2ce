package kernel

import (
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/dense"
	"grfgp/sparse"
)

const (
	// denseSpeed is the number of multiplications of a dense product in the time of one of a sparse product, about: 24 and
	// 0.8 per nanosecond of a processor with AVX2, where rows are long.
	denseSpeed = 30
	// fullLeast is the least number of full columns that are worth a matrix of their own.
	fullLeast = 8
)

// fullColumns are the columns that so many rows of sparse matrices have that a product takes less time if they are dense: on a
// graph with hubs, most walks come through them. The zero value is that there are none.
type fullColumns struct {
	place []int32 // of a column among the full ones; −1: it is not full
	count int
}

// has reports whether a column is full.
func (f *fullColumns) has(column uint32) bool { return f.count > 0 && f.place[column] >= 0 }

// newFullColumns returns the full columns in products of a matrix with so many columns and rows, of which count(c) have column
// c, with matrices like it.
func newFullColumns(width, rows int, count func(c int) int) fullColumns {
	f := fullColumns{place: make([]int32, width)}
	least := float64(rows) * float64(rows) / denseSpeed
	for c := range f.place {
		n := float64(count(c))
		if f.place[c] = -1; n*n >= least && n > 0 {
			f.place[c] = int32(f.count)
			f.count++
		}
	}
	if f.count < fullLeast {
		return fullColumns{}
	}
	return f
}

// of returns the full columns of a as a dense matrix.
func (f *fullColumns) of(a *sparse.CSR) dense.Matrix {
	rows, _ := a.Dims()
	out := mat.NewDense(rows, f.count, nil)
	everyRow(rows, 64, func(i int) {
		row := out.RawRowView(i)
		cols, vals := a.Row(i)
		for p, c := range cols {
			if at := f.place[c]; at >= 0 {
				row[at] += vals[p]
			}
		}
	})
	return dense.View(out)
}

// rows returns the full columns of the transpose of a as rows of a dense matrix.
func (f *fullColumns) rows(a *sparse.CSR) dense.Matrix {
	_, width := a.Dims()
	out := mat.NewDense(f.count, width, nil)
	for c, at := range f.place {
		if at >= 0 {
			row := out.RawRowView(int(at))
			cols, vals := a.Row(c)
			for p, j := range cols {
				row[j] += vals[p]
			}
		}
	}
	return dense.View(out)
}
