package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/ranks"
	"grfgp/internal/testkit"
	"grfgp/kernel"
	"grfgp/kernel/internal/normal"
	"grfgp/solve"
	"grfgp/walk"
)

// spreadCase is a graph with features, and some measured nodes.
type spreadCase struct {
	name  string
	k     *kernel.GRF
	theta []float64
	rows  []int // sorted
}

func spreadCases(t *testing.T, compactFrom int) []spreadCase {
	t.Helper()
	build := func(name string, g *graph.Graph, err error, each int) spreadCase {
		if err != nil {
			t.Fatal(err)
		}
		g = g.Ordered()
		f, err := walk.Lazy(g.Normalized(graph.NormalizedAdjacency),
			walk.Options{Sampler: walk.Repelling, Walks: 10, Budget: 20, MaxLen: 3, Hi: g.Len(), Seed: 2})
		if err != nil {
			t.Fatal(err)
		}
		k, err := kernel.NewGRF(f, kernel.Diffusion{})
		if err != nil {
			t.Fatal(err)
		}
		k.CompactFrom(compactFrom)
		c := spreadCase{name: name, k: k, theta: []float64{1.3, 2}}
		for i := 0; i < g.Len(); i += each {
			c.rows = append(c.rows, i)
		}
		return c
	}
	grid, err := graph.Grid(70, 60)
	first := build("grid", grid, err, 1)
	hubs, err := graph.BarabasiAlbert(3100, 2, 1)
	return []spreadCase{first, build("hubs", hubs, err, 1), build("half of a grid", grid, nil, 2)}
}

// blockOf returns a block whose numbers depend on row and column alone.
func blockOf(t *testing.T, n, columns int, stream string) *mat.Dense {
	t.Helper()
	x := mat.NewDense(n, columns, nil)
	if err := normal.Fill(t.Context(), x, 7, stream, 0); err != nil {
		t.Fatal(err)
	}
	return x
}

// result is all that a covariance computes, with the rows of all ranks.
type spreadResult struct {
	product, single, means, grad, prior, at, draw []float64
	learned, diag, learnedGrad                    []float64 // of steps in float32
}

func (r spreadResult) differs(from spreadResult) error {
	for name, pair := range map[string][2][]float64{
		"product": {r.product, from.product}, "product in float32": {r.single, from.single}, "means": {r.means, from.means},
		"product of a step": {r.learned, from.learned}, "diagonal": {r.diag, from.diag}, "gradient of a step": {r.learnedGrad, from.learnedGrad},
		"gradient": {r.grad, from.grad}, "prior": {r.prior, from.prior}, "draw at measurements": {r.at, from.at}, "draw": {r.draw, from.draw},
	} {
		if len(pair[1]) == 0 {
			return fmt.Errorf("%s: nothing to compare with", name)
		}
		if !slices.Equal(pair[0], pair[1]) {
			return fmt.Errorf("%s has other bits", name)
		}
	}
	return nil
}

// compute has the rows of a list, and the nodes, of this rank.
func (c spreadCase) compute(ctx context.Context, k kernel.Kernel, rows, nodes []int, u, w, x *mat.Dense) (r spreadResult, err error) {
	cov, err := k.At(c.theta)
	if err != nil {
		return r, err
	}
	cov = kernel.WithConstant(cov, 0.7)
	_, columns := x.Dims()
	op := cov.Cross(rows, rows)
	product := mat.NewDense(len(rows), columns, nil)
	if err := op.Apply(ctx, product, x); err != nil {
		return r, err
	}
	single := op.(solve.SingleOperator).Single()
	if single == nil {
		return r, errors.New("no product for float32")
	}
	from, to := blas32.General{Rows: len(rows), Cols: columns, Stride: columns},
		blas32.General{Rows: len(rows), Cols: columns, Stride: columns, Data: make([]float32, len(rows)*columns)}
	for _, v := range x.RawMatrix().Data {
		from.Data = append(from.Data, float32(v))
	}
	if err := single(ctx, to, from); err != nil {
		return r, err
	}
	for _, v := range to.Data {
		r.single = append(r.single, float64(v))
	}
	means := mat.NewDense(len(nodes), columns, nil)
	if err := cov.Cross(nodes, rows).Apply(ctx, means, x); err != nil {
		return r, err
	}
	r.grad = make([]float64, len(c.theta))
	if err := cov.Grad(ctx, r.grad, rows, u, w); err != nil {
		return r, err
	}
	prior := mat.NewDense(len(nodes), columns, nil)
	if err := cov.Prior(ctx, prior, 5); err != nil {
		return r, err
	}
	d, err := kernel.AbilitiesOf(cov).Draw(ctx, columns, 5, rows)
	if err != nil {
		return r, err
	}
	draw := mat.NewDense(len(nodes), columns, nil)
	r.at = slices.Clone(d.At().RawMatrix().Data)
	if err := d.Update(ctx, draw, x); err != nil {
		return r, err
	}
	if err := r.learn(ctx, k, c.theta, rows, from); err != nil {
		return r, err
	}
	r.product, r.means, r.prior, r.draw = product.RawMatrix().Data, means.RawMatrix().Data, prior.RawMatrix().Data, draw.RawMatrix().Data
	return r, nil
}

// learn has a step of learning in float32 at theta.
func (r *spreadResult) learn(ctx context.Context, k kernel.Kernel, theta []float64, rows []int, x blas32.General) error {
	step := kernel.TrainingOf(k).Single(rows, 0.7)
	if err := step.Set(ctx, theta); err != nil {
		return err
	}
	to := blas32.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Cols, Data: make([]float32, len(x.Data))}
	if err := step.Apply(ctx, to, x); err != nil {
		return err
	}
	for _, v := range to.Data {
		r.learned = append(r.learned, float64(v))
	}
	r.diag = slices.Clone(step.Diag())
	r.learnedGrad = make([]float64, len(theta))
	weight := make([]float64, x.Cols)
	for s := range weight {
		weight[s] = 0.5 - float64(s)/7
	}
	return step.Grad(ctx, r.learnedGrad, weight, to, x)
}

// gathered returns a result with the rows of all ranks.
func (r spreadResult) gathered(ctx context.Context, g *ranks.Group) (spreadResult, error) {
	for _, x := range []*[]float64{&r.learned, &r.diag, &r.product, &r.single, &r.means, &r.prior, &r.at, &r.draw} {
		var err error
		if *x, _, err = ranks.Gather(ctx, g, *x); err != nil {
			return r, err
		}
	}
	return r, nil
}

// What ranks compute together has the bits of one kernel alone.
func TestSpreadHasTheBitsOfOne(t *testing.T) {
	t.Parallel()
	t.Run("features of all nodes in float64", func(t *testing.T) { testSpread(t, 1<<15) })
	t.Run("and in float32", func(t *testing.T) { testSpread(t, 1000) })
}

func testSpread(t *testing.T, compactFrom int) {
	const columns = 3
	for _, c := range spreadCases(t, compactFrom) {
		n := c.k.Nodes()
		nodes := make([]int, n)
		for i := range nodes {
			nodes[i] = i
		}
		u, w, x := blockOf(t, len(c.rows), columns, "u"), blockOf(t, len(c.rows), columns, "w"), blockOf(t, len(c.rows), columns, "x")
		want, err := c.compute(t.Context(), c.k, c.rows, nodes, u, w, x)
		if err != nil {
			t.Fatal(err)
		}
		for size := 1; size <= 3; size++ {
			if size != 2 && !testkit.IsFull() {
				continue
			}
			layout, list := ranks.Even(n, size), ranks.Even(len(c.rows), size)
			err := ranks.Together(t.Context(), size, func(ctx context.Context, g *ranks.Group) error {
				lo, hi := list.Range(g.Rank())
				first, end := layout.Range(g.Rank())
				part := func(x *mat.Dense) *mat.Dense { return mat.DenseCopyOf(x.Slice(lo, hi, 0, columns)) }
				got, err := c.compute(ctx, c.k.Spread(g, layout), c.rows[lo:hi], nodes[first:end], part(u), part(w), part(x))
				if err != nil {
					return err
				}
				if got, err = got.gathered(ctx, g); err != nil {
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
