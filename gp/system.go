package gp

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/solve"
	"grfgp/space"
)

// system is H·x = b for H = K + N at measured nodes, solved by conjugate gradients.
//
// Scaled, it is solved as B = W^½KW^½ + I with W = N⁻¹: (W^-½x) solves B for W^½b. Where variances differ by orders of
// magnitude, residuals are then measured in standard deviations of each measurement, and not by the least certain ones.
// The determinant is that of B.
//
// Stacked, there is such a system for each of several classes, with noise of its own: row i·C + c belongs to measurement i and
// class c. A block with C times as many columns and one C-th of the rows is the same memory, so that one product with the kernel
// serves all classes.
type system struct {
	rows     *rows
	cg       solve.System
	how      Stochastic
	hold     *hold // of the kernel in float32
	noise    []float64
	least    float64        // noise variance of the most certain row
	own      bool           // a preconditioner is that of the kernel, not the diagonal
	known    solve.Factored // preconditioner of known determinant
	root, sd space.Block    // W^½ and W^-½ of a scaled system; nil
	classes  int            // of a stacked system; else 1
	diagonal *solve.Jacobi  // of a stacked system; nil
}

// newSystem prepares to solve for noise variances, at the hyperparameters of the rows.
func newSystem(ctx context.Context, r *rows, noise []float64, how Stochastic, h *hold) (*system, error) {
	s := &system{rows: r, how: how, hold: h, noise: noise, classes: 1}
	s.cg = solve.System{Space: r.space, Axis: r.axis, Noise: r.space.Block(r.axis, 1), Apply: r.apply}
	s.cg.Noise.Set(noise)
	var err error
	if s.least, err = least(ctx, r.space, noise); err != nil || how.Plain {
		return s, err
	}
	p, err := r.precondition(ctx, noise)
	if err != nil {
		return nil, err
	}
	s.own, s.known, s.cg.Precond = p.own, p.factored, p.factored
	if p.near != nil {
		s.cg.Precond = p.near
	}
	return s, nil
}

// newScaledSystem is newSystem for the scaled form.
func newScaledSystem(ctx context.Context, r *rows, noise []float64, how Stochastic, h *hold) (*system, error) {
	s, err := newSystem(ctx, r, noise, how, h)
	if err != nil {
		return nil, err
	}
	n := len(noise)
	ones, sd, root, log := slices.Repeat([]float64{1}, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for k, v := range noise {
		sd[k], root[k], log[k] = math.Sqrt(v), 1/math.Sqrt(v), math.Log(v)
	}
	s.root, s.sd = r.space.Block(r.axis, 1), r.space.Block(r.axis, 1)
	s.root.Set(root)
	s.sd.Set(sd)
	s.cg.Noise.Set(ones)
	s.least = 1
	s.cg.Apply = func(ctx context.Context, dst, x space.Block) error {
		in := x.Like()
		defer in.Free()
		in.Scale(x, s.root, 1)
		if err := r.root.Apply(ctx, dst, in, false); err != nil {
			return err
		}
		dst.Scale(dst, s.root, 1)
		return nil
	}
	if s.known != nil {
		near := s.cg.Precond
		s.known = solve.ScaledFactor(borrowed{s.known}, s.sd, -space.Sum(r.space, r.axis, log))
		if s.cg.Precond = s.known; near != r.made.factored {
			s.cg.Precond = solve.Scaled(near, s.sd)
		}
	}
	return s, nil
}

// borrowed is a preconditioner that belongs to rows.
type borrowed struct{ solve.Factored }

func (borrowed) Free() {}

// newStackedSystem is newSystem for several classes, given the noise of every row, class by class for each measurement, and the one
// that most of them have.
func newStackedSystem(ctx context.Context, r *rows, classes int, noise []float64, usual float64) (*system, error) {
	n := len(r.nodes)
	axis := space.Rows(n * classes)
	s := &system{rows: r, noise: noise, classes: classes, how: Stochastic{double: true}, least: smallest(noise)}
	s.cg = solve.System{Space: r.space, Axis: axis, Noise: r.space.Block(axis, 1)}
	s.cg.Noise.Set(noise)
	s.cg.Apply = func(ctx context.Context, dst, x space.Block) error {
		return r.root.Apply(ctx, s.beside(dst), s.beside(x), false)
	}
	p, err := r.precondition(ctx, slices.Repeat([]float64{usual}, n)) // one for all classes
	if err != nil {
		return nil, err
	}
	if s.own = p.own; p.own {
		s.cg.Precond = stackedPreconditioner{p.factored, s}
		return s, nil
	}
	diag, all := make([]float64, n), slices.Clone(noise)
	if err := r.root.AddDiag(ctx, diag); err != nil {
		return nil, err
	}
	for q := range all {
		all[q] += diag[q/classes]
	}
	j, err := solve.NewJacobi(r.space, axis, all)
	if err != nil {
		return nil, err
	}
	s.diagonal, s.cg.Precond = j, j
	return s, nil
}

// beside returns a stacked block with the columns of all classes beside each other.
func (s *system) beside(b space.Block) space.Block {
	return b.Reshape(s.rows.axis, b.Columns()*s.classes)
}

// stackedPreconditioner is a preconditioner, once for each class.
type stackedPreconditioner struct {
	solve.Preconditioner
	s *system
}

func (p stackedPreconditioner) Apply(dst, r space.Block) {
	p.Preconditioner.Apply(p.s.beside(dst), p.s.beside(r))
}

// free gives the memory back; rows and what belongs to them stay.
func (s *system) free() {
	s.cg.Noise.Free()
	if s.root != nil {
		s.root.Free()
		s.sd.Free()
	}
	if s.diagonal != nil {
		s.diagonal.Free()
	}
}

// solve sets x to the solution for b, to an accuracy, from the guess that x holds, which cold says to be zero.
func (s *system) solve(ctx context.Context, x, b space.Block, cold bool, a accuracy) error {
	if s.root == nil {
		return s.run(ctx, x, b, cold, a)
	}
	side := b.Like()
	defer side.Free()
	side.Scale(b, s.root, 1)
	x.Scale(x, s.sd, 1)
	err := s.run(ctx, x, side, cold, a)
	x.Scale(x, s.root, 1)
	return err
}

func (s *system) run(ctx context.Context, x, b space.Block, cold bool, a accuracy) error {
	norms := b.Sums(b, nil)
	for j, v := range norms {
		norms[j] = math.Sqrt(v)
	}
	n, _ := s.cg.Axis.All()
	tols := a.of(n, s.least, norms)
	if most := s.how.residual; most > 0 {
		for j, tol := range tols {
			tols[j] = min(tol, most)
		}
	}
	opts := solve.Options{ColumnTol: tols, MaxIter: s.how.within().SolveIters}
	if !a.single || !s.single() {
		_, err := s.cg.CG(ctx, x, b, cold, opts)
		return err
	}
	return s.hold.narrowed(ctx, s.rows, func(r *rows) error {
		cg := s.cg
		if r != nil {
			narrow, err := newSystem(ctx, r, s.noise, s.how, nil)
			if err != nil {
				return err
			}
			defer narrow.free()
			cg.Narrow, opts.Single = &narrow.cg, true
		}
		_, err := cg.CG(ctx, x, b, cold, opts)
		return err
	})
}

// single reports whether iterations in float32 are as good as in float64. A kernel of
// long range has eigenvalues as large as the number of measurements, which magnify
// rounding: on a ring of 500,000 nodes, samples took 11 iterations in float32 and 3
// in float64.
func (s *system) single() bool {
	return !s.own && !s.how.double && s.root == nil && space.DeviceOf(s.rows.space) == nil
}

// solveDense is solve for matrices of this process, some columns at a time.
func (s *system) solveDense(ctx context.Context, dst, b *mat.Dense, a accuracy) error {
	n, columns := b.Dims()
	most := s.columns(columns, 8*n)
	for lo := 0; lo < columns; lo += most {
		hi := min(columns, lo+most)
		if err := s.solveColumns(ctx, dst.Slice(0, n, lo, hi).(*mat.Dense), b.Slice(0, n, lo, hi).(*mat.Dense), a); err != nil {
			return err
		}
	}
	return nil
}

// columns returns how many of so many columns go beside each other, for blocks with so many rows in all.
func (s *system) columns(all, numbers int) int {
	if d := space.DeviceOf(s.rows.space); d != nil {
		return max(1, columnsAtATime(d, numbers)/s.classes)
	}
	return max(1, all)
}

// solveColumns solves for some columns. After a failure dst is as it was.
func (s *system) solveColumns(ctx context.Context, dst, b *mat.Dense, a accuracy) error {
	side, x := blockOf(s.cg.Space, s.cg.Axis, b), blockOf(s.cg.Space, s.cg.Axis, dst)
	defer side.Free()
	defer x.Free()
	if err := s.solve(ctx, x, side, isZero(dst), a); err != nil {
		return err
	}
	part := numbersOf(x)
	if err := s.cg.Space.Err(); err != nil {
		return err
	}
	dst.Copy(part)
	return nil
}

// logDet estimates log det H, or that of the scaled matrix, with its standard error.
func (s *system) logDet(ctx context.Context, seed uint64) (value, se float64, err error) {
	cg := s.cg
	if cg.Precond = nil; s.known != nil {
		cg.Precond = s.known
	}
	return cg.LogDet(ctx, solve.LogDetOptions{Probes: 8, Steps: 25, Early: s.own, Seed: seed})
}

// blockOf returns a copy of a matrix in a memory.
func blockOf(s space.Space, a space.Axis, x *mat.Dense) space.Block {
	rows, columns := x.Dims()
	raw := x.RawMatrix()
	b := s.Block(a, columns)
	if data := raw.Data; raw.Stride == columns {
		b.Set(data[:rows*columns])
	} else {
		b.Set(mat.DenseCopyOf(x).RawMatrix().Data)
	}
	return b
}

// numbersOf returns a copy of a block in the memory of this process.
func numbersOf(b space.Block) *mat.Dense {
	x := mat.NewDense(b.Axis().Own, b.Columns(), nil)
	b.Get(x.RawMatrix().Data)
	return x
}

func isZero(x *mat.Dense) bool {
	rows, _ := x.Dims()
	for i := range rows {
		if slices.ContainsFunc(x.RawRowView(i), func(v float64) bool { return v != 0 }) {
			return false
		}
	}
	return true
}

// least returns the smallest of the numbers of all processes that share a space.
func least(ctx context.Context, s space.Space, x []float64) (float64, error) {
	own := math.Inf(1)
	if len(x) > 0 {
		own = smallest(x)
	}
	if space.Processes(s) == 1 {
		return own, nil
	}
	all, err := space.Gather(ctx, s, []float64{own})
	return slices.Min(append(all, own)), err
}

// smallest returns the smallest of some numbers, of which there must be one.
func smallest(x []float64) float64 {
	const size = 1 << 15
	parts := make([]float64, (len(x)+size-1)/size)
	parallel.Ranges(len(x), size, func(lo, hi int) { parts[lo/size] = slices.Min(x[lo:hi]) })
	return slices.Min(parts)
}
