package gp

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/ranks"
	"grfgp/kernel"
	"grfgp/solve"
)

// ErrShared is wrapped by errors of Posterior methods that are for one process.
var ErrShared = errors.New("several processes share this posterior")

// sharedFrom is the least number of measurements per rank for which ranks share the
// iterative solver. With fewer, each of them computes all, because messages would take
// longer than the products.
const sharedFrom = 4 * ranks.BlockRows

// share is what a rank has of a system of measurements that several ranks solve
// together.
type share struct {
	kernel kernel.Kernel // whose lists of nodes are those of this rank
	rows   *solve.Rows
	all    Data // the measurements of all ranks
}

// newShare returns the share of this rank in the measurements, of which a rank has at least some;
// nil where each rank has to compute all.
func newShare(g *ranks.Group, k kernel.Kernel, d Data, least int) *share {
	spread := kernel.TrainingOf(k).Spread
	if g.Alone() || spread == nil || d.Len() < least*g.Size() {
		return nil
	}
	own := spread(g)
	if own == nil {
		return nil
	}
	return &share{own, &solve.Rows{Group: g, Layout: ranks.Even(d.Len(), g.Size())}, d}
}

// data returns the measurements of this rank.
func (s *share) data() Data {
	lo, hi := s.rows.Layout.Range(s.rows.Group.Rank())
	return s.all.Slice(lo, hi)
}

// over returns the likelihood as ranks compute it together; l itself for one rank, and
// where each of them has to compute all.
func (l *marginal) over(g *ranks.Group, how Stochastic) *marginal {
	s := newShare(g, l.kernel, l.data, how.sharedFrom())
	if s == nil {
		return l
	}
	return &marginal{kernel: s.kernel, data: s.data(), meanVar: l.meanVar, params: l.params, share: s}
}

// systemRows returns which measurements the ranks have; nil: one rank has all.
func (l *marginal) systemRows() *solve.Rows {
	if l.share == nil {
		return nil
	}
	return l.share.rows
}

// group returns the ranks that compute the likelihood together.
func (l *marginal) group() *ranks.Group {
	if l.share == nil {
		return nil
	}
	return l.share.rows.Group
}

// within is Data.within of the measurements of all ranks.
func (l *marginal) within(noise float64) (value, slope float64) {
	if l.share != nil {
		return l.share.all.within(noise)
	}
	return l.data.within(noise)
}

// dot returns the inner product of vectors of which each rank has its rows.
func dot(ctx context.Context, rows *solve.Rows, a, b []float64) (float64, error) {
	sum, err := rows.Sum(ctx, len(a), 1, func(lo, hi int, sums []float64) {
		for i, v := range a[lo:hi] {
			sums[0] += v * b[lo+i]
		}
	})
	return sum[0], err
}

// Ranks returns the processes that share the posterior, and which nodes this one has: it
// must be asked for these alone, and all call the same methods. The group is nil if there
// is one process, or each has all of the posterior.
func (p *Posterior) Ranks() (g *ranks.Group, lo, hi int) {
	if p.share == nil {
		return nil, 0, p.Nodes()
	}
	g = p.share.rows.Group
	lo, hi = p.layout().Range(g.Rank())
	return g, lo, hi
}

// layout returns which nodes the ranks have.
func (p *Posterior) layout() ranks.Layout { return ranks.Even(p.Nodes(), p.share.rows.Group.Size()) }

// allData returns the measurements of all ranks, standardised.
func (p *Posterior) allData() Data {
	if p.share != nil {
		return p.share.all
	}
	return p.data
}

// systemRows returns which measurements the ranks have; nil: one rank has all.
func (p *Posterior) systemRows() *solve.Rows {
	if p.share == nil {
		return nil
	}
	return p.share.rows
}

// alone returns an error if several processes share the posterior.
func (p *Posterior) alone(what string) error {
	if p.share == nil {
		return nil
	}
	return fmt.Errorf("%s of %d measurements over %d ranks: %w; use one process", what, p.share.all.Len(), p.share.rows.Group.Size(),
		ErrShared)
}

// sampleShared is sample at own nodes of this rank.
func (p *Posterior) sampleShared(ctx context.Context, nodes []int, draws int, seed uint64) (*mat.Dense, error) {
	g, lo, hi := p.Ranks()
	counts, _, err := ranks.Gather(ctx, g, []int{len(nodes)})
	if err != nil {
		return nil, err
	}
	wanted := 0
	for _, n := range counts {
		wanted += n
	}
	own := make([]int, len(nodes))
	for a, i := range nodes {
		own[a] = i - lo
	}
	if begin := kernel.AbilitiesOf(p.cov).Draw; begin != nil && 2*wanted >= p.Nodes() {
		d, err := begin(ctx, draws, seed, p.data.Nodes)
		if err != nil {
			return nil, err
		}
		weights, err := p.update(ctx, d.At(), seed)
		if err != nil {
			return nil, err
		}
		out := mat.NewDense(hi-lo, draws, nil)
		return rowsOf(out, own), d.Update(ctx, out, weights)
	}
	prior := mat.NewDense(hi-lo, draws, nil)
	if err := p.cov.Prior(ctx, prior, seed); err != nil {
		return nil, err
	}
	at, err := p.priorMeasured(ctx, prior)
	if err != nil {
		return nil, err
	}
	weights, err := p.update(ctx, at, seed)
	if err != nil {
		return nil, err
	}
	out := mat.NewDense(len(nodes), draws, nil)
	if err := p.cov.Cross(nodes, p.data.Nodes).Apply(ctx, out, weights); err != nil {
		return nil, err
	}
	addPrior(out, prior, own)
	return out, nil
}

// priorMeasured returns the rows of draws from the prior at the measured nodes of this
// rank, some of which other ranks own.
func (p *Posterior) priorMeasured(ctx context.Context, prior *mat.Dense) (*mat.Dense, error) {
	g, lo, hi := p.Ranks()
	var need []uint32
	for _, i := range p.data.Nodes {
		if i < lo || i >= hi {
			need = append(need, uint32(i))
		}
	}
	slices.Sort(need)
	need = slices.Compact(need)
	rim, err := g.NewRim(ctx, p.layout(), need)
	if err != nil {
		return nil, err
	}
	_, draws := prior.Dims()
	far := make([]float64, len(need)*draws)
	if err := ranks.Fill(ctx, rim, far, prior.RawMatrix().Data, draws, draws); err != nil {
		return nil, err
	}
	at := mat.NewDense(p.data.Len(), draws, nil)
	for a, i := range p.data.Nodes {
		if i >= lo && i < hi {
			at.SetRow(a, prior.RawRowView(i-lo))
			continue
		}
		k, _ := slices.BinarySearch(need, uint32(i))
		at.SetRow(a, far[k*draws:][:draws])
	}
	return at, nil
}
