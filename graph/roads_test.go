package graph

import "testing"

// TestRoads: one component with the degrees of streets, some of its edges long.
func TestRoads(t *testing.T) {
	t.Parallel()
	const rows, cols = 200, 300
	g := must[*Graph](t)(Roads(rows, cols, 1))
	_, sizes := g.Components()
	degree := 2 * float64(g.Edges()) / float64(g.Len())
	if len(sizes) != 1 || g.Len() < 0.85*rows*cols || g.Len() > 0.97*rows*cols || degree < 2.5 || degree > 2.9 {
		t.Errorf("%d components, %d nodes, mean degree %.2f", len(sizes), g.Len(), degree)
	}
	if other := must[*Graph](t)(Roads(rows, cols, 1)); other.Hash() != g.Hash() {
		t.Error("the same seed gives another graph")
	}
	if other := must[*Graph](t)(Roads(rows, cols, 2)); other.Hash() == g.Hash() {
		t.Error("another seed gives the same graph")
	}
	for _, bad := range [][2]int{{1, 5}, {5, 0}, {1 << 20, 1 << 20}} {
		if _, err := Roads(bad[0], bad[1], 1); err == nil {
			t.Errorf("roads on %d × %d", bad[0], bad[1])
		}
	}
}
