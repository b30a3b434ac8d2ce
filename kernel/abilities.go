package kernel

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel/internal/normal"
	"grfgp/solve"
	"grfgp/walk"
)

// Abilities are what is known of a covariance beside its products and entries. A nil field means that the covariance does
// not have the ability.
//
// A covariance offers abilities by a method Abilities() Abilities; callers use
// AbilitiesOf. A covariance that wraps others (a sum, a scaling) builds its
// abilities from theirs in that one method. Package kerneltest checks every
// ability against the operations that it stands for.
type Abilities struct {
	// DiagFlops estimates the floating-point operations of Diag at the given number
	// of nodes. Nil means that the cost of the diagonal is negligible.
	DiagFlops func(rows int) float64

	// Precondition returns a preconditioner of K[rows, rows] + constant·11ᵀ +
	// diag(noise) in the memory of this process that is better than the diagonal: a part of low rank has its
	// largest eigenvalues.
	Precondition func(ctx context.Context, rows []int, constant float64, noise []float64) (solve.Factored, error)

	// Factor factors K[rows, rows] + constant·11ᵀ + diag(noise) by a structure of K that
	// makes it cheaper than a dense factor. It returns nil if rows or noise do not have
	// the structure.
	Factor func(ctx context.Context, rows []int, constant float64, noise []float64) (Factor, error)

	// Approximate returns an approximate inverse of K[rows, rows] + constant·11ᵀ +
	// diag(noise), for conjugate gradients: closer than Precondition, but of unknown
	// determinant. It returns nil if rows do not have the structure that it needs.
	Approximate func(ctx context.Context, rows []int, constant float64, noise []float64) (solve.Preconditioner, error)

	// LongRange reports that a part of K correlates nodes far from each other, so
	// that learning its hyperparameters needs scattered measurements.
	LongRange bool

	// Fine holds the random features of the graph itself, and Coarse those of
	// coarser graphs, from fine to coarse. They must not be changed.
	Fine   *Sampling
	Coarse []Sampling

	// Everywhere reports that K correlates nodes however far apart they are on the
	// graph, as a trend or a kernel of covariates does.
	Everywhere bool

	// Connected is the function Connected where products with K do not tell, because a term of it is Everywhere.
	Connected func(ctx context.Context, rows, cols []int) ([]bool, error)
}

// Sampling is a set of random features and the coefficients f_l that combine them
// to Φ = Σ f_l Ψ_l.
type Sampling struct {
	Features *walk.Features
	Coeffs   []float64
}

// Factor is H = K[rows, rows] + constant·11ᵀ + diag(noise), factored: exact up to
// rounding. It is immutable and safe for concurrent use.
type Factor interface {
	// LogDet returns log det H.
	LogDet() float64
	// Solve sets dst = H⁻¹·b; the two may be one matrix.
	Solve(dst, b *mat.Dense)
	// InverseDiag sets dst to the diagonal of H⁻¹.
	InverseDiag(dst []float64)
	// Grad adds Σ_ab G_ab (∂K[rows, rows]/∂θ_j)_ab to grad[j] with G = ½(ααᵀ − H⁻¹), and
	// returns the trace of G.
	Grad(ctx context.Context, grad, alpha []float64) (trace float64, err error)
	// Explained sets dst[i] = k_iᵀH⁻¹k_i for nodes, where k_i = K[rows, nodes[i]] +
	// constant·1: the part of the prior variance that measurements at rows explain.
	Explained(ctx context.Context, dst []float64, nodes []int) error
}

// AbilitiesOf returns the abilities of a covariance; the zero value if it offers
// none.
func AbilitiesOf(c Covariance) Abilities {
	if a, ok := c.(interface{ Abilities() Abilities }); ok {
		return a.Abilities()
	}
	return Abilities{}
}

// DiagFlops estimates the floating-point operations of c.Diag at the given number
// of nodes.
func DiagFlops(c Covariance, rows int) float64 {
	if flops := AbilitiesOf(c).DiagFlops; flops != nil {
		return flops(rows)
	}
	return 0
}

// Training holds the optional operations of a kernel that help to learn its
// hyperparameters. A kernel offers them by a method Training() Training; callers
// use TrainingOf.
type Training struct {
	// Starts are hyperparameters from which learning starts, for kernels whose
	// likelihood has several optima. Nil means the Start of every Param.
	Starts [][]float64

	// Cache returns the same kernel with a cache: for exactly these rows, Gram and
	// GramGrad compute the part that does not depend on hyperparameters only once, as
	// long as it fits into maxBytes, or interpolate between hyperparameters, to 1e-6 of
	// the largest entry. Nil means that the kernel has no cache.
	Cache func(rows []int, maxBytes int) Kernel

	// Patches chooses samples of rows to learn from, and returns each as positions in the
	// list: windows of about size rows that are near each other, and last, if scattered
	// is above 0, about that many from all over. Nil means rows with close numbers.
	Patches func(rows []int, windows, size, scattered int) [][]int

	// Tabular reports whether covariances have a Factor of these rows, if their noise is
	// equal: it returns the number of rows whose dense factor takes as long, and 0 if
	// there is no Factor. Nil means that there is none of any rows.
	Tabular func(rows []int) (work int)

	// CacheBytes is the most memory that the cache takes for so many rows, whatever
	// the hyperparameters. Nil means that it takes what it is given.
	CacheBytes func(rows int) int
}

// TrainingOf returns the Training of k; the zero value if it offers none.
func TrainingOf(k Kernel) Training {
	if t, ok := k.(interface{ Training() Training }); ok {
		return t.Training()
	}
	return Training{}
}

// wrapped returns t for a kernel that wraps the one with the cache.
func (t Training) wrapped(wrap func(k Kernel) Kernel) Training {
	if cache := t.Cache; cache != nil {
		t.Cache = func(rows []int, maxBytes int) Kernel { return wrap(cache(rows, maxBytes)) }
	}
	return t
}

// Starts returns the hyperparameters from which learning k should start: those
// that the kernel names, or the Start of every Param.
func Starts(k Kernel) [][]float64 {
	if starts := TrainingOf(k).Starts; starts != nil {
		return starts
	}
	return [][]float64{startOf(k.Params())}
}

// Cached returns k with a cache for training on the given rows, or k itself if it
// has none.
func Cached(k Kernel, rows []int, maxBytes int) Kernel {
	if cache := TrainingOf(k).Cache; cache != nil {
		return cache(rows, maxBytes)
	}
	return k
}

// cachedAll returns all kernels with their caches. Caches of known size get what they
// need, and the others share the rest.
func cachedAll(kernels []Kernel, rows []int, maxBytes int) []Kernel {
	all := slices.Clone(kernels)
	need, known, open := make([]int, len(all)), 0, 0
	for k, one := range kernels {
		switch t := TrainingOf(one); {
		case t.Cache == nil:
		case t.CacheBytes != nil:
			need[k] = t.CacheBytes(len(rows))
			known += need[k]
		default:
			need[k] = -1
			open++
		}
	}
	rest, most := maxBytes, maxBytes
	if open > 0 {
		most /= 2
	}
	for k, bytes := range need {
		if bytes <= 0 {
			continue
		}
		if known > most { // too much for all: in proportion
			bytes = int(float64(most) * float64(bytes) / float64(known))
		}
		all[k] = Cached(all[k], rows, bytes)
		rest -= bytes
	}
	for k, bytes := range need {
		if bytes < 0 {
			all[k] = Cached(all[k], rows, rest/open)
		}
	}
	return all
}

// cacheBytesOf returns the CacheBytes of kernels together; nil unless the size of
// every cache is known.
func cacheBytesOf(kernels ...Kernel) func(rows int) int {
	var known []func(rows int) int
	for _, one := range kernels {
		switch t := TrainingOf(one); {
		case t.CacheBytes != nil:
			known = append(known, t.CacheBytes)
		case t.Cache != nil:
			return nil
		}
	}
	return func(rows int) int {
		sum := 0
		for _, bytes := range known {
			sum += bytes(rows)
		}
		return sum
	}
}

// startOf returns the Start of every parameter.
func startOf(params []Param) []float64 {
	theta := make([]float64, len(params))
	for j, p := range params {
		theta[j] = p.Start
	}
	return theta
}

// Connected reports for every row whether its covariance with any of the columns
// differs from zero. Beside other terms, those that are Everywhere do not count.
// It costs one product with K[rows, cols]. Dense kernels connect all
// nodes, because rounding leaves no zeros.
func Connected(ctx context.Context, c Covariance, rows, cols []int) ([]bool, error) {
	if own := AbilitiesOf(c).Connected; own != nil {
		return own(ctx, rows, cols)
	}
	connected := make([]bool, len(rows))
	if len(connected) == 0 || len(cols) == 0 {
		return connected, nil
	}
	// With probability one a random vector is not orthogonal to any row that differs
	// from zero.
	x, sums := mat.NewDense(len(cols), 1, nil), mat.NewDense(len(rows), 1, nil)
	if err := normal.Fill(ctx, x, 1, "joined", 0); err != nil {
		return nil, err
	}
	if err := c.Cross(rows, cols).Apply(ctx, sums, x); err != nil {
		return nil, err
	}
	for a := range connected {
		connected[a] = sums.At(a, 0) != 0
	}
	return connected, nil
}
