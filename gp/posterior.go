package gp

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/kernel"
	"grfgp/progress"
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
	if err := p.checkNodes(nodes); err != nil || len(nodes) == 0 {
		return nil, err
	}
	mean := mat.NewDense(len(nodes), 1, nil)
	alpha := mat.NewDense(len(p.alpha), 1, p.alpha)
	if err := p.cov.Cross(nodes, p.data.Nodes).Apply(ctx, mean, alpha); err != nil {
		return nil, fmt.Errorf("posterior mean: %w", err)
	}
	u := p.model.units
	out := make([]float64, len(nodes))
	for i := range out {
		out[i] = u.Center + u.Scale*mean.At(i, 0)
	}
	return out, nil
}

// crossEntries is the number of covariances between nodes and measurements that
// are held at a time.
const crossEntries = 4 << 20

// wholeEntries is the number of covariances up to which all are held at once.
const wholeEntries = 16 << 20

// Variance returns the posterior variance of the quantity itself at the given
// nodes, without noise: a new measurement has the noise variance in addition. With
// alternatives the squares of their shifts of the mean are added.
func (p *Posterior) Variance(ctx context.Context, nodes []int) ([]float64, error) {
	return p.VarianceProgress(ctx, nodes, nil)
}

// VarianceProgress is Variance that tells w how far it is.
func (p *Posterior) VarianceProgress(ctx context.Context, nodes []int, w *progress.Work) ([]float64, error) {
	if err := p.checkNodes(nodes); err != nil || len(nodes) == 0 {
		return nil, err
	}
	variance := p.exactVariance
	if p.SDError(len(nodes)) != 0 {
		variance = p.sampledVariance
	}
	out, err := variance(ctx, nodes, w.Part(1, 0.01*float64(len(p.alternatives))))
	if err != nil {
		return nil, err
	}
	shifts, err := p.shifts(ctx, nodes)
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
	varianceFlops = 2e11 // of exact variances; beyond, they are sampled
	varianceDraws = 256
	varianceGroup = 16       // least number of draws at a time: 128 bytes per node
	varianceBytes = 64 << 20 // of draws at a time, on graphs where these are more
)

// drawGroup returns the number of draws at a time at n nodes, which divides varianceDraws. A group passes over the
// kernel once, and some kernels cost as much for one draw as for all.
func drawGroup(n int) int {
	group := varianceGroup
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
	t := float64(p.data.Len())
	flops := kernel.DiagFlops(p.cov, nodes)
	if p.chol != nil {
		flops += float64(nodes) * t * t
	}
	if p.factored() != nil && flops <= varianceFlops {
		return 0
	}
	return sampledSDError
}

// sampledVariance is the mean square of posterior samples about the exact mean, at the
// learned hyperparameters. Samples come in groups, each with its own seed, and are used up
// block by block of nodes, so that memory grows neither with their number nor with that
// of the nodes times a group.
func (p *Posterior) sampledVariance(ctx context.Context, nodes []int, w *progress.Work) ([]float64, error) {
	plain := *p
	plain.alternatives = nil
	mean, err := p.Mean(ctx, nodes)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(nodes))
	add := func(lo int, draws *mat.Dense) error {
		n, _ := draws.Dims()
		parallel.Ranges(n, 4096, func(from, to int) {
			for i := from; i < to; i++ {
				sum, at := 0.0, mean[lo+i]
				for _, v := range draws.RawRowView(i) {
					sum += (v - at) * (v - at)
				}
				out[lo+i] += sum / varianceDraws
			}
		})
		return ctx.Err()
	}
	group := drawGroup(p.Nodes())
	groups := varianceDraws / group
	for b := range groups {
		if err := plain.eachDraw(ctx, nodes, group, varianceSeed+uint64(b), add); err != nil {
			return nil, err
		}
		w.Count(int64(b+1), int64(groups))
	}
	return out, nil
}

// eachDraw calls do with the result of Sample, a block of nodes from place lo on at a time,
// in order; p has no alternatives.
func (p *Posterior) eachDraw(ctx context.Context, nodes []int, draws int, seed uint64, do func(lo int, draws *mat.Dense) error) error {
	begin := kernel.AbilitiesOf(p.cov).Draw
	_, first, end := p.Ranks()
	if begin == nil || !inOrder(nodes, first, end) {
		all, err := p.Sample(ctx, nodes, draws, seed)
		if err != nil {
			return err
		}
		return do(0, all)
	}
	g, err := begin(ctx, draws, seed, p.data.Nodes)
	if err != nil {
		return fmt.Errorf("posterior samples: %w", err)
	}
	weights, err := p.update(ctx, g.At(), seed)
	if err != nil {
		return fmt.Errorf("posterior samples: %w", err)
	}
	return kernel.EachRows(ctx, g, end-first, weights, func(lo int, rows *mat.Dense) error {
		p.toUnits(rows)
		return do(lo, rows)
	})
}

// inOrder reports whether nodes are lo, lo+1, …, hi−1.
func inOrder(nodes []int, lo, hi int) bool {
	for a, i := range nodes {
		if lo+a != i {
			return false
		}
	}
	return len(nodes) == hi-lo
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
func (p *Posterior) exactVariance(ctx context.Context, nodes []int, w *progress.Work) ([]float64, error) {
	out := make([]float64, len(nodes))
	t := float64(p.data.Len())
	prior, explained := kernel.DiagFlops(p.cov, len(nodes)), float64(len(nodes))*t*t
	if err := p.diagonal(ctx, out, nodes, w.Part(prior, explained)); err != nil {
		return nil, fmt.Errorf("posterior variance: %w", err)
	}
	if err := p.lessExplained(ctx, out, nodes, w.Part(explained, 0)); err != nil {
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
func (p *Posterior) diagonal(ctx context.Context, dst []float64, nodes []int, w *progress.Work) error {
	const long, least = 1e10, 1024
	size := len(nodes)
	if kernel.DiagFlops(p.cov, len(nodes)) > long && kernel.AbilitiesOf(p.cov).Factor == nil {
		size = max(least, len(nodes)/32)
	}
	for lo := 0; lo < len(nodes); lo += size {
		hi := min(len(nodes), lo+size)
		if err := p.cov.Diag(ctx, dst[lo:hi], nodes[lo:hi]); err != nil {
			return err
		}
		w.Count(int64(hi), int64(len(nodes)))
	}
	return nil
}

// lessExplained subtracts ‖L⁻¹k_i‖² from dst[i], some nodes at a time.
func (p *Posterior) lessExplained(ctx context.Context, dst []float64, nodes []int, w *progress.Work) error {
	if p.table != nil {
		explained := make([]float64, len(nodes))
		err := p.table.Explained(ctx, explained, nodes)
		for i, v := range explained {
			dst[i] -= v
		}
		return err
	}
	size := max(1, crossEntries/p.data.Len())
	if len(nodes)*p.data.Len() <= wholeEntries { // a series runs through all its terms for every block
		size = len(nodes)
	}
	for lo := 0; lo < len(nodes); lo += size {
		hi := min(len(nodes), lo+size)
		cross, err := p.cross(ctx, nodes[lo:hi])
		if err != nil {
			return err
		}
		p.chol.SolveLower(cross, cross)
		t, c := cross.Dims()
		for i := range t {
			for q, v := range cross.RawRowView(i)[:c] {
				dst[lo+q] -= v * v
			}
		}
		w.Count(int64(hi), int64(len(nodes)))
	}
	return nil
}

// cross returns K[x, nodes], by as few columns as possible.
func (p *Posterior) cross(ctx context.Context, nodes []int) (*mat.Dense, error) {
	t, n := p.data.Len(), len(nodes)
	if n <= t {
		dst := mat.NewDense(t, n, nil)
		return dst, kernel.Entries(ctx, dst, p.cov.Cross(p.data.Nodes, nodes))
	}
	dst := mat.NewDense(n, t, nil)
	if err := kernel.Entries(ctx, dst, p.cov.Cross(nodes, p.data.Nodes)); err != nil {
		return nil, err
	}
	return transposed(dst), nil
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

func identity(n int) *mat.Dense {
	one := mat.NewDense(n, n, nil)
	for i := range n {
		one.Set(i, i, 1)
	}
	return one
}

// Sample returns posterior draws of the quantity at the given nodes, one column
// per draw, by Matheron's rule: a prior draw g plus K_·x H⁻¹(y − g_x − ε). The
// same seed gives the same draws, and draw s does not depend on the number of
// draws.
func (p *Posterior) Sample(ctx context.Context, nodes []int, draws int, seed uint64) (*mat.Dense, error) {
	if err := p.checkNodes(nodes); err != nil {
		return nil, err
	}
	if draws < 0 {
		return nil, fmt.Errorf("%d posterior samples; ask for 0 or more", draws)
	}
	if len(nodes) == 0 || draws == 0 {
		return &mat.Dense{}, nil
	}
	out, err := p.sample(ctx, nodes, draws, seed)
	if err == nil {
		err = p.addShifts(ctx, out, nodes, seed)
	}
	if err != nil {
		return nil, fmt.Errorf("posterior samples: %w", err)
	}
	p.toUnits(out)
	return out, nil
}

func (p *Posterior) sample(ctx context.Context, nodes []int, draws int, seed uint64) (*mat.Dense, error) {
	if p.share != nil {
		return p.sampleShared(ctx, nodes, draws, seed)
	}
	if 2*len(nodes) >= p.Nodes() {
		if begin := kernel.AbilitiesOf(p.cov).Draw; begin != nil {
			g, err := begin(ctx, draws, seed, p.data.Nodes)
			if err != nil {
				return nil, err
			}
			out, err := p.finish(ctx, g, seed)
			return rowsOf(out, nodes), err
		}
	}
	prior := mat.NewDense(p.Nodes(), draws, nil)
	if err := p.cov.Prior(ctx, prior, seed); err != nil {
		return nil, err
	}
	weights, err := p.update(ctx, rowsOf(prior, p.data.Nodes), seed)
	if err != nil {
		return nil, err
	}
	out := mat.NewDense(len(nodes), draws, nil)
	if err := p.cov.Cross(nodes, p.data.Nodes).Apply(ctx, out, weights); err != nil {
		return nil, err
	}
	addPrior(out, prior, nodes)
	return out, nil
}

// addPrior adds rows of prior to those of out.
func addPrior(out, prior *mat.Dense, rows []int) {
	parallel.Ranges(len(rows), 1024, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			row, g := out.RawRowView(r), prior.RawRowView(rows[r])
			for s := range row {
				row[s] += g[s]
			}
		}
	})
}

// rowsOf returns rows of x: x itself, if these are all in order.
func rowsOf(x *mat.Dense, rows []int) *mat.Dense {
	n, c := x.Dims()
	if inOrder(rows, 0, n) {
		return x
	}
	out := mat.NewDense(len(rows), c, nil)
	parallel.Ranges(len(rows), 1024, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			copy(out.RawRowView(r), x.RawRowView(rows[r]))
		}
	})
	return out
}
