package kernel

import (
	"context"
	"runtime"
	"slices"
	"testing"

	"grfgp/graph"
	"grfgp/walk"
)

// TestPatterns: the columns of a pattern are the nodes that its rows reach in the order of first occurrence, or all nodes
// if these are more than half, for lists that are long enough for several processors, and labels are left as they were.
func TestPatterns(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const n = 60_000
	g, err := graph.Ring(n)
	if err != nil {
		t.Fatal(err)
	}
	opts := walk.Default()
	opts.MaxLen = 2
	f, err := walk.Sample(context.Background(), g.Normalized(graph.NormalizedAdjacency), opts)
	if err != nil {
		t.Fatal(err)
	}
	k, err := NewGRF(f, Diffusion{})
	if err != nil {
		t.Fatal(err)
	}
	some := func(count, from, step int) (rows []int) {
		for a := range count {
			rows = append(rows, (from+a*step)%n)
		}
		return rows
	}
	for _, rows := range [][]int{
		nil, {5}, some(500, 20, 7),
		some(20_000, 100, 1), // a third of all nodes
		some(30_000, 100, 1), // just more than half, with their neighbours
		some(29_990, 100, 1), // just less than half
		some(20_000, 0, 3),   // all
		some(16_384, 59_000, 2),
	} {
		first, seen := []uint32{}, map[uint32]bool{}
		for _, i := range rows {
			list, err := f.List(context.Background(), []int{i})
			if err != nil {
				t.Fatal(err)
			}
			for _, node := range list.Reached(0) {
				if !seen[node] {
					first, seen[node] = append(first, node), true
				}
			}
		}
		if 2*len(first) > n {
			first = nil
		}
		for _, threads := range []int{1, 2, 7} {
			runtime.GOMAXPROCS(threads)
			p := k.newPattern(rows)
			if !slices.Equal(p.Nodes, first) || (p.Nodes == nil) != (first == nil) {
				t.Errorf("%d rows at %d threads: %d columns, want %d", len(rows), threads, len(p.Nodes), len(first))
			}
			labels, giveBack := k.labels.Borrow(n)
			giveBack()
			if slices.ContainsFunc(labels, func(v uint32) bool { return v != 0 }) {
				t.Errorf("%d rows at %d threads: labels are left", len(rows), threads)
			}
			for a := range rows {
				for e, node := range p.List.Reached(a) {
					c := p.Col[p.Ptr[a]+e]
					if p.Nodes != nil {
						c = p.Nodes[c]
					}
					if c != node {
						t.Fatalf("entry %d of row %d is in the column of node %d, want %d", e, a, c, node)
					}
				}
			}
		}
	}
}
