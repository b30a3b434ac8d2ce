package gp

import (
	"cmp"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/testkit"
	"grfgp/kernel"
	"grfgp/plan"
	"grfgp/space"
)

// likelihoodOf returns the likelihood of standardised data, and a start that is no
// optimum.
func likelihoodOf(t testing.TB, k kernel.Kernel, d Data, meanVar float64) (*marginal, []float64) {
	t.Helper()
	units, err := unitsOf(d, FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, starts, err := newParams(k, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	return newMarginal(k, units.standard(d), meanVar, p), starts[0]
}

// estimated returns the log likelihood at theta as iterative fits report it.
func estimated(l *marginal, theta []float64, opts FitOptions) (value, se float64, err error) {
	own, noise := l.params.split(theta)
	m := &Model{kernel: l.kernel, meanVar: l.meanVar, noise: noise, solver: Iterative, how: opts.Stochastic}
	m.settle(own)
	return m.estimate(background, l.data, opts.Seed)
}

// learnerOf returns a learner that has begun.
func learnerOf(t testing.TB, l *marginal, opts Stochastic, seed uint64, theta []float64) *learner {
	t.Helper()
	w := newLearner(l, opts, seed, nil)
	if err := w.begin(background, theta); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.end)
	return w
}

// rightSides returns [y, z_1, …].
func (w *learner) rightSides() *mat.Dense {
	w.sides.SetColumn(0, w.y, 0)
	return numbersOf(w.sides)
}

// gram returns H at theta.
func (l *marginal) gram(t testing.TB, theta []float64) *mat.SymDense {
	t.Helper()
	own, noise := l.params.split(theta)
	cov, err := l.kernel.At(own)
	if err != nil {
		t.Fatal(err)
	}
	h := mat.NewSymDense(l.data.Len(), nil)
	if err := kernel.WithConstant(cov, l.meanVar).Gram(background, h, l.data.Nodes); err != nil {
		t.Fatal(err)
	}
	for i, v := range noises(l.data, noise) {
		h.SetSym(i, i, h.At(i, i)+v)
	}
	return h
}

// With the same probes z, solved to a residual of 1e-10, the gradient is
// ½αᵀ∂Hα − ½ mean_s (H⁻¹z_s)ᵀ∂H z_s by dense matrices and central differences of
// H, whose own error is below 1e-6: nothing is left to chance.
func TestGradientOfTheseProbes(t *testing.T) {
	t.Parallel()
	g, err := graph.Grid(9, 9)
	if err != nil {
		t.Fatal(err)
	}
	for name, k := range kernels(t, g) {
		for _, opts := range []Stochastic{{Tol: 1e-10}, {Tol: 1e-10, Probes: 3}, {Tol: 1e-10, Probes: MaxProbes, Plain: true}} {
			l, theta := likelihoodOf(t, k, someData(81, 40, 9), 1)
			w := learnerOf(t, l, opts, 4, theta)
			sides := w.rightSides()
			got, err := w.step(background, theta)
			if err != nil {
				t.Fatal(err)
			}
			_, columns := sides.Dims()
			if opts.Probes > 0 && columns != 1+opts.Probes {
				t.Fatalf("%s: %d right-hand sides with %d probes", name, columns, opts.Probes)
			}
			var solved mat.Dense
			if err := solved.Solve(l.gram(t, theta), sides); err != nil {
				t.Fatal(err)
			}
			want := make([]float64, len(theta))
			for j := range theta {
				const h = 1e-5
				up, down := slices.Clone(theta), slices.Clone(theta)
				up[j], down[j] = up[j]+h, down[j]-h
				var slope, moved mat.Dense
				slope.Sub(l.gram(t, up), l.gram(t, down))
				slope.Scale(1/(2*h), &slope)
				moved.Mul(&slope, &solved)
				for s := range columns {
					if s == 0 {
						want[j] += mat.Dot(solved.ColView(0), moved.ColView(0)) / 2
					} else {
						want[j] -= mat.Dot(sides.ColView(s), moved.ColView(s)) / 2 / float64(columns-1)
					}
				}
			}
			near(t, name+": derivative", got, want, 1e-5)
		}
	}
}

// TestSingleSteps: steps of learning in float32 have the gradients of float64 to 1e-4 of their
// size, with the same probes, one after another and with fresh probes; learning ends at the
// same hyperparameters to 1e-3, and has the same bits at any number of threads.
func TestSingleSteps(t *testing.T) {
	side := testkit.Size(20, 30)
	g, err := graph.Grid(side, side+side/3)
	if err != nil {
		t.Fatal(err)
	}
	k, d := kernels(t, g)["grf"], someData(g.Len(), g.Len()*7/12, 6)
	d.Count = make([]int, d.Len())
	for i := range d.Count {
		d.Count[i] = 1 + i%3
	}
	for _, opts := range []Stochastic{{Tol: 1e-5, Probes: 3}, {Tol: 1e-5, Plain: true, Probes: 20}, {Tol: 1e-5, Fresh: true}} {
		l, theta := likelihoodOf(t, k, d, 1)
		wide := learnerOf(t, l, opts, 4, theta)
		opts.limits = singleFrom(1)
		narrow := learnerOf(t, l, opts, 4, theta)
		if wide.rows.space.Single() || !narrow.rows.space.Single() {
			t.Fatal("not the learners to compare")
		}
		for s := range 3 {
			a, b := step[[]float64](t)(wide.step(background, theta)), step[[]float64](t)(narrow.step(background, theta))
			size := 0.0
			for _, v := range a {
				size = max(size, math.Abs(v))
			}
			near(t, "derivative in float32", b, a, 1e-4*size)
			for j := range theta {
				theta[j] *= 1 + 0.05*float64(s)
			}
		}
	}
	learn := func(from, threads int) []float64 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		l, theta := likelihoodOf(t, k, d, 1)
		how := Stochastic{Tol: 1e-4, limits: singleFrom(from)}
		end, _, err := l.learn(background, theta, FitOptions{Epochs: 8, Seed: 3, Stochastic: how}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return end
	}
	wide, narrow := learn(1<<30, 2), learn(1, 2)
	near(t, "learned in float32", narrow, wide, 1e-3)
	if !slices.Equal(narrow, learn(1, 1)) {
		t.Error("other bits with one thread")
	}
}

// TestRoughSteps: steps of learning a kernel of many scales with products in float32 have the
// gradients of those in float64, for measurements that repeat too, and the same bits with one
// thread.
func TestRoughSteps(t *testing.T) {
	g, err := graph.Ring(3000)
	if err != nil {
		t.Fatal(err)
	}
	k := ringKernels(t, g)["grf, many scales"]
	d := someData(3000, 1800, 6)
	d.Count = make([]int, d.Len())
	for i := range d.Count {
		d.Count[i] = 1 + i%3
	}
	gradients := func(from, threads int, opts Stochastic) (all []float64) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		opts.limits = singleFrom(from)
		l, theta := likelihoodOf(t, k, d, 1)
		w := learnerOf(t, l, opts, 4, theta)
		if w.rows.space.Single() {
			t.Fatal("scales of long range in float32 alone")
		}
		for s := range 3 {
			w.x = l.params.Free(theta)
			all = append(all, step[[]float64](t)(w.step(background, theta))...)
			for j := range theta {
				theta[j] *= 1 + 0.05*float64(s)
			}
		}
		return all
	}
	for _, opts := range []Stochastic{{Tol: 1e-5, Probes: 3}, {Tol: 1e-5, Probes: 20, Fresh: true}} {
		wide, narrow := gradients(1<<30, 2, opts), gradients(1, 2, opts)
		near(t, "rough derivative", narrow, wide,
			1e-4*math.Abs(slices.MaxFunc(wide, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })))
		if !slices.Equal(narrow, gradients(1, 1, opts)) {
			t.Error("other bits with one thread")
		}
	}
}

// TestAhead: the guess of the next step is exact where solutions are linear in the
// hyperparameters, and is not taken where they turn back.
func TestAhead(t *testing.T) {
	t.Parallel()
	var a ahead
	x := []float64{1, 2}
	here := space.Host()
	solutions, before := here.Block(space.Rows(1), 1), space.Block(nil)
	solutions.Zero()
	at := func(x []float64) float64 { return 3*x[0] - x[1] }
	for s, change := range [][]float64{{0, 0}, {0.1, 0.2}, {0.1, 0.2}, {0.05, 0.1}, {-0.05, -0.1}} {
		x[0], x[1] = x[0]+change[0], x[1]+change[1]
		last := numbersOf(solutions).At(0, 0)
		w := learner{solutions: solutions, before: before}
		if factor, ok := a.advance(x); ok {
			w.extrapolate(factor)
		}
		before = w.before
		switch guess := numbersOf(solutions).At(0, 0); {
		case s == 2 || s == 3:
			near(t, "guess", []float64{guess}, []float64{at(x)}, 1e-12)
		case guess != last:
			t.Errorf("step %d: moved from %v to %v", s, last, guess)
		}
		solutions.Set([]float64{at(x)})
	}
}

// Where no measurement is correlated with another, the diagonal preconditioner is
// the whole matrix, and the log likelihood by probes is the exact one: the
// log-determinant is left neither to chance nor to quadrature.
func TestLikelihoodByProbesWithoutChance(t *testing.T) {
	t.Parallel()
	g, err := graph.Ring(400)
	if err != nil {
		t.Fatal(err)
	}
	d := Data{}
	for i := 0; i < 400; i += 20 { // walks of 6 steps from both meet nowhere
		d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, math.Sin(float64(i)))
	}
	l, theta := likelihoodOf(t, kernels(t, g)["grf"], d, 0)
	want, _, err := evaluate(l, theta)
	if err != nil {
		t.Fatal(err)
	}
	got, se, err := estimated(l, theta, FitOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(got-want) > 1e-8 || se > 1e-8 {
		t.Errorf("log likelihood %v ± %v, want %v", got, se, want)
	}
}

// The mean of the estimate over seeds is the exact log likelihood, within four
// standard errors of 300 seeds. With no more measurements than Lanczos steps the
// quadrature is exact, so that chance is all that differs; four standard errors
// are less than 2 % of the log-determinant. Means and steps are the same without a
// preconditioner.
func TestLikelihoodByProbesOnAverage(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const seeds = 300
	l, theta := likelihoodOf(t, kernels(t, smallGraph(t))["grf"], someData(34, 22, 3), 1)
	f, err := l.factor(background, theta)
	if err != nil {
		t.Fatal(err)
	}
	for _, plain := range []bool{false, true} {
		sum, square := 0.0, 0.0
		for seed := range uint64(seeds) {
			v, _, err := estimated(l, theta, FitOptions{Seed: seed, Stochastic: Stochastic{Plain: plain}})
			if err != nil {
				t.Fatal(err)
			}
			sum += (v - f.lml) / seeds
			square += (v - f.lml) * (v - f.lml) / seeds
		}
		se := math.Sqrt((square - sum*sum) / (seeds - 1))
		t.Logf("plain %v: off by %.4f ± %.4f nats; the log-determinant is %.2f", plain, sum, se, f.chol.LogDet())
		if 4*se > 0.02*math.Abs(f.chol.LogDet())/2 {
			t.Errorf("plain %v: four standard errors are %.3f nats, too many to see 2 %% of %.3f", plain, 4*se, f.chol.LogDet()/2)
		}
		if math.Abs(sum) > 4*se+1e-6 {
			t.Errorf("plain %v: off by %v ± %v nats", plain, sum, se)
		}
	}
}

// Fresh probes are others in every step, solved from zero, and the same again for
// the same seed; without, they stay.
func TestFreshProbes(t *testing.T) {
	t.Parallel()
	l, theta := likelihoodOf(t, kernels(t, smallGraph(t))["grf"], someData(34, 20, 3), 1)
	for _, fresh := range []bool{false, true} {
		w, again := learnerOf(t, l, Stochastic{Fresh: fresh}, 1, theta), learnerOf(t, l, Stochastic{Fresh: fresh}, 1, theta)
		first := w.rightSides()
		for s := range 3 {
			if a, b := step[[]float64](t)(w.step(background, theta)), step[[]float64](t)(again.step(background, theta)); !slices.Equal(a, b) {
				t.Errorf("fresh %v: step %d is %v and %v", fresh, s, a, b)
			}
			sides := w.rightSides()
			if same := mat.Equal(first, sides); same == (fresh && s > 0) {
				t.Errorf("fresh %v: the probes of step %d are those of the first: %v", fresh, s, same)
			}
			for _, v := range sides.RawRowView(7)[1:] {
				if math.Abs(v) != 1 {
					t.Errorf("a probe is %v", v)
				}
			}
			if sides.At(7, 0) != l.data.Y[7] {
				t.Error("the data has changed")
			}
		}
	}
}

// With more probes, a smaller residual and no preconditioner learning ends near
// where it ends by itself; what makes no sense is refused.
func TestStochasticOptions(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	g, err := graph.Grid(15, 15)
	if err != nil {
		t.Fatal(err)
	}
	k, d := kernels(t, g)["grf"], someData(225, 150, 6)
	fit := func(s Stochastic) (*Model, FitReport) {
		m, r, err := Fit(background, k, d, FitOptions{Solver: Iterative, Stochastic: s})
		if err != nil {
			t.Fatal(err)
		}
		return m, r
	}
	m, _ := fit(Stochastic{})
	n, r := fit(Stochastic{Probes: 64, Tol: 1e-2, Plain: true, Fresh: true})
	if !n.how.Plain || m.how.Plain || r.Residual > 1e-2 || !r.Converged {
		t.Errorf("residual %v, converged %v", r.Residual, r.Converged)
	}
	// 15 probes of 150 measurements leave 6 % of the noise to chance (root mean square of 24
	// fits against exact ones): two of that.
	if ratio := n.NoiseSD() / m.NoiseSD(); math.Abs(ratio-1) > 0.12 {
		t.Errorf("noise %v and %v", n.NoiseSD(), m.NoiseSD())
	}
	p, q := step[*Posterior](t)(n.Condition(background, d)), *n
	if err := p.compute(background, "", func(s *stage) error {
		if step[*system](t)(p.system(background, s)).cg.Precond != nil {
			t.Error("the posterior has a preconditioner")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	q.how.Plain = false
	want := step[[]float64](t)(step[*Posterior](t)(q.Condition(background, d)).Mean(background, allNodes(225)))
	near(t, "mean", step[[]float64](t)(p.Mean(background, allNodes(225))), want, 1e-3)
	for _, bad := range []Stochastic{{Probes: -1}, {Probes: MaxProbes + 1}, {Tol: -1}, {Tol: math.NaN()}, {Tol: 1}} {
		if _, _, err := Fit(background, k, d, FitOptions{Stochastic: bad}); err == nil || errors.Is(err, ErrData) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// Variances by iteration. Draws of one seed by either solver differ by the residual
// of solves alone, which adds to the variance: from −3 to +18 % at these nodes, and
// 1 to 3 % on average. Beyond that the mean over nodes is the exact one within four
// standard errors of 256 draws, less than 3 %.
func TestIterativeVariances(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	g, err := graph.Grid(20, 20)
	if err != nil {
		t.Fatal(err)
	}
	d, all := someData(400, 200, 5), allNodes(400)
	numbers := step[[]float64](t)
	for name, k := range kernels(t, g) {
		if name != "grf" && !testkit.IsFull() {
			continue
		}
		m, _, err := Fit(background, k, d, FitOptions{})
		if err != nil {
			t.Fatal(err)
		}
		n := *m
		n.solver = Iterative
		exact, iterative := step[*Posterior](t)(m.Condition(background, d)), step[*Posterior](t)(n.Condition(background, d))
		want, same, got := numbers(exact.Variance(background, all)), numbers(exact.sampledVariance(background, wholeList(all), nil)),
			numbers(iterative.Variance(background, all))
		least, most := math.Inf(1), 0.0
		for i := range want {
			least, most = min(least, got[i]/same[i]), max(most, got[i]/same[i])
		}
		t.Logf("%s: variances are %.3f to %.3f times those of the same draws solved exactly", name, least, most)
		if least < 0.95 || most > 1.2 {
			t.Errorf("%s: variances are %.3f to %.3f times those of the same draws solved exactly", name, least, most)
		}
		mean := numbers(iterative.Mean(background, all))
		sum, square := 0.0, 0.0
		group := drawGroup(iterative.Nodes())
		for b := range varianceDraws / group {
			draws := step[*mat.Dense](t)(iterative.Sample(background, all, group, varianceSeed+uint64(b)))
			for s := range group {
				ratio := 0.0
				for i := range all {
					e := draws.At(i, s) - mean[i]
					ratio += e * e / want[i] / float64(len(all))
				}
				sum += ratio / varianceDraws
				square += ratio * ratio / varianceDraws
			}
		}
		se := math.Sqrt((square - sum*sum) / (varianceDraws - 1))
		t.Logf("%s: the mean ratio of variances is %.3f ± %.3f", name, sum, se)
		if 4*se > 0.03 || sum < 1-4*se || sum > 1.04+4*se {
			t.Errorf("%s: the mean ratio of variances is %.3f ± %.3f", name, sum, se)
		}
	}
}

// TestSmallest: the smallest of many numbers, wherever it is.
func TestSmallest(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 1 << 15, 1<<15 + 1, 100_000} {
		for _, at := range []int{0, n / 2, n - 1} {
			x := slices.Repeat([]float64{3}, n)
			x[at] = -1
			if got := smallest(x); got != -1 {
				t.Errorf("%v, for %d numbers with the smallest at %d", got, n, at)
			}
		}
	}
}

// singleFrom returns limits with steps of learning in float32 from so many measurements on.
func singleFrom(measurements int) *plan.Limits {
	l := plan.Default()
	l.SingleFrom = measurements
	return l
}

// sharedFrom returns limits with a fit that processes share from so many measurements for each on.
func sharedFrom(measurements int) *plan.Limits {
	l := plan.Default()
	l.SharedFrom = measurements
	return l
}
