//go:build !amd64 || purego

package sparse

import "gonum.org/v1/gonum/blas/blas64"

// mulRows sets rows lo to hi of dst to those of A·x.
func mulRows(a *CSR, dst, x blas64.General, lo, hi int) { mulRowsGo(a, dst, x, lo, hi) }
