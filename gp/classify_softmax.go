package gp

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"grfgp/internal/parallel"
)

// latents are independent normal variables, a row per node and a column per
// class, whose softmax is the chance of a class.
type latents struct{ mean, variance *mat.Dense }

// softmaxDraws is how many points an expectation over all classes takes. With
// deviations up to four a probability is off by 0.01, root mean square over two to
// twenty classes, and by 0.045 at most; with deviations of one by 0.005 and 0.03.
const softmaxDraws = 128

// normalPoints returns points that are spread like a standard normal variable of
// so many dimensions, with their mirror images: multiples of the inverse powers
// of the root of x^(d+1) = x + 1, modulo one, through the normal quantile.
func normalPoints(points, dims int) *mat.Dense {
	root := 1.5
	for range 64 {
		root = math.Pow(1+root, 1/float64(dims+1))
	}
	z := mat.NewDense(points, dims, nil)
	for d := range dims {
		step := math.Pow(root, -float64(d+1))
		for s := 0; s < points/2; s++ {
			_, u := math.Modf(0.5 + float64(s+1)*step)
			v := distuv.UnitNormal.Quantile(u)
			z.Set(2*s, d, v)
			z.Set(2*s+1, d, -v)
		}
	}
	return z
}

// Calibration turns latent functions into probabilities that can be trusted:
// their deviations from the mean are multiplied by Spread, and all is divided by
// Temperature. Both are set so that labels are likeliest by the others.
type Calibration struct {
	Temperature float64 `json:"temperature"`
	Spread      float64 `json:"spread"` // from 0, the mean alone, to 1, as the model has it
}

// asIs changes nothing.
var asIs = Calibration{1, 1}

func (k Calibration) valid() bool {
	return k.Temperature > 0 && k.Temperature <= math.MaxFloat64 && k.Spread >= 0 && k.Spread <= 1
}

const softmaxRows = 256

// probabilities sets row i of dst to the expected softmax.
func (l latents) probabilities(dst *mat.Dense, k Calibration) {
	n, classes := l.mean.Dims()
	points := normalPoints(softmaxDraws, classes)
	parallel.Ranges(n, softmaxRows, func(lo, hi int) {
		f, sd := make([]float64, classes), make([]float64, classes)
		for i := lo; i < hi; i++ {
			out, mean := dst.RawRowView(i), l.mean.RawRowView(i)
			clear(out)
			for c, v := range l.variance.RawRowView(i) {
				sd[c] = k.Spread * math.Sqrt(max(0, v))
			}
			for s := range softmaxDraws {
				for c, z := range points.RawRowView(s) {
					f[c] = (mean[c] + sd[c]*z) / k.Temperature
				}
				softmax(f, f)
				for c, p := range f {
					out[c] += p / softmaxDraws
				}
			}
		}
	})
}

// softmax sets dst to exp f, normalised.
func softmax(dst, f []float64) {
	most := f[0]
	for _, v := range f {
		most = max(most, v)
	}
	sum := 0.0
	for c, v := range f {
		dst[c] = math.Exp(v - most)
		sum += dst[c]
	}
	for c := range dst {
		dst[c] /= sum
	}
}

// logScore returns the mean log probability of the classes.
func logScore(p *mat.Dense, class []int) float64 {
	sum := 0.0
	for i, c := range class {
		sum += math.Log(max(p.At(i, c), 1e-300))
	}
	return sum / float64(len(class))
}

// temperatureSpread is the standard deviation, in e-folds, of the prior on the
// temperature: a handful of labels say little about it.
const temperatureSpread = 1

// spreads are those that are tried; the last still lets draws differ.
var spreads = []float64{1, 0.7, 0.4, 0.2, 0.05}

// calibrate returns the calibration under which the classes are likeliest, with
// that prior.
func (l latents) calibrate(class []int) Calibration {
	l, class = l.thinned(class)
	n, classes := l.mean.Dims()
	p := mat.NewDense(n, classes, nil)
	best, most := asIs, math.Inf(-1)
	lo, hi := math.Log(1.0/100), math.Log(20)
	for _, spread := range spreads {
		value := func(x float64) float64 {
			l.probabilities(p, Calibration{math.Exp(x), spread})
			return logScore(p, class) - x*x/(2*temperatureSpread*temperatureSpread*float64(n))
		}
		x := peak(lo, hi, value)
		v := value(x)
		if v <= most {
			break
		}
		best, most = Calibration{math.Exp(x), spread}, v
		lo, hi = max(lo, x-1), min(hi, x+1) // less spread moves it little
	}
	return best
}

// calibrationLabels is the most labels that a calibration is found from: two
// numbers do not need more.
const calibrationLabels = 1000

// thinned returns every so many rows.
func (l latents) thinned(class []int) (latents, []int) {
	n, classes := l.mean.Dims()
	if n <= calibrationLabels {
		return l, class
	}
	few := latents{mat.NewDense(calibrationLabels, classes, nil), mat.NewDense(calibrationLabels, classes, nil)}
	some := make([]int, calibrationLabels)
	for q := range some {
		i := (2*q + 1) * n / (2 * calibrationLabels)
		copy(few.mean.RawRowView(q), l.mean.RawRowView(i))
		copy(few.variance.RawRowView(q), l.variance.RawRowView(i))
		some[q] = class[i]
	}
	return few, some
}

// peak returns where a function with one peak in [lo, hi] has it, to 0.02, by
// golden sections.
func peak(lo, hi float64, f func(x float64) float64) float64 {
	const ratio, tol = 0.6180339887498949, 0.02
	a, b := hi-ratio*(hi-lo), lo+ratio*(hi-lo)
	fa, fb := f(a), f(b)
	for hi-lo > tol {
		if fa >= fb {
			hi, b, fb = b, a, fa
			a = hi - ratio*(hi-lo)
			fa = f(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + ratio*(hi-lo)
			fb = f(b)
		}
	}
	return (lo + hi) / 2
}
