package kernel_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/solve"
)

// TestSingleProducts: products of float32 are those of float64 up to the rounding of
// float32, for features, with a constant and over many scales, and have the same bits at
// any number of threads.
func TestSingleProducts(t *testing.T) {
	g, err := graph.Grid(60, 50)
	if err != nil {
		t.Fatal(err)
	}
	fine := newGRF(t, sampled(t, g, nil, same), kernel.Diffusion{})
	many, err := kernel.NewMultiscale(fine, kernel.Diffusion{}, scalesOf(t, g, 12), kernel.MultiscaleOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var rows []int
	for i := 0; i < g.Len(); i += 1 + i%3 {
		rows = append(rows, i)
	}
	random := rand.New(rand.NewPCG(1, 2))
	const columns = 37 // more than a strip
	x, x32 := mat.NewDense(len(rows), columns, nil), blas32.General{Rows: len(rows), Cols: columns, Stride: columns, Data: make([]float32, len(rows)*columns)}
	for q := range x32.Data {
		x32.Data[q] = float32(random.NormFloat64())
		x.RawMatrix().Data[q] = float64(x32.Data[q])
	}
	for name, k := range map[string]kernel.Kernel{"features": fine, "many scales": many} {
		var theta []float64
		for _, p := range k.Params() {
			theta = append(theta, p.Start)
		}
		cov, err := k.At(theta)
		if err != nil {
			t.Fatal(err)
		}
		for _, constant := range []float64{0, 0.7} {
			op := kernel.WithConstant(cov, constant).Cross(rows, rows)
			want := mat.NewDense(len(rows), columns, nil)
			if err := op.Apply(t.Context(), want, x); err != nil {
				t.Fatal(err)
			}
			single := op.(solve.SingleOperator).Single()
			if single == nil {
				t.Fatalf("%s: no products of float32", name)
			}
			run := func(threads int) []float32 {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
				in := blas32.General{Rows: x32.Rows, Cols: columns, Stride: columns, Data: slices.Clone(x32.Data)}
				dst := blas32.General{Rows: x32.Rows, Cols: columns, Stride: columns, Data: make([]float32, len(x32.Data))}
				if err := single(t.Context(), dst, in); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(in.Data, x32.Data) {
					t.Errorf("%s: the product changed x", name)
				}
				return dst.Data
			}
			got := run(1)
			top, worst := mat.Max(want), 0.0
			for q, v := range want.RawMatrix().Data {
				worst = max(worst, math.Abs(v-float64(got[q])))
			}
			if worst > 3e-6*top {
				t.Errorf("%s, constant %g: off by %.2g of the largest", name, constant, worst/top)
			}
			if !slices.Equal(run(3), got) {
				t.Errorf("%s, constant %g: three threads give other bits", name, constant)
			}
		}
	}
}
