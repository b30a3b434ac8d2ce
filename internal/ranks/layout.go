package ranks

import (
	"fmt"
	"slices"
)

// BlockRows is the number of rows that are never split: the sums of a block are taken
// one after another, on one rank.
const BlockRows = 1024

// Layout says which rows each rank owns: rank r has the rows [starts[r], starts[r+1]).
// A rank may own none.
type Layout struct{ starts []int }

// Even returns the layout of n rows in which ranks own as equal numbers of blocks as
// can be.
func Even(n, size int) Layout {
	blocks := (n + BlockRows - 1) / BlockRows
	starts := make([]int, size+1)
	for r := range starts {
		starts[r] = min(n, r*blocks/size*BlockRows)
	}
	return Layout{starts}
}

// OfSizes returns the layout in which rank r owns so many rows. Rows can be added up over
// ranks (Group.Sum) only if all ranks but the last with some have whole blocks.
func OfSizes(sizes []int) Layout {
	starts := make([]int, len(sizes)+1)
	for r, n := range sizes {
		starts[r+1] = starts[r] + n
	}
	return Layout{starts}
}

// check returns an error if a block is split.
func (l Layout) check() error {
	for r, start := range l.starts[:l.Size()] {
		if l.starts[r+1] > start && start%BlockRows != 0 {
			return fmt.Errorf("rank %d owns rows from %d on, within a block of %d rows", r, start, BlockRows)
		}
	}
	return nil
}

// Size returns the number of ranks.
func (l Layout) Size() int { return len(l.starts) - 1 }

// Rows returns the number of all rows.
func (l Layout) Rows() int { return l.starts[len(l.starts)-1] }

// Range returns the rows of a rank, [lo, hi).
func (l Layout) Range(rank int) (lo, hi int) { return l.starts[rank], l.starts[rank+1] }

// Owner returns the rank that owns a row.
func (l Layout) Owner(row int) int {
	if row < 0 || row >= l.Rows() {
		panic(fmt.Sprintf("ranks: row %d of %d", row, l.Rows()))
	}
	r, found := slices.BinarySearch(l.starts, row)
	if !found {
		return r - 1
	}
	for l.starts[r+1] == row { // ranks without rows
		r++
	}
	return r
}

// blocks returns the blocks of a rank, [lo, hi).
func (l Layout) blocks(rank int) (lo, hi int) {
	first, last := l.Range(rank)
	return (first + BlockRows - 1) / BlockRows, (last + BlockRows - 1) / BlockRows
}
