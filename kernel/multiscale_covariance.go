package kernel

import (
	"context"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/kernel/internal/recent"
	"grfgp/sparse"
)

// multiscaleCovariance is a Multiscale at one theta.
type multiscaleCovariance struct {
	*Multiscale
	byRoot
	fine  Covariance
	parts []unit // of the scales
	ontos recent.Cache[[]onto]
	kept  keptCells // for predictions
}

// Abilities are those of the fine kernel, and the features of the coarse scales.
func (c *multiscaleCovariance) Abilities() Abilities {
	a := Abilities{DiagFlops: c.diagFlops, LongRange: true, Fine: AbilitiesOf(c.fine).Fine}
	for _, u := range c.parts {
		a.Coarse = append(a.Coarse, Sampling{u.raw.features, u.raw.coeff})
	}
	return a
}

// onto is P_k·Φ̂_k for a list of nodes, and Φ_k.
type onto struct {
	phi *sparse.CSR
	raw *factor
	err error
}

// onto returns the features of all scales at the given nodes; Gram and its
// gradient share them.
func (c *multiscaleCovariance) onto(rows []int) []onto {
	return c.ontos.Get(rows, func(rows []int) []onto { return ontosOf(c.chain(rows), c.parts) })
}

// ontosOf returns the features of the scales above the list of a chain.
func ontosOf(list *chain, parts []unit) []onto {
	all := make([]onto, len(parts))
	parallel.Tasks(len(all), func(k int) {
		if all[k].phi, all[k].raw, all[k].err = parts[k].onto(list, k); all[k].err == nil {
			all[k].phi.T() // which is needed, and kept
		}
	})
	return all
}

// Gram sets dst = K[rows, rows].
func (c *multiscaleCovariance) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	if err := c.fine.Gram(ctx, dst, rows); err != nil {
		return err
	}
	if ok, err := c.addTables(ctx, dst, rows, c.theta); ok || err != nil {
		return err
	}
	return addOntos(ctx, dst, c.onto(rows), c.parts)
}

// addOntos adds Σ_k P_k C_k P_kᵀ.
func addOntos(ctx context.Context, dst *mat.SymDense, all []onto, parts []unit) error {
	for k, o := range all {
		if o.err != nil {
			return o.err
		}
		if err := addSquare(ctx, dst, o.phi, parts[k].variance); err != nil {
			return err
		}
	}
	return nil
}

// onto returns P_k·Φ̂_k for the list of a chain, where scale k counts from zero
// above it, and Φ_k.
func (u unit) onto(list *chain, k int) (*sparse.CSR, *factor, error) {
	whole, err := list.whole(k + 1)
	if err != nil {
		return nil, nil, err
	}
	nodes := list.nodes[k+1]
	f := u.raw.factor(nodes)
	phi, err := u.spread(whole, f, u.inverses(nodes))
	return phi, f, err
}

// Diag sets dst[a] = K[rows[a], rows[a]].
func (c *multiscaleCovariance) Diag(ctx context.Context, dst []float64, rows []int) error {
	if err := c.fine.Diag(ctx, dst, rows); err != nil {
		return err
	}
	return c.addDiag(ctx, dst, rows)
}

// addDiag adds the variances of the scales to dst.
func (c *multiscaleCovariance) addDiag(ctx context.Context, dst []float64, rows []int) error {
	const size = 4096 // nodes whose features fit into memory
	for lo := 0; lo < len(rows); lo += size {
		hi := min(len(rows), lo+size)
		list := newChain(rows[lo:hi], c.scales)
		for k, u := range c.parts {
			if err := u.addOntoSquares(dst[lo:hi], list, k); err != nil {
				return err
			}
		}
	}
	return nil
}

// diagFlops adds the products of features and prolongations to the cost of the
// fine kernel.
func (c *multiscaleCovariance) diagFlops(rows int) float64 {
	flops := DiagFlops(c.fine, rows)
	const parents, overhead = 8, 10
	for _, u := range c.parts {
		flops += overhead * parents * float64(rows) * u.raw.perRow()
	}
	return flops
}

// coarseMost is the largest number of nodes of a scale that the preconditioner
// inverts exactly, again for every θ.
const coarseMost = 1200

// firstSmall returns the first scale of at most coarseMost nodes.
func (m *Multiscale) firstSmall() int {
	first := 0
	for first < len(m.scales) && m.scales[first].grf.Nodes() > coarseMost {
		first++
	}
	return first
}

// small returns the sum of all scales from the given one on, on some of its nodes.
func (c *multiscaleCovariance) small(ctx context.Context, nodes []int, first int) (*mat.SymDense, error) {
	u := c.parts[first]
	phi, err := u.spread(nil, u.raw.factor(nodes), u.inverses(nodes))
	if err != nil {
		return nil, err
	}
	sum := mat.NewSymDense(len(nodes), nil)
	if err := addSquare(ctx, sum, phi, u.variance); err != nil {
		return nil, err
	}
	above := c.parts[first+1:]
	return sum, addOntos(ctx, sum, ontosOf(c.chainAbove(nodes, first+1), above), above)
}

// chainAbove returns the chain of some nodes of scale k.
func (m *Multiscale) chainAbove(nodes []int, k int) *chain {
	return m.aboves.Get(nodes, func(nodes []int) *chain { return newChain(nodes, m.scales[k:]) })
}

// GramGrad adds ⟨g, ∂K/∂θ_j⟩ to grad[j]. With F = P_kΦ̂_k it is 2⟨P_kᵀgF, dΦ̂_k⟩ on
// scale k, taken only where Φ_k is not zero.
func (c *multiscaleCovariance) GramGrad(ctx context.Context, grad []float64, rows []int, g *mat.SymDense) error {
	if err := c.fine.GramGrad(ctx, grad[:c.own()], rows, g); err != nil || len(rows) == 0 {
		return err
	}
	checkOrder(g, rows)
	if ok, err := c.addTableSlopes(ctx, grad, rows, g, c.theta); ok || err != nil {
		return err
	}
	whole, list, all := fullRows(g), c.chain(rows), c.onto(rows)
	parts, errs := make([][]float64, len(all)), make([]error, len(all))
	parallel.Tasks(len(all), func(k int) {
		parts[k] = make([]float64, 1+len(c.shape))
		errs[k] = c.ontoGrad(ctx, parts[k], k, list, all[k], whole)
	})
	return c.addSlopes(grad, func(k int, own []float64) error {
		copy(own, parts[k])
		return errs[k]
	})
}

// ontoGrad is the part of scale k in GramGrad for the whole of g, by its variance and its shape.
func (c *multiscaleCovariance) ontoGrad(ctx context.Context, grad []float64, k int, list *chain, o onto, g *mat.Dense) error {
	if o.err != nil {
		return o.err
	}
	whole, err := list.whole(k + 1)
	if err != nil {
		return err
	}
	u := c.parts[k]
	phiT, wholeT, inv := o.phi.T(), whole.T(), u.inverses(list.nodes[k+1])
	sums := make([][]float64, parallel.Workers(len(inv)))
	twice, err := u.project(ctx, grad[1:], o.raw, inv, func(worker int, dst []float64, i int, cols []uint32) {
		q := room(&sums[worker], len(list.nodes[0])) // row i of P_kᵀg
		clear(q)
		from, weights := wholeT.Row(i)
		for p, a := range from {
			floats.AddScaled(q, weights[p], g.RawRowView(int(a)))
		}
		for e, col := range cols {
			others, vals := phiT.Row(int(col))
			sum := 0.0
			for p, a := range others {
				sum += float64(vals[p] * q[a])
			}
			dst[e] = 2 * sum
		}
	})
	grad[0] += twice / 2
	return err
}
