// Package dense multiplies dense matrices. Every element of a product is one
// fixed sequence of fused multiply-adds, so its bits depend neither on the
// number of threads, nor on the processor, nor on what is computed beside it.
package dense

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// Matrix is a view of a dense matrix: element (i, j) is Data[i·RowStep + j·ColStep].
// One of the steps is 1, so a transpose is a view too.
type Matrix struct {
	Rows, Cols       int
	RowStep, ColStep int
	Data             []float64
}

// Of is a as a view.
func Of(a blas64.General) Matrix {
	return Matrix{Rows: a.Rows, Cols: a.Cols, RowStep: a.Stride, ColStep: 1, Data: a.Data}
}

// View is a as a view.
func View(a *mat.Dense) Matrix { return Of(a.RawMatrix()) }

// OfSymmetric is the square in whose upper triangle a lies; what is below the
// diagonal means nothing.
func OfSymmetric(a blas64.Symmetric) Matrix {
	return Matrix{Rows: a.N, Cols: a.N, RowStep: a.Stride, ColStep: 1, Data: a.Data}
}

// T is the transpose of m.
func (m Matrix) T() Matrix {
	m.Rows, m.Cols, m.RowStep, m.ColStep = m.Cols, m.Rows, m.ColStep, m.RowStep
	return m
}

// Block is rows [r0, r1) and columns [c0, c1) of m.
func (m Matrix) Block(r0, r1, c0, c1 int) Matrix {
	m.Rows, m.Cols = r1-r0, c1-c0
	if m.Rows == 0 || m.Cols == 0 {
		m.Data = nil
	} else {
		m.Data = m.Data[r0*m.RowStep+c0*m.ColStep : (r1-1)*m.RowStep+(c1-1)*m.ColStep+1]
	}
	return m
}

// At returns the place of element (i, j).
func (m Matrix) At(i, j int) *float64 { return &m.Data[i*m.RowStep+j*m.ColStep] }
