package kernel

import (
	"context"
	"math"
	"slices"

	"grfgp/solve"
	"grfgp/space"
)

// loneRoot is F = [M·F_K | √v·E], where M masks the lone nodes among the rows, and E has a column for each lone node of the
// graph.
type loneRoot struct {
	rowScaled              // by M; by nothing where no row is a lone node on any process,
	own       space.Matrix // E, which is nil there
	of        *lone
	rows      []int
	variance  *loneVariance
}

func (l *lone) root(ctx context.Context, s space.Space, rows []int, opts RootOptions) (Root, error) {
	k, err := RootOf(ctx, l.kernel, s, rows, opts)
	if k == nil || err != nil {
		return nil, err
	}
	r := &loneRoot{rowScaled: rowScaled{space: s, k: k}, of: l, rows: slices.Clone(rows)}
	a, err := s.Axis(ctx, len(rows))
	if err != nil {
		return nil, err
	}
	mask, own, err := l.masked(ctx, s, a, rows)
	if mask != nil {
		r.scale, r.own = s.Block(a, 1), own
		r.scale.Set(mask)
	}
	return r, err
}

// masked returns the diagonal of M and E for a list, both nil if it has no lone node on any process.
func (l *lone) masked(ctx context.Context, s space.Space, a space.Axis, rows []int) ([]float64, space.Matrix, error) {
	places, all := l.among(rows), l.nodes()
	mask, lone := slices.Repeat([]float64{1}, len(rows)), make([]float64, len(rows))
	for _, p := range places {
		lone[p] = 1
	}
	if space.Sum(s, a, lone) == 0 {
		return nil, nil, s.Err()
	}
	e := space.Entries{Ptr: make([]int, len(rows)+1)}
	for _, p := range places {
		mask[p] = 0
		e.Ptr[p+1] = 1
		column, _ := slices.BinarySearch(all, rows[p])
		e.Col, e.Val = append(e.Col, uint32(column)), append(e.Val, 1)
	}
	for p := range rows {
		e.Ptr[p+1] += e.Ptr[p]
	}
	own, err := s.Sparse(ctx, a, space.Rows(len(all)), e)
	return mask, own, err
}

// nodes returns all lone nodes.
func (l *lone) nodes() (all []int) {
	for i, alone := range l.is {
		if alone {
			all = append(all, i)
		}
	}
	return all
}

func (r *loneRoot) Free() {
	r.rowScaled.Free()
	if r.own != nil {
		r.own.Free()
	}
}

func (r *loneRoot) Set(ctx context.Context, theta []float64) error {
	if r.own != nil {
		cov, err := r.of.At(theta)
		if err != nil {
			return err
		}
		r.variance = cov.(*loneCovariance).variance
	}
	return r.k.Set(ctx, theta)
}

// alone returns scale·Eᵀx, to be freed.
func (r *loneRoot) alone(x space.Block, scale float64) space.Block {
	own := r.space.Block(space.Rows(len(r.of.nodes())), x.Columns())
	r.own.MulT(own, x, scale, false)
	return own
}

func (r *loneRoot) Apply(ctx context.Context, dst, x space.Block, add bool) error {
	if err := r.rowScaled.Apply(ctx, dst, x, add); r.own == nil || err != nil {
		return err
	}
	v, err := r.variance.get(ctx)
	if err != nil {
		return err
	}
	own := r.alone(x, v)
	defer own.Free()
	r.own.Mul(dst, own, 0, 1, true)
	return r.space.Err()
}

func (r *loneRoot) Slopes(ctx context.Context, grad, weight []float64, u, w space.Block) error {
	if r.own == nil {
		return r.k.Slopes(ctx, grad, weight, u, w)
	}
	left, right := r.scaled(u), r.scaled(w)
	defer left.Free()
	defer right.Free()
	if err := r.k.Slopes(ctx, grad, weight, left, right); err != nil {
		return err
	}
	own, other := r.alone(u, 1), r.alone(w, 1)
	defer own.Free()
	defer other.Free()
	sum := 0.0
	for s, v := range own.Sums(other, nil) {
		sum += weight[s] * v
	}
	if err := r.space.Err(); err != nil {
		return err
	}
	return r.variance.addSlope(ctx, grad, sum)
}

func (r *loneRoot) AddDiag(ctx context.Context, dst []float64) error {
	if r.own == nil {
		return r.k.AddDiag(ctx, dst)
	}
	v, err := r.variance.get(ctx)
	if err != nil {
		return err
	}
	d := make([]float64, len(dst))
	if err := r.k.AddDiag(ctx, d); err != nil {
		return err
	}
	for a, i := range r.rows {
		if r.of.is[i] {
			d[a] = v
		}
		dst[a] += d[a]
	}
	return nil
}

// Precondition takes lone nodes as K has them, which is near enough.
func (r *loneRoot) Precondition(ctx context.Context, constant float64, noise []float64) (solve.Factored, bool, error) {
	return r.k.Precondition(ctx, constant, noise)
}

func (r *loneRoot) Here(ctx context.Context, dst space.Block, of Values, w Weights, add bool) error {
	own := w.(*loneWeights)
	if err := r.rowScaled.Here(ctx, dst, &of.(*loneValues).scaledValues, own.k, add); r.own == nil || err != nil {
		return err
	}
	r.own.Mul(dst, own.alone, 0, 1, true)
	return r.space.Err()
}

// loneValues are functions at some nodes, lone ones among them.
type loneValues struct {
	scaledValues              // by M
	own          space.Matrix // E; nil: no node is a lone one
	cov          *loneCovariance
}

// loneWeights are those of K, and functions at all lone nodes.
type loneWeights struct {
	k     Weights
	alone space.Block
}

func (w *loneWeights) Free() {
	w.k.Free()
	w.alone.Free()
}

func (c *loneCovariance) values(ctx context.Context, s space.Space, nodes []int) (Values, error) {
	k, err := ValuesOf(ctx, c.raw, s, nodes)
	if k == nil || err != nil {
		return nil, err
	}
	a, err := s.Axis(ctx, len(nodes))
	if err != nil {
		return nil, err
	}
	mask, own, err := c.masked(ctx, s, a, nodes)
	return &loneValues{scaledValues{s, k, mask}, own, c}, err
}

func (v *loneValues) Free() {
	v.scaledValues.Free()
	if v.own != nil {
		v.own.Free()
	}
}

func (v *loneValues) block(columns int) space.Block {
	return v.space.Block(space.Rows(len(v.cov.nodes())), columns)
}

func (v *loneValues) Zero(columns int) Weights {
	w := &loneWeights{v.k.Zero(columns), v.block(columns)}
	w.alone.Zero()
	return w
}

func (v *loneValues) Prior(ctx context.Context, columns, first int, seed uint64) (Weights, error) {
	k, err := v.k.Prior(ctx, columns, first, seed)
	if err != nil {
		return nil, err
	}
	variance, err := v.cov.variance.get(ctx)
	w := &loneWeights{k, v.block(columns)}
	w.alone.Normals(seed, loneStream, first, nil)
	w.alone.Scale(w.alone, nil, math.Sqrt(variance))
	return w, err
}

func (v *loneValues) Settle(ctx context.Context, w Weights, from Root, u space.Block) error {
	r, own := from.(*loneRoot), w.(*loneWeights)
	if err := v.scaledValues.Settle(ctx, own.k, r, u); r.own == nil || err != nil {
		return err
	}
	variance, err := v.cov.variance.get(ctx)
	if err != nil {
		return err
	}
	alone := r.alone(u, variance)
	defer alone.Free()
	own.alone.AddScaled(alone, nil, 1)
	return v.space.Err()
}

func (v *loneValues) Mul(ctx context.Context, dst space.Block, w Weights, lo int, add bool) error {
	own := w.(*loneWeights)
	if err := v.scaledValues.Mul(ctx, dst, own.k, lo, add); v.own == nil || err != nil {
		return err
	}
	v.own.Mul(dst, own.alone, lo, 1, true)
	return v.space.Err()
}
