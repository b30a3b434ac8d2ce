package kernel

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/solve"
	"grfgp/space"
)

// root of features of unit variance is that of features whose rows have norm one, for they are scaled when they are made.
func (e *unitVariance) root(ctx context.Context, s space.Space, rows []int, opts RootOptions) (Root, error) {
	if grf, ok := e.kernel.(*GRF); ok {
		return grf.newRoot(ctx, s, rows, e)
	}
	k, err := RootOf(ctx, e.kernel, s, rows, opts)
	if k == nil || err != nil {
		return nil, err
	}
	r := &unitRoot{rowScaled: rowScaled{space: s, k: k}, of: e, rows: slices.Clone(rows)}
	r.axis, err = s.Axis(ctx, len(rows))
	return r, err
}

func (c *unitCovariance) values(ctx context.Context, s space.Space, nodes []int) (Values, error) {
	if raw, ok := c.raw.(*grfCovariance); ok {
		return raw.newValues(ctx, s, nodes, true, c.variance)
	}
	k, err := ValuesOf(ctx, c.raw, s, nodes)
	if k == nil || err != nil {
		return nil, err
	}
	d, err := c.scales(ctx, nodes)
	return &scaledValues{s, k, d}, err
}

// rowScaled is F = D·F_K for a diagonal D.
type rowScaled struct {
	space space.Space
	k     Root
	scale space.Block // the diagonal of D; nil: it is the identity
}

func (r *rowScaled) Free() {
	r.k.Free()
	if r.scale != nil {
		r.scale.Free()
	}
}

// scaled returns D∘x, to be freed.
func (r *rowScaled) scaled(x space.Block) space.Block {
	b := x.Like()
	b.Scale(x, r.scale, 1)
	return b
}

func (r *rowScaled) Apply(ctx context.Context, dst, x space.Block, add bool) error {
	if r.scale == nil {
		return r.k.Apply(ctx, dst, x, add)
	}
	in := r.scaled(x)
	defer in.Free()
	return r.through(dst, add, func(to space.Block, add bool) error { return r.k.Apply(ctx, to, in, add) })
}

// through sets dst to D times what set sets or adds, or adds that.
func (r *rowScaled) through(dst space.Block, add bool, set func(to space.Block, add bool) error) error {
	if r.scale == nil {
		return set(dst, add)
	}
	return addTo(r.space, dst, add, func(to space.Block) error {
		if err := set(to, false); err != nil {
			return err
		}
		to.Scale(to, r.scale, 1)
		return r.space.Err()
	})
}

func (r *rowScaled) Here(ctx context.Context, dst space.Block, of Values, w Weights, add bool) error {
	return r.through(dst, add, func(to space.Block, add bool) error { return r.k.Here(ctx, to, of.(*scaledValues).k, w, add) })
}

func (r *rowScaled) scaledRows() *rowScaled { return r }

// scaledValues are functions D·f.
type scaledValues struct {
	space  space.Space
	k      Values
	scales []float64 // nil: D is the identity
}

func (v *scaledValues) Free()                    { v.k.Free() }
func (v *scaledValues) Zero(columns int) Weights { return v.k.Zero(columns) }

func (v *scaledValues) Prior(ctx context.Context, columns, first int, seed uint64) (Weights, error) {
	return v.k.Prior(ctx, columns, first, seed)
}

func (v *scaledValues) Settle(ctx context.Context, w Weights, from Root, u space.Block) error {
	r := from.(interface{ scaledRows() *rowScaled }).scaledRows()
	if r.scale == nil {
		return v.k.Settle(ctx, w, r.k, u)
	}
	scaled := r.scaled(u)
	defer scaled.Free()
	return v.k.Settle(ctx, w, r.k, scaled)
}

func (v *scaledValues) Mul(ctx context.Context, dst space.Block, w Weights, lo int, add bool) error {
	if v.scales == nil {
		return v.k.Mul(ctx, dst, w, lo, add)
	}
	return addTo(v.space, dst, add, func(to space.Block) error {
		if err := v.k.Mul(ctx, to, w, lo, false); err != nil {
			return err
		}
		d := v.space.Block(to.Axis(), 1)
		defer d.Free()
		d.Set(v.scales[lo : lo+to.Axis().Own])
		to.Scale(to, d, 1)
		return v.space.Err()
	})
}

// unitRoot is F = D·F_K, with D the scales to one variance.
type unitRoot struct {
	rowScaled
	of   *unitVariance
	axis space.Axis
	rows []int
	cov  *unitCovariance
	d    []float64 // the diagonal of D
}

func (r *unitRoot) Set(ctx context.Context, theta []float64) error {
	c, err := r.of.At(theta)
	if err != nil {
		return err
	}
	r.cov = c.(*unitCovariance)
	if err := r.k.Set(ctx, r.of.below(theta)); err != nil {
		return err
	}
	r.d = make([]float64, len(r.rows))
	if err := r.k.AddDiag(ctx, r.d); err != nil {
		return err
	}
	for a, v := range r.d {
		if r.d[a] = 0; v > 0 {
			r.d[a] = math.Sqrt(theta[0] / v)
		}
	}
	if r.scale == nil {
		r.scale = r.space.Block(r.axis, 1)
	}
	r.scale.Set(r.d)
	return r.space.Err()
}

// Slopes is as unitCovariance.GramGrad, with g = Σ_s weight_s·u_s·w_sᵀ: the diagonal of K changes the scales.
func (r *unitRoot) Slopes(ctx context.Context, grad, weight []float64, u, w space.Block) error {
	du, dw := r.scaled(u), r.scaled(w)
	ku, kw := u.Like(), w.Like()
	defer freeAll([]space.Block{du, dw, ku, kw})
	if err := r.k.Apply(ctx, ku, du, false); err != nil {
		return err
	}
	if err := r.k.Apply(ctx, kw, dw, false); err != nil {
		return err
	}
	t, left, right, a, b := make([]float64, len(r.rows)), denseCopy(du), denseCopy(dw), denseCopy(ku), denseCopy(kw)
	total := 0.0
	for i, d := range r.d {
		for s, v := range weight {
			t[i] += v * (left.At(i, s)*b.At(i, s) + right.At(i, s)*a.At(i, s)) / 2
		}
		total += t[i]
		t[i] *= -d * d / r.cov.variance // over K_aa
	}
	grad[0] += total / r.cov.variance
	return r.cov.shape(grad, func(own []float64) error {
		if err := r.k.Slopes(ctx, own, weight, du, dw); err != nil {
			return err
		}
		const size = 256
		for lo := 0; lo < len(t); lo += size {
			hi := min(len(t), lo+size)
			diagonal := mat.NewSymDense(hi-lo, nil)
			for a := lo; a < hi; a++ {
				diagonal.SetSym(a-lo, a-lo, t[a])
			}
			if err := r.cov.raw.GramGrad(ctx, own, r.rows[lo:hi], diagonal); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *unitRoot) AddDiag(_ context.Context, dst []float64) error {
	for a, d := range r.d {
		if d > 0 {
			dst[a] += r.cov.variance
		}
	}
	return nil
}

func (r *unitRoot) Precondition(ctx context.Context, constant float64, noise []float64) (solve.Factored, bool, error) {
	own := false
	p, err := preconditionScaled(r.space, r.axis, r.d, constant, noise, func(constant float64, noise []float64) (p solve.Factored, err error) {
		p, own, err = r.k.Precondition(ctx, constant, noise)
		return p, err
	})
	if err != nil || own {
		return p, own, err
	}
	p.Free()
	j, err := jacobi(ctx, r, r.space, r.axis, constant, noise)
	return j, false, err
}

// preconditionScaled uses D(K + c·11ᵀ/d̄ + N/D²)D ≈ DKD + c·11ᵀ + N, with the mean d̄ of D².
func preconditionScaled(s space.Space, a space.Axis, d []float64, constant float64, noise []float64,
	own func(constant float64, noise []float64) (solve.Factored, error)) (solve.Factored, error) {
	beneath, inverse, mean := make([]float64, len(d)), make([]float64, len(d)), 0.0
	logs := make([]float64, len(d))
	for i, v := range d {
		if v == 0 { // the variance under K is 0: any scale will do
			v = 1
		}
		beneath[i], inverse[i], logs[i] = noise[i]/v/v, 1/v, math.Log(v)
		mean += v * v / float64(len(d))
	}
	raw, err := own(constant/mean, beneath)
	if err != nil {
		return nil, err
	}
	b := s.Block(a, 1)
	b.Set(inverse)
	return solve.ScaledFactor(raw, b, 2*space.Sum(s, a, logs)), nil
}
