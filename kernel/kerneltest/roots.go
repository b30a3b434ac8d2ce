package kerneltest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/gpu"
	"grfgp/internal/ranks"
	"grfgp/internal/testkit"
	"grfgp/kernel"
	"grfgp/space"
)

// memory is a space in which roots are tested.
type memory struct {
	name string
	open func() space.Space
	// precise is how near results are to those of dense matrices, relative to their size.
	precise float64
	opts    kernel.RootOptions
}

func memories() []memory {
	return []memory{
		{"float64", space.Host, exact, kernel.RootOptions{}},
		{"rough", space.Host, 1e-4, kernel.RootOptions{Rough: true}},
		{"float32", space.Host32, 1e-4, kernel.RootOptions{}},
		{"card", func() space.Space { return space.Card(gpu.Simulate(gpu.Simulated{})) }, 1e-9, kernel.RootOptions{}},
	}
}

// testRoots: the root of the kernel, in every memory that has a place for it, is K: products, diagonals, gradients, draws, and
// functions elsewhere.
func (s *suite) testRoots(t *testing.T) {
	for _, m := range memories() {
		t.Run(m.name, func(t *testing.T) {
			in := m.open()
			r, err := s.root(t.Context(), in, s.rows, m.opts)
			if err != nil {
				t.Fatal(err)
			}
			if r == nil {
				if m.name == "float64" {
					t.Error("no root in the float64 memory of this process")
				}
				return
			}
			defer r.Free()
			s.testRoot(t, m, in, r)
		})
	}
	t.Run("ranks", func(t *testing.T) {
		if err := ranks.Together(t.Context(), 2, s.shared); err != nil {
			t.Error(err)
		}
	})
}

// shared compares products, slopes and functions of two processes with those of one. Few rows are a single block, which
// the first of them has.
func (s *suite) shared(ctx context.Context, g *ranks.Group) error {
	rows, nodes := s.rows, s.all
	if g.Rank() > 0 {
		rows, nodes = nil, nil
	}
	got, err := s.work(ctx, space.Together(ctx, g, false), rows, nodes)
	if got == nil || err != nil || g.Rank() > 0 {
		return err
	}
	want, err := s.work(ctx, space.Host(), s.rows, s.all)
	switch {
	case err != nil:
		return err
	case !mat.Equal(fetched(got.product), fetched(want.product)):
		return errors.New("products of two processes differ from those of one")
	case !slices.Equal(got.slopes, want.slopes):
		return fmt.Errorf("slopes of two processes are %v, and %v of one", got.slopes, want.slopes)
	case !mat.Equal(fetched(got.functions), fetched(want.functions)):
		return errors.New("functions of two processes differ from those of one")
	}
	return nil
}

// work is what a root does.
type work struct {
	product, functions space.Block
	slopes             []float64
}

// work lets the root at some rows do its work, with functions at nodes; nil where the space has no place for it.
func (s *suite) work(ctx context.Context, in space.Space, rows, nodes []int) (*work, error) {
	r, err := s.root(ctx, in, rows, kernel.RootOptions{})
	if r == nil || err != nil {
		return nil, err
	}
	defer r.Free()
	const draws, seed = 3, 7
	a, err := in.Axis(ctx, len(rows))
	if err != nil {
		return nil, err
	}
	u, w := in.Block(a, draws), in.Block(a, draws)
	if len(rows) > 0 {
		u.Set(mat.DenseCopyOf(wave(len(rows), draws, 3)).RawMatrix().Data)
	}
	if err := r.Apply(ctx, w, u, false); err != nil {
		return nil, err
	}
	slopes := s.held(0)
	if err := r.Slopes(ctx, slopes, []float64{1, 2, 3}, u, w); err != nil {
		return nil, err
	}
	v, err := kernel.ValuesOf(ctx, s.cov, in, nodes)
	if err != nil {
		return nil, err
	}
	weights, err := v.Prior(ctx, draws, 0, seed)
	if err != nil {
		return nil, err
	}
	if err := v.Settle(ctx, weights, r, u); err != nil {
		return nil, err
	}
	of, err := in.Axis(ctx, len(nodes))
	if err != nil {
		return nil, err
	}
	out := in.Block(of, draws)
	return &work{w, out, slopes}, v.Mul(ctx, out, weights, 0, false)
}

// root returns the root at some rows and the hyperparameters of the suite; nil where the space has no place for it.
func (s *suite) root(ctx context.Context, in space.Space, rows []int, opts kernel.RootOptions) (kernel.Root, error) {
	r, err := kernel.RootOf(ctx, s.Kernel, in, rows, opts)
	if r == nil || err != nil {
		return nil, err
	}
	return r, r.Set(ctx, s.Theta)
}

// block returns a matrix in a space.
func block(s space.Space, a space.Axis, x *mat.Dense) space.Block {
	_, columns := x.Dims()
	b := s.Block(a, columns)
	b.Set(mat.DenseCopyOf(x).RawMatrix().Data)
	return b
}

func fetched(b space.Block) *mat.Dense {
	x := mat.NewDense(b.Axis().Own, b.Columns(), nil)
	b.Get(x.RawMatrix().Data)
	return x
}

func (s *suite) testRoot(t *testing.T, m memory, in space.Space, r kernel.Root) {
	a, n := space.Rows(len(s.rows)), len(s.rows)
	k := s.gram(t, s.cov, s.rows)
	diag := make([]float64, n)
	if err := r.AddDiag(t.Context(), diag); err != nil {
		t.Fatalf("AddDiag: %v", err)
	}
	for i := range n {
		s.close(t, diag[i], k.At(i, i), m.precise*s.size, "diagonal %d", i)
	}
	for _, columns := range testkit.FewIfRaced(1, []int{4, 1, 5}) {
		x := wave(n, columns, float64(columns))
		from, to := block(in, a, x), block(in, a, wave(n, columns, 9))
		for _, add := range []bool{false, true} {
			if err := r.Apply(t.Context(), to, from, add); err != nil {
				t.Fatalf("Apply: %v", err)
			}
		}
		got, want := fetched(to), mat.NewDense(n, columns, nil)
		want.Mul(k, x)
		for i := range n {
			for c := range columns {
				s.close(t, got.At(i, c), 2*want.At(i, c), m.precise*s.size*float64(n), "twice the product at %d, %d", i, c)
			}
		}
	}
	s.testSlopes(t, m, in, r)
	if !m.opts.Rough && !in.Single() { // for learning and solving alone
		s.testValues(t, m, in, r)
	}
	noise := make([]float64, n)
	for i := range noise {
		noise[i] = s.size * (0.05 + 0.01*float64(i%4))
	}
	p, _, err := r.Precondition(t.Context(), 0.5*s.size, noise)
	if err != nil {
		t.Fatalf("Precondition: %v", err)
	}
	if !in.Single() {
		s.testFactored(t, in, p)
	}
	p.Free()
}

// testSlopes: Slopes is GramGrad of the weighted products of columns.
func (s *suite) testSlopes(t *testing.T, m memory, in space.Space, r kernel.Root) {
	n, weight := len(s.rows), []float64{0.7, -0.4, 1.2}
	a := space.Rows(n)
	u, w := wave(n, 3, 1), wave(n, 3, 5)
	g := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			sum := 0.0
			for c, v := range weight {
				sum += v * (u.At(i, c)*w.At(j, c) + u.At(j, c)*w.At(i, c)) / 2
			}
			g.SetSym(i, j, sum)
		}
	}
	got, want := s.held(2), s.held(2)
	if err := r.Slopes(t.Context(), got, weight, block(in, a, u), block(in, a, w)); err != nil {
		t.Fatalf("Slopes: %v", err)
	}
	if err := s.cov.GramGrad(t.Context(), want, s.rows, g); err != nil {
		t.Fatal(err)
	}
	for j, p := range s.Params() {
		_, scale := inner(g, s.slope(t, j))
		s.close(t, got[j], want[j], 10*m.precise*(1+scale), "slope by %s", p.Name)
	}
}

// testValues: functions elsewhere are those of the prior with the same seed, plus K[·, rows]·u.
func (s *suite) testValues(t *testing.T, m memory, in space.Space, r kernel.Root) {
	const draws, seed = 3, 7
	prior := poisoned(s.Nodes(), draws+1)
	if err := s.cov.Prior(t.Context(), prior, seed); err != nil {
		t.Fatal(err)
	}
	u, scale := wave(len(s.rows), draws, 3), math.Sqrt(s.size)+s.size*float64(len(s.rows))
	for _, nodes := range testkit.FewIfRaced(1, [][]int{s.all, s.cols, s.all[3 : len(s.all)-1]}) {
		v, err := kernel.ValuesOf(t.Context(), s.cov, in, nodes)
		if err != nil || v == nil {
			t.Fatalf("ValuesOf: %v, %v", v, err)
		}
		w, err := v.Prior(t.Context(), draws, 1, seed) // draws 1, 2, …
		if err != nil {
			t.Fatalf("Prior: %v", err)
		}
		here := in.Block(space.Rows(len(s.rows)), draws)
		if err := r.Here(t.Context(), here, v, w, false); err != nil {
			t.Fatalf("Here: %v", err)
		}
		at := fetched(here)
		for a, i := range s.rows {
			for c := range draws {
				s.close(t, at.At(a, c), prior.At(i, c+1), 10*m.precise*scale, "draw %d at measured node %d", c+1, i)
			}
		}
		if err := v.Settle(t.Context(), w, r, block(in, space.Rows(len(s.rows)), u)); err != nil {
			t.Fatalf("Settle: %v", err)
		}
		for _, lo := range []int{0, 1} {
			if lo > 0 && !space.IsHost(in) {
				continue // some rows at a time are for the memory of this process
			}
			to := in.Block(space.Rows(len(nodes)-lo), draws)
			for _, add := range []bool{false, true} {
				if err := v.Mul(t.Context(), to, w, lo, add); err != nil {
					t.Fatalf("Mul: %v", err)
				}
			}
			got := fetched(to)
			for a, i := range nodes[lo:] {
				for c := range draws {
					want := prior.At(i, c+1)
					for b, j := range s.rows {
						want += s.k.At(i, j) * u.At(b, c)
					}
					s.close(t, got.At(a, c), 2*want, 10*m.precise*scale, "twice function %d at node %d", c, i)
				}
			}
		}
		zero := v.Zero(draws)
		to := block(in, space.Rows(len(nodes)), wave(len(nodes), draws, 1))
		if err := v.Mul(t.Context(), to, zero, 0, false); err != nil {
			t.Fatal(err)
		}
		if got := fetched(to); mat.Norm(got, math.Inf(1)) != 0 {
			t.Error("functions without weights are not zero")
		}
		w.Free()
		v.Free()
	}
}
