package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/gpu"
	"grfgp/internal/ranks"
	"grfgp/space"
)

// path returns the matrix of laplacian(n).
func path(n int) space.Entries {
	e := space.Entries{Ptr: []int{0}}
	for i := range n {
		for j := max(0, i-1); j < min(n, i+2); j++ {
			e.Col, e.Val = append(e.Col, uint32(j)), append(e.Val, -1)
			if j == i {
				e.Val[len(e.Val)-1] = 2
			}
		}
		e.Ptr = append(e.Ptr, len(e.Col))
	}
	return e
}

// TestMemories: in every memory conjugate gradients give the solutions of operators of this process, take as many
// iterations, up to rounding, and stop each column by itself: with every kind of preconditioner, from zero and from a
// guess. Log-determinants have the same probes.
func TestMemories(t *testing.T) {
	t.Parallel()
	const n, k = 700, 6
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]float64, n)
	for i := range noise {
		noise[i] = float64(float32(0.05 + random.Float64()))
	}
	b, guess, u := mat.NewDense(n, k, nil), mat.NewDense(n, k, nil), normals(n, 3, 5)
	for i := range n {
		for j := range k {
			b.Set(i, j, float64(float32(random.NormFloat64()*math.Pow(10, float64(j-2)))))
			guess.Set(i, j, float64(float32(b.At(i, j)/3)))
		}
		b.Set(i, 3, 0) // its solution is zero
	}
	d := make([]float64, n)
	for i := range d {
		d[i] = 2 + noise[i]
	}
	preconds := map[string]func(s space.Space) (Factored, error){
		"none":     func(space.Space) (Factored, error) { return nil, nil },
		"Jacobi":   func(s space.Space) (Factored, error) { return NewJacobi(s, space.Rows(n), d) },
		"low rank": func(s space.Space) (Factored, error) { return NewLowRank(s, space.Rows(n), u, d) },
	}
	for _, m := range memories() {
		tols := []float64{1e-3, 1e-9, 1e-6, 1e-6, 1e-8, 1e-2}
		if m.rounding > 1e-10 {
			tols = []float64{1e-3, 1e-4, 1e-5, 1e-5, 1e-4, 1e-2}
		}
		for name, precond := range preconds {
			t.Run(m.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := m.open()
				system, free, err := systemIn(t.Context(), s, space.Rows(n), path(n), noise)
				if err != nil {
					t.Fatal(err)
				}
				here := SystemOf(laplacian(n), noise)
				for _, of := range []*System{system, here} {
					p, err := precond(of.Space)
					if err != nil {
						t.Fatal(err)
					}
					if p != nil {
						of.Precond = p
						defer p.Free()
					}
				}
				for _, cold := range []bool{true, false} {
					checkSolution(t, system, here, b, guess, cold, Options{ColumnTol: tols, MaxIter: 400}, m)
				}
				opts := LogDetOptions{Probes: 5, Steps: 30, Seed: 3}
				want, se, err := here.LogDet(t.Context(), opts)
				if err != nil {
					t.Fatal(err)
				}
				got, gotSE, err := system.LogDet(t.Context(), opts)
				if slack := 1e7 * m.rounding; err != nil || !(math.Abs(got-want) <= slack*se) || !(math.Abs(gotSE-se) <= slack*se) {
					t.Errorf("log-determinant %v ± %v, want %v ± %v (%v)", got, gotSE, want, se, err)
				}
				free()
				if p, ok := system.Precond.(Factored); ok {
					p.Free()
					system.Precond = nil
				}
				m.empty(t, s)
			})
		}
	}
}

// checkSolution compares a solve in a memory with the same of an operator of this process.
func checkSolution(t *testing.T, system, here *System, b, guess *mat.Dense, cold bool, opts Options, m memory) {
	t.Helper()
	n, k := b.Dims()
	s := system.Space
	start := make([]float64, n*k)
	if !cold {
		copy(start, guess.RawMatrix().Data)
	}
	solve := func(of *System) (*mat.Dense, Stats) {
		x, side := of.Space.Block(of.Axis, k), of.Space.Block(of.Axis, k)
		defer x.Free()
		defer side.Free()
		x.Set(start)
		side.Set(b.RawMatrix().Data)
		stats, err := of.CG(t.Context(), x, side, cold, opts)
		if err != nil || !stats.Converged {
			t.Fatal(stats, err)
		}
		got := mat.NewDense(n, k, nil)
		x.Get(got.RawMatrix().Data)
		return got, stats
	}
	want, stats := solve(here)
	got, other := solve(system)
	if s.Single() {
		if other.Iterations > 2*stats.Iterations {
			t.Errorf("%d iterations, %d of float64", other.Iterations, stats.Iterations)
		}
	} else if other.Iterations != stats.Iterations || other.Products != stats.Products {
		t.Errorf("%+v in this memory, %+v in that of the process", other, stats)
	}
	var r mat.Dense
	if err := laplacian(n).Apply(t.Context(), mat.NewDense(n, k, nil), got); err != nil {
		t.Fatal(err)
	}
	r.CloneFrom(got)
	if err := laplacian(n).Apply(t.Context(), &r, got); err != nil {
		t.Fatal(err)
	}
	noise := make([]float64, n)
	here.Noise.Get(noise)
	for i := range n {
		for j := range k {
			r.Set(i, j, b.At(i, j)-r.At(i, j)-noise[i]*got.At(i, j))
		}
	}
	for j := range k {
		size := mat.Norm(b.ColView(j), 2)
		if size == 0 {
			if mat.Norm(got.ColView(j), 2) != 0 || other.Residuals[j] != 0 {
				t.Errorf("the solution of zeros has norm %g, residual %g", mat.Norm(got.ColView(j), 2), other.Residuals[j])
			}
			continue
		}
		// The residual is what the memory says, up to the rounding of solutions.
		true64 := mat.Norm(r.ColView(j), 2) / size
		if slack := 100 * m.rounding; !(math.Abs(true64-other.Residuals[j]) <= slack) || !(true64 <= 1.01*opts.tol(j)+slack) {
			t.Errorf("column %d: residual %g, reported as %g", j, true64, other.Residuals[j])
		}
		if s.Single() {
			continue
		}
		var diff mat.VecDense
		diff.SubVec(got.ColView(j), want.ColView(j))
		if !(mat.Norm(&diff, 2) <= 1e-9*mat.Norm(want.ColView(j), 2)) {
			t.Errorf("column %d differs by %g of %g", j, mat.Norm(&diff, 2), mat.Norm(want.ColView(j), 2))
		}
	}
}

// TestSystemRejects: in every memory bad arguments, systems that are not positive definite, iterations that do not suffice,
// and an end that somebody asked for are errors, and give all memory back.
func TestSystemRejects(t *testing.T) {
	t.Parallel()
	const n = 50
	ended, end := context.WithCancel(background)
	end()
	good := Options{Tol: 1e-5, MaxIter: 100}
	sides := make([]float64, n)
	for i := range sides {
		sides[i] = float64(i%7) - 2
	}
	for _, m := range memories() {
		for name, c := range map[string]struct {
			noise float64
			rows  int // of the solution
			ctx   context.Context
			opts  Options
			want  error
		}{
			"options":               {1, n, background, Options{}, ErrArgument},
			"sizes":                 {1, n - 1, background, good, ErrArgument},
			"not a number":          {math.NaN(), n, background, good, ErrNotPositiveDefinite},
			"not positive definite": {-3, n, background, good, ErrNotPositiveDefinite},
			"iterations":            {1e-6, n, background, Options{Tol: 1e-6, MaxIter: 3}, ErrNotConverged},
			"ended":                 {1, n, ended, good, context.Canceled},
			"good":                  {1, n, background, good, nil},
		} {
			for _, cold := range []bool{true, false} {
				s := m.open()
				system, free, err := systemIn(background, s, space.Rows(n), path(n), constant(n, c.noise))
				if err != nil {
					t.Fatal(err)
				}
				x, b := s.Block(space.Rows(c.rows), 1), s.Block(space.Rows(n), 1)
				x.Zero()
				b.Set(sides)
				if _, err := system.CG(c.ctx, x, b, cold, c.opts); !errors.Is(err, c.want) {
					t.Errorf("%s, %s, from zero %v: %v, want %v", m.name, name, cold, err, c.want)
				}
				x.Free()
				b.Free()
				free()
				m.empty(t, s)
			}
		}
	}
}

// TestSystemBreaks: products that fail, at once or later, and a preconditioner that is not positive definite end a solve and
// a log-determinant, which give all memory back.
func TestSystemBreaks(t *testing.T) {
	t.Parallel()
	const n = 50
	for _, m := range memories() {
		for _, cold := range []bool{true, false} {
			for left := range 4 {
				s := m.open()
				system, free, err := systemIn(background, s, space.Rows(n), path(n), constant(n, 0.1))
				if err != nil {
					t.Fatal(err)
				}
				x, b := s.Block(space.Rows(n), 2), s.Block(space.Rows(n), 2)
				x.Zero()
				if !cold {
					x.Set(normals(n, 2, 1).RawMatrix().Data)
				}
				b.Set(normals(n, 2, 2).RawMatrix().Data)
				want := errors.New("broken")
				system.Apply = breaking(system.Apply, left, want)
				if left == 3 {
					system.Precond, want = negative{}, ErrNotPositiveDefinite
				}
				if _, err := system.CG(background, x, b, cold, Options{Tol: 1e-5, MaxIter: 100}); !errors.Is(err, want) {
					t.Errorf("%s, from zero %v, after %d products: %v", m.name, cold, left, err)
				}
				if system.Precond = nil; cold {
					system.Precond = jacobiIn(t, s, constant(n, 2), constant(n, 0.1))
				}
				system.Apply = breaking(system.Apply, 0, want)
				if _, _, err := system.LogDet(background, LogDetOptions{}); !errors.Is(err, want) {
					t.Errorf("%s, log-determinant: %v", m.name, err)
				}
				if p, ok := system.Precond.(Factored); ok {
					p.Free()
				}
				x.Free()
				b.Free()
				free()
				m.empty(t, s)
			}
		}
	}
}

// product is System.Apply.
type product = func(ctx context.Context, dst, x space.Block) error

// breaking returns products that fail after some.
func breaking(apply product, left int, err error) product {
	return func(ctx context.Context, dst, x space.Block) error {
		if left--; left < 0 {
			return err
		}
		return apply(ctx, dst, x)
	}
}

// TestFailingCards: a card that is lost, at once or so that copies alone tell, and one with too little memory are errors of
// the solve, which tell what happened and not what followed from it.
func TestFailingCards(t *testing.T) {
	t.Parallel()
	const n = 50
	for name, c := range map[string]struct {
		how  gpu.Simulated
		want error
	}{
		"lost":   {gpu.Simulated{FailAfter: 12}, gpu.ErrLost},
		"late":   {gpu.Simulated{FailAfter: 12, FailLate: true}, gpu.ErrLost},
		"memory": {gpu.Simulated{Memory: 5 << 10}, gpu.ErrMemory},
		"good":   {gpu.Simulated{}, nil},
	} {
		s := space.Card(gpu.Simulate(c.how))
		system, _, err := systemIn(background, s, space.Rows(n), path(n), constant(n, 0.01))
		if err != nil {
			t.Fatal(err)
		}
		x, b := s.Block(space.Rows(n), 1), s.Block(space.Rows(n), 1)
		x.Zero()
		b.Set(constant(n, 1))
		if _, err := system.CG(background, x, b, true, Options{Tol: 1e-6, MaxIter: 100}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if _, _, err := system.LogDet(background, LogDetOptions{Probes: 3}); !errors.Is(err, c.want) {
			t.Errorf("%s, log-determinant: %v, want %v", name, err, c.want)
		}
		if _, err := NewLowRank(s, space.Rows(n), normals(n, 2, 1), variances(n)); !errors.Is(err, c.want) {
			t.Errorf("%s, low rank: %v, want %v", name, err, c.want)
		}
	}
}

// chain is the rows [lo, hi) of a matrix that couples every row of n with the next, and with the one 1,500 rows on.
func chain(n, lo, hi int) space.Entries {
	e := space.Entries{Ptr: []int{0}}
	for i := lo; i < hi; i++ {
		for _, far := range []int{-1500, -1, 0, 1, 1500} {
			e.Col, e.Val = append(e.Col, uint32((i+far+2*n)%n)), append(e.Val, -0.5)
			if far == 0 {
				e.Val[len(e.Val)-1] = 2.2
			}
		}
		e.Ptr = append(e.Ptr, len(e.Col))
	}
	return e
}

// TestRanksShareASystem: solutions, statistics and log-determinants on several ranks have the bits of those on one: in
// float64, in float32, and in float32 within float64; without a preconditioner and with all kinds. A rank may have no rows,
// and sides may have squares that float64 does not hold.
func TestRanksShareASystem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n     int
		ranks []int
	}{{9*ranks.BlockRows + 300, []int{2, 3, 4, 5}}, {1600, []int{3}}} {
		for _, mode := range []string{"float64", "float32", "float32 within float64"} {
			t.Run(fmt.Sprintf("%d rows, %s", c.n, mode), func(t *testing.T) {
				t.Parallel()
				want, err := solveTogether(t.Context(), nil, c.n, mode)
				if err != nil {
					t.Fatal(err)
				}
				if want[0] < 15 {
					t.Fatalf("only %g iterations: nothing to compare", want[0])
				}
				for _, size := range c.ranks {
					err := ranks.Together(t.Context(), size, func(ctx context.Context, g *ranks.Group) error {
						got, err := solveTogether(ctx, g, c.n, mode)
						if err == nil && !slices.Equal(got, want) {
							err = errors.New("other bits")
						}
						return err
					})
					if err != nil {
						t.Errorf("%d ranks: %v", size, err)
					}
				}
			})
		}
	}
}

// solveTogether returns all numbers of solving a chain of n rows: the first is the number of iterations.
func solveTogether(ctx context.Context, g *ranks.Group, n int, mode string) (all []float64, err error) {
	const k = 3
	s := space.Together(ctx, g, mode == "float32")
	axis := space.EvenAxis(s, n)
	_, lo := axis.All()
	hi := lo + axis.Own
	b, u := normals(n, k, 8), normals(n, 2, 9)
	noise, diag := variances(n), make([]float64, axis.Own)
	for i := range diag {
		diag[i] = 2.2 + noise[lo+i]
	}
	for i := range n {
		b.Set(i, 1, 1e-30*b.At(i, 1))
		if mode == "float64" {
			b.Set(i, 1, 1e-270*b.At(i, 1))
			b.Set(i, 2, 1e200*b.At(i, 2))
		}
	}
	system, _, err := systemIn(ctx, s, axis, chain(n, lo, hi), noise[lo:hi])
	if err != nil {
		return nil, err
	}
	of := []*System{system}
	opts := Options{Tol: 1e-8, MaxIter: 1000}
	switch mode {
	case "float32":
		opts.Tol = 1e-5
	case "float32 within float64":
		if system.Narrow, _, err = systemIn(ctx, space.Narrow(s), axis, chain(n, lo, hi), noise[lo:hi]); err != nil {
			return nil, err
		}
		of, opts.Single = append(of, system.Narrow), true
	}
	few := &mat.Dense{}
	if lo < hi {
		few = u.Slice(lo, hi, 0, 2).(*mat.Dense)
	}
	for _, precond := range []func(s space.Space) (Preconditioner, error){
		func(space.Space) (Preconditioner, error) { return nil, nil },
		func(s space.Space) (Preconditioner, error) { return NewJacobi(s, axis, diag) },
		func(s space.Space) (Preconditioner, error) { return NewLowRank(s, axis, few, diag) },
	} {
		for _, in := range of {
			if in.Precond, err = precond(in.Space); err != nil {
				return nil, err
			}
		}
		x, side := s.Block(axis, k), s.Block(axis, k)
		x.Zero()
		side.Set(b.RawMatrix().Data[lo*k : hi*k])
		for _, cold := range []bool{true, false} { // the second time from the solution
			stats, err := system.CG(ctx, x, side, cold, opts)
			if err != nil {
				return nil, err
			}
			own := make([]float64, axis.Own*k)
			x.Get(own)
			solution, err := space.Gather(ctx, s, own)
			if err != nil {
				return nil, err
			}
			all = append(append(append(all, float64(stats.Iterations), float64(stats.Products)), stats.Residuals...), solution...)
		}
		value, se, err := system.LogDet(ctx, LogDetOptions{Probes: 4, Steps: 20, Seed: 3})
		if err != nil {
			return nil, err
		}
		all = append(all, value, se)
	}
	return all, s.Err()
}

// TestRanksReject: all ranks refuse a right-hand side that is not a number, and a norm that float64 does not hold, whoever has
// the rows.
func TestRanksReject(t *testing.T) {
	t.Parallel()
	const n = 3 * ranks.BlockRows
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.MaxFloat64} {
		refused := make(chan error, 2)
		_ = ranks.Together(t.Context(), 2, func(ctx context.Context, g *ranks.Group) error {
			s := space.Together(ctx, g, false)
			axis := space.EvenAxis(s, n)
			_, lo := axis.All()
			system, _, err := systemIn(ctx, s, axis, chain(n, lo, lo+axis.Own), constant(axis.Own, 1))
			if err != nil {
				return err
			}
			x, b, sides := s.Block(axis, 2), s.Block(axis, 2), constant(2*axis.Own, 1)
			if g.Rank() == 1 {
				sides[5], sides[7] = bad, bad
			}
			x.Zero()
			b.Set(sides)
			_, err = system.CG(ctx, x, b, true, DefaultOptions())
			refused <- err
			return nil
		})
		for range 2 {
			if err := <-refused; !errors.Is(err, ErrArgument) {
				t.Errorf("%g: %v", bad, err)
			}
		}
	}
}

// TestLostRankEndsASolve: a rank that is lost in the middle of a solve ends it on the others: with that reason, or
// with that of the context, which ends at the same time, for one that looks there first.
func TestLostRankEndsASolve(t *testing.T) {
	t.Parallel()
	const n = 6 * ranks.BlockRows
	for name, solve := range map[string]func(ctx context.Context, s *System, x, b space.Block) error{
		"conjugate gradients": func(ctx context.Context, s *System, x, b space.Block) error {
			_, err := s.CG(ctx, x, b, true, Options{Tol: 1e-10, MaxIter: 1000})
			return err
		},
		"log-determinant": func(ctx context.Context, s *System, _, _ space.Block) error {
			_, _, err := s.LogDet(ctx, LogDetOptions{})
			return err
		},
	} {
		broken := errors.New("out of paper")
		lost := make(chan error, 1)
		_ = ranks.Together(t.Context(), 2, func(ctx context.Context, g *ranks.Group) error {
			s := space.Together(ctx, g, false)
			axis := space.EvenAxis(s, n)
			_, lo := axis.All()
			system, _, err := systemIn(ctx, s, axis, chain(n, lo, lo+axis.Own), constant(axis.Own, 0.01))
			if err != nil {
				return err
			}
			if g.Rank() == 1 {
				system.Apply = breaking(system.Apply, 3, broken)
			}
			x, b := s.Block(axis, 1), s.Block(axis, 1)
			x.Zero()
			b.Set(normals(n/2, 1, uint64(g.Rank())).RawMatrix().Data)
			err = solve(ctx, system, x, b)
			if g.Rank() == 0 {
				lost <- err
			}
			return err
		})
		if err := <-lost; !errors.Is(err, ranks.ErrLost) && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: the other rank says %v", name, err)
		}
	}
}
