package spread

import (
	"context"

	"grfgp/internal/ranks"
)

// Transpose is the pattern of the transpose, and the way of values to it: each entry
// goes to the rank that owns its column.
type Transpose struct {
	*Pattern
	group *ranks.Group
	send  [][]int // per rank, the entries that go there, in stored order
	count []int   // per rank, the entries that come from there
	to    []int   // where each arriving entry goes
}

// Transposed returns the pattern of the transpose. Columns of its rows increase, as
// those of CSR.T do. All ranks call it together.
func (p *Pattern) Transposed(ctx context.Context) (*Transpose, error) {
	g := p.group
	t := &Transpose{group: g, send: make([][]int, g.Size()), count: make([]int, g.Size())}
	first, _ := p.rows.Range(g.Rank())
	ends := make([][]uint32, g.Size()) // column and row of the entries for each rank
	for i := range len(p.ptr) - 1 {
		for e := p.ptr[i]; e < p.ptr[i+1]; e++ {
			r := p.cols.Owner(int(p.col[e]))
			t.send[r] = append(t.send[r], e)
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
	t.to = make([]int, 0, total)
	for _, list := range arrived { // ranks in order, so that rows increase
		for e := 0; e < len(list); e += 2 {
			j := int(list[e]) - lo
			col[next[j]] = list[e+1]
			t.to = append(t.to, next[j])
			next[j]++
		}
	}
	t.Pattern, err = NewPattern(ctx, g, p.cols, p.rows, ptr, col)
	return t, err
}

// Of returns the transpose of the matrix that has the given values in the original
// pattern. All ranks call it together.
func (t *Transpose) Of(ctx context.Context, val []float64) (*Matrix, error) {
	out, in := make([][]float64, t.group.Size()), make([][]float64, t.group.Size())
	for r, list := range t.send {
		out[r], in[r] = make([]float64, len(list)), make([]float64, t.count[r])
		for k, e := range list {
			out[r][k] = val[e]
		}
	}
	if err := ranks.Exchange(ctx, t.group, in, out); err != nil {
		return nil, err
	}
	sorted, at := make([]float64, len(t.to)), 0
	for _, list := range in {
		for _, v := range list {
			sorted[t.to[at]] = v
			at++
		}
	}
	return t.With(sorted)
}
