package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"

	"grfgp/graph"
	"grfgp/sparse"
)

// A chain that has grown is the chain of its list alone, with scales whose nodes all belong to it
// and scales of which some do.
func TestGrownChain(t *testing.T) {
	t.Parallel()
	const side = 120
	g, err := graph.Grid(side, side)
	if err != nil {
		t.Fatal(err)
	}
	n := g.Len()
	random := rand.New(rand.NewPCG(3, 1))
	var scales []scale
	for _, width := range []int{n / 8, n / 60, 40} {
		rows := 0
		if rows = n; len(scales) > 0 {
			_, rows = scales[len(scales)-1].prolong.Dims()
		}
		var ptr []int
		var col []uint32
		var val []float64
		ptr = append(ptr, 0)
		for i := range rows {
			at := i * width / rows
			for _, j := range []int{at, min(width-1, at+1+random.IntN(3)), max(0, at-2)} {
				col, val = append(col, uint32(j)), append(val, random.Float64())
			}
			ptr = append(ptr, len(col))
		}
		q, err := sparse.NewCSR(rows, width, ptr, col, val)
		if err != nil {
			t.Fatal(err)
		}
		scales = append(scales, scale{prolong: q})
	}
	for _, sorted := range []bool{false, true} {
		lists := growing(random, n, sorted)
		last := newChain(lists[0], scales)
		before := lists[0]
		shared := 0
		for _, rows := range lists[1:] {
			var others []int
			at := 0
			for a, i := range rows {
				if at < len(before) && before[at] == i {
					at++
				} else {
					others = append(others, a)
				}
			}
			got, want := grownChain(rows, scales, last, others), newChain(rows, scales)
			for k := range scales {
				if !slices.Equal(got.nodes[k+1], want.nodes[k+1]) {
					t.Fatalf("%d rows, sorted %v: other nodes of scale %d", len(rows), sorted, k+1)
				}
				if !sameMatrix(got.up[k].Raw())(want.up[k].Raw()) {
					t.Fatalf("%d rows, sorted %v: another interpolation from scale %d", len(rows), sorted, k+1)
				}
				if got.up[k] == last.up[k] {
					shared++
				}
			}
			last, before = got, rows
		}
		if shared == 0 {
			t.Errorf("sorted %v: nothing is shared", sorted)
		}
	}
}

// Lists of any length increase if and only if no place differs.
func TestIncreasing(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 1000, 1 << 15, 1<<15 + 1, 100_000} {
		rows := upTo(n)
		if !increasing(rows) {
			t.Errorf("%d rows in order do not increase", n)
		}
		for _, a := range []int{0, n / 2, 1 << 15, n - 1} {
			if a < 0 || a >= n {
				continue
			}
			rows[a]++
			if increasing(rows) {
				t.Errorf("%d rows increase, although place %d differs", n, a)
			}
			rows[a]--
		}
	}
}
