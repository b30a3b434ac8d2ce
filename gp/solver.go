package gp

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel"
	"grfgp/solve"
)

// solve sets dst = H⁻¹b, to the given accuracy and from the guess that dst holds if it is by conjugate gradients, on a card or in the
// memory of this process.
func (p *Posterior) solve(ctx context.Context, dst, b *mat.Dense, a accuracy) error {
	if p.h != nil {
		p.h.Solve(dst, b)
		return ctx.Err()
	}
	return p.compute(ctx, "conditioned", func(s *stage) error {
		sys, err := p.system(ctx, s)
		if err != nil {
			return err
		}
		return sys.solveDense(ctx, dst, b, a)
	})
}

// chol returns the Cholesky factor of H; nil if there is none.
func (p *Posterior) chol() *solve.Cholesky {
	c, _ := p.h.(*solve.Cholesky)
	return c
}

// table returns H factored by a structure of the kernel; nil if there is none.
func (p *Posterior) table() kernel.Factor {
	f, _ := p.h.(kernel.Factor)
	return f
}
