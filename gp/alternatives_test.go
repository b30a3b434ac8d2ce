package gp

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// learnedRing fits 40 measurements of each kind on a ring of 60 and returns the model with
// alternatives and its data.
func learnedRing(t *testing.T, v Values) (*Model, Data) {
	t.Helper()
	truth := ringModel(t, 60, State{Values: v, Theta: []float64{2, 6}, Noise: 0.09, MeanVar: 1, Shape: shapeFor(v)})
	f := priorDraw(t, truth, 3)
	var nodes []int
	var at []float64
	for i := range 60 {
		if i%3 != 1 {
			nodes, at = append(nodes, i), append(at, f[i])
		}
	}
	d := simulated(v, nodes, at, 5, truth.shape, 0.3, 4)
	m, _, err := Fit(background, truth.kernel, d, FitOptions{Values: v})
	if err != nil {
		t.Fatal(err)
	}
	if m, err = m.WithAlternatives(background, d, FitOptions{Values: v}); err != nil {
		t.Fatal(err)
	}
	return m, d
}

func shapeFor(v Values) (s Shape) {
	switch v {
	case Student:
		s.Freedom = studentFreedom
	case Counts:
		s.Dispersion = 0.3
	}
	return s
}

// TestAlternativesAreOneSDAway: at every alternative the log posterior density of the
// hyperparameters is 0.2 to 1.2 nats below that of the learned ones (half a nat is meant),
// or less at the distance of the prior's sd; there are two for every hyperparameter.
func TestAlternativesAreOneSDAway(t *testing.T) {
	t.Parallel()
	for _, v := range []Values{Gaussian, Student, Counts, Shares, YesNo} {
		m, d := learnedRing(t, v)
		p, theta, of, err := m.learned(d, FitOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(m.alternatives) != 2*len(theta) {
			t.Errorf("%s: %d alternatives for %d hyperparameters", v, len(m.alternatives), len(theta))
		}
		x := p.Free(theta)
		peak, err := p.density(background, x, of)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range m.alternatives {
			beside := slices.Clone(a.Theta)
			if len(theta) > len(beside) {
				last := a.Noise
				if v == Counts {
					last = a.Dispersion
				}
				beside = append(beside, last)
			}
			y := p.Free(beside)
			value, err := p.density(background, y, of)
			if err != nil {
				t.Fatal(err)
			}
			distance := 0.0
			for j := range y {
				distance = math.Hypot(distance, y[j]-x[j])
			}
			if drop := peak - value; drop > 1.2 || drop < 0.2 && distance < 0.99*spread || distance > 1.01*spread {
				t.Errorf("%s: the log density is lower by %.3f at a distance of %.3f", v, drop, distance)
			}
		}
	}
}

// TestAlternativesAddToVariances: means stay to the bit; variances and covariances have
// the squares of the shifts in addition; 4,000 draws have the same moments within five
// standard errors; and a model from the State, by JSON, gives the same bits.
func TestAlternativesAddToVariances(t *testing.T) {
	t.Parallel()
	nodes := []int{1, 4, 5, 30, 31, 58}
	for _, v := range []Values{Gaussian, Student, Counts, Shares, YesNo} {
		m, d := learnedRing(t, v)
		known := *m
		known.alternatives = nil
		wide, narrow := conditioned(t, m, d), conditioned(t, &known, d)
		near(t, "mean", means(t, wide, nodes), means(t, narrow, nodes), 0)
		variance, before := variances(t, wide, nodes), variances(t, narrow, nodes)
		want := slices.Clone(before)
		for _, a := range m.alternatives {
			beside := means(t, conditioned(t, m.beside(a), d), nodes)
			for k, mean := range means(t, narrow, nodes) {
				want[k] += (beside[k] - mean) * (beside[k] - mean)
			}
		}
		near(t, "variance", variance, want, 1e-9)
		if slices.Equal(variance, before) {
			t.Errorf("%s: alternatives add nothing", v)
		}
		cov, err := wide.Covariance(background, nodes, nodes)
		if err != nil {
			t.Fatal(err)
		}
		part, err := wide.Covariance(background, nodes[:2], nodes[1:])
		if err != nil {
			t.Fatal(err)
		}
		for k := range nodes {
			near(t, "diagonal", []float64{cov.At(k, k)}, variance[k:k+1], 1e-9)
		}
		near(t, "part", []float64{part.At(0, 0), part.At(1, 4)}, []float64{cov.At(0, 1), cov.At(1, 5)}, 1e-9)
		sameMoments(t, wide, nodes, cov)

		text, err := json.Marshal(m.State())
		if err != nil {
			t.Fatal(err)
		}
		var s State
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		again, err := NewModel(m.kernel, s)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "variance by the state", variances(t, conditioned(t, again, d), nodes), variance, 0)
	}
}

func conditioned(t *testing.T, m *Model, d Data) *Posterior {
	t.Helper()
	p, err := m.Condition(background, d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func means(t *testing.T, p *Posterior, nodes []int) []float64 {
	t.Helper()
	mean, err := p.Mean(background, nodes)
	if err != nil {
		t.Fatal(err)
	}
	return mean
}

func variances(t *testing.T, p *Posterior, nodes []int) []float64 {
	t.Helper()
	v, err := p.Variance(background, nodes)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// sameMoments compares draws with the mean and a covariance.
func sameMoments(t *testing.T, p *Posterior, nodes []int, cov *mat.Dense) {
	t.Helper()
	const count = 4000
	draws, err := p.Sample(background, nodes, count, 9)
	if err != nil {
		t.Fatal(err)
	}
	mean := means(t, p, nodes)
	for a := range nodes {
		for b := range nodes {
			sum := 0.0
			for s := range count {
				sum += (draws.At(a, s) - mean[a]) * (draws.At(b, s) - mean[b]) / count
			}
			se := math.Sqrt((cov.At(a, a)*cov.At(b, b) + cov.At(a, b)*cov.At(a, b)) / count)
			if math.Abs(sum-cov.At(a, b)) > 5*se {
				t.Errorf("draws have the covariance %.4f of %d and %d, want %.4f ± %.4f", sum, a, b, cov.At(a, b), se)
			}
		}
	}
}

// TestAlternativesInParts: conditioning at once or in parts gives the same bits.
func TestAlternativesInParts(t *testing.T) {
	t.Parallel()
	m, d := learnedRing(t, Gaussian)
	q, err := conditioned(t, m, d.Slice(0, 25)).Condition(background, d.Slice(25, d.Len()))
	if err != nil {
		t.Fatal(err)
	}
	nodes := allNodes(60)
	near(t, "variance in parts", variances(t, q, nodes), variances(t, conditioned(t, m, d), nodes), 1e-9)
	planned, err := q.ConditionOnMeans(background, nodes[:1])
	if err != nil {
		t.Fatal(err)
	}
	if v := variances(t, planned, nodes[:1])[0]; v >= variances(t, q, nodes[:1])[0] {
		t.Errorf("a planned measurement leaves the variance %v", v)
	}
}

// TestUncertainNoise: of n measurements that are nothing but noise, a new one has the
// variance of Student's t, larger by 2/n; the estimate is within 40 % of that addition.
func TestUncertainNoise(t *testing.T) {
	t.Parallel()
	for _, n := range []int{20, 80} {
		truth := ringModel(t, n, State{Theta: []float64{1, 4}, Noise: 1})
		d := simulated(Gaussian, allNodes(n), make([]float64, n), 1, Shape{}, 1, 5)
		zero := 0.0
		opts := FitOptions{Mean: &zero}
		m, _, err := Fit(background, truth.kernel, d, opts)
		if err != nil {
			t.Fatal(err)
		}
		m.theta[0], m.noise = 1e-6, 0 // no signal
		for _, y := range m.units.standard(d).Y {
			m.noise += y * y / float64(n)
		}
		p, theta, of, err := m.learned(d, opts)
		if err != nil {
			t.Fatal(err)
		}
		curve, err := p.curvature(background, p.Free(theta), of)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := curve.At(2, 2), float64(n)/2; math.Abs(got-want) > 0.4*want {
			t.Errorf("%d measurements: the curvature in the log noise is %.2f, want about %.2f", n, got, want)
		}
		if m, err = m.WithAlternatives(background, d, opts); err != nil {
			t.Fatal(err)
		}
		if got, want := m.noiseOfNew()/m.noise-1, 2/float64(n); math.Abs(got-want) > 0.4*want {
			t.Errorf("%d measurements: the noise variance of a new one is larger by %.4f, want about %.4f", n, got, want)
		}
	}
}

// TestFewMeasurementsHaveAlternatives: three measurements say next to nothing about
// hyperparameters. Variances stay finite, and below that of a prior at the largest
// alternative.
func TestFewMeasurementsHaveAlternatives(t *testing.T) {
	t.Parallel()
	truth := ringModel(t, 30, State{Theta: []float64{1, 4}, Noise: 0.1})
	d := Data{Nodes: []int{3, 4, 20}, Y: []float64{1, 1.2, -2}}
	m, _, err := Fit(background, truth.kernel, d, FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if m, err = m.WithAlternatives(background, d, FitOptions{}); err != nil {
		t.Fatal(err)
	}
	for k, v := range variances(t, conditioned(t, m, d), allNodes(30)) {
		if !(v > 0 && v < 100) {
			t.Errorf("variance %v at node %d", v, k)
		}
	}
	for what, opts := range map[string]FitOptions{"fixed": {Fixed: true}, "a sample": {Subsample: 3}} {
		if q, err := m.beside(m.alternatives[0]).WithAlternatives(background, d, opts); err != nil || len(q.alternatives) > 0 {
			t.Errorf("%s: %d alternatives, %v", what, len(q.alternatives), err)
		}
	}
	bad := m.State()
	bad.Alternatives = []Alternative{{Theta: []float64{1}}}
	if _, err := NewModel(m.kernel, bad); err == nil {
		t.Error("an alternative without all hyperparameters was accepted")
	}
}
