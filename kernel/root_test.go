package kernel_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/ranks"
	"grfgp/internal/testkit"
	"grfgp/kernel"
	"grfgp/solve"
	"grfgp/space"
	"grfgp/walk"
)

// here returns a matrix as a block of the memory of this process.
func here(x mat.Matrix) space.Block {
	n, columns := x.Dims()
	b := space.Host().Block(space.Rows(n), columns)
	space.DenseOf(b).Copy(x)
	return b
}

// preconditioned returns P⁻¹·x.
func preconditioned(p solve.Preconditioner, x mat.Matrix) *mat.Dense {
	in := here(x)
	out := in.Like()
	p.Apply(out, in)
	return space.DenseOf(out)
}

// precondition returns the preconditioner of the root of a kernel.
func precondition(t *testing.T, k kernel.Kernel, theta []float64, rows []int, constant float64, noise []float64) solve.Factored {
	t.Helper()
	r, err := kernel.RootOf(t.Context(), k, space.Host(), rows, kernel.RootOptions{})
	if err == nil {
		err = r.Set(t.Context(), theta)
	}
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := r.Precondition(t.Context(), constant, noise)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// drawn returns functions of the prior at nodes x and at all nodes, and the latter plus K[·, x]·u.
func drawn(t *testing.T, k kernel.Kernel, theta []float64, seed uint64, x []int, u *mat.Dense) (at, all *mat.Dense) {
	t.Helper()
	in, ctx := space.Host(), t.Context()
	r, err := kernel.RootOf(ctx, k, in, x, kernel.RootOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cov, err := k.At(theta)
	if err == nil {
		err = r.Set(ctx, theta)
	}
	if err != nil {
		t.Fatal(err)
	}
	return functions(t, r, cov, in, seed, x, upTo(k.Nodes()), u)
}

// functions is drawn for a root, at some nodes.
func functions(t *testing.T, r kernel.Root, cov kernel.Covariance, in space.Space, seed uint64, x, nodes []int,
	u *mat.Dense) (at, all *mat.Dense) {
	t.Helper()
	ctx, draws := t.Context(), u.RawMatrix().Cols
	v, err := kernel.ValuesOf(ctx, cov, in, nodes)
	if err != nil {
		t.Fatal(err)
	}
	w, err := v.Prior(ctx, draws, 0, seed)
	if err != nil {
		t.Fatal(err)
	}
	measured, out := in.Block(space.Rows(len(x)), draws), in.Block(space.Rows(len(nodes)), draws)
	if err := r.Here(ctx, measured, v, w, false); err != nil {
		t.Fatal(err)
	}
	if err := v.Settle(ctx, w, r, here(u)); err != nil {
		t.Fatal(err)
	}
	if err := v.Mul(ctx, out, w, 0, false); err != nil {
		t.Fatal(err)
	}
	return space.DenseOf(measured), space.DenseOf(out)
}

// windowKernels are kernels of a large graph. From 700 nodes on, a scale counts as large.
func windowKernels(t *testing.T, g *graph.Graph) map[string]kernel.Kernel {
	t.Helper()
	sample := func(g *graph.Graph) *walk.Features {
		opts := walk.Default()
		opts.MaxLen, opts.Walks, opts.Budget, opts.Scale = 4, 20, 20, g.WalkScale(graph.NormalizedAdjacency)
		f, err := walk.Lazy(g.Normalized(graph.NormalizedAdjacency), opts)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	fine, err := kernel.NewGRF(sample(g), kernel.Diffusion{})
	if err != nil {
		t.Fatal(err)
	}
	var scales []kernel.Scale
	for _, l := range g.Coarsen(20) {
		scales = append(scales, kernel.Scale{Prolong: l.Prolong, Features: sample(l.Graph)})
	}
	many, err := kernel.NewMultiscale(fine, kernel.Diffusion{}, scales)
	if err != nil {
		t.Fatal(err)
	}
	many.CompactFrom(700)
	many.SharedFrom(300)
	x := mat.NewDense(g.Len(), 3, nil)
	x.Apply(func(i, j int, _ float64) float64 { return math.Sin(float64(i*(j+2)) / 3) }, x)
	degree := mat.Col(nil, 0, x)
	return map[string]kernel.Kernel{
		"features": fine,
		"unit":     kernel.UnitVariance(fine),
		"scales":   many,
		"lone":     kernel.Lone(many, []int{3, 77, 2100}),
		"sum":      kernel.Sum(kernel.Trend(many, degree), kernel.Fourier(x, []int{0, 0, 1}, kernel.Matern32, 16, 3), kernel.Constant(g.Len())),
	}
}

func largeGraphs(t *testing.T) map[string]*graph.Graph {
	t.Helper()
	all := map[string]*graph.Graph{}
	for name, make := range map[string]func() (*graph.Graph, error){
		"grid": func() (*graph.Graph, error) { return graph.Grid(50, 70) },
		"hubs": func() (*graph.Graph, error) { return graph.BarabasiAlbert(3000, 2, 1) },
	} {
		g, err := make()
		if err != nil {
			t.Fatal(err)
		}
		all[name] = g.Ordered()
	}
	return all
}

func above(k kernel.Kernel, times float64) []float64 {
	theta := make([]float64, len(k.Params()))
	for j, p := range k.Params() {
		theta[j] = times * p.Start
	}
	return theta
}

// Functions at some nodes of a large graph have the bits that they have among all nodes, whatever columns their features have
// there.
func TestFunctionsOfSomeNodes(t *testing.T) {
	t.Parallel()
	for name, g := range largeGraphs(t) {
		for of, k := range windowKernels(t, g) {
			t.Run(fmt.Sprintf("%s, %s", name, of), func(t *testing.T) {
				n, theta := k.Nodes(), above(k, 1.3)
				x := []int{n - 4, 3, n / 2, n/2 + 1, 12}
				u := mat.NewDense(len(x), 3, nil)
				u.Apply(func(i, j int, _ float64) float64 { return math.Sin(float64(3*i + 5*j)) }, u)
				at, all := drawn(t, k, theta, 7, x, u)
				r, err := kernel.RootOf(t.Context(), k, space.Host(), x, kernel.RootOptions{})
				if err == nil {
					err = r.Set(t.Context(), theta)
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, cut := range [][2]int{{0, 1024}, {1024, n}, {n - 1, n}, {100, 1300}} {
					cov, err := k.At(theta) // as another process has it
					if err != nil {
						t.Fatal(err)
					}
					measured, some := functions(t, r, cov, space.Host(), 7, x, upTo(n)[cut[0]:cut[1]], u)
					if !mat.Equal(measured, at) {
						t.Errorf("[%d, %d): draws at the measurements differ", cut[0], cut[1])
					}
					if !mat.Equal(some, all.Slice(cut[0], cut[1], 0, 3)) {
						t.Errorf("[%d, %d): functions differ from those of all nodes", cut[0], cut[1])
					}
				}
			})
		}
	}
}

// Several processes have the bits of one: products, slopes, log-determinants, and functions at their own nodes.
func TestRootsOfRanks(t *testing.T) {
	t.Parallel()
	for name, g := range largeGraphs(t) {
		for of, k := range windowKernels(t, g) {
			for _, single := range testkit.FewIfRaced(1, []bool{false, true}) {
				if single && (of == "scales" || of == "lone") {
					continue // of long range
				}
				t.Run(fmt.Sprintf("%s, %s, %t", name, of, single), func(t *testing.T) { checkRanks(t, k, single) })
			}
		}
	}
}

func checkRanks(t *testing.T, k kernel.Kernel, single bool) {
	theta, rows := above(k, 1.2), []int{}
	for i := 0; i < k.Nodes(); i++ {
		if i%8 != 3 {
			rows = append(rows, i)
		}
	}
	want, err := rankNumbers(t.Context(), k, theta, rows, nil, single)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range testkit.FewIfRaced(1, []int{2, 3}) {
		if err := ranks.Together(t.Context(), size, func(ctx context.Context, group *ranks.Group) error {
			got, err := rankNumbers(ctx, k, theta, rows, group, single)
			if err != nil {
				return err
			}
			for q, v := range got {
				if v != want[q] {
					return fmt.Errorf("%d ranks: number %d is %v, and %v on one", size, q, v, want[q])
				}
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
}

// rankNumbers returns what a rank computes with its rows, of all ranks together.
func rankNumbers(ctx context.Context, k kernel.Kernel, theta []float64, rows []int, group *ranks.Group, single bool) (
	all []float64, err error) {
	in := space.Together(ctx, group, single)
	nodes := upTo(k.Nodes())
	if !group.Alone() {
		lo, hi := ranks.Even(len(rows), group.Size()).Range(group.Rank())
		rows = rows[lo:hi]
		lo, hi = ranks.Even(len(nodes), group.Size()).Range(group.Rank())
		nodes = nodes[lo:hi]
	}
	r, err := kernel.RootWithConstant(ctx, k, 0.7, in, rows, kernel.RootOptions{})
	if err != nil {
		return nil, err
	}
	if err := r.Set(ctx, theta); err != nil {
		return nil, err
	}
	a, err := in.Axis(ctx, len(rows))
	if err != nil {
		return nil, err
	}
	x, y := in.Block(a, 4), in.Block(a, 4)
	x.Normals(5, "test", 0, nil)
	if err := r.Apply(ctx, y, x, false); err != nil {
		return nil, err
	}
	grad := make([]float64, len(theta))
	if err := r.Slopes(ctx, grad, []float64{1, -2, 0.5, 3}, x, y); err != nil {
		return nil, err
	}
	own := make([]float64, 4*len(rows))
	y.Get(own)
	noise := make([]float64, len(rows))
	for i := range noise {
		noise[i] = 0.3 + 0.1*float64(rows[i]%3)
	}
	p, _, err := r.Precondition(ctx, 0, noise)
	if err != nil {
		return nil, err
	}
	p.Apply(y, x)
	more := make([]float64, 4*len(rows))
	y.Get(more)
	own = append(own, more...)
	if !single {
		cov, err := k.At(theta)
		if err != nil {
			return nil, err
		}
		v, err := kernel.ValuesOf(ctx, kernel.WithConstant(cov, 0.7), in, nodes)
		if err != nil {
			return nil, err
		}
		w, err := v.Prior(ctx, 4, 0, 9)
		if err != nil {
			return nil, err
		}
		if err := r.Here(ctx, y, v, w, false); err != nil {
			return nil, err
		}
		y.Get(more)
		if err := v.Settle(ctx, w, r, x); err != nil {
			return nil, err
		}
		b, err := in.Axis(ctx, len(nodes))
		if err != nil {
			return nil, err
		}
		out := in.Block(b, 4)
		if err := v.Mul(ctx, out, w, 0, false); err != nil {
			return nil, err
		}
		at := make([]float64, 4*len(nodes))
		out.Get(at)
		own = append(append(own, more...), at...)
	}
	// Numbers of rows come rank by rank, kind by kind: put together by kind.
	parts := [][]float64{own[:4*len(rows)], own[4*len(rows) : 8*len(rows)]}
	if !single {
		parts = append(parts, own[8*len(rows):12*len(rows)], own[12*len(rows):])
	}
	all = append(grad, p.LogDet())
	for _, part := range parts {
		whole, err := space.Gather(ctx, in, part)
		if err != nil {
			return nil, err
		}
		all = append(all, whole...)
	}
	return all, in.Err()
}

// checkDraw compares functions of a root with those from the prior and products with K.
func checkDraw(t *testing.T, k kernel.Kernel) {
	t.Helper()
	theta := above(k, 1.3)
	cov, err := k.At(theta)
	if err != nil {
		t.Fatal(err)
	}
	x := []int{k.Nodes() - 4, 3, k.Nodes() / 2, k.Nodes() / 2, 12}
	u, want, more := mat.NewDense(len(x), 3, nil), mat.NewDense(k.Nodes(), 3, nil), mat.NewDense(k.Nodes(), 3, nil)
	u.Apply(func(i, j int, _ float64) float64 { return math.Sin(float64(3*i + 5*j)) }, u)
	if err := cov.Prior(t.Context(), want, 7); err != nil {
		t.Fatal(err)
	}
	at, got := drawn(t, k, theta, 7, x, u)
	for a, i := range x {
		if !mat.EqualApprox(at.RowView(a), want.RowView(i), 1e-12) {
			t.Errorf("node %d: drawn %v, the prior has %v", i, at.RawRowView(a), want.RawRowView(i))
		}
	}
	if err := cov.Cross(upTo(k.Nodes()), x).Apply(t.Context(), more, u); err != nil {
		t.Fatal(err)
	}
	if want.Add(want, more); !mat.EqualApprox(got, want, 1e-9) {
		t.Error("functions of the posterior are not those of the prior plus products")
	}
}
