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

// VarianceReduction picks the nodes that shrink the total posterior variance
// most, one after the other, each given those before: measuring i takes
//
//	Σ_j cov(i, j)² / (var_i + noise)
//
// from the sum over nodes j, whatever its value. With costs: per cost. Value is
// the reduction of the mean variance.
//
// Covariances are exact: of every node with each candidate that is looked at,
// 1,024 of them, drawn by the seed where there are more. On graphs where that is
// too much it is 256, over 8,192 nodes drawn by the seed; the best of these, up to
// four times as many as are asked for, are compared over 16,384 others. A node that
// teaches something of one in a hundred is still seen by 164 of them. For many
// picks candidates are drawn anew after every fourth of them, and sums are over as
// many nodes as 2³² operations allow.
type VarianceReduction struct {
	Over []int // the nodes whose variance counts; nil: all
	Pool int   // most candidates looked at together, over all nodes; 0: as above
}

const (
	reductionPool    = 1024 // candidates looked at together: the most,
	reductionLeast   = 256  // and the least
	reductionOver    = 1 << 13
	reductionEntries = 1 << 24 // covariances over all nodes,
	reductionLast    = 1 << 14 // nodes that the best are compared over, at most
	reductionFlops   = 1 << 32
)

// reductionSizes say how much is looked at.
type reductionSizes struct {
	pool  int // candidates,
	over  int // over so many nodes,
	short int // and so many of them
	last  int // over so many
}

// sizes returns what to look at for n picks of so many candidates; without a
// short list, all of the pool is compared over the last number of nodes.
func (v VarianceReduction) sizes(n, candidates, nodes int) reductionSizes {
	if v.Pool > 0 {
		return reductionSizes{pool: v.Pool, last: nodes}
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
func (v VarianceReduction) Pick(ctx context.Context, s Surrogate, c *Candidates, n int, seed uint64) ([]Choice, error) {
	over, reason := v.Over, "takes most of those left from the variance of the nodes that count"
	if over == nil {
		over, reason = allNodes(s.Nodes()), "takes most of those left from the variance of all nodes together"
	}
	n = min(n, c.Len())
	if n == 0 || len(over) == 0 {
		return nil, nil
	}
	size, all := v.sizes(n, c.Len(), len(over)), len(over)
	few, over := some(over, size.over, rng.New(seed, "variance over", 1)), some(over, size.last, rng.New(seed, "variance over"))
	var picks []Choice
	var past []int
	for round := uint64(0); len(picks) < n; round++ {
		open := c.open()
		if len(open) == 0 {
			break
		}
		looked, why := some(open, size.pool, rng.New(seed, "variance pool", round)), ""
		most := n - len(picks)
		if len(looked) < len(open) {
			most, why = min(most, max(1, size.pool/4)), fmt.Sprintf(", of %d candidates looked at", len(looked))
		}
		if size.short > 0 {
			first, err := newReduction(ctx, s, few, past, c, looked)
			if err != nil {
				return nil, err
			}
			looked = first.shortlist(c, max(most, size.short*most/n))
		}
		if len(over) < all {
			why += fmt.Sprintf("; estimated by %d nodes", len(over))
		}
		plan, err := newReduction(ctx, s, over, past, c, looked)
		if err != nil {
			return nil, err
		}
		before := len(picks)
		for range most {
			choice, ok := plan.next(c)
			if !ok {
				break
			}
			choice.Why = c.reason(reason) + why
			picks, past = append(picks, choice), append(past, choice.Node)
		}
		if len(picks) == before {
			break
		}
	}
	return picks, nil
}

// some returns at most n of a list, drawn at random, in their order.
func some(list []int, n int, random *rng.Stream) []int {
	if len(list) <= n {
		return list
	}
	var drawn []int
	if r := rand.New(random); n < len(list)/32 { // few of many: a permutation would take longer than the rest
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

// reduction holds covariances of nodes, and of columns, with columns: nodes
// picked before, then candidates. As nodes are picked they become those given
// the picks.
type reduction struct {
	nodes  *mat.Dense // B; behind by the last pick
	own    *mat.Dense
	square []float64 // ‖b_a‖² for the columns of B
	noise  float64
	first  int   // column of the first candidate
	at     []int // number of each candidate
	gone   []bool

	last  int       // column picked last, −1 if none
	share []float64 // by how much of it each column is behind
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
		r.given(i)
	}
	return r, nil
}

// sums adds up what is computed from each row of B, by blocks of rows so that
// the result is the same at any number of threads.
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

// gain is how far the mean variance falls if column i is measured.
func (r *reduction) gain(i int) float64 {
	v := r.own.At(i, i) + r.noise
	if !(v > 0) {
		return 0
	}
	n, _ := r.nodes.Dims()
	return max(0, r.square[i]) / v / float64(n)
}

// next picks the best candidate.
func (r *reduction) next(c *Candidates) (Choice, bool) {
	k := r.best(c)
	if k < 0 {
		return Choice{}, false
	}
	choice := Choice{Node: c.nodes[r.at[k]], Value: r.gain(r.first + k)}
	r.take(k)
	c.Take(r.at[k])
	return choice, true
}

// shortlist returns the numbers of the n best candidates, each given those before.
func (r *reduction) shortlist(c *Candidates, n int) []int {
	var list []int
	for k := r.best(c); k >= 0 && len(list) < n; k = r.best(c) {
		list = append(list, r.at[k])
		r.take(k)
	}
	slices.Sort(list)
	return list
}

// best returns which candidate is best, −1 if none is left.
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

// take takes candidate k as measured.
func (r *reduction) take(k int) {
	r.gone[k] = true
	r.given(r.first + k)
}

// given takes column i as measured: a column b_a of B becomes b_a − d_a·b_i with
// d_a = cov(a, i)/(var_i + noise). One pass over B does so for the pick before
// and finds b_aᵀb_i for this one.
func (r *reduction) given(i int) {
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
