package graph

import (
	"runtime"
	"slices"
	"testing"
)

// naiveTriangles looks at all triples of nodes.
func naiveTriangles(g *Graph) []int {
	a, n := g.Adjacency(), g.Len()
	joined := make([]bool, n*n)
	for i := range n {
		cols, _ := a.Row(i)
		for _, j := range cols {
			joined[i*n+int(j)] = true
		}
	}
	counts := make([]int, n)
	for i := range n {
		for j := range i {
			for k := range j {
				if joined[i*n+j] && joined[j*n+k] && joined[i*n+k] {
					counts[i]++
					counts[j]++
					counts[k]++
				}
			}
		}
	}
	return counts
}

func TestTriangles(t *testing.T) {
	t.Parallel()
	for name, g := range structures(t) {
		got, ok := g.Triangles(1 << 20)
		if want := naiveTriangles(g); !ok || !slices.Equal(got, want) {
			t.Errorf("%s: triangles %v (%v), want %v", name, got, ok, want)
		}
	}
}

// TestTrianglesThreads: more than one block of nodes, on one processor and on several.
func TestTrianglesThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	g, err := BarabasiAlbert(5000, 5, 2)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := g.Triangles(1 << 30)
	runtime.GOMAXPROCS(5)
	if got, _ := g.Triangles(1 << 30); !slices.Equal(got, want) {
		t.Error("the number of triangles depends on the number of processors")
	}
}

func TestTrianglesBound(t *testing.T) {
	t.Parallel()
	g, err := Ring(3) // two edges point to the last node, one to the second: one comparison
	if err != nil {
		t.Fatal(err)
	}
	if counts, ok := g.Triangles(0); ok || counts != nil {
		t.Errorf("counted %v beyond the bound", counts)
	}
	if counts, ok := g.Triangles(1); !ok || !slices.Equal(counts, []int{1, 1, 1}) {
		t.Errorf("%v (%v) within the bound, want one triangle each", counts, ok)
	}
}
