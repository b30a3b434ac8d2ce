package grfgp_test

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/graph"
)

// One step of Thompson sampling on a grid of 1,000,000 nodes after 2,000
// measurements, with the kernel chosen automatically: one measurement is added and
// one node suggested. Set GRFGP_MILLION=1; training takes a minute before.
func BenchmarkThompsonStepMillion(b *testing.B) {
	if os.Getenv("GRFGP_MILLION") == "" {
		b.Skip("set GRFGP_MILLION=1 for a million nodes")
	}
	const side, told = 1000, 2000
	g, err := graph.Grid(side, side)
	if err != nil {
		b.Fatal(err)
	}
	schedule := bayesopt.Schedule{First: told, Every: math.MaxInt32, Drift: -1}
	o, err := grfgp.NewOptimizer(g, grfgp.Spec{}, bayesopt.Options{Goal: bayesopt.Maximize, Retrain: schedule})
	if err != nil {
		b.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	measure := func(i int) {
		x, y := float64(i/side)/(side/2)-1.2, float64(i%side)/(side/2)-0.7
		if err := o.Tell(i, 2*math.Exp(-x*x/0.18-y*y/0.32)+0.1*random.NormFloat64()); err != nil {
			b.Fatal(err)
		}
	}
	for _, i := range random.Perm(side * side)[:told] {
		measure(i)
	}
	step := func() {
		nodes, _, err := o.Next(b.Context(), bayesopt.Request{Count: 1})
		if err != nil {
			b.Fatal(err)
		}
		measure(nodes[0])
	}
	step() // learns
	for b.Loop() {
		step()
	}
}
