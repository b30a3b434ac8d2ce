package grfgp

import (
	"slices"

	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/sparse"
	"grfgp/walk"
)

// matrix holds the matrix W of one Laplacian and the data that its kernels share.
type matrix struct {
	kind  graph.Normalization
	w     func() *sparse.CSR // of norm one
	walks func() walks       // the same for walks
	bound func() []float64   // positive, with W·bound = bound, which proves the norm
	unit  float64            // the Laplacian is unit·(I − W)

	dense    *kernel.Dense          // computed when first used,
	exact    *kernel.Series         // likewise,
	opposite *kernel.Series         // likewise, for −W
	features map[int]*walk.Features // by hops
	sampled  map[int]*kernel.GRF    // kernels by these features, which share what they compute
}

// matrix returns the matrix of a Laplacian. The empty name means normalized, and
// signless shares the matrix of normalized. The caller holds b.mu.
func (b *workshop) matrix(laplacian string) *matrix {
	if laplacian == "" || laplacian == "signless" {
		laplacian = normalized
	}
	m := b.matrices[laplacian]
	if m == nil {
		m = &matrix{kind: graph.NormalizedAdjacency, w: b.w, walks: b.walks, unit: 1, features: map[int]*walk.Features{}}
		if laplacian == "raw" {
			m.kind = graph.RawDiffusion
			w := b.graph.Normalized(m.kind)
			on := newWalks(w, nil, nil)
			m.w, m.walks = func() *sparse.CSR { return w }, func() walks { return on }
			m.unit = unit(w)
		}
		m.bound = func() []float64 {
			if v := b.graph.WalkScale(m.kind); v != nil {
				return v
			}
			return slices.Repeat([]float64{1}, b.graph.Len())
		}
		b.matrices[laplacian] = m
	}
	return m
}

// walked returns the matrix of a kernel.
func (b *workshop) walked(e Expression) *matrix {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.matrix(e.Laplacian)
}

// unit returns the factor that makes the mean diagonal of I − W one, over nodes with
// neighbours.
func unit(w *sparse.CSR) float64 {
	n, _ := w.Dims()
	nodes, sum := 0, 0.0
	for i := range n {
		if d := 1 - w.At(i, i); d != 0 {
			nodes++
			sum += d
		}
	}
	if nodes == 0 {
		return 1
	}
	return float64(nodes) / sum
}

// series returns the series of a family: without a cut-off if an expression has no hops, otherwise
// cut off at that number of hops. The signless Laplacian of W is the usual Laplacian
// of −W. In that form a kernel of long reach is steep at the upper end of the
// spectrum, where leading eigenvectors replace many terms.
func (m *matrix) series(by kernel.Modulation, e Expression) (*kernel.Series, error) {
	exact, ok := by.(kernel.Spectrum)
	if e.Hops > 0 || !ok {
		return kernel.NewSeries(m.w(), by, e.Hops)
	}
	if m.exact == nil {
		s, err := kernel.NewExact(m.w(), exact, m.bound())
		if err != nil {
			return nil, err
		}
		m.exact = s
	}
	if e.Laplacian != "signless" {
		return m.exact.With(exact), nil
	}
	spectrum := kernel.Signless(by).(kernel.Spectrum)
	if m.opposite == nil {
		m.opposite = m.exact.Opposite(spectrum)
	}
	return m.opposite.With(spectrum), nil
}
