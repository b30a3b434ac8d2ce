package graph

import (
	"slices"
	"testing"
)

// Two paths, 0-1-2-3-4 and 5-6, and a lone node 7.
func TestSearch(t *testing.T) {
	t.Parallel()
	g := build(t, 8, false, [3]float64{0, 1, 1}, [3]float64{1, 2, 1}, [3]float64{2, 3, 1}, [3]float64{3, 4, 1}, [3]float64{5, 6, 1})
	s := NewSearch(g)
	for range 2 { // a Search can be used again
		var nodes, hops []int
		for i, h := range s.From(4, 0, 4) {
			nodes, hops = append(nodes, i), append(hops, h)
		}
		if !slices.Equal(nodes, []int{4, 0, 3, 1, 2}) || !slices.Equal(hops, []int{0, 0, 1, 1, 2}) {
			t.Errorf("from 4 and 0: nodes %v at %v hops", nodes, hops)
		}
	}
	for i, h := range s.From(2) {
		if h > 0 {
			if i != 1 {
				t.Errorf("first beside 2 comes %d", i)
			}
			break
		}
	}
	for _, c := range []struct {
		from, hops []int
		unreached  []int // sizes
	}{
		{nil, []int{-1, -1, -1, -1, -1, -1, -1, -1}, []int{5, 2, 1}},
		{[]int{1, 6}, []int{1, 0, 1, 2, 3, 1, 0, -1}, []int{1}},
		{[]int{7, 7}, []int{-1, -1, -1, -1, -1, -1, -1, 0}, []int{5, 2}},
	} {
		hops := g.Hops(c.from)
		nodes, sizes := g.Unreached(c.from)
		if !slices.Equal(hops, c.hops) || !slices.Equal(sizes, c.unreached) {
			t.Errorf("from %v: hops %v, want %v; unreached %v, want %v", c.from, hops, c.hops, sizes, c.unreached)
		}
		for i, h := range hops {
			if nodes[i] != (h < 0) {
				t.Errorf("from %v: node %d has %d hops, unreached %v", c.from, i, h, nodes[i])
			}
		}
	}
}
