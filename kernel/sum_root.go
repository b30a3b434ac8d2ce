package kernel

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"grfgp/internal/rng"
	"grfgp/solve"
	"grfgp/space"
)

// sumRoot is F = [F_1 | F_2 | …].
type sumRoot struct {
	of     *sum
	space  space.Space
	axis   space.Axis
	rows   []int
	terms  []Root
	params []int // number of parameters of each term
	cov    *sumCovariance
}

// RootWithConstant is RootOf for K + variance·11ᵀ, the root of WithConstant at all hyperparameters.
func RootWithConstant(ctx context.Context, k Kernel, variance float64, s space.Space, rows []int, opts RootOptions) (Root, error) {
	if variance == 0 {
		return RootOf(ctx, k, s, rows, opts)
	}
	return RootOf(ctx, Sum(k, meanConstant(variance, k.Nodes())), s, rows, opts)
}

func (k *sum) root(ctx context.Context, s space.Space, rows []int, opts RootOptions) (Root, error) {
	r := &sumRoot{of: k, space: s, rows: slices.Clone(rows)}
	var err error
	if r.axis, err = s.Axis(ctx, len(rows)); err != nil {
		return nil, err
	}
	native := false // a term other than a constant is computed in the space
	for _, t := range k.terms {
		one, err := RootOf(ctx, t, s, rows, opts)
		if err == nil && one == nil && space.DeviceOf(s) != nil {
			one, err = bridged(ctx, t, s, rows, opts)
		} else if _, level := t.(*constantKernel); !level {
			native = native || one != nil
		}
		if one == nil || err != nil {
			r.Free()
			return nil, err
		}
		r.terms, r.params = append(r.terms, one), append(r.params, len(t.Params()))
	}
	if !native {
		r.Free()
		return nil, nil
	}
	return r, nil
}

func (r *sumRoot) Free() {
	for _, t := range r.terms {
		t.Free()
	}
}

func (r *sumRoot) termRoots() []Root { return r.terms }

// each calls do with every term and its part of a list of numbers for the hyperparameters.
func (r *sumRoot) each(all []float64, do func(t Root, own []float64) error) error {
	lo := 0
	for k, n := range r.params {
		if err := do(r.terms[k], all[lo:lo+n:lo+n]); err != nil {
			return err
		}
		lo += n
	}
	return nil
}

func (r *sumRoot) Set(ctx context.Context, theta []float64) error {
	cov, err := r.of.At(theta)
	if err != nil {
		return err
	}
	r.cov = cov.(*sumCovariance)
	return r.each(theta, func(t Root, own []float64) error { return t.Set(ctx, own) })
}

func (r *sumRoot) Apply(ctx context.Context, dst, x space.Block, add bool) error {
	for k, t := range r.terms {
		if err := t.Apply(ctx, dst, x, add || k > 0); err != nil {
			return err
		}
	}
	return nil
}

func (r *sumRoot) Slopes(ctx context.Context, grad, weight []float64, u, w space.Block) error {
	return r.each(grad, func(t Root, own []float64) error { return t.Slopes(ctx, own, weight, u, w) })
}

func (r *sumRoot) AddDiag(ctx context.Context, dst []float64) error {
	for _, t := range r.terms {
		if err := t.AddDiag(ctx, dst); err != nil {
			return err
		}
	}
	return nil
}

func (r *sumRoot) Precondition(ctx context.Context, constant float64, noise []float64) (solve.Factored, bool, error) {
	isMain := func(t sumTerm) bool { return !isConstant(t.Covariance) }
	if main, _ := r.cov.split(); len(main) == 1 { // one term and an unknown mean
		return r.terms[slices.IndexFunc(r.cov.terms, isMain)].Precondition(ctx, constant+r.cov.level(), noise)
	}
	return r.cov.precondition(ctx, r.space, r.axis, r.rows, r.terms, constant, noise)
}

func (r *sumRoot) Here(ctx context.Context, dst space.Block, of Values, w Weights, add bool) error {
	from, own := of.(*sumValues), w.(sumWeights)
	for k, t := range r.terms {
		if err := t.Here(ctx, dst, from.terms[k], own[k], add || k > 0); err != nil {
			return err
		}
	}
	return nil
}

// sumValues are sums of functions, one of each term.
type sumValues struct {
	cov   *sumCovariance
	terms []Values
}

type sumWeights []Weights

func (w sumWeights) Free() {
	for _, t := range w {
		t.Free()
	}
}

func (c *sumCovariance) values(ctx context.Context, s space.Space, nodes []int) (Values, error) {
	v := &sumValues{cov: c}
	for _, t := range c.terms {
		one, err := ValuesOf(ctx, t.Covariance, s, nodes)
		if err == nil && one == nil && space.DeviceOf(s) != nil {
			one, err = valuesBridged(ctx, t.Covariance, s, nodes)
		}
		if one == nil || err != nil {
			v.Free()
			return nil, err
		}
		v.terms = append(v.terms, one)
	}
	return v, nil
}

func (v *sumValues) Free() {
	for _, t := range v.terms {
		t.Free()
	}
}

func (v *sumValues) Zero(columns int) Weights {
	var w sumWeights
	for _, t := range v.terms {
		w = append(w, t.Zero(columns))
	}
	return w
}

func (v *sumValues) Prior(ctx context.Context, columns, first int, seed uint64) (Weights, error) {
	var w sumWeights
	for k, s := range v.cov.seeds(seed) {
		one, err := v.terms[k].Prior(ctx, columns, first, s)
		if err != nil {
			return nil, err
		}
		w = append(w, one)
	}
	return w, nil
}

func (v *sumValues) Settle(ctx context.Context, w Weights, from Root, u space.Block) error {
	own, roots := w.(sumWeights), from.(interface{ termRoots() []Root }).termRoots()
	for k, t := range v.terms {
		if err := t.Settle(ctx, own[k], roots[k], u); err != nil {
			return err
		}
	}
	return nil
}

func (v *sumValues) Mul(ctx context.Context, dst space.Block, w Weights, lo int, add bool) error {
	own := w.(sumWeights)
	for k, t := range v.terms {
		if err := t.Mul(ctx, dst, own[k], lo, add || k > 0); err != nil {
			return err
		}
	}
	return nil
}

// constantRoot is F = s·1, one column.
type constantRoot struct {
	of    *constantKernel
	space space.Space
	axis  space.Axis
	cov   *constant
}

func (k *constantKernel) root(ctx context.Context, s space.Space, rows []int, _ RootOptions) (Root, error) {
	a, err := s.Axis(ctx, len(rows))
	return &constantRoot{of: k, space: s, axis: a}, err
}

func (r *constantRoot) Free() {}

func (r *constantRoot) Set(_ context.Context, theta []float64) error {
	cov, err := r.of.At(theta)
	if err == nil {
		r.cov = cov.(*constant)
	}
	return err
}

// levels returns the variance times the sums of columns.
func (r *constantRoot) levels(u space.Block) []float64 {
	sums := u.Sums(nil, nil)
	for t := range sums {
		sums[t] *= r.cov.variance
	}
	return sums
}

func (r *constantRoot) Apply(_ context.Context, dst, x space.Block, add bool) error {
	if !add {
		dst.Zero()
	}
	dst.AddLevels(r.levels(x))
	return r.space.Err()
}

func (r *constantRoot) Slopes(_ context.Context, grad, weight []float64, u, w space.Block) error {
	if len(grad) == 0 { // the variance is known
		return nil
	}
	left, right := u.Sums(nil, nil), w.Sums(nil, nil)
	for s, v := range weight {
		grad[0] += v * left[s] * right[s]
	}
	return r.space.Err()
}

func (r *constantRoot) AddDiag(_ context.Context, dst []float64) error {
	for a := range dst {
		dst[a] += r.cov.variance
	}
	return nil
}

func (r *constantRoot) Precondition(ctx context.Context, constant float64, noise []float64) (solve.Factored, bool, error) {
	p, err := jacobi(ctx, r, r.space, r.axis, constant, noise)
	return p, false, err
}

func (r *constantRoot) Here(_ context.Context, dst space.Block, _ Values, w Weights, add bool) error {
	if !add {
		dst.Zero()
	}
	dst.AddLevels(w.(constantWeights))
	return nil
}

// constantValues are functions that are the same everywhere.
type constantValues struct {
	of    *constant
	space space.Space
}

// constantWeights are their values.
type constantWeights []float64

func (constantWeights) Free() {}

func (c *constant) values(_ context.Context, s space.Space, _ []int) (Values, error) {
	return constantValues{c, s}, nil
}

func (v constantValues) Free()                    {}
func (v constantValues) Zero(columns int) Weights { return make(constantWeights, columns) }

func (v constantValues) Prior(_ context.Context, columns, first int, seed uint64) (Weights, error) {
	return constantWeights(v.of.levels(first+columns, seed)[first:]), nil
}

func (v constantValues) Settle(_ context.Context, w Weights, from Root, u space.Block) error {
	own := w.(constantWeights)
	for t, x := range from.(*constantRoot).levels(u) {
		own[t] += x
	}
	return v.space.Err()
}

func (v constantValues) Mul(_ context.Context, dst space.Block, w Weights, _ int, add bool) error {
	if !add {
		dst.Zero()
	}
	dst.AddLevels(w.(constantWeights))
	return nil
}

// levels returns draws of the constant.
func (c *constant) levels(draws int, seed uint64) []float64 {
	all := make([]float64, draws)
	for s := range all {
		all[s] = math.Sqrt(c.variance) * rand.New(rng.New(seed, c.stream, uint64(s))).NormFloat64()
	}
	return all
}
