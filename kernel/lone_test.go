package kernel_test

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/kernel/kerneltest"
	"grfgp/walk"
)

// withLone returns a grid with lone nodes, and these.
func withLone(t *testing.T) (*graph.Graph, []int) {
	t.Helper()
	const side, alone = 7, 4
	var e graph.Edges
	for i := range side * side {
		for _, j := range []int{i + 1, i + side} {
			if j < side*side && (j == i+side || j%side > 0) {
				e.U, e.V = append(e.U, uint32(i)), append(e.V, uint32(j))
			}
		}
	}
	ids := graph.NewIDs(0)
	for i := range side*side + alone {
		ids.Intern([]byte(strconv.Itoa(i)))
	}
	g, _, err := graph.FromEdges(ids, e, graph.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return g, g.Lone()
}

// A kernel with lone nodes satisfies the contract, is unchanged between the others, and
// has there the spread that draws of the others have.
func TestLone(t *testing.T) {
	g, lone := withLone(t)
	w := g.Normalized(graph.NormalizedAdjacency)
	if len(lone) != 4 {
		t.Fatalf("lone nodes %v", lone)
	}
	features, err := walk.Sample(t.Context(), w, walk.Default())
	if err != nil {
		t.Fatal(err)
	}
	series, err := kernel.NewSeries(w, kernel.Matern{Nu: 1}, 12)
	if err != nil {
		t.Fatal(err)
	}
	dense, err := kernel.NewDense(w, kernel.Diffusion{})
	if err != nil {
		t.Fatal(err)
	}
	layers, _ := kernel.NewLayers(dense, dense)
	for name, inner := range map[string]kernel.Kernel{
		"features": newGRF(t, features, kernel.Diffusion{}), "series": series, "dense": dense,
		"unit variance": kernel.UnitVariance(dense), "layers": layers,
		"many scales": newMultiscale(t, g, nil, kernel.Diffusion{}, 10),
	} {
		t.Run(name, func(t *testing.T) {
			k := kernel.Lone(inner, lone)
			kerneltest.Run(t, k, kerneltest.Options{})
			kerneltest.Forwards(t, inner, k)
			theta := kernel.Starts(inner)[0]
			before, after := gramOfAll(t, inner, theta), gramOfAll(t, k, theta)
			spread, mean, count := 0.0, 0.0, 0.0
			for i := range g.Len() {
				for j := range g.Len() {
					alone := slices.Contains(lone, i) || slices.Contains(lone, j)
					switch {
					case !alone && after.At(i, j) != before.At(i, j):
						t.Fatalf("entry %d, %d changed from %v to %v", i, j, before.At(i, j), after.At(i, j))
					case alone && i != j && after.At(i, j) != 0:
						t.Fatalf("entry %d, %d of a lone node is %v", i, j, after.At(i, j))
					case !alone && i == j:
						spread, count = spread+before.At(i, i), count+1
					}
					if !alone {
						mean += before.At(i, j)
					}
				}
			}
			want := spread/count - mean/count/count
			for _, i := range lone {
				if got := after.At(i, i); math.Abs(got-want) > 1e-9*want {
					t.Errorf("variance %v of lone node %d, want %v; it was %v", got, i, want, before.At(i, i))
				}
			}
		})
	}
	if k := kernel.Lone(dense, nil); k != kernel.Kernel(dense) {
		t.Errorf("without lone nodes the kernel is %T", k)
	}
}

// The spread is that of at most 256 of the other nodes, at equal distances among them.
func TestLoneSample(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 256, 257, 1000, 5000} {
		for _, every := range []int{1, 2, 3, 700} {
			var nodes, others, want []int
			for i := range n {
				if i%every == 0 {
					nodes = append(nodes, i)
				} else {
					others = append(others, i)
				}
			}
			for a := 0; a < len(others); a += (len(others) + 255) / 256 {
				want = append(want, others[a])
			}
			if len(want) < 2 {
				want = nil
			}
			if got := kernel.LoneSample(kernel.Lone(kernel.Constant(n), append(nodes, 0))); !slices.Equal(got, want) {
				t.Errorf("%d lone nodes of %d: a sample of %d, want %d", len(nodes), n, len(got), len(want))
			}
		}
	}
	if k := kernel.Constant(5); kernel.Lone(k, nil) != k {
		t.Error("another kernel on a graph without lone nodes")
	}
}
