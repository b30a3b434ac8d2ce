package gp

import "math"

// Counts are negative binomial with mean μ = exp(predictor) and variance μ + φμ²; with
// φ = 0 they are Poisson. Both are log-concave in the predictor. With r = 1/φ,
//
//	log p = log Γ(y + r) − log Γ(r) − log y! + y log φμ − (y + r) log(1 + φμ).

// leastDispersion is where a negative binomial number is a Poisson number, to
// rounding.
const leastDispersion = 1e-9

// countBase is the part of the log density that does not depend on μ.
func countBase(y, phi float64) float64 {
	base := -logGamma(y + 1)
	if phi < leastDispersion {
		return base
	}
	r := 1 / phi
	return base + logGamma(y+r) - logGamma(r) + y*math.Log(phi)
}

func countTerms(y, predictor, phi float64) terms {
	mu := math.Exp(predictor)
	if phi < leastDispersion {
		return terms{value: y*predictor - mu, slope: y - mu, curve: mu, weight: mu, bend: mu, valueBy: ((y-mu)*(y-mu) - y) / 2, slopeBy: (mu - y) * mu, weightBy: mu*y - 2*mu*mu}
	}
	r, c := 1/phi, 1+phi*mu
	w := mu * (1 + phi*y) / c / c
	t := terms{value: y*predictor - (y+r)*math.Log1p(phi*mu), slope: (y - mu) / c, curve: w, weight: w}
	t.bend = t.weight * (1 - phi*mu) / c
	t.slopeBy = -t.slope * mu / c
	t.weightBy = mu*y/c/c - 2*t.weight*mu/c
	// ∂/∂r = ψ(y + r) − ψ(r) − log(1 + μ/r) + (μ − y)/(r + μ), and ∂r/∂φ = −r².
	t.valueBy = -r * r * (digammaDifference(y, r) - math.Log1p(phi*mu) + (mu-y)/(r+mu))
	return t
}

// digammaDifference returns ψ(y + r) − ψ(r) for an integer y, without cancellation
// where y is small.
func digammaDifference(y, r float64) float64 {
	if y > 200 {
		return digamma(y+r) - digamma(r)
	}
	sum := 0.0
	for j := y - 1; j >= 0; j-- {
		sum += 1 / (r + j)
	}
	return sum
}

func digamma(x float64) float64 {
	sum := 0.0
	for ; x < 10; x++ {
		sum -= 1 / x
	}
	q := 1 / (x * x)
	return sum + math.Log(x) - 1/(2*x) - q*(1.0/12-q*(1.0/120-q*(1.0/252-q*(1.0/240-q/132))))
}

func logGamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}
