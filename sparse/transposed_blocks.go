package sparse

import (
	"slices"

	"grfgp/internal/parallel"
)

// rowBlocks is what TransposedBlocks returns.
type rowBlocks struct {
	size    int
	t       *CSR
	columns []uint32
	starts  []int
}

// TransposedBlocks returns the transposes of blocks of so many rows, one below the other and
// without empty rows: a product with it has the sums of every block by themselves. Row q of
// t is column columns[q] of A, in block b where starts[b] ≤ q < starts[b+1]; within a block,
// columns increase. The result for the size used last is kept.
func (a *CSR) TransposedBlocks(size int) (t *CSR, columns []uint32, starts []int) {
	a.blocksMu.Lock()
	defer a.blocksMu.Unlock()
	if a.blocks == nil || a.blocks.size != size {
		a.blocks = a.transposedBlocks(size)
	}
	return a.blocks.t, a.blocks.columns, a.blocks.starts
}

func (a *CSR) transposedBlocks(size int) *rowBlocks {
	n := (a.rows + size - 1) / size
	met := make([][]uint32, n) // columns of each block
	parallel.Ranges(n, 1, func(b, _ int) {
		own := slices.Clone(a.colIdx[a.rowPtr[b*size]:a.rowPtr[min(a.rows, (b+1)*size)]])
		slices.Sort(own)
		met[b] = slices.Clone(slices.Compact(own))
	})
	r := &rowBlocks{size: size, starts: make([]int, n+1), columns: slices.Concat(met...)}
	for b, own := range met {
		r.starts[b+1] = r.starts[b] + len(own)
	}
	rowPtr := make([]int, len(r.columns)+1)
	colIdx, val := make([]uint32, len(a.colIdx)), make([]float64, len(a.val))
	parallel.Ranges(n, 1, func(b, _ int) {
		first, end := b*size, min(a.rows, (b+1)*size)
		place := make([]uint32, a.rowPtr[end]-a.rowPtr[first]) // of each entry among the columns of the block
		next := make([]int, len(met[b])+1)
		for e, j := range a.colIdx[a.rowPtr[first]:a.rowPtr[end]] {
			at, _ := slices.BinarySearch(met[b], j)
			place[e] = uint32(at)
			next[at+1]++
		}
		next[0] = a.rowPtr[first]
		for q := range met[b] {
			next[q+1] += next[q]
			rowPtr[r.starts[b]+q+1] = next[q+1]
		}
		for i := first; i < end; i++ {
			for e := a.rowPtr[i]; e < a.rowPtr[i+1]; e++ {
				at := place[e-a.rowPtr[first]]
				colIdx[next[at]], val[next[at]] = uint32(i), a.val[e]
				next[at]++
			}
		}
	})
	r.t = &CSR{rows: len(r.columns), cols: a.rows, rowPtr: rowPtr, colIdx: colIdx, val: val}
	return r
}
