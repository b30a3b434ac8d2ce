package objective_test

import (
	"fmt"
	"log"
	"slices"

	"grfgp/lab/objective"
)

func ExampleSinglePeak() {
	task, err := objective.SinglePeak(100)
	if err != nil {
		log.Fatal(err)
	}
	// Regret is the difference between the best entry of the table and that of a node.
	best := slices.Max(task.Table)
	fmt.Println(task.Graph.Len(), "nodes,", task.Graph.Edges(), "edges")
	fmt.Printf("best %.3f, regret of node 0 %.3f, noise %.3f\n", best, best-task.Table[0], task.NoiseSD)
	// Output:
	// 10000 nodes, 19800 edges
	// best 3.715, regret of node 0 4.323, noise 0.200
}

func ExampleRing() {
	task, err := objective.Ring(8, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f\n", task.Truth)
	// Output: [0.50 1.71 0.80 -2.29 0.50 1.29 0.20 -2.71]
}
