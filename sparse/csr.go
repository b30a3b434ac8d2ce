package sparse

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"grfgp/internal/parallel"
)

// ErrFormat is wrapped by every error of NewCSR; the message says which rule was
// violated.
var ErrFormat = errors.New("not a valid CSR matrix")

// MaxCols is the largest number of columns, and of rows, because these are the
// columns of the transpose. One bit of a column index stays free as a mark.
const MaxCols = math.MaxInt32

// CSR is an immutable matrix in compressed-row form. Row i holds the entries
// rowPtr[i] to rowPtr[i+1]−1. Its columns may be in any order, and entries of the
// same column are added. It is safe for concurrent use.
type CSR struct {
	rows, cols int
	rowPtr     []int
	colIdx     []uint32
	val        []float64

	transposeOnce sync.Once
	transpose     *CSR
	singleOnce    sync.Once
	single        *Values[float32]
	nearOnce      sync.Once
	isNear        bool // see near
	blocksMu      sync.Mutex
	blocks        *rowBlocks // see TransposedBlocks
}

// NewCSR checks the three arrays and wraps them without copying; the caller
// must not change them afterwards.
func NewCSR(rows, cols int, rowPtr []int, colIdx []uint32, val []float64) (*CSR, error) {
	p, err := NewPattern(rows, cols, rowPtr, colIdx)
	if err != nil {
		return nil, err
	}
	return p.With(val)
}

// Pattern is the pattern of a CSR matrix, for matrices that differ in their values only.
type Pattern struct {
	rows, cols int
	rowPtr     []int
	colIdx     []uint32
}

// NewPattern checks the two arrays and wraps them without copying; the caller must not
// change them afterwards.
func NewPattern(rows, cols int, rowPtr []int, colIdx []uint32) (*Pattern, error) {
	switch {
	case rows < 0 || cols < 0 || rows > MaxCols || cols > MaxCols:
		return nil, fmt.Errorf("%w: %d×%d is out of range", ErrFormat, rows, cols)
	case len(rowPtr) != rows+1:
		return nil, fmt.Errorf("%w: %d row pointers for %d rows, want %d", ErrFormat, len(rowPtr), rows, rows+1)
	case rowPtr[0] != 0:
		return nil, fmt.Errorf("%w: first row pointer is %d, want 0", ErrFormat, rowPtr[0])
	case rowPtr[rows] != len(colIdx):
		return nil, fmt.Errorf("%w: last row pointer is %d, but there are %d column indices", ErrFormat, rowPtr[rows], len(colIdx))
	}
	if i := firstBlock(rows, func(lo, hi int) int {
		for i := lo; i < hi; i++ {
			if rowPtr[i] > rowPtr[i+1] {
				return i
			}
		}
		return -1
	}); i >= 0 {
		return nil, fmt.Errorf("%w: row pointers decrease at row %d", ErrFormat, i)
	}
	if p := firstBlock(len(colIdx), func(lo, hi int) int {
		for p, j := range colIdx[lo:hi] {
			if int(j) >= cols {
				return lo + p
			}
		}
		return -1
	}); p >= 0 {
		return nil, fmt.Errorf("%w: entry %d has column %d of %d", ErrFormat, p, colIdx[p], cols)
	}
	return &Pattern{rows, cols, rowPtr, colIdx}, nil
}

// Raw returns the first entry of each row, and one more, and the columns of the entries, to be
// read only.
func (p *Pattern) Raw() (ptr []int, col []uint32) { return p.rowPtr, p.colIdx }

// With returns the matrix with the given values, which are checked and not copied; the
// caller must not change them afterwards.
func (p *Pattern) With(val []float64) (*CSR, error) {
	if len(p.colIdx) != len(val) {
		return nil, fmt.Errorf("%w: %d column indices, but %d values", ErrFormat, len(p.colIdx), len(val))
	}
	if q := firstBlock(len(val), func(lo, hi int) int {
		part := val[lo:hi]
		var a, b, c, d float64 // differences of numbers with themselves: 0, or not a number
		q := 0
		for ; q+4 <= len(part); q += 4 {
			v := part[q:][:4]
			a, b, c, d = a+(v[0]-v[0]), b+(v[1]-v[1]), c+(v[2]-v[2]), d+(v[3]-v[3])
		}
		if a+b+c+d == 0 {
			part, lo = part[q:], lo+q
		}
		for q, v := range part {
			if v-v != 0 { // not finite
				return lo + q
			}
		}
		return -1
	}); q >= 0 {
		return nil, fmt.Errorf("%w: entry %d is %v", ErrFormat, q, val[q])
	}
	return &CSR{rows: p.rows, cols: p.cols, rowPtr: p.rowPtr, colIdx: p.colIdx, val: val}, nil
}

// Picked returns the matrix whose entry q has the value of entry from[q] of a.
func (p *Pattern) Picked(a *CSR, from []uint32) *CSR {
	if len(from) != len(p.colIdx) {
		panic(fmt.Sprintf("sparse: %d values for %d entries", len(from), len(p.colIdx)))
	}
	val := make([]float64, len(from))
	parallel.Ranges(len(from), blockWork, func(lo, hi int) {
		for q, at := range from[lo:hi] {
			val[lo+q] = a.val[at]
		}
	})
	return &CSR{rows: p.rows, cols: p.cols, rowPtr: p.rowPtr, colIdx: p.colIdx, val: val}
}

// firstBlock returns the smallest number that find returns for parts of [0, n), other
// than −1; −1 if there is none.
func firstBlock(n int, find func(lo, hi int) int) int {
	const size = 1 << 16
	if n <= size {
		return find(0, n)
	}
	found := make([]int, (n+size-1)/size)
	parallel.Ranges(n, size, func(lo, hi int) { found[lo/size] = find(lo, hi) })
	for _, i := range found {
		if i >= 0 {
			return i
		}
	}
	return -1
}

// Dims returns the number of rows and columns.
func (a *CSR) Dims() (rows, cols int) { return a.rows, a.cols }

// NNZ returns the number of stored entries.
func (a *CSR) NNZ() int { return len(a.val) }

// Row returns the columns and values of row i, to be read only.
func (a *CSR) Row(i int) ([]uint32, []float64) {
	lo, hi := a.rowPtr[i], a.rowPtr[i+1]
	return a.colIdx[lo:hi:hi], a.val[lo:hi:hi]
}

// Raw returns the three arrays, to be read only.
func (a *CSR) Raw() (rowPtr []int, colIdx []uint32, val []float64) {
	return a.rowPtr, a.colIdx, a.val
}

// At returns entry (i, j) by a search through row i.
func (a *CSR) At(i, j int) float64 {
	cols, vals := a.Row(i)
	sum := 0.0
	for p, c := range cols {
		if int(c) == j {
			sum += vals[p]
		}
	}
	return sum
}

// Scaled returns c·a. It shares the pattern of a.
func (a *CSR) Scaled(c float64) *CSR {
	val := make([]float64, len(a.val))
	parallel.Ranges(len(val), blockWork, func(lo, hi int) {
		for p, v := range a.val[lo:hi] {
			val[lo+p] = c * v
		}
	})
	return &CSR{rows: a.rows, cols: a.cols, rowPtr: a.rowPtr, colIdx: a.colIdx, val: val}
}

// ColumnsScaled returns a·diag(by). It shares the pattern of a.
func (a *CSR) ColumnsScaled(by []float64) *CSR {
	val := make([]float64, len(a.val))
	parallel.Ranges(len(val), blockWork, func(lo, hi int) {
		for p, j := range a.colIdx[lo:hi] {
			val[lo+p] = a.val[lo+p] * by[j]
		}
	})
	return &CSR{rows: a.rows, cols: a.cols, rowPtr: a.rowPtr, colIdx: a.colIdx, val: val}
}

// T returns the transpose, which is computed on the first call and kept. Its
// columns are in increasing order, so products with it have a fixed order of
// summation.
func (a *CSR) T() *CSR {
	a.transposeOnce.Do(func() { a.transpose = a.transposed() })
	return a.transpose
}
