package kernel

import "math"

// Hops returns the smallest length L ≤ most at which a kernel on a matrix of norm
// 1 can be cut off with a loss of at most tail, and the share Σ_{l≤L} |f_l| / Σ
// |f_l| that is then carried. The share is less than 1 − tail if even the length
// most is too short.
func Hops(m Modulation, theta []float64, tail float64, most int) (hops int, carried float64) {
	f := make([]float64, most+1)
	m.Coeffs(f, theta)
	total, negative := 0.0, false
	for _, v := range f {
		total += math.Abs(v)
		negative = negative || v < 0
	}
	if s, ok := m.(Spectrum); ok && !negative { // Σ f_l·1^l is Σ |f_l|, beyond most as well
		total = math.Sqrt(s.Density(1, theta))
	}
	sum := 0.0
	for l, v := range f {
		if sum += math.Abs(v); sum >= (1-tail)*total {
			return l, min(1, sum/total)
		}
	}
	return most, sum / total
}
