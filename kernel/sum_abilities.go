package kernel

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/solve"
	"grfgp/space"
)

// Abilities combines those of the terms.
func (c *sumCovariance) Abilities() Abilities {
	main, constants := c.split()
	a := Abilities{Everywhere: true}
	of := make([]Abilities, len(main))
	var locals []Covariance
	global := len(constants) > 0
	for k, t := range main {
		of[k] = AbilitiesOf(t.Covariance)
		a.LongRange = a.LongRange || of[k].LongRange
		if a.Fine == nil {
			a.Fine, a.Coarse = of[k].Fine, of[k].Coarse
		}
		if of[k].Everywhere {
			global = true
			continue
		}
		a.Everywhere = false
		global = global || of[k].Connected != nil
		locals = append(locals, t.Covariance)
	}
	if slices.ContainsFunc(of, func(a Abilities) bool { return a.DiagFlops != nil }) {
		a.DiagFlops = func(rows int) float64 {
			flops := 0.0
			for _, t := range main {
				flops += DiagFlops(t.Covariance, rows)
			}
			return flops
		}
	}
	if len(main) == 1 && of[0].Approximate != nil {
		a.Approximate = func(ctx context.Context, rows []int, constant float64, noise []float64) (solve.Preconditioner, error) {
			return of[0].Approximate(ctx, rows, constant+c.level(), noise)
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
	if global && len(locals) > 0 {
		a.Connected = func(ctx context.Context, rows, cols []int) ([]bool, error) {
			all := make([]bool, len(rows))
			for _, t := range locals {
				one, err := Connected(ctx, t, rows, cols)
				if err != nil {
					return nil, err
				}
				for k, v := range one {
					all[k] = all[k] || v
				}
			}
			return all, nil
		}
	}
	return a
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
func (c *sumCovariance) precondition(ctx context.Context, s space.Space, a space.Axis, rows []int, roots []Root, constant float64,
	noise []float64) (p solve.Factored, own bool, err error) {
	level := constant + c.level()
	var low []lowRank
	var others []int
	width, first := 0, -1
	noise = slices.Clone(noise)
	for k, t := range c.terms {
		if isConstant(t.Covariance) {
			continue
		}
		if r := asLowRank(t.Covariance); r != nil && affordable(len(rows), width+r.width()) {
			low, width = append(low, r), width+r.width()
			continue
		}
		if first < 0 && asLowRank(t.Covariance) == nil && preconditions(t.Covariance) {
			first = k
			continue
		}
		others = append(others, k)
	}
	for _, k := range others {
		if err := roots[k].AddDiag(ctx, noise); err != nil {
			return nil, false, err
		}
	}
	var base solve.Factored
	switch {
	case first < 0 && len(low) == 0:
		for i := range noise {
			noise[i] += level
		}
		j, err := solve.NewJacobi(s, a, noise)
		return j, false, err
	case first < 0:
		p, err := solve.NewLowRank(s, a, factorOf(low, rows, level), noise)
		return p, true, err
	default:
		base, _, err = roots[first].Precondition(ctx, level, noise)
	}
	if err != nil || len(low) == 0 {
		return base, true, err
	}
	p, err = raise(s, a, base, factorOf(low, rows, 0))
	return p, true, err
}

func isConstant(c Covariance) bool {
	_, ok := c.(*constant)
	return ok
}

// preconditions reports whether a covariance has a preconditioner that is better than the diagonal.
func preconditions(c Covariance) bool {
	switch own := c.(type) {
	case *multiscaleCovariance:
		return own.firstSmall() < len(own.scales)
	case *layersCovariance:
		return true
	case *loneCovariance:
		return preconditions(own.raw)
	case *unitCovariance:
		return preconditions(own.raw)
	}
	return AbilitiesOf(c).Precondition != nil
}

// raised is P + UUᵀ = F(I + VVᵀ)Fᵀ for a preconditioner P = FFᵀ and V = F⁻¹U.
type raised struct {
	base solve.Factored
	top  *solve.LowRank // I + VVᵀ
}

func raise(s space.Space, a space.Axis, base solve.Factored, u *mat.Dense) (solve.Factored, error) {
	n, width := u.Dims()
	v, ones := mat.NewDense(n, width, nil), slices.Repeat([]float64{1}, n)
	for lo := 0; lo < width; lo += s.MaxColumns() {
		hi := min(width, lo+s.MaxColumns())
		from, to := s.Block(a, hi-lo), s.Block(a, hi-lo)
		from.Set(mat.DenseCopyOf(u.Slice(0, n, lo, hi)).RawMatrix().Data)
		base.Whiten(to, from)
		part := mat.NewDense(n, hi-lo, nil)
		to.Get(part.RawMatrix().Data)
		v.Slice(0, n, lo, hi).(*mat.Dense).Copy(part)
		from.Free()
		to.Free()
	}
	top, err := solve.NewLowRank(s, a, v, ones)
	if err != nil {
		return nil, err
	}
	return &raised{base, top}, nil
}

func (p *raised) LogDet() float64 { return p.base.LogDet() + p.top.LogDet() }

func (p *raised) Free() {
	p.base.Free()
	p.top.Free()
}

// between calls first with a block in place of dst, and then with that as the argument of then.
func between(dst, x space.Block, first, then func(dst, x space.Block)) {
	mid := x.Like()
	defer mid.Free()
	first(mid, x)
	then(dst, mid)
}

func (p *raised) Apply(dst, r space.Block) {
	between(dst, r, p.base.Whiten, func(dst, white space.Block) { between(dst, white, p.top.Apply, p.base.WhitenT) })
}

func (p *raised) Whiten(dst, x space.Block)  { between(dst, x, p.base.Whiten, p.top.Whiten) }
func (p *raised) WhitenT(dst, x space.Block) { between(dst, x, p.top.WhitenT, p.base.WhitenT) }
