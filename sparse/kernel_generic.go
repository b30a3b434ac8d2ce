//go:build !amd64 || purego

package sparse

import (
	"gonum.org/v1/gonum/blas/blas64"
)

// mulRows sets rows lo to hi of dst to those of A·x.
func mulRows(a *CSR, dst, x blas64.General, lo, hi int) { mulRowsGo(a, dst, x, lo, hi) }

// mulSingle sets rows lo to hi of dst to those of A·x.
func mulSingle(a *CSR, val []float32, dst, x Block[float32], lo, hi int) {
	mulSingleGo(a, val, dst, x, lo, hi)
}

// mulRowsAdd adds rows lo to hi of A·x to dst.
func mulRowsAdd(a *CSR, dst, x blas64.General, lo, hi int) { mulRowsAddGo(a, dst, x, lo, hi) }

// mulSingleAdd adds rows lo to hi of A·x to dst.
func mulSingleAdd(a *CSR, val []float32, dst, x Block[float32], lo, hi int) {
	mulSingleAddGo(a, val, dst, x, lo, hi)
}

// dotRowsSingle is dotRowsSingleGo.
func dotRowsSingle(dst []float64, u []float32, v Block[float32], cols []uint32) {
	dotRowsSingleGo(dst, u, v, cols)
}

// dotRows is dotRowsGo.
func dotRows(dst, u []float64, v blas64.General, cols []uint32) { dotRowsGo(dst, u, v, cols) }
