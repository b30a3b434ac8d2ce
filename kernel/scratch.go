package kernel

import (
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// scratch keeps the memory of large symmetric matrices for the next evaluation.
var scratch sync.Pool

// borrowSymmetric returns a symmetric matrix of zeros, to be given back.
func borrowSymmetric(n int) *mat.SymDense {
	if data, ok := scratch.Get().(*[]float64); ok && cap(*data) >= n*n {
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
	scratch.Put(&data)
}
