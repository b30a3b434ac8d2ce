package grfgp_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grfgp"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/testkit"
)

// A dependence on the degree is learned as a trend: at unmeasured nodes the error
// is that of the noise, 0.1, within a third (four standard errors of 200 nodes
// are a fifth, and of 100 in the quick suite 0.28). Roles, which contain the degree, are
// left out. No trend is chosen if values have none, nor on a grid.
func TestTrend(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	ctx := context.Background()
	g, err := graph.BarabasiAlbert(testkit.Size(500, 1600), 3, 5)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	order := random.Perm(g.Len())
	var trend, flat, test gp.Data
	measured := testkit.Size(100, 200)
	for k, i := range order[:2*measured] {
		noise := 0.1 * random.NormFloat64()
		y := math.Log(float64(g.Degrees()[i])) + noise
		if k >= measured {
			test.Nodes, test.Y = append(test.Nodes, i), append(test.Y, y)
			continue
		}
		trend.Nodes, trend.Y = append(trend.Nodes, i), append(trend.Y, y)
		flat.Nodes, flat.Y = append(flat.Nodes, i), append(flat.Y, noise)
	}
	rmse := func(d gp.Data, want string) float64 {
		m, err := grfgp.Fit(ctx, g, d, grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Method: "grf"}, Roles: "none"})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Choice().Trend; got != want {
			t.Errorf("trend %q, want %q: %q", got, want, m.Choice().Why)
		}
		var file bytes.Buffer
		if err := m.Save(&file); err != nil {
			t.Fatal(err)
		}
		if m, err = grfgp.Load(ctx, &file, g); err != nil {
			t.Fatal(err)
		}
		p, err := m.Predict(ctx, test.Nodes)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for k, y := range test.Y {
			sum += (y - p.Mean[k]) * (y - p.Mean[k])
		}
		return math.Sqrt(sum / float64(test.Len()))
	}
	if got := rmse(trend, "degree"); got > 0.133 {
		t.Errorf("RMSE %.3f, the noise is 0.1", got)
	}
	rmse(flat, "none")
	grid, d := field(t, 15)
	m, err := grfgp.Fit(ctx, grid, d, grfgp.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(m.Choice().Why, "degrees vary too little for a trend") {
		t.Errorf("grid: %q", m.Choice().Why)
	}
	ring, err := graph.Ring(30)
	if err != nil {
		t.Fatal(err)
	}
	few := gp.Data{Nodes: []int{1, 5, 9}, Y: []float64{1, 2, 4}}
	if _, err := grfgp.Fit(ctx, ring, few, grfgp.Spec{Expression: grfgp.Expression{Trend: "degree"}}); !errors.Is(err, grfgp.ErrSpec) {
		t.Errorf("a trend with equal degrees: %v", err)
	}
	labels := gp.Labels{Nodes: []int{0, 1}, Class: []int{0, 1}, Classes: 2}
	if _, err := grfgp.Classify(ctx, grid, labels, grfgp.Spec{Expression: grfgp.Expression{Trend: "degree"}},
		gp.Dirichlet); !errors.Is(err, grfgp.ErrSpec) {
		t.Errorf("classes with a trend: %v", err)
	}
}
