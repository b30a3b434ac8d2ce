package grfgp_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
	"grfgp/kernel"
)

// drawnOverTime draws a function of node and time on a ring, and measures a third of the
// places with noise of sd 0.2.
func drawnOverTime(t testing.TB, nodes, periods int, seed uint64) (g *graph.Graph, times, truth []float64, d gp.Data) {
	t.Helper()
	g, err := graph.Ring(nodes)
	if err != nil {
		t.Fatal(err)
	}
	own, err := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	if err != nil {
		t.Fatal(err)
	}
	for p := range periods {
		times = append(times, float64(p))
	}
	cov, err := kernel.OverTime(own, times).At([]float64{2, 6, 5, 2})
	if err != nil {
		t.Fatal(err)
	}
	f := mat.NewDense(nodes*periods, 1, nil)
	if err := cov.Prior(t.Context(), f, seed); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rng.New(seed, "drawn over time"))
	for place := range nodes * periods {
		truth = append(truth, 3+f.At(place, 0))
		if r.IntN(3) == 0 {
			d.Nodes, d.Y = append(d.Nodes, place), append(d.Y, truth[place]+0.2*r.NormFloat64())
		}
	}
	return g, times, truth, d
}

// 95 % intervals hold 95 % of the true values at places that were not measured, with
// about 240 measurements, within 0.02. Values near in space and time are alike, so that
// the standard error is taken from the scatter of thirty functions: it must be at most
// 0.0075. With hyperparameters taken as known, intervals hold half a point less. In the last period the squared error is at most 0.8 of
// that of independent periods. The quick suite has two functions.
func TestPlacesCover(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const nodes, periods = 60, 12
	functions := testkit.Size(2, 30)
	var coverage []float64
	joint, separate := 0.0, 0.0
	for seed := range uint64(functions) {
		g, times, truth, d := drawnOverTime(t, nodes, periods, seed)
		seen := map[int]bool{}
		for _, place := range d.Nodes {
			seen[place] = true
		}
		var unseen []int
		for place := range truth {
			if !seen[place] {
				unseen = append(unseen, place)
			}
		}
		inside := 0
		for model, sum := range map[string]*float64{"joint": &joint, "separate": &separate} {
			m, err := grfgp.Fit(t.Context(), g, d, grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Scales: "one"},
				Times: times, TimeModel: model})
			if err != nil {
				t.Fatal(err)
			}
			p, err := m.Predict(t.Context(), unseen)
			if err != nil {
				t.Fatal(err)
			}
			for k, place := range unseen {
				e := p.Mean[k] - truth[place]
				if model == "joint" && math.Abs(e) < 1.959964*p.SD[k] {
					inside++
				}
				if _, period := grfgp.AtPlace(g, place); period == periods-1 {
					*sum += e * e
				}
			}
		}
		coverage = append(coverage, float64(inside)/float64(len(unseen)))
	}
	mean, scatter := 0.0, 0.0
	for _, v := range coverage {
		mean += v / float64(functions)
	}
	for _, v := range coverage {
		scatter += (v - mean) * (v - mean) / float64(functions-1)
	}
	t.Logf("95 %% intervals hold %.3f (%.3f); squared errors in the last period: %.4g jointly, %.4g by itself", mean, coverage, joint,
		separate)
	most, mostSE := 0.02, 0.0075
	if !testkit.IsFull() {
		// What the full suite allows of the scatter of one function, for the mean of so many: three standard errors.
		mostSE *= math.Sqrt(30 / float64(functions))
		most = 3 * mostSE
	}
	if se := math.Sqrt(scatter / float64(functions)); math.Abs(mean-0.95) > most || se > mostSE {
		t.Errorf("95 %% intervals hold %.3f ± %.4f, want 0.95 within %.3g and a standard error of at most %.3g: %.3f", mean, se, most, mostSE,
			coverage)
	}
	if joint > 0.8*separate {
		t.Errorf("squared error %.4g in the last period, %.4g by itself; want at most 0.8 of it", joint, separate)
	}
}

// The cost of a fit by the iterative solver is linear in the number of periods: the time
// per measurement does not grow with it.
func BenchmarkFitOverTime(b *testing.B) {
	for _, periods := range []int{10, 20, 40, 80} {
		g, times, _, d := drawnOverTime(b, 300, periods, 1)
		b.Run(fmt.Sprintf("%d-periods", periods), func(b *testing.B) {
			for b.Loop() {
				spec := grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Scales: "one", Trend: "none", Variance: "natural"},
					Roles: "none", Solver: "iterative", Times: times}
				if _, err := grfgp.Fit(b.Context(), g, d, spec); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)/float64(d.Len()), "ms/measurement")
		})
	}
}
