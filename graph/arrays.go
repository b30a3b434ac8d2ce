package graph

import (
	"crypto/sha256"
	"fmt"
	"sync/atomic"

	"grfgp/internal/parallel"
	"grfgp/sparse"
)

// Arrays are all that an ordered graph consists of, as plain arrays that can be
// written to a file and mapped into memory.
type Arrays struct {
	RowPtr []int     // where the entries of each node begin, and one more
	Col    []uint32  // per entry: the neighbour
	Val    []float64 // per entry: the weight
	Num    []uint32  // ids that are all whole numbers below 2³²
	Text   []byte    // other ids, one after the other
	End    []int     // where each of these ends
	From   []uint32  // From[k] was node k before Ordered; empty if all kept their number

	Hash [sha256.Size]byte // of the graph
}

// Arrays returns the arrays of an ordered graph, to be read only.
func (g *Graph) Arrays() (Arrays, error) {
	if !g.ordered {
		return Arrays{}, fmt.Errorf("%w: arrays of a graph that is not ordered", ErrInvalid)
	}
	l := g.Layout()
	a := Arrays{Num: l.Numbers(), From: l.From(), Hash: g.Hash()}
	a.RowPtr, a.Col, a.Val = g.adj.Raw()
	a.Text, a.End = l.Texts()
	return a, nil
}

// FromArrays returns the ordered graph that consists of the arrays, without copying them: they
// must not change afterwards. It checks that no number leads outside an array, but
// takes symmetry, order and hash as given.
func FromArrays(a Arrays) (*Graph, error) {
	n := len(a.RowPtr) - 1
	if len(a.Num)+len(a.End) != n || min(len(a.Num), len(a.End)) > 0 || len(a.From) != 0 && len(a.From) != n {
		return nil, fmt.Errorf("%w: arrays of different lengths", ErrInvalid)
	}
	adj, err := sparse.NewCSR(n, n, a.RowPtr, a.Col, a.Val)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if p := firstOf(len(a.Val), func(p int) bool { return !(a.Val[p] > 0) }); p >= 0 {
		return nil, fmt.Errorf("%w: entry %d has the weight %v", ErrInvalid, p, a.Val[p])
	}
	if i := firstOf(len(a.End), func(i int) bool { return a.End[i] < a.End[max(0, i-1)] || a.End[i] < 0 || a.End[i] > len(a.Text) }); i >= 0 {
		return nil, fmt.Errorf("%w: id %d ends at byte %d of %d", ErrInvalid, i, a.End[i], len(a.Text))
	}
	last := 0
	if len(a.End) > 0 {
		last = a.End[n-1]
	}
	if last != len(a.Text) {
		return nil, fmt.Errorf("%w: ids end at byte %d of %d", ErrInvalid, last, len(a.Text))
	}
	ids := &IDs{form: asTexts, n: n, text: a.Text[:last:last], end: a.End[:len(a.End):len(a.End)]}
	if len(a.End) == 0 {
		ids = &IDs{form: asNumbers, n: n, num: a.Num[:n:n]}
	}
	g := &Graph{adj: adj, ids: ids, ordered: true, hash: &a.Hash}
	if len(a.From) > 0 {
		seen := make([]atomic.Uint64, n/64+1)
		if firstOf(n, func(k int) bool {
			i := a.From[k]
			return int(i) >= n || seen[i/64].Or(1<<(i%64))>>(i%64)&1 != 0
		}) >= 0 {
			return nil, fmt.Errorf("%w: the order of the nodes is no order of %d nodes", ErrInvalid, n)
		}
		g.from = a.From
	}
	return g, nil
}

// firstOf returns the first place in [0, n) that is bad, or -1; places are looked at by several
// threads.
func firstOf(n int, bad func(k int) bool) int {
	const size = 1 << 16
	found := make([]int, (n+size-1)/size)
	parallel.Ranges(n, size, func(lo, hi int) {
		found[lo/size] = -1
		for k := lo; k < hi; k++ {
			if bad(k) {
				found[lo/size] = k
				return
			}
		}
	})
	for _, k := range found {
		if k >= 0 {
			return k
		}
	}
	return -1
}
