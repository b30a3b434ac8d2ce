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
	"grfgp/internal/scratch"
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
	wide, release, err := widened(ctx, m.Pattern, &doubles, raw.Data, raw.Rows, columns, raw.Stride)
	defer release()
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
	return (&Single{m.Pattern, m.csr.Single()}).Mul(ctx, dst, x)
}

// Single is a Matrix with values of float32, for products with blocks of float32.
type Single struct {
	*Pattern
	csr *sparse.Single
}

// Single returns the matrix with the given values, which are not copied: the caller may
// change them between products.
func (p *Pattern) Single(val []float32) (*Single, error) {
	csr, err := p.local.Single(val)
	return &Single{p, csr}, err
}

// Mul is that of Matrix.
func (s *Single) Mul(ctx context.Context, dst, x blas32.General) error {
	wide, release, err := s.WidenSingle(ctx, x)
	defer release()
	if err != nil || dst.Rows == 0 {
		return err
	}
	if wide.Rows == 0 {
		for i := range dst.Rows {
			clear(dst.Data[i*dst.Stride:][:dst.Cols])
		}
		return nil
	}
	s.csr.Mul(dst, wide)
	return nil
}

// Widen returns the rows of a block that the local columns stand for: those of others
// below this rank's, its own, and those above. All ranks call it together. Nobody may use
// the result after release.
func (p *Pattern) Widen(ctx context.Context, x *mat.Dense, columns int) (wide *mat.Dense, release func(), err error) {
	raw := x.RawMatrix()
	all, release, err := widened(ctx, p, &doubles, raw.Data, raw.Rows, columns, raw.Stride)
	if err != nil || len(all) == 0 {
		return &mat.Dense{}, release, err
	}
	return mat.NewDense(len(all)/columns, columns, all), release, nil
}

// WidenSingle is Widen for blocks of float32.
func (p *Pattern) WidenSingle(ctx context.Context, x blas32.General) (wide blas32.General, release func(), err error) {
	all, release, err := widened(ctx, p, &singles, x.Data, x.Rows, x.Cols, x.Stride)
	return blas32.General{Rows: len(all) / max(1, x.Cols), Cols: x.Cols, Stride: max(1, x.Cols), Data: all}, release, err
}

// Entries returns the number of entries of this rank's rows.
func (p *Pattern) Entries() int { return len(p.col) }

// From returns the place of the first entry of row i, or of the end if i is behind the
// last row.
func (p *Pattern) From(i int) int { return p.ptr[i] }

// Row returns the local columns of an own row.
func (p *Pattern) Row(i int) []uint32 { return p.near[p.ptr[i]:p.ptr[i+1]] }

// Memory of wide blocks that are not in use.
var (
	doubles scratch.Pool[float64]
	singles scratch.Pool[float32]
)

// widened returns the rows of a block that the local columns stand for.
func widened[F float32 | float64](ctx context.Context, p *Pattern, pool *scratch.Pool[F], x []F, own, columns, stride int) (wide []F, release func(), err error) {
	if p.group.Alone() && stride == columns {
		return x[:own*columns], func() {}, nil
	}
	rim := len(p.rim.Need())
	wide = pool.Get((own + rim) * columns)
	release = func() { pool.Put(wide) }
	middle := wide[p.below*columns:][:own*columns]
	parallel.Ranges(own, 4096, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			copy(middle[i*columns:][:columns], x[i*stride:])
		}
	})
	ghosts := pool.Get(rim * columns)
	defer pool.Put(ghosts)
	if err := ranks.Fill(ctx, p.rim, ghosts, middle, columns); err != nil {
		return nil, release, fmt.Errorf("rows of other ranks: %w", err)
	}
	copy(wide, ghosts[:p.below*columns])
	copy(wide[(p.below+own)*columns:], ghosts[p.below*columns:])
	return wide, release, nil
}
