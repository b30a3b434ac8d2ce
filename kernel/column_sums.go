package kernel

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/internal/ranks"
)

// portion is what this rank has of the rows of a list. The zero value is all of them.
type portion struct {
	group *ranks.Group
	all   ranks.Layout
}

// newPortion tells the ranks how many rows of a list each of them has. They call it
// together.
func newPortion(ctx context.Context, g *ranks.Group, rows int) (portion, error) {
	if g.Alone() {
		return portion{}, nil
	}
	sizes, _, err := ranks.Gather(ctx, g, []int{rows})
	if err != nil {
		return portion{}, err
	}
	return portion{g, ranks.OfSizes(sizes)}, nil
}

// sums returns the sum of each column over the rows of all ranks.
func (p portion) sums(ctx context.Context, x *mat.Dense) ([]float64, error) {
	raw := x.RawMatrix()
	return addColumns(ctx, p, raw.Data, raw.Rows, raw.Cols, raw.Stride)
}

// sumsSingle is sums for float32; the sums are float64.
func (p portion) sumsSingle(ctx context.Context, x blas32.General) ([]float64, error) {
	return addColumns(ctx, p, x.Data, x.Rows, x.Cols, x.Stride)
}

// columnSums returns the sum of each column of a block that is all here.
func columnSums(x *mat.Dense) []float64 {
	sums, _ := portion{}.sums(context.Background(), x) // no other rank can fail
	return sums
}

// addColumns adds up columns block by block of rows, and the sums of blocks by a tree:
// the same bits at any number of threads and ranks.
func addColumns[F float32 | float64](ctx context.Context, p portion, data []F, rows, cols, stride int) ([]float64, error) {
	const each = 8 // blocks at a time
	parts := make([]float64, (rows+ranks.BlockRows-1)/ranks.BlockRows*cols)
	parallel.Ranges(rows, each*ranks.BlockRows, func(lo, hi int) {
		part := make([]float64, cols) // not in parts: those of others are in the same cache line
		for first := lo; first < hi; first += ranks.BlockRows {
			clear(part)
			for i := first; i < min(hi, first+ranks.BlockRows); i++ {
				for s, v := range data[i*stride:][:cols] {
					part[s] += float64(v)
				}
			}
			copy(parts[first/ranks.BlockRows*cols:], part)
		}
	})
	total := make([]float64, cols)
	err := p.group.Sum(ctx, total, parts, p.all)
	return total, err
}
