package solve

import "gonum.org/v1/gonum/blas/blas64"

// Sweeps over rows of four numbers, as steps of learning from very many measurements have
// them: a loop over so few would take most of the time.

// fours reports that the blocks have four columns without gaps.
func fours(a, b blas64.General) bool { return a.Cols == 4 && a.Stride == 4 && b.Stride == 4 }

// scaleFours sets row i of d to scale[i] times that of x.
func scaleFours(d, x, scale []float64) {
	for i, s := range scale {
		from, to := (*[4]float64)(x[4*i:]), (*[4]float64)(d[4*i:])
		to[0], to[1], to[2], to[3] = s*from[0], s*from[1], s*from[2], s*from[3]
	}
}

// subtractFours sets row i of d to keep[i] times that of x less out[i] times that of d.
func subtractFours(d, x, keep, out []float64) {
	for i, s := range keep {
		from, to, o := (*[4]float64)(x[4*i:]), (*[4]float64)(d[4*i:]), out[i]
		for t, v := range from {
			to[t] = float64(s*v) - float64(o*to[t])
		}
	}
}
