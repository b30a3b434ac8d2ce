package dense

import "grfgp/internal/parallel"

// A product with few columns is thin. The few columns are packed; the many rows, of which every element is used for
// these columns only, are read where they are. Every element of the product is the same sequence of steps as elsewhere.
const (
	thinCols = 2 * tileRows // most columns
	thinRows = 4 * tileCols // least rows, and rows at a time
)

// addThin is add for a c of at most thinCols columns.
func addThin(c Matrix, alpha float64, a, b Matrix) {
	blocks := cuts(c.Rows, thinRows)
	if c.Rows*c.Cols*a.Cols < worthwhile {
		addThinBlocks(c, alpha, a, b, 0, blocks)
		return
	}
	parallel.Ranges(blocks, 1, func(lo, hi int) { addThinBlocks(c, alpha, a, b, lo, hi) })
}

// addThinBlocks adds to the blocks [lo, hi) of thinRows rows of c.
func addThinBlocks(c Matrix, alpha float64, a, b Matrix, lo, hi int) {
	buf := buffers.Get().(*buffer)
	defer buffers.Put(buf)
	add := buf.thinRows
	if a.RowStep == 1 {
		add = buf.thinColumns
	}
	for r := lo * thinRows; r < min(c.Rows, hi*thinRows); r += thinRows {
		add(c, alpha, a, b, r, min(c.Rows, r+thinRows))
	}
}

// thinRows adds to rows [r0, r1) of c, for an a of contiguous rows: four of them are the rows of a tile.
func (buf *buffer) thinRows(c Matrix, alpha float64, a, b Matrix, r0, r1 int) {
	for p := 0; p < a.Cols; p += depth {
		last := min(a.Cols, p+depth)
		pack(buf.b[:], b.Block(p, last, 0, c.Cols), tileCols)
		for i := r0; i < r1; i += tileRows {
			part := c.Block(i, min(r1, i+tileRows), 0, c.Cols)
			left, row, step := a.Data[i*a.RowStep+p:], a.RowStep, 1
			if part.Rows < tileRows {
				pack(buf.a[:], a.Block(i, r1, p, last).T(), tileRows)
				left, row, step = buf.a[:], 1, tileRows
			}
			for q := range part.Rows {
				for k := range part.Cols {
					buf.edge[q*tileCols+k] = *part.At(q, k)
				}
			}
			tileStrided(last-p, alpha, left, row, step, buf.b[:], tileCols, buf.edge[:], tileCols)
			for q := range part.Rows {
				for k := range part.Cols {
					*part.At(q, k) = buf.edge[q*tileCols+k]
				}
			}
		}
	}
}

// thinColumns is the same for an a of contiguous columns: twelve of its rows are the columns of a tile.
func (buf *buffer) thinColumns(c Matrix, alpha float64, a, b Matrix, r0, r1 int) {
	for p := 0; p < a.Cols; p += depth {
		last := min(a.Cols, p+depth)
		steps := last - p
		pack(buf.a[:], b.Block(p, last, 0, c.Cols), tileRows)
		for i := r0; i < r1; i += tileCols {
			right, step := a.Data[p*a.ColStep+i:], a.ColStep
			if i+tileCols > r1 {
				pack(buf.b[:], a.Block(i, r1, p, last).T(), tileCols)
				right, step = buf.b[:], tileCols
			}
			for j := 0; j < c.Cols; j += tileRows {
				left := buf.a[j*steps:][:tileRows*steps]
				part := c.Block(i, min(r1, i+tileCols), j, min(c.Cols, j+tileRows))
				for q := range part.Rows {
					for k := range part.Cols {
						buf.edge[k*tileCols+q] = *part.At(q, k)
					}
				}
				tileStrided(steps, alpha, left, 1, tileRows, right, step, buf.edge[:], tileCols)
				for q := range part.Rows {
					for k := range part.Cols {
						*part.At(q, k) = buf.edge[k*tileCols+q]
					}
				}
			}
		}
	}
}
