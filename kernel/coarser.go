package kernel

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/plan"
)

// coarser is a sum of a fine kernel and parts of longer and longer reach,
//
//	K = K_0 + Σ_k s_k² C_k,
//
// where all C_k have the same shape parameters. The parameters are those of the fine kernel, the shape, and the variances s_k².
type coarser struct {
	fine Kernel
	*coarserParts
	tables []*table // of the parts, for the rows in training; nil: none
}

// coarserParts are the parts above a fine kernel, which several fine kernels may share.
type coarserParts struct {
	count  int
	shape  []Param
	caches shared[[]*table]
	// gram returns a function that sets dst to C_k[rows, rows], given the one shape parameter.
	gram func(k int, rows []int) func(ctx context.Context, dst *mat.SymDense, length float64) error
}

// with returns the sum of another fine kernel on the same nodes and the same parts, and shares what they have computed.
func (m coarser) with(fine Kernel) coarser {
	if fine.Nodes() != m.Nodes() {
		panic(fmt.Sprintf("kernel: parts on %d nodes above a kernel on %d", m.Nodes(), fine.Nodes()))
	}
	return coarser{fine: fine, coarserParts: m.coarserParts}
}

// ShareCaches makes all kernels with these parts share the caches of Training, until release is called.
func (m coarser) ShareCaches() (release func()) { return m.caches.share() }

// Nodes returns the number of nodes.
func (m coarser) Nodes() int { return m.fine.Nodes() }

// Params returns the parameters of the fine kernel, of the shape, and the variances of the parts.
func (m coarser) Params() []Param {
	all := slices.Clone(m.fine.Params())
	if hasVariance(all) {
		// Measurements far from each other do not distinguish the fine kernel from noise:
		// start with nearly all of it as noise.
		all[0].Start /= 100
	}
	all = append(all, m.shape...)
	for k := range m.count {
		all = append(all, Param{Name: fmt.Sprintf("coarse/variance %d", k+1), Start: 1 / float64(m.count), Positive: true, Variance: true})
	}
	return all
}

// own returns the number of parameters of the fine kernel, after which the shape begins.
func (m coarser) own() int { return len(m.fine.Params()) }

// varianceAt returns where the variance of part k is in theta.
func (m coarser) varianceAt(k int) int { return m.own() + len(m.shape) + k }

// partTheta returns the variance and the shape of part k.
func (m coarser) partTheta(theta []float64, k int) []float64 {
	return append([]float64{theta[m.varianceAt(k)]}, theta[m.own():][:len(m.shape)]...)
}

// addSlopes adds gradients by the variance and the shape of every part.
func (m coarser) addSlopes(grad []float64, of func(k int, own []float64) error) error {
	for k := range m.count {
		own := make([]float64, 1+len(m.shape))
		if err := of(k, own); err != nil {
			return err
		}
		grad[m.varianceAt(k)] += own[0]
		floats.Add(grad[m.own():][:len(m.shape)], own[1:])
	}
	return nil
}

// starts returns starts with some variance on every part, or nearly all of it on one, each with a short and a long reach of
// the fine kernel.
func (m coarser) starts() [][]float64 {
	var all [][]float64
	params := m.Params()
	for _, longer := range []float64{0.5, 2} {
		for most := -1; most < m.count; most++ {
			theta := startOf(params)
			if m.own() > 1 && params[1].Positive {
				theta[1] *= longer
			}
			for k := range m.count {
				share := 0.01
				switch {
				case most < 0:
					share = 1 / float64(m.count)
				case k == most:
					share = 1
				}
				theta[m.varianceAt(k)] = share
			}
			all = append(all, theta)
		}
	}
	return all
}

// cached returns the sum with the cache of the fine kernel, if it has one, and with tables of the parts, which are interpolated
// between lengths.
func (m coarser) cached(rows []int, maxBytes int) coarser {
	fine := maxBytes / 2
	if TrainingOf(m.fine).Cache == nil {
		fine = 0
	}
	c := m.with(Cached(m.fine, rows, fine))
	if len(m.shape) != 1 || !m.shape[0].Positive {
		return c
	}
	each := min(plan.Default().TableBytes, maxBytes-fine) / m.count
	c.tables = m.caches.get(func(t []*table) bool { return t[0] != nil && slices.Equal(t[0].rows, rows) }, func() []*table {
		all := make([]*table, m.count)
		for k := range all {
			all[k] = newTable(rows, m.shape[0].Start, each, m.gram(k, rows))
		}
		return all
	})
	return c
}

// stencils returns how to interpolate the parts at the rows; ok is false where that is not possible.
func (m coarser) stencils(ctx context.Context, rows []int, theta []float64, slope bool) (all []stencil, ok bool, err error) {
	if m.tables == nil {
		return nil, false, nil
	}
	all = make([]stencil, m.count)
	oks, errs := make([]bool, m.count), make([]error, m.count)
	parallel.Tasks(m.count, func(k int) {
		all[k], oks[k], errs[k] = m.tables[k].stencil(ctx, rows, theta[m.own()], slope)
	})
	for k, ok := range oks {
		if !ok || errs[k] != nil {
			return nil, false, errs[k]
		}
	}
	return all, true, nil
}

// addTables adds the parts to dst, a K_0[rows, rows], by their tables; ok is false where that is not possible.
func (m coarser) addTables(ctx context.Context, dst *mat.SymDense, rows []int, theta []float64) (ok bool, err error) {
	all, ok, err := m.stencils(ctx, rows, theta, false)
	for k, s := range all {
		s.add(dst.RawSymmetric(), theta[m.varianceAt(k)])
	}
	return ok, err
}

// addTableSlopes adds ⟨g, ∂C/∂θ_j⟩ of the sum C of all parts to grad[j] by their tables; ok is false where that is not possible.
func (m coarser) addTableSlopes(ctx context.Context, grad []float64, rows []int, g *mat.SymDense, theta []float64) (ok bool, err error) {
	all, ok, err := m.stencils(ctx, rows, theta, true)
	for k, s := range all {
		value, slope := s.moments(g.RawSymmetric())
		grad[m.varianceAt(k)] += value
		grad[m.own()] += theta[m.varianceAt(k)] * slope
	}
	return ok, err
}
