package sparse

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"grfgp/internal/parallel"
	"grfgp/internal/scratch"
)

// Times returns a·b, row by row (Gustavson). Columns of the result increase; an
// entry may be zero where terms cancel.
func (a *CSR) Times(b *CSR) (*CSR, error) {
	if a.cols != b.rows {
		panic(fmt.Sprintf("sparse: %d×%d times %d×%d", a.rows, a.cols, b.rows, b.cols))
	}
	// Rows of few measurements may be long: enough blocks for all processors.
	size := min(1024, max(16, a.rows/128))
	type part struct {
		col []uint32
		val []float64
	}
	blocks := (a.rows + size - 1) / size
	parts := make([]part, blocks)
	rowPtr := make([]int, a.rows+1)
	sums := make([][]float64, parallel.Workers(blocks)) // per column of b
	marks := make([][]int, len(sums))                   // row + 1 that last met a column
	_ = parallel.Blocks(context.Background(), blocks, func(worker, block int) error {
		if sums[worker] == nil {
			sums[worker], marks[worker] = make([]float64, b.cols), make([]int, b.cols)
		}
		sum, mark, p := sums[worker], marks[worker], &parts[block]
		for i := block * size; i < min(a.rows, (block+1)*size); i++ {
			first := len(p.col)
			inner, weights := a.Row(i)
			for q, k := range inner {
				cols, vals := b.Row(int(k))
				for r, j := range cols {
					if mark[j] != i+1 {
						mark[j], sum[j] = i+1, 0
						p.col = append(p.col, j)
					}
					sum[j] += float64(weights[q] * vals[r])
				}
			}
			if found := p.col[first:]; len(found)*bits.Len(uint(len(found))) < b.cols {
				slices.Sort(found)
			} else { // looking at every column is faster
				found = found[:0]
				for j, row := range mark {
					if row == i+1 {
						found = append(found, uint32(j))
					}
				}
			}
			for _, j := range p.col[first:] {
				p.val = append(p.val, sum[j])
			}
			rowPtr[i+1] = len(p.col) - first
		}
		return nil
	})
	for i := range a.rows {
		rowPtr[i+1] += rowPtr[i]
	}
	col, val := scratch.Make[uint32](rowPtr[a.rows]), scratch.Make[float64](rowPtr[a.rows])
	parallel.Ranges(blocks, 1, func(block, _ int) {
		at := rowPtr[block*size]
		copy(col[at:], parts[block].col)
		copy(val[at:], parts[block].val)
	})
	return NewCSR(a.rows, b.cols, rowPtr, col, val)
}
