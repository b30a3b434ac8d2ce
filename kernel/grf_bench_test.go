package kernel_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/walk"
)

// training is a kernel on a ring with ten hops and a random 60 % of its nodes.
func training(b *testing.B, n int) (*kernel.GRF, []int) {
	b.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	var rows []int
	for i := range n {
		if random.Float64() < 0.6 {
			rows = append(rows, i)
		}
	}
	return newGRF(b, ringFeatures(b, n, 10), kernel.Diffusion{}), rows
}

// The parts of a training step at the size of the scaling experiment.
func BenchmarkGRF(b *testing.B) {
	k, rows := training(b, 1<<20)
	cov := atStart(b, k)
	op := cov.Cross(rows, rows)
	for _, width := range []int{1, 16, 64} {
		x, dst := block(len(rows), width), mat.NewDense(len(rows), width, nil)
		b.Run(fmt.Sprintf("Apply/%d", width), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := op.Apply(b.Context(), dst, x); err != nil {
					b.Fatal(err)
				}
			}
		})
		grad := make([]float64, len(k.Params()))
		b.Run(fmt.Sprintf("Grad/%d", width), func(b *testing.B) {
			for b.Loop() {
				if err := cov.Grad(b.Context(), grad, rows, x, dst); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("Cross", func(b *testing.B) { // with new hyperparameters
		for b.Loop() {
			atStart(b, k).Cross(rows, rows)
		}
	})
	prior := mat.NewDense(k.Nodes(), 16, nil)
	b.Run("Prior/16", func(b *testing.B) {
		for b.Loop() {
			if err := cov.Prior(b.Context(), prior, 1); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// The parts of an exact fit to some hundred nodes whose walks reach most of a
// graph.
func BenchmarkGRFGram(b *testing.B) {
	g, err := graph.Grid(32, 32)
	f := sampled(b, g, err, func(o *walk.Options) { o.MaxLen, o.Budget = 20, 2000 })
	k := newGRF(b, f, kernel.Diffusion{})
	cov := atStart(b, k)
	rows := rand.New(rand.NewPCG(1, 2)).Perm(1024)[:250]
	dst, grad := mat.NewSymDense(len(rows), nil), make([]float64, len(k.Params()))
	b.Run("Gram", func(b *testing.B) {
		for b.Loop() {
			if err := cov.Gram(b.Context(), dst, rows); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("GramGrad", func(b *testing.B) {
		for b.Loop() {
			if err := cov.GramGrad(b.Context(), grad, rows, dst); err != nil {
				b.Fatal(err)
			}
		}
	})
}
