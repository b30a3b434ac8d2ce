package solve

import (
	"context"
	"fmt"
	"math"
)

// LogDetOptions say how hard LogDet tries. They are literal; start from
// DefaultLogDetOptions.
type LogDetOptions struct {
	// Probes is the number of random vectors, at least 2.
	Probes int
	// Steps is the number of Lanczos steps per probe. What too few of them miss
	// is not part of the standard error.
	Steps int
	// Precond, if not nil, leaves only log det(F⁻¹HF⁻ᵀ) to chance: the better it
	// is, the smaller the standard error and the fewer steps are needed.
	Precond Factored
	Seed    uint64
}

// DefaultLogDetOptions are 16 probes of 40 steps, without a preconditioner.
func DefaultLogDetOptions() LogDetOptions { return LogDetOptions{Probes: 16, Steps: 40} }

// basisFloats bounds the Lanczos vectors in memory, to 512 MiB or what a single
// probe needs: as many probes share a product as fit.
const basisFloats = 1 << 26

// LogDet estimates log det(A + diag(noise)) by stochastic Lanczos quadrature
// with Rademacher probes, and its standard error over the probes.
func LogDet(ctx context.Context, a Operator, noise []float64, opts LogDetOptions) (value, se float64, err error) {
	values, err := quadratures(ctx, a, noise, opts, basisFloats)
	if err != nil {
		return 0, 0, fmt.Errorf("log-determinant: %w", err)
	}
	for _, v := range values {
		value += v
	}
	count := float64(len(values))
	value /= count
	for _, v := range values {
		se += (v - value) * (v - value)
	}
	se = math.Sqrt(se / (count - 1) / count)
	if opts.Precond != nil {
		value += opts.Precond.LogDet()
	}
	return value, se, nil
}

// quadratures returns zᵀ·log(H)·z for every probe, or with H whitened, for as
// many probes at a time as have their vectors in the given room.
func quadratures(ctx context.Context, a Operator, noise []float64, opts LogDetOptions, room int) ([]float64, error) {
	if err := checkShifted(a, noise); err != nil {
		return nil, err
	}
	if opts.Probes < 2 || opts.Steps < 1 {
		return nil, fmt.Errorf("%w: %d probes of %d steps; start from DefaultLogDetOptions", ErrArgument, opts.Probes, opts.Steps)
	}
	n := len(noise)
	values := make([]float64, opts.Probes)
	if n == 0 {
		return values, nil
	}
	steps := min(opts.Steps, n)
	width := min(opts.Probes, max(1, room/(n*(steps+1))))
	for first := 0; first < opts.Probes; first += width {
		k := min(width, opts.Probes-first)
		l := newLanczos(a, noise, opts.Precond, steps, k)
		for t := range k {
			l.probe(t, opts.Seed, first+t)
		}
		if err := l.run(ctx); err != nil {
			return nil, err
		}
		for t := range k {
			v, err := l.quadrature(t)
			if err != nil {
				return nil, fmt.Errorf("probe %d: %w", first+t, err)
			}
			values[first+t] = float64(n) * v
		}
	}
	return values, nil
}
