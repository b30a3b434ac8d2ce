package latent

import "math"

// temperatureSpread is the standard deviation, in e-folds, of the prior on the
// temperature: a handful of labels say little about it.
const temperatureSpread = 1

// spreads are the candidates for Spread; the last still lets draws differ.
var spreads = []float64{1, 0.7, 0.4, 0.2, 0.05}

// The range of the temperature.
const coldest, hottest = 1.0 / 100, 20.0

// searchPoints is the number of points of an expectation while a calibration or
// hyperparameters are searched for; what is found is rated with more.
const searchPoints = 48

// Calibrate returns the calibration under which the classes have the highest
// likelihood, with that prior on the temperature; none if no class is scored.
func (l Functions) Calibrate(class []int) Calibration {
	l, class = l.thinned(class)
	n := float64(Scored(class))
	if n == 0 {
		return none
	}
	best, most := none, math.Inf(-1)
	guess, width := 0.0, 0.5
	for _, spread := range spreads {
		x, v := peak(math.Log(coldest), math.Log(hottest), guess, width, func(x float64) (value, slope float64) {
			value, slope = l.LogScore(class, Calibration{math.Exp(x), spread}, nil)
			const variance = temperatureSpread * temperatureSpread
			return value - x*x/(2*variance), slope - x/variance
		})
		if v/n <= most {
			break
		}
		best, most = Calibration{math.Exp(x), spread}, v/n
		guess, width = x, 0.1 // less spread moves it little
	}
	return best
}

// calibrationLabels is the most labels that a calibration is found from: two
// numbers do not need more.
const calibrationLabels = 1000

// thinned returns calibrationLabels rows at even distances, or all.
func (l Functions) thinned(class []int) (Functions, []int) {
	n, classes := l.Mean.Dims()
	if n <= calibrationLabels {
		return l, class
	}
	few := New(calibrationLabels, classes)
	some := make([]int, calibrationLabels)
	for q := range some {
		i := (2*q + 1) * n / (2 * calibrationLabels)
		copy(few.Mean.RawRowView(q), l.Mean.RawRowView(i))
		copy(few.Variance.RawRowView(q), l.Variance.RawRowView(i))
		some[q] = class[i]
	}
	return few, some
}

// peak returns where a function with one peak in [lo, hi] has it, to about 0.01, and
// its value there. It follows the secant of the slope from a guess, the first step is
// of the given width.
func peak(lo, hi, guess, width float64, f func(x float64) (value, slope float64)) (at, most float64) {
	const tol, evaluations = 0.01, 30
	x, most := max(lo, min(hi, guess)), math.Inf(-1)
	lastX, lastSlope := math.NaN(), math.NaN()
	for range evaluations {
		v, slope := f(x)
		if v > most {
			at, most = x, v
		}
		if slope == 0 {
			break
		}
		if slope > 0 {
			lo = x
		} else {
			hi = x
		}
		next := x - slope*(x-lastX)/(slope-lastSlope)
		switch {
		case math.IsNaN(lastX):
			next = x + math.Copysign(width, slope)
		case (slope > 0) == (lastSlope > 0) && !((next-x)*slope > 0): // not concave here
			next = x + 2*(x-lastX)
		}
		if next <= lo || next >= hi || math.IsNaN(next) {
			next = (lo + hi) / 2
		}
		if math.Abs(next-x) < tol || hi-lo < tol {
			break
		}
		lastX, lastSlope, x = x, slope, next
	}
	return at, most
}
