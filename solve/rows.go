package solve

import "gonum.org/v1/gonum/blas/blas64"

// row returns row i of a.
func row(a blas64.General, i int) []float64 { return a.Data[i*a.Stride:][:a.Cols] }

// slice is a view of rows [r0, r1) and columns [c0, c1) of a.
func slice(a blas64.General, r0, r1, c0, c1 int) blas64.General {
	v := blas64.General{Rows: r1 - r0, Cols: c1 - c0, Stride: a.Stride}
	if v.Rows > 0 && v.Cols > 0 {
		v.Data = a.Data[r0*a.Stride+c0 : (r1-1)*a.Stride+c1]
	}
	return v
}
