package gp

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/kernel"
	"grfgp/plan"
	"grfgp/progress"
	"grfgp/space"
)

// checkNodes returns an error for a node that the kernel does not have.
func (p *Posterior) checkNodes(lists ...[]int) error {
	n := p.Nodes()
	for _, nodes := range lists {
		for _, i := range nodes {
			if i < 0 || i >= n {
				return fmt.Errorf("there is no node %d of %d", i, n)
			}
		}
	}
	return nil
}

// Mean returns the posterior mean at the given nodes.
func (p *Posterior) Mean(ctx context.Context, nodes []int) ([]float64, error) {
	return p.MeanPart(ctx, nodes, 0, len(nodes))
}

// MeanPart returns the places [lo, hi) of Mean.
func (p *Posterior) MeanPart(ctx context.Context, nodes []int, lo, hi int) ([]float64, error) {
	l, err := p.places(nodes, lo, hi)
	if err != nil || l.empty() {
		return nil, err
	}
	mean, err := p.standardMean(ctx, l)
	if err != nil {
		return nil, fmt.Errorf("posterior mean: %w", err)
	}
	u := p.model.units
	for i, v := range mean {
		mean[i] = u.Center + u.Scale*v
	}
	return mean, nil
}

// standardMean returns the mean of standardised values at places.
func (p *Posterior) standardMean(ctx context.Context, l places) (mean []float64, err error) {
	err = p.at(ctx, l, func(v *view) error {
		at, err := p.mean(ctx, v)
		if err != nil {
			return err
		}
		defer at.Free()
		mean = make([]float64, l.len())
		at.Get(mean)
		return nil
	})
	return mean, err
}

// Variance returns the posterior variance of the quantity itself at the given
// nodes, without noise: a new measurement has the noise variance in addition. With
// alternatives the squares of their shifts of the mean are added.
func (p *Posterior) Variance(ctx context.Context, nodes []int) ([]float64, error) {
	return p.VariancePart(ctx, nodes, 0, len(nodes), nil)
}

// VariancePart returns the places [lo, hi) of Variance, and tells w how far it is. Whether
// variances are exact is decided for all nodes.
func (p *Posterior) VariancePart(ctx context.Context, nodes []int, lo, hi int, w *progress.Work) ([]float64, error) {
	l, err := p.places(nodes, lo, hi)
	if err != nil || l.empty() {
		return nil, err
	}
	variance := p.exactVariance
	if p.SDError(len(nodes)) != 0 {
		variance = p.sampledVariance
	}
	out, err := variance(ctx, l, w.Part(1, 0.01*float64(len(p.alternatives))))
	if err != nil {
		return nil, err
	}
	shifts, err := p.shifts(ctx, l)
	if err != nil {
		return nil, fmt.Errorf("posterior variance: %w", err)
	}
	for i := range out {
		for k := range p.alternatives {
			v := p.model.units.Scale * shifts.At(i, k)
			out[i] += v * v
		}
	}
	w.Done()
	return out, nil
}

const (
	varianceDraws = 256
	varianceBytes = 64 << 20 // of draws at a time, on graphs where these are more
)

// drawGroup returns the number of draws at a time at n nodes, which divides varianceDraws. A group passes over the
// kernel once, and some kernels cost as much for one draw as for all.
func drawGroup(n int) int {
	group := plan.DrawGroup
	for group < varianceDraws && 2*group*8*n <= varianceBytes {
		group *= 2
	}
	return group
}

// sampledSDError is the relative standard error of a standard deviation from
// varianceDraws samples: 1/√(2·256) = 0.0442. Where samples are solved by
// iteration they add at most 0.005 to it (see accuracy).
const sampledSDError = 0.0445

// SDError returns the relative standard error of the standard deviations √Variance
// at the given number of nodes: 0 where they are exact, and 0.0445 where exact ones
// would take too long and Variance averages 256 posterior draws instead.
func (p *Posterior) SDError(nodes int) float64 {
	products := 0. // of a table
	if p.chol() != nil {
		products = 1
	}
	prior := kernel.DiagFlops(p.cov, nodes)
	if p.h != nil && p.model.how.within().ExactVariance(nodes, p.data.Len(), products, prior) {
		return 0
	}
	return sampledSDError
}

// sampledVariance is the mean square of posterior samples about the exact mean, at the
// learned hyperparameters. Samples come in groups, each with its own seed, and are used up
// block by block of nodes, so that memory grows neither with their number nor with that
// of the nodes times a group.
func (p *Posterior) sampledVariance(ctx context.Context, l places, w *progress.Work) (out []float64, err error) {
	err = p.at(ctx, l, func(v *view) (err error) {
		out, err = p.variance(ctx, v, w)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("posterior samples: %w", err)
	}
	return out, nil
}

// variance returns the sampled variance at the nodes of a view.
func (p *Posterior) variance(ctx context.Context, v *view, w *progress.Work) ([]float64, error) {
	at, err := p.mean(ctx, v)
	if err != nil {
		return nil, err
	}
	out := make([]float64, v.places) // the mean first
	at.Get(out)
	at.Free()
	var means, squares []space.Block
	defer func() {
		for _, b := range slices.Concat(means, squares) {
			b.Free()
		}
	}()
	if err := v.pieces(func(lo, hi int) error {
		axis, err := v.space.Axis(ctx, hi-lo)
		if err != nil {
			return err
		}
		m, q := v.space.Block(axis, 1), v.space.Block(axis, 1)
		m.Set(out[lo:hi])
		q.Zero()
		means, squares = append(means, m), append(squares, q)
		return nil
	}); err != nil {
		return nil, err
	}
	group := drawGroup(p.Nodes())
	groups := varianceDraws / group
	for b := range groups {
		err := p.draw(ctx, v, group, varianceSeed+uint64(b), func(weights kernel.Weights, _, columns int) error {
			at := 0
			return v.pieces(func(lo, _ int) error {
				values := v.space.Block(means[at].Axis(), columns)
				defer values.Free()
				if err := v.of.Mul(ctx, values, weights, v.first+lo, false); err != nil {
					return err
				}
				squares[at].AddSpread(values, means[at])
				at++
				return ctx.Err()
			})
		})
		if err != nil {
			return nil, err
		}
		w.Count(int64(b+1), int64(groups))
	}
	scale := p.model.units.Scale
	row := 0
	for _, b := range squares {
		b.Scale(b, nil, scale*scale/varianceDraws)
		n := b.Axis().Own
		b.Get(out[row : row+n])
		row += n
	}
	return out, v.space.Err()
}

// toUnits takes draws to the units of the data.
func (p *Posterior) toUnits(draws *mat.Dense) {
	u := p.model.units
	rows, _ := draws.Dims()
	parallel.Ranges(rows, 8192, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := draws.RawRowView(i)
			for s, v := range row {
				row[s] = u.Center + u.Scale*v
			}
		}
	})
}

// varianceSeed is far from seeds that people choose.
const varianceSeed = 0x76617269616e6365

// exactVariance computes K_ii − ‖L⁻¹k_i‖² for all nodes, at the learned hyperparameters.
func (p *Posterior) exactVariance(ctx context.Context, l places, w *progress.Work) ([]float64, error) {
	out := make([]float64, l.len())
	prior, explained := kernel.DiagFlops(p.cov, l.len()), plan.VarianceCost(l.len(), p.data.Len(), 1)
	if err := p.diagonal(ctx, out, l, w.Part(prior, explained)); err != nil {
		return nil, fmt.Errorf("posterior variance: %w", err)
	}
	if err := p.lessExplained(ctx, out, l, w.Part(explained, 0)); err != nil {
		return nil, fmt.Errorf("posterior variance: %w", err)
	}
	scale := p.model.units.Scale
	for i := range out {
		out[i] = max(out[i], 0) * scale * scale
	}
	return out, nil
}

// diagonal sets dst to the prior variances: at some nodes at a time, if it takes long
// and each has a cost of its own.
func (p *Posterior) diagonal(ctx context.Context, dst []float64, l places, w *progress.Work) error {
	const long, least = 1e10, 1024
	n := len(l.nodes)
	if !(kernel.DiagFlops(p.cov, n) > long) || kernel.AbilitiesOf(p.cov).Factor != nil {
		return l.diag(ctx, dst, p.cov)
	}
	return l.each(max(least, n/32), func(b piece) error {
		err := p.cov.Diag(ctx, dst[b.lo-l.lo:b.hi-l.lo], l.nodes[b.lo:b.hi])
		w.Count(int64(b.hi-l.lo), int64(l.len()))
		return err
	})
}

// lessExplained subtracts ‖L⁻¹k_i‖² from dst[i], some nodes at a time.
func (p *Posterior) lessExplained(ctx context.Context, dst []float64, l places, w *progress.Work) error {
	if table := p.table(); table != nil {
		explained := make([]float64, len(l.nodes))
		err := table.Explained(ctx, explained, l.nodes)
		for i, v := range explained[l.lo:l.hi] {
			dst[i] -= v
		}
		return err
	}
	return l.each(p.model.how.within().HeldOf(len(l.nodes), p.data.Len()), func(b piece) error {
		cross, err := p.crossOf(ctx, l, b)
		if err != nil {
			return err
		}
		p.chol().SolveLower(cross, cross)
		t, c := cross.Dims()
		for i := range t {
			for q, v := range cross.RawRowView(i)[:c] {
				dst[b.lo-l.lo+q] -= v * v
			}
		}
		w.Count(int64(b.hi-l.lo), int64(l.len()))
		return nil
	})
}

// transposed returns the transpose of x.
func transposed(x *mat.Dense) *mat.Dense {
	rows, cols := x.Dims()
	out := mat.NewDense(cols, rows, nil)
	from, to := x.RawMatrix(), out.RawMatrix()
	const size = 16 // columns of x whose cache lines are used while they are at hand
	parallel.Ranges(cols, size, func(lo, hi int) {
		for i := range rows {
			for j, v := range from.Data[i*from.Stride+lo : i*from.Stride+hi] {
				to.Data[(lo+j)*to.Stride+i] = v
			}
		}
	})
	return out
}

// Sample returns posterior draws of the quantity at the given nodes, one column
// per draw, by Matheron's rule: a prior draw g plus K_·x H⁻¹(y − g_x − ε). The
// same seed gives the same draws, and draw s does not depend on the number of
// draws.
func (p *Posterior) Sample(ctx context.Context, nodes []int, draws int, seed uint64) (*mat.Dense, error) {
	return p.SamplePart(ctx, nodes, 0, len(nodes), draws, seed)
}

// SamplePart returns the rows [lo, hi) of Sample.
func (p *Posterior) SamplePart(ctx context.Context, nodes []int, lo, hi, draws int, seed uint64) (*mat.Dense, error) {
	l, err := p.places(nodes, lo, hi)
	if err != nil {
		return nil, err
	}
	if draws < 0 {
		return nil, fmt.Errorf("%d posterior samples; ask for 0 or more", draws)
	}
	if l.empty() || draws == 0 {
		return &mat.Dense{}, nil
	}
	out, err := p.sample(ctx, l, draws, seed)
	if err == nil {
		err = p.addShifts(ctx, out, l, seed)
	}
	if err != nil {
		return nil, fmt.Errorf("posterior samples: %w", err)
	}
	p.toUnits(out)
	return out, nil
}

// sample returns standardised draws at places.
func (p *Posterior) sample(ctx context.Context, l places, draws int, seed uint64) (out *mat.Dense, err error) {
	err = p.at(ctx, l, func(v *view) error {
		out = mat.NewDense(l.len(), draws, nil)
		return p.draw(ctx, v, draws, seed, func(w kernel.Weights, at, columns int) error {
			return v.fill(ctx, columnsOf(out, at, at+columns), w)
		})
	})
	return out, err
}
