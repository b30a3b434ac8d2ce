// Package kernel has kernels, the prior covariances of Gaussian processes on the
// nodes of a graph.
//
// # Family and representation
//
// A kernel has a family and a representation. The family is the shape of its
// spectrum, a function of a symmetric matrix W such as the normalised adjacency,
// with the Laplacian L = I − W:
//
//	Diffusion    s² exp(−β·L)
//	Matern       s² (1 + κ²L/2ν)^−ν
//	Free         (Σ_l f_l W^l)² with free coefficients f_l
//	Power        s² Σ_r α_r W^r with given α_r
//
// Here s² is the variance of the kernel (σ² is the noise variance in package gp).
// A [Modulation] gives the coefficients f_l of a family by walk length, K = (Σ
// f_l W^l)². A [Spectrum] gives the eigenvalue of K for each eigenvalue of W. The
// built-in families are both.
//
// The representation says how K is computed:
//
//	NewGRF       random features of walks (package walk), linear in the nodes
//	NewExact,    polynomials of W, exact to rounding, by products with W alone
//	NewSeries
//	NewDense     all eigenvectors of W, for up to MaxDense nodes
//
// # Kernel and Covariance
//
// A [Kernel] has hyperparameters θ. At(θ) returns a [Covariance], a positive
// semidefinite matrix K over the nodes that is never formed as a whole. Its methods
// compute products (Cross), entries (Gram, Diag), draws from N(0, K) (Prior) and
// derivatives by θ (Grad, GramGrad).
//
// # Composition
//
// Kernels can be combined. Sum is the kernel of a sum of independent functions;
// Linear is the kernel of a linear regression term, and Trend adds one to a kernel;
// UnitVariance scales K to the same variance at every node; NewLayers and
// NewMultiscale add kernels of longer and longer reach. Your own type that
// implements Kernel can be combined with them:
//
//	k := kernel.Sum(local, kernel.Linear(height))
//
// [OverTime] makes a kernel on nodes one on nodes and periods.
//
// The optional operations of a covariance, such as a preconditioner or faster draws,
// are the fields of [Abilities]; those of a kernel are in [Training]. Combined
// kernels forward them. Package kerneltest tests a kernel of your own against the
// contract of these interfaces.
//
// Packages lowrank and materialized reproduce experiments of the paper.
package kernel
