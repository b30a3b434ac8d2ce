package kernel

import "math"

// polynomial holds coefficients c of Σ c_k T_k(x), T_k Chebyshev's polynomials:
// T_0 = 1, T_1 = x, T_{k+1} = 2x·T_k − T_{k−1}, and |T_k| ≤ 1 for |x| ≤ 1.
type polynomial []float64

// chebyshev returns Σ f_l (norm·x)^l, by Horner's rule. Powers have positive
// coefficients that add up to 1, so nothing cancels that did not cancel in f.
func chebyshev(f []float64, norm float64) polynomial {
	c, next := make(polynomial, len(f)), make(polynomial, len(f))
	for done := range f {
		// next = norm·x·c + f_l, with x·T_k = (T_{k+1} + T_{k−1})/2.
		clear(next[:done+1])
		for k, v := range c[:done] {
			v *= norm
			if k == 0 {
				next[1] += v
				continue
			}
			next[k+1] += v / 2
			next[k-1] += v / 2
		}
		next[0] += f[len(f)-1-done]
		c, next = next, c
	}
	return c
}

// times returns the product, by 2·T_i·T_j = T_{i+j} + T_|i−j|.
func (c polynomial) times(d polynomial) polynomial {
	p := make(polynomial, len(c)+len(d)-1)
	for i, a := range c {
		for j, b := range d {
			half := a * b / 2
			p[i+j] += half
			p[max(i-j, j-i)] += half
		}
	}
	return p
}

// trimmed returns the polynomial without last terms that add up to no more than
// 1e-14 of all: what rounding takes anyway.
func (c polynomial) trimmed() polynomial {
	sum := 0.0
	for _, v := range c {
		sum += math.Abs(v)
	}
	n, tail := len(c), 0.0
	for ; n > 1; n-- {
		if tail += math.Abs(c[n-1]); tail > 1e-14*sum {
			break
		}
	}
	return c[:n]
}

// finite reports whether no coefficient overflowed.
func (c polynomial) finite() bool {
	for _, v := range c {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// dot returns Σ c_k m_k over the terms there are.
func (c polynomial) dot(m []float64) float64 {
	sum := 0.0
	for k, v := range c {
		sum += v * m[k]
	}
	return sum
}
