package kernel

import (
	"context"

	"grfgp/solve"
	"grfgp/space"
)

// completed is the inverse of the whole table at the rows that it has: the part S of
// (k ⊗ ρ + v·I + constant·11ᵀ)⁻¹, with v the harmonic mean of the noise. It is the
// inverse of K[rows, rows] + constant·11ᵀ + diag(noise) if no cell is missing and the
// noise is equal.
type completed struct{ whole *timeFactor }

// leastFilled is the least share of cells with a row: below, cells without rows decide.
const leastFilled = 0.5

// approximate implements Abilities.Approximate.
func (c *timeCovariance) approximate(ctx context.Context, rows []int, constant float64, noise []float64) (solve.Preconditioner, error) {
	l := c.list(rows)
	n, p := len(l.nodes), len(l.periods)
	if p < 2 || float64(len(rows)) < leastFilled*float64(n*p) || tableCost(n, p, 0) > tableFlops || l.repeats() {
		return nil, nil
	}
	f := &timeFactor{cov: c, list: l, cells: make([]int, n*p), constant: constant}
	for cell := range f.cells {
		f.cells[cell] = cell
	}
	sum := 0.0
	for _, v := range noise {
		sum += 1 / v
	}
	if err := f.decompose(ctx, float64(len(noise))/sum); err != nil {
		return nil, err
	}
	f.addConstant()
	return &completed{f}, ctx.Err()
}

// Apply solves the system of the whole table for r at the rows and 0 elsewhere.
func (o *completed) Apply(dst, r space.Block) {
	f, to, from := o.whole, space.DenseOf(dst), space.DenseOf(r)
	l, p := f.list, len(f.mu)
	x := make([]float64, len(f.inverse))
	for s := range r.Columns() {
		clear(x)
		for a, i := range l.node {
			x[i*p+l.period[a]] += from.At(a, s)
		}
		y := f.solved(x)
		for a, i := range l.node {
			to.Set(a, s, y[i*p+l.period[a]])
		}
	}
}
