package kernel

import (
	"math"
)

// polynomial holds coefficients c of Σ c_k T_k(x), T_k Chebyshev's polynomials:
// T_0 = 1, T_1 = x, T_{k+1} = 2x·T_k − T_{k−1}, and |T_k| ≤ 1 for |x| ≤ 1.
type polynomial []float64

// chebyshev returns Σ f_l (norm·x)^l, by Horner's rule. In the Chebyshev basis
// the powers of x have positive coefficients that add up to 1, so there is no
// more cancellation than in f.
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
// 1e-14 of all, about the error of rounding.
func (c polynomial) trimmed() polynomial { return c[:c.terms(1e-14*c.size())] }

// terms returns the number of terms that remain after dropping the last ones,
// whose absolute sum is at most tail.
func (c polynomial) terms(tail float64) int {
	n, sum := len(c), 0.0
	for ; n > 1; n-- {
		if sum += math.Abs(c[n-1]); sum > tail {
			break
		}
	}
	return n
}

// size returns Σ |c_k|, which bounds the polynomial on [−1, 1].
func (c polynomial) size() float64 {
	sum := 0.0
	for _, v := range c {
		sum += math.Abs(v)
	}
	return sum
}

// at returns Σ c_k T_k(x) by Clenshaw's recurrence.
func (c polynomial) at(x float64) float64 {
	b, after := 0.0, 0.0
	for k := len(c) - 1; k > 0; k-- {
		b, after = c[k]+2*x*b-after, b
	}
	return c[0] + x*b - after
}

// of returns the polynomial in x that equals c at y = scale·x + shift, by
// Clenshaw's recurrence on polynomials instead of numbers.
func (c polynomial) of(scale, shift float64) polynomial {
	n := len(c)
	b, after, next := make(polynomial, n), make(polynomial, n), make(polynomial, n)
	// step sets next = add + factor·y·b − after, with x·T_k = (T_{k+1} + T_{k−1})/2.
	step := func(add, factor float64, length int) {
		for k := range length {
			next[k] = factor*shift*b[k] - after[k]
		}
		half := factor * scale / 2
		for k, v := range b[:max(0, length-1)] {
			if k == 0 {
				next[1] += 2 * half * v
				continue
			}
			next[k+1] += half * v
			next[k-1] += half * v
		}
		next[0] += add
		b, after, next = next, b, after
	}
	for k := n - 1; k > 0; k-- {
		step(c[k], 2, n-k)
	}
	step(c[0], 1, n)
	return b
}

// interpolate returns the polynomials on [lo, hi], mapped to [−1, 1], that have
// the values of some functions at the n+1 points cos(πj/n), n even. eval sets all
// functions at a point.
func interpolate(lo, hi float64, n, functions int, eval func(dst []float64, w float64)) []polynomial {
	cosines := make([]float64, 2*n)
	for j := range cosines {
		cosines[j] = math.Cos(math.Pi * float64(j) / float64(n))
	}
	values, at := make([][]float64, functions), make([]float64, functions)
	for f := range values {
		values[f] = make([]float64, n+1)
	}
	for j := range n + 1 {
		eval(at, (lo+hi)/2+(hi-lo)/2*cosines[j])
		for f, v := range at {
			if values[f][j] = v; j == 0 || j == n {
				values[f][j] /= 2
			}
		}
	}
	// c_k = 2/n·Σ_j v_j cos(πjk/n). The points j and n−j have the same cosine, but
	// for the sign if k is odd, so they are taken together.
	all := make([]polynomial, functions)
	for f, v := range values {
		c, even, odd := make(polynomial, n+1), make([]float64, n/2+1), make([]float64, n/2+1)
		for j := range even {
			even[j], odd[j] = v[j]+v[n-j], v[j]-v[n-j]
		}
		even[n/2] = v[n/2]
		everyRow(n+1, 64, func(k int) {
			folded := even
			if k%2 == 1 {
				folded = odd
			}
			sum, at := 0.0, 0
			for _, v := range folded {
				sum += v * cosines[at]
				if at += k; at >= 2*n {
					at -= 2 * n
				}
			}
			if c[k] = sum * 2 / float64(n); k == 0 || k == n {
				c[k] /= 2
			}
		})
		all[f] = c
	}
	return all
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

// dot returns Σ c_k m_k over the terms of c.
func (c polynomial) dot(m []float64) float64 {
	sum := 0.0
	for k, v := range c {
		sum += v * m[k]
	}
	return sum
}
