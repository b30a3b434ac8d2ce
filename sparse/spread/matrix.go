// Package spread holds sparse matrices whose rows are spread over several ranks. Each
// rank has its own rows, and its own rows of every block of vectors; before a product it
// receives the rows of others that its columns meet, and no more. Products have the
// same bits as those of sparse.CSR on one rank.
package spread

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/internal/ranks"
	"grfgp/sparse"
)

// Pattern is the pattern of the rows that this rank owns. It is immutable, and is used
// by one goroutine at a time, because products wait for other ranks.
type Pattern struct {
	group      *ranks.Group
	rows, cols ranks.Layout
	local      *sparse.Pattern // its columns are those of others below, own ones, those of others above
	rim        *ranks.Rim      // of the columns
	below      int             // columns of others below the own ones
	ptr        []int
	col        []uint32 // global
	near       []uint32 // local
}

// NewPattern returns the pattern of this rank's rows: row i has the entries ptr[i] to
// ptr[i+1]−1, with columns col among all of the layout. All ranks call it together.
func NewPattern(ctx context.Context, g *ranks.Group, rows, cols ranks.Layout, ptr []int, col []uint32) (*Pattern, error) {
	lo, hi := cols.Range(g.Rank())
	need := outside(col, lo, hi)
	p := &Pattern{group: g, rows: rows, cols: cols, ptr: ptr, col: col}
	p.below, _ = slices.BinarySearch(need, uint32(lo))
	p.near = make([]uint32, len(col))
	parallel.Ranges(len(col), 1<<15, func(from, to int) {
		for e := from; e < to; e++ {
			p.near[e] = p.place(int(col[e]), lo, hi, need)
		}
	})
	first, end := rows.Range(g.Rank())
	var err error
	if p.local, err = sparse.NewPattern(end-first, len(need)+hi-lo, ptr, p.near); err != nil {
		return nil, err
	}
	p.rim, err = g.NewRim(ctx, cols, need)
	return p, err
}

// place returns the local number of a column. Local numbers increase with global ones.
func (p *Pattern) place(col, lo, hi int, need []uint32) uint32 {
	switch {
	case col >= lo && col < hi:
		return uint32(p.below + col - lo)
	case col < lo:
		at, _ := slices.BinarySearch(need, uint32(col))
		return uint32(at)
	default:
		at, _ := slices.BinarySearch(need, uint32(col))
		return uint32(at + hi - lo)
	}
}

// outside returns the columns out of [lo, hi), in increasing order, each once.
func outside(col []uint32, lo, hi int) []uint32 {
	const size = 1 << 16
	parts := make([][]uint32, (len(col)+size-1)/size)
	parallel.Ranges(len(col), size, func(from, to int) {
		var far []uint32
		for _, j := range col[from:to] {
			if int(j) < lo || int(j) >= hi {
				far = append(far, j)
			}
		}
		slices.Sort(far)
		parts[from/size] = slices.Compact(far)
	})
	all := slices.Concat(parts...)
	slices.Sort(all)
	return slices.Compact(all)
}

// Rim returns what this rank receives and sends in a product.
func (p *Pattern) Rim() *ranks.Rim { return p.rim }

// Matrix is the rows of a matrix that this rank owns.
type Matrix struct {
	*Pattern
	csr *sparse.CSR
}

// With returns the matrix with the given values, which are not copied.
func (p *Pattern) With(val []float64) (*Matrix, error) {
	csr, err := p.local.With(val)
	return &Matrix{p, csr}, err
}

// Dims returns the numbers of rows and columns that this rank owns.
func (m *Matrix) Dims() (rows, cols int) {
	lo, hi := m.rows.Range(m.group.Rank())
	first, end := m.cols.Range(m.group.Rank())
	return hi - lo, end - first
}

// Local returns the own rows with local columns: those that others own below this
// rank's, its own, and those above.
func (m *Matrix) Local() *sparse.CSR { return m.csr }

// Mul sets dst to the own rows of A·x, where x is the own rows of the right-hand sides.
// All ranks call it together, with the same number of columns, which a matrix without
// rows does not tell.
func (m *Matrix) Mul(ctx context.Context, dst, x *mat.Dense, columns int) error {
	raw := x.RawMatrix()
	wide, err := widened(ctx, m.Pattern, raw.Data, raw.Rows, columns, raw.Stride)
	if err != nil || dst.IsEmpty() {
		return err
	}
	if len(wide) == 0 {
		dst.Zero()
		return nil
	}
	m.csr.Mul(dst, mat.NewDense(len(wide)/columns, columns, wide))
	return nil
}

// MulSingle is Mul for blocks of float32.
func (m *Matrix) MulSingle(ctx context.Context, dst, x blas32.General) error {
	wide, err := widened(ctx, m.Pattern, x.Data, x.Rows, x.Cols, x.Stride)
	if err != nil || dst.Rows == 0 {
		return err
	}
	if len(wide) == 0 {
		clear(dst.Data)
		return nil
	}
	m.csr.MulSingle(dst, blas32.General{Rows: len(wide) / x.Cols, Cols: x.Cols, Stride: x.Cols, Data: wide})
	return nil
}

// Widen returns the rows of a block that the local columns stand for: those of others
// below this rank's, its own, and those above. All ranks call it together.
func (p *Pattern) Widen(ctx context.Context, x *mat.Dense, columns int) (*mat.Dense, error) {
	raw := x.RawMatrix()
	wide, err := widened(ctx, p, raw.Data, raw.Rows, columns, raw.Stride)
	if err != nil || len(wide) == 0 {
		return &mat.Dense{}, err
	}
	return mat.NewDense(len(wide)/columns, columns, wide), nil
}

// Entries returns the number of entries of this rank's rows.
func (p *Pattern) Entries() int { return len(p.col) }

// From returns the place of the first entry of row i, or of the end if i is behind the
// last row.
func (p *Pattern) From(i int) int { return p.ptr[i] }

// Row returns the local columns of an own row.
func (p *Pattern) Row(i int) []uint32 { return p.near[p.ptr[i]:p.ptr[i+1]] }

// widened returns the rows of a block that the local columns stand for.
func widened[F float32 | float64](ctx context.Context, p *Pattern, x []F, own, columns, stride int) ([]F, error) {
	if p.group.Alone() && stride == columns {
		return x[:own*columns], nil
	}
	rim := len(p.rim.Need())
	wide := make([]F, (own+rim)*columns)
	middle := wide[p.below*columns:][:own*columns]
	parallel.Ranges(own, 4096, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			copy(middle[i*columns:][:columns], x[i*stride:])
		}
	})
	ghosts := make([]F, rim*columns)
	if err := ranks.Fill(ctx, p.rim, ghosts, middle, columns); err != nil {
		return nil, fmt.Errorf("rows of other ranks: %w", err)
	}
	copy(wide, ghosts[:p.below*columns])
	copy(wide[(p.below+own)*columns:], ghosts[p.below*columns:])
	return wide, nil
}
