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
	k       Kernel // of all terms but an unknown mean
	space   space.Space
	axis    space.Axis
	rows    []int
	terms   []Root
	params  []int // number of parameters of each term
	meanVar float64
	cov     *sumCovariance // with the unknown mean
}

// RootWithConstant is RootOf for K + variance·11ᵀ, the root of WithConstant at all hyperparameters.
func RootWithConstant(ctx context.Context, k Kernel, variance float64, s space.Space, rows []int, opts RootOptions) (Root, error) {
	if variance == 0 {
		return RootOf(ctx, k, s, rows, opts)
	}
	return newSumRoot(ctx, k, variance, s, rows, opts)
}

func (s *sum) root(ctx context.Context, in space.Space, rows []int, opts RootOptions) (Root, error) {
	return newSumRoot(ctx, s, 0, in, rows, opts)
}

func newSumRoot(ctx context.Context, k Kernel, meanVar float64, s space.Space, rows []int, opts RootOptions) (Root, error) {
	r := &sumRoot{k: k, space: s, rows: slices.Clone(rows), meanVar: meanVar}
	var err error
	if r.axis, err = s.Axis(ctx, len(rows)); err != nil {
		return nil, err
	}
	native := false // a term is computed in the space
	for _, t := range termsOf(k) {
		one, err := RootOf(ctx, t, s, rows, opts)
		if err == nil && one == nil && space.DeviceOf(s) != nil {
			one, err = bridged(ctx, t, s, rows, opts)
		} else {
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
	if meanVar > 0 {
		r.terms = append(r.terms, &constantRoot{space: s, axis: r.axis, of: meanConstant(meanVar, k.Nodes())})
	}
	return r, nil
}

// termsOf returns the terms of a sum; of another kernel itself.
func termsOf(k Kernel) []Kernel {
	if s, ok := k.(*sum); ok {
		return s.terms
	}
	return []Kernel{k}
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
	cov, err := r.k.At(theta)
	if err != nil {
		return err
	}
	if r.meanVar > 0 {
		cov = WithConstant(cov, r.meanVar)
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
	if len(r.params) == 1 && r.meanVar > 0 { // one term and the unknown mean
		return r.terms[0].Precondition(ctx, constant+r.meanVar, noise)
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

func (c *sumCovariance) rooted() rootKernel { return c.of }
func (c *sumCovariance) point() []float64   { return c.theta }

func (c *sumCovariance) values(ctx context.Context, s space.Space, nodes []int) (Values, error) {
	v := &sumValues{cov: c}
	for _, t := range c.terms {
		one, err := ValuesOf(ctx, t.Covariance, s, nodes)
		if err == nil && one == nil && space.DeviceOf(s) != nil {
			one, err = bridgedValues(ctx, t.Covariance, s, nodes)
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
	space space.Space
	axis  space.Axis
	of    *constant
}

func (k *constantKernel) root(ctx context.Context, s space.Space, rows []int, _ RootOptions) (Root, error) {
	a, err := s.Axis(ctx, len(rows))
	return &constantRoot{space: s, axis: a, of: &constant{1, priorConstant, k.nodes, k}}, err
}

func (r *constantRoot) Free() {}

func (r *constantRoot) Set(_ context.Context, theta []float64) error {
	if err := checkTheta(theta, r.of.k.params); err != nil {
		return err
	}
	r.of = &constant{theta[0], r.of.stream, r.of.nodes, r.of.k}
	return nil
}

// levels returns the variance times the sums of columns.
func (r *constantRoot) levels(u space.Block) []float64 {
	sums := u.Sums(nil, nil)
	for t := range sums {
		sums[t] *= r.of.variance
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
	left, right := u.Sums(nil, nil), w.Sums(nil, nil)
	for s, v := range weight {
		grad[0] += v * left[s] * right[s]
	}
	return r.space.Err()
}

func (r *constantRoot) AddDiag(_ context.Context, dst []float64) error {
	for a := range dst {
		dst[a] += r.of.variance
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

func (c *constant) rooted() rootKernel { return c.k }
func (c *constant) point() []float64   { return []float64{c.variance} }

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
