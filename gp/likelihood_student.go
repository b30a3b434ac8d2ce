package gp

import "math"

// Student's t with ν degrees of freedom and squared scale s: with residual e = y − f,
//
//	log p = base − (ν+1)/2 · log(1 + e²/(νs)).
//
// It is not log-concave: an outlier, e² > νs, has a second derivative of the wrong sign,
// and W = 0 there. The mode is found by Fisher scoring: in place of W stands its
// expectation (ν+1)/((ν+3)s), the same for all residuals, so that one factored matrix
// serves all steps. The expectation does not serve the marginal likelihood: a
// model that follows the data has residuals near 0, where W is nearly twice that, and
// would be preferred for it.

func studentBase(nu, s float64) float64 {
	return logGamma((nu+1)/2) - logGamma(nu/2) - math.Log(nu*math.Pi*s)/2
}

func studentTerms(e, nu, s float64) terms {
	q := nu*s + e*e
	t := terms{
		value:   -(nu + 1) / 2 * math.Log1p(e*e/(nu*s)),
		slope:   (nu + 1) * e / q,
		curve:   (nu + 1) * (nu*s - e*e) / q / q,
		bend:    2 * (nu + 1) * e * (3*nu*s - e*e) / q / q / q,
		valueBy: ((nu+1)*e*e/q - 1) / (2 * s),
		slopeBy: -(nu + 1) * e * nu / q / q,
	}
	if t.curve > 0 {
		t.weight = t.curve
		t.weightBy = (nu + 1) * nu * (3*e*e - nu*s) / q / q / q
	}
	return t
}

// studentInformation is the expectation of the second derivative, with the sign of W.
func studentInformation(nu, s float64) float64 { return (nu + 1) / (nu + 3) / s }
