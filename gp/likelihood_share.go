package gp

import "math"

// Shares are binomial: y positives of n trials, each with the probability
// p = 1/(1 + exp(−predictor)). Yes-no values are those of one trial.

// shareBase is the logarithm of the number of ways to choose y of n.
func shareBase(y, n float64) float64 {
	return logGamma(n+1) - logGamma(y+1) - logGamma(n-y+1)
}

func shareTerms(y, n, predictor float64) terms {
	p := logistic(predictor)
	w := n * p * logistic(-predictor)
	value := y*predictor - n*(max(predictor, 0)+math.Log1p(math.Exp(-math.Abs(predictor))))
	return terms{value: value, slope: y - n*p, curve: w, weight: w, bend: w * (1 - 2*p)}
}
