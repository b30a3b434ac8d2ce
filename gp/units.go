package gp

import (
	"fmt"
	"math"
	"slices"
)

// Units converts values to standardised ones, (y − Center)/Scale, and back.
type Units struct {
	Center float64 `json:"center"`
	Scale  float64 `json:"scale"`
}

// Bounds on the distance of measurements from their mean. Variances are squares and
// must be normal floating-point numbers, also where they are small beside the
// variance of the data.
const (
	mostSpread  = 1e150
	leastSpread = 1e-150
)

// unitsOf returns the units in which data are modelled: mean and standard
// deviation (divisor n) of all measurements, or the known mean and that deviation.
//
// Measurements that are all equal, or a single one, have no deviation. They can be
// modelled if both mean and noise are known: the unit is then their distance
// from the mean, or the noise if that is larger.
func unitsOf(d Data, opts FitOptions) (Units, error) {
	n := 0.0
	for k := range d.Y {
		n += d.count(k)
	}
	mean := 0.0 // dividing before adding keeps sums of huge values finite
	for k, v := range d.Y {
		mean += v / n * d.count(k)
	}
	largest, constant := 0.0, true // whatever the mean is rounded to
	for k, v := range d.Y {
		largest = max(largest, math.Abs(v-mean), math.Sqrt(d.scatter(k)/d.count(k)))
		constant = constant && v == d.Y[0] && d.scatter(k) == 0
	}
	var u Units
	var err error
	switch {
	case constant:
		u, err = constantUnits(d, opts)
	case !(largest <= mostSpread) || math.IsInf(mean, 0):
		err = fmt.Errorf("%w: values are up to %.3g from their mean, too far for a variance to be a number; correct them, or give them in "+
			"another unit", ErrData, largest)
	default:
		sum := 0.0
		for k, v := range d.Y {
			r := (v - mean) / largest
			sum += d.count(k)*r*r + d.scatter(k)/largest/largest
		}
		u = Units{mean, largest * math.Sqrt(sum/n)}
	}
	if err != nil {
		return u, err
	}
	if opts.Mean != nil {
		u.Center = *opts.Mean
	}
	return u, u.check(d, opts)
}

// constantUnits returns the units of measurements that are all equal.
func constantUnits(d Data, opts FitOptions) (Units, error) {
	what := fmt.Sprintf("all %d values are %v", d.Len(), d.Y[0])
	if d.Len() == 1 {
		what = fmt.Sprintf("%v is the only value", d.Y[0])
	}
	noise := 0.0
	switch {
	case opts.Mean == nil || opts.NoiseSD == nil && d.NoiseVar == nil:
		return Units{}, fmt.Errorf("%w: %s; a constant says nothing about how values vary over the graph: measure more nodes, or give both "+
			"the mean and the noise", ErrData, what)
	case d.NoiseVar != nil:
		noise = math.Sqrt(slices.Max(d.NoiseVar))
	default:
		noise = *opts.NoiseSD
	}
	u := Units{*opts.Mean, max(math.Abs(d.Y[0]-*opts.Mean), noise)}
	if u.Scale == 0 {
		return Units{}, fmt.Errorf("%w: %s, as is the given mean, and there is no noise: nothing says how far values vary; give a mean or a "+
			"noise that tells", ErrData, what)
	}
	return u, nil
}

// check refuses units in which a square of the data is no normal number.
func (u Units) check(d Data, opts FitOptions) error {
	if u.Scale < leastSpread {
		return fmt.Errorf("%w: values differ by %.3g, too little for a variance to be a number; give them in another unit", ErrData, u.Scale)
	}
	for _, v := range d.Y {
		if off := math.Abs(v - u.Center); !(off <= mostSpread && off/u.Scale <= mostSpread) {
			return fmt.Errorf("%w: the value %v is too far from the mean %v for a variance to be a number; correct one of them, or give them in "+
				"another unit", ErrData, v, u.Center)
		}
	}
	if opts.NoiseSD != nil && d.NoiseVar == nil && !(*opts.NoiseSD <= mostSpread && *opts.NoiseSD/u.Scale <= mostSpread) {
		return fmt.Errorf("%w: the noise %v is too large beside values that vary by %.3g; correct one of them", ErrData, *opts.NoiseSD, u.Scale)
	}
	return nil
}

// standard returns the data in these units, as a deep copy.
func (u Units) standard(d Data) Data {
	s := d.Clone()
	for k := range s.Y {
		s.Y[k] = (s.Y[k] - u.Center) / u.Scale
	}
	for _, squares := range [][]float64{s.NoiseVar, s.Scatter} {
		for k := range squares {
			squares[k] = squares[k] / u.Scale / u.Scale
		}
	}
	return s
}

// standardLatent returns data as observe takes them.
func (u Units) standardLatent(d Data, v Values) Data {
	if v.About().Noisy {
		return u.standard(d)
	}
	return d.Clone()
}
