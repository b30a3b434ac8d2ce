package bayesopt

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/gp"
	"grfgp/internal/parallel"
	"grfgp/internal/ranks"
)

// sharedPosterior is a Surrogate that several processes, ranks, have in common: each of
// them runs the same policy on the same posterior. They share what is drawn or predicted at all nodes, and
// each computes the rest.
type sharedPosterior struct {
	*gp.Posterior
	ranks *ranks.Group
}

// surrogate returns the posterior as policies see it.
func (o *Optimizer) surrogate(p *gp.Posterior) Surrogate {
	if o.opts.Ranks.Alone() {
		return p
	}
	return sharedPosterior{p, o.opts.Ranks}
}

// Mean implements Surrogate.
func (s sharedPosterior) Mean(ctx context.Context, nodes []int) ([]float64, error) {
	if len(nodes) < s.Nodes() {
		return s.Posterior.Mean(ctx, nodes)
	}
	lo, hi := ranks.Even(len(nodes), s.ranks.Size()).Range(s.ranks.Rank())
	own, err := s.MeanPart(ctx, nodes, lo, hi)
	if err != nil {
		return nil, err
	}
	all, _, err := ranks.Gather(ctx, s.ranks, own)
	return all, err
}

// drawn is joint posterior draws at a list of nodes, of which a rank has some.
type drawn struct {
	values *mat.Dense
	places []int // of the nodes in the list that was drawn at; nil: they are that list
	ranks  *ranks.Group
	parts  ranks.Layout // of that list
}

// drawAt draws at nodes. For more than a quarter of all nodes it draws at every one,
// which is quicker because kernels cache that factor.
func drawAt(ctx context.Context, s Surrogate, nodes []int, every *everyNode, n int, seed uint64) (*drawn, error) {
	d := &drawn{}
	if 4*len(nodes) > s.Nodes() && len(nodes) < s.Nodes() {
		d.places = nodes
		nodes = every.list(s.Nodes())
	}
	var err error
	shared, ok := s.(sharedPosterior)
	if ok {
		d.ranks = shared.ranks
	}
	d.parts = ranks.Even(len(nodes), d.ranks.Size())
	if !ok {
		d.values, err = s.Sample(ctx, nodes, n, seed)
		return d, err
	}
	lo, hi := d.parts.Range(d.ranks.Rank())
	d.values, err = shared.SamplePart(ctx, nodes, lo, hi, n, seed)
	return d, err
}

// place returns where a node is in the list that was drawn at.
func (d *drawn) place(at int) int {
	if d.places == nil {
		return at
	}
	return d.places[at]
}

// row returns the draws at a node, by its index; nil if another rank has them.
func (d *drawn) row(at int) []float64 {
	lo, hi := d.parts.Range(d.ranks.Rank())
	if p := d.place(at); p >= lo && p < hi {
		return d.values.RawRowView(p - lo)
	}
	return nil
}

// choice is a node with its score in a draw.
type choice struct {
	at    int // index; −1: none
	score float64
	value float64
}

// better reports whether c comes before other: by its score, of equal ones by its index.
func (c choice) better(other choice) bool {
	if c.at < 0 || other.at < 0 {
		return c.at >= 0
	}
	return c.score > other.score || c.score == other.score && c.at < other.at
}

// highest returns the open candidate of the highest gain per cost in draw k, the first of
// several, among those that this rank has. The gain is the value times direction, less the
// floor. NaN is never the highest.
func (d *drawn) highest(c *Candidates, k int, toward, floor float64) choice {
	const size = 1 << 14
	found := make([]choice, (c.Len()+size-1)/size)
	parallel.Ranges(c.Len(), size, func(from, to int) { found[from/size] = d.highestIn(c, from, to, k, toward, floor) })
	best := choice{at: -1}
	for _, f := range found {
		if f.better(best) {
			best = f
		}
	}
	return best
}

// highestIn is highest among the candidates [from, to).
func (d *drawn) highestIn(c *Candidates, from, to, k int, toward, floor float64) choice {
	lo, hi := d.parts.Range(d.ranks.Rank())
	values := d.values.RawMatrix()
	best := choice{at: -1, score: math.Inf(-1)}
	limited := c.limited() // most are not: then a candidate is open unless it was picked, and costs 1
	for at := from; at < to; at++ {
		place := at
		if d.places != nil {
			place = d.places[at]
		}
		if place < lo || place >= hi || c.picked[at] || limited && !c.Open(at) {
			continue
		}
		value := toward * values.Data[(place-lo)*values.Stride+k]
		score := value - floor
		if limited {
			score = perCost(score, c.Cost(at))
		}
		if score > best.score || best.at < 0 && score == best.score {
			best = choice{at, score, value}
		}
	}
	return best
}

// best returns, of one choice per rank, the best one, on all ranks.
func (d *drawn) best(ctx context.Context, own choice) (choice, error) {
	if d.ranks.Alone() {
		return own, nil
	}
	all, err := d.bestOf(ctx, []choice{own})
	if err != nil {
		return choice{}, err
	}
	return all[0], nil
}

// bestOf is best for several choices.
func (d *drawn) bestOf(ctx context.Context, own []choice) ([]choice, error) {
	if d.ranks.Alone() {
		return own, nil
	}
	var sent []float64
	for _, c := range own {
		sent = append(sent, float64(c.at), c.score, c.value)
	}
	all, starts, err := ranks.Gather(ctx, d.ranks, sent)
	if err != nil {
		return nil, err
	}
	best := make([]choice, len(own))
	for k := range best {
		best[k].at = -1
		for r := range d.ranks.Size() {
			c := all[starts[r]+3*k:]
			if other := (choice{int(c[0]), c[1], c[2]}); other.better(best[k]) {
				best[k] = other
			}
		}
	}
	return best, nil
}

// gathered returns, for count nodes, the number that own has for those of this rank, and
// the ranks' own ones for the others.
func (d *drawn) gathered(ctx context.Context, count int, of func(at int, row []float64) float64) ([]float64, error) {
	var own []float64
	for at := range count {
		if row := d.row(at); row != nil {
			own = append(own, of(at, row))
		}
	}
	if d.ranks.Alone() {
		return own, nil
	}
	parts, starts, err := ranks.Gather(ctx, d.ranks, own)
	if err != nil {
		return nil, err
	}
	all := make([]float64, count)
	for at := range all {
		r := d.parts.Owner(d.place(at))
		all[at] = parts[starts[r]]
		starts[r]++
	}
	return all, nil
}

// highestOf returns, for every draw, the first of the highest values among count nodes.
func (d *drawn) highestOf(ctx context.Context, draws, count int, toward float64) ([]choice, error) {
	own := make([]choice, draws)
	for k := range own {
		own[k] = choice{at: -1, score: math.Inf(-1)}
	}
	for at := range count {
		for k, v := range d.row(at) {
			if v *= toward; v > own[k].score {
				own[k] = choice{at, v, v}
			}
		}
	}
	return d.bestOf(ctx, own)
}
