package gp

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/solve"
)

// stateOf returns known hyperparameters of values on a ring, and the exposure to
// simulate with.
func stateOf(v Values) (State, float64) {
	s := State{Values: v, MeanVar: 1}
	switch v {
	case Student:
		s.Noise, s.Shape.Freedom = 0.05, 4
	case Counts:
		s.Shape.Dispersion, s.Units.Center = 0.1, 0.3
	case Duration, Positive:
		s.Shape, _ = v.likelihood().shaped(0.2)
		s.Units.Center = 0.3
	}
	return s, 6
}

// TestPseudoMeasurementsGiveTheMode compares the posterior with the mode by formula:
// K⁻¹f̂ = ∇log p(y|f̂), and, for the mean, the correction for skewness by formula.
func TestPseudoMeasurementsGiveTheMode(t *testing.T) {
	t.Parallel()
	const n = 30
	for _, v := range nonGaussian {
		s, size := stateOf(v)
		m := ringModel(t, n, s)
		nodes := append(allNodes(n)[3:25], 7) // 7 twice
		f := make([]float64, len(nodes))
		for k, i := range nodes {
			f[k] = wave(n)[i]
		}
		d := simulated(v, nodes, f, size, s.Shape, 0.2, 5)
		p, err := m.Condition(background, d)
		if err != nil {
			t.Fatal(err)
		}
		at := &mode{cov: p.cov, gram: mat.NewSymDense(len(nodes), nil), obs: p.measured.obs}
		if err := p.cov.Gram(background, at.gram, nodes); err != nil {
			t.Fatal(err)
		}
		if err := at.climb(background, nil); err != nil {
			t.Fatal(err)
		}
		slope, want := make([]float64, len(nodes)), slices.Clone(at.f)
		for k, term := range at.obs.all(at.f) {
			slope[k] = term.slope
		}
		near(t, v.String()+": slope of the prior at the mode", at.alpha, slope, 1e-5)
		variance := at.variance()
		shift := make([]float64, len(nodes))
		for k, term := range at.terms {
			shift[k] = -variance[k] * term.bend / 2
		}
		for k, x := range at.product(at.reduce(shift)) { // Σs = K(I + WK)⁻¹s
			want[k] += x
		}
		got, err := p.Variance(background, nodes)
		if err != nil {
			t.Fatal(err)
		}
		near(t, v.String()+": variance", got, variance, 1e-8)
		for k := range want {
			want[k] += s.Units.Center
		}
		mean, err := p.Mean(background, nodes)
		if err != nil {
			t.Fatal(err)
		}
		near(t, v.String()+": mean", mean, want, 1e-5)
	}
}

// TestExtremeMeasurementsHaveAMode conditions and fits where Newton's method without
// halved steps, or weights of zero, would fail.
func TestExtremeMeasurementsHaveAMode(t *testing.T) {
	t.Parallel()
	const n = 12
	y := func(of func(k int) float64) []float64 {
		all := make([]float64, n)
		for k := range all {
			all[k] = of(k)
		}
		return all
	}
	constant := func(c float64) func(int) float64 { return func(int) float64 { return c } }
	for name, c := range map[string]struct {
		values      Values
		y, exposure []float64
	}{
		"no events":                {Counts, y(constant(0)), nil},
		"no events, tiny exposure": {Counts, y(constant(0)), y(constant(1e-300))},
		"tiny and huge exposures": {Counts, y(func(k int) float64 { return float64(k % 2 * 1e9) }),
			y(func(k int) float64 { return math.Pow(1e12, float64(k%2)*2-1) })},
		"huge counts":                {Counts, y(constant(1e15)), nil},
		"one huge count among zeros": {Counts, y(func(k int) float64 { return float64(k / 11 * 1e12) }), nil},
		"events without exposure": {Counts, y(func(k int) float64 { return float64(k * 1000) }),
			y(func(k int) float64 { return math.Exp(-float64(k) * 20) })},
		"all positive":      {Shares, y(constant(50)), y(constant(50))},
		"none positive":     {Shares, y(constant(0)), y(constant(1e9))},
		"all or none":       {Shares, y(func(k int) float64 { return float64(k % 2 * 1e6) }), y(constant(1e6))},
		"all yes":           {YesNo, y(constant(1)), nil},
		"all no":            {YesNo, y(constant(0)), nil},
		"a gross outlier":   {Student, y(func(k int) float64 { return math.Sin(float64(k)) + float64(k/11*1e12) }), nil},
		"half are outliers": {Student, y(func(k int) float64 { return float64(k) + float64(k%2*1e6) }), nil},
	} {
		t.Run(name, func(t *testing.T) {
			k := ringModel(t, n, State{}).kernel
			d := Data{Nodes: allNodes(n), Y: c.y, Exposure: c.exposure}
			m, report, err := Fit(background, k, d, FitOptions{Values: c.values})
			if err != nil {
				t.Fatal(err)
			}
			for _, theta := range [][]float64{m.Theta(), {1, 4}, {100, 50}} {
				s := m.State()
				s.Theta = theta
				for _, solver := range []Solver{Exact, Iterative} {
					s.Solver = solver
					again, err := NewModel(k, s)
					if err != nil {
						t.Fatal(err)
					}
					p, err := again.Condition(background, d)
					if name == "huge counts" && (errors.Is(err, solve.ErrNotConverged) || errors.Is(err, solve.ErrNotPositiveDefinite)) {
						continue // the precision of the counts, 1e15, is that of float64: an error says so
					}
					if err != nil {
						t.Fatal(err)
					}
					all, err := p.Responses(background, allNodes(n))
					if err != nil {
						t.Fatal(err)
					}
					for i, r := range all {
						mean, sd := r.Latent()
						if math.IsNaN(mean+sd) || math.IsInf(mean+sd, 0) || sd < 0 || math.IsNaN(r.Quantile(0.5)) {
							t.Fatalf("%v at node %d: f is %v ± %v", solver, i, mean, sd)
						}
					}
				}
			}
			if math.IsNaN(report.LogLikelihood+report.LOOScore) || math.IsInf(report.LogLikelihood+report.LOOScore, 0) {
				t.Errorf("log likelihood %v, leave-one-out %v", report.LogLikelihood, report.LOOScore)
			}
		})
	}
}

// TestLaplaceByIteration compares the matrix-free solver with the exact one.
func TestLaplaceByIteration(t *testing.T) {
	t.Parallel()
	const n = 200
	for _, v := range nonGaussian {
		s, size := stateOf(v)
		exact := ringModel(t, n, s)
		nodes := allNodes(n)[:160]
		d := simulated(v, nodes, wave(n), size, s.Shape, 0.2, 5)
		state := exact.State()
		state.Solver = Iterative
		iterative, err := NewModel(exact.kernel, state)
		if err != nil {
			t.Fatal(err)
		}
		p, err := exact.Condition(background, d)
		if err != nil {
			t.Fatal(err)
		}
		q, err := iterative.Condition(background, d)
		if err != nil {
			t.Fatal(err)
		}
		want, err := p.Responses(background, allNodes(n))
		if err != nil {
			t.Fatal(err)
		}
		got, err := q.Responses(background, allNodes(n))
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for i := range got {
			a, sd := want[i].Latent()
			b, other := got[i].Latent()
			worst = max(worst, math.Abs(a-b)/sd)
			if math.Abs(other/sd-1) > 5*sampledSDError {
				t.Errorf("%v, node %d: sd %v, want %v", v, i, other, sd)
			}
		}
		t.Logf("%v: means differ by up to %.3f sds", v, worst)
		most := 0.05
		if v == Student { // its correction for skewness is larger, and estimated from draws
			most = 0.2
		}
		if worst > most {
			t.Errorf("%v: a mean differs by %v sds", v, worst)
		}
		a, _, err := p.LogMarginalLikelihood(background)
		if err != nil {
			t.Fatal(err)
		}
		b, se, err := q.LogMarginalLikelihood(background)
		if err != nil || math.Abs(a-b) > 5*se+0.1 {
			t.Errorf("%v: log likelihood %v ± %v, want %v (%v)", v, b, se, a, err)
		}
	}
}

// TestConditionOnMoreValues conditions at once and in two parts.
func TestConditionOnMoreValues(t *testing.T) {
	t.Parallel()
	const n = 30
	for _, v := range nonGaussian {
		s, size := stateOf(v)
		m := ringModel(t, n, s)
		d := simulated(v, allNodes(n)[:20], wave(n), size, s.Shape, 0.2, 5)
		whole, err := m.Condition(background, d)
		if err != nil {
			t.Fatal(err)
		}
		part, err := m.Condition(background, d.Slice(0, 12))
		if err != nil {
			t.Fatal(err)
		}
		before, _ := part.Mean(background, allNodes(n))
		both, err := part.Condition(background, d.Slice(12, 20))
		if err != nil {
			t.Fatal(err)
		}
		want, _ := whole.Mean(background, allNodes(n))
		got, _ := both.Mean(background, allNodes(n))
		near(t, v.String(), got, want, 0)
		after, _ := part.Mean(background, allNodes(n))
		near(t, v.String()+": the first part", after, before, 0)
	}
}

// TestConditionOnMeans: means stay, variances become smaller, and for Gaussian values it
// is Condition with the means.
func TestConditionOnMeans(t *testing.T) {
	t.Parallel()
	const n = 30
	for v := range Values(len(ValuesNames())) {
		s, size := stateOf(v)
		if v == Gaussian {
			s.Noise = 0.04
		}
		m := ringModel(t, n, s)
		p, err := m.Condition(background, simulated(v, allNodes(n)[:20], wave(n), size, s.Shape, 0.2, 5))
		if err != nil {
			t.Fatal(err)
		}
		q, err := p.ConditionOnMeans(background, []int{3, 24})
		if err != nil {
			t.Fatal(err)
		}
		if q, err = q.ConditionOnMeans(background, []int{26}); err != nil {
			t.Fatal(err)
		}
		before, _ := p.Mean(background, allNodes(n))
		after, _ := q.Mean(background, allNodes(n))
		near(t, v.String(), after, before, 1e-8)
		a, _ := p.Variance(background, []int{3, 24, 26})
		b, _ := q.Variance(background, []int{3, 24, 26})
		noise := p.NoiseVar()
		for k := range a {
			if want := 1 / (1/a[k] + 1/noise); b[k] > want+1e-9 {
				t.Errorf("%v: variance %v, want %v at most", v, b[k], want)
			}
		}
		if v != Gaussian {
			if _, sd, err := q.LeaveOneOut(); err != nil || len(sd) != 20 {
				t.Errorf("%v: %d left out (%v)", v, len(sd), err)
			}
		}
	}
}
