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
//
// Rows that meet own columns only are multiplied with the own rows of a block, where they
// are. The other rows, the edge, are few if nodes are in locality order; what they meet is
// brought together first.
type Pattern struct {
	group      *ranks.Group
	rows, cols ranks.Layout
	rim        *ranks.Rim // of the columns
	ptr        []int
	col        []uint32 // global

	own  *sparse.Pattern // of all rows; rows of the edge have whatever columns; nil: all rows are edge
	near []uint32        // its columns
	edge *edge
}

// edge is the rows that meet columns of other ranks.
type edge struct {
	rows  []uint32 // nil: all rows
	from  []uint32 // of each entry, its place among those of all rows; nil: all
	shape *sparse.Pattern
	near  []uint32 // its columns: places in seen
	ptr   []int
	seen  []uint32 // columns that the edge meets, in increasing order: of all ranks
	own   []uint32 // per column of seen: the own row, or the number of own rows + the place in the rim
}

// NewPattern returns the pattern of this rank's rows: row i has the entries ptr[i] to
// ptr[i+1]−1, with columns col among all of the layout. All ranks call it together.
func NewPattern(ctx context.Context, g *ranks.Group, rows, cols ranks.Layout, ptr []int, col []uint32) (*Pattern, error) {
	lo, hi := cols.Range(g.Rank())
	need := outside(col, lo, hi)
	p := &Pattern{group: g, rows: rows, cols: cols, ptr: ptr, col: col}
	first, end := rows.Range(g.Rank())
	n := end - first
	far := p.far(lo, hi)
	var err error
	if 4*len(far) <= n && lo < hi {
		p.near = make([]uint32, len(col))
		parallel.Ranges(len(col), 1<<15, func(from, to int) {
			for e := from; e < to; e++ {
				if j := int(col[e]); j >= lo && j < hi {
					p.near[e] = uint32(j - lo)
				}
			}
		})
		if p.own, err = sparse.NewPattern(n, hi-lo, ptr, p.near); err != nil {
			return nil, err
		}
	} else {
		far = nil // all
	}
	if p.edge, err = p.newEdge(far, lo, hi, need); err != nil {
		return nil, err
	}
	p.rim, err = g.NewRim(ctx, cols, need)
	return p, err
}

// far returns the rows that meet columns out of [lo, hi); not nil.
func (p *Pattern) far(lo, hi int) []uint32 {
	n := len(p.ptr) - 1
	const size = 4096
	parts := make([][]uint32, (n+size-1)/size)
	parallel.Ranges(n, size, func(from, to int) {
		for i := from; i < to; i++ {
			if slices.ContainsFunc(p.col[p.ptr[i]:p.ptr[i+1]], func(j uint32) bool { return int(j) < lo || int(j) >= hi }) {
				parts[from/size] = append(parts[from/size], uint32(i))
			}
		}
	})
	return append([]uint32{}, slices.Concat(parts...)...)
}

// newEdge returns the edge of the given rows; nil: all rows.
func (p *Pattern) newEdge(rows []uint32, lo, hi int, need []uint32) (*edge, error) {
	e := &edge{rows: rows, ptr: p.ptr}
	cols := p.col
	if rows != nil {
		e.ptr, e.from, cols = []int{0}, []uint32{}, nil
		for _, i := range rows {
			for q := p.ptr[i]; q < p.ptr[i+1]; q++ {
				e.from, cols = append(e.from, uint32(q)), append(cols, p.col[q])
			}
			e.ptr = append(e.ptr, len(cols))
		}
	}
	e.seen = outside(cols, 0, 0) // each once, in increasing order
	for _, j := range e.seen {
		at := int(j) - lo
		if at < 0 || int(j) >= hi {
			at, _ = slices.BinarySearch(need, j)
			at += hi - lo
		}
		e.own = append(e.own, uint32(at))
	}
	e.near = make([]uint32, len(cols))
	parallel.Ranges(len(cols), 1<<15, func(from, to int) {
		for q := from; q < to; q++ {
			at, _ := slices.BinarySearch(e.seen, cols[q])
			e.near[q] = uint32(at)
		}
	})
	var err error
	e.shape, err = sparse.NewPattern(len(e.ptr)-1, len(e.seen), e.ptr, e.near)
	return e, err
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
	own, edge *sparse.CSR // own is nil if all rows are edge
	val       []float64
}

// Values returns the values of this rank's rows, in the order of the pattern, to be read only.
func (m *Matrix) Values() []float64 { return m.val }

// With returns the matrix with the given values, which are not copied.
func (p *Pattern) With(val []float64) (*Matrix, error) {
	m := &Matrix{Pattern: p, val: val}
	var err error
	if p.own != nil {
		if m.own, err = p.own.With(val); err != nil {
			return nil, err
		}
	}
	m.edge, err = p.edge.shape.With(picked(p.edge, val))
	return m, err
}

// picked returns the values of the edge.
func picked[F float32 | float64](e *edge, val []F) []F {
	if e.from == nil {
		return val
	}
	out := make([]F, len(e.from))
	for q, from := range e.from {
		out[q] = val[from]
	}
	return out
}

// Dims returns the numbers of rows and columns that this rank owns.
func (m *Matrix) Dims() (rows, cols int) {
	lo, hi := m.rows.Range(m.group.Rank())
	first, end := m.cols.Range(m.group.Rank())
	return hi - lo, end - first
}

// Mul sets dst to the own rows of A·x, where x is the own rows of the right-hand sides.
// All ranks call it together, with the same number of columns, which a matrix without
// rows does not tell.
func (m *Matrix) Mul(ctx context.Context, dst, x *mat.Dense, columns int) error {
	met, release, err := m.Widen(ctx, x, columns)
	defer release()
	if err != nil || dst.IsEmpty() {
		return err
	}
	if m.own != nil {
		m.own.Mul(dst, x)
	}
	if m.Pattern.edge.rows == nil {
		multiply(m.edge, dst, met)
		return nil
	}
	few := mat.NewDense(max(1, len(m.Pattern.edge.rows)), columns, nil)
	if len(m.Pattern.edge.rows) > 0 {
		multiply(m.edge, few, met)
	}
	for a, i := range m.Pattern.edge.rows {
		dst.SetRow(int(i), few.RawRowView(a))
	}
	return nil
}

// MulAdd adds the own rows of A·x to dst; see Mul.
func (m *Matrix) MulAdd(ctx context.Context, dst, x *mat.Dense, columns int) error {
	met, release, err := m.Widen(ctx, x, columns)
	defer release()
	if err != nil || dst.IsEmpty() {
		return err
	}
	rows := m.Pattern.edge.rows
	if rows == nil {
		if !met.IsEmpty() {
			m.edge.MulAdd(dst, met, 0)
		}
		return nil
	}
	few := mat.NewDense(max(1, len(rows)), columns, nil)
	for a, i := range rows {
		few.SetRow(a, dst.RawRowView(int(i)))
	}
	m.own.MulAdd(dst, x, 0) // rows of the edge have whatever columns, and are set below
	if len(rows) > 0 && !met.IsEmpty() {
		m.edge.MulAdd(few, met, 0)
	}
	for a, i := range rows {
		dst.SetRow(int(i), few.RawRowView(a))
	}
	return nil
}

// multiply sets dst = A·x, also where A has no columns.
func multiply(a *sparse.CSR, dst, x *mat.Dense) {
	if x.IsEmpty() {
		dst.Zero()
		return
	}
	a.Mul(dst, x)
}

// MulSingle is Mul for blocks of float32.
func (m *Matrix) MulSingle(ctx context.Context, dst, x blas32.General) error {
	s := &Single{Pattern: m.Pattern, edge: m.edge.Single()}
	if m.own != nil {
		s.own = m.own.Single()
	}
	return s.Mul(ctx, dst, x)
}

// Single is a Matrix with values of float32, for products with blocks of float32.
type Single struct {
	*Pattern
	own, edge *sparse.Single
	val, few  []float32 // of all rows, and of the edge; nil if they do not change
}

// Single returns the matrix with the given values, which are not copied: the caller may
// change them between products.
func (p *Pattern) Single(val []float32) (*Single, error) {
	s := &Single{Pattern: p, val: val, few: picked(p.edge, val)}
	var err error
	if p.own != nil {
		if s.own, err = p.own.Single(val); err != nil {
			return nil, err
		}
	}
	s.edge, err = p.edge.shape.Single(s.few)
	return s, err
}

// MulAdd is that of Matrix.
func (s *Single) MulAdd(ctx context.Context, dst, x blas32.General) error {
	met, release, err := s.WidenSingle(ctx, x)
	defer release()
	if err != nil || dst.Rows == 0 {
		return err
	}
	s.pick()
	rows := s.Pattern.edge.rows
	if rows == nil {
		if met.Rows > 0 {
			s.edge.MulAdd(dst, met)
		}
		return nil
	}
	few := blas32.General{Rows: len(rows), Cols: dst.Cols, Stride: dst.Cols, Data: singles.Get(len(rows) * dst.Cols)}
	defer singles.Put(few.Data)
	for a, i := range rows {
		copy(few.Data[a*few.Cols:][:few.Cols], dst.Data[int(i)*dst.Stride:])
	}
	s.own.MulAdd(dst, x) // rows of the edge have whatever columns, and are set below
	if met.Rows > 0 {
		s.edge.MulAdd(few, met)
	}
	for a, i := range rows {
		copy(dst.Data[int(i)*dst.Stride:][:dst.Cols], few.Data[a*few.Cols:])
	}
	return nil
}

// pick brings the values of the edge up to date.
func (s *Single) pick() {
	if s.val != nil && s.Pattern.edge.from != nil {
		for q, from := range s.Pattern.edge.from {
			s.few[q] = s.val[from]
		}
	}
}

// Mul is that of Matrix.
func (s *Single) Mul(ctx context.Context, dst, x blas32.General) error {
	met, release, err := s.WidenSingle(ctx, x)
	defer release()
	if err != nil || dst.Rows == 0 {
		return err
	}
	s.pick()
	if s.own != nil {
		s.own.Mul(dst, x)
	}
	rows := s.Pattern.edge.rows
	to := dst
	if rows != nil {
		to = blas32.General{Rows: len(rows), Cols: dst.Cols, Stride: dst.Cols, Data: singles.Get(len(rows) * dst.Cols)}
		defer singles.Put(to.Data)
	}
	if met.Rows > 0 {
		s.edge.Mul(to, met)
	} else {
		for i := range to.Rows {
			clear(to.Data[i*to.Stride:][:to.Cols])
		}
	}
	for a, i := range rows {
		copy(dst.Data[int(i)*dst.Stride:][:dst.Cols], to.Data[a*to.Cols:])
	}
	return nil
}

// Entries returns the number of entries of this rank's rows.
func (p *Pattern) Entries() int { return len(p.col) }

// From returns the place of the first entry of row i, or of the end if i is behind the
// last row.
func (p *Pattern) From(i int) int { return p.ptr[i] }

// Row returns the columns of an own row, and whether they are rows of the result of Widen;
// otherwise they are own rows of a block.
func (p *Pattern) Row(i int) (cols []uint32, widened bool) {
	e := p.edge
	if e.rows == nil {
		return e.near[e.ptr[i]:e.ptr[i+1]], true
	}
	if a, ok := slices.BinarySearch(e.rows, uint32(i)); ok {
		return e.near[e.ptr[a]:e.ptr[a+1]], true
	}
	return p.near[p.ptr[i]:p.ptr[i+1]], false
}

// Widen returns the rows of a block that the edge meets, see Row. All ranks call it
// together. Nobody may use the result after release.
func (p *Pattern) Widen(ctx context.Context, x *mat.Dense, columns int) (met *mat.Dense, release func(), err error) {
	raw := x.RawMatrix()
	all, release, err := widened(ctx, p, &doubles, raw.Data, raw.Rows, columns, raw.Stride)
	if err != nil || len(all) == 0 {
		return &mat.Dense{}, release, err
	}
	return mat.NewDense(len(all)/columns, columns, all), release, nil
}

// WidenSingle is Widen for blocks of float32.
func (p *Pattern) WidenSingle(ctx context.Context, x blas32.General) (met blas32.General, release func(), err error) {
	all, release, err := widened(ctx, p, &singles, x.Data, x.Rows, x.Cols, x.Stride)
	return blas32.General{Rows: len(all) / max(1, x.Cols), Cols: x.Cols, Stride: max(1, x.Cols), Data: all}, release, err
}

// Memory of blocks that are not in use.
var (
	doubles scratch.Pool[float64]
	singles scratch.Pool[float32]
)

// widened returns the rows of a block that the edge meets.
func widened[F float32 | float64](ctx context.Context, p *Pattern, pool *scratch.Pool[F], x []F, own, columns, stride int) (met []F,
	release func(), err error) {
	ghosts := pool.Get(len(p.rim.Need()) * columns)
	defer pool.Put(ghosts)
	if err := ranks.Fill(ctx, p.rim, ghosts, x, columns, stride); err != nil {
		return nil, func() {}, fmt.Errorf("rows of other ranks: %w", err)
	}
	met = pool.Get(len(p.edge.own) * columns)
	parallel.Ranges(len(p.edge.own), 4096, func(lo, hi int) {
		for a := lo; a < hi; a++ {
			if at := int(p.edge.own[a]); at < own {
				copy(met[a*columns:][:columns], x[at*stride:])
			} else {
				copy(met[a*columns:][:columns], ghosts[(at-own)*columns:])
			}
		}
	})
	return met, func() { pool.Put(met) }, nil
}
