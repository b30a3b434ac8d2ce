package bench

import (
	"context"
	"math"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"grfgp/graph"
	"grfgp/internal/testkit"
	"grfgp/lab/objective"
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
	testkit.Unraced(t)
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
	dense, err := (&RingRun{Nodes: 1 << 10, Hops: ringHops, Epochs: ringEpochs, Dense: true, Seed: 1}).Regress(ctx)
	if err != nil {
		t.Fatal(err)
	}
	// Both methods learn the same model from the same data by the same steps; they
	// differ only in the tolerance of solves, 3 % during learning.
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

// At equal storage, the default sampler is at least as accurate as the paper's walks, in
// rows and in the kernel.
func TestAccuracyAtEqualStorage(t *testing.T) {
	testkit.Full(t)
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
		// Storage was matched on the first draw; other draws differ slightly.
		if ours.Stored > 1.001*paper.Stored || ours.RowRatio < 1 || ours.KernelRatio-2*ours.KernelRatioSD < 1 {
			t.Errorf("paper %+v, ours %+v", paper, ours)
		}
		if paper.RowRatio != 1 || paper.KernelRatioSD != 0 || ours.KernelRatioSD == 0 || ours.Draws < 2 || ours.RowErrorSD > ours.RowError {
			t.Errorf("paper %+v, ours %+v", paper, ours)
		}
	}
}

// Many scales are as good as one if one reaches far enough, and better otherwise; they
// need fewer iterations than the diagonal preconditioner.
func TestMultiscales(t *testing.T) {
	testkit.Full(t)
	ring := Task{"ring", 100, func(seed uint64) (*objective.Task, error) { return objective.Ring(2048, seed) }}
	said := 0
	m, err := Multiscales(context.Background(), 7, 8, []Task{ring}, 1, func(string, ...any) { said++ })
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Ring) != 4 || len(m.Tasks) != 2 || said != 6 {
		t.Fatalf("%d rings and %d tasks, %d lines", len(m.Ring), len(m.Tasks), said)
	}
	for k := 0; k < len(m.Ring); k += 2 {
		one, many := m.Ring[k], m.Ring[k+1]
		if one.Scales != "one" || many.Scales != "many" || len(many.Coarse) == 0 || many.RMSE > 1.1*one.RMSE || many.RMSE > 0.15 {
			t.Errorf("one %+v, many %+v", one, many)
		}
		// 26 and 51 test nodes: three standard errors of a share of 0.95.
		if many.Coverage < 0.95-3*math.Sqrt(0.05*0.95/26) || many.Bytes <= 0 || many.Total() <= 0 {
			t.Errorf("many %+v beside %v bytes on one", many, one.Bytes)
		}
	}
	if i := m.Iterations; i.Nodes != 128 || i.Own < 1 || i.Own >= i.Jacobi || i.Residual > i.Tol {
		t.Errorf("%+v", i)
	}
	one, many := m.Tasks[0], m.Tasks[1]
	if many.RMSE > 0.15 || many.R2 < 0.99 || one.RMSE < 2*many.RMSE || many.Test != 2048-100 || many.TrueSD != 0.1 {
		t.Errorf("one %+v, many %+v", one, many)
	}
	t.Logf("one %.4f, many %.4f, coverage %.3f", one.RMSE, many.RMSE, many.Coverage)
}

// The averaged field has mean 0 and variance 1, is correlated between neighbours, and is
// reproducible.
func TestAverages(t *testing.T) {
	g, err := graph.Grid(40, 40)
	if err != nil {
		t.Fatal(err)
	}
	a, b := averages("grid", g, 1), averages("grid", g, 1)
	mean, sd := stat.PopMeanStdDev(a.Truth, nil)
	if math.Abs(mean) > 1e-9 || math.Abs(sd-1) > 1e-9 {
		t.Errorf("mean %v, standard deviation %v", mean, sd)
	}
	if like := stat.Correlation(a.Truth[1:], a.Truth[:1599], nil); like < 0.8 {
		t.Errorf("neighbours correlate by %.3f", like)
	}
	noise := 0.0
	for i, v := range a.Table {
		if v != b.Table[i] {
			t.Fatalf("node %d is %v, then %v", i, v, b.Table[i])
		}
		noise += (v - a.Truth[i]) * (v - a.Truth[i]) / 1600
	}
	if math.Abs(math.Sqrt(noise)-0.1) > 0.01 { // five standard errors
		t.Errorf("noise %.4f", math.Sqrt(noise))
	}
}
