package kernel

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/solve"
)

// Layers is a sum of kernels of increasing reach on one graph:
//
//	K = K_0 + Σ_k s_k² C_k,  C_k = exp(−b_k·β·L̃), scaled to variance one at every node,
//
// with b_k = 16^k: each layer reaches four times as far as the one before, and the
// last one is nearly constant on a component. All are made of eigenvectors of W;
// where only the leading ones are known, b_1 is large enough that others count for
// less than 2 %. Nothing in it depends on how the nodes are numbered. Where
// eigenvectors cost too much, Multiscale takes its place.
type Layers struct {
	fine  Kernel
	parts []Kernel // parameters: a variance and the shared β
}

const (
	layerStep = 16 // of β, from layer to layer: four times the reach
	layerMost = 5
	layerBeta = 4    // where learning starts
	layerTail = 4    // b_1·β of the first eigenvalue of L̃ that is not known: e⁻⁴ is 2 %
	gapLeast  = 1e-9 // eigenvalues of W this close to the largest belong to components
)

// NewLayers returns the sum of a kernel and of layers on the graph of d, one at
// least. The second result is false where they are of no use: on a connected
// graph across which the first layer is already constant.
func NewLayers(fine Kernel, d *Dense) (*Layers, bool) {
	if fine.Nodes() != d.Nodes() {
		panic(fmt.Sprintf("kernel: layers of %d nodes on a kernel of %d", d.Nodes(), fine.Nodes()))
	}
	m := &Layers{fine: fine}
	factors, useful := d.layers()
	for _, by := range factors {
		m.parts = append(m.parts, UnitVariance(d.With(Stretch(Diffusion{}, by).(Spectrum))))
	}
	return m, useful
}

// layers returns the factors of β: as many as it takes until a layer is constant
// on connected nodes and, if there are several components, one that is. They are
// of no use if there would be none.
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

// Nodes returns the number of nodes.
func (m *Layers) Nodes() int { return m.fine.Nodes() }

// Len returns the number of layers.
func (m *Layers) Len() int { return len(m.parts) }

// Params returns those of the fine kernel, then β, then the variances of layers.
func (m *Layers) Params() []Param {
	all := slices.Clone(m.fine.Params())
	if hasVariance(all) {
		all[0].Start /= 100 // as in Multiscale
	}
	all = append(all, Param{Name: "coarse beta", Start: layerBeta, Positive: true})
	for k := range m.parts {
		all = append(all, Param{Name: fmt.Sprintf("variance %d", k+1), Start: 1 / float64(len(m.parts)), Positive: true, Variance: true})
	}
	return all
}

// Starts put some variance on every layer, or nearly all of it on one of them, for
// a short and a long reach of the fine kernel.
func (m *Layers) Starts() [][]float64 {
	return shareStarts(m.Params(), len(m.fine.Params()), len(m.parts))
}

// At returns the covariance at theta.
func (m *Layers) At(theta []float64) (Covariance, error) {
	if err := checkTheta(theta, m.Params()); err != nil {
		return nil, err
	}
	own := len(m.fine.Params())
	c := &layersCovariance{own: own, parts: make([]Covariance, 1+len(m.parts))}
	var err error
	if c.parts[0], err = m.fine.At(theta[:own]); err != nil {
		return nil, err
	}
	for k, part := range m.parts {
		if c.parts[1+k], err = part.At([]float64{theta[own+1+k], theta[own]}); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Keep makes a Keeper of the fine kernel, if it is one.
func (m *Layers) Keep(rows []int, maxBytes int) Kernel {
	if k, ok := m.fine.(Keeper); ok {
		return &Layers{k.Keep(rows, maxBytes), m.parts}
	}
	return m
}

// layersCovariance is the sum at one theta.
type layersCovariance struct {
	own   int          // parameters of the fine kernel
	parts []Covariance // the fine one first
}

// DiagFlops adds those of the eigenvectors to what the fine kernel needs.
func (c *layersCovariance) DiagFlops(rows int) float64 {
	flops := 0.0
	for _, part := range c.parts[1:] {
		flops += 4 * float64(rows) * float64(len(part.(*evenCovariance).raw.(*denseCovariance).g))
	}
	if fine, ok := c.parts[0].(DiagCoster); ok {
		flops += fine.DiagFlops(rows)
	}
	return flops
}

// conditionLeast is the share of the largest eigenvalue of a layer from which an
// eigenvector is worth having in a preconditioner.
const conditionLeast = 1e-6

// Precondition takes the layers as they are, by Woodbury's formula, and the
// diagonal of the fine kernel.
func (c *layersCovariance) Precondition(ctx context.Context, rows []int, constant float64, noise []float64) (solve.Factored, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	d := make([]float64, len(rows))
	if err := c.parts[0].Diag(ctx, d, rows); err != nil {
		return nil, err
	}
	for a := range d {
		d[a] += noise[a]
	}
	columns := make([][]float64, 1)
	columns[0] = slices.Repeat([]float64{math.Sqrt(constant)}, len(rows))
	for _, part := range c.parts[1:] {
		even := part.(*evenCovariance)
		raw := even.raw.(*denseCovariance)
		scale, err := even.scales(ctx, rows)
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
	return solve.NewLowRank(u, d)
}

// Draw begins draws from the prior; nil where the fine kernel cannot.
func (c *layersCovariance) Draw(ctx context.Context, draws int, seed uint64, x []int) (Draw, error) {
	own, ok := c.parts[0].(Drawer)
	if !ok {
		return nil, nil
	}
	fine, err := own.Draw(ctx, draws, seed, x)
	if fine == nil || err != nil {
		return nil, err
	}
	n := c.nodes()
	d := &layersDraw{fine: fine, cov: c, x: slices.Clone(x), at: mat.DenseCopyOf(fine.At()), layers: mat.NewDense(n, draws, nil)}
	if err := c.addPriors(ctx, d.layers, seed); err != nil {
		return nil, err
	}
	for a, i := range x {
		for s, v := range d.layers.RawRowView(i) {
			d.at.Set(a, s, d.at.At(a, s)+v)
		}
	}
	return d, nil
}

func (c *layersCovariance) nodes() int {
	return c.parts[1].(*evenCovariance).Nodes()
}

type layersDraw struct {
	fine   Draw
	cov    *layersCovariance
	x      []int
	at     *mat.Dense
	layers *mat.Dense // their draws at every node
}

func (d *layersDraw) At() *mat.Dense { return d.at }

func (d *layersDraw) Update(ctx context.Context, dst, u *mat.Dense) error {
	if err := d.fine.Update(ctx, dst, u); err != nil {
		return err
	}
	addRows(dst, d.layers)
	all := make([]int, d.cov.nodes())
	for i := range all {
		all[i] = i
	}
	one := mat.NewDense(dst.RawMatrix().Rows, dst.RawMatrix().Cols, nil)
	for _, part := range d.cov.parts[1:] {
		if err := part.Cross(all, d.x).Apply(ctx, one, u); err != nil {
			return err
		}
		addRows(dst, one)
	}
	return nil
}

func (c *layersCovariance) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	if err := c.parts[0].Gram(ctx, dst, rows); err != nil {
		return err
	}
	one := mat.NewSymDense(len(rows), nil)
	for _, part := range c.parts[1:] {
		if err := part.Gram(ctx, one, rows); err != nil {
			return err
		}
		dst.AddSym(dst, one)
	}
	return nil
}

func (c *layersCovariance) Diag(ctx context.Context, dst []float64, rows []int) error {
	if err := c.parts[0].Diag(ctx, dst, rows); err != nil {
		return err
	}
	one := make([]float64, len(rows))
	for _, part := range c.parts[1:] {
		if err := part.Diag(ctx, one, rows); err != nil {
			return err
		}
		for a, v := range one {
			dst[a] += v
		}
	}
	return nil
}

func (c *layersCovariance) Prior(ctx context.Context, dst *mat.Dense, seed uint64) error {
	if err := c.parts[0].Prior(ctx, dst, seed); err != nil {
		return err
	}
	return c.addPriors(ctx, dst, seed)
}

// addPriors adds draws of the layers.
func (c *layersCovariance) addPriors(ctx context.Context, dst *mat.Dense, seed uint64) error {
	one := mat.NewDense(dst.RawMatrix().Rows, dst.RawMatrix().Cols, nil)
	for k, part := range c.parts[1:] {
		if err := part.Prior(ctx, one, drawSeed(seed, k)); err != nil {
			return err
		}
		addRows(dst, one)
	}
	return nil
}

func (c *layersCovariance) Grad(ctx context.Context, grad []float64, rows []int, u, w *mat.Dense) error {
	return c.slopes(grad, func(part Covariance, grad []float64) error { return part.Grad(ctx, grad, rows, u, w) })
}

func (c *layersCovariance) GramGrad(ctx context.Context, grad []float64, rows []int, g *mat.SymDense) error {
	return c.slopes(grad, func(part Covariance, grad []float64) error { return part.GramGrad(ctx, grad, rows, g) })
}

// slopes adds the gradients of the parts, which share β.
func (c *layersCovariance) slopes(grad []float64, of func(part Covariance, grad []float64) error) error {
	if err := of(c.parts[0], grad[:c.own]); err != nil {
		return err
	}
	for k, part := range c.parts[1:] {
		own := make([]float64, 2)
		if err := of(part, own); err != nil {
			return err
		}
		grad[c.own] += own[1]
		grad[c.own+1+k] += own[0]
	}
	return nil
}

// Cross returns K[rows, cols].
func (c *layersCovariance) Cross(rows, cols []int) solve.Operator {
	o := make(sumOperator, len(c.parts))
	for k, part := range c.parts {
		o[k] = part.Cross(rows, cols)
	}
	return o
}

// sumOperator is a sum of operators of the same size.
type sumOperator []solve.Operator

func (o sumOperator) Dims() (r, c int) { return o[0].Dims() }

func (o sumOperator) Apply(ctx context.Context, dst, x *mat.Dense) error {
	if err := o[0].Apply(ctx, dst, x); err != nil {
		return err
	}
	rows, columns := dst.Dims()
	if rows == 0 || columns == 0 {
		return nil
	}
	one := mat.NewDense(rows, columns, nil)
	for _, part := range o[1:] {
		if err := part.Apply(ctx, one, x); err != nil {
			return err
		}
		addRows(dst, one)
	}
	return nil
}
