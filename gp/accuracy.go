package gp

import "math"

// accuracy says how small a residual r = b − Hx has to be. What counts is its size
// beside the noise. A sample with a residual is off by K_·x H⁻¹r, independently of
// the exact sample's deviation from the mean, so its variance is too large by that
// of K_·x H⁻¹r. Were the residual white noise of variance share²·σ², this would be
//
//	share² · K_·x H⁻¹ N H⁻¹ K_x·  ≤  share² · (posterior variance)
//
// at every node, because the noise of the measurements is part of what makes the
// posterior variance. Residuals of conjugate gradients are nearly white; smooth
// remainders add up to some four times as much.
type accuracy struct {
	loosest  float64 // relative residual that is never exceeded
	tightest float64 // relative residual that is always enough
	share    float64 // of the noise
	single   bool    // iterations may work in float32
	squared  bool    // the whole residual is measured by σ², not its root mean square by σ
}

var (
	// forMeans allows an error of the mean of about 1 % of a standard deviation.
	forMeans = accuracy{loosest: 1e-4, tightest: 1e-6, share: 0.01}
	// forSamples allows 1 % of the variance.
	forSamples = accuracy{loosest: 1e-2, tightest: 1e-6, share: 0.05, single: true}
	// forCovariances: k'H⁻¹k from x with Hx = k − r has the error r'H⁻¹r ≤ ‖r‖²/σ²,
	// which has to be small beside variances that may be below σ².
	forCovariances = accuracy{loosest: 1e-4, tightest: 1e-9, share: 0.05, squared: true}
)

// of returns the tolerances for n rows with so much noise at least, given the norms of the
// right-hand sides.
func (a accuracy) of(n int, least float64, norms []float64) []float64 {
	tols := make([]float64, len(norms))
	allowed := math.Sqrt(least*float64(n)) * a.share
	if a.squared {
		allowed = least * a.share
	}
	for j, norm := range norms {
		if tols[j] = a.loosest; norm > 0 {
			tols[j] = min(a.loosest, max(a.tightest, allowed/norm))
		}
	}
	return tols
}
