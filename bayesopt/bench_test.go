package bayesopt_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"grfgp/bayesopt"
	"grfgp/gp"
	"grfgp/graph"
)

// One step of Thompson sampling on a grid of 40,000 nodes after 500 measurements:
// one measurement is added and one node suggested.
func BenchmarkThompsonStep(b *testing.B) {
	const side = 200
	k := grf(must(graph.Grid(side, side)), 10, 100)
	trainer := bayesopt.Train(k, gp.FitOptions{Fixed: true, Starts: [][]float64{{1, 10}}})
	o := must(bayesopt.New(trainer, bayesopt.Options{Retrain: bayesopt.Schedule{First: 500, Every: math.MaxInt32, Drift: -1}}))
	truth := hill(side)
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(side * side)[:500] {
		if err := o.Tell(i, truth(i)); err != nil {
			b.Fatal(err)
		}
	}
	step := func() {
		nodes, _, err := o.Next(b.Context(), bayesopt.Request{Count: 1})
		if err != nil {
			b.Fatal(err)
		}
		if err := o.Tell(nodes[0], truth(nodes[0])); err != nil {
			b.Fatal(err)
		}
	}
	step() // trains
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
}

// Eight picks of VarianceReduction on a grid of 10,000 nodes, after 200
// measurements.
func BenchmarkVarianceReduction(b *testing.B) {
	p := posterior(b, grf(must(graph.Grid(100, 100)), 10, 100), 200, 1)
	for b.Loop() {
		must(bayesopt.VarianceReduction{}.Pick(b.Context(), p, candidates(10_000, all(10_000), bayesopt.Limits{}), 8, 1))
	}
}
