package walk

import (
	"math"
	"math/rand/v2"
	"sort"

	"grfgp/internal/parallel"
	"grfgp/internal/rng"
)

// expectation describes the walks of one length from a node before any is taken:
// (M^l v⁻²)_i with M_ij = p_ij g_ij², so that v_i² times it is the mean
// square of their loads; and how many such paths there are.
type expectation struct{ square, paths float32 }

// expectations returns the expectations of all nodes, by length. They cost L products
// with a sparse matrix, and do not depend on the number of walkers: a run makes
// them once.
func (p *run) expectations() [][]expectation {
	if p.expected != nil {
		return p.expected
	}
	n := len(p.steps.rowPtr) - 1
	first := make([]expectation, n)
	for i := range first {
		v := p.steps.v(uint32(i))
		first[i] = expectation{float32(1 / (v * v)), 1}
	}
	p.expected = [][]expectation{first}
	for l := range p.opts.MaxLen {
		next := make([]expectation, n)
		parallel.Ranges(n, blockRows, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				next[i] = p.steps.spread(uint32(i), p.expected[l])
			}
		})
		p.expected = append(p.expected, next)
	}
	return p.expected
}

// spread returns the expectation of node i from those of its neighbours, for walks
// that are one step longer.
func (s *steps) spread(i uint32, from []expectation) expectation {
	a, b := s.row(i)
	odds, before := 1/float64(b-a), 0.0
	square, paths := 0.0, 0.0
	for e := a; e < b; e++ {
		if s.cum != nil {
			odds, before = s.cum[e]-before, s.cum[e]
		}
		g, to := s.factor(i, e), from[s.col[e]]
		square += odds * g * g * float64(to.square)
		paths += float64(to.paths)
	}
	return expectation{float32(square), float32(paths)}
}

// expectedNoise returns a rough E‖φ_i − ψ_i‖² for every start node i in [Lo, Hi),
// without a single walk. It takes walkers as independent and
// lengths as uncorrelated:
//
//	Σ_l f_l² v_i² (M^l v⁻²)_i / walkers_i
//
// over the lengths l that are not known to be exact: a row is exact as long as
// there are no more paths than its budget. Where walks halt, length l weighs
// 1/P(length ≥ l). Repelling walkers do better than that, so this is no estimate
// of the error; but it finds the rows that carry the error.
func (p *run) expectedNoise(coeff []float64) []float64 {
	expected := p.expectations()
	noise := make([]float64, p.opts.Hi-p.opts.Lo)
	parallel.Ranges(len(noise), blockRows, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			root := uint32(p.opts.Lo + r)
			walks, budget := p.opts.Walks, 0
			if p.opts.Sampler == Repelling {
				walks, budget = p.opts.forRoot(p.steps, root)
			}
			v, halting, sum := p.steps.v(root), 1.0, 0.0
			for l := 1; l < len(coeff); l++ {
				switch p.opts.Sampler {
				case Independent:
					halting /= 1 - p.opts.Halt
				case AdHoc: // loads are not divided by the chance to get so far
					halting *= 1 - p.opts.Halt
				}
				if o := expected[l][root]; float64(o.paths) > float64(budget) {
					sum += coeff[l] * coeff[l] * halting * float64(o.square)
				}
			}
			noise[r] = sum * v * v / float64(walks)
		}
	})
	return noise
}

// uniformShare is the share of pilot rows that are drawn with equal chances. No
// row then weighs more than 1/uniformShare times its weight in a uniform sample, so a
// wrong expectation costs little.
const uniformShare = 0.5

// pilotRow is a start node of a pilot, and its weight in sums over all rows: the
// reciprocal of its probability, scaled to one on average.
type pilotRow struct {
	root   uint32
	weight float64
}

// pilotRows draws start nodes with replacement, by importance: nodes with a larger
// expected error more often. Where a few hubs carry the error, a uniform sample
// misses them, and with them the error and its standard error. Draws are
// independent, so their scatter gives the standard error of sums.
func (p *run) pilotRows(coeff []float64, rows int) []pilotRow {
	n := p.opts.Hi - p.opts.Lo
	if n == 0 {
		return nil
	}
	noise := p.expectedNoise(coeff)
	total := 0.0
	for _, v := range noise {
		total += v
	}
	lean := 1 - uniformShare
	if !(total > 0) || math.IsInf(total, 0) { // all exact, or beyond numbers
		lean, total = 0, 1
	}
	chance := func(r int) float64 {
		c := (1 - lean) / float64(n)
		if lean > 0 {
			c += lean * noise[r] / total
		}
		return c
	}
	upTo := make([]float64, n)
	sum := 0.0
	for r := range upTo {
		sum += chance(r)
		upTo[r] = sum
	}
	random := rand.New(rng.New(p.opts.Seed, "pilot rows"))
	draws := make([]pilotRow, rows)
	for k := range draws {
		u := sum * random.Float64()
		r := min(n-1, sort.Search(n, func(r int) bool { return upTo[r] > u }))
		draws[k] = pilotRow{uint32(p.opts.Lo + r), sum / (float64(n) * chance(r))}
	}
	return draws
}
