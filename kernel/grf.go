package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"grfgp/internal/parallel"
	"grfgp/kernel/internal/recent"
	"grfgp/plan"
	"grfgp/space"
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

	all    func() []int    // every node in order
	labels space.Labels    // per node
	perRow func() float64  // mean number of entries of a row
	whole  func() *pattern // of all nodes
}

// NewGRF returns the kernel of a family by features, which must cover every node.
func NewGRF(f *walk.Features, m Modulation) (*GRF, error) {
	n := f.Nodes()
	if lo, hi := f.Rows(); lo != 0 || hi != n {
		return nil, fmt.Errorf("%w: they are a shard, rows [%d, %d) of %d nodes; sample all rows", ErrFeatures, lo, hi, n)
	}
	k := &sampledRows{features: f, large: n > plan.Default().LazyNodes}
	k.all = sync.OnceValue(func() []int { return upTo(n) })
	k.whole = sync.OnceValue(func() *pattern { return k.newPattern(k.all()) })
	k.perRow = sync.OnceValue(f.EntriesPerRow)
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
	if err := checkTheta(theta, k.Params()); err != nil {
		return nil, err
	}
	c := &grfCovariance{GRF: k, coeff: make([]float64, k.features.MaxLen()+1)}
	c.byRoot = byRoot{k, slices.Clone(theta), c}
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
	byRoot
	coeff      []float64
	factors    recent.Cache[*factor]
	compactMu  sync.Mutex      // guards
	compactPhi *sparse.Compact // Φ of all nodes of a large graph; nil until first used
}

// Abilities are the features.
func (c *grfCovariance) Abilities() Abilities { return Abilities{Fine: &Sampling{c.features, c.coeff}} }

// failed returns the error of features, unless the context has ended.
func (c *grfCovariance) failed(ctx context.Context, err error) error {
	if stopped := ctx.Err(); stopped != nil {
		return stopped
	}
	return fmt.Errorf("%w: %w", ErrFeatures, err)
}

// compact returns Φ of all nodes with float32 entries, in half the memory or less, computed at first use and kept. The
// values of Ψ_l are float32 too, so Φ loses no more than they have.
func (c *grfCovariance) compact(ctx context.Context) (*sparse.Compact, error) {
	c.compactMu.Lock()
	defer c.compactMu.Unlock()
	if c.compactPhi == nil {
		phi, err := c.features.Compact(ctx, c.coeff)
		if err != nil {
			return nil, c.failed(ctx, err)
		}
		c.compactPhi = phi
	}
	return c.compactPhi, nil
}

// Diag sets dst[a] to the squared norm of row rows[a] of Φ.
func (c *grfCovariance) Diag(ctx context.Context, dst []float64, rows []int) error {
	if f, ok := c.factors.Peek(rows); ok && f.err == nil && !c.large {
		copy(dst, f.squares())
		return ctx.Err()
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
	const size = 1024
	blocks := (len(rows) + size - 1) / size
	scratch := make([][]float64, parallel.Workers(blocks))
	return parallel.Blocks(ctx, blocks, func(worker, b int) error {
		lo, hi := b*size, min(len(rows), (b+1)*size)
		own, err := c.features.ListOnce(ctx, rows[lo:hi])
		if err != nil {
			return c.failed(ctx, err)
		}
		for a := lo; a < hi; a++ {
			phi := room(&scratch[worker], len(own.Reached(a-lo)))
			own.CombineRow(phi, c.coeff, a-lo)
			for q := range phi {
				if c.large { // as in Φ of all nodes
					phi[q] = float64(float32(phi[q]))
				}
			}
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

// chain adds slope, derivatives by f_l, to grad as derivatives by θ_j.
func (c *grfCovariance) chain(grad, slope []float64) {
	by := make([][]float64, len(c.theta))
	for j := range by {
		by[j] = make([]float64, len(slope))
	}
	c.family.CoeffsGrad(by, c.theta)
	for j := range by {
		sum := 0.0
		for l, v := range slope {
			sum += float64(v * by[j][l])
		}
		grad[j] += sum
	}
}

// invertNorms sets each v to 1/√v, and to 0 where v is 0.
func invertNorms(squares []float64) {
	eachPlace(len(squares), func(a int) {
		v := squares[a]
		if squares[a] = 0; v > 0 {
			squares[a] = 1 / math.Sqrt(v)
		}
	})
}
