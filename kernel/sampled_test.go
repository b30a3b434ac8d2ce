package kernel

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/walk"
)

// Joined rows are those with an entry other than zero in the matrix itself, for
// every representation by features.
func TestJoined(t *testing.T) {
	g, err := graph.Ring(60)
	if err != nil {
		t.Fatal(err)
	}
	w := g.Normalized(graph.NormalizedAdjacency)
	f, err := walk.Sample(t.Context(), w, walk.Options{Walks: 5, Budget: 4, MaxLen: 4, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	grf, err := NewGRF(f, Diffusion{})
	if err != nil {
		t.Fatal(err)
	}
	low, err := NewLowRank(f, Diffusion{}, LowRankOptions{Dim: 3, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, 60)
	for i := range x {
		x[i] = rand.New(rand.NewPCG(1, uint64(i))).NormFloat64()
	}
	rows, cols := []int{50, 3, 12, 7, 30, 31, 3}, []int{0, 5, 5}
	truth, err := grf.At([]float64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	k := mat.NewDense(len(rows), len(cols), nil)
	if err := truth.Cross(rows, cols).Apply(t.Context(), k, mat.NewDense(3, 3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1})); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		kernel Kernel
		theta  []float64
	}{
		"grf": {grf, []float64{1, 2}}, "lowrank": {low, []float64{1, 2}}, "even": {UnitVariance(grf), []float64{1, 2}}, "trend": {Trend(grf, x), []float64{1, 2, 1}},
	} {
		cov, err := c.kernel.At(c.theta)
		if err != nil {
			t.Fatal(err)
		}
		joined, err := Joined(t.Context(), cov, rows, cols)
		if err != nil {
			t.Fatal(err)
		}
		any, none := false, false
		for a := range rows {
			want := mat.Norm(k.RowView(a), 1) != 0
			any, none = any || want, none || !want
			if joined[a] != want {
				t.Errorf("%s: node %d is joined: %v, want %v", name, rows[a], joined[a], want)
			}
		}
		if !any || !none {
			t.Fatal("all rows are alike: there is nothing to tell")
		}
		if fine, coarse := Samplings(cov); fine == nil || fine.Features != f || len(coarse) != 0 {
			t.Errorf("%s: rests on %v and %v, want its features", name, fine, coarse)
		}
	}
	series, err := NewSeries(w, Diffusion{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	cov, err := series.At([]float64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	if fine, coarse := Samplings(cov); fine != nil || coarse != nil {
		t.Errorf("an exact series rests on %v and %v", fine, coarse)
	}
}
