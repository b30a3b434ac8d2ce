package walk

import (
	"context"
	"slices"
	"sync/atomic"

	"grfgp/internal/parallel"
	"grfgp/sparse"
)

// CompactRows returns the given rows of Compact, to the same bits, with a column per node.
// Rows of lazy features are sampled for it and not kept.
func (f *Features) CompactRows(ctx context.Context, coeff []float64, rows []int) (*sparse.Compact, error) {
	m := sparse.NewCompact(len(rows), f.nodes, blockRows)
	err := parallel.Blocks(ctx, m.Blocks(), func(_, k int) error {
		own, err := f.ListOnce(ctx, rows[k*blockRows:min(len(rows), (k+1)*blockRows)])
		if err != nil {
			return err
		}
		end, total := make([]uint32, len(own.at)), 0
		for a := range own.at {
			total += len(own.Reached(a))
			end[a] = uint32(total)
		}
		col, val := make([]uint32, 0, total), make([]float64, total)
		for a := range own.at {
			lo := len(col)
			col = append(col, own.Reached(a)...)
			own.CombineRow(val[lo:len(col)], coeff, a)
		}
		return m.Set(k, end, col, val)
	})
	return m, err
}

// ExactRows reports whether the rows [lo, hi) are free of sampling error. It stops at the
// first block with a row that is not.
func (f *Features) ExactRows(ctx context.Context, lo, hi int) (bool, error) {
	var sampled atomic.Bool
	err := parallel.Blocks(ctx, (hi-lo+blockRows-1)/blockRows, func(_, k int) error {
		if sampled.Load() {
			return nil
		}
		rows := make([]int, 0, blockRows)
		for i := lo + k*blockRows; i < min(hi, lo+(k+1)*blockRows); i++ {
			rows = append(rows, i)
		}
		own, err := f.ListOnce(ctx, rows)
		if err != nil {
			return err
		}
		inexact := slices.ContainsFunc(rows, func(i int) bool {
			b, r := own.locate(i - rows[0])
			return int(b.exact[r]) != f.opts.MaxLen
		})
		if inexact {
			sampled.Store(true)
		}
		return nil
	})
	return !sampled.Load(), err
}
