package kernel

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/ranks"
	"grfgp/solve"
)

// Abilities combines those of the terms.
func (c *sumCovariance) Abilities() Abilities {
	main, constants := c.split()
	a := Abilities{Everywhere: true}
	of := make([]Abilities, len(main))
	var locals []sumTerm
	global := len(constants) > 0
	for k, t := range main {
		of[k] = AbilitiesOf(t.Covariance)
		a.LongRange = a.LongRange || of[k].LongRange
		a.Ranks = of[k].Ranks
		if a.Fine == nil {
			a.Fine, a.Coarse = of[k].Fine, of[k].Coarse
		}
		if of[k].Everywhere {
			global = true
			continue
		}
		a.Everywhere = false
		if of[k].Local != nil {
			t.Covariance, global = of[k].Local, true
		}
		locals = append(locals, t)
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
	a.Invert = c.inverse(main, of)
	if len(main) == 1 && of[0].Approximate != nil {
		a.Approximate = func(ctx context.Context, rows []int, constant float64, noise []float64) (solve.Preconditioner, error) {
			return of[0].Approximate(ctx, rows, constant+c.level(), noise)
		}
	}
	if len(main) == 1 && of[0].Mixed != nil {
		a.Mixed = func(ctx context.Context, rows []int, constant float64) (solve.Operator, error) {
			return of[0].Mixed(ctx, rows, constant+c.level())
		}
	}
	if len(main) == 1 && of[0].Factor != nil && c.fixedLevel() {
		a.Factor = func(ctx context.Context, rows []int, constant float64, noise []float64) (Factor, error) {
			f, err := of[0].Factor(ctx, rows, constant+c.level(), noise)
			if f == nil || err != nil {
				return nil, err
			}
			return termFactor{f, main[0]}, nil
		}
	}
	switch {
	case global && len(locals) == 1:
		a.Local = locals[0].Covariance
	case global && len(locals) > 1:
		a.Local = &sumCovariance{locals, c.nodes}
	}
	return a
}

// inverse returns the ability Invert of one term that has it plus constants, or of
// terms that are all of low rank; otherwise nil.
func (c *sumCovariance) inverse(main []sumTerm, of []Abilities) func(context.Context, []int, float64, []float64) (solve.Preconditioner,
	error) {
	if len(main) == 1 && of[0].Invert != nil {
		return func(ctx context.Context, rows []int, constant float64, noise []float64) (solve.Preconditioner, error) {
			return of[0].Invert(ctx, rows, constant+c.level(), noise)
		}
	}
	if r := asLowRank(c); r != nil && len(main) > 0 {
		return func(ctx context.Context, rows []int, constant float64, noise []float64) (solve.Preconditioner, error) {
			return invertLowRank(ctx, []lowRank{r}, rows, constant, noise)
		}
	}
	return nil
}

// fixedLevel reports whether no constant has a parameter.
func (c *sumCovariance) fixedLevel() bool {
	return !slices.ContainsFunc(c.terms, func(t sumTerm) bool {
		_, ok := t.Covariance.(*constant)
		return ok && t.hi != t.lo
	})
}

// termFactor is the Factor of one term plus constants.
type termFactor struct {
	Factor
	term sumTerm
}

func (f termFactor) Grad(ctx context.Context, grad, alpha []float64) (trace float64, err error) {
	return f.Factor.Grad(ctx, f.term.grad(grad), alpha)
}

// level returns the variance of all constants.
func (c *sumCovariance) level() float64 {
	_, constants := c.split()
	variance := 0.0
	for _, one := range constants {
		variance += one.variance
	}
	return variance
}

// precondition takes the preconditioner of the first term that has one and is not
// of low rank, and adds all terms of low rank exactly. The other terms are
// approximated by their diagonals.
func (c *sumCovariance) precondition(ctx context.Context, rows []int, constant float64, noise []float64) (solve.Factored, error) {
	main, _ := c.split()
	constant += c.level()
	var first Covariance
	var low []lowRank
	noise = slices.Clone(noise)
	diag, width := make([]float64, len(rows)), 0
	for _, t := range main {
		if r := asLowRank(t.Covariance); r != nil && affordable(len(rows), width+r.width()) {
			low, width = append(low, r), width+r.width()
			continue
		}
		if first == nil && asLowRank(t.Covariance) == nil && AbilitiesOf(t.Covariance).Precondition != nil {
			first = t.Covariance
			continue
		}
		if err := t.Diag(ctx, diag, rows); err != nil {
			return nil, err
		}
		for a, v := range diag {
			noise[a] += v
		}
	}
	switch {
	case first == nil && len(low) == 0:
		return solve.NewJacobi(slices.Repeat([]float64{constant}, len(rows)), noise)
	case first == nil:
		return invertLowRank(ctx, low, rows, constant, noise)
	}
	base, err := AbilitiesOf(first).Precondition(ctx, rows, constant, noise)
	if err != nil || len(low) == 0 {
		return base, err
	}
	return raise(base, factorOf(low, rows, 0))
}

// raised is P + UUᵀ = F(I + VVᵀ)Fᵀ for a preconditioner P = FFᵀ and V = F⁻¹U.
type raised struct {
	base solve.Factored
	top  *solve.LowRank // I + VVᵀ
}

func raise(base solve.Factored, u *mat.Dense) (solve.Factored, error) {
	n, width := u.Dims()
	v, ones := mat.NewDense(n, width, nil), make([]float64, n)
	base.Whiten(v, u)
	for a := range ones {
		ones[a] = 1
	}
	top, err := solve.NewLowRank(v, ones)
	if err != nil {
		return nil, err
	}
	return &raised{base, top}, nil
}

func (p *raised) LogDet() float64 { return p.base.LogDet() + p.top.LogDet() }

func (p *raised) Apply(dst, r *mat.Dense) {
	white := mat.DenseCopyOf(r)
	p.base.Whiten(white, r)
	p.top.Apply(dst, white)
	white.Copy(dst)
	p.base.WhitenT(dst, white)
}

func (p *raised) Whiten(dst, x *mat.Dense) {
	white := mat.DenseCopyOf(x)
	p.base.Whiten(white, x)
	p.top.Whiten(dst, white)
}

func (p *raised) WhitenT(dst, x *mat.Dense) {
	white := mat.DenseCopyOf(x)
	p.top.WhitenT(white, x)
	p.base.WhitenT(dst, white)
}

// draw starts draws: in one pass for the terms that have the ability, by prior
// draws and products with K for the others.
func (c *sumCovariance) draw(ctx context.Context, draws int, seed uint64, x []int) (Draw, error) {
	return c.drawBy(ctx, draws, seed, x, func(k int) beginDraw { return AbilitiesOf(c.terms[k].Covariance).Draw })
}

// beginDraw is a function as Abilities.Draw.
type beginDraw func(ctx context.Context, draws int, seed uint64, x []int) (Draw, error)

// drawBy is draw with the draws of the terms, nil for one that does not draw in one pass.
func (c *sumCovariance) drawBy(ctx context.Context, draws int, seed uint64, x []int, of func(k int) beginDraw) (Draw, error) {
	d := &sumDraw{x: slices.Clone(x)}
	var err error
	if d.all, err = newPortion(ctx, c.ranks(), len(x)); err != nil {
		return nil, err
	}
	seeds := c.seeds(seed)
	var one *mat.Dense
	for k, t := range c.terms {
		if r, ok := t.Covariance.(*constant); ok {
			d.constants, d.levels = append(d.constants, r), append(d.levels, r.levels(draws, seeds[k]))
			continue
		}
		if begin := of(k); begin != nil {
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
	for _, levels := range d.levels {
		addToRows(d.at, levels)
	}
	return d, nil
}

// sumDraw holds a draw of every term.
type sumDraw struct {
	x         []int
	all       portion      // of the list x
	parts     []Draw       // of terms that draw in one pass
	others    []Covariance // the terms that do not,
	prior     *mat.Dense   // and the sum of their draws at every node
	constants []*constant
	levels    [][]float64 // of constants
	at        *mat.Dense
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
	if len(d.constants) == 0 {
		return nil
	}
	sums, err := d.all.sums(ctx, u)
	if err != nil {
		return err
	}
	for k, r := range d.constants {
		levels := slices.Clone(d.levels[k])
		for s, v := range sums {
			levels[s] += r.variance * v
		}
		addToRows(dst, levels)
	}
	return nil
}

// ranks returns the processes that compute the sum together; nil: this one alone.
func (c *sumCovariance) ranks() *ranks.Group { return AbilitiesOf(c.terms[0].Covariance).Ranks }

// upTo returns the nodes 0 … n−1.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
