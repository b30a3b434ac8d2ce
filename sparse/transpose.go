package sparse

import (
	"math"

	"grfgp/internal/parallel"
)

// byColumn says where entries go if they are sorted by column, keeping the order of the rows: each block of rows
// has a counter for every column between its first and its last, and writes its entries of a column behind those of
// the blocks before it. The result does not depend on the number of blocks. In a locality order the blocks have
// few columns in common.
type byColumn struct {
	ptr    []int // where the entries of each column begin, and one more
	blocks []columnBlock
}

// columnBlock is the rows [lo, hi), whose columns are from first on. Its next entry of column j goes to
// next[j−first].
type columnBlock struct {
	lo, hi int
	first  int
	next   []int
}

// newByColumn looks at a pattern with the given number of columns.
func newByColumn(cols int, rowPtr []int, colIdx []uint32) *byColumn {
	const least = 1 << 14 // entries of a block
	c := &byColumn{ptr: make([]int, cols+1)}
	if width := c.cut(parallel.Workers(len(colIdx)/least), rowPtr, colIdx); width > len(colIdx) {
		// Counters must stay few beside the entries.
		c.cut(parallel.Workers(len(colIdx)/max(1, cols)), rowPtr, colIdx)
	}
	parallel.Ranges(len(c.blocks), 1, func(k, _ int) {
		b := &c.blocks[k]
		for _, j := range colIdx[rowPtr[b.lo]:rowPtr[b.hi]] {
			b.next[int(j)-b.first]++
		}
	})
	// The sums of ranges of columns, then where each of them begins.
	const size = 1 << 14
	starts := make([]int, (cols+size-1)/size+1)
	parallel.Ranges(cols, size, func(lo, hi int) {
		sum := 0
		for k := range c.blocks {
			for _, n := range c.blocks[k].within(lo, hi) {
				sum += n
			}
		}
		starts[lo/size+1] = sum
	})
	for k := 1; k < len(starts); k++ {
		starts[k] += starts[k-1]
	}
	parallel.Ranges(cols, size, func(lo, hi int) {
		count := c.ptr[lo+1 : hi+1] // of every column, then where the next one begins
		for k := range c.blocks {
			b := &c.blocks[k]
			from := max(lo, b.first)
			for q, n := range b.within(lo, hi) {
				count[from+q-lo] += n
			}
		}
		at := starts[lo/size]
		for j, n := range count {
			count[j] = at
			at += n
		}
		for k := range c.blocks {
			b := &c.blocks[k]
			from := max(lo, b.first)
			for q, n := range b.within(lo, hi) {
				b.next[from+q-b.first] = count[from+q-lo]
				count[from+q-lo] += n
			}
		}
	})
	return c
}

// cut makes so many blocks of rows with about as many entries, and returns how many counters they have.
func (c *byColumn) cut(blocks int, rowPtr []int, colIdx []uint32) (width int) {
	c.blocks = make([]columnBlock, blocks)
	parallel.Ranges(blocks, 1, func(k, _ int) {
		lo, hi := cutRows(rowPtr, k, blocks), cutRows(rowPtr, k+1, blocks)
		first, last := uint32(math.MaxUint32), uint32(0)
		for _, j := range colIdx[rowPtr[lo]:rowPtr[hi]] {
			first, last = min(first, j), max(last, j)
		}
		b := columnBlock{lo: lo, hi: hi}
		if first <= last {
			b.first, b.next = int(first), make([]int, last-first+1)
		}
		c.blocks[k] = b
	})
	for k := range c.blocks {
		width += len(c.blocks[k].next)
	}
	return width
}

// within returns the counters of the columns [lo, hi) that the block has.
func (b *columnBlock) within(lo, hi int) []int {
	lo, hi = min(max(lo-b.first, 0), len(b.next)), min(hi-b.first, len(b.next))
	return b.next[lo:max(lo, hi)]
}

// each calls do for every block, in parallel. It can be called once.
func (c *byColumn) each(do func(b *columnBlock)) {
	parallel.Ranges(len(c.blocks), 1, func(k, _ int) { do(&c.blocks[k]) })
}

// transposed sorts the entries by column, keeping the order of the rows.
func (a *CSR) transposed() *CSR {
	places := newByColumn(a.cols, a.rowPtr, a.colIdx)
	colIdx, val := make([]uint32, len(a.colIdx)), make([]float64, len(a.val))
	places.each(func(b *columnBlock) {
		for i := b.lo; i < b.hi; i++ {
			cols, vals := a.Row(i)
			for p, j := range cols {
				next := &b.next[int(j)-b.first]
				colIdx[*next], val[*next] = uint32(i), vals[p]
				*next++
			}
		}
	})
	return &CSR{rows: a.cols, cols: a.rows, rowPtr: places.ptr, colIdx: colIdx, val: val}
}

// Transposed returns the pattern of the transpose, with the columns of its rows in increasing order. Its entry q
// is entry from[q] of p, and entry r of p is entry to[r] of it. It returns nil if there are more entries than 32 bits
// can count.
func (p *Pattern) Transposed() (t *Pattern, from, to []uint32) {
	if len(p.colIdx) > math.MaxUint32 {
		return nil, nil, nil
	}
	places := newByColumn(p.cols, p.rowPtr, p.colIdx)
	colIdx := make([]uint32, len(p.colIdx))
	from, to = make([]uint32, len(colIdx)), make([]uint32, len(colIdx))
	places.each(func(b *columnBlock) {
		for i := b.lo; i < b.hi; i++ {
			for r := p.rowPtr[i]; r < p.rowPtr[i+1]; r++ {
				next := &b.next[int(p.colIdx[r])-b.first]
				colIdx[*next], from[*next], to[r] = uint32(i), uint32(r), uint32(*next)
				*next++
			}
		}
	})
	return &Pattern{p.cols, p.rows, places.ptr, colIdx}, from, to
}
