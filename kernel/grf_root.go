package kernel

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"grfgp/solve"
	"grfgp/space"
	"grfgp/sparse"
)

// grfRoot is F = Φ of some rows; of unit variance F = s·Φ̂, with rows of norm one.
type grfRoot struct {
	features *GRF
	space    space.Space
	axis     space.Axis
	phi      space.Features
	columns  space.Axis
	nodes    []uint32       // of the columns; nil: all
	unit     *unitVariance  // scales them; nil: they are as they are
	cov      *grfCovariance // at the hyperparameters of set
	variance float64        // s²; 1 if the rows are as they are
}

func (k *GRF) root(ctx context.Context, s space.Space, rows []int, _ RootOptions) (Root, error) {
	return k.newRoot(ctx, s, rows, nil)
}

func (k *GRF) newRoot(ctx context.Context, s space.Space, rows []int, unit *unitVariance) (Root, error) {
	p, err := k.pattern(ctx, rows)
	if err != nil {
		return nil, err
	}
	r := &grfRoot{features: k, space: s, unit: unit, variance: 1}
	if r.axis, err = s.Axis(ctx, len(rows)); err != nil {
		return nil, err
	}
	if r.phi, err = s.Features(ctx, r.axis, p, unit != nil); r.phi == nil || err != nil {
		return nil, err
	}
	r.columns, r.nodes = r.phi.Weights()
	return r, nil
}

func (r *grfRoot) Free() { r.phi.Free() }

func (r *grfRoot) Set(ctx context.Context, theta []float64) error {
	if r.unit != nil {
		if err := checkTheta(theta, r.unit.params); err != nil {
			return err
		}
		r.variance, theta = theta[0], r.unit.below(theta)
	}
	cov, err := r.features.At(theta)
	if err != nil {
		return err
	}
	r.cov = cov.(*grfCovariance)
	if err := r.phi.Set(ctx, r.cov.coeff); err != nil {
		return fmt.Errorf("%w: at %v: %w", ErrTheta, theta, err)
	}
	return nil
}

func (r *grfRoot) Apply(_ context.Context, dst, x space.Block, add bool) error {
	mid := r.space.Block(r.columns, x.Columns())
	defer mid.Free()
	r.phi.MulT(mid, x, r.variance, false)
	r.phi.Mul(dst, mid, 0, 1, add)
	return r.space.Err()
}

func (r *grfRoot) Slopes(_ context.Context, grad, weight []float64, u, w space.Block) error {
	slope := make([]float64, len(r.cov.coeff))
	twice := r.phi.Slopes(slope, weight, u, w)
	if r.unit == nil {
		r.cov.chain(grad, slope)
		return r.space.Err()
	}
	grad[0] += twice / 2
	full, shape := make([]float64, len(r.cov.theta)), grad[1:]
	r.cov.chain(full, slope)
	for j, g := range full[len(full)-len(shape):] { // without the variance, if there is one
		shape[j] += g * r.variance
	}
	return r.space.Err()
}

func (r *grfRoot) AddDiag(_ context.Context, dst []float64) error {
	squares := make([]float64, len(dst))
	r.phi.Squares().Get(squares)
	eachPlace(len(dst), func(a int) {
		switch v := squares[a]; {
		case r.unit == nil:
			dst[a] += v
		case v > 0:
			dst[a] += r.variance
		}
	})
	return r.space.Err()
}

func (r *grfRoot) Precondition(ctx context.Context, constant float64, noise []float64) (solve.Factored, bool, error) {
	p, err := jacobi(ctx, r, r.space, r.axis, constant, noise)
	return p, false, err
}

func (r *grfRoot) Here(_ context.Context, dst space.Block, of Values, w Weights, add bool) error {
	from, own := of.(*grfValues), w.(*grfWeights)
	sd := math.Sqrt(r.variance)
	if r.nodes == nil && from.nodes == nil {
		r.phi.Mul(dst, own.Block, 0, sd, add)
		return r.space.Err()
	}
	mid := r.space.Block(r.columns, own.Columns())
	defer mid.Free()
	switch {
	case from.nodes == nil:
		places := r.space.Places(r.nodes)
		defer places.Free()
		mid.Gather(own.Block, places)
	case own.drawn == nil: // a weight that the values do not have is zero
		mid.Zero()
		s := from.sharedWith(r)
		some := r.space.Block(space.Rows(s.count), own.Columns())
		defer some.Free()
		some.Gather(own.Block, s.to)
		if s.from == nil {
			mid.AddScaled(some, nil, 1)
		} else {
			mid.Scatter(some, s.from)
		}
	default: // others than those of the values are needed
		own.drawn(mid, r.nodes)
	}
	r.phi.Mul(dst, mid, 0, sd, add)
	return r.space.Err()
}

// grfValues are functions F·w at some nodes: weights have a row for each column of Φ there.
type grfValues struct {
	cov      *grfCovariance
	space    space.Space
	phi      space.Matrix
	columns  space.Axis
	nodes    []uint32  // of the columns; nil: all nodes
	inverse  []float64 // 1/N_i of the rows; nil: they are as they are
	variance float64
	shared   map[*grfRoot]sharedColumns
}

// sharedColumns are the columns that a root and values have in common: their places in either. A nil from is all of the root.
type sharedColumns struct {
	from, to space.Places
	count    int
}

// grfWeights are weights, and how others of the same draws are made; nil for those that are not draws.
type grfWeights struct {
	space.Block
	drawn func(b space.Block, nodes []uint32)
}

func (c *grfCovariance) values(ctx context.Context, s space.Space, nodes []int) (Values, error) {
	return c.newValues(ctx, s, nodes, false, 1)
}

// newValues returns functions at nodes; with unit, rows are scaled to norm one. Features of a large graph are float32 there,
// whether those of all nodes are at hand or not: what was computed before must not show.
func (c *grfCovariance) newValues(ctx context.Context, s space.Space, nodes []int, unit bool, variance float64) (Values, error) {
	v := &grfValues{cov: c, space: s, variance: variance, shared: map[*grfRoot]sharedColumns{}}
	rows, err := s.Axis(ctx, len(nodes))
	if err != nil {
		return nil, err
	}
	v.columns = space.Rows(c.Nodes())
	var squares []float64
	switch {
	case rows.Shared():
		squares, err = v.share(ctx, rows, nodes)
	case c.large:
		squares, err = v.compact(ctx, rows, nodes)
	default:
		squares, err = v.plain(ctx, rows, nodes)
	}
	if v.phi == nil || err != nil {
		return nil, err
	}
	if unit {
		invertNorms(squares)
		v.inverse = squares
	}
	return v, nil
}

// plain sets Φ of a small graph. It returns the squared norms of its rows.
func (v *grfValues) plain(ctx context.Context, rows space.Axis, nodes []int) (squares []float64, err error) {
	f := v.cov.factor(nodes)
	if f.err != nil {
		return nil, f.err
	}
	entries := space.Of(f.phi)
	if f.nodes != nil && space.DeviceOf(v.space) != nil { // random numbers of all nodes are made on the card
		ptr, col, val := f.phi.Raw()
		entries = space.Entries{Ptr: ptr, Col: make([]uint32, len(col)), Val: val}
		for q, a := range col {
			entries.Col[q] = f.nodes[a]
		}
	} else if f.nodes != nil {
		v.columns, v.nodes = space.Rows(f.width), f.nodes
	}
	v.phi, err = v.space.Sparse(ctx, rows, v.columns, entries)
	return f.squares(), err
}

// compact sets Φ of a large graph.
func (v *grfValues) compact(ctx context.Context, rows space.Axis, nodes []int) (squares []float64, err error) {
	c := v.cov
	var phi *sparse.Compact
	if c.isAll(nodes) {
		phi, err = c.compact(ctx)
	} else if phi, err = c.features.CompactRows(ctx, c.coeff, nodes); err == nil && space.IsHost(v.space) {
		v.nodes = phi.DropEmptyColumns()
		v.columns = space.Rows(len(v.nodes))
	}
	if err != nil {
		return nil, c.failed(ctx, err)
	}
	squares = make([]float64, len(nodes))
	phi.Squares(squares)
	v.phi = v.space.Compact(rows, v.columns, phi)
	return squares, nil
}

// share sets Φ of the nodes of this process, with the columns that all of them share.
func (v *grfValues) share(ctx context.Context, rows space.Axis, nodes []int) (squares []float64, err error) {
	c := v.cov
	list, err := c.features.List(ctx, nodes)
	if err != nil {
		return nil, c.failed(ctx, err)
	}
	e := space.Entries{Ptr: make([]int, len(nodes)+1)}
	for a := range nodes {
		e.Ptr[a+1] = e.Ptr[a] + len(list.Reached(a))
	}
	e.Col, e.Val, squares = make([]uint32, e.Ptr[len(nodes)]), make([]float64, e.Ptr[len(nodes)]), make([]float64, len(nodes))
	eachPlace(len(nodes), func(a int) {
		copy(e.Col[e.Ptr[a]:], list.Reached(a))
		row := e.Val[e.Ptr[a]:e.Ptr[a+1]]
		list.CombineRow(row, c.coeff, a)
		for q, x := range row {
			if c.large {
				row[q] = float64(float32(x))
			}
			squares[a] += float64(row[q] * row[q])
		}
	})
	v.columns = space.EvenAxis(v.space, c.Nodes())
	v.phi, err = v.space.Sparse(ctx, rows, v.columns, e)
	return squares, err
}

func (v *grfValues) Free() {
	v.phi.Free()
	v.forget()
}

func (v *grfValues) Zero(columns int) Weights {
	w := v.space.Block(v.columns, columns)
	w.Zero()
	return &grfWeights{Block: w}
}

func (v *grfValues) Prior(ctx context.Context, columns, first int, seed uint64) (Weights, error) {
	drawn := func(b space.Block, nodes []uint32) { b.Normals(seed, "prior", first, nodes) }
	w := &grfWeights{v.space.Block(v.columns, columns), drawn}
	drawn(w.Block, v.nodes)
	return w, ctx.Err()
}

func (v *grfValues) Settle(ctx context.Context, w Weights, from Root, u space.Block) error {
	r, own := from.(*grfRoot), w.(*grfWeights)
	sd := math.Sqrt(v.variance)
	if r.nodes == nil && v.nodes == nil {
		r.phi.MulT(own.Block, u, sd, true)
		return v.space.Err()
	}
	mid := v.space.Block(r.columns, u.Columns())
	defer mid.Free()
	r.phi.MulT(mid, u, sd, false)
	s := v.sharedWith(r)
	if s.from == nil {
		own.Scatter(mid, s.to)
		return v.space.Err()
	}
	some := v.space.Block(space.Rows(s.count), u.Columns())
	defer some.Free()
	some.Gather(mid, s.from)
	own.Scatter(some, s.to)
	return cmp.Or(v.space.Err(), ctx.Err())
}

// sharedWith returns the columns in common with a root, of which one or both have some of all nodes.
func (v *grfValues) sharedWith(r *grfRoot) sharedColumns {
	if s, ok := v.shared[r]; ok {
		return s
	}
	s := sharedColumns{}
	switch {
	case v.nodes == nil:
		s = sharedColumns{to: v.space.Places(r.nodes), count: len(r.nodes)}
	case r.nodes == nil:
		s = sharedColumns{v.space.Places(v.nodes), v.space.Places(places32(len(v.nodes))), len(v.nodes)}
	default:
		labels, giveBack := v.cov.labels.Borrow(v.cov.Nodes())
		for j, node := range v.nodes {
			labels[node] = uint32(j + 1)
		}
		var from, to []uint32
		for a, node := range r.nodes {
			if j := labels[node]; j != 0 {
				from, to = append(from, uint32(a)), append(to, j-1)
			}
		}
		for _, node := range v.nodes {
			labels[node] = 0
		}
		giveBack()
		s = sharedColumns{v.space.Places(from), v.space.Places(to), len(from)}
	}
	if len(v.shared) == sharedMost {
		v.forget()
	}
	v.shared[r] = s
	return s
}

// sharedMost is how many roots values keep columns in common with: those of a search come and go.
const sharedMost = 4

// forget gives back what is known of columns in common.
func (v *grfValues) forget() {
	for _, s := range v.shared {
		if s.from != nil {
			s.from.Free()
		}
		s.to.Free()
	}
	clear(v.shared)
}

func places32(n int) []uint32 {
	all := make([]uint32, n)
	for a := range all {
		all[a] = uint32(a)
	}
	return all
}

func (v *grfValues) Mul(_ context.Context, dst space.Block, w Weights, lo int, add bool) error {
	own := w.(*grfWeights)
	if v.inverse == nil {
		v.phi.Mul(dst, own.Block, lo, math.Sqrt(v.variance), add)
		return v.space.Err()
	}
	return addTo(v.space, dst, add, func(to space.Block) error {
		v.phi.Mul(to, own.Block, lo, 1, false)
		inverse := v.space.Block(to.Axis(), 1)
		defer inverse.Free()
		inverse.Set(v.inverse[lo : lo+to.Axis().Own])
		to.Scale(to, inverse, math.Sqrt(v.variance))
		return v.space.Err()
	})
}
