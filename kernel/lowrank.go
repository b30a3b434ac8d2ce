package kernel

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/internal/rng"
	"grfgp/solve"
	"grfgp/walk"
)

// LowRankOptions say how random features are projected.
type LowRankOptions struct {
	Dim  int    // m: the rank; errors of K shrink as 1/√m
	Seed uint64 // of the projection
}

// LowRank is a GRF projected to m dimensions (Johnson and Lindenstrauss):
// K = K₁K₁ᵀ, K₁ = ΦG/√m with a Gaussian G, so that E[K] = ΦΦᵀ. Systems with K
// are solved by Woodbury's formula in m dimensions.
//
// A list of T nodes whose features touch C nodes takes 8m(T + C) bytes: G is
// kept for the lists used last, K₁ with each covariance.
type LowRank struct {
	grf       *GRF
	opts      LowRankOptions
	gaussians recent[*mat.Dense] // G/√m, a row per column of the pattern
}

// NewLowRank returns the projected kernel of a family by features that cover
// every node.
func NewLowRank(f *walk.Features, m Modulation, opts LowRankOptions) (*LowRank, error) {
	if opts.Dim < 1 {
		return nil, fmt.Errorf("projecting features to %d dimensions, want at least 1", opts.Dim)
	}
	grf, err := NewGRF(f, m)
	if err != nil {
		return nil, err
	}
	return &LowRank{grf: grf, opts: opts}, nil
}

// Nodes returns the number of nodes.
func (k *LowRank) Nodes() int { return k.grf.Nodes() }

// Params returns the parameters of the family.
func (k *LowRank) Params() []Param { return k.grf.Params() }

// At returns the covariance at theta.
func (k *LowRank) At(theta []float64) (Covariance, error) {
	c, err := k.grf.at(theta)
	if err != nil {
		return nil, err
	}
	return &lowRankCovariance{LowRank: k, grf: c}, nil
}

// gaussian returns the rows of G/√m for the columns of a pattern.
func (k *LowRank) gaussian(p *pattern) *mat.Dense {
	return k.gaussians.get(p.rows, func([]int) *mat.Dense {
		g := mat.NewDense(max(1, p.width), k.opts.Dim, nil)
		parallel.Ranges(p.width, 256, func(lo, hi int) {
			for j := lo; j < hi; j++ {
				node := j
				if p.nodes != nil {
					node = int(p.nodes[j])
				}
				k.gaussianRow(g.RawRowView(j), node)
			}
		})
		return g
	})
}

// gaussianRow sets dst to the row of G/√m for a node: it depends on the seed and
// the node alone.
func (k *LowRank) gaussianRow(dst []float64, node int) {
	random := rand.New(rng.New(k.opts.Seed, "low rank", uint64(node)))
	scale := 1 / math.Sqrt(float64(len(dst)))
	for q := range dst {
		dst[q] = scale * random.NormFloat64()
	}
}

// lowRankCovariance is a LowRank at one theta.
type lowRankCovariance struct {
	*LowRank
	grf     *grfCovariance
	factors recent[*lowRankFactor]
}

// lowRankFactor is K₁[rows, :].
type lowRankFactor struct {
	*factor            // Φ
	g, k1   *mat.Dense // G/√m, K₁
}

func (c *lowRankCovariance) factor(rows []int) *lowRankFactor {
	return c.factors.get(rows, func(rows []int) *lowRankFactor {
		f := c.grf.factor(rows)
		g := c.gaussian(f.pattern)
		k1 := mat.NewDense(max(1, len(rows)), c.opts.Dim, nil)
		if len(rows) > 0 {
			f.phi.Mul(k1, g)
		}
		return &lowRankFactor{f, g, k1}
	})
}

// Cross returns K[rows, cols]. Where rows and cols are the same list it is a
// solve.Direct.
func (c *lowRankCovariance) Cross(rows, cols []int) solve.Operator {
	left, right := c.factor(rows), c.factor(cols)
	cross := lowRankCross{left, right}
	if slices.Equal(rows, cols) {
		return &lowRankGram{lowRankCross: cross}
	}
	return &cross
}

// Gram sets dst = K[rows, rows].
func (c *lowRankCovariance) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	f := c.factor(rows)
	if f.err != nil {
		return f.err
	}
	checkOrder(dst, rows)
	raw := dst.RawSymmetric()
	return eachRow(ctx, len(rows), gramRows, func(_, i int) {
		ki := f.k1.RawRowView(i)
		for j := i; j < len(rows); j++ {
			raw.Data[i*raw.Stride+j] = floats.Dot(ki, f.k1.RawRowView(j))
		}
	})
}

// Diag sets dst[a] to the squared norm of row rows[a] of K₁.
func (c *lowRankCovariance) Diag(ctx context.Context, dst []float64, rows []int) error {
	f := c.factor(rows)
	for a := range rows {
		ka := f.k1.RawRowView(a)
		dst[a] = floats.Dot(ka, ka)
	}
	if f.err != nil {
		return f.err
	}
	return ctx.Err()
}

// Prior sets the columns of dst to Φ(Gw)/√m with w ~ N(0, I).
func (c *lowRankCovariance) Prior(ctx context.Context, dst *mat.Dense, seed uint64) error {
	f := c.grf.factor(c.grf.all())
	if f.err != nil {
		return f.err
	}
	n := c.Nodes()
	return strips(dst, func(lo int, dst *mat.Dense) error {
		_, columns := dst.Dims()
		w := mat.NewDense(c.opts.Dim, columns, nil)
		if err := normals(ctx, w, seed, "prior", lo); err != nil {
			return err
		}
		gw := c.grf.block(n, columns)
		defer c.grf.blocks.Put(gw)
		wT := mat.DenseCopyOf(w.T())
		// Rows of G are drawn as they are needed: all of them may be too many.
		const size = 256
		rows := make([][]float64, parallel.Workers((n+size-1)/size))
		err := eachRow(ctx, n, size, func(worker, i int) {
			g := room(&rows[worker], c.opts.Dim)
			c.gaussianRow(g, i)
			out := gw.RawRowView(i)
			for s := range out {
				out[s] = floats.Dot(g, wT.RawRowView(s))
			}
		})
		if err != nil {
			return err
		}
		f.phi.Mul(dst, gw)
		return ctx.Err()
	})
}

// Grad adds Σ_s u_sᵀ(∂K/∂θ_j)w_s to grad[j]: as for a GRF, with A = GK₁ᵀu/√m and
// B = GK₁ᵀw/√m.
func (c *lowRankCovariance) Grad(ctx context.Context, grad []float64, rows []int, u, w *mat.Dense) error {
	f := c.factor(rows)
	if f.err != nil || len(rows) == 0 {
		return f.err
	}
	slope := make([]float64, len(c.grf.coeff))
	err := strips(u, func(lo int, u *mat.Dense) error {
		w := columnsOf(w, lo, u)
		if err := ctx.Err(); err != nil {
			return err
		}
		var wu, small, ba mat.Dense
		wu.Augment(w, u)
		small.Mul(f.k1.T(), &wu)
		ba.Mul(f.g, &small)
		return c.grf.projectPairs(ctx, slope, f.pattern, u, w, &ba)
	})
	c.grf.chain(grad, slope, err)
	return err
}

// GramGrad adds ⟨g, ∂K/∂θ_j⟩ to grad[j]: ∂/∂f_l = 2⟨Ψ_l, gK₁Gᵀ⟩/√m.
func (c *lowRankCovariance) GramGrad(ctx context.Context, grad []float64, rows []int, g *mat.SymDense) error {
	f := c.factor(rows)
	if f.err != nil || len(rows) == 0 {
		return f.err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	checkOrder(g, rows)
	var gk mat.Dense
	gk.Mul(full(g), f.k1) // a general product: it runs on all processors
	gk.Scale(2, &gk)
	slope := make([]float64, len(c.grf.coeff))
	err := c.grf.project(ctx, slope, f.pattern, func(_ int, dst []float64, i int, cols []uint32) {
		dots(dst, gk.RawRowView(i), f.g, cols)
	})
	c.grf.chain(grad, slope, err)
	return err
}
