package chol

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"grfgp/internal/parallel"
	"grfgp/sparse"
)

// NotPositiveDefinite is the error of a matrix that has no factor.
type NotPositiveDefinite struct {
	Row   int     // of the matrix, where elimination ends
	Pivot float64 // what is left of the diagonal there
}

func (e *NotPositiveDefinite) Error() string {
	return fmt.Sprintf("sparse Cholesky factor: not positive definite: %.3g is left of the diagonal of row %d; add to the diagonal",
		e.Pivot, e.Row)
}

// Factor is L of P·Q·Pᵀ = L·Lᵀ for a permutation P. Methods that do not change it are safe for concurrent use.
type Factor struct {
	*Analysis
	l      []float64 // supernode by supernode, column by column, with zeros above the diagonal
	sparse []float64 // zeros, for updates
}

// Factor factors a matrix of the analysed pattern, of which it reads one triangle. An error is a *NotPositiveDefinite, wraps
// ErrPattern, or is that of ctx.
func (s *Analysis) Factor(ctx context.Context, q *sparse.CSR) (*Factor, error) {
	f := &Factor{Analysis: s, l: make([]float64, s.at[s.len()]+16)} // kernels read some numbers beyond the last
	if err := f.Refactor(ctx, q); err != nil {
		return nil, err
	}
	return f, nil
}

// Refactor makes f the factor of another matrix of the pattern, in the memory of f. After an error f is no factor.
func (f *Factor) Refactor(ctx context.Context, q *sparse.CSR) error {
	ptr, col, val := q.Raw()
	if !slices.Equal(ptr, f.rowPtr) || !slices.Equal(col, f.col) {
		return fmt.Errorf("%w: %d rows with %d entries are not those that were analysed, %d with %d; analyse them", ErrPattern,
			len(ptr)-1, len(col), len(f.order), len(f.col))
	}
	var mu sync.Mutex
	var failed *NotPositiveDefinite // of all that were found, the first in the order of elimination
	updates := make([][]float64, f.len())
	f.plan().up(func(w *walker, k int) bool {
		if ctx.Err() != nil {
			return false
		}
		column, pivot := f.supernode(w, k, val, updates)
		if column == none {
			return true
		}
		mu.Lock()
		defer mu.Unlock()
		if failed == nil || column < f.position[failed.Row] {
			failed = &NotPositiveDefinite{Row: int(f.order[column]), Pivot: pivot}
		}
		return false
	})
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("sparse Cholesky factor: %w", err)
	}
	if failed != nil {
		return failed
	}
	return nil
}

// supernode computes the columns of supernode k, and what is left for its parent. It returns the first column without a
// positive pivot, and the pivot; none if there is no such.
func (f *Factor) supernode(w *walker, k int, val []float64, updates [][]float64) (column int32, pivot float64) {
	front, wide, high := &w.front, f.width(k), f.height(k)
	front.reset(high, wide)
	first := f.first[k]
	for j := range wide {
		col := front.data[j*front.step:]
		for _, e := range f.place[f.column[int(first)+j]:f.column[int(first)+j+1]] {
			col[e.row] += val[e.entry]
		}
	}
	children := f.childrenOf(k)
	for _, c := range children {
		front.add(updates[c], f.inParent[f.ptr[c]:f.ptr[c+1]])
	}
	for i := len(children) - 1; i >= 0; i-- {
		w.stack.pop(children[i])
		updates[children[i]] = nil
	}
	if j, pivot := front.eliminate(); j >= 0 {
		return first + int32(j), pivot
	}
	front.store(f.l[f.at[k]:f.at[k+1]])
	if r := high - wide; r > 0 {
		updates[k] = w.keep(int32(k), triangle(r))
		front.leave(updates[k])
	}
	return none, 0
}

// LogDet returns log det Q.
func (f *Factor) LogDet() float64 {
	const block = 1 << 8 // supernodes: sums of blocks are added in order
	sums := make([]float64, (f.len()+block-1)/block)
	parallel.Ranges(f.len(), block, func(lo, hi int) {
		sum := 0.0
		for k := lo; k < hi; k++ {
			w, m := f.width(k), f.height(k)
			for j := range w {
				sum += math.Log(f.l[f.at[k]+j*m+j])
			}
		}
		sums[lo/block] = sum
	})
	total := 0.0
	for _, sum := range sums {
		total += sum
	}
	return 2 * total
}
