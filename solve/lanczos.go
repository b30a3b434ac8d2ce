package solve

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/meter"
	"grfgp/internal/parallel"
	"grfgp/internal/rng"
)

// lanczos runs the Lanczos recursion for k vectors that share each product, on
// H = A + diag(noise) or, with a preconditioner, on F⁻¹·H·F⁻ᵀ. It keeps two vectors
// of each, and does not orthogonalise: rounding then makes it find eigenvalues more
// than once, which changes quadratures by no more than rounding does (Greenbaum), and
// saves all but a few of the sweeps.
type lanczos struct {
	space     space
	n, k      int
	v, u, w   block       // the vector of this step and of the one before, times their norms; the product
	diag, off [][]float64 // per column: the tridiagonal matrix
	ended     []bool      // per column: the vectors span an invariant subspace
	settle    *settling   // nil: take all steps
}

// newLanczos returns the recursion for probes first, first+1, … of a seed.
func newLanczos(sums *summation, a Operator, noise []float64, precond Factored, seed uint64, first, k int) *lanczos {
	if precond != nil {
		a, noise = whitened{a, noise, precond}, make([]float64, len(noise))
	}
	s := newDouble(&sides{n: len(noise), a: a, noise: noise, sums: sums}, nil)
	l := lanczosOn(s, len(noise), k)
	all, row := sums.total(l.n)
	signs(s.of(l.v), all, row, k, seed, first)
	return l
}

// lanczosOn returns the recursion in a space of n rows, whose first vectors v are to be set.
func lanczosOn(s space, n, k int) *lanczos {
	l := &lanczos{space: s, n: n, k: k, v: s.block(k), u: s.block(k), w: s.block(k)}
	l.diag, l.off, l.ended = make([][]float64, k), make([][]float64, k), make([]bool, k)
	s.zero(l.u)
	return l
}

// signs sets the columns of a block, rows from row on of n, to random signs over √n. A
// probe has a stream of its own, whatever the probes beside it.
func signs(data []float64, n, row, k int, seed uint64, first int) {
	rows := len(data) / k
	words := make([][]uint64, k)
	parallel.Ranges(k, 1, func(t, _ int) {
		s := rng.Derive(seed, "logdet").At(uint64(first + t))
		words[t] = make([]uint64, (row+rows+63)/64)
		for w := range words[t] {
			words[t][w] = s.Uint64()
		}
	})
	size := 1 / math.Sqrt(float64(n))
	parallel.Ranges(rows, blockRows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			at := row + i
			for t := range k {
				data[i*k+t] = size
				if words[t][at/64]>>(at%64)&1 != 0 {
					data[i*k+t] = -size
				}
			}
		}
	})
}

// run takes the given number of steps. With v_j the orthonormal vectors and
// r_j = ρ_j·v_j what is stored,
//
//	r_(j+1) = H·r_j/ρ_j − α_j·r_j/ρ_j − ρ_j·r_(j−1)/ρ_(j−1),  α_j = r_jᵀH·r_j/ρ_j²,
//
// so that no sweep is needed to normalise. With settle it ends when the mean of the
// quadratures hardly changes any more.
func (l *lanczos) run(ctx context.Context, steps int) error {
	defer func() {
		for _, b := range []block{l.v, l.u, l.w} {
			l.space.free(b)
		}
	}()
	rho, before := make([]float64, l.k), make([]float64, l.k)
	scale := make([]float64, l.k) // the size of H, as seen so far
	alpha, next := make([]float64, l.k), make([]float64, l.k)
	a, b, c := make([]float64, l.k), make([]float64, l.k), make([]float64, l.k)
	for t := range rho {
		rho[t], before[t] = 1, 1
	}
	for j := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := l.space.product(ctx, l.w, l.v); err != nil {
			return err
		}
		l.space.curvature(alpha, l.v, l.w)
		for t := range alpha {
			a[t], b[t], c[t] = 0, 0, 0 // an ended vector stays zero
			if !l.ended[t] {
				alpha[t] /= rho[t] * rho[t]
				a[t], b[t], c[t] = 1/rho[t], alpha[t]/rho[t], rho[t]/before[t]
			}
			if j == 0 {
				c[t] = 0
			}
		}
		l.space.recur(next, l.u, l.v, l.w, a, b, c)
		l.u, l.v = l.v, l.u
		for t := range next {
			if l.ended[t] {
				continue
			}
			beta := math.Sqrt(next[t])
			if !finite(alpha[t]) || !finite(beta) {
				return fmt.Errorf("step %d: product is not finite: %w", j, ErrNotPositiveDefinite)
			}
			l.diag[t] = append(l.diag[t], alpha[t])
			scale[t] = max(scale[t], math.Abs(alpha[t]), beta)
			if l.ended[t] = beta <= 1e-13*scale[t]; !l.ended[t] && j+1 < steps {
				l.off[t] = append(l.off[t], beta)
			}
			before[t], rho[t] = rho[t], beta
		}
		if l.settle != nil && j+1 < steps && l.settle.now(l) {
			break
		}
	}
	return nil
}

// settling notes how the last steps have changed the mean of the quadratures.
type settling struct {
	last    float64
	changes [3]float64
}

// settledShare is how much the last steps may change the mean at the end, as a share of its
// standard error.
const settledShare = 0.01

// now reports whether the last steps have changed little. Changes fall like the square of the
// error of conjugate gradients, so that the next ones are smaller.
func (s *settling) now(l *lanczos) bool {
	mean, se, err := l.mean()
	if err != nil {
		return false // the end reports it
	}
	s.changes = [3]float64{s.changes[1], s.changes[2], math.Abs(mean - s.last)}
	s.last = mean
	return len(l.diag[0]) > len(s.changes) && s.changes[0]+s.changes[1]+s.changes[2] <= settledShare*se
}

// mean returns the mean of the quadratures so far and its standard error.
func (l *lanczos) mean() (mean, se float64, err error) {
	values := make([]float64, l.k)
	for t := range values {
		if values[t], err = l.quadrature(t); err != nil {
			return 0, 0, err
		}
	}
	mean, se = meanOf(values)
	return mean, se, nil
}

// whitened is F⁻¹·(A + diag(noise))·F⁻ᵀ.
type whitened struct {
	a       Operator
	noise   []float64
	precond Factored
}

func (o whitened) Dims() (r, c int) { return o.a.Dims() }

func (o whitened) Apply(ctx context.Context, dst, x *mat.Dense) error {
	n, k := x.Dims()
	space := host[float64]{sides: &sides{n: n}}
	back, product := space.block(k).(*vectors[float64]), space.block(k).(*vectors[float64])
	defer space.free(back)
	defer space.free(product)
	o.precond.WhitenT(back.dense, x)
	if err := o.a.Apply(ctx, product.dense, back.dense); err != nil {
		return err
	}
	pass := meter.Start()
	parallel.Ranges(n, blockRows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to, d := product.data[i*k:][:k], o.noise[i]
			for t, v := range back.data[i*k:][:k] {
				to[t] += float64(d * v)
			}
		}
	})
	pass.Done(8 * n * (3*k + 1))
	o.precond.Whiten(dst, product.dense)
	return nil
}

// quadrature returns e₁ᵀ·log(T)·e₁ for the tridiagonal matrix of column t.
func (l *lanczos) quadrature(t int) (float64, error) {
	m := len(l.diag[t])
	tri := mat.NewSymDense(m, nil)
	for i, a := range l.diag[t] {
		tri.SetSym(i, i, a)
		if i+1 < m {
			tri.SetSym(i, i+1, l.off[t][i])
		}
	}
	var eig mat.EigenSym
	if !eig.Factorize(tri, true) {
		return 0, fmt.Errorf("no eigenvalues of %d steps: %w", m, ErrNotConverged)
	}
	var vectors mat.Dense
	eig.VectorsTo(&vectors)
	sum := 0.0
	for i, theta := range eig.Values(nil) {
		if !(theta > 0) {
			return 0, fmt.Errorf("eigenvalue %.3g: %w", theta, ErrNotPositiveDefinite)
		}
		first := vectors.At(0, i)
		sum += first * first * math.Log(theta)
	}
	return sum, nil
}
