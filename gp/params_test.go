package gp

import (
	"math"
	"testing"

	"grfgp/graph"
	"grfgp/kernel"
)

// Readings without noise: the noise that is learned comes down to its floor, a
// millionth of the variance of the data, where that is likeliest. With three times
// the floor allowed, its standard deviation is below 0.18 % of theirs.
func TestNoiseComesDownToTheFloor(t *testing.T) {
	t.Parallel()
	g, err := graph.Ring(120)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.NewSeries(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{}, 200)
	if err != nil {
		t.Fatal(err)
	}
	d := Data{}
	for i := 0; i < 120; i += 2 {
		d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, 3*math.Sin(2*math.Pi*float64(i)/30))
	}
	m, _, err := Fit(background, k, d, FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if v := m.noise; v < 1e-6 || v > 3e-6 {
		t.Errorf("the noise variance is %.3g of that of the data, want 1e-6 to 3e-6", v)
	}
}
