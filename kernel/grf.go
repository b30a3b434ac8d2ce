package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/dense"
	"grfgp/internal/parallel"
	"grfgp/kernel/internal/normal"
	"grfgp/kernel/internal/recent"
	"grfgp/solve"
	"grfgp/sparse"
	"grfgp/walk"
)

// ErrFeatures is wrapped by errors about features that do not fit a kernel.
var ErrFeatures = errors.New("features do not fit the kernel")

// maxCoeff bounds the coefficients |f_l|, so that no entry of K overflows.
const maxCoeff = 1e100

// GRF is a kernel by graph random features: K = ΦΦᵀ with Φ = Σ f_l(θ) Ψ_l. For the
// node lists used last it caches the sparsity pattern of Φ, 12 bytes per entry, so
// that new hyperparameters need new values only.
type GRF struct {
	*sampledRows
	family Modulation
	pairs  *pairCache // nil: none
}

// sampledRows are features, and what kernels of all families share of them.
type sampledRows struct {
	features *walk.Features
	large    bool // Φ of all nodes is compact
	patterns recent.Cache[*pattern]
	caches   shared[*pairCache]

	all     func() []int    // every node in order
	whole   func() *pattern // of all nodes
	labels  sync.Pool       // *[]uint32: per node, all zero
	entries func() float64  // mean number of a row
	blocks  blocks          // scratch for products
}

// NewGRF returns the kernel of a family by features, which must cover every node.
func NewGRF(f *walk.Features, m Modulation) (*GRF, error) {
	n := f.Nodes()
	if lo, hi := f.Rows(); lo != 0 || hi != n {
		return nil, fmt.Errorf("%w: they are a shard, rows [%d, %d) of %d nodes; sample all rows", ErrFeatures, lo, hi, n)
	}
	k := &sampledRows{features: f, large: n > compactFrom}
	k.all = sync.OnceValue(func() []int { return upTo(n) })
	k.whole = sync.OnceValue(func() *pattern { return k.newPattern(k.all()) })
	k.entries = sync.OnceValue(f.EntriesPerRow)
	k.labels.New = func() any {
		labels := make([]uint32, n)
		return &labels
	}
	return (&GRF{sampledRows: k}).With(m)
}

// With returns the kernel of another family by the same features, and shares what was computed of them.
func (k *GRF) With(m Modulation) (*GRF, error) {
	if free, ok := m.(Free); ok && free.Len > k.features.MaxLen() {
		return nil, fmt.Errorf("%w: free coefficients to length %d, features to length %d; sample longer walks", ErrFeatures, free.Len,
			k.features.MaxLen())
	}
	return &GRF{sampledRows: k.sampledRows, family: m}, nil
}

// Nodes returns the number of nodes.
func (k *sampledRows) Nodes() int { return k.features.Nodes() }

// Params returns the parameters of the family.
func (k *GRF) Params() []Param { return k.family.Params() }

// At returns the covariance at theta. It costs nothing: features are combined at
// first use, and only for the nodes in use.
func (k *GRF) At(theta []float64) (Covariance, error) {
	c, err := k.at(theta)
	if err != nil {
		return nil, err // not an interface that holds a nil pointer
	}
	return c, nil
}

func (k *GRF) at(theta []float64) (*grfCovariance, error) {
	if err := checkTheta(theta, k.Params()); err != nil {
		return nil, err
	}
	c := &grfCovariance{GRF: k, theta: slices.Clone(theta), coeff: make([]float64, k.features.MaxLen()+1)}
	k.family.Coeffs(c.coeff, c.theta)
	for l, f := range c.coeff {
		if !(math.Abs(f) <= maxCoeff) {
			return nil, fmt.Errorf("%w: at %v the coefficient of length %d is %v, beyond ±%g", ErrTheta, theta, l, f, maxCoeff)
		}
	}
	return c, nil
}

// grfCovariance is a GRF at one theta.
type grfCovariance struct {
	*GRF
	theta, coeff []float64
	factors      recent.Cache[*factor]
	once         sync.Once
	entire       atomic.Pointer[factor] // of all nodes; nil until first used
	compactMu    sync.Mutex             // guards
	compactPhi   *sparse.Compact        // Φ of all nodes of a large graph; nil until first used
	someMu       sync.Mutex             // guards
	some         *somePhi               // Φ of some of them, used last
}

// Cross returns K[rows, cols].
func (c *grfCovariance) Cross(rows, cols []int) solve.Operator {
	right := c.factor(cols)
	if slices.Equal(rows, cols) {
		return &grfCross{kernel: c.GRF, left: right.phi, right: right.transpose(), err: right.err}
	}
	if c.large && c.isAll(rows) {
		return &compactCross{c, right}
	}
	o := &grfCross{kernel: c.GRF, right: right.transpose()}
	left := c.entire.Load()
	if left != nil && left.nodes == nil && right.nodes != nil && c.isAll(rows) {
		o.spread = right.nodes // faster than computing Φ again for these columns
	} else {
		left = right.beside(rows)
	}
	o.left, o.err = left.phi, errors.Join(left.err, right.err)
	return o
}

// Gram sets dst = K[rows, rows].
func (c *grfCovariance) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	if t, ok, err := c.pairs.get(ctx, c.sampledRows, rows); ok || err != nil {
		if err == nil {
			checkOrder(dst, rows)
			t.sum(dst.RawSymmetric(), c.pairWeights())
		}
		return err
	}
	f := c.factor(rows)
	if f.err != nil {
		return f.err
	}
	checkOrder(dst, rows)
	raw := dst.RawSymmetric()
	parallel.Ranges(raw.N, gramRows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			clear(raw.Data[i*raw.Stride+i:][:raw.N-i])
		}
	})
	return f.addGram(ctx, raw, 1)
}

// addGram adds scale·ΦΦᵀ to the upper triangle of dst.
func (f *factor) addGram(ctx context.Context, dst blas64.Symmetric, scale float64) error {
	phiT, full := f.transpose(), f.fulls()
	err := eachRow(ctx, dst.N, gramRows, func(_, i int) {
		out := dst.Data[i*dst.Stride:][:dst.N]
		if f.to == nil {
			addGramRow(out, f.phi, phiT, i, scale, full)
			return
		}
		f.gramRow(out, phiT, i, scale, full)
	})
	if err == nil && full.count > 0 {
		block := full.of(f.phi)
		dense.AddLower(dense.OfSymmetric(dst).T(), scale, block, block.T()) // the upper triangle is the lower one of the transpose
	}
	return err
}

// gramRow adds columns i and beyond of row i of scale·ΦΦᵀ to out, without what full columns add.
func (f *factor) gramRow(out []float64, phiT *sparse.CSR, i int, scale float64, full *fullColumns) {
	nodes, vals := f.phi.Row(i)
	ptrT, others, weights := phiT.Raw()
	places := f.to[f.ptr[i]:][:len(nodes)] // of row i in the columns, which are sorted
	for p, node := range nodes {
		if full.has(node) {
			continue
		}
		v, end := scale*vals[p], ptrT[node+1]
		rows := others[places[p]:end]
		for q, w := range weights[places[p]:end] {
			out[rows[q]] += float64(v * w)
		}
	}
}

// addGramRow is gramRow where the places of entries in the transpose are not known.
func addGramRow(out []float64, phi, phiT *sparse.CSR, i int, scale float64, full *fullColumns) {
	nodes, vals := phi.Row(i)
	for p, node := range nodes {
		if full.has(node) {
			continue
		}
		v := scale * vals[p]
		others, weights := phiT.Row(int(node))
		from, _ := slices.BinarySearch(others, uint32(i))
		others, weights = others[from:], weights[from:]
		for q, j := range others {
			out[j] += float64(v * weights[q])
		}
	}
}

// Diag sets dst[a] to the squared norm of row rows[a] of Φ.
func (c *grfCovariance) Diag(ctx context.Context, dst []float64, rows []int) error {
	const size = 1024
	if f, ok := c.factors.Peek(rows); ok && f.err == nil {
		return eachRow(ctx, len(rows), size, func(_, a int) {
			_, phi := f.phi.Row(a)
			dst[a] = squares(phi)
		})
	}
	if c.large && 8*len(rows) > c.Nodes() {
		phi, err := c.compact(ctx)
		if err != nil {
			return err
		}
		if c.isAll(rows) {
			phi.Squares(dst)
			return nil
		}
		all := make([]float64, c.Nodes())
		phi.Squares(all)
		for a, i := range rows {
			dst[a] = all[i]
		}
		return nil
	}
	return c.squaredRows(ctx, dst, rows)
}

// squaredRows sets dst[a] to the squared norm of row rows[a] of Φ, in float64.
func (c *grfCovariance) squaredRows(ctx context.Context, dst []float64, rows []int) error {
	const size = 1024
	blocks := (len(rows) + size - 1) / size
	scratch := make([][]float64, parallel.Workers(blocks))
	return parallel.Blocks(ctx, blocks, func(worker, b int) error {
		lo, hi := b*size, min(len(rows), (b+1)*size)
		own, err := c.features.ListOnce(ctx, rows[lo:hi])
		if err != nil {
			return fmt.Errorf("%w: %w", ErrFeatures, err)
		}
		for a := lo; a < hi; a++ {
			phi := room(&scratch[worker], len(own.Reached(a-lo)))
			own.CombineRow(phi, c.coeff, a-lo)
			dst[a] = squares(phi)
		}
		return nil
	})
}

func squares(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v * v)
	}
	return sum
}

// Prior sets the columns of dst to Φw with w ~ N(0, I).
func (c *grfCovariance) Prior(ctx context.Context, dst *mat.Dense, seed uint64) error {
	phi, err := c.phi(ctx)
	if err != nil {
		return err
	}
	_, width := phi.Dims()
	return strips(dst, func(lo int, dst *mat.Dense) error {
		_, columns := dst.Dims()
		w := c.block(width, columns)
		defer c.blocks.Put(w)
		if err := normal.Fill(ctx, w, seed, "prior", lo); err != nil {
			return err
		}
		phi.Mul(dst, w)
		return ctx.Err()
	})
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

// gramRows is the number of rows of a Gram matrix in a block. It is small,
// because the rows of a triangle have different lengths.
const gramRows = 8

// checkOrder panics unless the order of a is the length of the list.
func checkOrder(a mat.Symmetric, rows []int) {
	if n := a.SymmetricDim(); n != len(rows) {
		panic(fmt.Sprintf("kernel: a matrix of order %d for %d nodes", n, len(rows)))
	}
}

// room returns *buf with n elements, after growing it if it is too small.
func room(buf *[]float64, n int) []float64 {
	if cap(*buf) < n {
		*buf = make([]float64, n)
	}
	return (*buf)[:n]
}
