package walk

import (
	"math"
	"sync/atomic"

	"grfgp/internal/parallel"
	"grfgp/sparse"
)

// flatTolerance is how far step probabilities of a row may differ, relatively,
// to count as equal: rounding in W makes them differ by a few ulps.
const flatTolerance = 1e-12

// steps are the transition probabilities p_ij of a matrix W, in the coordinates
// scaled by v: a walker that carries mass m from i to j carries m·g_ij on, with
// g_ij = W_ij·v_j / (v_i·p_ij). Ψ_l[i,j] is then mass·v_i/v_j.
type steps struct {
	rowPtr []uint32 // half the size of W's own, for the caches' sake
	col    []uint32
	val    []float64 // of W, or of A if there are strengths

	strengths []float64 // D of W = D^-½AD^-½; nil: val are the entries of W

	scale  []float64 // v; nil means all ones, or if rooted the roots of the strengths
	rooted bool
	cum    []float64 // cumulated p_ij of each row; nil when every row is flat: p_ij = 1/d_i
	growth []float64 // c_i = Σ_j |W_ij|v_j/v_i, so that g_ij = ±c_i; nil when all are one
	signed bool      // some weight is negative
	sinks  bool      // some row is empty
	edge   edgeFactor
}

// edgeFactor is the rule for g_ij.
type edgeFactor int

const (
	growthFactor  edgeFactor = iota // ±c_i: proportional steps
	uniformFactor                   // d_i·W_ij: uniform steps
	adHocFactor                     // W_ij: uniform steps, no importance weight
)

// newSteps prepares the steps on W. Facts are those of the matrix that W is a part of; nil: W is all
// of it.
func newSteps(w *sparse.CSR, opts Options, facts *Facts) *steps {
	s := &steps{scale: opts.Scale, strengths: opts.Strengths, rooted: opts.Rooted}
	s.matrix(w)
	switch {
	case opts.Sampler == AdHoc:
		s.edge, s.scale, s.rooted = adHocFactor, nil, false
	case opts.Steps == Uniform:
		s.edge, s.scale, s.rooted = uniformFactor, nil, false
	default:
		s.proportional(facts)
	}
	return s
}

// Facts are what the steps on a matrix depend on beside the rows that walks pass: whether any row
// of it has unequal odds, for instance. Those of parts of a matrix are combined by Or.
type Facts struct{ Steep, Grows, Signed, Sinks bool }

// Or returns the facts of two parts together.
func (f Facts) Or(g Facts) Facts {
	return Facts{f.Steep || g.Steep, f.Grows || g.Grows, f.Signed || g.Signed, f.Sinks || g.Sinks}
}

// FactsOf returns the facts of the rows [lo, hi) of W, which must be complete. Scale is
// Options.Scale.
func FactsOf(w *sparse.CSR, scale []float64, lo, hi int) Facts {
	s := &steps{scale: scale}
	s.matrix(w)
	return s.facts(lo, hi)
}

// matrix takes over the arrays of W.
func (s *steps) matrix(w *sparse.CSR) {
	var rowPtr []int
	rowPtr, s.col, s.val = w.Raw()
	s.rowPtr = make([]uint32, len(rowPtr))
	parallel.Ranges(len(rowPtr), stepRows, func(lo, hi int) {
		for i, p := range rowPtr[lo:hi] {
			s.rowPtr[lo+i] = uint32(p)
		}
	})
}

// stepRows is the number of rows that one goroutine prepares at a time.
const stepRows = 4096

// row returns where the entries of node i begin and end.
func (s *steps) row(i uint32) (a, b int) { return int(s.rowPtr[i]), int(s.rowPtr[i+1]) }

// weight returns entry p of W, which is in row i.
func (s *steps) weight(i uint32, p int) float64 {
	if s.strengths == nil {
		return s.val[p]
	}
	return sparse.Scaled(s.val[p], s.strengths[i], s.strengths[s.col[p]])
}

// v returns the scale of a node.
func (s *steps) v(i uint32) float64 {
	switch {
	case s.rooted:
		return math.Sqrt(s.strengths[i])
	case s.scale == nil:
		return 1
	}
	return s.scale[i]
}

// proportional fills the tables of steps ∝ |W_ij|·v_j, dropping tables
// that are constant.
func (s *steps) proportional(facts *Facts) {
	all := Facts{}
	if facts != nil {
		all = *facts
	} else {
		all = s.facts(0, len(s.rowPtr)-1)
	}
	s.signed, s.sinks = all.Signed, all.Sinks
	if all.Grows {
		s.growths()
	}
	if all.Steep {
		s.cumulate()
	}
}

// growths fills growth.
func (s *steps) growths() {
	s.growth = make([]float64, len(s.rowPtr)-1)
	parallel.Ranges(len(s.growth), stepRows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			s.growth[i] = s.rowFacts(uint32(i), &Facts{})
		}
	})
}

// facts returns those of the rows [first, last).
func (s *steps) facts(first, last int) (all Facts) {
	found := make([]Facts, (last-first+stepRows-1)/stepRows)
	tame := s.tame()
	parallel.Ranges(last-first, stepRows, func(lo, hi int) {
		f := &found[lo/stepRows]
		for i := uint32(first + lo); i < uint32(first+hi); i++ {
			if !tame || !s.quickFacts(i, f) {
				s.rowFacts(i, f)
			}
		}
	})
	for _, f := range found {
		all = all.Or(f)
	}
	return all
}

// rowFacts adds the facts of a row, and returns its growth c_i.
func (s *steps) rowFacts(i uint32, f *Facts) (growth float64) {
	least, most, sum := math.Inf(1), 0.0, 0.0
	a, b := s.row(i)
	for p := a; p < b; p++ {
		w := s.weight(i, p)
		t := math.Abs(w) * s.v(s.col[p])
		least, most, sum = min(least, t), max(most, t), sum+t
		f.Signed = f.Signed || w < 0
	}
	// A row of stored zeros is a sink that only the search can see.
	f.Steep = f.Steep || most-least > flatTolerance*most || a < b && sum == 0
	f.Sinks = f.Sinks || a == b
	growth = sum / s.v(i)
	f.Grows = f.Grows || sum > 0 && math.Abs(growth-1) > flatTolerance
	return growth
}

// Numbers between which a few products and quotients round to some 10⁻¹⁶, and neither overflow nor vanish.
const tameLeast, tameMost = 1e-100, 1e100

// tame reports whether quickFacts may be asked: v are the roots of strengths, and these are tame.
func (s *steps) tame() bool {
	var wild atomic.Bool
	parallel.Ranges(len(s.strengths), stepRows, func(lo, hi int) {
		for _, d := range s.strengths[lo:hi] {
			if !(d >= tameLeast && d <= tameMost) {
				wild.Store(true)
				return
			}
		}
	})
	return s.rooted && !wild.Load()
}

// quickFacts adds the facts of a row if its own weights are enough to tell: W_ij·v_j is A_ij/√D_i, and c_i is
// Σ_j A_ij/D_i, up to rounding. Near a tolerance, where rounding decides, it reports false and adds nothing.
func (s *steps) quickFacts(i uint32, f *Facts) bool {
	const mostEntries, rounding = 1000, flatTolerance / 10
	a, b := s.row(i)
	if a == b || b-a > mostEntries {
		return false
	}
	least, most, sum := math.Inf(1), 0.0, 0.0
	for _, w := range s.val[a:b] {
		least, most, sum = min(least, w), max(most, w), sum+w
	}
	if !(least >= tameLeast && most <= tameMost) || !(math.Abs(sum-s.strengths[i]) <= rounding*s.strengths[i]) {
		return false
	}
	switch spread := most - least; {
	case spread > 10*flatTolerance*most:
		f.Steep = true
	case spread > rounding*most:
		return false
	}
	return true
}

// cumulate fills cum; the last entry of each row with any weight is exactly 1.
func (s *steps) cumulate() {
	s.cum = make([]float64, len(s.val))
	n := len(s.rowPtr) - 1
	parallel.Ranges(n, stepRows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			a, b := s.row(uint32(i))
			sum := 0.0
			for p := a; p < b; p++ {
				sum += math.Abs(s.weight(uint32(i), p)) * s.v(s.col[p])
				s.cum[p] = sum
			}
			if sum == 0 {
				continue
			}
			last := b - 1
			for p := a; p < b; p++ {
				s.cum[p] /= sum
				if s.weight(uint32(i), p) != 0 {
					last = p
				}
			}
			for p := last; p < b; p++ {
				s.cum[p] = 1
			}
		}
	})
}

// sink reports whether no step leads away from node i.
func (s *steps) sink(i uint32) bool {
	a, b := s.row(i)
	return a == b || s.cum != nil && s.cum[b-1] == 0
}

// search returns the entry of node i whose share of [0, 1) holds u.
func (s *steps) search(i uint32, u float64) int {
	u = min(u, 1-0x1p-53) // (k−1+u)/k may round up to 1
	a, b := s.row(i)
	for b-a > 8 {
		mid := int(uint(a+b) >> 1)
		if s.cum[mid] > u {
			b = mid + 1
		} else {
			a = mid + 1
		}
	}
	for s.cum[a] <= u {
		a++
	}
	return a
}

// factor returns g_ij for the step along entry p of node i.
func (s *steps) factor(i uint32, p int) float64 {
	switch s.edge {
	case uniformFactor:
		return float64(s.rowPtr[i+1]-s.rowPtr[i]) * s.weight(i, p)
	case adHocFactor:
		return s.weight(i, p)
	}
	g := 1.0
	if s.growth != nil {
		g = s.growth[i]
	}
	if s.signed && s.weight(i, p) < 0 {
		g = -g
	}
	return g
}

// unit reports whether every step has factor one and leads on, so that loads
// need no carrying: the case of D^-½AD^-½ with v = √D.
func (s *steps) unit() bool {
	return s.edge == growthFactor && s.growth == nil && !s.signed && !s.sinks
}
