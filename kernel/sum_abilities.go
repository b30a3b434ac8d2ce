package kernel

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/solve"
)

// Abilities combines those of the terms.
func (c *sumCovariance) Abilities() Abilities {
	main, ones := c.split()
	var a Abilities
	of := make([]Abilities, len(main))
	locals, global := make([]sumTerm, len(main)), len(ones) > 0
	for k, t := range main {
		of[k] = AbilitiesOf(t.Covariance)
		a.LongRange = a.LongRange || of[k].LongRange
		if locals[k] = t; of[k].Local != nil {
			locals[k].Covariance, global = of[k].Local, true
		}
	}
	has := func(able func(a Abilities) bool) bool { return slices.ContainsFunc(of, able) }
	if has(func(a Abilities) bool { return a.DiagFlops != nil }) {
		a.DiagFlops = func(rows int) float64 {
			flops := 0.0
			for _, t := range main {
				flops += DiagFlops(t.Covariance, rows)
			}
			return flops
		}
	}
	if has(func(a Abilities) bool { return a.Draw != nil }) {
		a.Draw = c.draw
	}
	if has(func(a Abilities) bool { return a.Precondition != nil }) {
		a.Precondition = c.precondition
	}
	if len(main) == 1 && of[0].Invert != nil && !slices.ContainsFunc(ones, func(r *rankOne) bool { return r.x != nil }) {
		a.Invert = func(ctx context.Context, rows []int, constant float64, noise []float64) (solve.Preconditioner, error) {
			return of[0].Invert(ctx, rows, constant+constants(ones), noise)
		}
	}
	if len(main) > 0 {
		a.Fine, a.Coarse = of[0].Fine, of[0].Coarse
		switch {
		case global && len(main) == 1:
			a.Local = locals[0].Covariance
		case global:
			a.Local = &sumCovariance{locals, c.nodes}
		}
	}
	return a
}

// constants returns the variance of all constants.
func constants(ones []*rankOne) float64 {
	variance := 0.0
	for _, r := range ones {
		if r.x == nil {
			variance += r.variance
		}
	}
	return variance
}

// precondition takes the preconditioner of the first term that has one. The other
// terms are approximated by their diagonals. Trends are ignored, because one more
// large eigenvalue costs only an iteration or two.
func (c *sumCovariance) precondition(ctx context.Context, rows []int, constant float64, noise []float64) (solve.Factored, error) {
	main, ones := c.split()
	first := slices.IndexFunc(main, func(t sumTerm) bool { return AbilitiesOf(t.Covariance).Precondition != nil })
	if len(main) > 1 {
		noise = slices.Clone(noise)
		diag := make([]float64, len(rows))
		for k, t := range main {
			if k == first {
				continue
			}
			if err := t.Diag(ctx, diag, rows); err != nil {
				return nil, err
			}
			for a, v := range diag {
				noise[a] += v
			}
		}
	}
	return AbilitiesOf(main[first].Covariance).Precondition(ctx, rows, constant+constants(ones), noise)
}

// draw starts draws: in one pass for the terms that have the ability, by prior
// draws and products with K for the others.
func (c *sumCovariance) draw(ctx context.Context, draws int, seed uint64, x []int) (Draw, error) {
	d := &sumDraw{x: slices.Clone(x)}
	seeds := c.seeds(seed)
	var one *mat.Dense
	for k, t := range c.terms {
		if r, ok := t.Covariance.(*rankOne); ok {
			d.ones, d.slopes = append(d.ones, r), append(d.slopes, r.slopes(draws, seeds[k]))
			continue
		}
		if begin := AbilitiesOf(t.Covariance).Draw; begin != nil {
			part, err := begin(ctx, draws, seeds[k], x)
			if err != nil {
				return nil, err
			}
			d.parts = append(d.parts, part)
			continue
		}
		if d.prior == nil {
			d.prior, one = mat.NewDense(c.nodes, draws, nil), mat.NewDense(c.nodes, draws, nil)
		}
		if err := t.Prior(ctx, one, seeds[k]); err != nil {
			return nil, err
		}
		addRows(d.prior, one)
		d.others = append(d.others, t.Covariance)
	}
	d.at = mat.DenseCopyOf(d.parts[0].At())
	for _, part := range d.parts[1:] {
		addRows(d.at, part.At())
	}
	for a, i := range x {
		if d.prior != nil {
			row := d.at.RawRowView(a)
			for s, v := range d.prior.RawRowView(i) {
				row[s] += v
			}
		}
	}
	for k, r := range d.ones {
		addOuter(d.at, r.at(x), d.slopes[k])
	}
	return d, nil
}

// sumDraw holds a draw of every term.
type sumDraw struct {
	x      []int
	parts  []Draw       // of terms that draw in one pass
	others []Covariance // the terms that do not,
	prior  *mat.Dense   // and the sum of their draws at every node
	ones   []*rankOne
	slopes [][]float64 // of ones
	at     *mat.Dense
}

func (d *sumDraw) At() *mat.Dense { return d.at }

func (d *sumDraw) Update(ctx context.Context, dst, u *mat.Dense) error {
	if err := d.parts[0].Update(ctx, dst, u); err != nil {
		return err
	}
	n, draws := dst.Dims()
	var one *mat.Dense
	if len(d.parts) > 1 || len(d.others) > 0 {
		one = mat.NewDense(n, draws, nil)
	}
	for _, part := range d.parts[1:] {
		if err := part.Update(ctx, one, u); err != nil {
			return err
		}
		addRows(dst, one)
	}
	if d.prior != nil {
		addRows(dst, d.prior)
	}
	for _, cov := range d.others {
		if err := cov.Cross(upTo(n), d.x).Apply(ctx, one, u); err != nil {
			return err
		}
		addRows(dst, one)
	}
	for k, r := range d.ones {
		slopes := slices.Clone(d.slopes[k])
		for s, v := range inner(r.at(d.x), u) {
			slopes[s] += r.variance * v
		}
		addOuter(dst, r.x, slopes)
	}
	return nil
}

// upTo returns the nodes 0 … n−1.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
