package dense

import (
	"fmt"
	"runtime"
	"sync"

	"grfgp/internal/parallel"
)

// Sizes of what is packed at a time: a panel of b stays in the first cache, both
// blocks in the second. Only depth has a say in results: sums are begun anew
// after as many steps.
const (
	depth     = 128
	blockRows = 192
	blockCols = 384
)

// Below this number of multiplications goroutines cost more than they save.
const worthwhile = 1 << 19

// part is which elements of a product are wanted.
type part int

const (
	whole part = iota
	lower      // on and below the diagonal
	upper      // on and above it
)

// Add adds alpha·a·b to c, which overlaps neither.
func Add(c Matrix, alpha float64, a, b Matrix) { add(whole, c, alpha, a, b) }

// AddLower adds alpha·a·b to the elements of c on and below the diagonal and
// leaves all others as they are, where only that half is wanted.
func AddLower(c Matrix, alpha float64, a, b Matrix) { add(lower, c, alpha, a, b) }

// Mul sets c = a·b, with a c that overlaps neither.
func Mul(c, a, b Matrix) {
	rows := c
	if rows.ColStep != 1 {
		rows = rows.T()
	}
	for i := range rows.Rows {
		clear(rows.Data[i*rows.RowStep:][:rows.Cols])
	}
	Add(c, 1, a, b)
}

func add(want part, c Matrix, alpha float64, a, b Matrix) {
	if a.Rows != c.Rows || b.Cols != c.Cols || a.Cols != b.Rows {
		panic(fmt.Sprintf("dense: product of %d×%d and %d×%d for %d×%d", a.Rows, a.Cols, b.Rows, b.Cols, c.Rows, c.Cols))
	}
	if c.Rows == 0 || c.Cols == 0 || a.Cols == 0 {
		return
	}
	if want == whole && c.Cols <= thinCols && c.Rows >= thinRows {
		addThin(c, alpha, a, b)
		return
	}
	if want == whole && c.Rows <= thinCols && c.Cols >= thinRows {
		addThin(c.T(), alpha, b.T(), a.T())
		return
	}
	if c.ColStep != 1 {
		// The kernel writes rows: cᵀ += alpha·bᵀ·aᵀ.
		if want == lower {
			want = upper
		}
		addRows(want, c.T(), alpha, b.T(), a.T())
		return
	}
	addRows(want, c, alpha, a, b)
}

// addRows is add for a c of contiguous rows.
func addRows(want part, c Matrix, alpha float64, a, b Matrix) {
	if c.Rows*c.Cols*a.Cols < worthwhile {
		blocks := cuts(c.Rows, blockRows) * cuts(c.Cols, blockCols)
		addBlocks(want, c, alpha, a, b, blockRows, blockCols, 0, blocks)
		return
	}
	rows, cols := share(c)
	parallel.Ranges(cuts(c.Rows, rows)*cuts(c.Cols, cols), 1, func(lo, hi int) {
		addBlocks(want, c, alpha, a, b, rows, cols, lo, hi)
	})
}

// share returns the size of blocks of c that keep all processors busy.
func share(c Matrix) (rows, cols int) {
	rows, cols = blockRows, blockCols
	enough := 4 * runtime.GOMAXPROCS(0)
	for cuts(c.Rows, rows)*cuts(c.Cols, cols) < enough && rows > 48 {
		rows, cols = rows/2, cols/2
	}
	return rows, cols
}

// addBlocks adds to the blocks [lo, hi) of c, counted row by row.
func addBlocks(want part, c Matrix, alpha float64, a, b Matrix, rows, cols, lo, hi int) {
	buf := buffers.Get().(*buffer)
	defer buffers.Put(buf)
	across := cuts(c.Cols, cols)
	for i := lo; i < hi; i++ {
		r, k := i/across*rows, i%across*cols
		buf.block(want, c, alpha, a, b, r, min(c.Rows, r+rows), k, min(c.Cols, k+cols))
	}
}

// cuts returns how many pieces of at most size n falls into.
func cuts(n, size int) int { return (n + size - 1) / size }

// covers tells whether all, or any, of rows [r0, r1) and columns [c0, c1) are wanted.
func (want part) covers(r0, r1, c0, c1 int) (all, some bool) {
	switch want {
	case lower:
		return r0 >= c1-1, r1 > c0
	case upper:
		return c0 >= r1-1, c1 > r0
	}
	return true, true
}

// buffer is the scratch of one goroutine.
type buffer struct {
	a    [blockRows * depth]float64
	b    [blockCols * depth]float64
	edge [tileRows * tileCols]float64
}

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// block adds to rows [r0, r1) and columns [c0, c1) of c.
func (buf *buffer) block(want part, c Matrix, alpha float64, a, b Matrix, r0, r1, c0, c1 int) {
	if _, some := want.covers(r0, r1, c0, c1); !some {
		return
	}
	for p := 0; p < a.Cols; p += depth {
		last := min(a.Cols, p+depth)
		steps := last - p
		pack(buf.a[:], a.Block(r0, r1, p, last).T(), tileRows)
		pack(buf.b[:], b.Block(p, last, c0, c1), tileCols)
		for j := c0; j < c1; j += tileCols {
			right := buf.b[(j-c0)*steps:][:tileCols*steps]
			for i := r0; i < r1; i += tileRows {
				left := buf.a[(i-r0)*steps:][:tileRows*steps]
				iEnd, jEnd := min(r1, i+tileRows), min(c1, j+tileCols)
				all, some := want.covers(i, iEnd, j, jEnd)
				switch {
				case all && iEnd-i == tileRows && jEnd-j == tileCols:
					tile(steps, alpha, left, right, c.Data[i*c.RowStep+j:], c.RowStep)
				case some:
					buf.partial(want, c, alpha, left, right, i, iEnd, j, jEnd)
				}
			}
		}
	}
}

// partial adds to a tile of which not all is wanted, or there.
func (buf *buffer) partial(want part, c Matrix, alpha float64, left, right []float64, i0, i1, j0, j1 int) {
	steps := len(left) / tileRows
	each := func(do func(edge, c []float64)) {
		for i := i0; i < i1; i++ {
			lo, hi := j0, j1
			switch want {
			case lower:
				hi = min(hi, i+1)
			case upper:
				lo = max(lo, i)
			}
			if lo < hi {
				do(buf.edge[(i-i0)*tileCols+lo-j0:][:hi-lo], c.Data[i*c.RowStep+lo:][:hi-lo])
			}
		}
	}
	each(func(edge, c []float64) { copy(edge, c) })
	tile(steps, alpha, left, right, buf.edge[:], tileCols)
	each(func(edge, c []float64) { copy(c, edge) })
}
