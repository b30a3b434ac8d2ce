package kernel

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/internal/rng"
	"grfgp/solve"
)

// Trend returns the kernel K + s²·xxᵀ: functions of k on top of a multiple, of
// unknown size, of something that is known at every node. Its last parameter is
// s². It panics if x has another length than k has nodes.
func Trend(k Kernel, x []float64) Kernel {
	if len(x) != k.Nodes() {
		panic(fmt.Sprintf("kernel: a trend of %d values for %d nodes", len(x), k.Nodes()))
	}
	return &trend{k, x, append(slices.Clone(k.Params()), Param{Name: "trend variance", Start: 1, Positive: true, Variance: true})}
}

type trend struct {
	kernel Kernel
	x      []float64
	params []Param
}

func (t *trend) Nodes() int      { return t.kernel.Nodes() }
func (t *trend) Params() []Param { return t.params }

// At returns the covariance at theta, a Conditioner if that beneath is one.
func (t *trend) At(theta []float64) (Covariance, error) {
	if err := checkTheta(theta, t.params); err != nil {
		return nil, err
	}
	last := len(theta) - 1
	cov, err := t.kernel.At(theta[:last])
	if err != nil {
		return nil, err
	}
	c := &trendCovariance{cov, t.x, theta[last]}
	if own, ok := cov.(Conditioner); ok {
		return &trendConditioner{c, own}, nil
	}
	return c, nil
}

// Keep makes a Keeper of the kernel beneath, if it is one.
func (t *trend) Keep(rows []int, maxBytes int) Kernel {
	if k, ok := t.kernel.(Keeper); ok {
		return &trend{k.Keep(rows, maxBytes), t.x, t.params}
	}
	return t
}

// Starts are those of the kernel beneath, if it has its own.
func (t *trend) Starts() [][]float64 {
	k, ok := t.kernel.(Starter)
	if !ok {
		return nil
	}
	starts := k.Starts()
	for s, theta := range starts {
		starts[s] = append(slices.Clone(theta), 1)
	}
	return starts
}

// trendCovariance is a kernel with a trend at one theta.
type trendCovariance struct {
	Covariance
	x        []float64
	variance float64
}

// trendConditioner leaves the preconditioner to the covariance beneath: one more
// large eigenvalue costs an iteration or two.
type trendConditioner struct {
	*trendCovariance
	own Conditioner
}

func (c *trendConditioner) Precondition(ctx context.Context, rows []int, constant float64, noise []float64) (solve.Factored, error) {
	return c.own.Precondition(ctx, rows, constant, noise)
}

// at returns x at the nodes.
func (c *trendCovariance) at(nodes []int) []float64 {
	x := make([]float64, len(nodes))
	for a, i := range nodes {
		x[a] = c.x[i]
	}
	return x
}

func (c *trendCovariance) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	if err := c.Covariance.Gram(ctx, dst, rows); err != nil {
		return err
	}
	x, raw := c.at(rows), dst.RawSymmetric()
	for a, v := range x {
		row := raw.Data[a*raw.Stride:][:raw.N]
		for b := a; b < raw.N; b++ {
			row[b] += c.variance * v * x[b]
		}
	}
	return nil
}

func (c *trendCovariance) Diag(ctx context.Context, dst []float64, rows []int) error {
	if err := c.Covariance.Diag(ctx, dst, rows); err != nil {
		return err
	}
	for a, v := range c.at(rows) {
		dst[a] += c.variance * v * v
	}
	return nil
}

// DiagFlops are those of the covariance beneath, if it counts them.
func (c *trendCovariance) DiagFlops(rows int) float64 {
	if d, ok := c.Covariance.(DiagCoster); ok {
		return d.DiagFlops(rows)
	}
	return 0
}

func (c *trendCovariance) Prior(ctx context.Context, dst *mat.Dense, seed uint64) error {
	if err := c.Covariance.Prior(ctx, dst, seed); err != nil {
		return err
	}
	_, draws := dst.Dims()
	addOuter(dst, c.x, c.slopes(draws, seed))
	return nil
}

// slopes are draws of the multiple of x.
func (c *trendCovariance) slopes(draws int, seed uint64) []float64 {
	all := make([]float64, draws)
	for s := range all {
		all[s] = math.Sqrt(c.variance) * rand.New(rng.New(seed, "prior trend", uint64(s))).NormFloat64()
	}
	return all
}

func (c *trendCovariance) Grad(ctx context.Context, grad []float64, rows []int, u, w *mat.Dense) error {
	last, x := len(grad)-1, c.at(rows)
	xu, xw := inner(x, u), inner(x, w)
	for s, v := range xu {
		grad[last] += v * xw[s]
	}
	return c.Covariance.Grad(ctx, grad[:last], rows, u, w)
}

func (c *trendCovariance) GramGrad(ctx context.Context, grad []float64, rows []int, g *mat.SymDense) error {
	last, x := len(grad)-1, mat.NewVecDense(len(rows), c.at(rows))
	grad[last] += mat.Inner(x, g, x)
	return c.Covariance.GramGrad(ctx, grad[:last], rows, g)
}

func (c *trendCovariance) Cross(rows, cols []int) solve.Operator {
	return &trendCross{c.Covariance.Cross(rows, cols), c.at(rows), c.at(cols), c.variance}
}

// trendCross is A + s²·xyᵀ.
type trendCross struct {
	solve.Operator
	left, right []float64
	variance    float64
}

func (o *trendCross) Apply(ctx context.Context, dst, x *mat.Dense) error {
	if err := o.Operator.Apply(ctx, dst, x); err != nil {
		return err
	}
	sums := inner(o.right, x)
	for s := range sums {
		sums[s] *= o.variance
	}
	addOuter(dst, o.left, sums)
	return nil
}

// Draw begins draws from the prior; nil if the covariance beneath has none.
func (c *trendCovariance) Draw(ctx context.Context, draws int, seed uint64, x []int) (Draw, error) {
	own, ok := c.Covariance.(Drawer)
	if !ok {
		return nil, nil
	}
	below, err := own.Draw(ctx, draws, seed, x)
	if below == nil || err != nil {
		return nil, err
	}
	d := &trendDraw{below, c, c.at(x), c.slopes(draws, seed), mat.DenseCopyOf(below.At())}
	addOuter(d.at, d.x, d.slopes)
	return d, nil
}

type trendDraw struct {
	below  Draw
	cov    *trendCovariance
	x      []float64 // at the nodes that are known
	slopes []float64
	at     *mat.Dense
}

func (d *trendDraw) At() *mat.Dense { return d.at }

func (d *trendDraw) Update(ctx context.Context, dst, u *mat.Dense) error {
	if err := d.below.Update(ctx, dst, u); err != nil {
		return err
	}
	slopes := slices.Clone(d.slopes)
	for s, v := range inner(d.x, u) {
		slopes[s] += d.cov.variance * v
	}
	addOuter(dst, d.cov.x, slopes)
	return nil
}

// inner returns xᵀ·b for every column of b.
func inner(x []float64, b *mat.Dense) []float64 {
	_, columns := b.Dims()
	sums := make([]float64, columns)
	for i, v := range x {
		for s, w := range b.RawRowView(i) {
			sums[s] += v * w
		}
	}
	return sums
}

// addOuter adds x·yᵀ to dst.
func addOuter(dst *mat.Dense, x, y []float64) {
	parallel.Ranges(len(x), 4096, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := dst.RawRowView(i)
			for s, v := range y {
				row[s] += x[i] * v
			}
		}
	})
}
