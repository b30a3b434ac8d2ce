package kernel

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/solve"
	"grfgp/space"
)

// timeRoot is F = F_k ⊗ L at some places, with k the kernel on nodes and LLᵀ = ρ. Products take ρ itself: with the kernel
// on the distinct nodes, for all periods at once, and a recursion along time.
type timeRoot struct {
	of    *overTime
	space space.Space
	axis  space.Axis
	rows  []int
	list  *timeList
	nodes space.Axis // the distinct ones
	k     Root       // there
	cov   *timeCovariance
	mix   *mixer
}

func (k *overTime) root(ctx context.Context, s space.Space, rows []int, opts RootOptions) (Root, error) {
	if !space.IsHost(s) {
		return nil, nil
	}
	r := &timeRoot{of: k, space: s, axis: space.Rows(len(rows)), rows: slices.Clone(rows), list: k.list(rows)}
	r.nodes = space.Rows(len(r.list.nodes))
	var err error
	if r.k, err = RootOf(ctx, k.kernel, s, r.list.nodes, opts); r.k == nil || err != nil {
		return nil, err
	}
	return r, nil
}

func (r *timeRoot) Free() { r.k.Free() }

func (r *timeRoot) Set(ctx context.Context, theta []float64) error {
	c, err := r.of.At(theta)
	if err != nil {
		return err
	}
	r.cov = c.(*timeCovariance)
	r.mix = r.cov.mixer(r.list.periods, r.list.periods)
	return r.k.Set(ctx, theta[:r.of.own()])
}

// wide returns a block with columns for every period, to be freed.
func (r *timeRoot) wide(columns int) space.Block {
	return r.space.Block(r.nodes, columns*len(r.list.periods))
}

// strips calls do with strips of columns, which have room beside each other in all periods.
func (r *timeRoot) strips(columns int, do func(lo, hi int) error) error {
	width := max(1, timeBlock/max(1, len(r.list.nodes)*len(r.list.periods)))
	for lo := 0; lo < columns; lo += width {
		if err := do(lo, min(columns, lo+width)); err != nil {
			return err
		}
	}
	return nil
}

// timeBlock is the most numbers in a block of columns that share a product: 128 MiB.
const timeBlock = 1 << 24

// strip returns the columns [lo, hi) of x.
func strip(x *mat.Dense, lo, hi int) *mat.Dense {
	rows, _ := x.Dims()
	return x.Slice(0, rows, lo, hi).(*mat.Dense)
}

func (r *timeRoot) Apply(ctx context.Context, dst, x space.Block, add bool) error {
	return addTo(r.space, dst, add, func(to space.Block) error {
		if len(r.rows) == 0 {
			return ctx.Err()
		}
		out, in := space.DenseOf(to), space.DenseOf(x)
		return r.strips(x.Columns(), func(lo, hi int) error {
			z, y := r.wide(hi-lo), r.wide(hi-lo)
			defer z.Free()
			defer y.Free()
			r.list.scatter(space.DenseOf(y), strip(in, lo, hi))
			if err := r.mix.apply(ctx, space.DenseOf(z), space.DenseOf(y), hi-lo); err != nil {
				return err
			}
			if err := r.k.Apply(ctx, y, z, false); err != nil {
				return err
			}
			r.list.gather(strip(out, lo, hi), space.DenseOf(y))
			return nil
		})
	})
}

// Slopes uses, with U and W the vectors laid out by nodes and periods and K = k ⊗ ρ,
//
//	uᵀ(∂k ⊗ ρ)w = Σ_p U_pᵀ·∂k·(Wρ)_p,  uᵀ(k ⊗ ∂ρ)w = Σ_i U_i·∂ρ·(kW)_iᵀ.
func (r *timeRoot) Slopes(ctx context.Context, grad, weight []float64, u, w space.Block) error {
	if len(r.rows) == 0 {
		return ctx.Err()
	}
	left, right, periods := space.DenseOf(u), space.DenseOf(w), len(r.list.periods)
	slope, own := r.cov.slopes(r.list.periods), r.of.own()
	return r.strips(len(weight), func(lo, hi int) error {
		a, b, product := r.wide(hi-lo), r.wide(hi-lo), r.wide(hi-lo)
		defer freeAll([]space.Block{a, b, product})
		r.list.scatter(space.DenseOf(a), strip(left, lo, hi))
		r.list.scatter(space.DenseOf(b), strip(right, lo, hi))
		all := slices.Repeat(weight[lo:hi], periods)
		eachPlace(len(r.list.nodes), func(i int) {
			for q, v := range all {
				space.DenseOf(a).RawRowView(i)[q] *= v
			}
		})
		if !r.of.apart {
			if err := r.k.Apply(ctx, product, b, false); err != nil {
				return err
			}
			r.cov.addSlopes(grad[own:], slope, space.DenseOf(a), space.DenseOf(product), hi-lo)
		}
		if err := r.mix.apply(ctx, space.DenseOf(product), space.DenseOf(b), hi-lo); err != nil {
			return err
		}
		return r.k.Slopes(ctx, grad[:own], slices.Repeat([]float64{1}, len(all)), a, product)
	})
}

func (r *timeRoot) AddDiag(ctx context.Context, dst []float64) error {
	own := make([]float64, len(r.list.nodes))
	if err := r.k.AddDiag(ctx, own); err != nil {
		return err
	}
	for a, i := range r.list.node {
		dst[a] += own[i]
	}
	return nil
}

func (r *timeRoot) Precondition(ctx context.Context, constant float64, noise []float64) (solve.Factored, bool, error) {
	p, err := jacobi(ctx, r, r.space, r.axis, constant, noise)
	return p, false, err
}

func (r *timeRoot) Here(ctx context.Context, dst space.Block, of Values, w Weights, add bool) error {
	from, own := of.(*timeValues), w.(*timeWeights)
	return addTo(r.space, dst, add, func(to space.Block) error {
		return r.cov.join(r.list, to.Columns(), space.DenseOf(to), 0, func(k int, y space.Block) error {
			return r.k.Here(ctx, y, from.k, own.parts[k], false)
		})
	})
}

// join sets dst to functions at the places of a list from place lo on: of sets the functions on the distinct nodes that are
// the innovation of period k, and last the one that stays.
func (c *timeCovariance) join(l *timeList, columns int, dst *mat.Dense, lo int, of func(k int, y space.Block) error) error {
	n, periods := len(l.nodes), len(c.times)
	known := mat.NewDense(n*(periods+1), columns, nil)
	part := space.Host().Block(space.Rows(n), columns)
	defer part.Free()
	for p := range periods + 1 {
		if err := of(p, part); err != nil {
			return err
		}
		known.Slice(p*n, (p+1)*n, 0, columns).(*mat.Dense).Copy(space.DenseOf(part))
	}
	c.accumulate(known.Slice(0, n*periods, 0, columns).(*mat.Dense), known.Slice(n*periods, n*(periods+1), 0, columns).(*mat.Dense))
	rows, _ := dst.Dims()
	everyRow(rows, 256, func(a int) {
		copy(dst.RawRowView(a), known.RawRowView(l.periods[l.period[lo+a]]*n+l.node[lo+a]))
	})
	return nil
}

// timeValues are functions at some places: of the innovations of every period, and of what stays. They are joined by a matrix L
// with LLᵀ = ρ, so
//
//	g + K[·, x]u = (L ⊗ I)·(e + (I ⊗ k[·, x])(Lᵀ ⊗ I)u).
type timeValues struct {
	cov  *timeCovariance
	list *timeList
	k    Values // at the distinct nodes
}

// timeWeights are the weights of each period, and last of what stays.
type timeWeights struct {
	parts   []Weights
	columns int
	joined  *mat.Dense // at all places; nil: not known
}

func (w *timeWeights) Free() {
	for _, p := range w.parts {
		p.Free()
	}
}

func (c *timeCovariance) values(ctx context.Context, s space.Space, places []int) (Values, error) {
	if !space.IsHost(s) {
		return nil, nil
	}
	v := &timeValues{cov: c, list: c.list(places)}
	var err error
	v.k, err = ValuesOf(ctx, c.graph, s, v.list.nodes)
	return v, err
}

func (v *timeValues) Free() { v.k.Free() }

func (v *timeValues) Zero(columns int) Weights {
	w := &timeWeights{columns: columns}
	for range len(v.cov.times) + 1 {
		w.parts = append(w.parts, v.k.Zero(columns))
	}
	return w
}

func (v *timeValues) Prior(ctx context.Context, columns, first int, seed uint64) (Weights, error) {
	w := &timeWeights{columns: columns}
	for p := range len(v.cov.times) + 1 {
		own := seed
		if p < len(v.cov.times) {
			own = periodSeed(seed, p)
		}
		one, err := v.k.Prior(ctx, columns, first, own)
		if err != nil {
			return nil, err
		}
		w.parts = append(w.parts, one)
	}
	return w, nil
}

func (v *timeValues) Settle(ctx context.Context, w Weights, from Root, u space.Block) error {
	r, own := from.(*timeRoot), w.(*timeWeights)
	own.joined = nil
	if len(r.rows) == 0 {
		return ctx.Err()
	}
	n, columns := len(r.list.nodes), u.Columns()
	back := v.cov.transposed(r.list, space.DenseOf(u))
	part := r.space.Block(r.nodes, columns)
	defer part.Free()
	for p, weights := range own.parts {
		everyRow(n, 256, func(i int) { copy(space.DenseOf(part).RawRowView(i), back.RawRowView(i)[p*columns:][:columns]) })
		if err := v.k.Settle(ctx, weights, r.k, part); err != nil {
			return err
		}
	}
	return nil
}

// transposed returns (Lᵀ ⊗ I)·u by nodes: the columns of each period, and last those of
// what stays.
func (c *timeCovariance) transposed(l *timeList, u *mat.Dense) *mat.Dense {
	periods := len(c.times)
	_, columns := u.Dims()
	back := mat.NewDense(len(l.nodes), (periods+1)*columns, nil)
	stays, changes := math.Sqrt(c.stays), math.Sqrt(c.changes)
	everyRow(len(l.nodes), 256, func(i int) {
		row := back.RawRowView(i)
		still := row[periods*columns:]
		for _, a := range l.rows[l.first[i]:l.first[i+1]] {
			to := row[l.periods[l.period[a]]*columns:][:columns]
			for s, w := range u.RawRowView(a) {
				still[s] += stays * w
				to[s] += changes * w
			}
		}
		for p := periods - 1; p > 0; p-- { // from the derivative by h_p to those by h_(p−1) and e_p
			before, new := c.innovation(p)
			here, there := row[p*columns:][:columns], row[(p-1)*columns:]
			for s, w := range here {
				there[s] += before * w
				here[s] = new * w
			}
		}
	})
	return back
}

func (v *timeValues) Mul(ctx context.Context, dst space.Block, w Weights, lo int, add bool) error {
	own := w.(*timeWeights)
	if own.joined == nil && len(v.list.node) > 0 {
		own.joined = mat.NewDense(len(v.list.node), own.columns, nil)
		if err := v.cov.join(v.list, own.columns, own.joined, 0, func(k int, y space.Block) error {
			return v.k.Mul(ctx, y, own.parts[k], 0, false)
		}); err != nil {
			return err
		}
	}
	return addTo(space.Host(), dst, add, func(to space.Block) error {
		if n := to.Axis().Own; n > 0 {
			space.DenseOf(to).Copy(own.joined.Slice(lo, lo+n, 0, own.columns))
		}
		return ctx.Err()
	})
}
