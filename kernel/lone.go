package kernel

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel/internal/normal"
	"grfgp/solve"
)

// Lone returns a kernel on a graph in which the given nodes have no neighbours. K is zero
// between such a node and all others, and its variance there is the spread of values over
// the other nodes, as a draw from the prior has it on average:
//
//	v = E[mean over j of (f_j − f̄)²] = tr(K)/m − 1ᵀK1/m²,  over m of the other nodes.
//
// So a lone node is to other nodes as these are to each other. Under K itself it has the
// eigenvalue of constant functions, which is many times that: a level that all connected
// nodes share, and that the unknown mean takes up. With one scale it is the usual rule for
// islands in models of areas (Freni-Sterrantino, Ventrucci and Rue, 2018). Between the other
// nodes K is unchanged, to the bit.
func Lone(k Kernel, nodes []int) Kernel {
	if len(nodes) == 0 {
		return k
	}
	l := &lone{kernel: k, is: make([]bool, k.Nodes())}
	others := len(l.is)
	for _, i := range nodes {
		if !l.is[i] {
			others--
		}
		l.is[i] = true
	}
	step, rank := max(1, (others+loneSample-1)/loneSample), 0
	for i, alone := range l.is {
		if alone {
			continue
		}
		if rank%step == 0 {
			l.sample = append(l.sample, i)
		}
		rank++
	}
	if len(l.sample) < 2 {
		return k
	}
	return l
}

// loneSample is the most nodes whose spread is taken for that of all.
const loneSample = 256

// lone is a kernel with lone nodes.
type lone struct {
	kernel Kernel
	is     []bool // by node
	sample []int  // of the other nodes
}

func (l *lone) Nodes() int      { return l.kernel.Nodes() }
func (l *lone) Params() []Param { return l.kernel.Params() }

// At returns the covariance at theta.
func (l *lone) At(theta []float64) (Covariance, error) {
	cov, err := l.kernel.At(theta)
	if err != nil {
		return nil, err
	}
	return &loneCovariance{l, cov, &loneVariance{of: cov, sample: l.sample, params: len(theta)}}, nil
}

// free reports whether no row is a lone node.
func (l *lone) free(rows []int) bool {
	return !slices.ContainsFunc(rows, func(i int) bool { return l.is[i] })
}

// Training is that of the kernel; what it has for rows alone it has where none of them is
// a lone node.
func (l *lone) Training() Training {
	own := TrainingOf(l.kernel)
	t := Training{Starts: own.Starts, CacheBytes: own.CacheBytes, Patches: own.Patches}
	if own.Cache != nil {
		t.Cache = func(rows []int, maxBytes int) Kernel {
			return &lone{own.Cache(rows, maxBytes), l.is, l.sample}
		}
	}
	if own.Single != nil {
		t.Single = func(rows []int, constant float64) SingleRows {
			if !l.free(rows) {
				return nil
			}
			return own.Single(rows, constant)
		}
	}
	if own.Mixed != nil {
		t.Mixed = func(rows []int, constant float64) MixedRows {
			if !l.free(rows) {
				return nil
			}
			return own.Mixed(rows, constant)
		}
	}
	return t
}

// loneCovariance is a lone kernel at one theta: M·K·M + v·P, where P are the lone nodes and
// M = I − P.
type loneCovariance struct {
	*lone
	raw      Covariance
	variance *loneVariance
}

// at returns the places of lone nodes in a list.
func (l *lone) at(rows []int) (places []int) {
	for a, i := range rows {
		if l.is[i] {
			places = append(places, a)
		}
	}
	return places
}

func (c *loneCovariance) Cross(rows, cols []int) solve.Operator {
	raw, left, right := c.raw.Cross(rows, cols), c.at(rows), c.at(cols)
	if len(left) == 0 && len(right) == 0 {
		return raw
	}
	return &loneCross{raw, c.variance, rows, cols, left, right}
}

// loneCross is the covariance between two lists, of which some places are lone nodes.
type loneCross struct {
	raw         solve.Operator
	variance    *loneVariance
	rows, cols  []int
	left, right []int // places of lone nodes
}

func (o *loneCross) Dims() (r, c int) { return o.raw.Dims() }

func (o *loneCross) Apply(ctx context.Context, dst, x *mat.Dense) error {
	masked := x
	if len(o.right) > 0 {
		masked = mat.DenseCopyOf(x)
		zeroRows(masked, o.right)
	}
	if err := o.raw.Apply(ctx, dst, masked); err != nil {
		return err
	}
	zeroRows(dst, o.left)
	return addLone(ctx, dst, x, o.variance, o.rows, o.left, o.cols, o.right)
}

// zeroRows sets rows of x to zero.
func zeroRows(x *mat.Dense, rows []int) {
	for _, a := range rows {
		clear(x.RawRowView(a))
	}
}

// addLone adds v·x_b to row a of dst where both are the same lone node.
func addLone(ctx context.Context, dst, x *mat.Dense, variance *loneVariance, rows, left, cols, right []int) error {
	if len(left) == 0 || len(right) == 0 {
		return nil
	}
	v, err := variance.get(ctx)
	if err != nil {
		return err
	}
	of := map[int][]int{} // node → its places in cols
	for _, b := range right {
		of[cols[b]] = append(of[cols[b]], b)
	}
	for _, a := range left {
		to := dst.RawRowView(a)
		for _, b := range of[rows[a]] {
			for s, u := range x.RawRowView(b) {
				to[s] += v * u
			}
		}
	}
	return nil
}

func (c *loneCovariance) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	if err := c.raw.Gram(ctx, dst, rows); err != nil {
		return err
	}
	places := c.at(rows)
	if len(places) == 0 {
		return nil
	}
	v, err := c.variance.get(ctx)
	if err != nil {
		return err
	}
	for _, a := range places {
		for b, j := range rows {
			entry := 0.0
			if j == rows[a] {
				entry = v
			}
			dst.SetSym(a, b, entry)
		}
	}
	return nil
}

func (c *loneCovariance) Diag(ctx context.Context, dst []float64, rows []int) error {
	if err := c.raw.Diag(ctx, dst, rows); err != nil {
		return err
	}
	return c.fixDiag(ctx, dst, c.at(rows))
}

func (c *loneCovariance) fixDiag(ctx context.Context, dst []float64, places []int) error {
	if len(places) == 0 {
		return nil
	}
	v, err := c.variance.get(ctx)
	if err != nil {
		return err
	}
	for _, a := range places {
		dst[a] = v
	}
	return nil
}

func (c *loneCovariance) Prior(ctx context.Context, dst *mat.Dense, seed uint64) error {
	if err := c.raw.Prior(ctx, dst, seed); err != nil {
		return err
	}
	_, draws := dst.Dims()
	nodes, own, err := c.drawn(ctx, draws, seed)
	if err != nil {
		return err
	}
	for k, i := range nodes {
		copy(dst.RawRowView(i), own.RawRowView(k))
	}
	return nil
}

// randomStreams implements streamed.
func (c *loneCovariance) randomStreams() []string { return append(streamsOf(c.raw), loneStream) }

const loneStream = "lone nodes"

// drawn returns the lone nodes and draws of them from the prior.
func (c *loneCovariance) drawn(ctx context.Context, draws int, seed uint64) (nodes []int, own *mat.Dense, err error) {
	if draws == 0 {
		return nil, nil, nil
	}
	for i, alone := range c.is {
		if alone {
			nodes = append(nodes, i)
		}
	}
	v, err := c.variance.get(ctx)
	if err != nil {
		return nil, nil, err
	}
	own = mat.NewDense(len(nodes), draws, nil)
	if err := normal.Fill(ctx, own, seed, loneStream, 0); err != nil {
		return nil, nil, err
	}
	own.Scale(math.Sqrt(v), own)
	return nodes, own, nil
}

func (c *loneCovariance) Grad(ctx context.Context, grad []float64, rows []int, u, w *mat.Dense) error {
	places := c.at(rows)
	if len(places) == 0 {
		return c.raw.Grad(ctx, grad, rows, u, w)
	}
	weight := 0.0
	for _, a := range places {
		for _, b := range places {
			if rows[a] != rows[b] {
				continue
			}
			for s, v := range u.RawRowView(a) {
				weight += v * w.RawRowView(b)[s]
			}
		}
	}
	left, right := mat.DenseCopyOf(u), mat.DenseCopyOf(w)
	zeroRows(left, places)
	zeroRows(right, places)
	if err := c.raw.Grad(ctx, grad, rows, left, right); err != nil {
		return err
	}
	return c.variance.addSlope(ctx, grad, weight)
}

func (c *loneCovariance) GramGrad(ctx context.Context, grad []float64, rows []int, g *mat.SymDense) error {
	places := c.at(rows)
	if len(places) == 0 {
		return c.raw.GramGrad(ctx, grad, rows, g)
	}
	masked := mat.NewSymDense(len(rows), nil)
	masked.CopySym(g)
	weight := 0.0
	for _, a := range places {
		for b, j := range rows {
			if j == rows[a] {
				weight += g.At(a, b)
			}
			masked.SetSym(a, b, 0)
		}
	}
	if err := c.raw.GramGrad(ctx, grad, rows, masked); err != nil {
		return err
	}
	return c.variance.addSlope(ctx, grad, weight)
}

// Abilities are those of the covariance. The preconditioner takes lone nodes as K has them,
// which is near enough for one; what must be exact is not there where a row is a lone node.
func (c *loneCovariance) Abilities() Abilities {
	raw := AbilitiesOf(c.raw)
	a := raw
	a.Invert, a.Ranks = nil, nil
	if raw.Draw != nil {
		a.Draw = func(ctx context.Context, draws int, seed uint64, x []int) (Draw, error) {
			return c.draw(ctx, draws, seed, x, raw.Draw, 0, c.Nodes())
		}
	}
	if raw.Factor != nil {
		a.Factor = func(ctx context.Context, rows []int, constant float64, noise []float64) (Factor, error) {
			if !c.free(rows) {
				return nil, nil
			}
			return raw.Factor(ctx, rows, constant, noise)
		}
	}
	if raw.Approximate != nil {
		a.Approximate = func(ctx context.Context, rows []int, constant float64, noise []float64) (solve.Preconditioner, error) {
			if !c.free(rows) {
				return nil, nil
			}
			return raw.Approximate(ctx, rows, constant, noise)
		}
	}
	if raw.Mixed != nil {
		a.Mixed = func(ctx context.Context, rows []int, constant float64) (solve.Operator, error) {
			if !c.free(rows) {
				return nil, nil
			}
			return raw.Mixed(ctx, rows, constant)
		}
	}
	if raw.Local != nil {
		a.Local = &loneCovariance{c.lone, raw.Local, c.variance}
	}
	return a
}
