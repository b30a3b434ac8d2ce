package grfgp

import (
	"math/rand/v2"
	"slices"
	"testing"

	"grfgp/graph"
)

// Of a path measured at its first nodes, what is left out with a measurement is
// as near to it as data is to the other nodes: anything from 1 to 17 hops.
func TestApart(t *testing.T) {
	g, err := graph.Grid(20, 1)
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWorkshop(g, Spec{})
	if err != nil {
		t.Fatal(err)
	}
	nodes := w.internal([]int{0, 1, 2, 2})
	far := w.distances(nodes)
	slices.Sort(far)
	if want := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}; !slices.Equal(far, want) {
		t.Errorf("nodes without data lie %v hops from data, want %v", far, want)
	}
	at := map[int][]int{nodes[0]: {0}, nodes[1]: {1}, nodes[2]: {2, 3}}
	for _, c := range []struct {
		k, distance int
		want        []int
	}{{0, 0, []int{0}}, {0, 1, []int{0, 1}}, {0, 2, []int{0, 1, 2, 3}}, {3, 0, []int{3, 2}}, {3, 9, []int{3, 0, 1, 2}}} {
		got := w.near(c.k, nodes[c.k], c.distance, at)
		if got[0] != c.k || !slices.Equal(slices.Sorted(slices.Values(got[1:])), slices.Sorted(slices.Values(c.want[1:]))) {
			t.Errorf("within %d hops of measurement %d: %v, want %v", c.distance, c.k, got, c.want)
		}
	}
	for k, list := range w.apart(nodes) {
		if len(list) == 0 {
			t.Errorf("list %d is empty", k)
		}
	}
}

// The highest gain is above the true one in all but one case of forty, for which
// 1,000 trials allow 10 to 45.
func TestHighestGain(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	below := 0
	for range 1000 {
		a, b := make([]float64, 100), make([]float64, 100)
		for k := range a {
			b[k] = random.NormFloat64()
			a[k] = b[k] + 0.5 + random.NormFloat64()
		}
		if highestGain(a, b) < 0.5 {
			below++
		}
	}
	if below < 10 || below > 45 {
		t.Errorf("%d of 1,000 are below the truth", below)
	}
}
