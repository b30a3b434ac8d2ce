package gp

import (
	"math"
	"testing"

	"grfgp/kernel"
)

// Draws of the latent functions have the exact mean and variance of every class:
// of 4,000 draws, means within five standard errors and variances within
// 5·√(2/4000) = 11 %, at labelled nodes and at others.
func TestLatentDrawsHaveTheMoments(t *testing.T) {
	t.Parallel()
	const draws = 4000
	l, nodes := someLabels(25, 3), []int{0, 4, 17, 31, 33}
	for _, method := range []ClassMethod{Dirichlet, OneVsAll} {
		k := kernel.UnitVariance(kernels(t, smallGraph(t))["grf"])
		p, theta := startOf(t, k, method)
		c, err := (&tuner{kernel: k, labels: l, params: p, method: method, solver: Exact}).condition(background, l, theta, uncalibrated)
		if err != nil {
			t.Fatal(err)
		}
		want, err := c.exact.predict(background, nodes, nil)
		if err != nil {
			t.Fatal(err)
		}
		f, err := c.draw(background, nodes, draws, 7, nil)
		if err != nil {
			t.Fatal(err)
		}
		for r, i := range nodes {
			for class := range l.Classes {
				mean, variance := want.Mean.At(r, class), want.Variance.At(r, class)
				sum, square := 0.0, 0.0
				for _, v := range f.RawRowView(r)[class*draws:][:draws] {
					sum += v / draws
					square += (v - mean) * (v - mean) / draws
				}
				if math.Abs(sum-mean) > 5*math.Sqrt(variance/draws) || math.Abs(square/variance-1) > 0.112 {
					t.Errorf("%v, node %d, class %d: draws have mean %.3f and variance %.3f, want %.3f and %.3f", method, i, class, sum, square, mean,
						variance)
				}
			}
		}
	}
}
