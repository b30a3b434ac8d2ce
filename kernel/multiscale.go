package kernel

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"grfgp/kernel/internal/recent"
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
	fine   Kernel
	scales []scale
	shape  []Param // of the family, without its variance
	free   bool    // a shape for every scale
	chains recent.Cache[*chain]
	whole  func() *chain // of all nodes
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
	m := &Multiscale{fine: fine, free: opts.FreeLengths, shape: family.Params()}
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
	return m.ready(), nil
}

// ready initialises the caches of m.
func (m *Multiscale) ready() *Multiscale {
	m.whole = sync.OnceValue(func() *chain { return newChain(upTo(m.Nodes()), m.scales) })
	return m
}

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
			if p.Name = "coarse " + p.Name; m.free {
				p.Name = fmt.Sprintf("%s %d", p.Name, k+1)
			}
			all = append(all, p)
		}
	}
	for k := range m.scales {
		all = append(all, Param{Name: fmt.Sprintf("variance %d", k+1), Start: 1 / float64(len(m.scales)), Positive: true, Variance: true})
	}
	return all
}

// Training offers starts with some variance on every scale, or nearly all of it on
// one scale, each with a short and a long reach of the fine kernel. The cache is
// that of the fine kernel, if it has one.
func (m *Multiscale) Training() Training {
	t := Training{Starts: shareStarts(m.Params(), len(m.fine.Params()), len(m.scales))}
	if cache := TrainingOf(m.fine).Cache; cache != nil {
		t.Cache = func(rows []int, maxBytes int) Kernel {
			cached := &Multiscale{fine: cache(rows, maxBytes), scales: m.scales, shape: m.shape, free: m.free}
			return cached.ready()
		}
	}
	return t
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
	if err := checkTheta(theta, m.Params()); err != nil {
		return nil, err
	}
	c := &multiscaleCovariance{Multiscale: m}
	var err error
	if c.fine, err = m.fine.At(theta[:len(m.fine.Params())]); err != nil {
		return nil, err
	}
	for k, s := range m.scales {
		var own []float64
		if len(m.shape) < len(s.grf.Params()) {
			own = append(own, 1) // C_k is scaled to variance one afterwards
		}
		own = append(own, theta[m.shapeAt(k):][:len(m.shape)]...)
		raw, err := s.grf.at(own)
		if err != nil {
			return nil, fmt.Errorf("scale %d: %w", k+1, err)
		}
		c.parts = append(c.parts, newUnit(raw, theta[m.varianceAt(k)]))
	}
	return c, nil
}
