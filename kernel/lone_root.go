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
	of       *lone
	space    space.Space
	axis     space.Axis
	rows     []int
	k        Root
	mask     space.Block  // nil: no row is a lone node,
	own      space.Matrix // and neither is E there
	variance *loneVariance
}

func (l *lone) root(ctx context.Context, s space.Space, rows []int, opts RootOptions) (Root, error) {
	k, err := RootOf(ctx, l.kernel, s, rows, opts)
	if k == nil || err != nil {
		return nil, err
	}
	r := &loneRoot{of: l, space: s, rows: slices.Clone(rows), k: k}
	if r.axis, err = s.Axis(ctx, len(rows)); err != nil {
		return nil, err
	}
	r.mask, r.own, err = l.masked(ctx, s, r.axis, rows)
	return r, err
}

// masked returns the diagonal of M and E for a list, both nil if it has no lone node on any process.
func (l *lone) masked(ctx context.Context, s space.Space, a space.Axis, rows []int) (space.Block, space.Matrix, error) {
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
	m := s.Block(a, 1)
	m.Set(mask)
	own, err := s.Sparse(ctx, a, space.Rows(len(all)), e)
	return m, own, err
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
	r.k.Free()
	if r.mask != nil {
		r.mask.Free()
		r.own.Free()
	}
}

func (r *loneRoot) Set(ctx context.Context, theta []float64) error {
	if r.mask != nil {
		cov, err := r.of.At(theta)
		if err != nil {
			return err
		}
		r.variance = cov.(*loneCovariance).variance
	}
	return r.k.Set(ctx, theta)
}

// masked returns M∘x, to be freed.
func (r *loneRoot) masked(x space.Block) space.Block {
	m := x.Like()
	m.Scale(x, r.mask, 1)
	return m
}

// alone returns scale·Eᵀx, to be freed.
func (r *loneRoot) alone(x space.Block, scale float64) space.Block {
	own := r.space.Block(space.Rows(len(r.of.nodes())), x.Columns())
	r.own.MulT(own, x, scale, false)
	return own
}

func (r *loneRoot) Apply(ctx context.Context, dst, x space.Block, add bool) error {
	if r.mask == nil {
		return r.k.Apply(ctx, dst, x, add)
	}
	v, err := r.variance.get(ctx)
	if err != nil {
		return err
	}
	return addTo(r.space, dst, add, func(to space.Block) error {
		m, own := r.masked(x), r.alone(x, v)
		defer m.Free()
		defer own.Free()
		if err := r.k.Apply(ctx, to, m, false); err != nil {
			return err
		}
		to.Scale(to, r.mask, 1)
		r.own.Mul(to, own, 0, 1, true)
		return r.space.Err()
	})
}

func (r *loneRoot) Slopes(ctx context.Context, grad, weight []float64, u, w space.Block) error {
	if r.mask == nil {
		return r.k.Slopes(ctx, grad, weight, u, w)
	}
	left, right := r.masked(u), r.masked(w)
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
	if r.mask == nil {
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
	from, own := of.(*loneValues), w.(*loneWeights)
	if r.mask == nil {
		return r.k.Here(ctx, dst, from.k, own.k, add)
	}
	return addTo(r.space, dst, add, func(to space.Block) error {
		if err := r.k.Here(ctx, to, from.k, own.k, false); err != nil {
			return err
		}
		to.Scale(to, r.mask, 1)
		r.own.Mul(to, own.alone, 0, 1, true)
		return r.space.Err()
	})
}

// loneValues are functions at some nodes, lone ones among them.
type loneValues struct {
	cov   *loneCovariance
	space space.Space
	k     Values
	nodes []int
	mask  space.Block
	own   space.Matrix
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
	v := &loneValues{cov: c, space: s, k: k, nodes: nodes}
	v.mask, v.own, err = c.masked(ctx, s, a, nodes)
	return v, err
}

func (v *loneValues) Free() {
	v.k.Free()
	if v.mask != nil {
		v.mask.Free()
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
	if r.mask == nil {
		return v.k.Settle(ctx, own.k, r.k, u)
	}
	variance, err := v.cov.variance.get(ctx)
	if err != nil {
		return err
	}
	m, alone := r.masked(u), r.alone(u, variance)
	defer m.Free()
	defer alone.Free()
	own.alone.AddScaled(alone, nil, 1)
	return v.k.Settle(ctx, own.k, r.k, m)
}

func (v *loneValues) Mul(ctx context.Context, dst space.Block, w Weights, lo int, add bool) error {
	own := w.(*loneWeights)
	if v.mask == nil {
		return v.k.Mul(ctx, dst, own.k, lo, add)
	}
	return addTo(v.space, dst, add, func(to space.Block) error {
		if err := v.k.Mul(ctx, to, own.k, lo, false); err != nil {
			return err
		}
		mask := v.space.Block(to.Axis(), 1)
		defer mask.Free()
		part := make([]float64, to.Axis().Own)
		for a := range part {
			if !v.cov.is[v.nodes[lo+a]] {
				part[a] = 1
			}
		}
		mask.Set(part)
		to.Scale(to, mask, 1)
		v.own.Mul(to, own.alone, lo, 1, true)
		return v.space.Err()
	})
}
