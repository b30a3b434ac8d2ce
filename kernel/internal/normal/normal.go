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
	raw := w.RawMatrix()
	blocks := (raw.Rows + size - 1) / size
	// A task fills whole rows: two processors that write to the same cache lines wait for
	// each other.
	return parallel.Blocks(ctx, blocks, func(_, b int) error {
		for column := range raw.Cols {
			random := rand.New(rng.New(seed, purpose, uint64(first+column), uint64(b)))
			for i := b * size; i < min(raw.Rows, (b+1)*size); i++ {
				raw.Data[i*raw.Stride+column] = random.NormFloat64()
			}
		}
		return ctx.Err()
	})
}
