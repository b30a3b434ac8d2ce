package grfgp

import (
	"fmt"
	"sync"

	"grfgp/kernel"
)

// series returns the series of a family: without a cut-off if hops is 0, otherwise
// cut off at that number of hops. The signless Laplacian of W is the usual Laplacian
// of −W. In that form a kernel of long reach is steep at the upper end of the
// spectrum, where leading eigenvectors replace many terms.
func (m *matrix) series(f family, hops int) (*kernel.Series, error) {
	if hops > 0 || f.spectrum == nil {
		return kernel.NewSeries(m.w(), f.modulation, hops)
	}
	if m.exact == nil {
		s, err := kernel.NewExact(m.w(), f.spectrum, m.bound())
		if err != nil {
			return nil, err
		}
		m.exact = s
	}
	if f.laplacian != "signless" {
		return m.exact.With(f.spectrum), nil
	}
	spectrum := kernel.Signless(f.modulation).(kernel.Spectrum)
	if m.opposite == nil {
		m.opposite = m.exact.Opposite(spectrum)
	}
	return m.opposite.With(spectrum), nil
}

// shareCaches lets the kernels of a contest share what they compute for the rows of
// measurements, until release is called.
func (t *Trainer) shareCaches(method string) (release func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.training++
	if method == "series" && !t.spec.cutOff() && t.spec.Hops == 0 {
		m := t.matrix(t.spec.Laplacian)
		s, err := m.series(m.of(Spec{Family: "diffusion", Laplacian: t.spec.Laplacian}.families(0)[0]), 0)
		if err == nil { // else the contest returns the error
			t.shareWhileTraining(s)
		}
	}
	return sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.training--; t.training == 0 {
			for _, release := range t.releases {
				release()
			}
			t.releases, t.knownKernels = nil, nil
		}
	})
}

// shareWhileTraining makes kernels share their caches until no contest is under way. The caller holds t.mu.
func (t *Trainer) shareWhileTraining(k interface{ ShareCaches() (release func()) }) {
	if t.training > 0 {
		t.releases = append(t.releases, k.ShareCaches())
	}
}

// carriedLeast is the share of a kernel from which a representation is called
// exact.
const carriedLeast = 0.999

// shortfall says how much of a kernel its representation leaves out. It returns
// nothing if that is negligible, or if it is the usual truncation of walks.
func (t *Trainer) shortfall(c candidate, method string, theta []float64) ([]string, error) {
	switch {
	case method == "dense" || !c.terms.has(graphTerm):
		return nil, nil
	case c.Miss != nil && (method != "series" || c.hops > 0):
		if miss := c.Miss(c.modulation, c.hops); miss > 1-carriedLeast {
			return []string{fmt.Sprintf("walks of %d hops miss up to %.2g of the largest eigenvalue of the %s: series and dense represent it "+
				"exactly", c.hops, miss, c.name)}, nil
		}
	case method == "series" && c.hops == 0:
		t.mu.Lock()
		defer t.mu.Unlock()
		m := t.matrix(c.laplacian)
		s, err := m.series(m.of(c.family), 0)
		if err != nil {
			return nil, err
		}
		carried, err := s.Carried(append([]float64{1}, theta[1:len(c.modulation.Params())]...))
		if err != nil {
			return nil, err
		}
		if carried < carriedLeast {
			return []string{fmt.Sprintf("the series represents %.1f %% of this kernel: its reach is too long for a graph of this size",
				100*carried)}, nil
		}
	}
	return nil, nil
}
