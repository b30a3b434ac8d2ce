package kernel

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/plan"
)

// Product returns the kernel K_a ∘ K_b, the elementwise product: nodes are alike if
// they are alike under a and under b. Its parameters are those of a, then those of
// b, without the first variance of b, because it would do the same as that of a: it
// keeps its starting value, which is 1 for most kernels. Both must have the same
// number of nodes.
//
// Entries and derivatives are exact. A product with K forms blocks of K_a and K_b,
// or, where a factor has low rank, K_b = ZZᵀ, multiplies K_a by z_m ∘ x for every
// column z_m of Z; it takes what costs less. Draws have the covariance K; they
// are Σ_m z_m ∘ f_m with independent draws f_m of a where b has low rank, and
// otherwise the mean of 128 products of draws of a and of b times √128, whose
// distribution at a node is close to normal, with an excess kurtosis of 6/128.
func Product(a, b Kernel) Kernel {
	if a.Nodes() != b.Nodes() {
		panic(fmt.Sprintf("kernel: a product of kernels on %d and on %d nodes", a.Nodes(), b.Nodes()))
	}
	own := b.Params()
	p := &product{a: a, b: b, entries: plan.Default().ProductFlat, fixed: slices.IndexFunc(own, func(p Param) bool { return p.Variance })}
	if p.fixed >= 0 {
		own = slices.Delete(slices.Clone(own), p.fixed, p.fixed+1)
	}
	p.params = appendNamed(slices.Clone(a.Params()), own)
	return p
}

type product struct {
	a, b    Kernel
	params  []Param
	fixed   int // parameter of b that keeps its Start; −1: none
	entries int // most entries of K_a and K_b that are formed at a time
}

func (p *product) Nodes() int      { return p.a.Nodes() }
func (p *product) Params() []Param { return p.params }

// thetaOfB returns the parameters of b for those of the product.
func (p *product) thetaOfB(theta []float64) []float64 {
	own := slices.Clone(theta[len(p.a.Params()):])
	if p.fixed >= 0 {
		own = slices.Insert(own, p.fixed, p.b.Params()[p.fixed].Start)
	}
	return own
}

func (p *product) At(theta []float64) (Covariance, error) {
	if err := checkTheta(theta, p.params); err != nil {
		return nil, err
	}
	a, err := p.a.At(theta[:len(p.a.Params())])
	if err != nil {
		return nil, err
	}
	b, err := p.b.At(p.thetaOfB(theta))
	if err != nil {
		return nil, err
	}
	return &productCovariance{a, b, asLowRank(a), asLowRank(b), len(p.a.Params()), p.fixed, p.entries}, nil
}

// Training offers the starts of each factor with the first of the other, and caches
// the factors that have a cache.
func (p *product) Training() Training {
	a, b := TrainingOf(p.a), TrainingOf(p.b)
	var t Training
	first, size := startOf(p.params), len(p.a.Params())
	for _, theta := range a.Starts {
		t.Starts = append(t.Starts, slices.Concat(theta, first[size:]))
	}
	for _, theta := range b.Starts {
		if p.fixed >= 0 {
			theta = slices.Delete(slices.Clone(theta), p.fixed, p.fixed+1)
		}
		t.Starts = append(t.Starts, slices.Concat(first[:size], theta))
	}
	if a.Cache != nil || b.Cache != nil {
		t.Cache = func(rows []int, maxBytes int) Kernel {
			k := *p
			both := cachedAll([]Kernel{p.a, p.b}, rows, maxBytes)
			k.a, k.b = both[0], both[1]
			return &k
		}
		t.CacheBytes = cacheBytesOf(p.a, p.b)
	}
	return t
}

// productCovariance is K_a ∘ K_b.
type productCovariance struct {
	a, b       Covariance
	lowA, lowB lowRank // the factors, if they are of low rank
	ofA        int     // parameters of a
	fixed      int     // parameter of b that is none of the product; −1: none
	entries    int     // as product has
}

// Nodes returns the number of nodes.
func (c *productCovariance) Nodes() int { return c.a.Nodes() }

func (c *productCovariance) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	if err := c.a.Gram(ctx, dst, rows); err != nil || len(rows) == 0 {
		return err
	}
	other := borrowSymmetric(len(rows))
	defer giveBack(other)
	if err := c.b.Gram(ctx, other, rows); err != nil {
		return err
	}
	multiplyUpper(dst, dst, other)
	return nil
}

// multiplyUpper sets the upper triangle of dst to a ∘ b.
func multiplyUpper(dst, a, b *mat.SymDense) {
	out, left, right := dst.RawSymmetric(), a.RawSymmetric(), b.RawSymmetric()
	n := out.N
	everyRow(n, 64, func(i int) {
		row, other := out.Data[i*out.Stride+i:][:n-i], right.Data[i*right.Stride+i:][:n-i]
		for k, v := range left.Data[i*left.Stride+i:][:n-i] {
			row[k] = v * other[k]
		}
	})
}

func (c *productCovariance) Diag(ctx context.Context, dst []float64, rows []int) error {
	if err := c.a.Diag(ctx, dst, rows); err != nil {
		return err
	}
	other := make([]float64, len(rows))
	if err := c.b.Diag(ctx, other, rows); err != nil {
		return err
	}
	for k, v := range other {
		dst[k] *= v
	}
	return nil
}

// GramGrad uses ⟨g, ∂(K_a ∘ K_b)⟩ = ⟨g ∘ K_b, ∂K_a⟩ + ⟨g ∘ K_a, ∂K_b⟩.
func (c *productCovariance) GramGrad(ctx context.Context, grad []float64, rows []int, g *mat.SymDense) error {
	if len(rows) == 0 {
		return ctx.Err()
	}
	weights := borrowSymmetric(len(rows))
	defer giveBack(weights)
	if err := c.b.Gram(ctx, weights, rows); err != nil {
		return err
	}
	multiplyUpper(weights, weights, g)
	if err := c.a.GramGrad(ctx, grad[:c.ofA], rows, weights); err != nil || len(grad) == c.ofA {
		return err
	}
	if err := c.a.Gram(ctx, weights, rows); err != nil {
		return err
	}
	multiplyUpper(weights, weights, g)
	return c.gradOfB(grad, func(own []float64) error { return c.b.GramGrad(ctx, own, rows, weights) })
}

// gradOfB adds a gradient of b, without the derivative by its fixed variance.
func (c *productCovariance) gradOfB(grad []float64, of func(own []float64) error) error {
	grad = grad[c.ofA:]
	if c.fixed < 0 {
		return of(grad)
	}
	own := make([]float64, len(grad)+1)
	if err := of(own); err != nil {
		return err
	}
	for j, v := range slices.Delete(own, c.fixed, c.fixed+1) {
		grad[j] += v
	}
	return nil
}

// Abilities forwards what holds for an elementwise product.
func (c *productCovariance) Abilities() Abilities {
	a, b := AbilitiesOf(c.a), AbilitiesOf(c.b)
	p := Abilities{
		LongRange: a.LongRange || b.LongRange, Everywhere: a.Everywhere && b.Everywhere,
		Fine: a.Fine, Coarse: a.Coarse,
	}
	if p.Fine == nil {
		p.Fine, p.Coarse = b.Fine, b.Coarse
	}
	if a.DiagFlops != nil || b.DiagFlops != nil {
		p.DiagFlops = func(rows int) float64 { return DiagFlops(c.a, rows) + DiagFlops(c.b, rows) }
	}
	if a.Connected != nil || b.Connected != nil {
		p.Connected = func(ctx context.Context, rows, cols []int) ([]bool, error) {
			left, err := Connected(ctx, c.a, rows, cols)
			if err != nil {
				return nil, err
			}
			right, err := Connected(ctx, c.b, rows, cols)
			for k, v := range right {
				left[k] = left[k] && v
			}
			return left, err
		}
	}
	return p
}
