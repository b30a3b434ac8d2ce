package sparse

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
)

// Compact is a matrix with float32 entries, for products only. It takes 6 bytes per
// entry where the columns of a block of rows span less than 65,536, as they do in
// locality order, and 8 elsewhere; a CSR takes 12. Blocks are set one by one, and
// then it is safe for concurrent use.
type Compact struct {
	rows, cols, size int
	blocks           []compactBlock
}

// compactBlock holds the rows of a block.
type compactBlock struct {
	end    []uint32 // per row: end of its entries
	base   uint32   // the smallest column
	narrow []uint16 // columns − base, or
	wide   []uint32 // columns
	val    []float32
}

// NewCompact returns a matrix of zeros in blocks of size rows, the last with what is left.
func NewCompact(rows, cols, size int) *Compact {
	return &Compact{rows: rows, cols: cols, size: size, blocks: make([]compactBlock, (rows+size-1)/size)}
}

// Dims returns the number of rows and columns.
func (a *Compact) Dims() (rows, cols int) { return a.rows, a.cols }

// Blocks returns the number of blocks.
func (a *Compact) Blocks() int { return len(a.blocks) }

// Set copies the rows of block k: entries of row r end at end[r]. Different blocks can
// be set at the same time. Values are rounded to float32.
func (a *Compact) Set(k int, end, col []uint32, val []float64) error {
	rows := min(a.size, a.rows-k*a.size)
	if len(end) != rows || len(col) != len(val) || rows > 0 && int(end[rows-1]) != len(col) {
		return fmt.Errorf("%w: block %d has %d rows, %d columns and %d values", ErrFormat, k, len(end), len(col), len(val))
	}
	b := compactBlock{end: append([]uint32(nil), end...), val: make([]float32, len(val))}
	least, most := uint32(math.MaxUint32), uint32(0)
	for _, j := range col {
		least, most = min(least, j), max(most, j)
	}
	if len(col) > 0 && int(most) >= a.cols {
		return fmt.Errorf("%w: an entry of block %d has column %d of %d", ErrFormat, k, most, a.cols)
	}
	for p, v := range val {
		b.val[p] = float32(v)
		if w := b.val[p]; w-w != 0 {
			return fmt.Errorf("%w: entry %d of block %d is %v, which float32 does not hold", ErrFormat, p, k, v)
		}
	}
	if most-least <= math.MaxUint16 || len(col) == 0 {
		b.base, b.narrow = least, make([]uint16, len(col))
		for p, j := range col {
			b.narrow[p] = uint16(j - least)
		}
	} else {
		b.wide = append([]uint32(nil), col...)
	}
	a.blocks[k] = b
	return nil
}

// DropEmptyColumns removes the columns without entries and returns which are left, in
// increasing order: column j is then what column left[j] was. Products with vectors that have
// these elements alone are the same bits.
func (a *Compact) DropEmptyColumns() (left []uint32) {
	used := make([]uint64, (a.cols+63)/64)
	for k := range a.blocks {
		b := &a.blocks[k]
		for p := range b.val {
			j := b.column(p)
			used[j/64] |= 1 << (j % 64)
		}
	}
	before := make([]uint32, len(used)) // columns in use before those of a word
	for w, bitset := range used {
		before[w] = uint32(len(left))
		for ; bitset != 0; bitset &= bitset - 1 {
			left = append(left, uint32(64*w+bits.TrailingZeros64(bitset)))
		}
	}
	place := func(j uint32) uint32 {
		return before[j/64] + uint32(bits.OnesCount64(used[j/64]&(1<<(j%64)-1)))
	}
	// Places keep the order of columns, so a block spans no more of them.
	parallel.Ranges(len(a.blocks), 1, func(k, _ int) {
		b := &a.blocks[k]
		if len(b.val) == 0 {
			b.base = 0
			return
		}
		base := b.base
		if b.wide == nil {
			b.base = place(base)
		}
		for p, j := range b.narrow {
			b.narrow[p] = uint16(place(base+uint32(j)) - b.base)
		}
		for p, j := range b.wide {
			b.wide[p] = place(j)
		}
	})
	a.cols = len(left)
	return left
}

// column returns the column of an entry.
func (b *compactBlock) column(p int) uint32 {
	if b.wide != nil {
		return b.wide[p]
	}
	return b.base + uint32(b.narrow[p])
}

// Bytes returns the memory that the entries take.
func (a *Compact) Bytes() int64 {
	bytes := 0
	for _, b := range a.blocks {
		bytes += 4*len(b.end) + 2*len(b.narrow) + 4*len(b.wide) + 4*len(b.val)
	}
	return int64(bytes)
}

// Columns returns the columns of row i, in the memory it is given if that is enough.
func (a *Compact) Columns(room []uint32, i int) []uint32 {
	b, lo, hi := a.row(i)
	room = room[:0]
	if b.wide != nil {
		return append(room, b.wide[lo:hi]...)
	}
	for _, j := range b.narrow[lo:hi] {
		room = append(room, b.base+uint32(j))
	}
	return room
}

// Values sets dst to the values of row i, of which there are as many as columns.
func (a *Compact) Values(dst []float64, i int) {
	b, lo, hi := a.row(i)
	for p, v := range b.val[lo:hi] {
		dst[p] = float64(v)
	}
}

// row returns the block of row i and where its entries are.
func (a *Compact) row(i int) (b *compactBlock, lo, hi uint32) {
	b, r := &a.blocks[i/a.size], i%a.size
	if r > 0 {
		lo = b.end[r-1]
	}
	return b, lo, b.end[r]
}

// Mul sets dst = A·x, to the same bits for any number of threads and columns.
func (a *Compact) Mul(dst, x *mat.Dense) { a.MulRows(dst, x, 0) }

// MulRows sets dst to rows lo and following of A·x, as many as dst has. lo is a
// multiple of the number of rows in a block.
func (a *Compact) MulRows(dst, x *mat.Dense, lo int) {
	to, from := dst.RawMatrix(), x.RawMatrix()
	if lo%a.size != 0 || lo+to.Rows > a.rows || from.Rows != a.cols || from.Cols != to.Cols {
		panic(fmt.Sprintf("sparse: product of rows from %d of %d×%d with %d×%d into %d×%d", lo, a.rows, a.cols, from.Rows, from.Cols, to.Rows,
			to.Cols))
	}
	first := lo / a.size
	a.each(first, (to.Rows+a.size-1)/a.size, func(k int, b *CSR) {
		at := (k - first) * a.size
		n := min(a.size, to.Rows-at)
		out := blas64.General{Rows: n, Cols: to.Cols, Stride: to.Stride, Data: to.Data[at*to.Stride:]}
		mulRows(b, out, from, 0, n)
	})
}

// Squares sets dst[i] to the sum of the squares of row i.
func (a *Compact) Squares(dst []float64) {
	a.each(0, len(a.blocks), func(k int, b *CSR) {
		for r := range b.rows {
			sum := 0.0
			_, vals := b.Row(r)
			for _, v := range vals {
				sum += float64(v * v)
			}
			dst[k*a.size+r] = sum
		}
	})
}

// each calls do with blocks as matrices, several at once; they are valid during the call.
func (a *Compact) each(first, count int, do func(k int, b *CSR)) {
	scratch := make([]CSR, parallel.Workers(count))
	_ = parallel.Blocks(context.Background(), count, func(worker, k int) error {
		s := &scratch[worker]
		if s.rowPtr == nil {
			kept := expanded.Get().(*CSR)
			s.rowPtr, s.colIdx, s.val = kept.rowPtr, kept.colIdx, kept.val
		}
		a.blocks[first+k].expand(s, a.cols)
		do(first+k, s)
		return nil
	})
	for w := range scratch {
		if s := &scratch[w]; s.rowPtr != nil {
			expanded.Put(&CSR{rowPtr: s.rowPtr, colIdx: s.colIdx, val: s.val})
		}
	}
}

// expanded keeps the memory of expanded blocks for the next product: megabytes for each
// processor.
var expanded = sync.Pool{New: func() any { return new(CSR) }}

// expand sets s to the rows of a block.
func (b *compactBlock) expand(s *CSR, cols int) {
	s.rows, s.cols = len(b.end), cols
	if cap(s.rowPtr) < len(b.end)+1 {
		s.rowPtr = make([]int, len(b.end)+1)
	}
	s.rowPtr = s.rowPtr[:len(b.end)+1]
	s.rowPtr[0] = 0
	for r, e := range b.end {
		s.rowPtr[r+1] = int(e)
	}
	if cap(s.val) < len(b.val) {
		s.val, s.colIdx = make([]float64, len(b.val)+len(b.val)/4), make([]uint32, len(b.val)+len(b.val)/4)
	}
	s.val, s.colIdx = s.val[:len(b.val)], s.colIdx[:len(b.val)]
	for p, v := range b.val {
		s.val[p] = float64(v)
	}
	if b.wide != nil {
		copy(s.colIdx, b.wide)
		return
	}
	for p, j := range b.narrow {
		s.colIdx[p] = b.base + uint32(j)
	}
}

// Entries returns the number of entries.
func (a *Compact) Entries() int {
	n := 0
	for _, b := range a.blocks {
		n += len(b.val)
	}
	return n
}

// Raw returns the entries row by row: row i has columns col[ptr[i]:ptr[i+1]].
func (a *Compact) Raw() (ptr []int, col []uint32, val []float32) {
	starts := make([]int, len(a.blocks)+1)
	for k, b := range a.blocks {
		starts[k+1] = starts[k] + len(b.val)
	}
	ptr, col, val = make([]int, a.rows+1), make([]uint32, starts[len(a.blocks)]), make([]float32, starts[len(a.blocks)])
	parallel.Ranges(len(a.blocks), 1, func(k, _ int) {
		b := &a.blocks[k]
		for r, end := range b.end {
			ptr[k*a.size+r+1] = starts[k] + int(end)
		}
		copy(val[starts[k]:], b.val)
		own := col[starts[k]:starts[k+1]]
		for p := range own {
			own[p] = b.column(p)
		}
	})
	return ptr, col, val
}
