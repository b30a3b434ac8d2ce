package kernel

import (
	"context"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/dense"
	"grfgp/space"
)

// columns is a matrix X with a row per node, dense or sparse.
type columns interface {
	nodes() int
	width() int
	// in returns X[rows] in a space; nil where that has no place for it.
	in(ctx context.Context, s space.Space, a space.Axis, rows []int) (space.Matrix, error)
	// dense returns X[rows] as a matrix of its own.
	dense(rows []int) *mat.Dense
	// squares sets dst[a] = |x|² for row rows[a].
	squares(dst []float64, rows []int)
	// addGram adds scale·X[rows]·X[rows]ᵀ to the upper triangle of dst.
	addGram(ctx context.Context, dst blas64.Symmetric, rows []int, scale float64) error
	// gramGrad adds ⟨g, ∂(s²·X[rows]·X[rows]ᵀ)⟩ to grad, by the variance s² and by what X depends on.
	gramGrad(ctx context.Context, grad []float64, rows []int, g blas64.Symmetric, variance float64) error
	// pull adds ⟨q, ∂(s·X[rows])⟩ to grad.
	pull(grad []float64, rows []int, q *mat.Dense, variance float64)
}

// denseColumns is a dense matrix.
type denseColumns struct{ x *mat.Dense }

func (c *denseColumns) nodes() int { return c.x.RawMatrix().Rows }
func (c *denseColumns) width() int { return c.x.RawMatrix().Cols }

func (c *denseColumns) dense(rows []int) *mat.Dense {
	part := newDense(len(rows), c.width())
	for a, i := range rows {
		copy(part.RawRowView(a), c.x.RawRowView(i))
	}
	return part
}

func (c *denseColumns) squares(dst []float64, rows []int) {
	eachPlace(len(rows), func(a int) {
		dst[a] = squareOf(c.x.RawRowView(rows[a]))
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

func (c *denseColumns) gramGrad(ctx context.Context, grad []float64, rows []int, g blas64.Symmetric, _ float64) error {
	sum := 0.0
	for _, v := range quadratics(g, c.dense(rows)) {
		sum += v
	}
	grad[0] += sum
	return ctx.Err()
}

func (c *denseColumns) pull(grad []float64, rows []int, q *mat.Dense, variance float64) {
	z := c.dense(rows)
	sum := 0.0
	for a := range rows {
		other := q.RawRowView(a)
		for m, v := range z.RawRowView(a) {
			sum += v * other[m]
		}
	}
	grad[0] += sum / (2 * math.Sqrt(variance))
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

// consecutive reports whether nodes follow each other, as 3, 4, 5.
func consecutive(nodes []int) bool {
	for a, i := range nodes {
		if i != nodes[0]+a {
			return false
		}
	}
	return true
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
	everyRow(dst.N, 16, func(a int) {
		out := dst.Data[a*dst.Stride+a:][:dst.N-a]
		for b, v := range t.row(0, a, dst.N) {
			out[b] += scale * v
		}
	})
	return ctx.Err()
}

func (c *cachedColumns) gramGrad(ctx context.Context, grad []float64, rows []int, g blas64.Symmetric, variance float64) error {
	t, err := c.get(ctx, rows)
	if err != nil {
		return err
	}
	if t == nil {
		return c.columns.gramGrad(ctx, grad, rows, g, variance)
	}
	grad[0] += sumRows(g.N, func(a int) float64 {
		in, row := t.row(0, a, g.N), g.Data[a*g.Stride+a:][:g.N-a]
		sum := 0.0
		for b, v := range row[1:] {
			sum += v * in[1+b]
		}
		return 2*sum + row[0]*in[0]
	})
	return ctx.Err()
}

// sumRows returns Σ_a of(a) for a < n, computed in parallel and added in order.
func sumRows(n int, of func(a int) float64) float64 {
	each := make([]float64, n)
	everyRow(n, 16, func(a int) {
		each[a] = of(a)
	})
	sum := 0.0
	for _, v := range each {
		sum += v
	}
	return sum
}
