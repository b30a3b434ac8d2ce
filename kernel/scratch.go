package kernel

import (
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// symmetric keeps the memory of large symmetric matrices for the next evaluation.
var symmetric sync.Pool

// borrowSymmetric returns a symmetric matrix of zeros, to be given back.
func borrowSymmetric(n int) *mat.SymDense {
	if data, ok := symmetric.Get().(*[]float64); ok && cap(*data) >= n*n {
		whole := (*data)[:n*n]
		clear(whole)
		var s mat.SymDense
		s.SetRawSymmetric(blas64.Symmetric{N: n, Stride: n, Data: whole, Uplo: blas.Upper})
		return &s
	}
	return mat.NewSymDense(n, nil)
}

// giveBack returns what was borrowed.
func giveBack(s *mat.SymDense) {
	data := s.RawSymmetric().Data
	symmetric.Put(&data)
}

// newDense returns a matrix of zeros, which may have no rows.
func newDense(r, c int) *mat.Dense {
	var m mat.Dense
	m.SetRawMatrix(blas64.General{Rows: r, Cols: c, Stride: max(1, c), Data: make([]float64, r*c)})
	return &m
}
