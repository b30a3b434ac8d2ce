package walk

import (
	"math"

	"grfgp/internal/rng"
)

// expansion bounds the edges that an exact step may touch, in budgets: a hub is
// walked from, not expanded.
const expansion = 4

// repelling draws rows by exact propagation while the support is small, and
// then by walkers that spread out. Every mass has the right expectation:
//
//   - an exact step hands m_i·p_ij·g_ij to each neighbour j;
//   - k walkers on node i give neighbour j ⌊q⌋ or ⌈q⌉ of them, q = k·p_ij, by
//     systematic sampling: one uniform number per node and step. A neighbour
//     that is sure to get one (q ≥ 1) receives its exact share m_i·p_ij·g_ij of
//     the mass, any other m_i·g_ij/k with probability q.
type repelling struct {
	*steps
	opts          Options
	walks, budget int // of the root
	maxLen        int
	weight        []float64 // all ones: masses are unbiased as they are
	crowds        []crowd
	arrivals      []arrival
	nodes         []uint32 // where the arrivals are
	words         []uint64
}

// crowd is the walkers on one node, with the mass that they carry together and
// the row of W that says where they may go.
type crowd struct {
	mass  float64
	a, b  int
	node  uint32
	count int32
}

// arrival is walkers that have chosen their next node, an entry of W.
type arrival struct {
	mass  float64
	entry uint32
	count int32
}

func newRepelling(s *steps, opts Options) *repelling {
	r := &repelling{steps: s, opts: opts, maxLen: opts.MaxLen}
	r.weight = make([]float64, opts.MaxLen+1)
	for l := range r.weight {
		r.weight[l] = 1
	}
	return r
}

// row estimates the row of one root and returns up to which length it is exact.
func (r *repelling) row(t *tally, root uint32, stream *rng.Stream) (exact uint8) {
	r.walks, r.budget = r.opts.forRoot(r.steps, root)
	t.reset()
	t.add(root, 1, 0)
	l := 0
	for l < r.maxLen && r.push(t) {
		l++
	}
	exact = uint8(l)
	if l < r.maxLen {
		r.recruit(t.front(), t.node, stream)
	}
	for ; l < r.maxLen && len(r.crowds) > 0; l++ {
		r.deal(stream)
		t.next()
		for q, a := range r.arrivals {
			t.add(r.nodes[q], a.mass, a.count)
		}
		r.gather(t)
	}
	return exact
}

// forRoot returns the walkers and the budget of a root: more at hubs.
func (o *Options) forRoot(s *steps, root uint32) (walks, budget int) {
	a, b := s.row(root)
	own := int(min(MaxWalks, math.Ceil(o.HubWalks*float64(b-a))))
	return max(o.Walks, own), max(o.Budget, 2*own)
}

// gather makes crowds of the visits of the current length.
func (r *repelling) gather(t *tally) {
	r.crowds = r.crowds[:0]
	for _, v := range t.front() {
		r.crowds = append(r.crowds, crowd{mass: v.mass, node: t.node[v.entry], count: v.count})
	}
}

// push moves all mass by one exact step, or does nothing and reports false if
// that would touch or reach too much.
func (r *repelling) push(t *tally) bool {
	from, to := t.begin, len(t.visits)
	edges := 0
	for _, v := range t.visits[from:to] {
		a, b := r.steps.row(t.node[v.entry])
		edges += b - a
	}
	if edges > expansion*r.budget {
		return false
	}
	t.next()
	for q := from; q < to; q++ {
		i, mass := t.node[t.visits[q].entry], t.visits[q].mass
		a, b := r.steps.row(i)
		share := mass / float64(b-a)
		for p := a; p < b; p++ {
			t.add(r.col[p], r.share(i, p, mass, share), 0)
		}
		if len(t.visits)-t.begin > r.budget {
			t.undo()
			t.begin = from
			return false
		}
	}
	return true
}

// share returns m_i·p_ij·g_ij = m_i·W_ij·v_j/v_i for entry p of node i; flat is
// m_i/d_i.
func (r *repelling) share(i uint32, p int, mass, flat float64) float64 {
	if r.cum == nil && r.edge == growthFactor {
		return flat * r.factor(i, p)
	}
	return mass * r.steps.weight(i, p) * r.v(r.col[p]) / r.v(i)
}

// recruit puts walkers on the nodes of the last exact length, ∝ their mass.
func (r *repelling) recruit(front []visit, node []uint32, stream *rng.Stream) {
	r.crowds = r.crowds[:0]
	total := 0.0
	for _, v := range front {
		total += math.Abs(v.mass)
	}
	if total == 0 {
		return
	}
	// Walker k stands at (k+u)·gap on the line of cumulated masses.
	u, gap := stream.Float64(), total/float64(r.walks)
	sum, taken := 0.0, 0
	for _, v := range front {
		m := math.Abs(v.mass)
		sum += m
		upTo := min(r.walks, int(math.Ceil(sum/gap-u)))
		count := upTo - taken
		taken = upTo
		if m >= gap {
			r.crowds = append(r.crowds, crowd{mass: v.mass, node: node[v.entry], count: int32(max(1, count))})
		} else if count > 0 {
			r.crowds = append(r.crowds, crowd{mass: math.Copysign(gap*float64(count), v.mass), node: node[v.entry], count: int32(count)})
		}
	}
}

// deal sends every crowd to neighbours of its node. It reads the graph in tight
// loops, row bounds first and columns last, so that many cache misses are under
// way at a time.
func (r *repelling) deal(stream *rng.Stream) {
	r.words = grow(r.words[:0], len(r.crowds))
	stream.Fill(r.words)
	for q := range r.crowds {
		c := &r.crowds[q]
		c.a, c.b = r.steps.row(c.node)
	}
	r.arrivals = r.arrivals[:0]
	unit := r.unit()
	for q := range r.crowds {
		c := &r.crowds[q]
		u := float64(r.words[q]>>11) * 0x1p-53
		switch {
		case r.cum != nil:
			r.dealWeighted(c, u)
		case int(c.count) >= c.b-c.a:
			r.dealAll(c, u)
		case c.count == 1 && unit:
			r.arrivals = append(r.arrivals, arrival{c.mass, uint32(c.a + int(u*float64(c.b-c.a))), 1})
		default:
			r.dealSome(c, u)
		}
	}
	r.nodes = grow(r.nodes[:0], len(r.arrivals))
	for q := range r.arrivals {
		r.nodes[q] = r.col[r.arrivals[q].entry]
	}
}

// dealAll is for at least as many walkers as neighbours: each gets its exact
// share of the mass, neighbour e the walkers with (w+u)·d/k in [e, e+1).
func (r *repelling) dealAll(c *crowd, u float64) {
	d, k := c.b-c.a, int(c.count)
	ratio := float64(k) / float64(d)
	flat, taken := c.mass/float64(d), 0
	for e := range d {
		upTo := min(k, int(math.Ceil(float64(e+1)*ratio-u)))
		p := c.a + e
		r.arrivals = append(r.arrivals, arrival{r.share(c.node, p, c.mass, flat), uint32(p), int32(max(1, upTo-taken))})
		taken = upTo
	}
}

// dealSome is for fewer walkers than neighbours: they go to as many of them,
// evenly spread over the row.
func (r *repelling) dealSome(c *crowd, u float64) {
	d, k := c.b-c.a, int(c.count)
	ratio, load := float64(d)/float64(k), c.mass/float64(k)
	for w := range k {
		p := c.a + min(d-1, int((float64(w)+u)*ratio))
		r.arrivals = append(r.arrivals, arrival{load * r.factor(c.node, p), uint32(p), 1})
	}
}

// dealWeighted is for neighbours of unequal odds.
func (r *repelling) dealWeighted(c *crowd, u float64) {
	if r.sink(c.node) {
		return
	}
	k := int(c.count)
	load := c.mass / float64(k)
	for w := 0; w < k; {
		p := r.search(c.node, (float64(w)+u)/float64(k))
		odds := r.cum[p]
		if p > c.a {
			odds -= r.cum[p-1]
		}
		// All further walkers below cum[p] go the same way.
		count := max(1, min(k, int(math.Ceil(r.cum[p]*float64(k)-u)))-w)
		w += count
		mass := load * float64(count) * r.factor(c.node, p)
		if odds*float64(k) >= 1 {
			mass = r.share(c.node, p, c.mass, 0)
		}
		r.arrivals = append(r.arrivals, arrival{mass, uint32(p), int32(count)})
	}
}
