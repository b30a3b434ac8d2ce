package gp

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel"
	"grfgp/solve"
)

// solver solves H·x = b for the measurements of a posterior.
type solver interface {
	// solve sets dst = H⁻¹b, to the given accuracy unless it is exact, from the guess that dst holds.
	solve(ctx context.Context, dst, b *mat.Dense, a accuracy) error
}

// exactly is a factored H.
type exactly struct{ inverse }

func (e exactly) solve(ctx context.Context, dst, b *mat.Dense, _ accuracy) error {
	e.Solve(dst, b)
	return ctx.Err()
}

// iteratively uses conjugate gradients, on a card or in the memory of this process.
type iteratively struct{ p *Posterior }

func (i iteratively) solve(ctx context.Context, dst, b *mat.Dense, a accuracy) error {
	return i.p.compute(ctx, "conditioned", func(s *stage) error {
		sys, err := i.p.system(ctx, s)
		if err != nil {
			return err
		}
		return sys.solveDense(ctx, dst, b, a)
	})
}

// factored returns H, factored; nil with the iterative solver.
func (p *Posterior) factored() inverse {
	if e, ok := p.solver.(exactly); ok {
		return e.inverse
	}
	return nil
}

// chol returns the Cholesky factor of H; nil if there is none.
func (p *Posterior) chol() *solve.Cholesky {
	c, _ := p.factored().(*solve.Cholesky)
	return c
}

// table returns H factored by a structure of the kernel; nil if there is none.
func (p *Posterior) table() kernel.Factor {
	f, _ := p.factored().(kernel.Factor)
	return f
}
