package variational

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"grfgp/gp/internal/latent"
)

// classLikelihood is the chance of a class given one latent function per class.
type classLikelihood interface {
	// expect returns E log p(class | f) for independent normal f, and sets its
	// derivatives by the means and the variances.
	expect(dm, dv, mean, variance []float64, class int) float64
}

// softmaxLikelihood is p(c | f) = exp f_c / Σ exp f. Expectations are over fixed
// points, whose derivatives are those of the sum itself.
type softmaxLikelihood struct{ points *mat.Dense }

func newSoftmaxLikelihood(classes int) softmaxLikelihood {
	return softmaxLikelihood{latent.NormalPoints(softmaxPoints, classes)}
}

// softmaxPoints is the number of points of an expectation, about.
const softmaxPoints = 128

func (l softmaxLikelihood) expect(dm, dv, mean, variance []float64, class int) float64 {
	clear(dm)
	clear(dv)
	f := make([]float64, len(mean))
	sd := roots(variance)
	sum := 0.0
	count, _ := l.points.Dims()
	weight := 1 / float64(count)
	for s := range count {
		z := l.points.RawRowView(s)
		for c := range f {
			f[c] = mean[c] + sd[c]*z[c]
		}
		latent.Softmax(f, f)
		sum += math.Log(max(f[class], math.SmallestNonzeroFloat64)) * weight
		f[class]--
		for c, p := range f {
			dm[c] -= p * weight
			dv[c] -= p * z[c] / (2 * sd[c]) * weight
		}
	}
	return sum
}

// roots returns standard deviations, none of them zero.
func roots(variance []float64) []float64 {
	sd := make([]float64, len(variance))
	for c, v := range variance {
		sd[c] = math.Sqrt(max(v, 1e-12))
	}
	return sd
}

const (
	robustError  = 1e-3 // chance that the largest latent function is not the class
	robustPoints = 40
)

// robustMax is p(c | f) = 1 − ε where f_c is the largest, and ε/(C−1) elsewhere.
// Then E log p needs P(f_c is the largest) alone, an integral over f_c.
type robustMax struct{ at, weight []float64 }

func newRobustMax() robustMax {
	l := robustMax{make([]float64, robustPoints), make([]float64, robustPoints)}
	quad.Hermite{}.FixedLocations(l.at, l.weight, math.Inf(-1), math.Inf(1))
	for q := range l.at {
		l.weight[q] /= math.SqrtPi
		l.at[q] *= math.Sqrt2
	}
	return l
}

// largest returns P(f_class is the largest), and sets its derivatives unless dm is
// nil.
func (l robustMax) largest(dm, dv, mean, variance []float64, class int) float64 {
	sd := roots(variance)
	below, slope := make([]float64, len(mean)), make([]float64, len(mean))
	clear(dm)
	clear(dv)
	total := 0.0
	for q, t := range l.at {
		x := mean[class] + sd[class]*t
		all := 1.0
		for c := range mean {
			if c == class {
				continue
			}
			u := (x - mean[c]) / sd[c]
			below[c] = max(distuv.UnitNormal.CDF(u), 1e-300)
			slope[c] = distuv.UnitNormal.Prob(u) / below[c] / sd[c]
			all *= below[c]
		}
		total += l.weight[q] * all
		if dm == nil {
			continue
		}
		for c := range mean {
			if c == class {
				continue
			}
			g := l.weight[q] * all * slope[c] // ∂/∂x
			dm[class] += g
			dv[class] += g * t / (2 * sd[class])
			dm[c] -= g
			dv[c] -= g * (x - mean[c]) / (2 * sd[c] * sd[c])
		}
	}
	return total
}

func (l robustMax) expect(dm, dv, mean, variance []float64, class int) float64 {
	p := l.largest(dm, dv, mean, variance, class)
	right, wrong := math.Log(1-robustError), math.Log(robustError/float64(len(mean)-1))
	for c := range dm {
		dm[c] *= right - wrong
		dv[c] *= right - wrong
	}
	return p*right + (1-p)*wrong
}

// predict sets p to the chance of each class.
func (l robustMax) predict(p, mean, variance []float64) {
	sum := 0.0
	for c := range p {
		chance := l.largest(nil, nil, mean, variance, c)
		p[c] = chance*(1-robustError) + (1-chance)*robustError/float64(len(p)-1)
		sum += p[c]
	}
	for c := range p {
		p[c] /= sum
	}
}
