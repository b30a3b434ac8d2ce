package graph

import (
	"crypto/sha256"
	"fmt"

	"grfgp/sparse"
)

// Arrays are all that an ordered graph consists of, as plain arrays that can be
// written to a file and mapped into memory.
type Arrays struct {
	RowPtr []int     // where the entries of each node begin, and one more
	Col    []uint32  // per entry: the neighbour
	Val    []float64 // per entry: the weight
	Text   []byte    // all ids, one after the other
	End    []int     // where each id ends
	From   []uint32  // From[k] was node k before Ordered; empty if all kept their number

	Hash [sha256.Size]byte // of the graph
}

// Arrays returns the arrays of an ordered graph, to be read only.
func (g *Graph) Arrays() (Arrays, error) {
	if !g.ordered {
		return Arrays{}, fmt.Errorf("%w: arrays of a graph that is not ordered", ErrInvalid)
	}
	a := Arrays{End: g.ids.end, From: g.from, Hash: g.Hash()}
	a.RowPtr, a.Col, a.Val = g.adj.Raw()
	if n := g.Len(); n > 0 {
		a.Text = g.ids.text[:g.ids.end[n-1]]
	}
	return a, nil
}

// FromArrays returns the ordered graph that consists of the arrays, without copying them: they
// must not change afterwards. It checks that no number leads outside an array, but
// takes symmetry, order and hash as given.
func FromArrays(a Arrays) (*Graph, error) {
	n := len(a.RowPtr) - 1
	if len(a.End) != n || len(a.From) != 0 && len(a.From) != n {
		return nil, fmt.Errorf("%w: arrays of different lengths", ErrInvalid)
	}
	adj, err := sparse.NewCSR(n, n, a.RowPtr, a.Col, a.Val)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	for p, v := range a.Val {
		if !(v > 0) {
			return nil, fmt.Errorf("%w: entry %d has the weight %v", ErrInvalid, p, v)
		}
	}
	last := 0
	for i, end := range a.End {
		if end < last || end > len(a.Text) {
			return nil, fmt.Errorf("%w: id %d ends at byte %d of %d", ErrInvalid, i, end, len(a.Text))
		}
		last = end
	}
	if last != len(a.Text) {
		return nil, fmt.Errorf("%w: ids end at byte %d of %d", ErrInvalid, last, len(a.Text))
	}
	g := &Graph{adj: adj, ids: &IDs{text: a.Text[:last:last], end: a.End[:n:n]}, ordered: true, hash: &a.Hash}
	if len(a.From) > 0 {
		seen := make([]uint64, n/64+1)
		for _, i := range a.From {
			if int(i) >= n || seen[i/64]>>(i%64)&1 != 0 {
				return nil, fmt.Errorf("%w: the order of the nodes is no order of %d nodes", ErrInvalid, n)
			}
			seen[i/64] |= 1 << (i % 64)
		}
		g.from = a.From
	}
	return g, nil
}
