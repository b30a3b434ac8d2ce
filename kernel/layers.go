package kernel

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/solve"
	"grfgp/space"
)

// Layers is a sum of kernels of increasing reach on one graph:
//
//	K = K_0 + Σ_k s_k² C_k,  C_k = exp(−b_k·β·L̃), scaled to variance one at every node,
//
// with b_k = 16^k: each layer reaches four times as far as the one before, and the
// last one is nearly constant on a component. All are made of eigenvectors of W;
// if only the leading ones are known, b_1 is large enough that the others
// contribute less than 2 %. The kernel does not depend on the numbering of nodes.
// Where eigenvectors cost too much, use Multiscale instead.
type Layers struct {
	coarser
	parts []Kernel // parameters: a variance and the shared β
}

const (
	layerStep = 16 // of β, from layer to layer: four times the reach
	layerMost = 5
	layerBeta = 4    // start value of β
	layerTail = 4    // b_1·β of the first eigenvalue of L̃ that is not known: e⁻⁴ is 2 %
	gapLeast  = 1e-9 // eigenvalues of W this close to the largest belong to components
)

// NewLayers returns the sum of a kernel and at least one layer on the graph of d.
// The second result is false if layers add nothing: on a connected graph on which
// even the first layer is constant.
func NewLayers(fine Kernel, d *Dense) (*Layers, bool) {
	if fine.Nodes() != d.Nodes() {
		panic(fmt.Sprintf("kernel: layers of %d nodes on a kernel of %d", d.Nodes(), fine.Nodes()))
	}
	factors, useful := d.layers()
	m := &Layers{coarser: coarser{fine: fine, coarserParts: &coarserParts{
		count: len(factors), shape: []Param{{Name: "coarse/beta", Start: layerBeta, Positive: true}},
	}}}
	m.gram = m.layerGram
	for _, by := range factors {
		m.parts = append(m.parts, UnitVariance(d.With(Stretch(Diffusion{}, by).(Spectrum))))
	}
	return m, useful
}

// With returns the sum of another fine kernel on the same nodes and the same layers, and shares what they have
// computed.
func (m *Layers) With(fine Kernel) *Layers { return &Layers{m.with(fine), m.parts} }

// layers returns the factors b_k of β: layers are added until one is nearly constant
// on connected nodes and, if there are several components, one more. They are not
// useful if the first is already constant.
func (d *Dense) layers() (factors []float64, useful bool) {
	gap, components := 2.0, 0
	for _, w := range d.values {
		if below := 1 - w; below < gapLeast {
			components++
		} else {
			gap = min(gap, below)
		}
	}
	first := float64(layerStep)
	if len(d.values) < d.Nodes() {
		first = max(first, layerTail/layerBeta/(1-d.values[0]))
	}
	var all []float64
	for by := first; len(all) < layerMost && by*layerBeta*gap < 1; by *= layerStep {
		all = append(all, by)
	}
	if components > 1 && len(all) < layerMost {
		last := first
		if len(all) > 0 {
			last = layerStep * all[len(all)-1]
		}
		all = append(all, last)
	}
	if len(all) == 0 {
		return []float64{first}, false
	}
	return all, true
}

// Len returns the number of layers.
func (m *Layers) Len() int { return len(m.parts) }

// Training offers starts of the layers; the cache has tables of them.
func (m *Layers) Training() Training {
	return Training{Starts: m.starts(), Cache: func(rows []int, maxBytes int) Kernel { return &Layers{m.cached(rows, maxBytes), m.parts} }}
}

// layerGram implements coarserParts.gram.
func (m *Layers) layerGram(k int, rows []int) func(ctx context.Context, dst *mat.SymDense, length float64) error {
	return func(ctx context.Context, dst *mat.SymDense, beta float64) error {
		layer, err := m.parts[k].At([]float64{1, beta})
		if err != nil {
			return err
		}
		return layer.Gram(ctx, dst, rows)
	}
}

// At returns the covariance at theta: the sum of the fine kernel's and those of
// the layers, which share β.
func (m *Layers) At(theta []float64) (Covariance, error) {
	if err := checkTheta(theta, m.Params()); err != nil {
		return nil, err
	}
	own := m.own()
	c := &layersCovariance{sumCovariance{nodes: m.Nodes()}, m, slices.Clone(theta)}
	fine, err := m.fine.At(theta[:own])
	if err != nil {
		return nil, err
	}
	c.terms = append(c.terms, sumTerm{fine, 0, own})
	for k, part := range m.parts {
		layer, err := part.At(m.partTheta(theta, k))
		if err != nil {
			return nil, err
		}
		c.terms = append(c.terms, sumTerm{Covariance: layer})
	}
	return c, nil
}

// layersCovariance is the sum at one theta.
type layersCovariance struct {
	sumCovariance
	of    *Layers
	theta []float64
}

// Gram sets dst = K[rows, rows].
func (c *layersCovariance) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	if err := c.terms[0].Gram(ctx, dst, rows); err != nil {
		return err
	}
	if ok, err := c.of.addTables(ctx, dst, rows, c.theta); ok || err != nil {
		return err
	}
	return addGrams(ctx, dst, rows, c.terms[1:])
}

// Abilities are those of the sum.
func (c *layersCovariance) Abilities() Abilities {
	a := c.sumCovariance.Abilities()
	a.LongRange = true
	return a
}

// conditionLeast is the share of the largest eigenvalue of a layer from which an
// eigenvector is used in the preconditioner.
const conditionLeast = 1e-6

// precondition uses the layers exactly, by Woodbury's formula, and the fine
// kernel by its diagonal.
func (c *layersCovariance) precondition(ctx context.Context, rows []int, constant float64, noise []float64) (solve.Factored, error) {
	d := make([]float64, len(rows))
	if err := c.terms[0].Diag(ctx, d, rows); err != nil {
		return nil, err
	}
	for a := range d {
		d[a] += noise[a]
	}
	columns := make([][]float64, 1)
	columns[0] = slices.Repeat([]float64{math.Sqrt(constant)}, len(rows))
	for _, t := range c.terms[1:] {
		layer := t.Covariance.(*unitCovariance)
		raw := layer.raw.(*denseCovariance)
		scale, err := layer.scales(ctx, rows)
		if err != nil {
			return nil, err
		}
		most := slices.Max(raw.g)
		for e, g := range raw.g {
			if g < conditionLeast*most {
				continue
			}
			column := make([]float64, len(rows))
			for a, i := range rows {
				column[a] = scale[a] * raw.sd[e] * raw.vector(i)[e]
			}
			columns = append(columns, column)
		}
	}
	u := mat.NewDense(len(rows), len(columns), nil)
	for k, column := range columns {
		u.SetCol(k, column)
	}
	return solve.NewLowRank(space.Host(), space.Rows(len(d)), u, d)
}

func (c *layersCovariance) Grad(ctx context.Context, grad []float64, rows []int, u, w *mat.Dense) error {
	if err := c.terms[0].Grad(ctx, grad[:c.of.own()], rows, u, w); err != nil {
		return err
	}
	return c.of.addSlopes(grad, func(k int, own []float64) error { return c.terms[1+k].Grad(ctx, own, rows, u, w) })
}

func (c *layersCovariance) GramGrad(ctx context.Context, grad []float64, rows []int, g *mat.SymDense) error {
	if err := c.terms[0].GramGrad(ctx, grad[:c.of.own()], rows, g); err != nil {
		return err
	}
	if ok, err := c.of.addTableSlopes(ctx, grad, rows, g, c.theta); ok || err != nil {
		return err
	}
	return c.of.addSlopes(grad, func(k int, own []float64) error { return c.terms[1+k].GramGrad(ctx, own, rows, g) })
}

// layersRoot is the root of the sum, whose layers share β.
type layersRoot struct {
	*sumRoot
	of  *Layers
	cov *layersCovariance
}

func (m *Layers) root(ctx context.Context, s space.Space, rows []int, opts RootOptions) (Root, error) {
	all := append([]Kernel{m.fine}, m.parts...)
	r, err := (&sum{terms: all}).root(ctx, s, rows, opts)
	if r == nil || err != nil {
		return nil, err
	}
	return &layersRoot{sumRoot: r.(*sumRoot), of: m}, nil
}

func (r *layersRoot) Set(ctx context.Context, theta []float64) error {
	cov, err := r.of.At(theta)
	if err != nil {
		return err
	}
	r.cov = cov.(*layersCovariance)
	if err := r.terms[0].Set(ctx, theta[:r.of.own()]); err != nil {
		return err
	}
	for k, t := range r.terms[1:] {
		if err := t.Set(ctx, r.of.partTheta(theta, k)); err != nil {
			return err
		}
	}
	return nil
}

func (r *layersRoot) Slopes(ctx context.Context, grad, weight []float64, u, w space.Block) error {
	if err := r.terms[0].Slopes(ctx, grad[:r.of.own()], weight, u, w); err != nil {
		return err
	}
	return r.of.addSlopes(grad, func(k int, own []float64) error { return r.terms[1+k].Slopes(ctx, own, weight, u, w) })
}

func (r *layersRoot) Precondition(ctx context.Context, constant float64, noise []float64) (solve.Factored, bool, error) {
	if !space.IsHost(r.space) || len(r.rows) == 0 {
		p, err := jacobi(ctx, r, r.space, r.axis, constant, noise)
		return p, false, err
	}
	p, err := r.cov.precondition(ctx, r.rows, constant, noise)
	return p, true, err
}
