package gp

import (
	"math"
	"testing"
)

// Labels as normal variables, in log odds, for α_ε = 0.01 as Milios et al. have it:
// a label adds one, so that
//
//	own class: σ² = log(1 + 1/1.01) = 0.688184, log 1.01 − σ²/2 = −0.334142
//	another:   σ² = log 101 = 4.615121, log 0.01 − σ²/2 = −6.912730
//
// whatever the number of classes, and standardised targets have mean 0 and variance
// 1 where classes are equally frequent.
func TestDirichletLabels(t *testing.T) {
	t.Parallel()
	k := kernels(t, smallGraph(t))["grf"]
	for _, classes := range []int{2, 3, 10} {
		l := Labels{Nodes: []int{0, 1}, Class: []int{0, 1}, Classes: classes}
		r, scale := newRegressions(Dirichlet, k, l, nil)
		about(t, "noise of a label's own class", r.own.noise*scale*scale, 0.688184, 1e-6)
		about(t, "noise of another class", r.other.noise*scale*scale, 4.615121, 1e-6)
		about(t, "distance of the targets", (r.own.target-r.other.target)*scale, 6.912730-0.334142, 1e-6)
		share := 1 / float64(classes)
		mean := share*r.own.target + (1-share)*r.other.target
		variance := share*r.own.target*r.own.target + (1-share)*r.other.target*r.other.target
		if math.Abs(mean) > 1e-12 || math.Abs(variance-1) > 1e-12 {
			t.Errorf("%d classes: targets have mean %v and variance %v", classes, mean, variance)
		}
	}
}
