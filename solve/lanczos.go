package solve

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/internal/rng"
	"grfgp/space"
)

// lanczos runs the Lanczos recursion for k vectors that share each product, on
// H = A + diag(noise) or, with a preconditioner, on F⁻¹·H·F⁻ᵀ. It keeps two vectors
// of each, and does not orthogonalise: rounding then makes it find eigenvalues more
// than once, which changes quadratures by no more than rounding does (Greenbaum), and
// saves all but a few of the sweeps.
type lanczos struct {
	system    *System
	n, k      int
	v, u, w   space.Block // the vector of this step and of the one before, times their norms; the product
	diag, off [][]float64 // per column: the tridiagonal matrix
	ended     []bool      // per column: the vectors span an invariant subspace
	settle    *settling   // nil: take all steps
}

// newLanczos returns the recursion for probes first, first+1, … of a seed, of a system that is whitened already.
func newLanczos(s *System, seed uint64, first, k int) *lanczos {
	n, row := s.Axis.All()
	block := func() space.Block { return s.Space.Block(s.Axis, k) }
	l := &lanczos{system: s, n: n, k: k, v: block(), u: block(), w: block()}
	l.diag, l.off, l.ended = make([][]float64, k), make([][]float64, k), make([]bool, k)
	l.u.Zero()
	data := make([]float64, s.Axis.Own*k)
	signs(data, n, row, k, seed, first)
	l.v.Set(data)
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
	parallel.Ranges(rows, 1024, func(lo, hi int) {
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
		for _, b := range []space.Block{l.v, l.u, l.w} {
			b.Free()
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
		if err := l.system.Apply(ctx, l.w, l.v); err != nil {
			return err
		}
		l.v.Curvature(alpha, l.w, l.system.Noise)
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
		l.u.Recur(next, l.v, l.w, l.system.Noise, a, b, c)
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

// whitened returns the system F⁻¹·(A + diag(noise))·F⁻ᵀ for a preconditioner FFᵀ, whose noise is zero.
func (s *System) whitened(p Factored) *System {
	zero := s.Space.Block(s.Axis, 1)
	zero.Zero()
	return &System{Space: s.Space, Axis: s.Axis, Noise: zero, Apply: func(ctx context.Context, dst, x space.Block) error {
		back, product := s.Space.Block(s.Axis, x.Columns()), s.Space.Block(s.Axis, x.Columns())
		defer back.Free()
		defer product.Free()
		p.WhitenT(back, x)
		if err := s.Apply(ctx, product, back); err != nil {
			return err
		}
		product.AddScaled(back, s.Noise, 1)
		p.Whiten(dst, product)
		return nil
	}}
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
