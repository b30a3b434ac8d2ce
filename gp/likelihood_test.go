package gp

import (
	"fmt"
	"math"
	"testing"
)

// likelihoodCases has readings of every likelihood, with a value of its parameter.
func likelihoodCases(t *testing.T) map[string]struct {
	of    likelihood
	o     reading
	value float64
} {
	all := map[string]struct {
		of    likelihood
		o     reading
		value float64
	}{
		"gaussian":          {gaussian{}, reading{y: 2, exposure: 1}, 0.7},
		"student":           {studentT{}, reading{y: 2, exposure: 1}, 0.7},
		"poisson":           {negativeBinomial{}, reading{y: 3, exposure: 2}, 0},
		"negative binomial": {negativeBinomial{}, reading{y: 3, exposure: 1}, 0.4},
		"large count":       {negativeBinomial{}, reading{y: 500, exposure: 150}, 0.05},
		"share":             {binomial{}, reading{y: 3, exposure: 7}, 0},
		"yes":               {bernoulli{}, reading{y: 1, exposure: 1}, 0},
		"exponential":       {exponential{}, reading{y: 1.7, exposure: 1}, 0},
		"gamma":             {gamma{}, reading{y: 1.7, exposure: 1}, 0.3},
		"gamma, noisy":      {gamma{}, reading{y: 0.4, exposure: 1}, 2.5},
	}
	seen := map[string]bool{}
	for name, c := range all {
		c.o.shape, c.o.noise = c.of.shaped(c.value)
		all[name] = c
		seen[c.of.about().Name] = true
	}
	for _, name := range ValuesNames() {
		if !seen[name] {
			t.Errorf("there is no case of values of kind %s", name)
		}
	}
	return all
}

// TestLikelihoodDerivatives compares derivatives with differences.
func TestLikelihoodDerivatives(t *testing.T) {
	t.Parallel()
	for name, c := range likelihoodCases(t) {
		t.Run(name, func(t *testing.T) {
			at := func(f, value float64) terms {
				o := c.o
				o.shape, o.noise = c.of.shaped(value)
				now := c.of.terms(o, c.of.offset(o.exposure)+f)
				now.value += c.of.base(o)
				return now
			}
			for _, f := range []float64{-1.3, 0.2, 1.7} {
				const h = 1e-5
				got, up, down := at(f, c.value), at(f+h, c.value), at(f-h, c.value)
				check := func(what string, got, want float64) {
					t.Helper()
					if math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
						t.Errorf("%s at %v is %v, want %v", what, f, got, want)
					}
				}
				check("slope", got.slope, (up.value-down.value)/2/h)
				check("bend", got.bend, (up.curve-down.curve)/2/h)
				check("curve", got.curve, -(up.slope-down.slope)/2/h)
				check("weight", got.weight, max(got.curve, 0))
				if c.of.concave() && !(got.curve >= 0) {
					t.Errorf("curve %v at %v, but the log density is said to be concave", got.curve, f)
				}
				if c.of.parameter().name != "" && c.value > 0 {
					up, down = at(f, c.value+h), at(f, c.value-h)
					check("value by parameter", got.valueBy, (up.value-down.value)/2/h)
					check("slope by parameter", got.slopeBy, (up.slope-down.slope)/2/h)
					check("weight by parameter", got.weightBy, (up.weight-down.weight)/2/h)
				}
			}
		})
	}
}

// TestLikelihoodsAreDistributions compares densities, distribution functions, quantiles and moments of a reading with each other, where f
// is normal, and where it is known.
func TestLikelihoodsAreDistributions(t *testing.T) {
	t.Parallel()
	for name, c := range likelihoodCases(t) {
		for _, sd := range []float64{0, 0.3, 0.8} {
			t.Run(fmt.Sprintf("%s, sd %v", name, sd), func(t *testing.T) {
				const mean = 0.4
				offset := c.of.offset(c.o.exposure)
				density := func(y float64) float64 {
					if c.of.check(y, c.o.exposure, math.NaN()) != nil {
						return 0
					}
					return math.Exp(c.of.predictive(c.o.at(y), offset+mean, sd*sd))
				}
				cdf := func(y float64) float64 { return c.of.cdf(c.o.at(y), mean, sd) }
				for _, p := range []float64{0.02, 0.31, 0.5, 0.84, 0.97} {
					q := c.of.quantile(c.o, mean, sd, p)
					if c.of.about().Whole {
						if !(cdf(q) >= p) || q > 0 && !(cdf(q-1) < p) {
							t.Errorf("quantile of %v is %v, where the distribution function is %v after %v", p, q, cdf(q), cdf(q-1))
						}
						about(t, "probability", density(q), cdf(q)-cdf(q-1), 1e-5)
						continue
					}
					about(t, fmt.Sprintf("distribution function at the quantile of %v", p), cdf(q), p, 1e-7)
					h := 1e-4 * math.Abs(q)
					about(t, fmt.Sprintf("density at the quantile of %v, times the value", p), q*density(q), q*(cdf(q+h)-cdf(q-h))/2/h, 1e-4)
				}
				m, s := c.of.measurement(c.o, mean, sd)
				if c.of.about().Whole && m < 10 { // sums of tails of the distribution function
					first, second := 0.0, 0.0
					for y, tail := 0.0, 1.0; y < 1e3 && tail > 1e-9; y++ {
						tail = 1 - cdf(y)
						first += tail
						second += (2*y + 1) * tail
					}
					about(t, "mean", m/first, 1, 1e-4)
					about(t, "sd", s/math.Sqrt(second-first*first), 1, 1e-3)
				}
				quantity, spread := c.of.moments(mean, sd)
				if sd == 0 {
					about(t, "quantity", quantity, c.of.inverse(mean), 1e-12)
					about(t, "sd of the quantity", spread, 0, 1e-7)
				}
				if f := c.of.link(c.of.inverse(mean)); math.Abs(f-mean) > 1e-12 {
					t.Errorf("link of inverse is %v", f)
				}
			})
		}
	}
}

// TestUnknownValues: a kind that does not exist is an error, and never another kind.
func TestUnknownValues(t *testing.T) {
	t.Parallel()
	none := Values(len(likelihoods))
	if err := (Data{Nodes: []int{0}, Y: []float64{1}}).CheckValues(3, none); err == nil {
		t.Error("an unknown kind of values was accepted")
	}
	if err := (Shape{}).check(none); err == nil {
		t.Error("the shape of an unknown kind of values was accepted")
	}
	if err := none.UnmarshalText([]byte("duration")); err != nil || none != Duration {
		t.Errorf("%v, %v", none, err)
	}
}
