package walk

import (
	"math"
	"math/rand/v2"
	"sort"

	"grfgp/internal/parallel"
	"grfgp/internal/rng"
)

// expectedNoise returns, for every start node i in [Lo, Hi), about what
// E‖φ_i − ψ_i‖² is, by L products with a matrix and without a single walk. It
// takes walkers as independent and lengths as uncorrelated:
//
//	Σ_l f_l² s_i,l E[load_l²] / walkers_i,   E[load_l²] = v_i² (M^l v⁻²)_i,   M_ij = p_ij g_ij²,
//
// over the lengths l that are not known to be exact: a row is exact as long as
// there are no more paths than its budget. Halting multiplies by s = 1/P(length
// ≥ l). Repelling walkers do better than that, so this is no estimate of the
// error; but it tells the rows that carry the error from those that do not.
func (p *plan) expectedNoise(coeff []float64) []float64 {
	n := len(p.steps.rowPtr) - 1
	square, paths := make([]float64, n), make([]float64, n) // M^l v⁻², and the number of paths of length l
	nextSquare, nextPaths := make([]float64, n), make([]float64, n)
	for i := range square {
		v := p.steps.v(uint32(i))
		square[i], paths[i] = 1/(v*v), 1
	}
	noise := make([]float64, p.opts.Hi-p.opts.Lo)
	halting := 1.0
	for l := 1; l < len(coeff); l++ {
		parallel.Ranges(n, blockRows, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				nextSquare[i], nextPaths[i] = p.steps.spread(uint32(i), square, paths)
			}
		})
		square, nextSquare = nextSquare, square
		paths, nextPaths = nextPaths, paths
		switch p.opts.Sampler {
		case Independent:
			halting /= 1 - p.opts.Halt
		case AdHoc: // loads are not divided by the chance to get so far
			halting *= 1 - p.opts.Halt
		}
		for r := range noise {
			root := uint32(p.opts.Lo + r)
			walks, budget := p.opts.Walks, 0
			if p.opts.Sampler == Repelling {
				walks, budget = p.opts.forRoot(p.steps, root)
			}
			if paths[root] > float64(budget) {
				v := p.steps.v(root)
				noise[r] += coeff[l] * coeff[l] * halting * v * v * square[root] / float64(walks)
			}
		}
	}
	return noise
}

// spread returns row i of M·square and of |A|·paths, A the pattern of W.
func (s *steps) spread(i uint32, square, paths []float64) (sum, count float64) {
	a, b := s.row(i)
	odds, before := 1/float64(b-a), 0.0
	for e := a; e < b; e++ {
		if s.cum != nil {
			odds, before = s.cum[e]-before, s.cum[e]
		}
		g := s.factor(i, e)
		sum += odds * g * g * square[s.col[e]]
		count += paths[s.col[e]]
	}
	return sum, count
}

// defence is the share of pilot rows that are drawn with equal chances, whatever
// is expected of them. No row then counts for more than 1/defence times what it
// would in a plain sample, so a wrong expectation costs little.
const defence = 0.5

// draw is a row of a pilot: which, and the reciprocal of its chance, over the
// number of rows and so that it is one on average.
type draw struct {
	root   uint32
	weight float64
}

// pilotRows draws start nodes with replacement, those more often that are
// expected to carry more of the error: where a few hubs carry it, a plain sample
// misses them, and with them the error and its standard error. Draws are
// independent, so the spread over them says how far sums are off.
func (p *plan) pilotRows(coeff []float64, rows int) []draw {
	n := p.opts.Hi - p.opts.Lo
	if n == 0 {
		return nil
	}
	noise := p.expectedNoise(coeff)
	total := 0.0
	for _, v := range noise {
		total += v
	}
	lean := 1 - defence
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
	draws := make([]draw, rows)
	for k := range draws {
		u := sum * random.Float64()
		r := min(n-1, sort.Search(n, func(r int) bool { return upTo[r] > u }))
		draws[k] = draw{uint32(p.opts.Lo + r), sum / (float64(n) * chance(r))}
	}
	return draws
}
