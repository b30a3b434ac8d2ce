package spread

import (
	"context"
	"fmt"
	"math"

	"grfgp/internal/parallel"
	"grfgp/internal/ranks"
	"grfgp/sparse"
)

// Transpose is the pattern of the transpose, and the way of values to it: each entry
// goes to the rank that owns its column.
type Transpose struct {
	*Pattern
	group *ranks.Group
	send  [][]uint32 // per rank, the entries that go there, in stored order
	count []int      // per rank, the entries that come from there
	to    []uint32   // where each arriving entry goes
}

// Transposed returns the pattern of the transpose. Columns of its rows increase, as
// those of CSR.T do. All ranks call it together.
func (p *Pattern) Transposed(ctx context.Context) (*Transpose, error) {
	if len(p.col) > math.MaxUint32 {
		return nil, fmt.Errorf("%d entries of one rank: take more ranks", len(p.col))
	}
	g := p.group
	t := &Transpose{group: g, send: make([][]uint32, g.Size()), count: make([]int, g.Size())}
	first, _ := p.rows.Range(g.Rank())
	ends := make([][]uint32, g.Size()) // column and row of the entries for each rank
	r, from, end := 0, 0, 0            // the owner of the last column, and its columns
	for i := range len(p.ptr) - 1 {
		for e := p.ptr[i]; e < p.ptr[i+1]; e++ {
			if j := int(p.col[e]); j < from || j >= end {
				r = p.cols.Owner(j)
				from, end = p.cols.Range(r)
			}
			t.send[r] = append(t.send[r], uint32(e))
			ends[r] = append(ends[r], p.col[e], uint32(first+i))
		}
	}
	arrived, err := ranks.Scatter(ctx, g, ends)
	if err != nil {
		return nil, err
	}
	lo, hi := p.cols.Range(g.Rank())
	ptr := make([]int, hi-lo+1)
	total := 0
	for r, list := range arrived {
		t.count[r] = len(list) / 2
		total += t.count[r]
		for e := 0; e < len(list); e += 2 {
			ptr[int(list[e])-lo+1]++
		}
	}
	for j := range hi - lo {
		ptr[j+1] += ptr[j]
	}
	next := append([]int(nil), ptr...)
	col := make([]uint32, total)
	t.to = make([]uint32, 0, total)
	for _, list := range arrived { // ranks in order, so that rows increase
		for e := 0; e < len(list); e += 2 {
			j := int(list[e]) - lo
			col[next[j]] = list[e+1]
			t.to = append(t.to, uint32(next[j]))
			next[j]++
		}
	}
	t.Pattern, err = NewPattern(ctx, g, p.cols, p.rows, ptr, col)
	return t, err
}

// Carry sets dst to the values of the transpose, given those of the original pattern. All
// ranks call it together.
func Carry[F sparse.Float](ctx context.Context, t *Transpose, dst, val []F) error {
	self := t.group.Rank()
	out, in := make([][]F, t.group.Size()), make([][]F, t.group.Size())
	for r, list := range t.send {
		if r == self {
			continue
		}
		out[r], in[r] = make([]F, len(list)), make([]F, t.count[r])
		for k, e := range list {
			out[r][k] = val[e]
		}
	}
	if err := ranks.Exchange(ctx, t.group, in, out); err != nil {
		return err
	}
	at := 0
	for r, list := range in {
		to := t.to[at:][:t.count[r]]
		at += t.count[r]
		if r == self {
			parallel.Ranges(len(to), 1<<16, func(lo, hi int) {
				for k := lo; k < hi; k++ {
					dst[to[k]] = val[t.send[self][k]]
				}
			})
			continue
		}
		for k, v := range list {
			dst[to[k]] = v
		}
	}
	return nil
}
