package solve

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/dense"
)

// Cholesky is the factor H = L·Lᵀ of a dense positive definite matrix, for some
// thousands of rows. It grows row by row with Append; otherwise it is immutable
// and safe for concurrent use. Its methods panic when sizes do not fit.
type Cholesky struct {
	l    blas64.General // the lower triangle; the stride leaves room to grow
	used *atomic.Int64  // rows of l.Data that this factor or a copy has taken; nil while there is no room
}

// NewCholesky factors h, which is not changed, in O(n³). The error names the
// pivot at which h ceases to be positive definite.
func NewCholesky(h *mat.SymDense) (*Cholesky, error) {
	return NewCholeskyContext(context.Background(), h)
}

// NewCholeskyContext is NewCholesky that ends with the error of ctx once ctx has ended,
// within some 10¹⁰ operations.
func NewCholeskyContext(ctx context.Context, h *mat.SymDense) (*Cholesky, error) {
	n := h.SymmetricDim()
	c := &Cholesky{l: lowerOf(h)}
	if n == 0 {
		return c, nil
	}
	pivot := factor(ctx, dense.Of(c.l))
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("Cholesky factor: %w", err)
	}
	if pivot >= 0 {
		return nil, fmt.Errorf("Cholesky factor: pivot %d of %d is %.3g, with %.3g on the diagonal: %w; add noise",
			pivot, n, c.l.Data[pivot*n+pivot], h.At(pivot, pivot), ErrNotPositiveDefinite)
	}
	return c, nil
}

// Free gives the memory back, so that the next factor need not ask the system for it. Neither c nor a copy of it may be
// used any more. It is not needed: what is not given back is garbage.
func (c *Cholesky) Free() {
	doubles.Put(c.l.Data)
	*c = Cholesky{}
}

// N returns the number of rows.
func (c *Cholesky) N() int { return c.l.Rows }

// Copy returns a factor that grows independently of c. It costs nothing: the two
// share their rows, and the first to grow takes the spare capacity.
func (c *Cholesky) Copy() *Cholesky { return &Cholesky{c.l, c.used} }

// Append extends H by one row and column in O(n²): row holds the new elements up
// to and including the diagonal. After an error the factor is unchanged.
func (c *Cholesky) Append(row []float64) error {
	n := c.l.Rows
	if len(row) != n+1 {
		return fmt.Errorf("append to Cholesky factor: %w: %d elements for row %d", ErrArgument, len(row), n)
	}
	c.grow()
	l := slice(c.l, 0, n, 0, n)
	next := c.l.Data[n*c.l.Stride:][:n+1]
	copy(next, row)
	if n > 0 {
		solveColumn(blas.NoTrans, l, next[:n], 1)
	}
	d := next[n] - dot(next[:n], next)
	if !(d > 0) || math.IsInf(d, 1) {
		c.used.Add(-1)
		return fmt.Errorf("append to Cholesky factor: pivot %d is %.3g, with %.3g on the diagonal: %w; add noise",
			n, d, row[n], ErrNotPositiveDefinite)
	}
	next[n] = math.Sqrt(d)
	c.l.Rows, c.l.Cols = n+1, n+1
	return nil
}

// grow takes room for one more row. Where there is none, or a copy has taken it,
// it moves to memory of its own, with room for some more.
func (c *Cholesky) grow() {
	n, room := c.l.Rows, c.l.Stride
	if n < room && len(c.l.Data) >= room*room && c.used.CompareAndSwap(int64(n), int64(n+1)) {
		return
	}
	room = n + n/4 + leaf
	data := make([]float64, room*room)
	for i := range n {
		copy(data[i*room:][:i+1], row(c.l, i))
	}
	c.l.Stride, c.l.Data, c.used = room, data, new(atomic.Int64)
	c.used.Store(int64(n + 1))
}

// Solve sets dst = H⁻¹·b; the two may be one matrix.
func (c *Cholesky) Solve(dst, b *mat.Dense) {
	c.SolveLower(dst, b)
	switch x := dst.RawMatrix(); {
	case c.N() == 0:
	case x.Cols == 1:
		solveColumn(blas.Trans, c.l, x.Data, x.Stride)
	default:
		solveLowerT(dense.Of(c.l), dense.Of(x))
	}
}

// SolveLower sets dst = L⁻¹·b; the two may be one matrix. The squares of a
// column of L⁻¹·K add up to the part of a prior variance that measurements explain.
func (c *Cholesky) SolveLower(dst, b *mat.Dense) {
	r, k := b.Dims()
	if dr, dk := dst.Dims(); r != c.N() || dr != r || dk != k {
		panic(fmt.Sprintf("solve: %d×%d solutions of %d×%d right-hand sides for a factor of %d", dr, dk, r, k, c.N()))
	}
	dst.Copy(b)
	switch x := dst.RawMatrix(); {
	case c.N() == 0:
	case x.Cols == 1:
		solveColumn(blas.NoTrans, c.l, x.Data, x.Stride)
	default:
		solveLower(dense.Of(c.l), dense.Of(x))
	}
}

// ExtendLower returns L⁻¹·y, given that of the first elements of y: it appends one element for
// each row that is missing, to the bits of SolveLower, in O(n) each. z is not changed.
func (c *Cholesky) ExtendLower(z, y []float64) []float64 {
	n := c.N()
	if len(y) != n || len(z) > n {
		panic(fmt.Sprintf("solve: %d of %d solutions for a factor of %d", len(z), len(y), n))
	}
	if missing := n - len(z); n >= columnRows && missing > panelRows { // all at once, on all processors
		z = slices.Clone(y)
		solveColumn(blas.NoTrans, c.l, z, 1)
		return z
	}
	z = append(make([]float64, 0, n), z...)
	for i := len(z); i < n; i++ {
		z = append(z, substituted(row(c.l, i)[:i], z, 0, y[i], row(c.l, i)[i]))
	}
	return z
}

// SolveUpper sets dst = L⁻ᵀ·z; the two may be one vector.
func (c *Cholesky) SolveUpper(dst, z []float64) {
	if len(z) != c.N() || len(dst) != c.N() {
		panic(fmt.Sprintf("solve: %d solutions of %d right-hand sides for a factor of %d", len(dst), len(z), c.N()))
	}
	copy(dst, z)
	if c.N() > 0 {
		solveColumn(blas.Trans, c.l, dst, 1)
	}
}

// LogDet returns log det H.
func (c *Cholesky) LogDet() float64 {
	sum := 0.0
	for i := range c.N() {
		sum += math.Log(c.l.Data[i*c.l.Stride+i])
	}
	return 2 * sum
}

// Inverse sets dst = H⁻¹.
func (c *Cholesky) Inverse(dst *mat.SymDense) {
	n := c.N()
	if dst.SymmetricDim() != n {
		panic(fmt.Sprintf("solve: inverse of %d rows for a factor of %d", dst.SymmetricDim(), n))
	}
	if n == 0 {
		return
	}
	upper := dst.RawSymmetric()
	l := dense.OfSymmetric(upper).T()
	copyLower(l, dense.Of(c.l))
	invert(l)
	square(upper)
}

// InverseDiag sets dst to the diagonal of H⁻¹, at about half the cost of Inverse.
func (c *Cholesky) InverseDiag(dst []float64) {
	if len(dst) != c.N() {
		panic(fmt.Sprintf("solve: %d elements for a factor of %d", len(dst), c.N()))
	}
	clear(dst)
	inv := inverseLower(c.l)
	for i := range dst {
		for j, v := range row(inv, i)[:i+1] {
			dst[j] += v * v
		}
	}
}
