package kernel

import (
	"context"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/kernel/internal/recent"
	"grfgp/solve"
	"grfgp/sparse"
)

// multiscaleCovariance is a Multiscale at one theta.
type multiscaleCovariance struct {
	*Multiscale
	fine    Covariance
	parts   []unit    // of the scales
	lengths []float64 // of the scales, if their family has one
	ontos   recent.Cache[[]onto]
	kept    keptCells           // for predictions
	spreads []*spreadCovariance // of the scales that ranks share, the first ones
	norms   []knownNorms        // of these
}

// Abilities are those of the fine kernel, a preconditioner by the coarse scales,
// and their features.
func (c *multiscaleCovariance) Abilities() Abilities {
	fine := AbilitiesOf(c.fine)
	a := Abilities{DiagFlops: c.diagFlops, LongRange: true, Fine: fine.Fine, Mixed: c.mixed, Ranks: fine.Ranks}
	if fine.Draw != nil {
		a.Draw = c.draw
	}
	if c.firstSmall() < len(c.scales) {
		a.Precondition = c.precondition
	}
	for _, u := range c.parts {
		a.Coarse = append(a.Coarse, Sampling{u.raw.features, u.raw.coeff})
	}
	return a
}

// onto is P_k·Φ̂_k for a list of nodes, and Φ_k.
type onto struct {
	phi *sparse.CSR
	raw *factor
	err error
}

// onto returns the features of all scales at the given nodes; Gram and its
// gradient share them.
func (c *multiscaleCovariance) onto(rows []int) []onto {
	return c.ontos.Get(rows, func(rows []int) []onto {
		list := c.ownChain(rows)
		all := make([]onto, len(c.parts))
		parallel.Tasks(len(all), func(k int) {
			if all[k].phi, all[k].raw, all[k].err = c.parts[k].onto(list, k); all[k].err == nil {
				all[k].phi.T() // which is needed, and kept
			}
		})
		return all
	})
}

// Cross returns K[rows, cols].
func (c *multiscaleCovariance) Cross(rows, cols []int) solve.Operator {
	o := &multiscaleCross{cov: c, fine: c.fine.Cross(rows, cols), rows: c.chain(rows), cols: c.chain(cols)}
	for k := range c.parts {
		o.parts = append(o.parts, c.crossOf(k, o.rows, o.cols))
	}
	return o
}

// multiscaleCross is K[rows, cols].
type multiscaleCross struct {
	cov        *multiscaleCovariance
	fine       solve.Operator
	rows, cols *chain
	parts      []unitCross
}

// Dims returns the lengths of the two lists.
func (o *multiscaleCross) Dims() (r, c int) { return o.fine.Dims() }

// Apply sets dst = K[rows, cols]·x.
func (o *multiscaleCross) Apply(ctx context.Context, dst, x *mat.Dense) error {
	if r, c := o.Dims(); o.cov.over == nil && (r == 0 || c == 0) {
		return o.fine.Apply(ctx, dst, x)
	}
	if _, columns := dst.Dims(); columns <= stripColumns {
		return o.strip(ctx, dst, x)
	}
	return strips(dst, func(lo int, dst *mat.Dense) error {
		return o.strip(ctx, dst, columnsOf(x, lo, dst))
	})
}

// strip goes down the scales by transposed prolongations, across each by its
// features, and up again.
func (o *multiscaleCross) strip(ctx context.Context, dst, x *mat.Dense) error {
	if err := o.fine.Apply(ctx, dst, x); err != nil {
		return err
	}
	_, columns := x.Dims()
	down := make([]*mat.Dense, len(o.parts))
	below := x
	for k := range o.cols.up {
		grf := o.cov.scales[k].grf
		down[k] = grf.block(len(o.cols.nodes[k+1]), columns)
		defer grf.blocks.Put(down[k])
		if err := o.cols.descend(ctx, k, down[k], below); err != nil {
			return err
		}
		below = down[k]
	}
	return o.cov.climb(ctx, o.rows, dst, func(k int, y *mat.Dense) error { return o.parts[k].apply(ctx, y, down[k]) })
}

// climb calls f to set f_k on the nodes of a chain, from the coarsest scale to the
// finest, and adds Σ P_k f_k to dst. f must set all of y.
func (m *Multiscale) climb(ctx context.Context, c *chain, dst *mat.Dense, f func(k int, y *mat.Dense) error) error {
	_, columns := dst.Dims()
	above, err := m.ascend(ctx, c, columns, f)
	if err != nil {
		return err
	}
	defer m.scales[0].grf.blocks.Put(above)
	return c.rise(ctx, 0, dst, above)
}

// ascend is climb up to the nodes of the first coarser scale. The result is a block of
// its GRF.
func (m *Multiscale) ascend(ctx context.Context, c *chain, columns int, f func(k int, y *mat.Dense) error) (*mat.Dense, error) {
	return m.ascendTo(ctx, c, 0, columns, f)
}

// ascendTo is ascend up to the nodes of the given scale.
func (m *Multiscale) ascendTo(ctx context.Context, c *chain, to, columns int, f func(k int, y *mat.Dense) error) (*mat.Dense, error) {
	var above *mat.Dense
	for k := len(m.scales) - 1; k >= to; k-- {
		grf := m.scales[k].grf
		y := grf.block(len(c.nodes[k+1]), columns)
		if err := f(k, y); err != nil {
			return nil, err
		}
		if above != nil {
			if err := c.rise(ctx, k+1, y, above); err != nil {
				return nil, err
			}
			m.scales[k+1].grf.blocks.Put(above)
		}
		above = y
	}
	return above, ctx.Err()
}

// addUp adds the interpolation from the first coarser scale to dst, which has the rows
// of the chain from lo on.
func (m *Multiscale) addUp(c *chain, dst, above *mat.Dense, lo int) {
	c.up[0].MulAdd(dst, above, lo)
}

// Gram sets dst = K[rows, rows].
func (c *multiscaleCovariance) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	if err := c.fine.Gram(ctx, dst, rows); err != nil {
		return err
	}
	if all, ok, err := c.stencils(ctx, rows, false); ok || err != nil {
		for k, s := range all {
			s.add(dst.RawSymmetric(), c.parts[k].variance)
		}
		return err
	}
	for k, o := range c.onto(rows) {
		if o.err != nil {
			return o.err
		}
		if err := addSquare(ctx, dst, o.phi, c.parts[k].variance); err != nil {
			return err
		}
	}
	return nil
}

// stencils returns how to interpolate the scales at the rows; ok is false where that is not possible.
func (c *multiscaleCovariance) stencils(ctx context.Context, rows []int, slope bool) (all []stencil, ok bool, err error) {
	if c.tables == nil {
		return nil, false, nil
	}
	all = make([]stencil, len(c.tables))
	oks, errs := make([]bool, len(all)), make([]error, len(all))
	parallel.Tasks(len(all), func(k int) {
		all[k], oks[k], errs[k] = c.tables[k].stencil(ctx, rows, c.lengths[k], slope)
	})
	for k, ok := range oks {
		if !ok || errs[k] != nil {
			return nil, false, errs[k]
		}
	}
	return all, true, nil
}

// addGram adds Σ_k P_k C_k P_kᵀ over the scales above the list of a chain.
func (c *multiscaleCovariance) addGram(ctx context.Context, dst *mat.SymDense, list *chain, parts []unit) error {
	phi, errs := make([]*sparse.CSR, len(parts)), make([]error, len(parts))
	parallel.Tasks(len(parts), func(k int) {
		if phi[k], _, errs[k] = parts[k].onto(list, k); errs[k] == nil {
			phi[k].T() // which is needed, and kept
		}
	})
	for k, u := range parts {
		if errs[k] != nil {
			return errs[k]
		}
		if err := addSquare(ctx, dst, phi[k], u.variance); err != nil {
			return err
		}
	}
	return nil
}

// onto returns P_k·Φ̂_k for the list of a chain, where scale k counts from zero
// above it, and Φ_k.
func (u unit) onto(list *chain, k int) (*sparse.CSR, *factor, error) {
	whole, err := list.whole(k + 1)
	if err != nil {
		return nil, nil, err
	}
	nodes := list.nodes[k+1]
	f := u.raw.factor(nodes)
	phi, err := u.spread(whole, f, u.inverses(nodes))
	return phi, f, err
}

// Diag sets dst[a] = K[rows[a], rows[a]].
func (c *multiscaleCovariance) Diag(ctx context.Context, dst []float64, rows []int) error {
	if err := c.fine.Diag(ctx, dst, rows); err != nil {
		return err
	}
	return c.addDiag(ctx, dst, rows)
}

// addDiag adds the variances of the scales to dst.
func (c *multiscaleCovariance) addDiag(ctx context.Context, dst []float64, rows []int) error {
	const size = 4096 // nodes whose features fit into memory
	for lo := 0; lo < len(rows); lo += size {
		hi := min(len(rows), lo+size)
		list := newChain(rows[lo:hi], c.scales)
		for k, u := range c.parts {
			if err := u.addOntoSquares(dst[lo:hi], list, k); err != nil {
				return err
			}
		}
	}
	return nil
}

// diagFlops adds the products of features and prolongations to the cost of the
// fine kernel.
func (c *multiscaleCovariance) diagFlops(rows int) float64 {
	flops := DiagFlops(c.fine, rows)
	const parents, overhead = 8, 10
	for _, u := range c.parts {
		flops += overhead * parents * float64(rows) * u.raw.entries()
	}
	return flops
}

// coarseMost is the largest number of nodes of a scale that the preconditioner
// inverts exactly, again for every θ.
const coarseMost = 1200

// firstSmall returns the first scale of at most coarseMost nodes.
func (m *Multiscale) firstSmall() int {
	first := 0
	for first < len(m.scales) && m.scales[first].grf.Nodes() > coarseMost {
		first++
	}
	return first
}

// precondition inverts the sum of all scales of at most coarseMost nodes exactly,
// on the nodes of the finest of them, and approximates the rest by its diagonal.
func (c *multiscaleCovariance) precondition(ctx context.Context, rows []int, constant float64, noise []float64) (solve.Factored, error) {
	if len(rows) == 0 {
		return solve.NewJacobi(nil, nil)
	}
	d := make([]float64, len(rows))
	if err := c.fine.Diag(ctx, d, rows); err != nil {
		return nil, err
	}
	return c.preconditionBeside(ctx, rows, d, constant, noise)
}

// preconditionBeside is precondition with the variances of the fine kernel, which it
// overwrites.
func (c *multiscaleCovariance) preconditionBeside(ctx context.Context, rows []int, d []float64, constant float64,
	noise []float64) (solve.Factored, error) {
	first := c.firstSmall()
	between := 0.0 // variance of the scales between, before interpolation
	for _, u := range c.parts[:first] {
		between += u.variance
	}
	eachPlace(len(d), func(a int) { d[a] += between + noise[a] })
	list := c.chain(rows)
	a, err := c.ontoCells(list, first+1)
	if err != nil {
		return nil, err
	}
	sum, err := c.small(ctx, list, first)
	if err != nil {
		return nil, err
	}
	if constant != 0 { // rows of A add up to one
		raw := sum.RawSymmetric()
		eachPlace(raw.N, func(i int) { floats.AddConst(constant, raw.Data[i*raw.Stride+i:][:raw.N-i]) })
	}
	return solve.NewCoarseOver(ctx, list.system(), a, sum, d)
}

// small returns the sum of all scales from the given one on, on its nodes.
func (c *multiscaleCovariance) small(ctx context.Context, list *chain, first int) (*mat.SymDense, error) {
	nodes := list.nodes[first+1]
	u := c.parts[first]
	phi, err := u.spread(nil, u.raw.factor(nodes), u.inverses(nodes))
	if err != nil {
		return nil, err
	}
	sum := mat.NewSymDense(len(nodes), nil)
	if err := addSquare(ctx, sum, phi, u.variance); err != nil {
		return nil, err
	}
	return sum, c.addGram(ctx, sum, list.above(first+1, c.scales), c.parts[first+1:])
}
