package kernel

import (
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// symmetric keeps the memory of large symmetric matrices for the next evaluation.
var symmetric sync.Pool

// borrowSymmetric returns a symmetric matrix of zeros, to be given back.
func borrowSymmetric(n int) *mat.SymDense {
	if data, ok := symmetric.Get().(*[]float64); ok && cap(*data) >= n*n {
		whole := (*data)[:n*n]
		clear(whole)
		var s mat.SymDense
		s.SetRawSymmetric(blas64.Symmetric{N: n, Stride: n, Data: whole, Uplo: blas.Upper})
		return &s
	}
	return mat.NewSymDense(n, nil)
}

// giveBack returns what was borrowed.
func giveBack(s *mat.SymDense) {
	data := s.RawSymmetric().Data
	symmetric.Put(&data)
}

// newDense returns a matrix of zeros, which may have no rows.
func newDense(r, c int) *mat.Dense {
	var m mat.Dense
	m.SetRawMatrix(blas64.General{Rows: r, Cols: c, Stride: max(1, c), Data: make([]float64, r*c)})
	return &m
}

// blocks keeps the memory of a few matrices for the next use. Unlike a sync.Pool, it
// gives what one processor has put back to every other: on large graphs, a block for
// each processor would be more than everything else.
type blocks struct {
	mu   sync.Mutex
	free []*mat.Dense // from small to large
}

const blocksKept = 6

// get returns an r×c matrix with undefined contents.
func (b *blocks) get(r, c int) *mat.Dense {
	m := b.take(r * c)
	if m == nil {
		m = new(mat.Dense)
		m.SetRawMatrix(blas64.General{Data: make([]float64, r*c)})
	}
	m.SetRawMatrix(blas64.General{Rows: r, Cols: c, Stride: max(1, c), Data: m.RawMatrix().Data[:r*c]})
	return m
}

// take returns a matrix with room for n numbers, and not for many more; nil if there
// is none.
func (b *blocks) take(n int) *mat.Dense {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := slices.IndexFunc(b.free, func(m *mat.Dense) bool { return roomOf(m) >= n })
	if at < 0 || roomOf(b.free[at]) > 4*n+1024 {
		return nil
	}
	m := b.free[at]
	b.free = slices.Delete(b.free, at, at+1)
	return m
}

func roomOf(m *mat.Dense) int { return cap(m.RawMatrix().Data) }

// Put takes a matrix of get back.
func (b *blocks) Put(m *mat.Dense) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := slices.IndexFunc(b.free, func(other *mat.Dense) bool { return roomOf(other) >= roomOf(m) })
	if at < 0 {
		at = len(b.free)
	}
	b.free = slices.Insert(b.free, at, m)
	if len(b.free) > blocksKept {
		b.free = slices.Delete(b.free, 0, 1)
	}
}
