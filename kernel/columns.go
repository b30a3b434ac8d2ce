package kernel

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/dense"
	"grfgp/internal/parallel"
)

// columns is a matrix X with a row per node, dense or sparse.
type columns interface {
	nodes() int
	width() int
	// at returns X[rows], for products.
	at(rows []int) columnRows
	// dense returns X[rows] as a matrix of its own.
	dense(rows []int) *mat.Dense
	// squares sets dst[a] = |x|² for row rows[a].
	squares(dst []float64, rows []int)
	// addGram adds scale·X[rows]·X[rows]ᵀ to the upper triangle of dst.
	addGram(ctx context.Context, dst blas64.Symmetric, rows []int, scale float64) error
	// gramInner returns ⟨g, X[rows]·X[rows]ᵀ⟩.
	gramInner(ctx context.Context, rows []int, g blas64.Symmetric) (float64, error)
}

// columnRows is X[rows].
type columnRows interface {
	// times sets dst = X[rows]·v.
	times(ctx context.Context, dst, v *mat.Dense) error
	// transposed sets dst = X[rows]ᵀ·v.
	transposed(ctx context.Context, dst, v *mat.Dense) error
}

// denseColumns is a dense matrix.
type denseColumns struct{ x *mat.Dense }

func (c *denseColumns) nodes() int { return c.x.RawMatrix().Rows }
func (c *denseColumns) width() int { return c.x.RawMatrix().Cols }

func (c *denseColumns) at(rows []int) columnRows {
	return &denseRows{x: c.x, rows: slices.Clone(rows)}
}

func (c *denseColumns) dense(rows []int) *mat.Dense {
	part := mat.NewDense(len(rows), c.width(), nil)
	for a, i := range rows {
		copy(part.RawRowView(a), c.x.RawRowView(i))
	}
	return part
}

func (c *denseColumns) squares(dst []float64, rows []int) {
	parallel.Ranges(len(rows), 1024, func(lo, hi int) {
		for a := lo; a < hi; a++ {
			dst[a] = squareOf(c.x.RawRowView(rows[a]))
		}
	})
}

func squareOf(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return sum
}

func (c *denseColumns) addGram(ctx context.Context, dst blas64.Symmetric, rows []int, scale float64) error {
	x := dense.View(c.dense(rows))
	dense.AddLower(dense.OfSymmetric(dst).T(), scale, x, x.T())
	return ctx.Err()
}

func (c *denseColumns) gramInner(ctx context.Context, rows []int, g blas64.Symmetric) (float64, error) {
	sum := 0.0
	for _, v := range quadratics(g, c.dense(rows)) {
		sum += v
	}
	return sum, ctx.Err()
}

// quadratics returns x_dᵀ·G·x_d for every column of x, from the upper triangle of
// G.
func quadratics(g blas64.Symmetric, x *mat.Dense) []float64 {
	const size = 256
	n, width := x.Dims()
	sums, square := make([]float64, width), mat.NewDense(size, size, nil)
	gx, all, in := mat.NewDense(size, width, nil), dense.OfSymmetric(g), dense.View(x)
	for lo := 0; lo < n; lo += size {
		hi := min(n, lo+size)
		// Twice the part right of the diagonal, and the diagonal once.
		for a := lo; a < hi; a++ {
			row := square.RawRowView(a - lo)
			clear(row)
			copy(row[a-lo:], g.Data[a*g.Stride+a:][:hi-a])
			row[a-lo] /= 2
		}
		out := dense.View(gx).Block(0, hi-lo, 0, width)
		dense.Mul(out, dense.View(square).Block(0, hi-lo, 0, hi-lo), in.Block(lo, hi, 0, width))
		dense.Add(out, 1, all.Block(lo, hi, hi, n), in.Block(hi, n, 0, width))
		for a := lo; a < hi; a++ {
			other := gx.RawRowView(a - lo)
			for d, v := range x.RawRowView(a) {
				sums[d] += 2 * v * other[d]
			}
		}
	}
	return sums
}

// denseRows are rows of a dense matrix, gathered in blocks when they are used; those that are used again are kept.
type denseRows struct {
	x    *mat.Dense
	rows []int

	uses atomic.Int32
	keep sync.Once
	kept *mat.Dense // all rows, one after the other
}

// keepNumbers is how many gathered numbers are kept.
const keepNumbers = 1 << 23

// gather calls do for blocks of rows, in order.
func (r *denseRows) gather(ctx context.Context, do func(x dense.Matrix, lo, hi int)) error {
	_, width := r.x.Dims()
	size := max(64, min(len(r.rows), 1<<20/max(1, width)))
	again := r.uses.Add(1) > 1 && len(r.rows)*width <= keepNumbers
	var part *mat.Dense
	for lo := 0; lo < len(r.rows); lo += size {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(len(r.rows), lo+size)
		first := r.rows[lo]
		switch {
		case consecutive(r.rows[lo:hi]):
			do(dense.View(r.x).Block(first, first+hi-lo, 0, width), lo, hi)
		case again:
			r.keep.Do(func() { r.kept = mat.NewDense(len(r.rows), width, nil); r.copyRows(r.kept, r.rows) })
			do(dense.View(r.kept).Block(lo, hi, 0, width), lo, hi)
		default:
			if part == nil {
				part = mat.NewDense(size, width, nil)
			}
			r.copyRows(part, r.rows[lo:hi])
			do(dense.View(part).Block(0, hi-lo, 0, width), lo, hi)
		}
	}
	return ctx.Err()
}

// copyRows sets the first rows of to to the given ones.
func (r *denseRows) copyRows(to *mat.Dense, rows []int) {
	parallel.Ranges(len(rows), 512, func(lo, hi int) {
		for a := lo; a < hi; a++ {
			copy(to.RawRowView(a), r.x.RawRowView(rows[a]))
		}
	})
}

// consecutive reports whether nodes follow each other, as 3, 4, 5.
func consecutive(nodes []int) bool {
	for a, i := range nodes {
		if i != nodes[0]+a {
			return false
		}
	}
	return true
}

func (r *denseRows) times(ctx context.Context, dst, v *mat.Dense) error {
	return timesGathered(ctx, r.gather, dst, v)
}

func (r *denseRows) transposed(ctx context.Context, dst, v *mat.Dense) error {
	return transposedGathered(ctx, r.gather, dst, v)
}

// gatherer calls do for blocks of rows of a matrix, in order.
type gatherer func(ctx context.Context, do func(x dense.Matrix, lo, hi int)) error

func timesGathered(ctx context.Context, gather gatherer, dst, v *mat.Dense) error {
	out, in := dense.View(dst), dense.View(v)
	return gather(ctx, func(x dense.Matrix, lo, hi int) { dense.Mul(out.Block(lo, hi, 0, out.Cols), x, in) })
}

func transposedGathered(ctx context.Context, gather gatherer, dst, v *mat.Dense) error {
	dst.Zero()
	out, in := dense.View(dst), dense.View(v)
	return gather(ctx, func(x dense.Matrix, lo, hi int) { dense.Add(out, 1, x.T(), in.Block(lo, hi, 0, in.Cols)) })
}

// triangleSize is the number of entries on and above the diagonal.
func triangleSize(n int) int { return n * (n + 1) / 2 }

// cachedColumns remember X[rows]·X[rows]ᵀ for one list of rows.
type cachedColumns struct {
	columns
	rows []int
	mu   sync.Mutex
	gram triangles // one, once it is known
}

// get returns the triangle for the rows; nil for other rows.
func (c *cachedColumns) get(ctx context.Context, rows []int) (triangles, error) {
	if !slices.Equal(rows, c.rows) {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gram == nil {
		n := len(rows)
		whole := borrowSymmetric(n)
		defer giveBack(whole)
		if err := c.columns.addGram(ctx, whole.RawSymmetric(), rows, 1); err != nil {
			return nil, err
		}
		c.gram = triangles{upperTriangle(whole.RawSymmetric())}
	}
	return c.gram, nil
}

// upperTriangle returns the upper triangle of a without gaps.
func upperTriangle(a blas64.Symmetric) []float64 {
	t := triangles{make([]float64, triangleSize(a.N))}
	for i := range a.N {
		copy(t.row(0, i, a.N), a.Data[i*a.Stride+i:][:a.N-i])
	}
	return t[0]
}

func (c *cachedColumns) addGram(ctx context.Context, dst blas64.Symmetric, rows []int, scale float64) error {
	t, err := c.get(ctx, rows)
	if err != nil {
		return err
	}
	if t == nil {
		return c.columns.addGram(ctx, dst, rows, scale)
	}
	parallel.Ranges(dst.N, 16, func(lo, hi int) {
		for a := lo; a < hi; a++ {
			out := dst.Data[a*dst.Stride+a:][:dst.N-a]
			for b, v := range t.row(0, a, dst.N) {
				out[b] += scale * v
			}
		}
	})
	return ctx.Err()
}

func (c *cachedColumns) gramInner(ctx context.Context, rows []int, g blas64.Symmetric) (float64, error) {
	t, err := c.get(ctx, rows)
	if err != nil {
		return 0, err
	}
	if t == nil {
		return c.columns.gramInner(ctx, rows, g)
	}
	return sumRows(g.N, func(a int) float64 {
		in, row := t.row(0, a, g.N), g.Data[a*g.Stride+a:][:g.N-a]
		sum := 0.0
		for b, v := range row[1:] {
			sum += v * in[1+b]
		}
		return 2*sum + row[0]*in[0]
	}), ctx.Err()
}

// sumRows returns Σ_a of(a) for a < n, computed in parallel and added in order.
func sumRows(n int, of func(a int) float64) float64 {
	each := make([]float64, n)
	parallel.Ranges(n, 16, func(lo, hi int) {
		for a := lo; a < hi; a++ {
			each[a] = of(a)
		}
	})
	sum := 0.0
	for _, v := range each {
		sum += v
	}
	return sum
}
