package gp

import (
	"slices"
	"testing"

	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/walk"
)

// A search that draws after every measurement has the bits of one that is told all measurements
// at once, whatever the kernel has kept in between.
func TestExtendWithDrawsBetween(t *testing.T) {
	t.Parallel()
	g, err := graph.Grid(50, 50)
	if err != nil {
		t.Fatal(err)
	}
	g = g.Ordered()
	const first, last = 300, 312
	d := someData(g.Len(), last, 3)
	d.Nodes[305] = d.Nodes[7] // measured twice
	all := allNodes(g.Len())
	post, numbers := step[*Posterior](t), step[[]float64](t)
	for _, many := range []bool{false, true} {
		base := func() *Posterior {
			opts := walk.Default()
			opts.MaxLen, opts.Walks, opts.Budget = 5, 8, 20
			f, err := walk.Lazy(g.Normalized(graph.NormalizedAdjacency), opts)
			if err != nil {
				t.Fatal(err)
			}
			var k kernel.Kernel
			if k, err = kernel.NewGRF(f, kernel.Diffusion{}); err != nil {
				t.Fatal(err)
			}
			if many {
				if k, err = manyScales(t, g, k); err != nil {
					t.Fatal(err)
				}
			}
			m := step[*Model](t)(NewModel(k, State{Theta: startsOf(k), Noise: 0.1, MeanVar: 1, Units: Units{5, 2}, Solver: Exact}))
			return post(m.Condition(t.Context(), d.Slice(0, first)))
		}
		once := post(base().Condition(t.Context(), d.Slice(first, last)))
		bit := base()
		for k := first; k < last; k++ {
			bit = post(bit.Condition(t.Context(), d.Slice(k, k+1)))
			if _, err := bit.Sample(t.Context(), all, 1+k%3, 1); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(bit.alpha, once.alpha) {
			t.Errorf("many scales %v: weights are not as in one go", many)
		}
		if !slices.Equal(numbers(bit.StandardizedResiduals()), numbers(once.StandardizedResiduals())) {
			t.Errorf("many scales %v: residuals are not as in one go", many)
		}
		for draws := 1; draws < 8; draws += 3 {
			got, err := bit.Sample(t.Context(), all, draws, 9)
			if err != nil {
				t.Fatal(err)
			}
			want, err := once.Sample(t.Context(), all, draws, 9)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.RawMatrix().Data, want.RawMatrix().Data) {
				t.Errorf("many scales %v: %d draws are not as in one go", many, draws)
			}
		}
	}
}

// startsOf returns the starting values of a kernel.
func startsOf(k kernel.Kernel) []float64 {
	var theta []float64
	for _, p := range k.Params() {
		theta = append(theta, p.Start)
	}
	return theta
}
