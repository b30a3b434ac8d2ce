// Package latent turns normal latent functions, one per class, into class
// probabilities, and calibrates these.
package latent

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"grfgp/internal/parallel"
)

// Functions are independent normal variables, a row per node and a column per
// class. Their softmax is the probability of a class.
type Functions struct{ Mean, Variance *mat.Dense }

// New returns functions for n nodes.
func New(n, classes int) Functions {
	return Functions{mat.NewDense(n, classes, nil), mat.NewDense(n, classes, nil)}
}

// Scaled multiplies the functions by a number, in place.
func (l Functions) Scaled(by float64) Functions {
	l.Mean.Scale(by, l.Mean)
	l.Variance.Scale(by*by, l.Variance)
	return l
}

// Points is the number of points of an expectation over all classes, about. With
// deviations up to four a probability is off by 0.01, root mean square over two to
// twenty classes, and by 0.09 at most; with deviations up to one by 0.002 and 0.015.
const Points = 256

// shiftedClasses is the most classes for which points treat all classes alike.
const shiftedClasses = 64

// NormalPoints returns about the given number of points that are spread like a standard normal variable of
// the given dimension, with their mirror images: multiples of the inverse powers
// of the root of x^(d+1) = x + 1, modulo one, through the normal quantile. Each point comes with all its cyclic shifts,
// up to shiftedClasses dimensions, so that no class is preferred: functions of the same mean and variance have the same
// probability, and where all probabilities are nearly the same, they still have the order of the means.
func NormalPoints(points, dims int) *mat.Dense {
	root := 1.5
	for range 64 {
		root = math.Pow(1+root, 1/float64(dims+1))
	}
	shifts := 1
	if dims <= shiftedClasses {
		shifts = dims
	}
	pairs := max(2, (points+shifts)/(2*shifts))
	z := mat.NewDense(2*pairs*shifts, dims, nil)
	for d := range dims {
		step := math.Pow(root, -float64(d+1))
		for s := range pairs {
			_, u := math.Modf(0.5 + float64(s+1)*step)
			v := distuv.UnitNormal.Quantile(u)
			for by := range shifts {
				row := 2 * (s*shifts + by)
				z.Set(row, (d+by)%dims, v)
				z.Set(row+1, (d+by)%dims, -v)
			}
		}
	}
	return z
}

// Calibration corrects the probabilities: deviations of the functions from their
// mean are multiplied by Spread, and all is divided by Temperature.
type Calibration struct{ Temperature, Spread float64 }

// none changes nothing.
var none = Calibration{1, 1}

// BlockRows is the number of nodes that one goroutine handles at a time.
const BlockRows = 256

// Probabilities sets row i of dst to the expected softmax.
func (l Functions) Probabilities(dst *mat.Dense, k Calibration) {
	n, classes := l.Mean.Dims()
	points := NormalPoints(Points, classes)
	count, _ := points.Dims()
	parallel.Ranges(n, BlockRows, func(lo, hi int) {
		f, sd := make([]float64, classes), make([]float64, classes)
		for i := lo; i < hi; i++ {
			out, mean := dst.RawRowView(i), l.Mean.RawRowView(i)
			clear(out)
			for c, v := range l.Variance.RawRowView(i) {
				sd[c] = k.Spread * math.Sqrt(max(0, v))
			}
			for s := range count {
				for c, z := range points.RawRowView(s) {
					f[c] = (mean[c] + sd[c]*z) / k.Temperature
				}
				Softmax(f, f)
				for c, p := range f {
					out[c] += p
				}
			}
			for c := range out {
				out[c] /= float64(count)
			}
		}
	})
}

// Softmax sets dst to exp f, normalised.
func Softmax(dst, f []float64) {
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

// Unscored is the class of a node that is not scored.
const Unscored = -1

// Scored returns the number of nodes that are scored.
func Scored(class []int) int {
	n := 0
	for _, c := range class {
		if c != Unscored {
			n++
		}
	}
	return n
}

// LogScore returns the mean log probability of the classes; that of equally probable classes if no node is scored.
func LogScore(p *mat.Dense, class []int) float64 {
	sum := 0.0
	for i, c := range class {
		if c != Unscored {
			sum += math.Log(max(p.At(i, c), 1e-300))
		}
	}
	if n := Scored(class); n > 0 {
		return sum / float64(n)
	}
	_, classes := p.Dims()
	return -math.Log(float64(classes))
}

// Draws returns the class probabilities of each draw of latent functions: f has
// the given number of columns per class, and is multiplied by scale.
func (k Calibration) Draws(f, mean *mat.Dense, draws int, scale float64) []*mat.Dense {
	n, classes := mean.Dims()
	all := make([]*mat.Dense, draws)
	for s := range all {
		all[s] = mat.NewDense(n, classes, nil)
		for i := range n {
			row, to := f.RawRowView(i), all[s].RawRowView(i)
			for c, m := range mean.RawRowView(i) {
				to[c] = scale / k.Temperature * (m + k.Spread*(row[c*draws+s]-m))
			}
			Softmax(to, to)
		}
	}
	return all
}

// Argmax returns the first of the largest values.
func Argmax(p []float64) int {
	best := 0
	for c, v := range p {
		if v > p[best] {
			best = c
		}
	}
	return best
}
