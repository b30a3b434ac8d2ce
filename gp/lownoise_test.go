package gp

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
	"grfgp/kernel"
	"grfgp/plan"
	"grfgp/solve"
	"grfgp/walk"
)

// ringKernels returns Matérn kernels of a ring by features and by a series, on
// one scale and on many.
func ringKernels(t *testing.T, g *graph.Graph) map[string]kernel.Kernel {
	t.Helper()
	family := kernel.Matern{Nu: 2}
	sampled := func(g *graph.Graph) *walk.Features {
		opts := walk.Default()
		opts.MaxLen, opts.Scale = 10, g.WalkScale(graph.NormalizedAdjacency)
		return step[*walk.Features](t)(walk.Sample(background, g.Normalized(graph.NormalizedAdjacency), opts))
	}
	var scales []kernel.Scale
	for _, l := range g.Coarsen(100) {
		scales = append(scales, kernel.Scale{Prolong: l.Prolong, Features: sampled(l.Graph)})
	}
	grf := step[*kernel.GRF](t)(kernel.NewGRF(sampled(g), family))
	series := step[*kernel.Series](t)(kernel.NewSeries(g.Normalized(graph.NormalizedAdjacency), family, 60))
	return map[string]kernel.Kernel{
		"grf, one scale":      grf,
		"series, one scale":   series,
		"grf, many scales":    step[*kernel.Multiscale](t)(kernel.NewMultiscale(grf, family, scales)),
		"series, many scales": step[*kernel.Multiscale](t)(kernel.NewMultiscale(series, family, scales)),
	}
}

// manyRingKernels are those of ringKernels, of which the quick suite has the features alone.
func manyRingKernels(t *testing.T, g *graph.Graph) map[string]kernel.Kernel {
	t.Helper()
	all := ringKernels(t, g)
	if !testkit.IsFull() {
		maps.DeleteFunc(all, func(name string, _ kernel.Kernel) bool { return strings.HasPrefix(name, "series") })
	}
	return all
}

// bothWays conditions one model on the same measurements by each solver.
func bothWays(t *testing.T, k kernel.Kernel, kappa, noise float64, d Data) (exact, iterative *Posterior) {
	t.Helper()
	var theta []float64
	for _, p := range k.Params() {
		if p.Name == "kappa" {
			p.Start = kappa
		}
		theta = append(theta, p.Start)
	}
	at := func(s Solver) *Posterior {
		m := step[*Model](t)(NewModel(k, State{Theta: theta, Noise: noise, Units: Units{0, 1}, MeanVar: 1, Solver: s}))
		return step[*Posterior](t)(m.Condition(background, d))
	}
	return at(Exact), at(Iterative)
}

// Variances by iteration are those of exact solves, node by node. From the same
// draws, what the solver alone adds to a variance is at most 1 % on average and
// 5 % at any node. Against the exact variance the mean ratio is 1 within four of its
// standard errors, which come from the spread over draws. The standard error
// that is stated for each standard deviation is the one that is seen.
func TestSampledVarianceAtLowNoise(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const n, count = 600, 240
	g := step[*graph.Graph](t)(graph.Ring(n))
	d := Data{Nodes: rand.New(rng.New(1, "low noise")).Perm(n)[:count], Y: make([]float64, count)}
	for name, k := range manyRingKernels(t, g) {
		for _, c := range []struct{ kappa, noise float64 }{{4, 1e-4}, {4, 0}, {4, 1e-2}, {20, 1e-4}, {4, 1e-6}}[:testkit.Size(2, 5)] {
			t.Run(fmt.Sprintf("%s, kappa %g, noise %g", name, c.kappa, c.noise), func(t *testing.T) {
				exact, iterative := bothWays(t, k, c.kappa, c.noise, d)
				want := step[[]float64](t)(exact.exactVariance(background, wholeList(allNodes(n)), nil))
				same := step[[]float64](t)(exact.sampledVariance(background, wholeList(allNodes(n)), nil))
				got := step[[]float64](t)(iterative.Variance(background, allNodes(n)))
				var nodes []int
				for i := range n {
					if c.noise > 0 || !slices.Contains(d.Nodes, i) {
						nodes = append(nodes, i)
					} else if got[i] > 1e-10 {
						t.Errorf("variance %g at node %d, which was measured without noise", got[i], i)
					}
				}
				added, worst := 0.0, 0.0
				for _, i := range nodes {
					added += (got[i]/same[i] - 1) / float64(len(nodes))
					worst = max(worst, got[i]/same[i]-1)
				}
				if math.Abs(added) > 0.01 || worst > 0.05 {
					t.Errorf("the solver adds %.4f to variances on average, %.4f at most", added, worst)
				}
				ratio, se := meanRatio(t, iterative, nodes, want)
				if math.Abs(ratio-1) > 4*se {
					t.Errorf("variances are %.4f ± %.4f times the exact ones", ratio, se)
				}
				square := 0.0
				for _, i := range nodes {
					square += math.Pow(math.Sqrt(got[i]/want[i])-1, 2) / float64(len(nodes))
				}
				// Nodes near each other share draws: a ring of so short a reach has some 50 places.
				if seen := math.Sqrt(square); c.kappa < 10 && math.Abs(seen/sampledSDError-1) > 0.3 {
					t.Errorf("standard deviations have an error of %.4f, said to be %.4f", seen, sampledSDError)
				}
			})
		}
	}
}

// meanRatio returns the mean of sampled over exact variance and its standard
// error over draws.
func meanRatio(t *testing.T, p *Posterior, nodes []int, variance []float64) (ratio, se float64) {
	t.Helper()
	mean := step[[]float64](t)(p.Mean(background, allNodes(p.Nodes())))
	var of []float64
	group := drawGroup(p.Nodes())
	for b := range varianceDraws / group {
		draws := step[*mat.Dense](t)(p.Sample(background, allNodes(p.Nodes()), group, varianceSeed+uint64(b)))
		for s := range group {
			sum := 0.0
			for _, i := range nodes {
				sum += math.Pow(draws.At(i, s)-mean[i], 2) / variance[i] / float64(len(nodes))
			}
			of = append(of, sum)
		}
	}
	square := 0.0
	for _, v := range of {
		ratio += v / float64(len(of))
		square += v * v / float64(len(of))
	}
	return ratio, math.Sqrt((square - ratio*ratio) / float64(len(of)))
}

// Functions drawn from the model lie where its intervals say, by iteration as
// well: the root mean square of standardised errors is between 0.9 and 1.1, over
// 12 functions and the nodes that were not measured, which has a standard error
// of about 0.02.
func TestStandardisedErrorsByIteration(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const n, count, functions = 600, 240, 12
	g := step[*graph.Graph](t)(graph.Ring(n))
	nodes := rand.New(rng.New(2, "low noise")).Perm(n)
	measured, others := nodes[:count], nodes[count:]
	for name, k := range manyRingKernels(t, g) {
		for _, noise := range []float64{1e-8, 1e-4, 0}[:testkit.Size(1, 3)] {
			prior, _ := bothWays(t, k, 4, noise, Data{Nodes: measured, Y: make([]float64, count)})
			truth := mat.NewDense(n, functions, nil)
			if err := prior.cov.Prior(background, truth, 3); err != nil {
				t.Fatal(err)
			}
			var variance []float64
			sum := 0.0
			for f := range functions {
				random := rand.New(rng.New(uint64(f), "readings"))
				d := Data{Nodes: measured, Y: make([]float64, count)}
				for r, i := range measured {
					d.Y[r] = truth.At(i, f) + math.Sqrt(noise)*random.NormFloat64()
				}
				_, p := bothWays(t, k, 4, noise, d)
				if variance == nil { // it does not depend on the values
					variance = step[[]float64](t)(p.Variance(background, others))
				}
				for r, m := range step[[]float64](t)(p.Mean(background, others)) {
					sum += math.Pow(truth.At(others[r], f)-m, 2) / variance[r] / float64(len(others)*functions)
				}
			}
			if rms := math.Sqrt(sum); rms < 0.9 || rms > 1.1 {
				t.Errorf("%s, noise %g: standardised errors of %.3f", name, noise, rms)
			}
		}
	}
}

// Covariances by iteration keep to the exact ones where variances are small
// beside the kernel's: within 5 % of the standard deviations.
func TestCovarianceAtLowNoise(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const n, count = 600, 240
	g := step[*graph.Graph](t)(graph.Ring(n))
	nodes := rand.New(rng.New(3, "low noise")).Perm(n)
	d := Data{Nodes: nodes[:count], Y: make([]float64, count)}
	at := nodes[count-30 : count+30]
	for name, k := range manyRingKernels(t, g) {
		for _, noise := range []float64{1e-4, 0, 1e-1, 1e-2, 1e-6}[:testkit.Size(2, 5)] {
			exact, iterative := bothWays(t, k, 20, noise, d)
			want := step[*mat.Dense](t)(exact.Covariance(background, at, at))
			got := step[*mat.Dense](t)(iterative.Covariance(background, at, at))
			worst := 0.0
			for r := range at {
				for c := range at {
					if noise == 0 && min(r, c) < 30 {
						continue // measured, and known
					}
					worst = max(worst, math.Abs(got.At(r, c)-want.At(r, c))/math.Sqrt(want.At(r, r)*want.At(c, c)))
				}
			}
			if !(worst < 0.05) {
				t.Errorf("%s, noise %g: covariances are off by %.3f standard deviations", name, noise, worst)
			}
		}
	}
}

// A system that cannot be solved to what the noise asks for is an error, not a
// variance.
func TestVarianceSaysWhenSolvesFail(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	k := ringKernels(t, step[*graph.Graph](t)(graph.Ring(600)))["series, one scale"]
	d := Data{Nodes: rand.New(rng.New(1, "low noise")).Perm(600)[:240], Y: make([]float64, 240)}
	_, p := bothWays(t, k, 20, 1e-4, d)
	limits := plan.Default()
	limits.SolveIters, p.model.how.limits = 10, limits
	if v, err := p.Variance(background, allNodes(600)); !errors.Is(err, solve.ErrNotConverged) {
		t.Errorf("after ten iterations: %v, %v", v, err)
	}
}
