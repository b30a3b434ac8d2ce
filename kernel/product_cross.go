package kernel

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/dense"
	"grfgp/solve"
)

func (c *productCovariance) Cross(rows, cols []int) solve.Operator {
	o := &productCross{cov: c, rows: slices.Clone(rows), cols: slices.Clone(cols)}
	switch {
	case c.lowB != nil && (c.lowA == nil || c.lowB.width() <= c.lowA.width()):
		o.other, o.low = c.a.Cross(rows, cols), c.lowB
	case c.lowA != nil:
		o.other, o.low = c.b.Cross(rows, cols), c.lowA
	}
	return o
}

// productCross is K[rows, cols].
type productCross struct {
	cov        *productCovariance
	rows, cols []int
	low        lowRank        // a factor of low rank; nil: none
	other      solve.Operator // the other factor
}

func (o *productCross) Dims() (r, c int) { return len(o.rows), len(o.cols) }

// Apply compares the numbers of right-hand sides that a factor is multiplied by: a
// unit vector for every row or column of K, or x for every column of low rank.
func (o *productCross) Apply(ctx context.Context, dst, x *mat.Dense) error {
	switch {
	case len(o.rows) == 0:
		return ctx.Err()
	case len(o.cols) == 0:
		dst.Zero()
		return ctx.Err()
	case o.low != nil && o.low.width()*x.RawMatrix().Cols <= min(len(o.rows), len(o.cols)):
		return o.applyLowRank(ctx, dst, x)
	case len(o.rows) < len(o.cols):
		return o.applyRows(ctx, dst, x)
	}
	return o.applyColumns(ctx, dst, x)
}

// applyLowRank uses (K ∘ ZZᵀ)x = Σ_m z_m ∘ K(z_m ∘ x), several m at a time.
func (o *productCross) applyLowRank(ctx context.Context, dst, x *mat.Dense) error {
	left, right := o.low.factor(o.rows), o.low.factor(o.cols)
	dst.Zero()
	width, n := o.low.width(), x.RawMatrix().Cols
	each := max(1, min(width, o.cov.entries/(n*max(len(o.rows), len(o.cols)))))
	for lo := 0; lo < width; lo += each {
		hi := min(width, lo+each)
		in, out := products(x, right, lo, hi), mat.NewDense(len(o.rows), (hi-lo)*n, nil)
		if err := o.other.Apply(ctx, out, in); err != nil {
			return err
		}
		collect(dst, out, left, lo, hi)
	}
	return ctx.Err()
}

// products returns the columns z_m ∘ x_s for lo ≤ m < hi and all s.
func products(x, z *mat.Dense, lo, hi int) *mat.Dense {
	rows, n := x.Dims()
	all := mat.NewDense(rows, (hi-lo)*n, nil)
	everyRow(rows, 256, func(i int) {
		in, out := x.RawRowView(i), all.RawRowView(i)
		for m, v := range z.RawRowView(i)[lo:hi] {
			for s, w := range in {
				out[m*n+s] = v * w
			}
		}
	})
	return all
}

// collect adds Σ_m z_m ∘ y_ms to dst, for the columns of products.
func collect(dst, y, z *mat.Dense, lo, hi int) {
	rows, n := dst.Dims()
	everyRow(rows, 256, func(i int) {
		out, in := dst.RawRowView(i), y.RawRowView(i)
		for m, v := range z.RawRowView(i)[lo:hi] {
			for s := range n {
				out[s] += v * in[m*n+s]
			}
		}
	})
}

// applyColumns forms blocks of columns of K.
func (o *productCross) applyColumns(ctx context.Context, dst, x *mat.Dense) error {
	dst.Zero()
	return o.cov.strips(ctx, o.rows, o.cols, func(k dense.Matrix, lo, hi int) {
		in := dense.View(x)
		dense.Add(dense.View(dst), 1, k, in.Block(lo, hi, 0, in.Cols))
	})
}

// applyRows forms blocks of rows of K, as columns of its transpose.
func (o *productCross) applyRows(ctx context.Context, dst, x *mat.Dense) error {
	return o.cov.strips(ctx, o.cols, o.rows, func(k dense.Matrix, lo, hi int) {
		out := dense.View(dst)
		dense.Mul(out.Block(lo, hi, 0, out.Cols), k.T(), dense.View(x))
	})
}

// strips calls do for K[rows, cols[lo:hi]], in order.
func (c *productCovariance) strips(ctx context.Context, rows, cols []int, do func(k dense.Matrix, lo, hi int)) error {
	size := max(1, min(len(cols), c.entries/len(rows)))
	left, right := mat.NewDense(len(rows), size, nil), mat.NewDense(len(rows), size, nil)
	for lo := 0; lo < len(cols); lo += size {
		hi := min(len(cols), lo+size)
		one := identity(hi - lo)
		a, b := left.Slice(0, len(rows), 0, hi-lo).(*mat.Dense), right.Slice(0, len(rows), 0, hi-lo).(*mat.Dense)
		if err := c.a.Cross(rows, cols[lo:hi]).Apply(ctx, a, one); err != nil {
			return err
		}
		if err := c.b.Cross(rows, cols[lo:hi]).Apply(ctx, b, one); err != nil {
			return err
		}
		multiply(a, b)
		do(dense.View(a), lo, hi)
	}
	return ctx.Err()
}

// multiply sets dst to dst ∘ x.
func multiply(dst, x *mat.Dense) {
	rows, _ := dst.Dims()
	everyRow(rows, 64, func(i int) {
		out := dst.RawRowView(i)
		for k, v := range x.RawRowView(i) {
			out[k] *= v
		}
	})
}

// Grad uses the columns of a factor of low rank where there are few,
//
//	uᵀ(∂K_a ∘ ZZᵀ)w = Σ_m (z_m ∘ u)ᵀ ∂K_a (z_m ∘ w)
//	uᵀ(K_a ∘ ∂(ZZᵀ))w = Σ_m ∂z_mᵀ(u ∘ K_a(z_m ∘ w) + w ∘ K_a(z_m ∘ u))
//
// and otherwise pairs of blocks of rows, whose entries it forms.
func (c *productCovariance) Grad(ctx context.Context, grad []float64, rows []int, u, w *mat.Dense) error {
	if err := ctx.Err(); err != nil || len(rows) == 0 {
		return err
	}
	columns := u.RawMatrix().Cols
	few := func(r lowRank) bool { return r != nil && 2*r.width()*columns <= len(rows) }
	switch {
	case few(c.lowB):
		if err := c.gradByColumns(ctx, c.a, c.lowB, grad[:c.ofA], nil, rows, u, w); err != nil {
			return err
		}
		return c.gradOfB(grad, func(own []float64) error {
			return c.gradByColumns(ctx, c.a, c.lowB, nil, own, rows, u, w)
		})
	case few(c.lowA):
		if err := c.gradByColumns(ctx, c.b, c.lowA, nil, grad[:c.ofA], rows, u, w); err != nil {
			return err
		}
		return c.gradOfB(grad, func(own []float64) error {
			return c.gradByColumns(ctx, c.b, c.lowA, own, nil, rows, u, w)
		})
	}
	return c.gradByBlocks(ctx, grad, rows, u, w)
}

// gradByColumns adds the gradient of K ∘ ZZᵀ by the parameters of K to grad, and that
// by the parameters of Z to pulled; either may be nil.
func (c *productCovariance) gradByColumns(ctx context.Context, k Covariance, low lowRank, grad, pulled []float64, rows []int,
	u, w *mat.Dense) error {
	z := low.factor(rows)
	n, columns := u.Dims()
	width := low.width()
	each := max(1, min(width, c.entries/(4*columns*n)))
	op := k.Cross(rows, rows)
	q := mat.NewDense(n, width, nil)
	for lo := 0; lo < width; lo += each {
		hi := min(width, lo+each)
		zu, zw := products(u, z, lo, hi), products(w, z, lo, hi)
		if len(grad) > 0 {
			if err := k.Grad(ctx, grad, rows, zu, zw); err != nil {
				return err
			}
		}
		if len(pulled) == 0 {
			continue
		}
		product := mat.NewDense(n, (hi-lo)*columns, nil)
		for _, side := range []struct{ in, out *mat.Dense }{{zw, u}, {zu, w}} {
			if err := op.Apply(ctx, product, side.in); err != nil {
				return err
			}
			everyRow(n, 256, func(i int) {
				in, y, to := side.out.RawRowView(i), product.RawRowView(i), q.RawRowView(i)[lo:hi]
				for m := range to {
					to[m] += dot(in, y[m*columns:][:columns])
				}
			})
		}
	}
	if len(pulled) > 0 {
		low.pull(pulled, rows, q)
	}
	return ctx.Err()
}

// gradByBlocks adds GramGrad of pairs of blocks of rows, with g = Σ_s u_s·w_sᵀ, made
// symmetric.
func (c *productCovariance) gradByBlocks(ctx context.Context, grad []float64, rows []int, u, w *mat.Dense) error {
	const size = 1024
	n := len(rows)
	for lo := 0; lo < n; lo += size {
		for next := lo; next < n; next += size {
			hi, end := min(n, lo+size), min(n, next+size)
			pair := rows[lo:hi]
			if next > lo {
				pair = slices.Concat(pair, rows[next:end])
			}
			g := mat.NewSymDense(len(pair), nil)
			for a := range hi - lo {
				first, shift := a, lo
				if next > lo {
					first, shift = hi-lo, next-(hi-lo)
				}
				for b := first; b < len(pair); b++ {
					i, j := lo+a, shift+b
					v := dot(u.RawRowView(i), w.RawRowView(j))
					if i != j {
						v = (v + dot(u.RawRowView(j), w.RawRowView(i))) / 2
					}
					g.SetSym(a, b, v)
				}
			}
			if err := c.GramGrad(ctx, grad, pair, g); err != nil {
				return err
			}
		}
	}
	return nil
}
