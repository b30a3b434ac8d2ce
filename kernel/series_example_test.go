package kernel_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/kernel"
)

// The exact diffusion kernel on a ring that is far too large for a dense matrix.
func ExampleNewSeries() {
	ring, err := graph.Ring(100_000)
	if err != nil {
		fmt.Println(err)
		return
	}
	w := ring.Normalized(graph.NormalizedAdjacency)
	family := kernel.Diffusion{}
	theta := []float64{1, 20} // variance, beta
	hops, _ := kernel.Hops(family, theta, 1e-12, 1000)
	series, err := kernel.NewSeries(w, family, hops)
	if err != nil {
		fmt.Println(err)
		return
	}
	cov, err := series.At(theta)
	if err != nil {
		fmt.Println(err)
		return
	}
	rows := []int{0, 1, 5, 20}
	k := mat.NewSymDense(len(rows), nil)
	if err := cov.Gram(context.Background(), k, rows); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.5f\n", mat.Formatted(k))
	// Output:
	// ⎡0.08978  0.08751  0.04744  0.00001⎤
	// ⎢0.08751  0.08978  0.05964  0.00002⎥
	// ⎢0.04744  0.05964  0.08978  0.00036⎥
	// ⎣0.00001  0.00002  0.00036  0.08978⎦
}
