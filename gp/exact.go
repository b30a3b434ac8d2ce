package gp

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/internal/scratch"
	"grfgp/kernel"
	"grfgp/solve"
)

// marginal is the exact log marginal likelihood of standardised data as a
// function of the hyperparameters:
//
//	log p(y) = −½ yᵀH⁻¹y − ½ log det H − (T/2) log 2π,  H = K_xx + noise.
//
// Its gradient is tr(G ∂H/∂θ) with G = ½(ααᵀ − H⁻¹), α = H⁻¹y. Where values are
// means of repeated measurements with known scatter, Data.within is added.
type marginal struct {
	kernel  kernel.Kernel
	data    Data
	meanVar float64
	params  *params
	card    *Card // of an iterative fit; nil: none

	seen []score // where gradients were computed: the report of a fit needs no factor of its own
}

// newMarginal returns the log marginal likelihood of measurements that are all here.
func newMarginal(k kernel.Kernel, d Data, meanVar float64, p *params) *marginal {
	return &marginal{kernel: k, data: d, meanVar: meanVar, params: p}
}

// factor is H, factored, at one set of hyperparameters.
type factor struct {
	of    *marginal // nil in a posterior
	theta []float64
	cov   kernel.Covariance
	h     inverse
	chol  *solve.Cholesky // h, unless
	table kernel.Factor   // a structure of the kernel gives h
	alpha []float64
	lml   float64
	slope float64 // derivative of Data.within by the noise variance

	diagonal []float64 // of H⁻¹; nil: not computed yet
}

// squares keeps the memory of matrices of all measurements for the next evaluation.
var squares scratch.Pool[float64]

func (f *factor) logLikelihood() float64 { return f.lml }

// free gives the memory of the factor back: what is left are lml, alpha and the diagonal.
func (f *factor) free() {
	if f.chol != nil {
		f.chol.Free()
		f.chol, f.h = nil, nil
	}
}

// inverse is a factored H.
type inverse interface {
	Solve(dst, b *mat.Dense)
	LogDet() float64
	InverseDiag(dst []float64)
}

// tableOf factors H by a structure of the kernel; nil if there is none.
func tableOf(ctx context.Context, cov kernel.Covariance, nodes []int, noise []float64) (kernel.Factor, error) {
	if own := kernel.AbilitiesOf(cov).Factor; own != nil {
		return own(ctx, nodes, 0, noise)
	}
	return nil, nil
}

// tabular reports whether a structure of the kernel gives factors of H.
func tabular(k kernel.Kernel, d Data) bool {
	of := kernel.TrainingOf(k).Tabular
	return of != nil && equalNoise(d) && of(d.Nodes) > 0
}

// equalNoise reports whether all values have the same noise variance.
func equalNoise(d Data) bool {
	noise := noises(d, 1)
	return !slices.ContainsFunc(noise, func(v float64) bool { return v != noise[0] })
}

func (l *marginal) at(ctx context.Context, theta []float64) (evaluation, error) {
	f, err := l.factor(ctx, theta)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// factor computes H and its factor.
func (l *marginal) factor(ctx context.Context, theta []float64) (*factor, error) {
	own, noise := l.params.split(theta)
	cov, err := l.kernel.At(own)
	if err != nil {
		return nil, err
	}
	cov = kernel.WithConstant(cov, l.meanVar)
	n := l.data.Len()
	f := &factor{of: l, theta: slices.Clone(theta), cov: cov, alpha: slices.Clone(l.data.Y)}
	if f.table, err = tableOf(ctx, cov, l.data.Nodes, noises(l.data, noise)); err != nil {
		return nil, err
	}
	if f.table != nil {
		f.h = f.table
	} else {
		room := squares.Get(n * n)
		defer squares.Put(room)
		h := mat.NewSymDense(n, room)
		if err := cov.Gram(ctx, h, l.data.Nodes); err != nil {
			return nil, err
		}
		for i, v := range noises(l.data, noise) {
			h.SetSym(i, i, h.At(i, i)+v)
		}
		if f.chol, err = solve.NewCholeskyContext(ctx, h); err != nil {
			return nil, err
		}
		f.h = f.chol
	}
	alpha := mat.NewDense(n, 1, f.alpha)
	f.h.Solve(alpha, alpha)
	fit := 0.0
	for i, a := range f.alpha {
		fit += a * l.data.Y[i]
	}
	within, slope := l.data.within(noise)
	f.lml = -fit/2 - f.h.LogDet()/2 - float64(n)/2*math.Log(2*math.Pi) + within
	f.slope = slope
	return f, nil
}

// gradient returns ∂ log p(y)/∂θ in natural parameters.
func (f *factor) gradient(ctx context.Context) ([]float64, error) {
	defer f.free()
	l := f.of
	n := l.data.Len()
	grad := make([]float64, len(f.theta))
	own := grad
	if l.params.noise {
		own = grad[:len(grad)-1]
	}
	trace := 0.0 // tr(G ∂H/∂σ²): the noise of value i is σ² over its count
	var err error
	if f.table != nil { // noises are equal, and so are counts
		if trace, err = f.table.Grad(ctx, own, f.alpha); err != nil {
			return nil, err
		}
		trace /= l.data.count(0)
	} else {
		room := squares.Get(n * n)
		defer squares.Put(room)
		g := mat.NewSymDense(n, room)
		f.chol.Inverse(g)
		raw := g.RawSymmetric()
		f.diagonal = make([]float64, n)
		parallel.Ranges(n, 16, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				row := raw.Data[i*raw.Stride:][:n]
				f.diagonal[i] = row[i]
				for j := i; j < n; j++ {
					row[j] = (f.alpha[i]*f.alpha[j] - row[j]) / 2
				}
			}
		})
		for i := range n {
			trace += raw.Data[i*raw.Stride+i] / l.data.count(i)
		}
		if err := f.cov.GramGrad(ctx, own, l.data.Nodes, g); err != nil {
			return nil, err
		}
		l.seen = append(l.seen, f.score())
	}
	if l.params.noise {
		grad[len(grad)-1] = trace + f.slope
	}
	return grad, nil
}
