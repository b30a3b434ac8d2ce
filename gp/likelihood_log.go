package gp

import (
	"fmt"
	"math"
)

// logScale is what likelihoods have in common whose f is the logarithm of the mean, per unit of exposure:
// the quantity is log-normal, and a reading has no noise but its own.
type logScale struct{ logConcave }

func (logScale) link(x float64) float64    { return math.Log(x) }
func (logScale) inverse(f float64) float64 { return math.Exp(f) }

func (logScale) offset(exposure float64) float64 { return math.Log(exposure) }

func (logScale) moments(mean, sd float64) (float64, float64) {
	m := math.Exp(mean + sd*sd/2)
	return m, m * math.Sqrt(math.Expm1(sd*sd))
}

// latentMeanVar is the prior variance of the unknown mean of a log rate or a logit
// about that of the overall rate: a factor of e² either way. The mean over nodes
// differs from the overall rate, which has the weights of the exposures, where rates
// differ.
const latentMeanVar = 4

// centered are the units of a scale of its own: its center is that of the data, unless the mean is given, and err says why data have
// none.
func centered(l likelihood, center float64, err error, opts FitOptions) (Units, error) {
	kind := l.about().Name
	switch {
	case opts.NoiseSD != nil:
		return Units{}, fmt.Errorf("%w: values of kind %s have no noise of their own; leave out the noise that is given", ErrData, kind)
	case opts.Mean == nil:
		return Units{center, 1}, err
	}
	u := Units{l.link(*opts.Mean), 1}
	if math.IsNaN(u.Center) || math.IsInf(u.Center, 0) {
		return u, fmt.Errorf("%w: the mean of values of kind %s is given as %v; want a rate above 0, or a probability between 0 and 1",
			ErrData, kind, *opts.Mean)
	}
	return u, nil
}

// totals returns the sums of the values and of the exposures.
func (d Data) totals() (events, exposure float64, err error) {
	for k, y := range d.Y {
		events += y
		exposure += d.exposure(k)
	}
	if math.IsInf(exposure, 0) {
		return 0, 0, fmt.Errorf("%w: the sum of the exposures is no number; give them in another unit", ErrData)
	}
	return events, exposure, nil
}
