package graph_test

import (
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
)

func ExampleFromEdges() {
	ids := graph.NewIDs(0)
	var e graph.Edges
	for _, road := range []struct {
		from, to string
		weight   float64
	}{
		{"Ulm", "Bonn", 0.5},
		{"Bonn", "Ulm", 0.25}, // a second road: weights add up
		{"Bonn", "Kiel", 2},
		{"Kiel", "Kiel", 1}, // a self loop is dropped
	} {
		e.U = append(e.U, uint32(ids.Intern([]byte(road.from))))
		e.V = append(e.V, uint32(ids.Intern([]byte(road.to))))
		e.W = append(e.W, road.weight)
	}
	g, counts, err := graph.FromEdges(ids, e, graph.BuildOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g.Len(), "nodes,", g.Edges(), "edges,", counts.Repeats, "repeat,", counts.Loops, "self loop")
	for i, strength := range g.Strengths() {
		fmt.Println(g.IDs().At(i), strength)
	}
	// Output:
	// 3 nodes, 2 edges, 1 repeat, 1 self loop
	// Ulm 0.75
	// Bonn 2.75
	// Kiel 2
}

func ExampleRing() {
	g, err := graph.Ring(5)
	if err != nil {
		log.Fatal(err)
	}
	neighbours, _ := g.Adjacency().Row(0)
	fmt.Println(g.Edges(), neighbours)
	// Output: 5 [1 4]
}

func ExampleGrid() {
	g, err := graph.Grid(3, 4)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g.Len(), g.Edges(), g.Degrees())
	// Output: 12 17 [2 3 3 2 3 4 4 3 2 3 3 2]
}

func ExampleStochasticBlock() {
	// Two groups that keep to themselves.
	g, err := graph.StochasticBlock([]int{50, 50}, func(a, b int) float64 {
		if a == b {
			return 0.5
		}
		return 0
	}, 1)
	if err != nil {
		log.Fatal(err)
	}
	_, sizes := g.Components()
	fmt.Println(sizes)
	// Output: [50 50]
}

func ExampleKNN() {
	// Fiji and Samoa face each other across the date line.
	places := mat.NewDense(4, 2, []float64{
		-18.1, 178.4, // Suva
		-13.8, -171.8, // Apia
		52.5, 13.4, // Berlin
		48.9, 2.4, // Paris
	})
	g, err := graph.KNN(places, 1, graph.GreatCircle)
	if err != nil {
		log.Fatal(err)
	}
	for i := range g.Len() {
		neighbours, _ := g.Adjacency().Row(i)
		fmt.Println(i, neighbours)
	}
	// Output:
	// 0 [1]
	// 1 [0]
	// 2 [3]
	// 3 [2]
}

func ExampleGraph_Ordered() {
	// A path whose nodes are numbered at random: 2-1-4-0-3.
	g, _, err := graph.FromEdges(graph.NumberIDs(5), graph.Edges{
		U: []uint32{2, 1, 4, 0},
		V: []uint32{1, 4, 0, 3},
	}, graph.BuildOptions{})
	if err != nil {
		log.Fatal(err)
	}
	g = g.Ordered()
	for i := range g.Len() {
		fmt.Println("node", i, "is", g.IDs().At(i))
	}
	fmt.Println("as given:", g.InputOrder())
	// Output:
	// node 0 is 2
	// node 1 is 1
	// node 2 is 4
	// node 3 is 0
	// node 4 is 3
	// as given: [3 1 0 4 2]
}

func ExampleGraph_Normalized() {
	g, err := graph.Ring(4)
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range []graph.Normalization{graph.NormalizedAdjacency, graph.NormalizedLaplacian} {
		w := g.Normalized(n)
		fmt.Println(n, w.At(0, 0), w.At(0, 1), w.At(0, 2))
	}
	// Output:
	// normalized-adjacency 0 0.5 0
	// normalized-laplacian 1 -0.5 0
}

func ExampleGraph_Coarsen() {
	g, err := graph.Ring(4096)
	if err != nil {
		log.Fatal(err)
	}
	for _, level := range g.Coarsen(100) {
		below, cells := level.Prolong.Dims()
		fmt.Println(below, "nodes in", cells, "cells")
	}
	// Output:
	// 4096 nodes in 1024 cells
	// 1024 nodes in 256 cells
	// 256 nodes in 64 cells
}
