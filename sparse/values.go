package sparse

import (
	"fmt"
	"unsafe"

	"gonum.org/v1/gonum/blas/blas64"

	"grfgp/internal/meter"
	"grfgp/internal/parallel"
)

// Float is a precision of numbers.
type Float interface{ float32 | float64 }

// Block is a block of vectors, row by row: row i begins at i·Stride.
type Block[F Float] struct {
	Rows, Cols int
	Data       []F
	Stride     int
}

// Values is a matrix of a pattern with values of precision F, which its owner may change between products. Products
// with float32 move half the memory.
type Values[F Float] struct {
	pattern *CSR // without values if F is float32
	val     []F
}

// ValuesOf returns a matrix with values of precision F. Those of float32 are computed on the first call and kept.
func ValuesOf[F Float](a *CSR) *Values[F] {
	var v any
	switch any(F(0)).(type) {
	case float64:
		v = &Values[float64]{a, a.val}
	case float32:
		a.singleOnce.Do(func() {
			a.single = &Values[float32]{a, make([]float32, len(a.val))}
			parallel.Ranges(len(a.val), blockWork, func(lo, hi int) {
				for p, w := range a.val[lo:hi] {
					a.single.val[lo+p] = float32(w)
				}
			})
		})
		v = a.single
	}
	return v.(*Values[F])
}

// WithValues returns a matrix of a pattern with values, which are not copied.
func WithValues[F Float](p *Pattern, val []F) (*Values[F], error) {
	if len(p.colIdx) != len(val) {
		return nil, fmt.Errorf("%w: %d column indices, but %d values", ErrFormat, len(p.colIdx), len(val))
	}
	a := &CSR{rows: p.rows, cols: p.cols, rowPtr: p.rowPtr, colIdx: p.colIdx}
	if own, ok := any(val).([]float64); ok {
		a.val = own
	}
	return &Values[F]{a, val}, nil
}

// Dims returns the number of rows and columns.
func (m *Values[F]) Dims() (rows, cols int) { return m.pattern.Dims() }

// Raw returns the values, in stored order.
func (m *Values[F]) Raw() []F { return m.val }

// Multiply sets dst to rows lo and following of A·x, as many as dst has, or adds them: as CSR.Mul does, sums run in stored
// order, rounded to F after every operation, and have the same bits on every processor. A sum is complete before it
// is added. dst and x must not overlap. Multiply panics if the sizes do not fit.
func (m *Values[F]) Multiply(dst, x Block[F], lo int, add bool) {
	a := m.pattern
	if dst.Rows != a.rows {
		a = a.from(lo, dst.Rows)
	}
	switch to := any(dst).(type) {
	case Block[float64]:
		from := any(x).(Block[float64])
		kernel := mulRows
		if add {
			kernel = mulRowsAdd
		}
		a.mul(blas64.General(to), blas64.General(from), kernel)
	case Block[float32]:
		from := any(x).(Block[float32])
		kernel := mulSingle
		if add {
			kernel = mulSingleAdd
		}
		a.mulSingle(any(m.val).([]float32), to, from, kernel)
	}
}

// mulSingle is mul for float32.
func (a *CSR) mulSingle(val []float32, dst, x Block[float32], kernel func(a *CSR, val []float32, dst, x Block[float32], lo, hi int)) {
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
		kernel(a, val, dst, x, 0, a.rows)
		return
	}
	parallel.Ranges(n, 1, func(b, _ int) { kernel(a, val, dst, x, a.cut(b, n), a.cut(b+1, n)) })
}

// mulSingleAddGo adds rows lo to hi of A·x to dst: sums first, each then added.
func mulSingleAddGo(a *CSR, val []float32, dst, x Block[float32], lo, hi int) {
	part := Block[float32]{Rows: 1, Cols: dst.Cols, Stride: dst.Cols, Data: make([]float32, dst.Cols)}
	for i := lo; i < hi; i++ {
		one := &CSR{rows: 1, cols: a.cols, rowPtr: a.rowPtr[i : i+2], colIdx: a.colIdx}
		mulSingleGo(one, val, part, x, 0, 1)
		for c, v := range part.Data {
			dst.Data[i*dst.Stride+c] += v
		}
	}
}

// mulSingleGo sets rows lo to hi of dst to those of A·x: the definition, as mulRowsGo is for float64.
func mulSingleGo(a *CSR, val []float32, dst, x Block[float32], lo, hi int) {
	for i := lo; i < hi; i++ {
		first, end := a.rowPtr[i], a.rowPtr[i+1]
		cols, vals := a.colIdx[first:end], val[first:end]
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

// DotRows is Dots, or DotsSingle.
func DotRows[F Float](dst []float64, u []F, v Block[F], cols []uint32) {
	switch from := any(v).(type) {
	case Block[float64]:
		Dots(dst, any(u).([]float64), blas64.General(from), cols)
	case Block[float32]:
		DotsSingle(dst, any(u).([]float32), from, cols)
	}
}
