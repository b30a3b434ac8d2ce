package kernel_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/walk"
)

// A kernel by random features: the covariance of nodes, and draws from the prior.
func ExampleNewGRF() {
	ctx := context.Background()
	g, err := graph.Grid(30, 30)
	if err != nil {
		log.Fatal(err)
	}
	opts := walk.Default()
	opts.Scale = g.WalkScale(graph.NormalizedAdjacency)
	features, err := walk.Sample(ctx, g.Normalized(graph.NormalizedAdjacency), opts)
	if err != nil {
		log.Fatal(err)
	}
	k, err := kernel.NewGRF(features, kernel.Diffusion{})
	if err != nil {
		log.Fatal(err)
	}
	cov, err := k.At([]float64{1, 4}) // variance, beta
	if err != nil {
		log.Fatal(err)
	}
	gram := mat.NewSymDense(3, nil)
	if err := cov.Gram(ctx, gram, []int{435, 436, 445}); err != nil { // in one row of the grid
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n", mat.Formatted(gram))
	draws := mat.NewDense(k.Nodes(), 2, nil)
	if err := cov.Prior(ctx, draws, 1); err != nil {
		log.Fatal(err)
	}
	fmt.Println(draws.Dims())
	// Output:
	// ⎡0.095  0.066  0.000⎤
	// ⎢0.066  0.095  0.000⎥
	// ⎣0.000  0.000  0.095⎦
	// 900 2
}
