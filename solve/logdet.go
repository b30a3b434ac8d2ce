package solve

import (
	"context"
	"fmt"
	"math"
)

// LogDetOptions trade the accuracy of LogDet for its cost; the zero value is a good
// choice.
type LogDetOptions struct {
	// Probes is the number of random vectors, at least 2; 0 means 16.
	Probes int
	// Steps is the number of Lanczos steps per probe; 0 means 40. The standard error
	// does not include the error of too few steps.
	Steps int
	// Early takes fewer steps if the last three have changed the mean by less than 1 % of its
	// standard error. It is for a good preconditioner: without one, large eigenvalues may be
	// found late. It has no effect on a single probe at a time.
	Early bool
	// Precond, if not nil, has an exact determinant, and only log det(F⁻¹HF⁻ᵀ) is
	// estimated: a good one means a small standard error and few steps.
	Precond Factored
	Seed    uint64 // of the random vectors
	Rows    *Rows  // of several ranks; nil means one rank
}

// basisFloats bounds the memory of the Lanczos vectors, to 512 MiB or the vectors of
// a single probe: as many probes share a product as fit. A probe has two vectors, a
// product, and two more where there is a preconditioner.
const (
	basisFloats  = 1 << 26
	probeVectors = 5
)

// LogDet estimates log det(A + diag(noise)) by stochastic Lanczos quadrature
// with Rademacher probes, and its standard error over the probes.
func LogDet(ctx context.Context, a Operator, noise []float64, opts LogDetOptions) (value, se float64, err error) {
	values, err := quadratures(ctx, a, noise, opts, basisFloats)
	if err != nil {
		return 0, 0, fmt.Errorf("log-determinant: %w", err)
	}
	value, se = meanOf(values)
	if opts.Precond != nil {
		value += opts.Precond.LogDet()
	}
	return value, se, nil
}

// meanOf returns the mean of two or more values and its standard error.
func meanOf(values []float64) (mean, se float64) {
	for _, v := range values {
		mean += v
	}
	count := float64(len(values))
	mean /= count
	for _, v := range values {
		se += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(se / (count - 1) / count)
}

// quadratures returns zᵀ·log(H)·z for every probe, or with H whitened, for as
// many probes at a time as have their vectors in the given room.
func quadratures(ctx context.Context, a Operator, noise []float64, opts LogDetOptions, room int) ([]float64, error) {
	if err := checkShifted(a, noise); err != nil {
		return nil, err
	}
	sums := newSummation(ctx, opts.Rows)
	n, _ := sums.total(len(noise))
	return eachProbe(ctx, n, opts, max(1, room/(max(1, n)*probeVectors)), func(first, k int) *lanczos {
		return newLanczos(sums, a, noise, opts.Precond, opts.Seed, first, k)
	}, func() error { return sums.err })
}

// eachProbe returns the quadratures of every probe of n rows, up to width of them at a time,
// by the recursions that start returns. A failure is reported instead of what follows from it.
func eachProbe(ctx context.Context, n int, opts LogDetOptions, width int, start func(first, k int) *lanczos,
	failure func() error) ([]float64, error) {
	if opts.Probes == 0 {
		opts.Probes = 16
	}
	if opts.Steps == 0 {
		opts.Steps = 40
	}
	if opts.Probes < 2 || opts.Steps < 1 {
		return nil, fmt.Errorf("%w: %d probes of %d steps; take 2 or more probes of 1 or more steps, or 0 for the default", ErrArgument,
			opts.Probes, opts.Steps)
	}
	values := make([]float64, opts.Probes)
	if n == 0 {
		return values, nil
	}
	steps := min(opts.Steps, n)
	width = min(opts.Probes, width)
	for first := 0; first < opts.Probes; first += width {
		k := min(width, opts.Probes-first)
		l := start(first, k)
		if opts.Early && k > 1 {
			l.settle = new(settling)
		}
		err := l.run(ctx, steps)
		if failed := failure(); failed != nil {
			err = failed
		}
		if err != nil {
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
