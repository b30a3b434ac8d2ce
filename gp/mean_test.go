package gp

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Where a reading says next to nothing, draws are those of the prior: kernel and
// unknown mean together. With the mean ten times the kernel, variances of 4,000
// draws and the covariance of nodes in different components, which share nothing
// but the mean, are the exact ones within five standard errors, 5·√(2/4000) = 11 %.
// Draws at a few nodes and at all of them go two ways.
func TestDrawsOfTheUnknownMean(t *testing.T) {
	t.Parallel()
	const draws = 4000
	n := smallGraph(t).Len()
	d := Data{Nodes: []int{3}, Y: []float64{0}, NoiseVar: []float64{1e4}}
	for name, k := range kernels(t, smallGraph(t)) {
		theta := []float64{0.1, 3}
		if name == "free" {
			theta = []float64{0.3, 0.1, 0, 0, 0}
		}
		m, err := NewModel(k, State{Theta: theta, MeanVar: 1, Units: Units{Scale: 1}, Solver: Exact})
		if err != nil {
			t.Fatal(err)
		}
		p := step[*Posterior](t)(m.Condition(background, d))
		_, want := byFormula(t, m, d)
		if v := want.At(0, 31); math.Abs(v-1) > 1e-3 {
			t.Fatalf("%s: nodes of different components have covariance %v", name, v)
		}
		few, all := []int{0, 31, 33}, allNodes(n)
		for what, nodes := range map[string][]int{"a few": few, "all": all} {
			s := step[*mat.Dense](t)(p.Sample(background, nodes, draws, 7))
			row := func(i int) []float64 {
				if what == "all" {
					return s.RawRowView(i)
				}
				return s.RawRowView(map[int]int{0: 0, 31: 1, 33: 2}[i])
			}
			for _, pair := range [][2]int{{0, 0}, {31, 31}, {33, 33}, {0, 31}, {31, 33}} {
				sum := 0.0
				for q, v := range row(pair[0]) {
					sum += v * row(pair[1])[q] / draws
				}
				if ratio := sum / want.At(pair[0], pair[1]); math.Abs(ratio-1) > 0.112 {
					t.Errorf("%s, draws at %s: the covariance of nodes %d and %d is %.3f times the exact one", name, what, pair[0], pair[1], ratio)
				}
			}
		}
	}
}
