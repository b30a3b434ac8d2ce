package kernel

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"grfgp/internal/rng"
	"grfgp/solve"
	"grfgp/space"
	"grfgp/sparse"
)

// multiscaleRoot is F = [Φ₀ | s₁P₁Φ̂₁ | s₂P₁P₂Φ̂₂ | …].
type multiscaleRoot struct {
	many   *Multiscale
	list   *ladder
	fine   Root
	scales []Root
	cov    *multiscaleCovariance
	onto   space.Matrix // the interpolation from the cells of the preconditioner; nil until first used
}

func (m *Multiscale) root(ctx context.Context, s space.Space, rows []int, opts RootOptions) (Root, error) {
	list, err := m.ladder(ctx, s, rows)
	if list == nil || err != nil {
		return nil, err
	}
	r := &multiscaleRoot{many: m, list: list}
	rough := opts.Rough && !s.Single() && space.DeviceOf(s) == nil
	if _, ok := m.fine.(*GRF); ok && rough {
		r.fine, err = roughened(ctx, m.fine, s, list.axes[0], rows)
	} else {
		r.fine, err = RootOf(ctx, m.fine, s, rows, opts)
	}
	if r.fine == nil || err != nil {
		r.Free()
		return nil, err
	}
	all, _ := list.axes[0].All()
	for k, scale := range m.scales {
		// A row of ΦΦᵀ adds up to about as much as it has entries in Φ, and each node stands for several rows.
		rough = rough && scale.grf.perRow()*float64(all) <= magnified*float64(len(list.all[k+1]))
		var one Root
		if in := list.at(k + 1); rough {
			one, err = roughened(ctx, scale.kernel, in, list.axes[k+1], list.nodes[k+1])
		} else {
			one, err = RootOf(ctx, scale.kernel, in, list.nodes[k+1], opts)
		}
		if one == nil || err != nil {
			r.Free()
			return nil, err
		}
		r.scales = append(r.scales, one)
	}
	return r, nil
}

// magnified is the most by which a scale that is computed in float32 may magnify rounding,
// as a multiple of its variance: 2⁻²⁴ of it is then 6e-5.
const magnified = 1 << 10

func (r *multiscaleRoot) Free() {
	r.list.free()
	if r.fine != nil {
		r.fine.Free()
	}
	for _, s := range r.scales {
		s.Free()
	}
	if r.onto != nil {
		r.onto.Free()
	}
}

func (r *multiscaleRoot) Set(ctx context.Context, theta []float64) error {
	cov, err := r.many.At(theta)
	if err != nil {
		return err
	}
	r.cov = cov.(*multiscaleCovariance)
	if err := r.fine.Set(ctx, theta[:r.many.own()]); err != nil {
		return err
	}
	for k, s := range r.scales {
		if err := s.Set(ctx, r.many.partTheta(theta, k)); err != nil {
			return err
		}
	}
	return nil
}

func (r *multiscaleRoot) Apply(ctx context.Context, dst, x space.Block, add bool) error {
	if err := r.fine.Apply(ctx, dst, x, add); err != nil {
		return err
	}
	down := r.list.down(x)
	defer freeAll(down)
	above, err := r.list.climbTo(1, x.Columns(), func(k int, y space.Block) error { return r.scales[k].Apply(ctx, y, down[k], false) })
	if err != nil {
		return err
	}
	defer above.Free()
	r.list.ups[0].Mul(dst, above, 0, 1, true)
	return cmp.Or(r.list.space.Err(), ctx.Err())
}

func freeAll(blocks []space.Block) {
	for _, b := range blocks {
		b.Free()
	}
}

// Slopes goes down the scales: on scale k, ũ = P_kᵀu and w̃ = P_kᵀw.
func (r *multiscaleRoot) Slopes(ctx context.Context, grad, weight []float64, u, w space.Block) error {
	if err := r.fine.Slopes(ctx, grad[:r.many.own()], weight, u, w); err != nil {
		return err
	}
	left, right := r.list.down(u), r.list.down(w)
	defer freeAll(left)
	defer freeAll(right)
	if err := r.many.addSlopes(grad, func(k int, own []float64) error {
		return r.scales[k].Slopes(ctx, own, weight, left[k], right[k])
	}); err != nil {
		return err
	}
	return cmp.Or(r.list.space.Err(), ctx.Err())
}

// AddDiag of scales is that of the covariance.
func (r *multiscaleRoot) AddDiag(ctx context.Context, dst []float64) error {
	return addDiag(ctx, r.cov, dst, r.list.nodes[0])
}

// Precondition inverts the sum of all scales of at most coarseMost nodes exactly, on the nodes of the finest of them, and
// approximates the rest by its diagonal.
func (r *multiscaleRoot) Precondition(ctx context.Context, constant float64, noise []float64) (solve.Factored, bool, error) {
	first := r.many.firstSmall()
	d, between := slices.Clone(noise), 0.0 // variance of the scales between, before interpolation
	for _, u := range r.cov.parts[:first] {
		between += u.variance
	}
	if err := r.fine.AddDiag(ctx, d); err != nil {
		return nil, false, err
	}
	if first == len(r.scales) {
		between += constant
	}
	floats.AddConst(between, d)
	if first == len(r.scales) {
		p, err := solve.NewJacobi(r.list.space, r.list.axes[0], d)
		return p, false, err
	}
	cells := r.list.all[first+1]
	a, err := r.many.ontoCells(r.list.nodes[0], first, cells)
	if err != nil {
		return nil, false, err
	}
	if r.onto == nil {
		r.onto, err = r.list.space.Sparse(ctx, r.list.axes[0], space.Rows(len(cells)), space.Of(a))
		if r.onto == nil || err != nil {
			return nil, false, err
		}
	}
	sum, err := r.cov.small(ctx, cells, first)
	if err != nil {
		return nil, false, err
	}
	if constant != 0 { // rows of A add up to one
		raw := sum.RawSymmetric()
		eachPlace(raw.N, func(i int) { floats.AddConst(constant, raw.Data[i*raw.Stride+i:][:raw.N-i]) })
	}
	p, err := solve.NewLowRankIn(r.list.space, r.list.axes[0], r.onto, len(cells), sum, d, func(inv []float64) (blas64.General, error) {
		return space.Gram(r.list.space, r.list.axes[0], a, inv)
	})
	return p, true, err
}

// ontoCells returns the interpolation to rows from scale k, with the given nodes of it as columns.
func (m *Multiscale) ontoCells(rows []int, k int, cells []int) (*sparse.CSR, error) {
	list := newChain(rows, m.scales[:k+1])
	whole, err := list.whole(k + 1)
	if err != nil || slices.Equal(list.nodes[k+1], cells) {
		return whole, err
	}
	return renumbered(whole, list.nodes[k+1], cells)
}

func (r *multiscaleRoot) Here(ctx context.Context, dst space.Block, of Values, w Weights, add bool) error {
	from, own := of.(*multiscaleValues), w.(*multiscaleWeights)
	if err := r.fine.Here(ctx, dst, from.fine, own.fine, add); err != nil {
		return err
	}
	above, err := r.list.climbTo(1, dst.Columns(), func(k int, y space.Block) error {
		return r.scales[k].Here(ctx, y, from.scales[k], own.scales[k], false)
	})
	if err != nil {
		return err
	}
	defer above.Free()
	r.list.ups[0].Mul(dst, above, 0, 1, true)
	return cmp.Or(r.list.space.Err(), ctx.Err())
}

// multiscaleValues are functions of all scales at some nodes.
type multiscaleValues struct {
	list   *ladder
	fine   Values
	scales []Values
}

// multiscaleWeights are weights on every scale, and the sum of the coarser functions at the nodes of the first of them.
type multiscaleWeights struct {
	fine   Weights
	scales []Weights
	above  space.Block // nil: not known
}

func (w *multiscaleWeights) Free() {
	w.fine.Free()
	for _, s := range w.scales {
		s.Free()
	}
	w.forget()
}

func (w *multiscaleWeights) forget() {
	if w.above != nil {
		w.above.Free()
		w.above = nil
	}
}

func (c *multiscaleCovariance) values(ctx context.Context, s space.Space, nodes []int) (Values, error) {
	list, err := c.ladder(ctx, s, nodes)
	if list == nil || err != nil {
		return nil, err
	}
	v := &multiscaleValues{list: list}
	if v.fine, err = ValuesOf(ctx, c.fine, s, nodes); v.fine == nil || err != nil {
		v.Free()
		return nil, err
	}
	for k, u := range c.parts {
		one, err := u.values(ctx, list.at(k+1), list.nodes[k+1])
		if one == nil || err != nil {
			v.Free()
			return nil, err
		}
		v.scales = append(v.scales, one)
	}
	return v, nil
}

func (v *multiscaleValues) Free() {
	v.list.free()
	if v.fine != nil {
		v.fine.Free()
	}
	for _, s := range v.scales {
		s.Free()
	}
}

func (v *multiscaleValues) Zero(columns int) Weights {
	w := &multiscaleWeights{fine: v.fine.Zero(columns)}
	for _, s := range v.scales {
		w.scales = append(w.scales, s.Zero(columns))
	}
	return w
}

func (v *multiscaleValues) Prior(ctx context.Context, columns, first int, seed uint64) (Weights, error) {
	fine, err := v.fine.Prior(ctx, columns, first, seed)
	if err != nil {
		return nil, err
	}
	w := &multiscaleWeights{fine: fine}
	for k, s := range v.scales {
		one, err := s.Prior(ctx, columns, first, drawSeed(seed, k))
		if err != nil {
			return nil, err
		}
		w.scales = append(w.scales, one)
	}
	return w, nil
}

func (v *multiscaleValues) Settle(ctx context.Context, w Weights, from Root, u space.Block) error {
	r, own := from.(*multiscaleRoot), w.(*multiscaleWeights)
	own.forget()
	if err := v.fine.Settle(ctx, own.fine, r.fine, u); err != nil {
		return err
	}
	down := r.list.down(u)
	defer freeAll(down)
	for k, s := range v.scales {
		if err := s.Settle(ctx, own.scales[k], r.scales[k], down[k]); err != nil {
			return err
		}
	}
	return nil
}

func (v *multiscaleValues) Mul(ctx context.Context, dst space.Block, w Weights, lo int, add bool) error {
	own := w.(*multiscaleWeights)
	if err := v.fine.Mul(ctx, dst, own.fine, lo, add); err != nil {
		return err
	}
	if own.above == nil {
		above, err := v.list.climbTo(1, dst.Columns(), func(k int, y space.Block) error {
			return v.scales[k].Mul(ctx, y, own.scales[k], 0, false)
		})
		if err != nil {
			return err
		}
		own.above = above
	}
	v.list.ups[0].Mul(dst, own.above, lo, 1, true)
	return cmp.Or(v.list.space.Err(), ctx.Err())
}

// drawSeed is the seed of draws of scale k of several.
func drawSeed(seed uint64, k int) uint64 {
	return uint64(rng.Derive(seed, fmt.Sprintf("scale %d", k+1)))
}
