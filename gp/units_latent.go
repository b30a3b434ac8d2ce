package gp

import (
	"fmt"
	"math"
	"slices"
)

// latentMeanVar is the prior variance of the unknown mean of a log rate or a logit
// about that of the overall rate: a factor of e² either way. The mean over nodes
// differs from the overall rate, which has the weights of the exposures, where rates
// differ.
const latentMeanVar = 4

// latentUnits returns the units of f for values that are not Gaussian. A log rate or a
// logit has the scale 1 and the overall rate, or the known mean, as its center.
func latentUnits(d Data, opts FitOptions) (Units, error) {
	if opts.Values == Student {
		return studentUnits(d, opts)
	}
	if opts.NoiseSD != nil {
		return Units{}, fmt.Errorf("%w: values of kind %s have no noise of their own; leave out the noise that is given", ErrData, opts.Values)
	}
	if opts.Mean != nil {
		u := Units{opts.Values.Link(*opts.Mean), 1}
		if math.IsNaN(u.Center) || math.IsInf(u.Center, 0) {
			return u, fmt.Errorf("%w: the mean of values of kind %s is given as %v; want a rate above 0, or a probability between 0 and 1", ErrData, opts.Values, *opts.Mean)
		}
		return u, nil
	}
	events, exposure := 0.0, 0.0
	for k, y := range d.Y {
		events += y
		exposure += d.exposure(k)
	}
	if math.IsInf(exposure, 0) {
		return Units{}, fmt.Errorf("%w: the sum of the exposures is no number; give them in another unit", ErrData)
	}
	// Half an event guards against none at all, and against nothing but positives.
	if opts.Values == Counts {
		return Units{math.Log(events+0.5) - math.Log(exposure), 1}, nil
	}
	return Units{math.Log(events+0.5) - math.Log(exposure-events+0.5), 1}, nil
}

// studentUnits are the median and the spread of the middle half of the data, which
// outliers do not move, or those of Gaussian data where that half is constant.
func studentUnits(d Data, opts FitOptions) (Units, error) {
	u, err := unitsOf(d, opts)
	if err != nil {
		return u, err
	}
	sorted := slices.Sorted(slices.Values(d.Y))
	n := len(sorted)
	const quartiles = 1.349 // between the quartiles of N(0, 1)
	spread := (sorted[3*(n-1)/4+min(1, (3*(n-1))%4)] - sorted[(n-1)/4]) / quartiles
	if spread > 0 && spread < u.Scale {
		u.Scale = spread
		if opts.Mean == nil {
			u.Center = (sorted[(n-1)/2] + sorted[n/2]) / 2
		}
	}
	return u, u.check(d, opts)
}

// standardLatent returns data as observe takes them.
func (u Units) standardLatent(d Data, v Values) Data {
	if v == Student {
		return u.standard(d)
	}
	return d.Clone()
}
