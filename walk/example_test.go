package walk_test

import (
	"context"
	"fmt"
	"log"

	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/walk"
)

// From a graph to the sparse factor Φ of a diffusion kernel ΦΦᵀ.
func ExampleSample() {
	g, err := graph.Grid(30, 30)
	if err != nil {
		log.Fatal(err)
	}
	opts := walk.Default()
	opts.Scale = g.WalkScale(graph.NormalizedAdjacency)
	features, err := walk.Sample(context.Background(), g.Normalized(graph.NormalizedAdjacency), opts)
	if err != nil {
		log.Fatal(err)
	}
	f := make([]float64, features.MaxLen()+1)
	kernel.Diffusion{}.Coeffs(f, []float64{1, 2})
	phi, err := features.Combine(f)
	if err != nil {
		log.Fatal(err)
	}
	size := features.Size()
	fmt.Println(size.Rows, "rows,", size.ExactRows, "exact,", phi.NNZ(), "entries")
	// Output: 900 rows, 900 exact, 154680 entries
}

// What a node reaches, and with what weight at which length.
func ExampleFeatures_Row() {
	g, err := graph.Ring(6)
	if err != nil {
		log.Fatal(err)
	}
	opts := walk.Default()
	opts.MaxLen = 2
	features, err := walk.Sample(context.Background(), g.Normalized(graph.NormalizedAdjacency), opts)
	if err != nil {
		log.Fatal(err)
	}
	for e := range features.Row(0) {
		fmt.Println(e.Node, e.Lengths, e.Values)
	}
	// Output:
	// 0 [0 2] [1 0.5]
	// 1 [1] [0.5]
	// 5 [1] [0.5]
	// 2 [2] [0.25]
	// 4 [2] [0.25]
}

// How large and how far off features would be, before they are sampled.
func ExamplePilot() {
	g, err := graph.BarabasiAlbert(2000, 3, 1)
	if err != nil {
		log.Fatal(err)
	}
	opts := walk.Default()
	opts.MaxLen = 5
	opts.Scale = g.WalkScale(graph.NormalizedAdjacency)
	f := make([]float64, opts.MaxLen+1)
	kernel.Diffusion{}.Coeffs(f, []float64{1, 2})
	e, err := walk.Pilot(context.Background(), g.Normalized(graph.NormalizedAdjacency), opts, f, 200)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("error below 5 %:", e.Error < 0.05)
	fmt.Println("fits into 10 MB:", e.PeakBytes < 10_000_000)
	// Output:
	// error below 5 %: true
	// fits into 10 MB: true
}
