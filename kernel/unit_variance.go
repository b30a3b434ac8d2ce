package kernel

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/solve"
)

// UnitVariance returns the kernel s²·K_ij/√(K_ii·K_jj), which has the same variance s² at
// every node. On a graph with hubs K_ii goes with the degree of node i; classes
// do not, so labels are far likelier under the even kernel. Parameters are s² and
// those of k without its variance.
func UnitVariance(k Kernel) Kernel {
	params := k.Params()
	e := &even{kernel: k, params: []Param{{Name: "variance", Start: 1, Positive: true, Variance: true}}}
	if hasVariance(params) {
		e.drop, params = 1, params[1:]
	}
	for _, p := range params {
		p.Variance = false // beneath the scaling it is a share of s²
		e.params = append(e.params, p)
	}
	return e
}

// even is a kernel scaled to one variance.
type even struct {
	kernel Kernel
	params []Param
	drop   int // of the parameters of kernel: its variance, if it has one
}

func (e *even) Nodes() int      { return e.kernel.Nodes() }
func (e *even) Params() []Param { return e.params }

// At returns the covariance at theta.
func (e *even) At(theta []float64) (Covariance, error) {
	if err := checkTheta(theta, e.params); err != nil {
		return nil, err
	}
	var own []float64
	if e.drop > 0 {
		own = append(own, 1)
	}
	cov, err := e.kernel.At(append(own, theta[1:]...))
	if err != nil {
		return nil, err
	}
	return &evenCovariance{e, cov, theta[0]}, nil
}

// Keep makes a Keeper of the kernel beneath, if it is one.
func (e *even) Keep(rows []int, maxBytes int) Kernel {
	if k, ok := e.kernel.(Keeper); ok {
		return &even{k.Keep(rows, maxBytes), e.params, e.drop}
	}
	return e
}

// Starts are those of the kernel beneath, if it has its own, with a variance of
// one.
func (e *even) Starts() [][]float64 {
	k, ok := e.kernel.(Starter)
	if !ok {
		return nil
	}
	starts := k.Starts()
	for s, theta := range starts {
		starts[s] = append([]float64{1}, theta[e.drop:]...)
	}
	return starts
}

// evenCovariance is an even kernel at one theta.
type evenCovariance struct {
	*even
	raw      Covariance
	variance float64
}

// scales returns √(s²/K_ii).
func (c *evenCovariance) scales(ctx context.Context, nodes []int) ([]float64, error) {
	d := make([]float64, len(nodes))
	if err := c.raw.Diag(ctx, d, nodes); err != nil {
		return nil, err
	}
	for a, v := range d {
		if d[a] = 0; v > 0 {
			d[a] = math.Sqrt(c.variance / v)
		}
	}
	return d, nil
}

func (c *evenCovariance) Cross(rows, cols []int) solve.Operator {
	o := &evenCross{raw: c.raw.Cross(rows, cols)}
	if o.left, o.err = c.scales(context.Background(), rows); o.err == nil {
		o.right, o.err = c.scales(context.Background(), cols)
	}
	return o
}

// evenCross is D·K·D between two lists.
type evenCross struct {
	raw         solve.Operator
	left, right []float64
	err         error
}

func (o *evenCross) Dims() (r, c int) { return o.raw.Dims() }

func (o *evenCross) Apply(ctx context.Context, dst, x *mat.Dense) error {
	if o.err != nil {
		return o.err
	}
	scaled := mat.DenseCopyOf(x)
	scaleRows(scaled, o.right, 1)
	if err := o.raw.Apply(ctx, dst, scaled); err != nil {
		return err
	}
	scaleRows(dst, o.left, 1)
	return nil
}

func (c *evenCovariance) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	if err := c.raw.Gram(ctx, dst, rows); err != nil {
		return err
	}
	d := make([]float64, len(rows))
	for a := range rows {
		if v := dst.At(a, a); v > 0 {
			d[a] = math.Sqrt(c.variance / v)
		}
	}
	raw := dst.RawSymmetric()
	parallel.Ranges(raw.N, 64, func(lo, hi int) {
		for a := lo; a < hi; a++ {
			row := raw.Data[a*raw.Stride:][:raw.N]
			for b := a; b < raw.N; b++ {
				row[b] *= d[a] * d[b]
			}
		}
	})
	return nil
}

// Diag is s², or 0 at a node that K leaves out.
func (c *evenCovariance) Diag(ctx context.Context, dst []float64, rows []int) error {
	if err := c.raw.Diag(ctx, dst, rows); err != nil {
		return err
	}
	for a, v := range dst {
		if v > 0 {
			dst[a] = c.variance
		}
	}
	return nil
}

func (c *evenCovariance) DiagFlops(rows int) float64 {
	if d, ok := c.raw.(DiagCoster); ok {
		return d.DiagFlops(rows)
	}
	return 0
}

func (c *evenCovariance) Prior(ctx context.Context, dst *mat.Dense, seed uint64) error {
	if err := c.raw.Prior(ctx, dst, seed); err != nil {
		return err
	}
	n, _ := dst.Dims()
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	d, err := c.scales(ctx, all)
	if err != nil {
		return err
	}
	scaleRows(dst, d, 1)
	return nil
}

// Draw begins draws from the prior; nil if the covariance beneath has none. With
// K̂ = DKD, a draw is Dg, and Dg + K̂[·, x]u = D(g + K[·, x]D_x u).
func (c *evenCovariance) Draw(ctx context.Context, draws int, seed uint64, x []int) (Draw, error) {
	own, ok := c.raw.(Drawer)
	if !ok {
		return nil, nil
	}
	below, err := own.Draw(ctx, draws, seed, x)
	if below == nil || err != nil {
		return nil, err
	}
	d := &evenDraw{below: below, at: mat.DenseCopyOf(below.At())}
	if d.known, err = c.scales(ctx, x); err != nil {
		return nil, err
	}
	all := make([]int, c.Nodes())
	for i := range all {
		all[i] = i
	}
	if d.all, err = c.scales(ctx, all); err != nil {
		return nil, err
	}
	scaleRows(d.at, d.known, 1)
	return d, nil
}

type evenDraw struct {
	below      Draw
	known, all []float64 // D at the nodes that are known, and at all
	at         *mat.Dense
}

func (d *evenDraw) At() *mat.Dense { return d.at }

func (d *evenDraw) Update(ctx context.Context, dst, u *mat.Dense) error {
	scaled := mat.DenseCopyOf(u)
	scaleRows(scaled, d.known, 1)
	if err := d.below.Update(ctx, dst, scaled); err != nil {
		return err
	}
	scaleRows(dst, d.all, 1)
	return nil
}

// GramGrad follows the scaling: with K̂ = DKD and t_a = Σ_b g_ab K̂_ab,
//
//	Σ g_ab ∂K̂_ab = Σ D_a g_ab D_b ∂K_ab − Σ_a t_a ∂K_aa/K_aa.
func (c *evenCovariance) GramGrad(ctx context.Context, grad []float64, rows []int, g *mat.SymDense) error {
	n := len(rows)
	k := mat.NewSymDense(n, nil)
	if err := c.raw.Gram(ctx, k, rows); err != nil {
		return err
	}
	d := make([]float64, n)
	for a := range d {
		if v := k.At(a, a); v > 0 {
			d[a] = math.Sqrt(c.variance / v)
		}
	}
	inner := mat.NewSymDense(n, nil)
	t := make([]float64, n)
	for a := range n {
		for b := a; b < n; b++ {
			v := g.At(a, b) * d[a] * d[b]
			inner.SetSym(a, b, v)
			v *= k.At(a, b)
			t[a] += v
			if b > a {
				t[b] += v
			}
		}
	}
	total := 0.0
	for a, v := range t {
		total += v
		if k.At(a, a) > 0 {
			inner.SetSym(a, a, inner.At(a, a)-v/k.At(a, a))
		}
	}
	grad[0] += total / c.variance
	return c.shape(grad, func(own []float64) error { return c.raw.GramGrad(ctx, own, rows, inner) })
}

// shape adds a gradient of the kernel beneath, without that by its variance.
func (c *evenCovariance) shape(grad []float64, of func(own []float64) error) error {
	own := make([]float64, len(grad)-1+c.drop)
	if err := of(own); err != nil {
		return err
	}
	for j, v := range own[c.drop:] {
		grad[1+j] += v
	}
	return nil
}

// Grad is as GramGrad, with g = Σ_s u_s·w_sᵀ.
func (c *evenCovariance) Grad(ctx context.Context, grad []float64, rows []int, u, w *mat.Dense) error {
	d, err := c.scales(ctx, rows)
	if err != nil {
		return err
	}
	n, columns := u.Dims()
	du, dw := mat.DenseCopyOf(u), mat.DenseCopyOf(w)
	scaleRows(du, d, 1)
	scaleRows(dw, d, 1)
	ku, kw := mat.NewDense(n, columns, nil), mat.NewDense(n, columns, nil)
	op := c.raw.Cross(rows, rows)
	if err := op.Apply(ctx, ku, du); err != nil {
		return err
	}
	if err := op.Apply(ctx, kw, dw); err != nil {
		return err
	}
	t := make([]float64, n)
	total := 0.0
	for a := range n {
		for s := range columns {
			t[a] += (du.At(a, s)*kw.At(a, s) + dw.At(a, s)*ku.At(a, s)) / 2
		}
		total += t[a]
		t[a] *= -d[a] * d[a] / c.variance // over K_aa
	}
	grad[0] += total / c.variance
	return c.shape(grad, func(own []float64) error {
		if err := c.raw.Grad(ctx, own, rows, du, dw); err != nil {
			return err
		}
		const size = 256
		for lo := 0; lo < n; lo += size {
			hi := min(n, lo+size)
			diagonal := mat.NewSymDense(hi-lo, nil)
			for a := lo; a < hi; a++ {
				diagonal.SetSym(a-lo, a-lo, t[a])
			}
			if err := c.raw.GramGrad(ctx, own, rows[lo:hi], diagonal); err != nil {
				return err
			}
		}
		return nil
	})
}
