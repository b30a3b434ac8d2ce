package kernel_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/kernel"
)

// TestMixedRows: the kernel of many scales on some rows in mixed precision has the products,
// the gradient and the preconditioner of the covariance up to the rounding of float32, at one
// theta after another, and the same bits at any number of threads. Vectors are smooth or
// not: of smooth ones nearly all of the product is of long range.
func TestMixedRows(t *testing.T) {
	ring, err := graph.Ring(9000)
	k := newMultiscale(t, ring, err, kernel.Diffusion{}, 20, kernel.MultiscaleOptions{})
	var rows []int
	for i := 0; i < ring.Len(); i += 1 + i%2 {
		rows = append(rows, i)
	}
	random := rand.New(rand.NewPCG(1, 2))
	const columns, constant = 21, 0.7
	block := func(smooth float64) *mat.Dense {
		x := mat.NewDense(len(rows), columns, nil)
		for a := range rows {
			for s := range columns {
				x.Set(a, s, random.NormFloat64()+smooth*math.Sin(float64(a*s)/2000))
			}
		}
		return x
	}
	u, w := block(10), block(0)
	noise, weight, weighted := make([]float64, len(rows)), make([]float64, columns), mat.DenseCopyOf(u)
	for a := range noise {
		noise[a] = 0.01
	}
	for s := range weight {
		weight[s] = 0.5 - float64(s%3)/4
		for i := range rows {
			weighted.Set(i, s, weight[s]*u.At(i, s))
		}
	}
	starts := kernel.Starts(k)
	mixed := kernel.TrainingOf(k).Mixed(rows, constant)
	for _, theta := range [][]float64{starts[0], starts[len(starts)-1]} {
		cov, err := k.At(theta)
		if err != nil {
			t.Fatal(err)
		}
		full := kernel.WithConstant(cov, constant)
		product, z, grad := mat.NewDense(len(rows), columns, nil), mat.NewDense(len(rows), columns, nil), make([]float64, len(theta))
		if err := errors.Join(full.Cross(rows, rows).Apply(t.Context(), product, u), cov.Grad(t.Context(), grad, rows, weighted, w)); err != nil {
			t.Fatal(err)
		}
		m, err := kernel.AbilitiesOf(full).Precondition(t.Context(), rows, 0, noise)
		if err != nil {
			t.Fatal(err)
		}
		m.Apply(z, u)
		run := func(threads int) (dst, approx *mat.Dense, g []float64) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
			dst, approx, g = mat.NewDense(len(rows), columns, nil), mat.NewDense(len(rows), columns, nil), make([]float64, len(theta))
			if err := errors.Join(mixed.Set(t.Context(), theta), mixed.Apply(t.Context(), dst, u),
				mixed.Grad(t.Context(), g, weight, u, w)); err != nil {
				t.Fatal(err)
			}
			m, err := mixed.Precondition(t.Context(), noise)
			if err != nil {
				t.Fatal(err)
			}
			m.Apply(approx, u)
			return dst, approx, g
		}
		got, approx, slope := run(1)
		more, _, again := run(3)
		if !mat.Equal(got, more) || !slices.Equal(slope, again) {
			t.Errorf("%v: other bits with three threads", theta)
		}
		near := func(what string, got, want *mat.Dense, share float64) {
			t.Helper()
			size := mat.Norm(want, 2)
			if got.Sub(got, want); mat.Norm(got, 2) > share*size {
				t.Errorf("%v: %s is off by %.2g of its size", theta, what, mat.Norm(got, 2)/size)
			}
		}
		near("the product", got, product, 1e-6)
		near("the preconditioner", approx, z, 1e-9)
		// The terms of the gradient are as large as the variances times the norms.
		for j, v := range grad {
			if math.Abs(v-slope[j]) > 1e-5*math.Abs(v)+1e-7*floats.Norm(grad, 2) {
				t.Errorf("%v: derivative %d is %v, want %v", theta, j, slope[j], v)
			}
		}
	}
	if err := mixed.Set(t.Context(), make([]float64, len(starts[0]))); !errors.Is(err, kernel.ErrTheta) {
		t.Errorf("variances of zero: %v", err)
	}
	fine := kernel.TrainingOf(k.With(kernel.Constant(ring.Len()))).Mixed(rows, constant)
	if fine != nil {
		t.Error("mixed precision of a fine kernel that has no features")
	}
}
