// Package normal fills matrices with normal random numbers.
package normal

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/internal/rng"
)

// size is the number of rows that share a stream of random numbers.
const size = 1024

// Fill sets w to independent N(0, 1) numbers. A number depends only on seed,
// purpose, its row and its column, counted from first.
func Fill(ctx context.Context, w *mat.Dense, seed uint64, purpose string, first int) error {
	return FillFrom(ctx, w, seed, purpose, first, 0)
}

// FillFrom is Fill for rows that are counted from row on, a multiple of 1,024.
func FillFrom(ctx context.Context, w *mat.Dense, seed uint64, purpose string, first, row int) error {
	if row%size != 0 {
		panic("normal: rows from within a block")
	}
	raw := w.RawMatrix()
	blocks := (raw.Rows + size - 1) / size
	// A task fills whole rows: two processors that write to the same cache lines wait for
	// each other.
	return parallel.Blocks(ctx, blocks, func(_, b int) error {
		for column := range raw.Cols {
			random := rand.New(rng.New(seed, purpose, uint64(first+column), uint64(row/size+b)))
			for i := b * size; i < min(raw.Rows, (b+1)*size); i++ {
				raw.Data[i*raw.Stride+column] = random.NormFloat64()
			}
		}
		return ctx.Err()
	})
}
