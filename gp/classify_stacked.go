package gp

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel"
	"grfgp/solve"
)

// stackedSystem solves the systems of all classes by conjugate gradients as one
// of classes × labels rows: row i·C + c belongs to label i and class c. Each has
// noise of its own, and a block with C times as many columns and one C-th of the
// rows is the same memory: one product
// with the kernel serves all classes.
type stackedSystem struct {
	op      stacked
	noise   []float64
	precond solve.Preconditioner
}

func newStackedSystem(ctx context.Context, r *regressions, cov kernel.Covariance, theta []float64) (*stackedSystem, error) {
	classes, n := r.classes(), len(r.nodes)
	own, other := r.sides(theta)
	s := &stackedSystem{op: stacked{cov.Cross(r.nodes, r.nodes), classes}, noise: make([]float64, n*classes)}
	for c := range classes {
		lo, hi := r.members(c)
		for k := range n {
			if s.noise[k*classes+c] = other.noise; lo <= k && k < hi {
				s.noise[k*classes+c] = own.noise
			}
		}
	}
	if precondition := kernel.AbilitiesOf(cov).Precondition; precondition != nil {
		// One for all classes, with the noise that all but one of them have.
		noise := make([]float64, n)
		for k := range noise {
			noise[k] = other.noise
		}
		p, err := precondition(ctx, r.nodes, 0, noise)
		s.precond = stackedPreconditioner{p, classes}
		return s, err
	}
	diag, all := make([]float64, n), make([]float64, n*classes)
	if err := cov.Diag(ctx, diag, r.nodes); err != nil {
		return nil, err
	}
	for q := range all {
		all[q] = diag[q/classes]
	}
	var err error
	s.precond, err = solve.NewJacobi(all, s.noise)
	return s, err
}

func (s *stackedSystem) solve(ctx context.Context, dst, b *mat.Dense, columns int, a accuracy) error {
	classes := s.op.classes
	sides := restack(b, columns, classes)
	tols, err := a.tolerances(ctx, nil, s.noise, sides)
	if err != nil {
		return err
	}
	_, err = solve.CG(ctx, restack(dst, columns, classes), s.op, s.noise, sides,
		solve.Options{ColumnTol: tols, MaxIter: solveMost, Precond: s.precond})
	return err
}

// restack views an n×(C·k) matrix as (n·C)×k.
func restack(x *mat.Dense, columns, classes int) *mat.Dense {
	n, _ := x.Dims()
	return mat.NewDense(n*classes, columns, contiguous(x))
}

// unstack views an (n·C)×k matrix as n×(C·k).
func unstack(x *mat.Dense, classes int) *mat.Dense {
	rows, k := x.Dims()
	return mat.NewDense(rows/classes, k*classes, contiguous(x))
}

func contiguous(x *mat.Dense) []float64 {
	raw := x.RawMatrix()
	if raw.Stride != raw.Cols {
		panic("gp: a block with gaps cannot be stacked")
	}
	return raw.Data[:raw.Rows*raw.Cols]
}

// stacked is the kernel's matrix, once for each class.
type stacked struct {
	solve.Operator
	classes int
}

func (s stacked) Dims() (r, c int) {
	r, c = s.Operator.Dims()
	return r * s.classes, c * s.classes
}

func (s stacked) Apply(ctx context.Context, dst, x *mat.Dense) error {
	return s.Operator.Apply(ctx, unstack(dst, s.classes), unstack(x, s.classes))
}

// stackedPreconditioner is a preconditioner, once for each class.
type stackedPreconditioner struct {
	solve.Preconditioner
	classes int
}

func (s stackedPreconditioner) Apply(dst, r *mat.Dense) {
	s.Preconditioner.Apply(unstack(dst, s.classes), unstack(r, s.classes))
}
