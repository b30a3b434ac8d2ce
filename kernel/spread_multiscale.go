package kernel

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/internal/ranks"
	"grfgp/solve"
	"grfgp/sparse"
)

// spread returns the kernel as ranks compute it together, each of which owns an equal number
// of nodes of the graph and of every large scale, and all nodes of the small ones. Lists of
// nodes are those of SpreadGRF. It returns nil if the fine kernel has no features, or a node
// of a scale interpolates to none.
func (m *Multiscale) spread(g *ranks.Group) Kernel {
	fine, ok := m.fine.(*GRF)
	if !ok || m.over != nil || !m.filled() {
		return nil
	}
	over := &scalesOver{group: g, grfs: make([]*SpreadGRF, len(m.scales))}
	for k, s := range m.scales {
		if n := s.grf.Nodes(); n < m.sharedFrom*g.Size() || n <= coarseMost { // the preconditioner needs all of the small ones
			break
		}
		over.grfs[k] = s.grf.Spread(g, ranks.Even(s.grf.Nodes(), g.Size()))
	}
	own := &Multiscale{fine: fine.spreadEvenly(g), coarseScales: &coarseScales{
		scales: m.scales, shape: m.shape, free: m.free, filled: m.filled, over: over}}
	lo, hi := ranks.Even(m.Nodes(), g.Size()).Range(g.Rank())
	own.whole = func() *chain { return own.chain(fromTo(lo, hi)) }
	return own
}

// spreadOf returns scale k as ranks share it; nil if this rank has all of it.
func (m *Multiscale) spreadOf(k int) *SpreadGRF {
	if m.over == nil {
		return nil
	}
	return m.over.grfs[k]
}

// sampler is what draws from a scale need.
type sampler interface {
	Prior(ctx context.Context, dst *mat.Dense, seed uint64) error
	draw(ctx context.Context, draws int, seed uint64, x []int) (Draw, error)
}

// sampler returns scale k without its scaling to variance one.
func (c *multiscaleCovariance) sampler(k int) sampler {
	if c.spreadOf(k) != nil {
		return c.spreads[k]
	}
	return c.parts[k].raw
}

// crossOf returns scale k between the nodes of two chains.
func (c *multiscaleCovariance) crossOf(k int, rows, cols *chain) unitCross {
	left, right, u := rows.nodes[k+1], cols.nodes[k+1], c.parts[k]
	if c.spreadOf(k) == nil {
		return u.cross(left, right)
	}
	op := c.spreads[k].Cross(left, right).(*spreadCross)
	o := unitCross{raw: op, variance: u.variance}
	if op.err == nil {
		o.right, op.err = c.spreadInverses(context.Background(), k, cols, true)
	}
	if op.err == nil {
		o.left, op.err = c.spreadInverses(context.Background(), k, rows, op.left.spreadList == op.right.spreadList)
	}
	return o
}

// inversesOf returns 1/N_i of scale k at the nodes of a chain, after their features were used.
func (c *multiscaleCovariance) inversesOf(ctx context.Context, k int, list *chain) ([]float64, error) {
	if c.spreadOf(k) == nil {
		return c.parts[k].inverses(list.nodes[k+1]), nil
	}
	return c.spreadInverses(ctx, k, list, true)
}

// knownNorms are 1/N_i of a scale at the nodes of a chain.
type knownNorms struct {
	list    *chain
	scale   int
	compact bool
	inverse []float64
}

// spreadInverses returns 1/N_i of scale k, which ranks share, at this rank's nodes of a
// chain, to the bits of unit.inverses. used says that the features of the list are in use.
func (c *multiscaleCovariance) spreadInverses(ctx context.Context, k int, list *chain, used bool) ([]float64, error) {
	raw, nodes, count := c.parts[k].raw, list.nodes[k+1], list.count(k+1)
	compact := raw.large && (count == raw.Nodes() || 8*count > raw.Nodes() && !used)
	for _, n := range c.norms {
		if n.list == list && n.scale == k && n.compact == compact {
			return n.inverse, nil
		}
	}
	own, err := raw.features.ListOnce(ctx, nodes)
	if err != nil {
		return make([]float64, len(nodes)), fmt.Errorf("%w: %w", ErrFeatures, err)
	}
	inverse := make([]float64, len(nodes))
	parallel.Ranges(len(nodes), 1024, func(lo, hi int) {
		var phi []float64
		for a := lo; a < hi; a++ {
			phi = room(&phi, len(own.Reached(a)))
			own.CombineRow(phi, raw.coeff, a)
			if compact {
				for e, v := range phi {
					phi[e] = float64(float32(v))
				}
			}
			inverse[a] = squares(phi)
		}
	})
	invertNorms(inverse)
	const most = 64 // lists of measurements and of all nodes, for all scales
	c.norms = append(c.norms[max(0, len(c.norms)-most):], knownNorms{list, k, compact, inverse})
	return inverse, nil
}

// spreadGrad is partGrad of a scale that ranks share.
func (c *multiscaleCovariance) spreadGrad(ctx context.Context, grad []float64, k int, list *chain, u, w *mat.Dense) error {
	part, nodes, spread := c.parts[k], list.nodes[k+1], c.spreads[k]
	f, err := spread.factorOf(ctx, nodes, false)
	if err != nil {
		return err
	}
	inv, err := c.spreadInverses(ctx, k, list, true)
	if err != nil {
		return err
	}
	_, columns := u.Dims()
	uw := part.raw.block(len(nodes), 2*columns) // N⁻¹ũ and N⁻¹w̃ side by side
	ab := spread.midBlock(2 * columns)          // A and B
	defer part.raw.blocks.Put(uw)
	defer part.raw.blocks.Put(ab)
	eachPlace(len(nodes), func(i int) {
		row := uw.RawRowView(i)
		copy(row, u.RawRowView(i))
		copy(row[columns:], w.RawRowView(i))
		floats.Scale(inv[i], row)
	})
	if err := f.phiT.Mul(ctx, ab, uw, 2*columns); err != nil {
		return err
	}
	wide, release, err := f.shape.Widen(ctx, ab, 2*columns)
	defer release()
	if err != nil {
		return err
	}
	along, val := make([]float64, len(nodes)), f.phi.Values()
	pairs := make([][]float64, parallel.Workers(len(nodes)))
	parts, err := projections(ctx, f.own, len(nodes), len(part.raw.coeff), func(worker int, dst []float64, i int) []float64 {
		wu := room(&pairs[worker], 2*columns)
		copy(wu, w.RawRowView(i))
		copy(wu[columns:], u.RawRowView(i))
		cols, widened := f.shape.Row(i)
		q, from := room(&dst, len(cols)), ab
		if widened {
			from = wide
		}
		dots(q, wu, from, cols)
		along[i] = follow(q, val[f.shape.From(i):f.shape.From(i+1)], inv[i])
		return q
	})
	if err != nil {
		return err
	}
	slope := make([]float64, len(part.raw.coeff))
	if err := spread.kernel.group.Sum(ctx, slope, parts, f.all); err != nil {
		return err
	}
	twice, err := totalOver(ctx, portion{spread.kernel.group, f.all}, along)
	if err != nil {
		return err
	}
	part.chainShape(grad[c.shapeAt(k):][:len(c.shape)], slope)
	grad[c.varianceAt(k)] += twice / 2
	return nil
}

// ontoCells returns the interpolation from nodes[k] of a list, of which this rank has all, to
// the rows that it has of the list.
func (c *multiscaleCovariance) ontoCells(list *chain, k int) (*sparse.CSR, error) {
	if list.err != nil {
		return nil, list.err
	}
	if list.parts == nil {
		return list.whole(k)
	}
	list.mu.Lock()
	defer list.mu.Unlock()
	if list.cells == nil {
		own := newChain(list.nodes[0], c.scales[:k])
		a, err := own.whole(k)
		if err != nil {
			return nil, err
		}
		ptr, col, val := a.Raw()
		label := make([]uint32, len(own.nodes[k]))
		for q, node := range own.nodes[k] {
			at, _ := slices.BinarySearch(list.nodes[k], node)
			label[q] = uint32(at)
		}
		to := make([]uint32, len(col))
		for e, j := range col {
			to[e] = label[j]
		}
		if list.cells, err = sparse.NewCSR(len(list.nodes[0]), len(list.nodes[k]), ptr, to, val); err != nil {
			return nil, err
		}
	}
	return list.cells, nil
}

// system returns which rows of the list the ranks have; nil: one has all.
func (c *chain) system() *solve.Rows {
	if p := c.part(0); p.group != nil {
		return &solve.Rows{Group: p.group, Layout: p.all}
	}
	return nil
}

// emptyBlock returns a block of zeros, which may have no rows.
func emptyBlock(rows, columns int) *mat.Dense {
	m := new(mat.Dense)
	m.SetRawMatrix(blas64.General{Rows: rows, Cols: columns, Stride: max(1, columns), Data: make([]float64, rows*columns)})
	return m
}
