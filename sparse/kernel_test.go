package sparse

import "gonum.org/v1/gonum/blas/blas64"

// kernels are the kernels that this machine can run, by name.
var kernels = map[string]func(a *CSR, dst, x blas64.General, lo, hi int){
	"default": mulRows,
	"go":      mulRowsGo,
}
