package sparse

import (
	"gonum.org/v1/gonum/blas/blas64"
)

// Dots sets dst[e] to the product of u with row cols[e] of v, which has as many columns.
// The result has the same bits on every processor.
func Dots(dst, u []float64, v blas64.General, cols []uint32) {
	if len(cols) == 0 {
		return
	}
	_ = dst[len(cols)-1]
	for _, c := range cols {
		_ = v.Data[int(c)*v.Stride:][:len(u)]
	}
	dotRows(dst, u, v, cols)
}

// dotRowsGo is the definition: four sums over every fourth column, added as
// (0 + 2) + (1 + 3).
func dotRowsGo(dst, u []float64, v blas64.General, cols []uint32) {
	for e, c := range cols {
		row := v.Data[int(c)*v.Stride:][:len(u)]
		var sum [4]float64
		w := 0
		for ; w+4 <= len(u); w += 4 {
			sum[0] += float64(u[w] * row[w])
			sum[1] += float64(u[w+1] * row[w+1])
			sum[2] += float64(u[w+2] * row[w+2])
			sum[3] += float64(u[w+3] * row[w+3])
		}
		for j := 0; w < len(u); w, j = w+1, j+1 {
			sum[j] += float64(u[w] * row[w])
		}
		dst[e] = (sum[0] + sum[2]) + (sum[1] + sum[3])
	}
}

// DotsSingle is Dots in float32; the number of columns is a multiple of 8.
func DotsSingle(dst []float64, u []float32, v Block[float32], cols []uint32) {
	if len(u)%8 != 0 {
		panic("sparse: products of rows whose length is not a multiple of 8")
	}
	if len(cols) == 0 {
		return
	}
	_ = dst[len(cols)-1]
	for _, c := range cols {
		_ = v.Data[int(c)*v.Stride:][:len(u)]
	}
	dotRowsSingle(dst, u, v, cols)
}

// dotRowsSingleGo is the definition: eight sums over every eighth column, of which j and
// j+4 are added, and then (0 + 2) + (1 + 3).
func dotRowsSingleGo(dst []float64, u []float32, v Block[float32], cols []uint32) {
	for e, c := range cols {
		row := v.Data[int(c)*v.Stride:][:len(u)]
		var sum [8]float32
		for w, x := range u {
			sum[w%8] += float32(x * row[w])
		}
		for j := range 4 {
			sum[j] += sum[j+4]
		}
		dst[e] = float64((sum[0] + sum[2]) + (sum[1] + sum[3]))
	}
}
