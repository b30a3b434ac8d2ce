package bench

import (
	"context"
	"math"
	"testing"
	"time"

	"grfgp/graph"
)

func TestFitFindsThePower(t *testing.T) {
	var points []ScalingPoint
	for bits := 4; bits <= 12; bits++ {
		n := 1 << bits
		wiggle := 1 + 0.02*float64(bits%2)
		points = append(points, ScalingPoint{n, 3e-6 * math.Pow(float64(n), 1.25) * wiggle, 0})
	}
	e := fit(points, func(p ScalingPoint) float64 { return p.Seconds })
	if e.Lower > 1.25 || e.Upper < 1.25 || e.Upper-e.Lower > 0.05 {
		t.Errorf("exponent %+v, want an interval about 1.25", e)
	}
}

func TestSmallRuns(t *testing.T) {
	defer func(p time.Duration) { patience = p }(patience)
	patience = 0
	ctx := context.Background()
	sampled, err := Sampling(ctx, Limits{RandomReads: 1e8}, 2000, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(sampled) != 6 {
		t.Fatalf("%d rows, want 6", len(sampled))
	}
	for _, s := range sampled {
		if s.Seconds <= 0 || s.Size.Rows != 2000 {
			t.Errorf("%+v", s)
		}
	}
	products, err := Product(ctx, Limits{Triad: 1e10}, 40)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range products {
		if p.Rows != 1600 || p.BytesPerSec <= 0 {
			t.Errorf("%+v", p)
		}
	}
	regressions, _, _, err := Regressions(ctx, 8, 10, 1)
	if err != nil {
		t.Fatal(err)
	}
	dense, err := RegressOnRing(ctx, 1<<10, 10, 50, true, 1)
	if err != nil {
		t.Fatal(err)
	}
	// Both arms learn the same model from the same data by the same steps; they
	// differ in the tolerance of solves, 3 % while learning, alone.
	if sparse := regressions[2]; math.Abs(dense.RMSE-sparse.RMSE) > 0.05*sparse.RMSE || dense.RMSE > 0.5 {
		t.Errorf("RMSE %v dense, %v sparse", dense.RMSE, sparse.RMSE)
	} else {
		t.Logf("RMSE %v dense, %v sparse", dense.RMSE, sparse.RMSE)
	}
	growth, err := Scaling(ctx, 5, 7, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range growth {
		if len(g.Points) != 3 {
			t.Errorf("%+v", g)
		}
	}
}

// At no more stored entries the default sampler is at least as accurate as the
// paper's walks, in rows and in kernel.
func TestAccuracyAtEqualStorage(t *testing.T) {
	g, err := graph.BarabasiAlbert(1500, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	all, err := Accuracies(context.Background(), []Named{{"hubs", g}}, []float64{2, 10}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(all); i += 2 {
		paper, ours := all[i], all[i+1]
		if ours.Stored > paper.Stored || ours.RowError > paper.RowError || ours.KernelError > paper.KernelError {
			t.Errorf("paper %+v, ours %+v", paper, ours)
		}
	}
}
