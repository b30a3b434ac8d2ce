package covariate

import (
	"math"
	"slices"
	"sort"
)

// planNumbers plans a column of numbers or dates: logarithms if the tail is heavy, mean
// 0 and sd 1 over the nodes that have a value, and within ±4.
func planNumbers(p *plan, c Column) {
	values := make([]float64, 0, len(c.Numbers))
	for _, v := range c.Numbers {
		if !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	slices.Sort(values) // sums in this order do not depend on that of the nodes
	missing := len(c.Numbers) - len(values)
	if len(values) == 0 {
		p.note("%s: left out: no values", c.Name)
		return
	}
	r := Reading{Column: c.Name, Date: c.Kind == Date, Missing: missing, Low: quantile(values, 0.25), High: quantile(values, 0.75)}
	if why := r.chooseForm(values); why != "" {
		p.note("%s: %s", c.Name, why)
	}
	if !r.standardise(values) {
		if missing == 0 {
			p.note("%s: left out: all values are %s", c.Name, writeNumber(values[0]))
		} else {
			p.note("%s: all values are %s, so that only missing values can count", c.Name, writeNumber(values[0]))
			planAbsent(p, c, missing)
		}
		return
	}
	numbers := c.Numbers
	p.dense = append(p.dense, dense{name: c.Name, reading: r, at: func(i int) float64 {
		if v := numbers[i]; !math.IsNaN(v) {
			return r.Position(v)
		}
		return 0
	}})
	if far := r.beyond(values); far > 0 {
		p.note("%s: %s of %s values beyond 4 sds, taken as 4 sds", c.Name, grouped(far), grouped(len(values)))
	}
	planAbsent(p, c, missing)
}

// The rule for logarithms: from tellable values on, a skewness or kurtosis beyond which
// a tail is heavy, and what the logarithm must make of it; or a span of more than an
// order of magnitude.
const (
	tellable      = 10
	heavySkewness = 1.5
	heavyKurtosis = 20
	lighter       = 0.5
	wideSpan      = 10 // 95 % over 5 % quantile from which numbers are compared by ratios
)

// chooseForm decides whether logarithms are taken of sorted values, and says why.
func (r *Reading) chooseForm(values []float64) string {
	low, high := values[0], values[len(values)-1]
	if len(values) < tellable || r.Date || low == high || distinct(values) <= 2 {
		return ""
	}
	skewness, kurtosis := moments(values)
	logs := make([]float64, len(values))
	if low >= 0 {
		positive := values[sort.Search(len(values), func(i int) bool { return values[i] > 0 }):]
		best, after := 0.0, math.Inf(1)
		for _, share := range []float64{0.5, 0.1, 0} {
			log := Reading{Form: Log, Base: quantile(positive, share)}
			for i, v := range values {
				logs[i] = log.transform(v)
			}
			if skew, _ := moments(logs); math.Abs(skew) < math.Abs(after) {
				best, after = log.Base, skew
			}
		}
		if skewness > heavySkewness && math.Abs(after) < lighter*skewness {
			r.Form, r.Base = Log, best
			return "logged, because its upper tail is heavy (skewness " + short(skewness) + ", of the logarithms " + short(after) + ")"
		}
		if len(positive) > 0 {
			if span := quantile(positive, 0.95) / quantile(positive, 0.05); span >= wideSpan && math.Abs(after) < math.Max(skewness, 1) {
				r.Form, r.Base = Log, best
				return "logged, because its values span a factor of " + short(span) + " (5 % to 95 % quantile)"
			}
		}
		return ""
	}
	log := Reading{Form: SignedLog, Base: quantile(values, 0.5)}
	away := make([]float64, len(values))
	for i, v := range values {
		away[i] = math.Abs(finite(v - log.Base))
	}
	slices.Sort(away)
	if log.Spread = quantile(away, 0.5); log.Spread == 0 {
		return ""
	}
	for i, v := range values {
		logs[i] = log.transform(v)
	}
	_, after := moments(logs)
	if kurtosis > heavyKurtosis && after < lighter*kurtosis {
		r.Form, r.Base, r.Spread = SignedLog, log.Base, log.Spread
		return "logged on both sides of its median, because its tails are heavy (kurtosis " + short(kurtosis) + ", then " + short(after) + ")"
	}
	return ""
}

// standardise sets Center and Scale to mean and sd of the sorted values, after the
// logarithm; false if they are constant.
func (r *Reading) standardise(values []float64) bool {
	if values[0] == values[len(values)-1] {
		return false
	}
	size := 0.0 // divided out, so that no square overflows
	for _, v := range values {
		size = max(size, math.Abs(r.transform(v)))
	}
	n, sum, squares := float64(len(values)), 0.0, 0.0
	for _, v := range values {
		sum += r.transform(v) / size
	}
	mean := sum / n
	for _, v := range values {
		d := r.transform(v)/size - mean
		squares += d * d
	}
	r.Center, r.Scale = mean*size, math.Sqrt(squares/n)*size
	return r.Scale > 0 && !math.IsInf(r.Scale, 0)
}

// beyond counts the values that are clipped.
func (r Reading) beyond(values []float64) int {
	n := 0
	for _, v := range values {
		if math.Abs(r.transform(v)-r.Center) > bound*r.Scale {
			n++
		}
	}
	return n
}

// moments returns skewness and kurtosis (0 for a normal distribution) of values in increasing order.
func moments(values []float64) (skewness, kurtosis float64) {
	size := max(math.Abs(values[0]), math.Abs(values[len(values)-1]))
	if size == 0 {
		return 0, 0
	}
	n, sum := float64(len(values)), 0.0
	for _, v := range values {
		sum += v / size
	}
	mean := sum / n
	var m2, m3, m4 float64
	for _, v := range values {
		d := v/size - mean
		m2 += d * d
		m3 += d * d * d
		m4 += d * d * d * d
	}
	m2, m3, m4 = m2/n, m3/n, m4/n
	if m2 < 1e-200 { // no spread to speak of
		return 0, 0
	}
	return m3 / (m2 * math.Sqrt(m2)), m4/(m2*m2) - 3
}

// quantile returns the value at a share of sorted values.
func quantile(values []float64, share float64) float64 {
	return values[min(len(values)-1, int(share*float64(len(values))))]
}

// distinct counts the distinct values among sorted ones, up to 3.
func distinct(values []float64) int {
	n := 1
	for i := 1; i < len(values) && n < 3; i++ {
		if values[i] != values[i-1] {
			n++
		}
	}
	return n
}
