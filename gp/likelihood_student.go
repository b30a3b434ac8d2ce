package gp

import "math"

// Student's t with ν degrees of freedom and squared scale s: with residual e = y − f,
//
//	log p = base − (ν+1)/2 · log(1 + e²/(νs)).
//
// It is not log-concave: the second derivative by f has the wrong sign for
// e² > νs. In its place stands its expectation, the Fisher information
//
//	W = (ν+1)/((ν+3)s),
//
// the same for all residuals. Newton's method becomes Fisher scoring with one factored
// matrix, and the marginal likelihood has no term through the mode (Hartmann and
// Vanhatalo, Statistics and Computing 29, 2019). In the posterior, W is multiplied by
// the weight (ν+1)/(ν + e²/s) of the EM algorithm, whose mean is 1: an outlier
// has next to no information.

func studentBase(nu, s float64) float64 {
	return logGamma((nu+1)/2) - logGamma(nu/2) - math.Log(nu*math.Pi*s)/2
}

func studentTerms(e, nu, s float64) terms {
	q := nu*s + e*e
	w := (nu + 1) / (nu + 3) / s
	return terms{
		value:    -(nu + 1) / 2 * math.Log1p(e*e/(nu*s)),
		slope:    (nu + 1) * e / q,
		weight:   w,
		valueBy:  ((nu+1)*e*e/q - 1) / (2 * s),
		slopeBy:  -(nu + 1) * e * nu / q / q,
		weightBy: -w / s,
	}
}

func studentPosteriorWeight(e, nu, s float64) float64 {
	return (nu + 1) / (nu + 3) * (nu + 1) / (nu*s + e*e)
}
