package latent

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
)

// Slopes are the derivatives of a log score by the functions.
type Slopes struct{ Mean, Variance *mat.Dense }

// NewSlopes returns slopes for n nodes.
func NewSlopes(n, classes int) *Slopes {
	f := New(n, classes)
	return &Slopes{f.Mean, f.Variance}
}

const (
	scoreRows   = 64   // that one goroutine scores at a time
	leastDev    = 1e-6 // of a deviation by whose inverse a derivative is multiplied
	leastChance = 1e-300
)

// LogScore returns Σ_i log p_i(class[i]) and its derivative by the logarithm of the
// temperature, and sets the slopes; nil slopes are left out.
func (l Functions) LogScore(class []int, k Calibration, slopes *Slopes) (sum, byTemperature float64) {
	n, classes := l.Mean.Dims()
	z := NormalPoints(searchPoints, classes)
	sums := make([][2]float64, (n+scoreRows-1)/scoreRows)
	parallel.Ranges(n, scoreRows, func(lo, hi int) {
		r := scorer{k, z, make([]float64, classes), make([]float64, classes), make([]float64, classes)}
		part := &sums[lo/scoreRows]
		for i := lo; i < hi; i++ {
			var dm, dv []float64
			if slopes != nil {
				dm, dv = slopes.Mean.RawRowView(i), slopes.Variance.RawRowView(i)
			}
			if class[i] == Unscored {
				clear(dm)
				clear(dv)
				continue
			}
			value, slope := r.row(l.Mean.RawRowView(i), l.Variance.RawRowView(i), class[i], dm, dv)
			part[0] += value
			part[1] += slope
		}
	})
	for _, part := range sums {
		sum += part[0]
		byTemperature += part[1]
	}
	return sum, byTemperature
}

// scorer scores one node after the other.
type scorer struct {
	Calibration
	z        *mat.Dense
	f, p, sd []float64
}

// row returns log p(class) and its derivative by log temperature, and sets dm and dv
// unless they are nil. With π the softmax of f = (m + spread·√v·z)/T and p the mean of
// π_class over z, ∂p = mean of π_class·(δ − π)·∂f.
func (r *scorer) row(mean, variance []float64, class int, dm, dv []float64) (value, slope float64) {
	for c, v := range variance {
		r.sd[c] = r.Spread * math.Sqrt(max(0, v))
	}
	clear(dm)
	clear(dv)
	points, _ := r.z.Dims()
	total := 0.0
	for s := range points {
		z := r.z.RawRowView(s)
		for c := range r.f {
			r.f[c] = (mean[c] + r.sd[c]*z[c]) / r.Temperature
		}
		Softmax(r.p, r.f)
		own := r.p[class]
		total += own
		inner := 0.0
		for c, p := range r.p {
			inner += p * r.f[c]
		}
		slope -= own * (r.f[class] - inner)
		if dm == nil {
			continue
		}
		for c, p := range r.p {
			g := -own * p
			if c == class {
				g += own
			}
			dm[c] += g
			dv[c] += g * z[c]
		}
	}
	total = max(total, leastChance)
	for c := range dm {
		dm[c] /= total * r.Temperature
		dv[c] *= r.Spread * r.Spread / (2 * max(leastDev, r.sd[c]) * total * r.Temperature)
	}
	return math.Log(total / float64(points)), slope / total
}
