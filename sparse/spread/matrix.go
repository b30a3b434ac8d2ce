// Package spread holds sparse matrices whose rows are spread over several ranks. Each
// rank has its own rows, and its own rows of every block of vectors; before a product it
// receives the rows of others that its columns meet, and no more. Products have the
// same bits as those of sparse.CSR on one rank.
package spread

import (
	"context"
	"fmt"
	"slices"

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

// Matrix is the rows of a matrix that this rank owns, with values of precision F, which may be changed between
// products.
type Matrix[F sparse.Float] struct {
	*Pattern
	own, edge *sparse.Values[F] // own is nil if all rows are edge
	val, few  []F               // of all rows, and of the edge
}

// With returns the matrix of a pattern with the given values, which are not copied.
func With[F sparse.Float](p *Pattern, val []F) (*Matrix[F], error) {
	m := &Matrix[F]{Pattern: p, val: val, few: val}
	if p.edge.from != nil {
		m.few = make([]F, len(p.edge.from))
	}
	var err error
	if p.own != nil {
		if m.own, err = sparse.WithValues(p.own, val); err != nil {
			return nil, err
		}
	}
	m.edge, err = sparse.WithValues(p.edge.shape, m.few)
	return m, err
}

// Dims returns the numbers of rows and columns that this rank owns.
func (m *Matrix[F]) Dims() (rows, cols int) {
	lo, hi := m.rows.Range(m.group.Rank())
	first, end := m.cols.Range(m.group.Rank())
	return hi - lo, end - first
}

// Multiply sets dst to the own rows of A·x, or adds them, where x is the own rows of the right-hand sides. All ranks call
// it together, with the same number of columns.
func (m *Matrix[F]) Multiply(ctx context.Context, dst, x sparse.Block[F], add bool) error {
	met, release, err := m.Widen(ctx, x)
	defer release()
	if err != nil || dst.Rows == 0 {
		return err
	}
	for q, from := range m.Pattern.edge.from {
		m.few[q] = m.val[from]
	}
	rows, to := m.Pattern.edge.rows, dst
	if rows != nil {
		to = sparse.Block[F]{Rows: len(rows), Cols: dst.Cols, Stride: dst.Cols, Data: make([]F, len(rows)*dst.Cols)}
		for a, i := range rows {
			copy(to.Data[a*to.Cols:][:to.Cols], dst.Data[int(i)*dst.Stride:])
		}
		m.own.Multiply(dst, x, 0, add) // rows of the edge have whatever columns, and are set below
	}
	switch {
	case met.Rows > 0 && to.Rows > 0:
		m.edge.Multiply(to, met, 0, add)
	case !add:
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

// Widen returns the rows of a block that the edge meets, see Pattern.Row. All ranks call it together. Nobody may use
// the result after release.
func (m *Matrix[F]) Widen(ctx context.Context, x sparse.Block[F]) (met sparse.Block[F], release func(), err error) {
	p, k := m.Pattern, x.Cols
	pool := poolOf[F]()
	ghosts := pool.Get(len(p.rim.Need()) * k)
	defer pool.Put(ghosts)
	if err := ranks.Fill(ctx, p.rim, ghosts, x.Data, k, x.Stride); err != nil {
		return met, func() {}, fmt.Errorf("rows of other ranks: %w", err)
	}
	first, end := p.cols.Range(p.group.Rank())
	own := end - first
	all := pool.Get(len(p.edge.own) * k)
	parallel.Ranges(len(p.edge.own), 4096, func(lo, hi int) {
		for a := lo; a < hi; a++ {
			if at := int(p.edge.own[a]); at < own {
				copy(all[a*k:][:k], x.Data[at*x.Stride:])
			} else {
				copy(all[a*k:][:k], ghosts[(at-own)*k:])
			}
		}
	})
	return sparse.Block[F]{Rows: len(p.edge.own), Cols: k, Stride: max(1, k), Data: all}, func() { pool.Put(all) }, nil
}

// Memory of blocks that are not in use.
var (
	doubles scratch.Pool[float64]
	singles scratch.Pool[float32]
)

func poolOf[F sparse.Float]() *scratch.Pool[F] {
	if p, ok := any(&doubles).(*scratch.Pool[F]); ok {
		return p
	}
	return any(&singles).(*scratch.Pool[F])
}
