package kernel_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/kernel"
)

// benchEvaluation measures Gram and GramGrad, what one evaluation of the likelihood
// needs beside a Cholesky factor.
func benchEvaluation(b *testing.B, k kernel.Kernel, nodes []int) {
	k = kernel.Cached(k, nodes, 3<<30)
	h, g := mat.NewSymDense(len(nodes), nil), mat.NewSymDense(len(nodes), nil)
	for i := range nodes {
		for j := i; j < len(nodes); j++ {
			g.SetSym(i, j, float64((i*7+j*3)%11)-5)
		}
	}
	theta := kernel.Starts(k)[0]
	evaluate := func(gram, grad bool) {
		cov, err := k.At(theta)
		if err != nil {
			b.Fatal(err)
		}
		if gram {
			if err := cov.Gram(b.Context(), h, nodes); err != nil {
				b.Fatal(err)
			}
		}
		if grad {
			if err := cov.GramGrad(b.Context(), make([]float64, len(theta)), nodes, g); err != nil {
				b.Fatal(err)
			}
		}
	}
	evaluate(true, true) // fills the cache
	b.Run("gram", func(b *testing.B) {
		for b.Loop() {
			evaluate(true, false)
		}
	})
	b.Run("gradient", func(b *testing.B) {
		for b.Loop() {
			evaluate(false, true)
		}
	})
}

// BenchmarkCovariates has T = 2,000 measurements on 4,000 nodes.
func BenchmarkCovariates(b *testing.B) {
	const nodes, measured = 4000, 2000
	list := rand.New(rand.NewPCG(1, 2)).Perm(nodes)[:measured]
	few, many := covariates(nodes, 7), covariates(nodes, 256)
	groups := []int{0, 1, 2, 3, 4, 5, 6}
	g, err := graph.BarabasiAlbert(nodes, 3, 1)
	if err != nil {
		b.Fatal(err)
	}
	w := g.Normalized(graph.NormalizedAdjacency)
	local, err := kernel.NewSeries(w, kernel.Diffusion{}, 12)
	if err != nil {
		b.Fatal(err)
	}
	for name, k := range map[string]kernel.Kernel{
		"linear of 256": kernel.Linear(many),
		"graph":         local,
		"five terms": kernel.Sum(local, kernel.Linear(many), kernel.Smooth(many, nil, kernel.RBF), kernel.Linear(few),
			kernel.Smooth(few, groups, kernel.RBF)),
		"product with smooth": kernel.Product(local, kernel.Smooth(few, groups, kernel.RBF)),
		"unit variance":       kernel.UnitVariance(local),
		"fourier":             kernel.Fourier(few, groups, kernel.RBF, 256, 1),
	} {
		b.Run(name, func(b *testing.B) { benchEvaluation(b, k, list) })
	}
	for _, shape := range kernel.Shapes() {
		b.Run(fmt.Sprintf("smooth %v of 7 groups", shape), func(b *testing.B) { benchEvaluation(b, kernel.Smooth(few, groups, shape), list) })
		b.Run(fmt.Sprintf("smooth %v of 256 columns", shape), func(b *testing.B) { benchEvaluation(b, kernel.Smooth(many, nil, shape), list) })
	}
}
