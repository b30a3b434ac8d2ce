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
	coarser
	*coarseScales
}

// coarseScales are the scales above a fine kernel, which several fine kernels may share.
type coarseScales struct {
	scales     []scale
	chains     recent.Cache[*chain]
	whole      func() *chain        // of all nodes
	filled     func() bool          // every node of every scale interpolates to a node
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
	kernel  Kernel // of variance one at every node
}

// NewMultiscale returns the sum of a fine kernel and of the kernels of a family
// on the given scales, from fine to coarse. The parameters are those of the fine
// kernel; then those of the family without its variance, which all scales share,
// measured in hops of each scale; then the variances of the scales.
func NewMultiscale(fine Kernel, family Modulation, scales []Scale) (*Multiscale, error) {
	m := &Multiscale{
		coarser{fine: fine, coarserParts: &coarserParts{count: len(scales)}},
		&coarseScales{sharedFrom: plan.Default().SharedCells},
	}
	m.gram = m.scaleGram
	for _, p := range family.Params() {
		if p.Variance {
			continue
		}
		if p.Name = "coarse/" + p.Name; p.Positive {
			p.Start *= 2 // scales are a few hops apart
		}
		m.shape = append(m.shape, p)
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
		m.scales = append(m.scales, scale{s.Prolong, grf, UnitVariance(grf)})
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
func (m *Multiscale) With(fine Kernel) *Multiscale { return &Multiscale{m.with(fine), m.coarseScales} }

// Sizes returns the number of nodes of every coarser scale.
func (m *Multiscale) Sizes() []int {
	sizes := make([]int, len(m.scales))
	for k, s := range m.scales {
		sizes[k] = s.grf.Nodes()
	}
	return sizes
}

// Training offers starts of the scales; the cache has tables of them.
func (m *Multiscale) Training() Training {
	return Training{Starts: m.starts(), Cache: func(rows []int, maxBytes int) Kernel {
		return &Multiscale{m.cached(rows, maxBytes), m.coarseScales}
	}}
}

// scaleGram implements coarserParts.gram.
func (m *Multiscale) scaleGram(k int, rows []int) func(ctx context.Context, dst *mat.SymDense, length float64) error {
	shape := new(ontoPattern)
	return func(ctx context.Context, dst *mat.SymDense, length float64) error {
		u, err := m.scales[k].at([]float64{1, length})
		if err != nil {
			return err
		}
		f, err := u.ontoFactor(m.chain(rows), k, shape)
		if err != nil {
			return err
		}
		return f.addGram(ctx, dst.RawSymmetric(), 1)
	}
}

// at returns the kernel at a variance and a shape.
func (s scale) at(theta []float64) (unit, error) {
	cov, err := s.kernel.At(theta)
	if err != nil {
		return unit{}, err
	}
	return newUnit(cov.(*unitCovariance)), nil
}

// At returns the covariance at theta.
func (m *Multiscale) At(theta []float64) (Covariance, error) {
	if err := checkTheta(theta, m.Params()); err != nil {
		return nil, err
	}
	c := &multiscaleCovariance{Multiscale: m}
	c.byRoot = byRoot{m, slices.Clone(theta), c}
	var err error
	if c.fine, err = m.fine.At(theta[:m.own()]); err != nil {
		return nil, err
	}
	for k, s := range m.scales {
		u, err := s.at(m.partTheta(theta, k))
		if err != nil {
			return nil, fmt.Errorf("scale %d: %w", k+1, err)
		}
		c.parts = append(c.parts, u)
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
