package grfgp

import (
	"maps"
	"slices"

	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/sparse"
	"grfgp/walk"
)

// Laplacians returns the values of Spec.Laplacian, the matrix L in kernels such as
// exp(−βL). With the weight matrix A and the diagonal matrix D of its row sums,
//
//	normalized  I − D^-½ A D^-½
//	signless    I + D^-½ A D^-½: neighbours are negatively correlated
//	raw         (D − A)/d̄, with d̄ the mean of D_i − A_ii over nodes with neighbours
//
// Divided by d̄, the raw Laplacian has the mean eigenvalue one, as the others have. So
// β and κ have the same starting values for all three and do not depend on the unit of
// the weights.
func Laplacians() []string { return slices.Clone(laplacianNames) }

// normalized is the default of Spec.Laplacian.
const normalized = "normalized"

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
// signless shares the matrix of normalized. The caller holds t.mu.
func (t *Trainer) matrix(laplacian string) *matrix {
	if laplacian == "" || laplacian == "signless" {
		laplacian = normalized
	}
	m := t.matrices[laplacian]
	if m == nil {
		m = &matrix{kind: graph.NormalizedAdjacency, w: t.w, walks: t.walks, unit: 1, features: map[int]*walk.Features{}}
		if laplacian == "raw" {
			m.kind = graph.RawDiffusion
			w := t.graph.Normalized(m.kind)
			on := newWalks(w, nil, nil)
			m.w, m.walks = func() *sparse.CSR { return w }, func() walks { return on }
			m.unit = unit(w)
		}
		m.bound = func() []float64 {
			if v := t.graph.WalkScale(m.kind); v != nil {
				return v
			}
			return slices.Repeat([]float64{1}, t.graph.Len())
		}
		t.matrices[laplacian] = m
	}
	return m
}

// walked returns the matrix of a complete Spec.
func (t *Trainer) walked(s Spec) *matrix {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.matrix(s.Laplacian)
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

// of returns a family with its length scale in the unit of the Laplacian.
func (m *matrix) of(f family) family {
	f.modulation = f.OnUnit(f.modulation, m.unit)
	if f.laplacian == "signless" {
		f.modulation = kernel.Signless(f.modulation)
	}
	f.spectrum, _ = f.modulation.(kernel.Spectrum)
	return f
}

// forget drops the features of all kernels except the candidate's, because they take
// gigabytes on large graphs.
func (t *Trainer) forget(but candidate) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shared {
		return
	}
	kept := t.matrix(but.laplacian)
	for _, m := range t.matrices {
		maps.DeleteFunc(m.features, func(hops int, _ *walk.Features) bool { return m != kept || hops != but.hops })
		maps.DeleteFunc(m.sampled, func(hops int, _ *kernel.GRF) bool { return m != kept || hops != but.hops })
	}
}
