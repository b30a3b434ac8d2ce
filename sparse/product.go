package sparse

import (
	"fmt"
	"sort"
	"unsafe"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/meter"
	"grfgp/internal/parallel"
)

// blockWork is the number of multiplications in one block of a product: some
// 10 µs, enough to pay for handing it to another goroutine.
const blockWork = 1 << 16

// Mul sets dst to A·x, where x holds one right-hand side per column and dst is
// already of the right size. Both may be views of larger matrices, but they must
// not overlap. For the product with Aᵀ write a.T().Mul(dst, x).
//
// Every entry of dst is summed over the row's entries in stored order, so the
// result has the same bits on every processor, at any GOMAXPROCS, and for any set
// of columns that are multiplied together. Mul panics if the sizes do not fit.
func (a *CSR) Mul(dst, x *mat.Dense) { a.mul(dst.RawMatrix(), x.RawMatrix(), mulRows) }

// MulRows sets dst to rows lo and following of A·x, as many as dst has, to the bits of
// Mul.
func (a *CSR) MulRows(dst, x *mat.Dense, lo int) {
	n, _ := dst.Dims()
	a.from(lo, n).mul(dst.RawMatrix(), x.RawMatrix(), mulRows)
}

// MulAdd adds rows lo and following of A·x to dst, as many as dst has, in one pass over
// dst: the bits are those of MulRows followed by a sum.
func (a *CSR) MulAdd(dst, x *mat.Dense, lo int) {
	n, _ := dst.Dims()
	a.from(lo, n).mul(dst.RawMatrix(), x.RawMatrix(), mulRowsAdd)
}

// from returns rows lo to lo+n.
func (a *CSR) from(lo, n int) *CSR {
	part := &CSR{rows: n, cols: a.cols, rowPtr: a.rowPtr[lo : lo+n+1], colIdx: a.colIdx, val: a.val}
	part.nearOnce.Do(func() { part.isNear = a.near() })
	return part
}

// MulVec sets dst to A·x for a single vector, as Mul does.
func (a *CSR) MulVec(dst, x []float64) {
	a.mul(column(dst), column(x), mulRows)
}

// column is v as a matrix of one column.
func column(v []float64) blas64.General {
	return blas64.General{Rows: len(v), Cols: 1, Stride: 1, Data: v}
}

// mul is Mul by the given kernel, which sets rows lo to hi of dst.
func (a *CSR) mul(dst, x blas64.General, kernel func(a *CSR, dst, x blas64.General, lo, hi int)) {
	// Gonum has only one empty matrix, 0×0: without rows the width says nothing.
	sameWidth := dst.Cols == x.Cols || dst.Rows == 0 || x.Rows == 0
	if dst.Rows != a.rows || x.Rows != a.cols || !sameWidth {
		panic(fmt.Sprintf("sparse: product of %d×%d with %d×%d into %d×%d", a.rows, a.cols, x.Rows, x.Cols, dst.Rows, dst.Cols))
	}
	if overlap(dst, x) {
		panic("sparse: product of overlapping matrices")
	}
	pass := meter.Start()
	defer pass.Done(a.traffic(dst.Cols, int(unsafe.Sizeof(float64(0)))))
	n := 1 + a.work()*dst.Cols/blockWork
	if n == 1 {
		kernel(a, dst, x, 0, a.rows)
		return
	}
	parallel.Ranges(n, 1, func(b, _ int) { kernel(a, dst, x, a.cut(b, n), a.cut(b+1, n)) })
}

// traffic is the least number of bytes that a product with so many columns of numbers of
// the given size moves: matrix, right-hand sides and result, once each.
func (a *CSR) traffic(columns, size int) int {
	entries := a.rowPtr[a.rows] - a.rowPtr[0]
	return entries*(size+4) + 8*a.rows + (a.rows+a.cols)*columns*size
}

// work is the cost of a product per column of x, in multiplications. A
// row costs one more than its entries, for writing the sum.
func (a *CSR) work() int { return a.rowPtr[a.rows] - a.rowPtr[0] + a.rows }

// cut returns the first row of block b when the rows are cut into n blocks of
// about the same work.
func (a *CSR) cut(b, n int) int { return cutRows(a.rowPtr, b, n) }

// cutRows is cut for the row pointers of a matrix.
func cutRows(rowPtr []int, b, n int) int {
	// Quotient and remainder separately, so that nothing overflows.
	rows := len(rowPtr) - 1
	work := rowPtr[rows] - rowPtr[0] + rows
	before := work/n*b + work%n*b/n
	return sort.Search(rows, func(i int) bool { return rowPtr[i]-rowPtr[0]+i >= before })
}

// overlap reports whether two matrices share an element. Views with different
// strides into the same stretch of memory count as sharing.
func overlap(a, b blas64.General) bool {
	if len(a.Data) == 0 || len(b.Data) == 0 {
		return false
	}
	const size = unsafe.Sizeof(float64(0))
	a0, b0 := uintptr(unsafe.Pointer(&a.Data[0])), uintptr(unsafe.Pointer(&b.Data[0]))
	if a0 > b0 {
		a, b, a0, b0 = b, a, b0, a0
	}
	distance := int((b0 - a0) / size)
	if distance >= (a.Rows-1)*a.Stride+a.Cols {
		return false
	}
	if a.Stride != b.Stride {
		return true
	}
	// Side by side in the same rows: b starts right of a's last column, and
	// ends before a's first column of the next row.
	gap := distance % a.Stride
	return gap < a.Cols || gap+b.Cols > a.Stride
}

const (
	nearColumns = 4096 // of x, in eight columns of float64: 256 KiB, which stay near the processor
	nearSamples = 1024 // rows that are looked at
)

// near reports whether the entries of nearly all rows are in columns near those of the
// row before, so that the processor finds x in its caches without being told.
func (a *CSR) near() bool {
	a.nearOnce.Do(func() {
		step, seen, far := max(1, a.rows/nearSamples), 0, 0
		for i := 1; i < a.rows; i += step {
			before, row := a.colIdx[a.rowPtr[i-1]:a.rowPtr[i]], a.colIdx[a.rowPtr[i]:a.rowPtr[i+1]]
			if len(before) == 0 {
				continue
			}
			for _, j := range row {
				seen++
				if d := int(j) - int(before[0]); d > nearColumns || d < -nearColumns {
					far++
				}
			}
		}
		a.isNear = 20*far <= seen
	})
	return a.isNear
}
