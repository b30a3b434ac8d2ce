package bayesopt

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

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
// Covariances are exact. With M columns for N nodes they cost N·M² operations,
// so M is at most √(2³⁴/N): all candidates up to some 2,500 nodes, 1,300 of
// 10,000, 130 of a million, drawn by the seed. Beyond that many picks at a time
// candidates are drawn anew, and where even that takes too much (hundreds of
// picks among a million nodes) the sum is over a sample of nodes.
type VarianceReduction struct {
	Over []int // the nodes whose variance counts; nil: all
	Pool int   // most candidates looked at in a round; 0: as above
}

// reductionFlops bounds N·M².
const reductionFlops = 1 << 34

// Pick implements Policy.
func (v VarianceReduction) Pick(ctx context.Context, s Surrogate, c *Candidates, n int, seed uint64) ([]Choice, error) {
	over := v.Over
	if over == nil {
		over = allNodes(s.Nodes())
	}
	n = min(n, c.Len())
	if n == 0 || len(over) == 0 {
		return nil, nil
	}
	pool := v.Pool
	if pool == 0 {
		most := max(int(math.Sqrt(reductionFlops/float64(len(over)))), 2*n+64)
		pool = most - n
		over = some(over, reductionFlops/(most*most), rng.New(seed, "variance over"))
	}
	var picks []Choice
	var past []int
	for round := uint64(0); len(picks) < n; round++ {
		open := c.open()
		if len(open) == 0 {
			break
		}
		looked, most := some(open, pool, rng.New(seed, "variance pool", round)), n-len(picks)
		if len(looked) < len(open) {
			most = min(most, max(1, pool/4))
		}
		plan, err := newReduction(ctx, s, over, past, c, looked)
		if err != nil {
			return nil, err
		}
		for range most {
			choice, ok := plan.next(c)
			if !ok {
				break
			}
			if len(looked) < len(open) {
				choice.Why += fmt.Sprintf(" of %d candidates looked at", len(looked))
			}
			picks, past = append(picks, choice), append(past, choice.Node)
		}
	}
	return picks, nil
}

// some returns at most n of a list, drawn at random, in their order.
func some(list []int, n int, random *rng.Stream) []int {
	if len(list) <= n {
		return list
	}
	drawn := rand.New(random).Perm(len(list))[:n]
	slices.Sort(drawn)
	for k, at := range drawn {
		drawn[k] = list[at]
	}
	return drawn
}

// reduction holds covariances between columns: nodes picked before, then the
// candidates. With B the covariances of nodes and columns, total = BᵀB and own
// are rows of B; as nodes are picked both change by terms of low rank.
type reduction struct {
	total, own *mat.Dense
	noise      float64
	nodes      float64 // that B has
	first      int     // column of the first candidate
	at         []int   // number of each candidate
	gone       []bool
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
	r := &reduction{total: &mat.Dense{}, own: own, noise: s.NoiseVar(), nodes: float64(len(over)), first: len(past), at: looked}
	r.gone = make([]bool, len(looked))
	r.total.Mul(b.T(), b)
	for i := range past {
		r.given(i)
	}
	return r, nil
}

// gain is how far the mean variance falls if column i is measured.
func (r *reduction) gain(i int) float64 {
	v := r.own.At(i, i) + r.noise
	if !(v > 0) {
		return 0
	}
	return max(0, r.total.At(i, i)) / v / r.nodes
}

// next picks the best candidate.
func (r *reduction) next(c *Candidates) (Choice, bool) {
	best, most := -1, math.Inf(-1)
	for k, at := range r.at {
		if r.gone[k] || !c.Open(at) {
			continue
		}
		if rank := r.gain(r.first+k) / c.Cost(at); rank > most {
			best, most = k, rank
		}
	}
	if best < 0 {
		return Choice{}, false
	}
	choice := Choice{c.nodes[r.at[best]], r.gain(r.first + best), "takes most from the variance of all nodes together"}
	r.gone[best] = true
	c.Take(r.at[best])
	r.given(r.first + best)
	return choice, true
}

// given takes column i as measured: a column b_a of B becomes b_a − d_a·b_i with
// d_a = cov(a, i)/(var_i + noise).
func (r *reduction) given(i int) {
	m, _ := r.own.Dims()
	v := r.own.At(i, i) + r.noise
	if !(v > 0) {
		return
	}
	d, g := make([]float64, m), slices.Clone(r.total.RawRowView(i))
	for a := range d {
		d[a] = r.own.At(a, i) / v
	}
	for a := range m {
		total, own := r.total.RawRowView(a), r.own.RawRowView(a)
		for b := range m {
			total[b] -= d[b]*g[a] + d[a]*g[b] - d[a]*d[b]*g[i]
			own[b] -= d[a] * d[b] * v
		}
	}
}
