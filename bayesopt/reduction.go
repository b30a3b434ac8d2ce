package bayesopt

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/internal/rng"
)

// VarianceReduction picks the node whose measurement reduces the total posterior
// variance most, and the nodes of a batch one after the other, each given the
// earlier picks (greedy A-optimal design). A measurement at i reduces the sum
// over nodes j by
//
//	Σ_j cov(i, j)² / (var_i + noise),
//
// whatever its value. With costs nodes are ranked by reduction per cost.
// Suggestion.Value is the reduction of the mean variance. The zero value sums
// over all nodes.
//
// Covariances are exact, but on large graphs only a sample is computed: of up to
// 1,024 random candidates with every node or, if that is too expensive, of 256
// random candidates with 8,192 random nodes. In the second case the best
// candidates, up to four times the number asked for, are then compared over 16,384
// other random nodes. (A candidate that is correlated with one node in a hundred is
// correlated with about 164 of these.) If many nodes are asked for, new candidates
// are drawn after a quarter of the sample has been picked, and sums are over as
// many nodes as 2³² operations allow.
type VarianceReduction struct {
	Over []int // target nodes, over whose variance the sum is; nil: all
	pool int   // candidates compared at a time, over all target nodes; 0: as above
}

const (
	reductionPool    = 1024    // candidates compared at a time: at most,
	reductionLeast   = 256     // and at least
	reductionOver    = 1 << 13 // target nodes of the first comparison
	reductionEntries = 1 << 24 // covariances in memory
	reductionLast    = 1 << 14 // target nodes of the second comparison, at most
	reductionFlops   = 1 << 32
)

// reductionSizes are the sizes of the two comparisons.
type reductionSizes struct {
	pool  int // candidates of the first,
	over  int // its target nodes,
	short int // candidates of the second; 0: there is no first
	last  int // target nodes of the second
}

// sizes returns the sizes for n picks. Where the whole pool is affordable over the
// last target nodes there is no first comparison.
func (v VarianceReduction) sizes(n, candidates, nodes int) reductionSizes {
	if v.pool > 0 {
		return reductionSizes{pool: v.pool, last: nodes}
	}
	entries := min(reductionEntries, reductionFlops/n)
	columns := max(min(reductionPool, max(reductionLeast, entries/nodes)), 2*n+64)
	pool := columns - n // room for the picks
	if candidates <= columns {
		pool, columns = candidates, candidates
	}
	if nodes*columns <= entries {
		return reductionSizes{pool: pool, last: nodes}
	}
	short := max(n, min(4*n, entries/nodes))
	over, last := min(nodes, reductionOver, max(1, entries/columns)), min(nodes, reductionLast, max(1, reductionFlops/n/(short+n)))
	if short >= pool || last <= over {
		return reductionSizes{pool: pool, last: min(nodes, max(1, entries/columns))}
	}
	return reductionSizes{pool, over, short, last}
}

// Pick implements Policy.
func (v VarianceReduction) Pick(ctx context.Context, s Surrogate, c *Candidates, n int, seed uint64) ([]Suggestion, error) {
	over, reason := v.Over, "largest reduction of the posterior variance of the target nodes"
	if over == nil {
		over, reason = c.every.list(s.Nodes()), "largest reduction of the total posterior variance"
	}
	n = min(n, c.Len())
	if n == 0 || len(over) == 0 {
		return nil, nil
	}
	size, all := v.sizes(n, c.Len(), len(over)), len(over)
	few, over := some(over, size.over, rng.New(seed, "variance over", 1)), some(over, size.last, rng.New(seed, "variance over"))
	var picks []Suggestion
	var past []int
	for round := uint64(0); len(picks) < n; round++ {
		open := c.open()
		if len(open) == 0 {
			break
		}
		looked, why := some(open, size.pool, rng.New(seed, "variance pool", round)), ""
		most := n - len(picks)
		if len(looked) < len(open) {
			most, why = min(most, max(1, size.pool/4)), fmt.Sprintf(", among %d random candidates", len(looked))
		}
		if size.short > 0 {
			first, err := newReduction(ctx, s, few, past, c, looked)
			if err != nil {
				return nil, err
			}
			looked = first.shortlist(c, max(most, size.short*most/n))
		}
		if len(over) < all {
			why += fmt.Sprintf(", estimated from %d random nodes", len(over))
		}
		plan, err := newReduction(ctx, s, over, past, c, looked)
		if err != nil {
			return nil, err
		}
		before := len(picks)
		for range most {
			s, ok := plan.next(c)
			if !ok {
				break
			}
			s.Why = c.reason(reason) + why
			picks, past = append(picks, s), append(past, s.Node)
		}
		if len(picks) == before {
			break
		}
	}
	return picks, nil
}

// some returns n random elements of a list, or all if there are fewer, in the order
// of the list.
func some(list []int, n int, random *rng.Stream) []int {
	if len(list) <= n {
		return list
	}
	var drawn []int
	if r := rand.New(random); n < len(list)/32 { // few of many: a permutation would be slow
		taken := make(map[int]bool, n)
		for len(drawn) < n {
			if at := r.IntN(len(list)); !taken[at] {
				taken[at] = true
				drawn = append(drawn, at)
			}
		}
	} else {
		drawn = r.Perm(len(list))[:n]
	}
	slices.Sort(drawn)
	for k, at := range drawn {
		drawn[k] = list[at]
	}
	return drawn
}

// reduction holds the covariance B of target nodes with columns (nodes picked
// before, then candidates) and that of columns with columns. Each pick conditions
// both on its measurement.
type reduction struct {
	nodes  *mat.Dense // B, before the update by the last pick
	own    *mat.Dense // columns with columns
	square []float64  // ‖b_a‖² for the columns of B
	noise  float64
	first  int   // column of the first candidate
	at     []int // index of each candidate
	gone   []bool

	last  int       // column picked last, −1 if none
	share []float64 // its multiple to subtract from each column of B
}

func newReduction(ctx context.Context, s Surrogate, over, past []int, c *Candidates, looked []int) (*reduction, error) {
	columns := slices.Clone(past)
	for _, at := range looked {
		columns = append(columns, c.nodes[at])
	}
	b, err := s.Covariance(ctx, over, columns)
	if err != nil {
		return nil, err
	}
	own, err := s.Covariance(ctx, columns, columns)
	if err != nil {
		return nil, err
	}
	r := &reduction{nodes: b, own: own, noise: s.NoiseVar(), first: len(past), at: looked, last: -1}
	r.gone, r.share = make([]bool, len(looked)), make([]float64, len(columns))
	r.square = r.sums(func(sum, row []float64) {
		for a, v := range row {
			sum[a] += v * v
		}
	})
	for i := range past {
		r.condition(i)
	}
	return r, nil
}

// sums adds up a function of each row of B, by blocks of rows so that the result
// does not depend on the number of threads.
func (r *reduction) sums(add func(sum, row []float64)) []float64 {
	const size = 512
	n, m := r.nodes.Dims()
	blocks := (n + size - 1) / size
	parts := make([]float64, blocks*m)
	parallel.Ranges(n, size, func(lo, hi int) {
		part := parts[lo/size*m:][:m]
		for j := lo; j < hi; j++ {
			add(part, r.nodes.RawRowView(j))
		}
	})
	sum := make([]float64, m)
	for q, v := range parts {
		sum[q%m] += v
	}
	return sum
}

// gain is the reduction of the mean variance by a measurement of column i.
func (r *reduction) gain(i int) float64 {
	v := r.own.At(i, i) + r.noise
	if !(v > 0) {
		return 0
	}
	n, _ := r.nodes.Dims()
	return max(0, r.square[i]) / v / float64(n)
}

// next takes the best candidate.
func (r *reduction) next(c *Candidates) (Suggestion, bool) {
	k := r.best(c)
	if k < 0 {
		return Suggestion{}, false
	}
	s := Suggestion{Node: c.nodes[r.at[k]], Value: r.gain(r.first + k)}
	r.take(k)
	c.Take(r.at[k])
	return s, true
}

// shortlist returns the indices of the n best candidates, each given those before.
func (r *reduction) shortlist(c *Candidates, n int) []int {
	var list []int
	for k := r.best(c); k >= 0 && len(list) < n; k = r.best(c) {
		list = append(list, r.at[k])
		r.take(k)
	}
	slices.Sort(list)
	return list
}

// best returns the best open candidate, −1 if there is none.
func (r *reduction) best(c *Candidates) int {
	best, most := -1, math.Inf(-1)
	for k, at := range r.at {
		if r.gone[k] || !c.Open(at) {
			continue
		}
		if rank := r.gain(r.first+k) / c.Cost(at); rank > most {
			best, most = k, rank
		}
	}
	return best
}

// take treats candidate k as measured.
func (r *reduction) take(k int) {
	r.gone[k] = true
	r.condition(r.first + k)
}

// condition treats column i as measured: a column b_a of B becomes b_a − d_a·b_i
// with d_a = cov(a, i)/(var_i + noise). One pass over B does so for the pick before
// and computes b_aᵀb_i for this one.
func (r *reduction) condition(i int) {
	v := r.own.At(i, i) + r.noise
	if !(v > 0) {
		return
	}
	last, behind := r.last, r.share
	along := r.sums(func(sum, row []float64) {
		if last >= 0 {
			u := row[last]
			for a, d := range behind {
				row[a] -= d * u
			}
		}
		u := row[i]
		for a, w := range row {
			sum[a] += u * w
		}
	})
	d := make([]float64, len(along))
	for a := range d {
		d[a] = r.own.At(a, i) / v
	}
	for a := range d {
		r.square[a] += d[a] * (d[a]*along[i] - 2*along[a])
		own := r.own.RawRowView(a)
		for b := range own {
			own[b] -= d[a] * d[b] * v
		}
	}
	r.last, r.share = i, d
}
