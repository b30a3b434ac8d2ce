package kernel_test

import (
	"errors"
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
	x, x32 := mat.NewDense(len(rows), columns, nil), blas32.General{
		Rows: len(rows), Cols: columns, Stride: columns, Data: make([]float32, len(rows)*columns)}
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

// TestSingleRows: the kernel on some rows in float32 has the products, the diagonal and the
// gradient of the covariance up to the rounding of float32, at one theta after another, and
// the same bits at any number of threads.
func TestSingleRows(t *testing.T) {
	g, err := graph.Grid(60, 50)
	if err != nil {
		t.Fatal(err)
	}
	k := newGRF(t, sampled(t, g, nil, same), kernel.Diffusion{})
	var rows []int
	for i := 0; i < g.Len(); i += 1 + i%3 {
		rows = append(rows, i)
	}
	random := rand.New(rand.NewPCG(1, 2))
	const columns, constant = 37, 0.7
	block := func() (*mat.Dense, blas32.General) {
		x, x32 := mat.NewDense(len(rows), columns, nil), blas32.General{
			Rows: len(rows), Cols: columns, Stride: columns, Data: make([]float32, len(rows)*columns)}
		for q := range x32.Data {
			x32.Data[q] = float32(random.NormFloat64())
			x.RawMatrix().Data[q] = float64(x32.Data[q])
		}
		return x, x32
	}
	u, u32 := block()
	w, w32 := block()
	weight, weighted := make([]float64, columns), mat.DenseCopyOf(u)
	for s := range weight {
		weight[s] = 0.5 - float64(s%3)/4
		for i := range rows {
			weighted.Set(i, s, weight[s]*u.At(i, s))
		}
	}
	single := kernel.TrainingOf(k).Single(rows, constant)
	for _, theta := range [][]float64{{1, 3}, {0.4, 7}} {
		cov, err := k.At(theta)
		if err != nil {
			t.Fatal(err)
		}
		if err := single.Set(t.Context(), theta); err != nil {
			t.Fatal(err)
		}
		product, diag, grad := mat.NewDense(len(rows), columns, nil), make([]float64, len(rows)), []float64{1, 2}
		full := kernel.WithConstant(cov, constant)
		if err := errors.Join(full.Cross(rows, rows).Apply(t.Context(), product, u), full.Diag(t.Context(), diag, rows),
			cov.Grad(t.Context(), grad, rows, weighted, w)); err != nil {
			t.Fatal(err)
		}
		run := func(threads int) ([]float32, []float64) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
			dst, g := blas32.General{Rows: len(rows), Cols: columns, Stride: columns, Data: make([]float32, len(u32.Data))}, []float64{1, 2}
			if err := errors.Join(single.Set(t.Context(), theta), single.Apply(t.Context(), dst, u32),
				single.Grad(t.Context(), g, weight, u32, w32)); err != nil {
				t.Fatal(err)
			}
			return dst.Data, g
		}
		got, slope := run(1)
		more, again := run(3)
		if !slices.Equal(got, more) || !slices.Equal(slope, again) {
			t.Errorf("%v: other bits with three threads", theta)
		}
		top := mat.Norm(product, 2) / math.Sqrt(float64(len(got)))
		for q, v := range product.RawMatrix().Data {
			if math.Abs(v-float64(got[q])) > 1e-5*top {
				t.Fatalf("%v: product %d is %v, want %v", theta, q, got[q], v)
			}
		}
		for a, v := range single.Diag() {
			if math.Abs(v-diag[a]) > 1e-12 {
				t.Fatalf("%v: variance %d is %v, want %v", theta, a, v, diag[a])
			}
		}
		size := 0.0 // of the terms whose sum is the gradient
		for s := range columns {
			size += math.Abs(weight[s]) * mat.Norm(u.ColView(s), 2) * mat.Norm(w.ColView(s), 2)
		}
		for j, v := range grad {
			if math.Abs(v-slope[j]) > 1e-6*size {
				t.Errorf("%v: derivative %d is %v, want %v; terms of %v", theta, j, slope[j], v, size)
			}
		}
	}
	if err := single.Set(t.Context(), []float64{-1, 2}); !errors.Is(err, kernel.ErrTheta) {
		t.Errorf("a negative variance: %v", err)
	}
	if err := single.Set(t.Context(), []float64{1e60, 2}); !errors.Is(err, kernel.ErrTheta) {
		t.Errorf("a variance beyond float32: %v", err)
	}
}
