package ranks

import (
	"context"
	"fmt"
	"slices"
	"unsafe"
)

// Rim is what a rank needs of the rows that others own: made once, and used in every
// product.
type Rim struct {
	group *Group
	lo    int        // the first row of this rank
	need  []uint32   // rows of others, in increasing order
	from  []int      // need[from[r]:from[r+1]] are owned by rank r
	send  [][]uint32 // per rank, its needs among the rows of this one
}

// NewRim tells all ranks which rows of others each of them needs. need is in increasing
// order and has no rows of this rank.
func (g *Group) NewRim(ctx context.Context, l Layout, need []uint32) (*Rim, error) {
	lo, hi := l.Range(g.Rank())
	for i, row := range need {
		if i > 0 && need[i-1] >= row || int(row) >= l.Rows() || int(row) >= lo && int(row) < hi {
			panic(fmt.Sprintf("ranks: need %d is not a row of others, in increasing order", row))
		}
	}
	rim := &Rim{group: g, lo: lo, need: need, from: make([]int, g.Size()+1)}
	for r := range g.Size() {
		_, end := l.Range(r)
		rim.from[r+1], _ = slices.BinarySearch(need, uint32(end))
	}
	asked := make([][]uint32, g.Size())
	for r := range asked {
		asked[r] = need[rim.from[r]:rim.from[r+1]]
	}
	var err error
	rim.send, err = Scatter(ctx, g, asked)
	return rim, err
}

// Need returns the rows of others, in the order in which Fill returns them.
func (r *Rim) Need() []uint32 { return r.need }

// Rows returns how many rows this rank receives and sends in every Fill.
func (r *Rim) Rows() (received, sent int) {
	for _, list := range r.send {
		sent += len(list)
	}
	return len(r.need), sent
}

// Fill sets the rows of ghosts, one for each row of Need, to those of their owners. own
// has the rows of this rank, which begin at multiples of stride; both have the given number
// of columns.
func Fill[T Number](ctx context.Context, r *Rim, ghosts, own []T, columns, stride int) error {
	if len(ghosts) != len(r.need)*columns {
		panic(fmt.Sprintf("ranks: %d numbers for %d rows of %d columns", len(ghosts), len(r.need), columns))
	}
	if r.group.Alone() {
		return nil
	}
	in, out := make([][]T, r.group.Size()), make([][]T, r.group.Size())
	for q, list := range r.send {
		in[q] = ghosts[r.from[q]*columns : r.from[q+1]*columns]
		packed := make([]T, len(list)*columns)
		for i, row := range list {
			copy(packed[i*columns:][:columns], own[(int(row)-r.lo)*stride:])
		}
		out[q] = packed
	}
	return Exchange(ctx, r.group, in, out)
}

// Bytes returns how many bytes this rank receives and sends in a Fill of numbers of
// type T.
func Bytes[T Number](r *Rim, columns int) (received, sent int) {
	var one T
	in, out := r.Rows()
	size := columns * int(unsafe.Sizeof(one))
	return in * size, out * size
}
