package kernel

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/dense"
	"grfgp/solve"
)

// Blocks of K[rows, cols] that are formed at a time: 16 MB.
const (
	smoothRows = 512
	smoothCols = 4096
)

func (c *smoothCovariance) Cross(rows, cols []int) solve.Operator {
	return &smoothCross{c, slices.Clone(rows), slices.Clone(cols)}
}

// smoothCross is K[rows, cols], formed in blocks.
type smoothCross struct {
	cov        *smoothCovariance
	rows, cols []int
}

func (o *smoothCross) Dims() (r, c int) { return len(o.rows), len(o.cols) }

func (o *smoothCross) Apply(ctx context.Context, dst, x *mat.Dense) error {
	if len(o.rows) == 0 {
		return ctx.Err()
	}
	dst.Zero()
	out, in := dense.View(dst), dense.View(x)
	return o.cov.blocks(ctx, o.rows, o.cols, func(b *smoothBlock) {
		everyRow(b.r2.Rows, 8, func(a int) {
			o.cov.shape.values(b.row(a), o.cov.variance)
		})
		dense.Add(out.Block(b.r0, b.r1, 0, out.Cols), 1, b.r2, in.Block(b.c0, b.c1, 0, in.Cols))
	})
}

// smoothBlock has the squared distances r2 of rows [r0, r1) and columns [c0, c1) of
// two lists, whose scaled columns are left and right.
type smoothBlock struct {
	r0, r1, c0, c1 int
	r2             dense.Matrix
	left, right    *mat.Dense
}

func (b *smoothBlock) row(a int) []float64 { return b.r2.Data[a*b.r2.RowStep:][:b.r2.Cols] }

// blocks calls do for the blocks of K[rows, cols], in order. It may overwrite r2.
func (c *smoothCovariance) blocks(ctx context.Context, rows, cols []int, do func(b *smoothBlock)) error {
	if len(rows) == 0 || len(cols) == 0 {
		return ctx.Err()
	}
	_, width := c.x.Dims()
	columns := upTo(width)
	high, wide := min(len(rows), smoothRows), min(len(cols), smoothCols)
	left, right, r2 := mat.NewDense(high, width, nil), mat.NewDense(wide, width, nil), mat.NewDense(high, wide, nil)
	loaded := -1 // first column that right has
	for r0 := 0; r0 < len(rows); r0 += high {
		r1 := min(len(rows), r0+high)
		c.scaled.at(left, rows[r0:r1], columns)
		norms := rowSquares(left, r1-r0)
		for c0 := 0; c0 < len(cols); c0 += wide {
			if err := ctx.Err(); err != nil {
				return err
			}
			c1 := min(len(cols), c0+wide)
			if loaded != c0 {
				c.scaled.at(right, cols[c0:c1], columns)
				loaded = c0
			}
			others := rowSquares(right, c1-c0)
			b := &smoothBlock{r0, r1, c0, c1, dense.View(r2).Block(0, r1-r0, 0, c1-c0), rowsOf(left, r1-r0), rowsOf(right, c1-c0)}
			for a := range b.r2.Rows {
				clear(b.row(a))
			}
			dense.Add(b.r2, -2, dense.View(b.left), dense.View(b.right).T())
			everyRow(b.r2.Rows, 16, func(a int) {
				row := b.row(a)
				for k, v := range row {
					row[k] = max(0, norms[a]+others[k]+v)
				}
			})
			do(b)
		}
	}
	return nil
}

// rowsOf returns the first rows of m.
func rowsOf(m *mat.Dense, rows int) *mat.Dense {
	return m.Slice(0, rows, 0, m.RawMatrix().Cols).(*mat.Dense)
}

// rowSquares returns |x|² of the first rows of m.
func rowSquares(m *mat.Dense, rows int) []float64 {
	squares := make([]float64, rows)
	for a := range squares {
		squares[a] = squareOf(m.RawRowView(a))
	}
	return squares
}

// Grad forms the blocks of g = Σ_s u_s·w_sᵀ and of H = g ∘ ∂k/∂(r²). With the columns
// of the right list, a column of ones and the squares by group beside each other,
// one product with H has all sums of GramGrad.
func (c *smoothCovariance) Grad(ctx context.Context, grad []float64, rows []int, u, w *mat.Dense) error {
	if err := ctx.Err(); err != nil || len(rows) == 0 {
		return err
	}
	width, groups := len(c.group), len(c.sizes)
	columns := upTo(width)
	byGroup := make([]float64, groups)
	in, out := dense.View(w), dense.View(u)
	err := c.blocks(ctx, rows, rows, func(b *smoothBlock) {
		high, wide := b.r2.Rows, b.r2.Cols
		g := mat.NewDense(high, wide, nil)
		dense.Mul(dense.View(g), out.Block(b.r0, b.r1, 0, out.Cols), in.Block(b.c0, b.c1, 0, in.Cols).T())
		grad[0] += sumRows(high, func(a int) float64 { return c.shape.slopes(b.row(a), g.RawRowView(a)) })
		side := mat.NewDense(wide, width+1+groups, nil)
		squares := c.scaled.squaresByGroup(b.right, columns)
		for a := range wide {
			row := side.RawRowView(a)
			copy(row, b.right.RawRowView(a))
			row[width] = 1
			copy(row[width+1:], squares.RawRowView(a))
		}
		hx := mat.NewDense(high, width+1+groups, nil)
		dense.Mul(dense.View(hx), b.r2, dense.View(side))
		own := c.scaled.squaresByGroup(b.left, columns)
		for a := range high {
			sums, x := hx.RawRowView(a), b.left.RawRowView(a)
			for k, g := range c.group {
				byGroup[g] -= 2 * x[k] * sums[k]
			}
			for g, n := range own.RawRowView(a) {
				byGroup[g] += n*sums[width] + sums[width+1+g]
			}
		}
	})
	for k, v := range byGroup {
		grad[1+k] -= 2 * c.variance / c.scaled.lengths[k] * v
	}
	return err
}
