package kernel

import (
	"context"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
)

// UnitVariance returns the kernel s²·K_ij/√(K_ii·K_jj), which has the same variance s²
// at every node. On a graph with hubs K_ii grows with the degree of node i, but the
// variability of classes does not, so labels have a much higher likelihood under this
// kernel. The parameters are s² and those of k without its variance.
func UnitVariance(k Kernel) Kernel {
	params := k.Params()
	e := &unitVariance{kernel: k, params: []Param{{Name: "variance", Start: 1, Positive: true, Variance: true}}}
	if hasVariance(params) {
		e.drop, params = 1, params[1:]
	}
	for _, p := range params {
		p.Variance = false // before the scaling it is a share of s²
		e.params = append(e.params, p)
	}
	return e
}

// unitVariance is a kernel scaled to one variance.
type unitVariance struct {
	kernel Kernel
	params []Param
	drop   int // of the parameters of kernel: its variance, if it has one
}

func (e *unitVariance) Nodes() int      { return e.kernel.Nodes() }
func (e *unitVariance) Params() []Param { return e.params }

// At returns the covariance at theta.
func (e *unitVariance) At(theta []float64) (Covariance, error) {
	if err := checkTheta(theta, e.params); err != nil {
		return nil, err
	}
	cov, err := e.kernel.At(e.below(theta))
	if err != nil {
		return nil, err
	}
	c := &unitCovariance{unitVariance: e, raw: cov, variance: theta[0]}
	c.byRoot = byRoot{e, slices.Clone(theta), c}
	return c, nil
}

// below returns the hyperparameters of the unscaled kernel.
func (e *unitVariance) below(theta []float64) []float64 {
	var own []float64
	if e.drop > 0 {
		own = append(own, 1)
	}
	return append(own, theta[1:]...)
}

// Training is that of the unscaled kernel; its starts begin with s² = 1.
func (e *unitVariance) Training() Training {
	t := TrainingOf(e.kernel).wrapped(func(k Kernel) Kernel { return &unitVariance{k, e.params, e.drop} })
	own := t.Starts
	t.Starts = nil
	for _, theta := range own {
		t.Starts = append(t.Starts, append([]float64{1}, theta[e.drop:]...))
	}
	t.Patches, t.Tabular = nil, nil
	return t
}

// unitCovariance is a unitVariance at one theta.
type unitCovariance struct {
	*unitVariance
	byRoot
	raw      Covariance
	variance float64
	known    knownDiagonal
	gram     knownGram
}

// knownGram holds the last K[rows, rows] of few rows: a gradient follows it, which needs
// it too, and a series takes as long for it as for the gradient.
type knownGram struct {
	mu    sync.Mutex
	rows  []int
	value *mat.SymDense
}

const knownGramRows = 1024

// keep copies a Gram matrix.
func (k *knownGram) keep(rows []int, value *mat.SymDense) {
	if len(rows) == 0 || len(rows) > knownGramRows {
		return
	}
	own := mat.NewSymDense(len(rows), nil)
	own.CopySym(value)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.rows, k.value = slices.Clone(rows), own
}

// take copies the matrix of these rows to dst, if it is kept, and forgets it.
func (k *knownGram) take(dst *mat.SymDense, rows []int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.value == nil || !slices.Equal(rows, k.rows) {
		return false
	}
	dst.CopySym(k.value)
	k.rows, k.value = nil, nil
	return true
}

// knownDiagonal holds the K_ii that were computed: every product with the scaled kernel
// needs them again, and a series takes as long for them as for the product.
type knownDiagonal struct {
	mu    sync.Mutex
	value []float64 // by node; NaN: not known
}

// get sets dst to the diagonal of cov, a matrix of the given size.
func (k *knownDiagonal) get(ctx context.Context, dst []float64, cov Covariance, size int, nodes []int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.value == nil {
		k.value = make([]float64, size)
		for i := range k.value {
			k.value[i] = math.NaN()
		}
	}
	var missing []int
	for _, i := range nodes {
		if math.IsNaN(k.value[i]) {
			missing = append(missing, i)
			k.value[i] = 0 // met
		}
	}
	fresh := make([]float64, len(missing))
	err := cov.Diag(ctx, fresh, missing)
	for a, i := range missing {
		if k.value[i] = fresh[a]; err != nil {
			k.value[i] = math.NaN()
		}
	}
	for a, i := range nodes {
		dst[a] = k.value[i]
	}
	return err
}

// scales returns √(s²/K_ii).
func (c *unitCovariance) scales(ctx context.Context, nodes []int) ([]float64, error) {
	d := make([]float64, len(nodes))
	if err := c.known.get(ctx, d, c.raw, c.Nodes(), nodes); err != nil {
		return nil, err
	}
	for a, v := range d {
		if d[a] = 0; v > 0 {
			d[a] = math.Sqrt(c.variance / v)
		}
	}
	return d, nil
}

func (c *unitCovariance) entries(ctx context.Context, dst *mat.Dense, rows, cols []int) error {
	if err := Entries(ctx, dst, c.raw, rows, cols); err != nil {
		return err
	}
	left, err := c.scales(ctx, rows)
	if err != nil {
		return err
	}
	right, err := c.scales(ctx, cols)
	eachPlace(len(rows), func(a int) {
		row := dst.RawRowView(a)
		for b, v := range right {
			row[b] *= left[a] * v
		}
	})
	return err
}

func (c *unitCovariance) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	if err := c.raw.Gram(ctx, dst, rows); err != nil {
		return err
	}
	c.gram.keep(rows, dst)
	d := make([]float64, len(rows))
	for a := range rows {
		if v := dst.At(a, a); v > 0 {
			d[a] = math.Sqrt(c.variance / v)
		}
	}
	raw := dst.RawSymmetric()
	everyRow(raw.N, 64, func(a int) {
		row := raw.Data[a*raw.Stride:][:raw.N]
		for b := a; b < raw.N; b++ {
			row[b] *= d[a] * d[b]
		}
	})
	return nil
}

// Diag is s², or 0 at a node whose variance under K is 0.
func (c *unitCovariance) Diag(ctx context.Context, dst []float64, rows []int) error {
	if err := c.known.get(ctx, dst, c.raw, c.Nodes(), rows); err != nil {
		return err
	}
	for a, v := range dst {
		if v > 0 {
			dst[a] = c.variance
		}
	}
	return nil
}

// Abilities are those of the unscaled covariance, scaled.
func (c *unitCovariance) Abilities() Abilities {
	a := AbilitiesOf(c.raw)
	a.Factor, a.Approximate, a.Precondition = nil, nil, nil
	return a
}

// randomStreams implements streamed.
func (c *unitCovariance) randomStreams() []string { return streamsOf(c.raw) }

// GramGrad follows the scaling: with K̂ = DKD and t_a = Σ_b g_ab K̂_ab,
//
//	Σ g_ab ∂K̂_ab = Σ D_a g_ab D_b ∂K_ab − Σ_a t_a ∂K_aa/K_aa.
func (c *unitCovariance) GramGrad(ctx context.Context, grad []float64, rows []int, g *mat.SymDense) error {
	n := len(rows)
	if n == 0 {
		return ctx.Err()
	}
	k := borrowSymmetric(n)
	defer giveBack(k)
	if !c.gram.take(k, rows) {
		if err := c.raw.Gram(ctx, k, rows); err != nil {
			return err
		}
	}
	d := make([]float64, n)
	for a := range d {
		if v := k.At(a, a); v > 0 {
			d[a] = math.Sqrt(c.variance / v)
		}
	}
	diagonal := make([]float64, n) // K_aa, before k is overwritten
	for a := range diagonal {
		diagonal[a] = k.At(a, a)
	}
	t := scaleWeights(k.RawSymmetric(), g.RawSymmetric(), d)
	total := 0.0
	for a, v := range t {
		total += v
		if diagonal[a] > 0 {
			k.SetSym(a, a, k.At(a, a)-v/diagonal[a])
		}
	}
	grad[0] += total / c.variance
	return c.shape(grad, func(own []float64) error { return c.raw.GramGrad(ctx, own, rows, k) })
}

// scaleWeights replaces K_ab by D_a·g_ab·D_b and returns t_a = Σ_b g_ab·D_a·K_ab·D_b.
func scaleWeights(k, g blas64.Symmetric, d []float64) []float64 {
	const size = 32
	n := k.N
	parts := make([][]float64, (n+size-1)/size)
	parallel.Ranges(n, size, func(lo, hi int) {
		part := make([]float64, n-lo)
		for a := lo; a < hi; a++ {
			row, weights := k.Data[a*k.Stride+a:][:n-a], g.Data[a*g.Stride+a:][:n-a]
			own, to := 0.0, part[a-lo:]
			for b, v := range row {
				w := weights[b] * d[a] * d[a+b]
				row[b] = w
				w *= v
				own += w
				if b > 0 {
					to[b] += w
				}
			}
			to[0] += own
		}
		parts[lo/size] = part
	})
	t := make([]float64, n)
	for p, part := range parts {
		for b, v := range part {
			t[p*size+b] += v
		}
	}
	return t
}

// shape adds a gradient of the unscaled kernel, without the derivative by its
// variance.
func (c *unitCovariance) shape(grad []float64, of func(own []float64) error) error {
	own := make([]float64, len(grad)-1+c.drop)
	if err := of(own); err != nil {
		return err
	}
	for j, v := range own[c.drop:] {
		grad[1+j] += v
	}
	return nil
}
