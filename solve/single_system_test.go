package solve

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
)

// toSingle rounds a block to float32, and both to the same numbers.
func toSingle(x *mat.Dense) blas32.General {
	n, k := x.Dims()
	out := blas32.General{Rows: n, Cols: k, Stride: k, Data: make([]float32, n*k)}
	for i := range n {
		for j, v := range x.RawRowView(i) {
			out.Data[i*k+j] = float32(v)
			x.RawRowView(i)[j] = float64(float32(v))
		}
	}
	return out
}

// TestSingleSystem: solutions in float32 have the residual that was asked for, measured in
// float64, with and without a preconditioner, from zero and from a guess; a zero
// right-hand side has the solution zero.
func TestSingleSystem(t *testing.T) {
	t.Parallel()
	const n, k = 180, 9
	a := &narrowed{matrix: withCondition(t, n, 50, 1)}
	noise := constant(n, 0.01)
	b := normals(n, k, 2)
	for i := range n {
		b.Set(i, 3, 0)
		b.Set(i, 5, 1e6*b.At(i, 5))
	}
	b32 := toSingle(b)
	s := SingleSystem{Apply: a.Single(), Noise: rounded(noise)}
	diag := make([]float64, n)
	for i, v := range a.diag() {
		diag[i] = 1 / (v + noise[i])
	}
	for _, scale := range [][]float32{nil, rounded(diag)} {
		s.Scale = scale
		x := blas32.General{Rows: n, Cols: k, Stride: k, Data: make([]float32, n*k)}
		for q := range x.Data {
			if q%k == 3 {
				x.Data[q] = 7
			}
		}
		tols := constant(k, 1e-3)
		tols[1] = 0.5 // done long before the others
		first, err := s.CG(background, x, b32, Options{ColumnTol: tols, MaxIter: 400})
		if err != nil {
			t.Fatal(err)
		}
		wide := mat.NewDense(n, k, nil)
		for q, v := range x.Data {
			wide.RawMatrix().Data[q] = float64(v)
		}
		true64, err := CG(background, wide, a.matrix, noise, b, Options{ColumnTol: tols, MaxIter: 0})
		if err != nil && !errors.Is(err, ErrNotConverged) {
			t.Fatal(err)
		}
		for j, r := range true64.Residuals {
			if r > 1.01*tols[j] || math.Abs(r-first.Residuals[j]) > 1e-5 {
				t.Errorf("column %d: residual %g, by the recursion %g", j, r, first.Residuals[j])
			}
		}
		if x.Data[3] != 0 || first.Iterations == 0 {
			t.Errorf("solution %g of zero, %d iterations", x.Data[3], first.Iterations)
		}
		again, err := s.CG(background, x, b32, Options{Tol: 1e-2, MaxIter: 400, ColumnTol: constant(k, 0.51)})
		if err != nil || again.Iterations != 0 {
			t.Errorf("from the solution: %d iterations, %v", again.Iterations, err)
		}
	}
	b32.Data[4] = float32(math.NaN())
	if _, err := s.CG(background, b32, b32, DefaultOptions()); !errors.Is(err, ErrArgument) {
		t.Errorf("not a number: %v", err)
	}
	if _, err := s.CG(background, blas32.General{}, b32, DefaultOptions()); !errors.Is(err, ErrArgument) {
		t.Errorf("sizes that do not fit: %v", err)
	}
}
