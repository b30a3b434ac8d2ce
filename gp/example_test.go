package gp_test

import (
	"context"
	"fmt"
	"math"

	"grfgp/gp"
	"grfgp/graph"
	"grfgp/kernel"
)

// ring returns a model of a wave on a ring of 20 nodes, with known hyperparameters,
// and measurements of it at every other node of the first half.
func ring() (*gp.Model, gp.Data) {
	g, err := graph.Ring(20)
	if err != nil {
		panic(err)
	}
	k, err := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	if err != nil {
		panic(err)
	}
	m, err := gp.NewModel(k, gp.State{Theta: []float64{4, 8}, Noise: 0.01, Units: gp.Units{Scale: 1}, Solver: gp.Exact})
	if err != nil {
		panic(err)
	}
	var d gp.Data
	for i := 0; i <= 10; i += 2 {
		d.Nodes = append(d.Nodes, i)
		d.Y = append(d.Y, math.Sin(2*math.Pi*float64(i)/20))
	}
	return m, d
}

// posterior returns the model given the measurements.
func posterior() *gp.Posterior {
	m, d := ring()
	p, err := m.Condition(context.Background(), d)
	if err != nil {
		panic(err)
	}
	return p
}

// The mean follows the measurements and falls back to the prior far from them.
func ExamplePosterior_Mean() {
	mean, err := posterior().Mean(context.Background(), []int{4, 5, 15})
	fmt.Printf("%.2f %v\n", mean, err)
	// Output: [0.95 0.99 -0.22] <nil>
}

// The variance is that of the quantity, without noise.
func ExamplePosterior_Variance() {
	variance, err := posterior().Variance(context.Background(), []int{4, 5, 15})
	fmt.Printf("%.3f %v\n", variance, err)
	// Output: [0.008 0.008 0.487] <nil>
}

func ExamplePosterior_Covariance() {
	cov, err := posterior().Covariance(context.Background(), []int{14, 15}, []int{14, 15})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.3f %.3f\n", cov.RawRowView(0), cov.RawRowView(1))
	// Output: [0.442 0.442] [0.442 0.487]
}

// A draw is a function that the measurements leave possible; the mean of many is
// the posterior mean.
func ExamplePosterior_Sample() {
	const draws = 4000
	s, err := posterior().Sample(context.Background(), []int{15}, draws, 1)
	if err != nil {
		panic(err)
	}
	sum := 0.0
	for _, v := range s.RawRowView(0) {
		sum += v / draws
	}
	fmt.Printf("%.1f\n", sum)
	// Output: -0.2
}

func ExamplePosterior_LogMarginalLikelihood() {
	value, se, err := posterior().LogMarginalLikelihood(context.Background())
	fmt.Printf("%.2f ± %v %v\n", value, se, err)
	// Output: -2.25 ± 0 <nil>
}

// Held-out measurements: the likely one and the surprise.
func ExamplePosterior_LogDensity() {
	test := gp.Data{Nodes: []int{5, 5}, Y: []float64{1, 2}}
	density, err := posterior().LogDensity(context.Background(), test)
	fmt.Printf("%.1f %v\n", density, err)
	// Output: [1.1 -27.3] <nil>
}

// Every measurement predicted from the others, noise included.
func ExamplePosterior_LeaveOneOut() {
	mean, sd, err := posterior().LeaveOneOut()
	fmt.Printf("%.2f ± %.2f %v\n", mean[2], sd[2], err)
	// Output: 0.94 ± 0.22 <nil>
}

// A posterior can be conditioned on further measurements.
func ExamplePosterior_Condition() {
	p := posterior()
	q, err := p.Condition(context.Background(), gp.Data{Nodes: []int{15}, Y: []float64{-1}})
	if err != nil {
		panic(err)
	}
	mean, err := q.Mean(context.Background(), []int{14, 15})
	fmt.Printf("%.2f %v\n", mean, err)
	// Output: [-0.93 -0.98] <nil>
}

func ExamplePosterior_StandardizedResiduals() {
	z, err := posterior().StandardizedResiduals()
	fmt.Printf("%.1f %v\n", z[:3], err)
	// Output: [0.0 1.2 0.7] <nil>
}

// Measurement 0 predicted without 1, and without 1 and 2: the farther the data,
// the lower the density.
func ExampleModel_HeldOutLogDensity() {
	m, d := ring()
	density, err := m.HeldOutLogDensity(context.Background(), d, [][]int{{0, 1}, {0, 1, 2}})
	fmt.Printf("%.2f %v\n", density, err)
	// Output: [-0.61 -0.65] <nil>
}

// The noise variance and the kernel's hyperparameters are learned from data.
func ExampleFit() {
	g, err := graph.Ring(100)
	if err != nil {
		panic(err)
	}
	k, err := kernel.NewSeries(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{}, 200)
	if err != nil {
		panic(err)
	}
	var d gp.Data
	for i := 0; i < 100; i += 5 {
		d.Nodes = append(d.Nodes, i)
		d.Y = append(d.Y, math.Sin(2*math.Pi*float64(i)/100))
	}
	m, _, err := gp.Fit(context.Background(), k, d, gp.FitOptions{})
	if err != nil {
		panic(err)
	}
	p, err := m.Condition(context.Background(), d)
	if err != nil {
		panic(err)
	}
	mean, err := p.Mean(context.Background(), []int{27, 52})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.1f %.1f\n", mean[0], mean[1])
	// Output: 1.0 -0.1
}

func ExampleClassify() {
	g, err := graph.Grid(6, 6)
	if err != nil {
		panic(err)
	}
	k, err := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	if err != nil {
		panic(err)
	}
	l := gp.Labels{Nodes: []int{0, 1, 6, 29, 34, 35}, Class: []int{0, 0, 0, 1, 1, 1}, Classes: 2}
	c, _, err := gp.Classify(context.Background(), kernel.UnitVariance(k), l, gp.ClassifyOptions{})
	if err != nil {
		panic(err)
	}
	p, err := c.Probabilities(context.Background(), []int{7, 28}, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(p.At(0, 0) > p.At(0, 1), p.At(1, 0) < p.At(1, 1))
	// Output: true true
}

// Cases of a disease in 20 districts on a ring: how many there were, and how many were
// expected from the population.
func ExampleFit_counts() {
	g, _ := graph.Ring(20)
	k, _ := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	d := gp.Data{Nodes: []int{0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 16, 17, 18}}
	d.Y = []float64{9, 12, 16, 18, 14, 11, 4, 3, 2, 3, 1, 4, 6, 5, 9}
	for range d.Nodes {
		d.Exposure = append(d.Exposure, 7.5)
	}
	ctx := context.Background()
	m, _, _ := gp.Fit(ctx, k, d, gp.FitOptions{Values: gp.Counts})
	p, _ := m.Condition(ctx, d)
	districts, _ := p.Responses(ctx, []int{3, 11})
	for _, r := range districts {
		fmt.Printf("relative risk %.1f, from %.1f to %.1f; above 1 with probability %.2f\n", r.Mean(), r.Quantile(0.025), r.Quantile(0.975),
			r.Above(1))
		cases := r.Measurement(7.5)
		fmt.Printf("cases where 7.5 are expected: %v to %v\n", cases.Quantile(0.025), cases.Quantile(0.975))
	}
	// Output:
	// relative risk 2.2, from 1.6 to 2.9; above 1 with probability 1.00
	// cases where 7.5 are expected: 8 to 27
	// relative risk 0.3, from 0.2 to 0.5; above 1 with probability 0.00
	// cases where 7.5 are expected: 0 to 6
}
