package kernel

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"grfgp/solve"
)

// Param describes a hyperparameter. The variance of a family is its first Param.
type Param struct {
	Name     string  // unique in a kernel: a path such as graph/beta, composed where kernels are
	Start    float64 // value from which learning starts, for data of mean 0 and variance 1
	Positive bool    // must be positive; its logarithm is learned
	Variance bool    // K, or one term of it, is proportional to this parameter
}

// hasVariance reports whether a family or kernel begins with its variance.
func hasVariance(params []Param) bool { return len(params) > 0 && params[0].Variance }

// Kernel is a family of covariances on the nodes 0 … Nodes()−1 of a graph.
type Kernel interface {
	Nodes() int
	Params() []Param
	// At returns the covariance at theta, one value per Param. It copies theta.
	At(theta []float64) (Covariance, error)
}

// Covariance is a positive semidefinite matrix K over nodes, never formed as a
// whole. It is immutable and safe for concurrent use. Lists of nodes may be in
// any order and may repeat nodes.
type Covariance interface {
	// Nodes returns the number of nodes.
	Nodes() int
	// Cross returns K[rows, cols].
	Cross(rows, cols []int) solve.Operator
	// Gram sets dst = K[rows, rows].
	Gram(ctx context.Context, dst *mat.SymDense, rows []int) error
	// Diag sets dst[i] = K[rows[i], rows[i]].
	Diag(ctx context.Context, dst []float64, rows []int) error
	// Prior fills the columns of dst, a row per node, with independent draws
	// from N(0, K): the same draws for the same seed.
	Prior(ctx context.Context, dst *mat.Dense, seed uint64) error
	// Grad adds Σ_s u_sᵀ (∂K[rows, rows]/∂θ_j) w_s to grad[j] over the columns
	// of u and w.
	Grad(ctx context.Context, grad []float64, rows []int, u, w *mat.Dense) error
	// GramGrad adds Σ_ab g_ab (∂K[rows, rows]/∂θ_j)_ab to grad[j].
	GramGrad(ctx context.Context, grad []float64, rows []int, g *mat.SymDense) error
}

// Modulation is a kernel family, given by its coefficients f_l for every walk
// length l: K = Ψ², Ψ = Σ f_l(θ) W^l.
type Modulation interface {
	Params() []Param
	// Coeffs sets dst[l] = f_l(theta).
	Coeffs(dst, theta []float64)
	// CoeffsGrad sets dst[j][l] = ∂f_l/∂θ_j.
	CoeffsGrad(dst [][]float64, theta []float64)
}

// Spectrum is a kernel family, given by its eigenvalues: K has the eigenvectors
// of W, and the eigenvalue w of W becomes the eigenvalue Density(w, θ) = (Σ
// f_l(θ) w^l)² of K.
type Spectrum interface {
	Params() []Param
	Density(w float64, theta []float64) float64
	// DensityGrad sets dst[j] = ∂Density/∂θ_j.
	DensityGrad(dst []float64, w float64, theta []float64)
}
