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
	Seed  uint64 // of the random vectors
}

// basisFloats bounds the memory of the Lanczos vectors, to 512 MiB or the vectors of
// a single probe: as many probes share a product as fit. A probe has two vectors, a
// product, and two more where there is a preconditioner.
const (
	basisFloats  = 1 << 26
	probeVectors = 5
)

// LogDet estimates log det(A + diag(noise)) by stochastic Lanczos quadrature with Rademacher probes, and its standard
// error over the probes. A preconditioner FFᵀ of known determinant (Factored) leaves log det(F⁻¹HF⁻ᵀ) to be
// estimated: a good one means a small standard error and few steps.
func (s *System) LogDet(ctx context.Context, opts LogDetOptions) (value, se float64, err error) {
	values, err := s.quadratures(ctx, opts, basisFloats)
	if failure := s.Space.Err(); failure != nil {
		err = failure
	}
	if err != nil {
		return 0, 0, fmt.Errorf("log-determinant: %w", err)
	}
	value, se = meanOf(values)
	if p, ok := s.Precond.(Factored); ok {
		value += p.LogDet()
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

// quadratures returns zᵀ·log(H)·z for every probe, or with H whitened, for as many probes at a time as have their
// vectors in the given room.
func (s *System) quadratures(ctx context.Context, opts LogDetOptions, room int) ([]float64, error) {
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
	n, _ := s.Axis.All()
	if n == 0 {
		return values, nil
	}
	of := s
	if p, ok := s.Precond.(Factored); ok {
		of = s.whitened(p)
		defer of.Noise.Free()
	}
	steps := min(opts.Steps, n)
	width := min(opts.Probes, s.Space.MaxColumns(), max(1, room/(n*probeVectors)))
	for first := 0; first < opts.Probes; first += width {
		k := min(width, opts.Probes-first)
		l := newLanczos(of, opts.Seed, first, k)
		if opts.Early && k > 1 {
			l.settle = new(settling)
		}
		err := l.run(ctx, steps)
		if failure := s.Space.Err(); failure != nil {
			err = failure
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
