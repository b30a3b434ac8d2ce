// Package binomial has intervals of the binomial distribution.
package binomial

import "gonum.org/v1/gonum/stat/distuv"

// Coverage is the probability of Interval, at least.
const Coverage = 0.95

// Interval returns the central 95 % interval of the number of successes in n trials with
// probability p, by the binomial distribution.
func Interval(n int, p float64) (lo, hi int) {
	if p <= 0 || p >= 1 {
		return int(float64(n) * p), int(float64(n) * p)
	}
	b := distuv.Binomial{N: float64(n), P: p}
	sum := 0.0
	lo, hi = -1, n
	for k := range n + 1 {
		sum += b.Prob(float64(k))
		if lo < 0 && sum > (1-Coverage)/2 {
			lo = k
		}
		if sum >= (1+Coverage)/2 {
			hi = k
			break
		}
	}
	return max(lo, 0), hi
}
