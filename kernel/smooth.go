package kernel

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/internal/rng"
	"grfgp/kernel/internal/normal"
	"grfgp/solve"
)

// Smooth returns the kernel s²·k(r) of smooth functions of the columns of x, which
// has a row per node:
//
//	r² = Σ_g |x_g − x′_g|²/ℓ_g²
//
// where x_g are the columns d with group[d] = g. Each group has one length ℓ_g, so
// that the kernel does not change when the columns of a group are rotated; the
// longer ℓ_g, the less the group matters. A nil group stands for a single one.
// Groups are numbered from 0 without gaps; names, if any, has one name per
// group for its length. The kernel keeps x, which must not change.
//
// The parameters are s² and the lengths. Lengths start at 1.5·√(groups · variance of
// the group), where the variance is that of all its columns together, the number of
// columns if they are standardised: then r² is 0.9 on average.
//
// Entries are exact. Beyond 512 nodes, Prior draws from the low-rank kernel
// of Fourier with 1,024 pairs of features that depend on the seed: its diagonal is
// exact, and its other entries have an error of at most s²/√2048, or 2.3 % of s²
// (one sd).
func Smooth(x *mat.Dense, group []int, shape Shape, names ...string) Kernel {
	return &smooth{distances: newDistances(x, group, names), shape: shape.checked()}
}

type smooth struct {
	*distances
	shape Shape
	cache *distanceCache // nil: none
}

// distances are the scaled distances between rows of a matrix.
type distances struct {
	x      *mat.Dense
	means  []float64 // of the columns: differences of centred columns lose fewer digits
	group  []int     // of the columns
	sizes  []int     // columns of the groups
	params []Param
}

func newDistances(x *mat.Dense, group []int, names []string) *distances {
	n, width := x.Dims()
	if group == nil {
		group = make([]int, width)
	}
	if len(group) != width {
		panic(fmt.Sprintf("kernel: groups for %d columns of %d", len(group), width))
	}
	d := &distances{x: x, group: slices.Clone(group), means: columnSums(x), sizes: make([]int, slices.Max(group)+1)}
	for k := range d.means {
		d.means[k] /= float64(n)
	}
	for _, g := range group {
		if g < 0 {
			panic(fmt.Sprintf("kernel: a column in group %d", g))
		}
		d.sizes[g]++
	}
	if len(names) > 0 && len(names) != len(d.sizes) {
		panic(fmt.Sprintf("kernel: %d names for %d groups of columns", len(names), len(d.sizes)))
	}
	variances := d.variances()
	d.params = []Param{{Name: "smooth/variance", Start: 1, Positive: true, Variance: true}}
	for g, size := range d.sizes {
		if size == 0 {
			panic(fmt.Sprintf("kernel: group %d has no columns", g))
		}
		spread := variances[g]
		if !(spread > 0) { // a column of one value
			spread = float64(size)
		}
		p := Param{Name: "length", Start: 1.5 * math.Sqrt(spread*float64(len(d.sizes))), Positive: true}
		switch {
		case len(names) > 0:
			p.Name = "length/" + names[g]
		case len(d.sizes) > 1:
			p.Name = fmt.Sprintf("length/group %d", g+1)
		}
		d.params = appendNamed(d.params, []Param{p})
	}
	return d
}

// variances returns the variance of each group, that of its columns added up.
func (d *distances) variances() []float64 {
	n, width := d.x.Dims()
	const size = 8192
	blocks := make([]float64, (n+size-1)/size*width)
	parallel.Ranges(n, size, func(lo, hi int) {
		part := blocks[lo/size*width:][:width]
		for i := lo; i < hi; i++ {
			for k, v := range d.x.RawRowView(i) {
				off := v - d.means[k]
				part[k] += off * off
			}
		}
	})
	all := make([]float64, len(d.sizes))
	for q, v := range blocks {
		all[d.group[q%width]] += v / float64(n)
	}
	return all
}

func (s *smooth) Nodes() int      { n, _ := s.x.Dims(); return n }
func (s *smooth) Params() []Param { return s.params }

func (s *smooth) At(theta []float64) (Covariance, error) {
	if err := checkTheta(theta, s.params); err != nil {
		return nil, err
	}
	return &smoothCovariance{smooth: s, variance: theta[0], scaled: s.scaledBy(theta[1:])}, nil
}

// Training offers a cache of the squared distances within groups of many columns, 8
// bytes for each pair of rows and group.
func (s *smooth) Training() Training {
	if slices.Max(s.sizes) < cacheWidth {
		return Training{}
	}
	large := 0
	for _, size := range s.sizes {
		if size >= cacheWidth {
			large++
		}
	}
	cache := func(rows []int, maxBytes int) Kernel {
		k := *s
		k.cache = newDistanceCache(s.distances, rows, maxBytes)
		return &k
	}
	return Training{Cache: cache, CacheBytes: func(rows int) int { return 8 * large * triangleSize(rows) }}
}

// scaled are distances at given lengths.
type scaled struct {
	*distances
	lengths []float64
	factor  []float64 // 1/length for each column
}

func (d *distances) scaledBy(lengths []float64) scaled {
	s := scaled{d, slices.Clone(lengths), make([]float64, len(d.group))}
	for k, g := range d.group {
		s.factor[k] = 1 / lengths[g]
	}
	return s
}

// at returns the given columns of the rows, centred and divided by their
// lengths, as a dense matrix.
func (s scaled) at(dst *mat.Dense, rows, columns []int) {
	for a, i := range rows {
		in, out := s.x.RawRowView(i), dst.RawRowView(a)
		for k, d := range columns {
			out[k] = (in[d] - s.means[d]) * s.factor[d]
		}
	}
}

// squaresByGroup returns |x_g|² for every row of x and every group of its columns.
func (s scaled) squaresByGroup(x *mat.Dense, columns []int) *mat.Dense {
	n, _ := x.Dims()
	squares := mat.NewDense(n, len(s.sizes), nil)
	for a := range n {
		out := squares.RawRowView(a)
		for k, v := range x.RawRowView(a) {
			out[s.group[columns[k]]] += v * v
		}
	}
	return squares
}

// smoothCovariance is a smooth kernel at a theta.
type smoothCovariance struct {
	*smooth
	variance float64
	scaled   scaled

	once sync.Once // for root
	root *mat.TriDense
}

// Abilities: covariates correlate all nodes.
func (c *smoothCovariance) Abilities() Abilities { return Abilities{Everywhere: true} }

func (c *smoothCovariance) Diag(ctx context.Context, dst []float64, _ []int) error {
	for a := range dst {
		dst[a] = c.variance
	}
	return ctx.Err()
}

const (
	exactDraws = 512  // nodes up to which draws come from a factor of K,
	drawPairs  = 1024 // and pairs of random features of draws for more nodes
)

func (c *smoothCovariance) Prior(ctx context.Context, dst *mat.Dense, seed uint64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.Nodes() > exactDraws {
		f := newFourierColumns(c.distances, c.shape, drawPairs, uint64(rng.Derive(seed, "smooth prior")))
		return (&fourier{f}).covariance(c.variance, c.scaled).Prior(ctx, dst, seed)
	}
	root, err := c.factorOfAll(ctx)
	if err != nil {
		return err
	}
	w := mat.NewDense(c.Nodes(), dst.RawMatrix().Cols, nil)
	if err := normal.Fill(ctx, w, seed, "smooth prior", 0); err != nil {
		return err
	}
	dst.Mul(root, w)
	return ctx.Err()
}

// jitter is added to the diagonal of K, as a share of it, so that it has a factor
// despite rounding.
const jitter = 1e-10

// factorOfAll returns the Cholesky factor of K over all nodes.
func (c *smoothCovariance) factorOfAll(ctx context.Context) (*mat.TriDense, error) {
	var err error
	c.once.Do(func() {
		n := c.Nodes()
		k := mat.NewSymDense(n, nil)
		if err = c.Gram(context.WithoutCancel(ctx), k, upTo(n)); err != nil {
			return
		}
		for i := range n {
			k.SetSym(i, i, k.At(i, i)+jitter*c.variance)
		}
		var chol mat.Cholesky
		if chol.Factorize(k) {
			c.root = new(mat.TriDense)
			chol.LTo(c.root)
		}
	})
	if c.root == nil && err == nil {
		err = fmt.Errorf("%w: draws of a smooth kernel with %d nodes", solve.ErrNotPositiveDefinite, c.Nodes())
	}
	return c.root, err
}
