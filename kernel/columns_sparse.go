package kernel

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/sparse"
)

// sparseColumns is a sparse matrix.
type sparseColumns struct{ x *sparse.CSR }

func (c *sparseColumns) nodes() int { n, _ := c.x.Dims(); return n }
func (c *sparseColumns) width() int { _, v := c.x.Dims(); return v }

// pick returns X[rows].
func (c *sparseColumns) pick(rows []int) *sparse.CSR {
	if len(rows) == c.nodes() && consecutive(rows) {
		return c.x
	}
	ptr := make([]int, len(rows)+1)
	for a, i := range rows {
		cols, _ := c.x.Row(i)
		ptr[a+1] = ptr[a] + len(cols)
	}
	col, val := make([]uint32, ptr[len(rows)]), make([]float64, ptr[len(rows)])
	for a, i := range rows {
		cols, vals := c.x.Row(i)
		copy(col[ptr[a]:], cols)
		copy(val[ptr[a]:], vals)
	}
	x, err := sparse.NewCSR(len(rows), c.width(), ptr, col, val)
	if err != nil {
		panic("kernel: rows of a sparse matrix: " + err.Error()) // they are copies of valid rows
	}
	return x
}

func (c *sparseColumns) dense(rows []int) *mat.Dense {
	part := newDense(len(rows), c.width())
	for a, i := range rows {
		row := part.RawRowView(a)
		cols, vals := c.x.Row(i)
		for p, j := range cols {
			row[j] += vals[p]
		}
	}
	return part
}

func (c *sparseColumns) squares(dst []float64, rows []int) {
	parallel.Ranges(len(rows), 1024, func(lo, hi int) {
		for a := lo; a < hi; a++ {
			dst[a] = squareOfSparse(c.x.Row(rows[a]))
		}
	})
}

// squareOfSparse returns |x|²; entries of the same column are added first.
func squareOfSparse(cols []uint32, vals []float64) float64 {
	if slices.IsSorted(cols) && len(slices.Compact(slices.Clone(cols))) == len(cols) {
		return squareOf(vals)
	}
	sum := 0.0
	for p, i := range cols {
		for q, j := range cols {
			if i == j {
				sum += vals[p] * vals[q]
			}
		}
	}
	return sum
}

// eachGram calls do for every row a of X[rows]·X[rows]ᵀ with its entries a … n−1, in
// parallel; the entries are overwritten afterwards. It goes through the rows that
// have a column in common: its cost is Σ (rows with column j)²/2.
func (c *sparseColumns) eachGram(ctx context.Context, rows []int, do func(a int, entries []float64)) error {
	const size = 16
	x := c.pick(rows)
	by, n := x.T(), len(rows)
	blocks := (n + size - 1) / size
	scratch := make([][]float64, parallel.Workers(blocks))
	return parallel.Blocks(ctx, blocks, func(worker, block int) error {
		if scratch[worker] == nil {
			scratch[worker] = make([]float64, n)
		}
		for a := block * size; a < min(n, (block+1)*size); a++ {
			sums := scratch[worker][a:]
			clear(sums)
			words, weights := x.Row(a)
			for p, j := range words {
				others, vals := by.Row(int(j))
				first, _ := slices.BinarySearch(others, uint32(a))
				vals = vals[first:]
				for q, b := range others[first:] {
					sums[int(b)-a] += weights[p] * vals[q]
				}
			}
			do(a, sums)
		}
		return nil
	})
}

func (c *sparseColumns) addGram(ctx context.Context, dst blas64.Symmetric, rows []int, scale float64) error {
	return c.eachGram(ctx, rows, func(a int, entries []float64) {
		out := dst.Data[a*dst.Stride+a:][:dst.N-a]
		for b, v := range entries {
			out[b] += scale * v
		}
	})
}

func (c *sparseColumns) gramInner(ctx context.Context, rows []int, g blas64.Symmetric) (float64, error) {
	each := make([]float64, len(rows))
	err := c.eachGram(ctx, rows, func(a int, entries []float64) {
		row := g.Data[a*g.Stride+a:][:g.N-a]
		sum := row[0] * entries[0] / 2
		for b, v := range entries[1:] {
			sum += v * row[1+b]
		}
		each[a] = 2 * sum
	})
	sum := 0.0
	for _, v := range each {
		sum += v
	}
	return sum, err
}
