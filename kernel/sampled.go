package kernel

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"grfgp/walk"
)

// Sampling is random features that a covariance is made of, and the coefficients
// that combine them to Φ.
type Sampling struct {
	Features *walk.Features
	Coeffs   []float64
}

// Samplings returns the random features behind a covariance: those of the graph
// itself, or nil where it is exact there, and those of coarser scales, if any,
// from fine to coarse. They are not to be changed.
func Samplings(c Covariance) (fine *Sampling, coarse []Sampling) {
	switch c := c.(type) {
	case *grfCovariance:
		return &Sampling{c.features, c.coeff}, nil
	case *materializedCovariance:
		return Samplings(c.grfCovariance)
	case *lowRankCovariance:
		return Samplings(c.grf)
	case *trendCovariance:
		return Samplings(c.Covariance)
	case *trendConditioner:
		return Samplings(c.Covariance)
	case *evenCovariance:
		return Samplings(c.raw)
	case *layersCovariance:
		return Samplings(c.parts[0])
	case *multiscaleCovariance:
		fine, _ = Samplings(c.fine)
		for _, u := range c.parts {
			coarse = append(coarse, Sampling{u.raw.features, u.raw.coeff})
		}
		return fine, coarse
	}
	return nil, nil
}

// Joined reports for every row whether it has a covariance other than zero with
// any of the columns. Trends are left out, for they join everything; at low rank
// it is features that must meet, for their projections always do. It costs one
// product with K[rows, cols]. It says nothing of dense kernels, whose zeros are
// rounded.
func Joined(ctx context.Context, c Covariance, rows, cols []int) ([]bool, error) {
	switch c := c.(type) {
	case *lowRankCovariance:
		return Joined(ctx, c.grf, rows, cols)
	case *trendCovariance:
		return Joined(ctx, c.Covariance, rows, cols)
	case *trendConditioner:
		return Joined(ctx, c.Covariance, rows, cols)
	}
	joined := make([]bool, len(rows))
	if len(rows) == 0 || len(cols) == 0 {
		return joined, nil
	}
	// A random vector is orthogonal to no row that is not zero.
	x, sums := mat.NewDense(len(cols), 1, nil), mat.NewDense(len(rows), 1, nil)
	if err := normals(ctx, x, 1, "joined", 0); err != nil {
		return nil, err
	}
	if err := c.Cross(rows, cols).Apply(ctx, sums, x); err != nil {
		return nil, err
	}
	for a := range joined {
		joined[a] = sums.At(a, 0) != 0
	}
	return joined, nil
}
