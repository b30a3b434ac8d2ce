package gp

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grfgp/internal/rng"
	"grfgp/internal/testkit"
)

// responses are one of each kind, with the exposure of a new measurement.
func responses() map[string]NewMeasurement {
	at := func(v Values, shape Shape, mean, sd, noise, exposure float64) NewMeasurement {
		return Response{values: v, shape: shape, mean: mean, sd: sd, noise: noise}.Measurement(exposure)
	}
	return map[string]NewMeasurement{
		"gaussian":              at(Gaussian, Shape{}, 2, 0.5, 0.3, 1),
		"student":               at(Student, Shape{Freedom: 4}, 2, 0.5, 0.3, 1),
		"small counts":          at(Counts, Shape{}, -0.5, 0.8, 0, 1.5),
		"counts":                at(Counts, Shape{}, 1, 0.3, 0, 20),
		"large counts":          at(Counts, Shape{}, 1, 0.4, 0, 5000),
		"dispersed counts":      at(Counts, Shape{Dispersion: 0.5}, 1, 0.3, 0, 10),
		"counts, f known":       at(Counts, Shape{}, 1, 0, 0, 3),
		"shares":                at(Shares, Shape{}, -1, 0.7, 0, 30),
		"yes-no":                at(YesNo, Shape{}, 0.4, 1.2, 0, 1),
		"yes-no, nearly always": at(YesNo, Shape{}, 6, 1.2, 0, 1),
	}
}

// draw returns f, the quantity, and a measurement.
func (m NewMeasurement) draw(random *rand.Rand) (quantity, y float64) {
	f := m.r.mean + m.r.sd*random.NormFloat64()
	d := simulated(m.r.values, []int{0}, []float64{f}, m.exposure, m.r.shape, math.Sqrt(m.r.noise), random.Uint64())
	return m.r.values.Inverse(f), d.Y[0]
}

// TestResponseEqualsSimulation compares moments, quantiles and probabilities with
// 40,000 draws; bounds are five standard errors.
func TestResponseEqualsSimulation(t *testing.T) {
	t.Parallel()
	const draws = 40_000
	for name, m := range responses() {
		if name == "large counts" {
			continue // drawing them takes long; their sums are checked below
		}
		random := rand.New(rng.New(8, "responses"))
		quantity, y := make([]float64, draws), make([]float64, draws)
		for s := range draws {
			quantity[s], y[s] = m.draw(random)
		}
		for _, c := range []struct {
			what     string
			all      []float64
			mean, sd float64
		}{{"quantity", quantity, m.r.Mean(), m.r.SD()}, {"measurement", y, m.Mean(), m.SD()}} {
			mean, square, fourth := 0.0, 0.0, 0.0
			for _, v := range c.all {
				mean += v / draws
				square += (v - c.mean) * (v - c.mean) / draws
				fourth += math.Pow(v-c.mean, 4) / draws
			}
			if math.Abs(mean-c.mean) > 5*math.Sqrt(square/draws)+1e-12 {
				t.Errorf("%s: mean of the %s is %v, want %v", name, c.what, c.mean, mean)
			}
			// The fourth moment of Student's t with 4 degrees of freedom is infinite.
			if name != "student" && math.Abs(square-c.sd*c.sd) > 5*math.Sqrt((fourth-square*square)/draws)+1e-12 {
				t.Errorf("%s: sd of the %s is %v, want %v", name, c.what, c.sd, math.Sqrt(square))
			}
		}
		share := func(all []float64, of func(v float64) bool) float64 {
			n := 0.0
			for _, v := range all {
				if of(v) {
					n++
				}
			}
			return n / draws
		}
		for _, p := range []float64{0.025, 0.2, 0.5, 0.975} {
			bound := 5 * math.Sqrt(p*(1-p)/draws)
			q := m.r.Quantile(p)
			if m.r.sd > 0 {
				if got := share(quantity, func(v float64) bool { return v <= q }); math.Abs(got-p) > bound {
					t.Errorf("%s: %v of quantities are below quantile %v", name, got, p)
				}
				if got := m.r.Above(q); math.Abs(got-(1-p)) > 1e-9 {
					t.Errorf("%s: %v above quantile %v", name, got, p)
				}
			}
			z := m.Quantile(p)
			at, below := share(y, func(v float64) bool { return v <= z }), share(y, func(v float64) bool { return v < z })
			if at < p-bound || below > p+bound {
				t.Errorf("%s: quantile %v of a measurement is %v, but %v are at most that and %v less", name, p, z, at, below)
			}
			if got := m.CDF(z); math.Abs(got-at) > 5*math.Sqrt(at*(1-at)/draws)+1e-9 {
				t.Errorf("%s: distribution function at %v is %v, want %v", name, z, got, at)
			}
		}
	}
}

// TestProbabilitiesOfCountsAddUp compares the distribution function with sums of
// probabilities, and densities with slopes of the distribution function.
func TestProbabilitiesOfCountsAddUp(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	for name, m := range responses() {
		if !m.r.values.latent() {
			for _, y := range []float64{-3, 1, 2.2, 9} {
				const h = 1e-4
				slope := (m.CDF(y+h) - m.CDF(y-h)) / 2 / h
				if got := math.Exp(m.LogDensity(y)); math.Abs(got-slope) > 1e-6 {
					t.Errorf("%s: density at %v is %v, want %v", name, y, got, slope)
				}
			}
			continue
		}
		sum, most := 0.0, m.Quantile(1-1e-9)
		var checks []float64
		for _, p := range []float64{0.01, 0.3, 0.7, 0.99} {
			checks = append(checks, m.Quantile(p))
		}
		for y := 0.0; y <= most; y++ {
			sum += math.Exp(m.LogDensity(y))
			if slices.Contains(checks, y) && math.Abs(m.CDF(y)-sum) > 2e-6 {
				t.Errorf("%s: distribution function at %v is %.9f, sum of probabilities %.9f", name, y, m.CDF(y), sum)
			}
		}
		if math.Abs(sum-1) > 1e-6 {
			t.Errorf("%s: probabilities add to %v", name, sum)
		}
		for _, y := range []float64{-1, 0.5} {
			if m.LogDensity(y) != math.Inf(-1) {
				t.Errorf("%s: %v has the log probability %v", name, y, m.LogDensity(y))
			}
		}
	}
}

// TestSharpCounts bounds the error where a count says far more about f than the
// prediction does.
func TestSharpCounts(t *testing.T) {
	t.Parallel()
	m := Response{values: Counts, mean: 0, sd: 1}.Measurement(1e9)
	for _, p := range []float64{0.025, 0.5, 0.975} {
		want := 1e9 * math.Exp(normalQuantile(p))
		if got := m.Quantile(p); math.Abs(math.Log(got/want)) > 0.02 {
			t.Errorf("quantile %v is %v, want %v", p, got, want)
		}
	}
}

func TestResponsesAreThoseOfMeanAndVariance(t *testing.T) {
	t.Parallel()
	for v := range Values(len(ValuesNames())) {
		s, size := stateOf(v)
		if v == Gaussian {
			s.Noise = 0.04
		}
		m := ringModel(t, 20, s)
		d := simulated(v, allNodes(20)[:12], wave(20), size, s.Shape, 0.2, 5)
		p, err := m.Condition(background, d)
		if err != nil {
			t.Fatal(err)
		}
		all, err := p.Responses(background, []int{3, 17})
		if err != nil {
			t.Fatal(err)
		}
		mean, _ := p.Mean(background, []int{3, 17})
		variance, _ := p.Variance(background, []int{3, 17})
		for k, r := range all {
			if want := m.Response(mean[k], variance[k]); r != want {
				t.Errorf("%v: %+v, want %+v", v, r, want)
			}
		}
		if v == Gaussian {
			want, _ := p.LogDensity(background, Data{Nodes: []int{3}, Y: []float64{0.5}})
			near(t, "log density", []float64{all[0].Measurement(1).LogDensity(0.5)}, want, 1e-12)
		}
	}
}
