package sparse

import (
	"fmt"
	"unsafe"

	"gonum.org/v1/gonum/blas/blas32"

	"grfgp/internal/meter"
	"grfgp/internal/parallel"
)

// Single is a CSR matrix with its values rounded to float32, for products with blocks
// of float32: these move half the memory. It shares the pattern of the matrix, is
// immutable, and is safe for concurrent use.
type Single struct {
	pattern *CSR
	val     []float32
}

// Single returns the matrix with values of float32, which is computed on the first
// call and kept.
func (a *CSR) Single() *Single {
	a.singleOnce.Do(func() {
		s := &Single{a, make([]float32, len(a.val))}
		parallel.Ranges(len(a.val), blockWork, func(lo, hi int) {
			for p, v := range a.val[lo:hi] {
				s.val[lo+p] = float32(v)
			}
		})
		a.single = s
	})
	return a.single
}

// Single returns a matrix of the pattern with the given values, which are not copied: the
// caller may change them between products.
func (p *Pattern) Single(val []float32) (*Single, error) {
	if len(p.colIdx) != len(val) {
		return nil, fmt.Errorf("%w: %d column indices, but %d values", ErrFormat, len(p.colIdx), len(val))
	}
	return &Single{&CSR{rows: p.rows, cols: p.cols, rowPtr: p.rowPtr, colIdx: p.colIdx}, val}, nil
}

// Dims returns the number of rows and columns.
func (s *Single) Dims() (rows, cols int) { return s.pattern.Dims() }

// Mul sets dst to A·x, as CSR.Mul does: sums run in stored order, rounded to float32
// after every operation, and have the same bits on every processor. dst and x must not
// overlap. Mul panics if the sizes do not fit.
func (s *Single) Mul(dst, x blas32.General) { s.mul(dst, x, mulSingle) }

// MulSingle is a.Single().Mul.
func (a *CSR) MulSingle(dst, x blas32.General) { a.Single().Mul(dst, x) }

// MulAdd adds A·x to dst, as Mul does.
func (s *Single) MulAdd(dst, x blas32.General) { s.mul(dst, x, mulSingleAdd) }

func (s *Single) mul(dst, x blas32.General, kernel func(s *Single, dst, x blas32.General, lo, hi int)) {
	a := s.pattern
	sameWidth := dst.Cols == x.Cols || dst.Rows == 0 || x.Rows == 0
	if dst.Rows != a.rows || x.Rows != a.cols || !sameWidth {
		panic(fmt.Sprintf("sparse: product of %d×%d with %d×%d into %d×%d", a.rows, a.cols, x.Rows, x.Cols, dst.Rows, dst.Cols))
	}
	if len(dst.Data) > 0 && len(x.Data) > 0 {
		d, o := uintptr(unsafe.Pointer(&dst.Data[0])), uintptr(unsafe.Pointer(&x.Data[0]))
		if d < o+4*uintptr(len(x.Data)) && o < d+4*uintptr(len(dst.Data)) {
			panic("sparse: product of overlapping matrices")
		}
	}
	pass := meter.Start()
	defer pass.Done(a.traffic(dst.Cols, int(unsafe.Sizeof(float32(0)))))
	n := 1 + a.work()*dst.Cols/blockWork
	if n == 1 {
		kernel(s, dst, x, 0, a.rows)
		return
	}
	parallel.Ranges(n, 1, func(b, _ int) { kernel(s, dst, x, a.cut(b, n), a.cut(b+1, n)) })
}

// mulSingleAddGo adds rows lo to hi of A·x to dst: sums first, each then added.
func mulSingleAddGo(s *Single, dst, x blas32.General, lo, hi int) {
	part := blas32.General{Rows: 1, Cols: dst.Cols, Stride: dst.Cols, Data: make([]float32, dst.Cols)}
	for i := lo; i < hi; i++ {
		one := &Single{&CSR{rows: 1, cols: s.pattern.cols, rowPtr: s.pattern.rowPtr[i : i+2], colIdx: s.pattern.colIdx}, s.val}
		mulSingleGo(one, part, x, 0, 1)
		for c, v := range part.Data {
			dst.Data[i*dst.Stride+c] += v
		}
	}
}

// mulSingleGo sets rows lo to hi of dst to those of A·x: the definition, as mulRowsGo
// is for float64.
func mulSingleGo(s *Single, dst, x blas32.General, lo, hi int) {
	a := s.pattern
	for i := lo; i < hi; i++ {
		first, end := a.rowPtr[i], a.rowPtr[i+1]
		cols, vals := a.colIdx[first:end], s.val[first:end]
		out := dst.Data[i*dst.Stride:][:dst.Cols]
		clear(out)
		for p, j := range cols {
			v, row := vals[p], x.Data[int(j)*x.Stride:][:len(out)]
			for c, w := range row {
				out[c] += float32(v * w)
			}
		}
	}
}
