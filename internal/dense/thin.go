package dense

import "grfgp/internal/parallel"

// A product with few columns is thin. The tile is wide, so its rows are taken for the columns: hardly a place of
// it is empty, and every element is the same sequence of steps as elsewhere.
const (
	thinCols = 2 * tileRows // most columns
	thinRows = 4 * tileCols // least rows
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
	for r := lo * thinRows; r < min(c.Rows, hi*thinRows); r += thinRows {
		buf.thin(c, alpha, a, b, r, min(c.Rows, r+thinRows))
	}
}

// thin adds to rows [r0, r1) of c.
func (buf *buffer) thin(c Matrix, alpha float64, a, b Matrix, r0, r1 int) {
	for p := 0; p < a.Cols; p += depth {
		last := min(a.Cols, p+depth)
		steps := last - p
		pack(buf.a[:], b.Block(p, last, 0, c.Cols), tileRows)
		pack(buf.b[:], a.Block(r0, r1, p, last).T(), tileCols)
		for i := r0; i < r1; i += tileCols {
			right := buf.b[(i-r0)*steps:][:tileCols*steps]
			for j := 0; j < c.Cols; j += tileRows {
				left := buf.a[j*steps:][:tileRows*steps]
				part := c.Block(i, min(r1, i+tileCols), j, min(c.Cols, j+tileRows))
				for q := range part.Rows {
					for k := range part.Cols {
						buf.edge[k*tileCols+q] = *part.At(q, k)
					}
				}
				tile(steps, alpha, left, right, buf.edge[:], tileCols)
				for q := range part.Rows {
					for k := range part.Cols {
						*part.At(q, k) = buf.edge[k*tileCols+q]
					}
				}
			}
		}
	}
}
