package kernel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel/internal/recent"
	"grfgp/plan"
	"grfgp/sparse"
	"grfgp/walk"
)

// ErrScales is wrapped by errors about scales that do not fit together.
var ErrScales = errors.New("scales do not fit together")

// Multiscale is a sum over coarser and coarser graphs, for functions that vary
// over longer distances than walks on the finest graph cover:
//
//	K = K_0 + Σ_k s_k² P_k C_k P_kᵀ.
//
// K_0 is any kernel on the nodes. C_k is the kernel of a family on scale k by
// random features, scaled to variance one at every node, so that no cell has more
// weight than another; P_k = Q_1 ⋯ Q_k interpolates from scale k to the nodes.
// Products are computed in factored form, scale by scale. They cost as much as
// the features of all scales together, which is linear in the number of nodes.
type Multiscale struct {
	fine Kernel
	*coarseScales
	tables []*table // of the scales, for the rows in training; nil: none
}

// coarseScales are the scales above a fine kernel, which several fine kernels may share.
type coarseScales struct {
	scales     []scale
	shape      []Param // of the family, without its variance
	free       bool    // a shape for every scale
	chains     recent.Cache[*chain]
	whole      func() *chain // of all nodes
	filled     func() bool   // every node of every scale interpolates to a node
	caches     shared[[]*table]
	aboves     recent.Cache[*chain] // of nodes of the scale of the preconditioner
	sharedFrom int                  // least number of nodes of a scale for each of several processes that share it
}

// Scale is a graph of a Multiscale, coarser than the one before it.
type Scale struct {
	Prolong  *sparse.CSR    // interpolates from its nodes to those of the finer scale before it: rows sum to one
	Features *walk.Features // of walks on this scale
}

type scale struct {
	prolong *sparse.CSR
	grf     *GRF
}

// MultiscaleOptions says how scales share hyperparameters.
type MultiscaleOptions struct {
	// FreeLengths gives every coarse scale a length scale of its own. By default all
	// coarse scales share one, measured in hops of each scale.
	FreeLengths bool
}

// NewMultiscale returns the sum of a fine kernel and of the kernels of a family
// on the given scales, from fine to coarse. The parameters are those of the fine
// kernel; then those of the family without its variance, once or for every scale;
// then the variances of the scales.
func NewMultiscale(fine Kernel, family Modulation, scales []Scale, opts MultiscaleOptions) (*Multiscale, error) {
	m := &Multiscale{fine: fine, coarseScales: &coarseScales{free: opts.FreeLengths, shape: family.Params()}}
	m.sharedFrom = plan.Default().SharedCells
	if hasVariance(m.shape) {
		m.shape = m.shape[1:]
	}
	if len(scales) == 0 {
		return nil, fmt.Errorf("%w: there are none; take the fine kernel alone", ErrScales)
	}
	below := fine.Nodes()
	for k, s := range scales {
		rows, cols := s.Prolong.Dims()
		if rows != below || cols != s.Features.Nodes() {
			return nil, fmt.Errorf("%w: scale %d has features of %d nodes and interpolates from %d to %d, but there are %d below",
				ErrScales, k+1, s.Features.Nodes(), cols, rows, below)
		}
		grf, err := NewGRF(s.Features, family)
		if err != nil {
			return nil, fmt.Errorf("scale %d: %w", k+1, err)
		}
		m.scales = append(m.scales, scale{s.Prolong, grf})
		below = cols
	}
	m.filled = sync.OnceValue(func() bool {
		return !slices.ContainsFunc(m.scales, func(s scale) bool { return hasEmptyColumn(s.prolong) })
	})
	m.whole = sync.OnceValue(func() *chain { return newChain(upTo(m.Nodes()), m.scales) })
	return m, nil
}

// With returns the sum of another fine kernel on the same nodes and the same coarser scales, and shares what
// they have computed.
func (m *Multiscale) With(fine Kernel) *Multiscale {
	if fine.Nodes() != m.Nodes() {
		panic(fmt.Sprintf("kernel: scales of %d nodes on a kernel of %d", m.Nodes(), fine.Nodes()))
	}
	return &Multiscale{fine: fine, coarseScales: m.coarseScales}
}

// ShareCaches makes all kernels with these coarser scales share the caches of Training, until release is called.
func (m *Multiscale) ShareCaches() (release func()) { return m.caches.share() }

// Nodes returns the number of nodes of the finest graph.
func (m *Multiscale) Nodes() int { return m.fine.Nodes() }

// Sizes returns the number of nodes of every coarser scale.
func (m *Multiscale) Sizes() []int {
	sizes := make([]int, len(m.scales))
	for k, s := range m.scales {
		sizes[k] = s.grf.Nodes()
	}
	return sizes
}

// Params returns the parameters of the fine kernel, of the scales' shape, and
// the variances of the scales.
func (m *Multiscale) Params() []Param {
	all := slices.Clone(m.fine.Params())
	if hasVariance(all) {
		// Measurements far from each other do not distinguish the fine scale from noise:
		// start with nearly all of it as noise.
		all[0].Start /= 100
	}
	for k := range m.shapes() {
		for _, p := range m.shape {
			if p.Positive {
				p.Start *= 2 // scales are a few hops apart
			}
			if p.Name = "coarse/" + p.Name; m.free {
				p.Name = fmt.Sprintf("%s %d", p.Name, k+1)
			}
			all = append(all, p)
		}
	}
	for k := range m.scales {
		all = append(all, Param{Name: fmt.Sprintf("coarse/variance %d", k+1), Start: 1 / float64(len(m.scales)), Positive: true, Variance: true})
	}
	return all
}

// Training offers starts with some variance on every scale, or nearly all of it on
// one scale, each with a short and a long reach of the fine kernel. The cache is
// that of the fine kernel, if it has one, and tables of the coarser scales, which are
// interpolated between lengths.
func (m *Multiscale) Training() Training {
	return Training{Starts: shareStarts(m.Params(), len(m.fine.Params()), len(m.scales)), Cache: m.cached}
}

func (m *Multiscale) cached(rows []int, maxBytes int) Kernel {
	fine := maxBytes / 2
	if TrainingOf(m.fine).Cache == nil {
		fine = 0
	}
	c := m.With(Cached(m.fine, rows, fine))
	if len(m.shape) != 1 || !m.shape[0].Positive {
		return c
	}
	each := min(plan.Default().TableBytes, maxBytes-fine) / len(m.scales)
	c.tables = m.caches.get(func(t []*table) bool { return t[0] != nil && slices.Equal(t[0].rows, rows) }, func() []*table {
		all := make([]*table, len(m.scales))
		for k := range all {
			shape := new(ontoPattern)
			all[k] = newTable(rows, 2*m.shape[0].Start, each, func(ctx context.Context, dst *mat.SymDense, length float64) error {
				return m.scaleGram(ctx, dst, k, rows, length, shape)
			})
		}
		return all
	})
	return c
}

// scaleGram adds C_k[rows, rows] to dst, for the given length and variance one.
func (m *Multiscale) scaleGram(ctx context.Context, dst *mat.SymDense, k int, rows []int, length float64, shape *ontoPattern) error {
	raw, err := m.scales[k].grf.covariance(m.shapeOf(k, []float64{length}))
	if err != nil {
		return err
	}
	f, err := newUnit(raw, 1).ontoFactor(m.chain(rows), k, shape)
	if err != nil {
		return err
	}
	return f.addGram(ctx, dst.RawSymmetric(), 1)
}

// shapeOf returns the parameters of the family on scale k, given those without its variance.
func (m *Multiscale) shapeOf(k int, shape []float64) []float64 {
	var own []float64
	if len(m.shape) < len(m.scales[k].grf.Params()) {
		own = append(own, 1) // C_k is scaled to variance one afterwards
	}
	return append(own, shape...)
}

// shareStarts returns starts for the sum of a fine kernel, whose parameters are the
// first, and scales, whose variances are the last.
func shareStarts(params []Param, fine, scales int) [][]float64 {
	var all [][]float64
	for _, longer := range []float64{0.5, 2} {
		for most := -1; most < scales; most++ {
			theta := make([]float64, len(params))
			for j, p := range params {
				if theta[j] = p.Start; j == 1 && j < fine && p.Positive {
					theta[j] *= longer
				}
			}
			for k := range scales {
				share := 0.01
				switch {
				case most < 0:
					share = 1 / float64(scales)
				case k == most:
					share = 1
				}
				theta[len(params)-scales+k] = share
			}
			all = append(all, theta)
		}
	}
	return all
}

// shapes returns the number of sets of shape parameters.
func (m *Multiscale) shapes() int {
	if m.free {
		return len(m.scales)
	}
	return 1
}

// shapeAt returns where the shape of scale k begins in theta.
func (m *Multiscale) shapeAt(k int) int {
	at := len(m.fine.Params())
	if m.free {
		at += k * len(m.shape)
	}
	return at
}

// varianceAt returns where the variance of scale k is in theta.
func (m *Multiscale) varianceAt(k int) int {
	return len(m.fine.Params()) + m.shapes()*len(m.shape) + k
}

// At returns the covariance at theta.
func (m *Multiscale) At(theta []float64) (Covariance, error) {
	c, err := m.covariance(theta)
	if err != nil {
		return nil, err // not an interface that holds a nil pointer
	}
	return c, nil
}

func (m *Multiscale) covariance(theta []float64) (*multiscaleCovariance, error) {
	if err := checkTheta(theta, m.Params()); err != nil {
		return nil, err
	}
	c := &multiscaleCovariance{Multiscale: m}
	c.byRoot = byRoot{m, slices.Clone(theta), c}
	var err error
	if c.fine, err = m.fine.At(theta[:len(m.fine.Params())]); err != nil {
		return nil, err
	}
	for k, s := range m.scales {
		shape := theta[m.shapeAt(k):][:len(m.shape)]
		if len(shape) > 0 {
			c.lengths = append(c.lengths, shape[0])
		}
		raw, err := s.grf.covariance(m.shapeOf(k, shape))
		if err != nil {
			return nil, fmt.Errorf("scale %d: %w", k+1, err)
		}
		c.parts = append(c.parts, newUnit(raw, theta[m.varianceAt(k)]))
	}
	return c, nil
}

// hasEmptyColumn reports whether a column of q has no entry.
func hasEmptyColumn(q *sparse.CSR) bool {
	rows, cols := q.Dims()
	seen, left := make([]bool, cols), cols
	for i := range rows {
		own, _ := q.Row(i)
		for _, j := range own {
			if !seen[j] {
				seen[j] = true
				left--
			}
		}
	}
	return left > 0
}
