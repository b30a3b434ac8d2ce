package sparse

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"grfgp/internal/parallel"
)

// Times returns a·b, row by row (Gustavson). Columns of the result increase; an
// entry may be zero where terms cancel. With more factors it returns the product from left to right, (a·b)·c …, without
// storing those between.
func (a *CSR) Times(b *CSR, more ...*CSR) (*CSR, error) {
	factors := append([]*CSR{b}, more...)
	cols, widest := a.cols, 0
	for _, b := range factors {
		if cols != b.rows {
			panic(fmt.Sprintf("sparse: %d×%d times %d×%d", a.rows, cols, b.rows, b.cols))
		}
		cols, widest = b.cols, max(widest, b.cols)
	}
	// Rows of few measurements may be long: enough blocks for all processors.
	size := min(1024, max(16, a.rows/128))
	blocks := (a.rows + size - 1) / size
	parts := make([]entries, blocks)
	rowPtr := make([]int, a.rows+1)
	all := make([]rowTimes, parallel.Workers(blocks))
	_ = parallel.Blocks(context.Background(), blocks, func(worker, block int) error {
		times, p := &all[worker], &parts[block]
		if times.sum == nil {
			times.sum, times.mark = make([]float64, widest), make([]int, widest)
		}
		last := len(factors) - 1
		for i := block * size; i < min(a.rows, (block+1)*size); i++ {
			row := entries{}
			row.col, row.val = a.Row(i)
			for k, b := range factors[:last] {
				to := &times.between[k%2]
				to.col, to.val = to.col[:0], to.val[:0]
				times.add(to, row, b)
				row = *to
			}
			first := len(p.col)
			times.add(p, row, factors[last])
			rowPtr[i+1] = len(p.col) - first
		}
		return nil
	})
	for i := range a.rows {
		rowPtr[i+1] += rowPtr[i]
	}
	col, val := make([]uint32, rowPtr[a.rows]), make([]float64, rowPtr[a.rows])
	parallel.Ranges(blocks, 1, func(block, _ int) {
		at := rowPtr[block*size]
		copy(col[at:], parts[block].col)
		copy(val[at:], parts[block].val)
	})
	return NewCSR(a.rows, cols, rowPtr, col, val)
}

// entries are columns and values of a row, or of rows one after another.
type entries struct {
	col []uint32
	val []float64
}

// rowTimes multiplies rows.
type rowTimes struct {
	sum     []float64 // per column
	mark    []int     // the last product that met a column
	count   int       // products
	between [2]entries
}

// add appends the product of a row with b.
func (t *rowTimes) add(to *entries, row entries, b *CSR) {
	t.count++
	first := len(to.col)
	for q, k := range row.col {
		cols, vals := b.Row(int(k))
		for r, j := range cols {
			if t.mark[j] != t.count {
				t.mark[j], t.sum[j] = t.count, 0
				to.col = append(to.col, j)
			}
			t.sum[j] += float64(row.val[q] * vals[r])
		}
	}
	if found := to.col[first:]; len(found)*bits.Len(uint(len(found))) < b.cols {
		slices.Sort(found)
	} else { // looking at every column is faster
		found = found[:0]
		for j, product := range t.mark[:b.cols] {
			if product == t.count {
				found = append(found, uint32(j))
			}
		}
	}
	for _, j := range to.col[first:] {
		to.val = append(to.val, t.sum[j])
	}
}
