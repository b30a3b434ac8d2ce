package solve

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/rng"
)

// lanczos runs the Lanczos recursion for k vectors that share each product, on
// H = A + diag(noise) or, with a preconditioner, on F⁻¹·H·F⁻ᵀ.
type lanczos struct {
	a       Operator
	noise   []float64
	precond Factored
	n, k    int
	basis   []*mat.Dense // step by step; each column orthonormal to those before
	w, v    *mat.Dense   // the product, and scratch for it

	diag, off [][]float64 // per column: the tridiagonal matrix
	ended     []bool      // per column: the basis spans an invariant subspace
	coeff     []float64   // per basis vector and column
	parts     []float64
}

func newLanczos(a Operator, noise []float64, precond Factored, steps, k int) *lanczos {
	n := len(noise)
	l := &lanczos{a: a, noise: noise, precond: precond, n: n, k: k, w: mat.NewDense(n, k, nil)}
	l.basis = make([]*mat.Dense, steps)
	for j := range l.basis {
		l.basis[j] = mat.NewDense(n, k, nil)
	}
	if precond != nil {
		l.v = mat.NewDense(n, k, nil)
	}
	l.diag, l.off, l.ended = make([][]float64, k), make([][]float64, k), make([]bool, k)
	l.coeff = make([]float64, steps*k)
	l.parts = make([]float64, rowBlocks(n)*steps*k)
	return l
}

// probe sets column t of the first basis vectors to random signs over √n.
func (l *lanczos) probe(t int, seed uint64, index int) {
	s := rng.Derive(seed, "logdet").At(uint64(index))
	first, size := l.basis[0].RawMatrix(), 1/math.Sqrt(float64(l.n))
	word := uint64(0)
	for i := range l.n {
		if i%64 == 0 {
			word = s.Uint64()
		}
		if word&1 != 0 {
			row(first, i)[t] = -size
		} else {
			row(first, i)[t] = size
		}
		word >>= 1
	}
}

// run takes all steps.
func (l *lanczos) run(ctx context.Context) error {
	scale := make([]float64, l.k) // per column: the size of H, as seen so far
	for j := range l.basis {
		if err := l.product(ctx, l.basis[j]); err != nil {
			return err
		}
		alpha := make([]float64, l.k)
		for range 2 { // once loses orthogonality, twice is enough
			l.project(j)
			for t := range alpha {
				alpha[t] += l.coeff[j*l.k+t]
			}
		}
		beta := l.norm()
		for t, a := range alpha {
			if l.ended[t] {
				continue
			}
			if !finite(a) || !finite(beta[t]) {
				return fmt.Errorf("step %d: product is not finite: %w", j, ErrNotPositiveDefinite)
			}
			l.diag[t] = append(l.diag[t], a)
			scale[t] = max(scale[t], math.Abs(a), beta[t])
			if l.ended[t] = beta[t] <= 1e-13*scale[t]; !l.ended[t] && j+1 < len(l.basis) {
				l.off[t] = append(l.off[t], beta[t])
			}
		}
		if j+1 < len(l.basis) {
			l.extend(j+1, beta)
		}
	}
	return nil
}

// product sets w = H·x, whitened.
func (l *lanczos) product(ctx context.Context, x *mat.Dense) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if l.precond == nil {
		if err := l.a.Apply(ctx, l.w, x); err != nil {
			return err
		}
		l.addNoise(l.w, x)
		return nil
	}
	l.precond.WhitenT(l.w, x)
	if err := l.a.Apply(ctx, l.v, l.w); err != nil {
		return err
	}
	l.addNoise(l.v, l.w)
	l.precond.Whiten(l.w, l.v)
	return nil
}

// addNoise sets dst += diag(noise)·x.
func (l *lanczos) addNoise(dst, x *mat.Dense) {
	ds, xs := dst.RawMatrix(), x.RawMatrix()
	sweep(l.n, nil, nil, func(lo, hi int, _ []float64) {
		for i := lo; i < hi; i++ {
			d, s := row(ds, i), l.noise[i]
			for t, v := range row(xs, i) {
				d[t] += s * v
			}
		}
	})
}

// project takes the parts along basis vectors 0 … j out of w, and leaves their
// sizes in coeff.
func (l *lanczos) project(j int) {
	ws, k := l.w.RawMatrix(), l.k
	sweep(l.n, l.coeff[:(j+1)*k], l.parts, func(lo, hi int, part []float64) {
		for m, v := range l.basis[:j+1] {
			vs, sum := v.RawMatrix(), part[m*k:][:k]
			for i := lo; i < hi; i++ {
				w := row(ws, i)
				for t, x := range row(vs, i) {
					sum[t] += x * w[t]
				}
			}
		}
	})
	sweep(l.n, nil, nil, func(lo, hi int, _ []float64) {
		for m, v := range l.basis[:j+1] {
			vs, c := v.RawMatrix(), l.coeff[m*k:][:k]
			for i := lo; i < hi; i++ {
				w := row(ws, i)
				for t, x := range row(vs, i) {
					w[t] -= c[t] * x
				}
			}
		}
	})
}

// norm returns the norms of the columns of w.
func (l *lanczos) norm() []float64 {
	ws, total := l.w.RawMatrix(), make([]float64, l.k)
	sweep(l.n, total, l.parts, func(lo, hi int, part []float64) {
		for i := lo; i < hi; i++ {
			for t, x := range row(ws, i) {
				part[t] += x * x
			}
		}
	})
	for t := range total {
		total[t] = math.Sqrt(total[t])
	}
	return total
}

// extend sets basis vector j to w/β, and to zero where the column has ended.
func (l *lanczos) extend(j int, beta []float64) {
	ws, vs := l.w.RawMatrix(), l.basis[j].RawMatrix()
	sweep(l.n, nil, nil, func(lo, hi int, _ []float64) {
		for i := lo; i < hi; i++ {
			w, v := row(ws, i), row(vs, i)
			for t, b := range beta {
				if !l.ended[t] {
					v[t] = w[t] / b
				}
			}
		}
	})
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
