package gp

import (
	"math"
	"testing"
)

// Predicting from afar is conditioning on all but the list.
func TestApart(t *testing.T) {
	g := smallGraph(t)
	for name, k := range kernels(t, g) {
		d := someData(g.Len(), 12, 8)
		m, _, err := Fit(background, k, d, FitOptions{})
		if err != nil {
			t.Fatal(err)
		}
		lists := [][]int{{3}, {0, 5, 7}, {11, 1}}
		scores, err := m.Apart(background, d, lists)
		if err != nil {
			t.Fatal(err)
		}
		for s, list := range lists {
			var rest Data
			out := map[int]bool{}
			for _, i := range list {
				out[i] = true
			}
			for i := range d.Len() {
				if !out[i] {
					rest.Nodes, rest.Y = append(rest.Nodes, d.Nodes[i]), append(rest.Y, d.Y[i])
				}
			}
			p := step[*Posterior](t)(m.Condition(background, rest))
			at := d.Nodes[list[0]]
			mean, variance := step[[]float64](t)(p.Mean(background, []int{at})), step[[]float64](t)(p.Variance(background, []int{at}))
			scale := m.units.Scale
			want := logNormal(d.Y[list[0]], mean[0], variance[0]+p.NoiseVar()) + math.Log(scale)
			if math.Abs(scores[s]-want) > 1e-8 {
				t.Errorf("%s: list %v has %v, want %v", name, list, scores[s], want)
			}
		}
	}
}
