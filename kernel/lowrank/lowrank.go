// Package lowrank is the kernel of random features projected to m dimensions
// (Johnson and Lindenstrauss). It reproduces the paper's section on low rank and
// is never chosen automatically. On graphs of the paper's size the features
// without a projection (kernel.GRF) are faster and have no projection error.
//
// With features Φ, one row per node, and a Gaussian matrix G of m columns,
//
//	K = K₁K₁ᵀ,  K₁ = ΦG/√m,  E[K] = ΦΦᵀ.
//
// An entry of K has the standard error √((K_ii·K_jj + K_ij²)/m). Systems with
// K + noise are solved by Woodbury's formula in m dimensions.
package lowrank

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/internal/rng"
	"grfgp/kernel"
	"grfgp/kernel/internal/normal"
	"grfgp/kernel/internal/recent"
	"grfgp/solve"
	"grfgp/space"
	"grfgp/sparse"
	"grfgp/walk"
)

// Options says how random features are projected.
type Options struct {
	Dim  int    // m, the rank; at least 1
	Seed uint64 // of the projection
}

// Kernel is the kernel of projected features. A list of T nodes whose features
// touch C nodes takes 8m(T + C) bytes: G is kept for the lists used last, K₁ with
// each covariance.
type Kernel struct {
	grf      *kernel.GRF
	features *walk.Features
	family   kernel.Modulation
	opts     Options
	patterns recent.Cache[*pattern]
}

// New returns the projected kernel of a family by features that cover every node.
func New(f *walk.Features, m kernel.Modulation, opts Options) (*Kernel, error) {
	if opts.Dim < 1 {
		return nil, fmt.Errorf("projecting features to %d dimensions, want at least 1", opts.Dim)
	}
	grf, err := kernel.NewGRF(f, m)
	if err != nil {
		return nil, err
	}
	return &Kernel{grf: grf, features: f, family: m, opts: opts}, nil
}

// Nodes returns the number of nodes.
func (k *Kernel) Nodes() int { return k.grf.Nodes() }

// Params returns the parameters of the family.
func (k *Kernel) Params() []kernel.Param { return k.grf.Params() }

// At returns the covariance at theta.
func (k *Kernel) At(theta []float64) (kernel.Covariance, error) {
	grf, err := k.grf.At(theta)
	if err != nil {
		return nil, err
	}
	slopes := make([][]float64, len(theta))
	for j := range slopes {
		slopes[j] = make([]float64, k.features.MaxLen()+1)
	}
	k.family.CoeffsGrad(slopes, theta)
	return &covariance{Kernel: k, grf: grf, coeff: kernel.AbilitiesOf(grf).Fine.Coeffs, slopes: slopes}, nil
}

// pattern holds the columns of Φ that a list of nodes touches, and their rows of
// G/√m. It does not depend on hyperparameters.
type pattern struct {
	rows  []int
	nodes []uint32 // per column
	ptr   []int
	col   []uint32
	g     *mat.Dense
}

func (k *Kernel) pattern(rows []int) *pattern {
	return k.patterns.Get(rows, func(rows []int) *pattern {
		p := &pattern{rows: rows, ptr: make([]int, len(rows)+1)}
		label := make([]uint32, k.Nodes()) // of a column + 1; 0: none yet
		for a, i := range rows {
			for _, node := range k.features.Reached(i) {
				if label[node] == 0 {
					p.nodes = append(p.nodes, node)
					label[node] = uint32(len(p.nodes))
				}
				p.col = append(p.col, label[node]-1)
			}
			p.ptr[a+1] = len(p.col)
		}
		p.g = mat.NewDense(max(1, len(p.nodes)), k.opts.Dim, nil)
		parallel.Ranges(len(p.nodes), 256, func(lo, hi int) {
			for j := lo; j < hi; j++ {
				k.gaussian(p.g.RawRowView(j), int(p.nodes[j]))
			}
		})
		return p
	})
}

// gaussian sets dst to the row of G/√m of a node. It depends only on the seed and
// the node.
func (k *Kernel) gaussian(dst []float64, node int) {
	random := rand.New(rng.New(k.opts.Seed, "low rank", uint64(node)))
	scale := 1 / math.Sqrt(float64(len(dst)))
	for q := range dst {
		dst[q] = scale * random.NormFloat64()
	}
}

// covariance is a Kernel at one theta.
type covariance struct {
	*Kernel
	grf     kernel.Covariance // of the features as they are
	coeff   []float64         // f_l
	slopes  [][]float64       // ∂f_l/∂θ_j
	factors recent.Cache[*factor]
}

// Abilities are an inverse by Woodbury's formula, as an exact preconditioner, and the features. Nodes are
// connected if their features meet, for projections always do.
func (c *covariance) Abilities() kernel.Abilities {
	connected := func(ctx context.Context, rows, cols []int) ([]bool, error) {
		return kernel.Connected(ctx, c.grf, rows, cols)
	}
	return kernel.Abilities{Precondition: c.precondition, Fine: kernel.AbilitiesOf(c.grf).Fine, Connected: connected}
}

// factor is K₁[rows, :].
type factor struct {
	*pattern
	k1  *mat.Dense
	err error
}

func (c *covariance) factor(rows []int) *factor {
	return c.factors.Get(rows, func(rows []int) *factor {
		f := &factor{pattern: c.pattern(rows), k1: mat.NewDense(max(1, len(rows)), c.opts.Dim, nil)}
		var phi *sparse.CSR
		if phi, f.err = c.phi(f.pattern); f.err == nil && len(rows) > 0 {
			phi.Mul(f.k1, f.g)
		}
		return f
	})
}

// phi returns Φ[rows, :] with the columns of the pattern.
func (c *covariance) phi(p *pattern) (*sparse.CSR, error) {
	val := make([]float64, len(p.col))
	parallel.Ranges(len(p.rows), 1024, func(lo, hi int) {
		for a := lo; a < hi; a++ {
			c.features.CombineRow(val[p.ptr[a]:p.ptr[a+1]], c.coeff, p.rows[a])
		}
	})
	return sparse.NewCSR(len(p.rows), max(1, len(p.nodes)), p.ptr, p.col, val)
}

// Cross returns K[rows, cols].
func (c *covariance) Cross(rows, cols []int) solve.Operator {
	return &cross{c.factor(rows), c.factor(cols)}
}

// precondition returns K[rows, rows] + constant·11ᵀ + diag(noise).
func (c *covariance) precondition(ctx context.Context, rows []int, constant float64, noise []float64) (solve.Factored, error) {
	f := c.factor(rows)
	if f.err != nil {
		return nil, f.err
	}
	here, a := space.Host(), space.Rows(len(rows))
	if len(rows) == 0 {
		return solve.NewJacobi(here, a, noise)
	}
	u := mat.NewDense(len(rows), c.opts.Dim+1, nil)
	for i := range rows {
		row := u.RawRowView(i)
		copy(row, f.k1.RawRowView(i))
		row[c.opts.Dim] = math.Sqrt(constant)
	}
	p, err := solve.NewLowRank(here, a, u, noise)
	if err != nil {
		return nil, err
	}
	return p, ctx.Err()
}

// Gram sets dst = K[rows, rows].
func (c *covariance) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	f := c.factor(rows)
	if f.err != nil {
		return f.err
	}
	raw := dst.RawSymmetric()
	return eachRow(ctx, len(rows), 8, func(_, i int) {
		ki := f.k1.RawRowView(i)
		for j := i; j < len(rows); j++ {
			raw.Data[i*raw.Stride+j] = floats.Dot(ki, f.k1.RawRowView(j))
		}
	})
}

// Diag sets dst[a] to the squared norm of row rows[a] of K₁.
func (c *covariance) Diag(ctx context.Context, dst []float64, rows []int) error {
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

// stripColumns is the number of right-hand sides that share a product.
const stripColumns = 32

// Prior sets the columns of dst to Φ(Gw)/√m with w ~ N(0, I).
func (c *covariance) Prior(ctx context.Context, dst *mat.Dense, seed uint64) error {
	n, draws := dst.Dims()
	phi, err := c.features.Combine(c.coeff)
	if err != nil {
		return err
	}
	for lo := 0; lo < draws; lo += stripColumns {
		hi := min(draws, lo+stripColumns)
		w := mat.NewDense(c.opts.Dim, hi-lo, nil)
		if err := normal.Fill(ctx, w, seed, "prior", lo); err != nil {
			return err
		}
		gw, wT := mat.NewDense(n, hi-lo, nil), mat.DenseCopyOf(w.T())
		// Rows of G are drawn as they are needed: all of them may be too many.
		const size = 256
		rows := make([][]float64, parallel.Workers((n+size-1)/size))
		err := eachRow(ctx, n, size, func(worker, i int) {
			g := room(&rows[worker], c.opts.Dim)
			c.gaussian(g, i)
			out := gw.RawRowView(i)
			for s := range out {
				out[s] = floats.Dot(g, wT.RawRowView(s))
			}
		})
		if err != nil {
			return err
		}
		phi.Mul(dst.Slice(0, n, lo, hi).(*mat.Dense), gw)
	}
	return ctx.Err()
}

// Grad adds Σ_s u_sᵀ(∂K/∂θ_j)w_s to grad[j]. With A = GK₁ᵀu/√m and B = GK₁ᵀw/√m,
//
//	∂/∂f_l = Σ_ic Ψ_l[i,c]·(⟨u_i, B_c⟩ + ⟨w_i, A_c⟩).
func (c *covariance) Grad(ctx context.Context, grad []float64, rows []int, u, w *mat.Dense) error {
	f := c.factor(rows)
	if f.err != nil || len(rows) == 0 {
		return f.err
	}
	n, columns := u.Dims()
	slope := make([]float64, len(c.coeff))
	for lo := 0; lo < columns; lo += stripColumns {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(columns, lo+stripColumns)
		var wu, uw, small, ba mat.Dense
		us, ws := u.Slice(0, n, lo, hi), w.Slice(0, n, lo, hi)
		wu.Augment(ws, us)
		uw.Augment(us, ws)
		small.Mul(f.k1.T(), &wu)
		ba.Mul(f.g, &small)
		err := c.project(ctx, slope, f.pattern, func(dst []float64, i int, cols []uint32) { dots(dst, uw.RawRowView(i), &ba, cols) })
		if err != nil {
			return err
		}
	}
	c.chain(grad, slope)
	return nil
}

// GramGrad adds ⟨g, ∂K/∂θ_j⟩ to grad[j]: ∂/∂f_l = 2⟨Ψ_l, gK₁Gᵀ⟩/√m.
func (c *covariance) GramGrad(ctx context.Context, grad []float64, rows []int, g *mat.SymDense) error {
	f := c.factor(rows)
	if f.err != nil || len(rows) == 0 {
		return f.err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	var gk mat.Dense
	gk.Mul(mat.DenseCopyOf(g), f.k1) // a general product: it runs on all processors
	gk.Scale(2, &gk)
	slope := make([]float64, len(c.coeff))
	err := c.project(ctx, slope, f.pattern, func(dst []float64, i int, cols []uint32) { dots(dst, gk.RawRowView(i), f.g, cols) })
	if err == nil {
		c.chain(grad, slope)
	}
	return err
}

// chain adds slope, derivatives by f_l, to grad as derivatives by θ_j.
func (c *covariance) chain(grad, slope []float64) {
	for j, by := range c.slopes {
		sum := 0.0
		for l, v := range slope {
			sum += float64(v * by[l])
		}
		grad[j] += sum
	}
}

// project adds Σ_ic Ψ_l[i,c]·Q_ic to slope[l], where weigh sets dst[e] = Q_ic for
// the entries e of row i, in the given columns. Blocks of rows add up on their own
// and then in order, so that the sum does not depend on the number of threads.
func (c *covariance) project(ctx context.Context, slope []float64, p *pattern, weigh func(dst []float64, i int, cols []uint32)) error {
	const size = 64
	blocks, lengths := (len(p.rows)+size-1)/size, len(slope)
	sums := make([]float64, blocks*lengths)
	scratch := make([][]float64, parallel.Workers(blocks))
	err := eachRow(ctx, len(p.rows), size, func(worker, i int) {
		cols := p.col[p.ptr[i]:p.ptr[i+1]]
		weights := room(&scratch[worker], len(cols))
		weigh(weights, i, cols)
		b := i / size
		c.features.ProjectRow(sums[b*lengths:(b+1)*lengths], weights, p.rows[i])
	})
	for q, v := range sums {
		slope[q%lengths] += v
	}
	return err
}

// dots sets dst[e] = ⟨u, v_c⟩ with c = cols[e].
func dots(dst, u []float64, v *mat.Dense, cols []uint32) {
	for e, c := range cols {
		dst[e] = floats.Dot(u, v.RawRowView(int(c)))
	}
}

// eachRow calls do(worker, i) for every i in [0, n), by blocks of the given size.
func eachRow(ctx context.Context, n, size int, do func(worker, i int)) error {
	return parallel.Blocks(ctx, (n+size-1)/size, func(worker, b int) error {
		for i := b * size; i < min(n, (b+1)*size); i++ {
			do(worker, i)
		}
		return nil
	})
}

// room returns *buf with n elements, grown where it is too small.
func room(buf *[]float64, n int) []float64 {
	if cap(*buf) < n {
		*buf = make([]float64, n)
	}
	return (*buf)[:n]
}

// cross is K[rows, cols] = K₁[rows]·K₁[cols]ᵀ.
type cross struct{ left, right *factor }

// Dims returns the lengths of the two lists.
func (o *cross) Dims() (r, c int) { return len(o.left.rows), len(o.right.rows) }

// Apply sets dst = K₁[rows]·(K₁[cols]ᵀ·x).
func (o *cross) Apply(ctx context.Context, dst, x *mat.Dense) error {
	for _, err := range []error{o.left.err, o.right.err, ctx.Err()} {
		if err != nil {
			return err
		}
	}
	switch r, c := o.Dims(); {
	case r == 0:
		return nil
	case c == 0:
		dst.Zero()
		return nil
	}
	var mid mat.Dense
	mid.Mul(o.right.k1.T(), x)
	if err := ctx.Err(); err != nil {
		return err
	}
	dst.Mul(o.left.k1, &mid)
	return ctx.Err()
}
