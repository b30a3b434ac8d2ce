package sparse

import "gonum.org/v1/gonum/blas/blas64"

//go:generate go -C _asm run . -pkg sparse -out ../block_amd64.s -stubs ../block_amd64.go

// mulRowsGo sets rows lo to hi of dst to those of A·x:
//
//	dst[i, c] = Σ_p val[p]·x[colIdx[p], c]   over the entries p of row i, in stored order.
//
// It is the definition that every other kernel matches bit for bit. The
// conversion of each product to float64 forbids the compiler to fuse it with
// the sum, which would round differently from one processor to the next.
func mulRowsGo(a *CSR, dst, x blas64.General, lo, hi int) {
	for i := lo; i < hi; i++ {
		cols, vals := a.Row(i)
		vals = vals[:len(cols)]
		out := dst.Data[i*dst.Stride:][:dst.Cols]
		for len(out) >= 4 {
			c := dst.Cols - len(out)
			var s0, s1, s2, s3 float64
			for p, j := range cols {
				v, row := vals[p], x.Data[int(j)*x.Stride+c:][:4]
				s0 += float64(v * row[0])
				s1 += float64(v * row[1])
				s2 += float64(v * row[2])
				s3 += float64(v * row[3])
			}
			out[0], out[1], out[2], out[3] = s0, s1, s2, s3
			out = out[4:]
		}
		for len(out) > 0 {
			c := dst.Cols - len(out)
			s := 0.0
			for p, j := range cols {
				s += float64(vals[p] * x.Data[int(j)*x.Stride+c])
			}
			out[0], out = s, out[1:]
		}
	}
}

// mulRowsAddGo adds rows lo to hi of A·x to dst: sums first, each then added.
func mulRowsAddGo(a *CSR, dst, x blas64.General, lo, hi int) {
	part := blas64.General{Rows: 1, Cols: dst.Cols, Stride: dst.Cols, Data: make([]float64, dst.Cols)}
	for i := lo; i < hi; i++ {
		one := &CSR{rows: 1, cols: a.cols, rowPtr: a.rowPtr[i : i+2], colIdx: a.colIdx, val: a.val}
		mulRowsGo(one, part, x, 0, 1)
		for c, v := range part.Data {
			dst.Data[i*dst.Stride+c] += v
		}
	}
}
