package sparse

import "gonum.org/v1/gonum/blas/blas64"

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
