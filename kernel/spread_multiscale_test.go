package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/ranks"
	"grfgp/internal/testkit"
	"grfgp/kernel"
	"grfgp/solve"
)

// scalesResult is what a kernel of many scales computes, by name: the rows of all ranks, or
// numbers that all ranks have.
type scalesResult map[string][]float64

// scalesCase is a kernel of many scales and measured nodes.
type scalesCase struct {
	name string
	k    *kernel.Multiscale
	rows []int
}

func scalesCases(t *testing.T) []scalesCase {
	t.Helper()
	every := func(g *graph.Graph, each func(i int) bool) (rows []int) {
		for i := range g.Len() {
			if each(i) {
				rows = append(rows, i)
			}
		}
		return rows
	}
	grid, err := graph.Grid(110, 100)
	if err != nil {
		t.Fatal(err)
	}
	grid = grid.Ordered()
	k := newMultiscale(t, grid, nil, kernel.Diffusion{}, 20, kernel.MultiscaleOptions{})
	hubs, err := graph.BarabasiAlbert(4500, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	hubs = hubs.Ordered()
	return []scalesCase{
		{"grid", k, every(grid, func(i int) bool { return i%5 < 3 })},
		{"a part of a grid", k, every(grid, func(i int) bool { return i > 2000 && i < 6200 && i%50 < 49 })},
		{"hubs, a length for each scale", newMultiscale(t, hubs, nil, kernel.Matern{Nu: 1.5}, 20, kernel.MultiscaleOptions{FreeLengths: true}),
			every(hubs, func(i int) bool { return i%3 < 2 })},
	}
}

// compute has this rank's part of the rows and of all nodes.
func (c scalesCase) compute(ctx context.Context, g *ranks.Group, k kernel.Kernel, rows, nodes []int, u, w *mat.Dense) (r scalesResult,
	err error) {
	r = scalesResult{}
	theta := slices.Clone(kernel.Starts(c.k)[0])
	base, err := k.At(theta)
	if err != nil {
		return r, err
	}
	cov := kernel.WithConstant(base, 0.7)
	_, columns := u.Dims()
	keep := func(name string, own []float64) error {
		all, _, err := ranks.Gather(ctx, g, own)
		r[name] = append(r[name], all...)
		return err
	}
	block := func(n int, of func(dst *mat.Dense) error, name string) error {
		dst := mat.NewDense(n, columns, nil)
		if err := of(dst); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return keep(name, dst.RawMatrix().Data)
	}
	noise := make([]float64, len(rows))
	for a := range noise {
		noise[a] = 0.01 + float64(rows[a]%3)/100
	}
	product := cov.Cross(rows, rows) // features of measured nodes come first, as in a system
	if err := block(len(rows), func(dst *mat.Dense) error { return product.Apply(ctx, dst, u) }, "product"); err != nil {
		return r, err
	}
	some := slices.Clone(nodes)
	some = slices.DeleteFunc(some, func(i int) bool { return i%4 == 0 })
	for _, list := range []struct {
		name  string
		nodes []int
	}{{"means", nodes}, {"means at some nodes", some}} {
		if err := block(len(list.nodes), func(dst *mat.Dense) error { return cov.Cross(list.nodes, rows).Apply(ctx, dst, u) },
			list.name); err != nil {
			return r, err
		}
	}
	if err := block(len(nodes), func(dst *mat.Dense) error { return cov.Prior(ctx, dst, 5) }, "prior"); err != nil {
		return r, err
	}
	d, err := kernel.AbilitiesOf(cov).Draw(ctx, columns, 6, rows)
	if err != nil {
		return r, err
	}
	if err := keep("draw at measurements", d.At().RawMatrix().Data); err != nil {
		return r, err
	}
	if err := block(len(nodes), func(dst *mat.Dense) error { return d.Update(ctx, dst, u) }, "draw"); err != nil {
		return r, err
	}
	r["gradient"] = make([]float64, len(theta))
	if err := cov.Grad(ctx, r["gradient"], rows, u, w); err != nil {
		return r, err
	}
	precondition := func(name string, p solve.Factored, err error) error {
		if err != nil {
			return err
		}
		r[name+", determinant"] = []float64{p.LogDet()}
		for _, do := range []func(dst, x *mat.Dense){p.Apply, p.Whiten, p.WhitenT} {
			if err := block(len(rows), func(dst *mat.Dense) error { do(dst, u); return nil }, name); err != nil {
				return err
			}
		}
		return nil
	}
	p, err := kernel.AbilitiesOf(cov).Precondition(ctx, rows, 0, noise)
	if err := precondition("preconditioner", p, err); err != nil {
		return r, err
	}
	mixed, err := kernel.AbilitiesOf(cov).Mixed(ctx, rows, 0)
	if err != nil {
		return r, err
	}
	if err := block(len(rows), func(dst *mat.Dense) error { return mixed.Apply(ctx, dst, u) }, "product in mixed precision"); err != nil {
		return r, err
	}
	step := kernel.TrainingOf(k).Mixed(rows, 0.7)
	weight := make([]float64, columns)
	for s := range weight {
		weight[s] = 0.5 - float64(s)/7
	}
	for range 2 { // at one theta after another
		for j := range theta {
			theta[j] *= 1.3
		}
		if err := step.Set(ctx, theta); err != nil {
			return r, err
		}
		if err := block(len(rows), func(dst *mat.Dense) error { return step.Apply(ctx, dst, u) }, "product of a step"); err != nil {
			return r, err
		}
		slope := make([]float64, len(theta))
		if err := step.Grad(ctx, slope, weight, u, w); err != nil {
			return r, err
		}
		r["gradient of a step"] = append(r["gradient of a step"], slope...)
		p, err := step.Precondition(ctx, noise)
		if err := precondition("preconditioner of a step", p, err); err != nil {
			return r, err
		}
	}
	return r, nil
}

func (r scalesResult) differs(from scalesResult) error {
	if len(r) != len(from) {
		return fmt.Errorf("%d results, want %d", len(r), len(from))
	}
	var all []error
	for name, want := range from {
		if got := r[name]; len(want) == 0 || !slices.Equal(got, want) {
			differ := 0
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					differ++
				}
			}
			all = append(all, fmt.Errorf("%s: %d of %d numbers have other bits (%d are here)", name, differ, len(want), len(got)))
		}
	}
	return errors.Join(all...)
}

// What ranks compute together of a kernel of many scales has the bits of the kernel alone:
// with all scales on every rank, and with the larger ones shared, of which a rank may have
// no node.
func TestSpreadScalesHaveTheBitsOfOne(t *testing.T) {
	t.Parallel()
	cases := scalesCases(t)
	t.Run("every rank has all scales", func(t *testing.T) { testSpreadScales(t, cases[2:], 1<<30, 3) })
	t.Run("a large scale is shared", func(t *testing.T) { testSpreadScales(t, cases[:1], ranks.BlockRows/2, 2) })
	t.Run("and in float32", func(t *testing.T) {
		testkit.Full(t)
		cases := scalesCases(t)
		for _, c := range cases {
			c.k.CompactFrom(1000)
		}
		testSpreadScales(t, cases[:2], ranks.BlockRows/4, 3)
	})
}

func testSpreadScales(t *testing.T, cases []scalesCase, shared int, sizes ...int) {
	const columns = 3
	for _, c := range cases {
		c.k.SharedFrom(shared)
		t.Logf("%s: scales of %v nodes", c.name, c.k.Sizes())
		n := c.k.Nodes()
		nodes := make([]int, n)
		for i := range nodes {
			nodes[i] = i
		}
		u, w := blockOf(t, len(c.rows), columns, "u"), blockOf(t, len(c.rows), columns, "w")
		want, err := c.compute(t.Context(), nil, c.k, c.rows, nodes, u, w)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range sizes {
			layout, list := ranks.Even(n, size), ranks.Even(len(c.rows), size)
			err := ranks.Together(t.Context(), size, func(ctx context.Context, g *ranks.Group) error {
				lo, hi := list.Range(g.Rank())
				first, end := layout.Range(g.Rank())
				part := func(x *mat.Dense) *mat.Dense { return mat.DenseCopyOf(x.Slice(lo, hi, 0, columns)) }
				own := kernel.TrainingOf(c.k).Spread(g)
				got, err := c.compute(ctx, g, own, c.rows[lo:hi], nodes[first:end], part(u), part(w))
				if err != nil {
					return err
				}
				return got.differs(want)
			})
			if err != nil {
				t.Errorf("%s on %d ranks: %v", c.name, size, err)
			}
		}
	}
}
