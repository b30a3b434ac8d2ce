package kernel

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

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
	c := &loneCovariance{lone: l, raw: cov, variance: &loneVariance{of: cov, sample: l.sample, params: len(theta)}}
	c.byRoot = byRoot{l, slices.Clone(theta), c}
	return c, nil
}

// Training is that of the kernel.
func (l *lone) Training() Training {
	t := TrainingOf(l.kernel).wrapped(func(k Kernel) Kernel { return &lone{k, l.is, l.sample} })
	t.Tabular = nil // a lone node is none of a table
	return t
}

// loneCovariance is a lone kernel at one theta: M·K·M + v·P, where P are the lone nodes and
// M = I − P.
type loneCovariance struct {
	*lone
	byRoot
	raw      Covariance
	variance *loneVariance
}

// among returns the places of lone nodes in a list.
func (l *lone) among(rows []int) (places []int) {
	for a, i := range rows {
		if l.is[i] {
			places = append(places, a)
		}
	}
	return places
}

func (c *loneCovariance) entries(ctx context.Context, dst *mat.Dense, rows, cols []int) error {
	if err := Entries(ctx, dst, c.raw, rows, cols); err != nil {
		return err
	}
	left, right := c.among(rows), c.among(cols)
	if len(left)+len(right) == 0 {
		return nil
	}
	v, err := c.variance.get(ctx)
	if err != nil {
		return err
	}
	for _, a := range left {
		clear(dst.RawRowView(a))
	}
	n, _ := dst.Dims()
	for _, b := range right {
		for a := range n {
			dst.Set(a, b, 0)
		}
		for _, a := range left {
			if rows[a] == cols[b] {
				dst.Set(a, b, v)
			}
		}
	}
	return nil
}

func (c *loneCovariance) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	if err := c.raw.Gram(ctx, dst, rows); err != nil {
		return err
	}
	places := c.among(rows)
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
	return c.fixDiag(ctx, dst, c.among(rows))
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

// randomStreams implements streamed.
func (c *loneCovariance) randomStreams() []string { return append(streamsOf(c.raw), loneStream) }

const loneStream = "lone nodes"

func (c *loneCovariance) GramGrad(ctx context.Context, grad []float64, rows []int, g *mat.SymDense) error {
	places := c.among(rows)
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
	if raw.Factor != nil {
		a.Factor = func(ctx context.Context, rows []int, constant float64, noise []float64) (Factor, error) {
			if len(c.among(rows)) > 0 {
				return nil, nil
			}
			return raw.Factor(ctx, rows, constant, noise)
		}
	}
	if raw.Approximate != nil {
		a.Approximate = func(ctx context.Context, rows []int, constant float64, noise []float64) (solve.Preconditioner, error) {
			if len(c.among(rows)) > 0 {
				return nil, nil
			}
			return raw.Approximate(ctx, rows, constant, noise)
		}
	}
	return a
}
