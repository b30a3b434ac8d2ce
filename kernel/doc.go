// Package kernel has covariances between the nodes of a graph.
//
// # Family and representation
//
// A kernel is chosen on two axes. The family is the shape of its spectrum: on a
// symmetric matrix W, such as the normalised adjacency with the Laplacian L = I − W,
//
//	Diffusion    σ² exp(−β·L)
//	Matern       σ² (1 + κ²L/2ν)^−ν
//	Free         (Σ_l f_l W^l)² with free coefficients f_l
//	Power        σ² Σ_r α_r W^r with given α_r
//
// As a Modulation a family states its coefficients f_l by walk length, K = (Σ f_l
// W^l)²; as a Spectrum it states the eigenvalue of K for each eigenvalue of W.
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
// A Kernel has hyperparameters θ; At(θ) gives a Covariance, a positive semidefinite
// matrix K over the nodes that is never formed as a whole. It multiplies (Cross),
// gives entries (Gram, Diag), draws from N(0, K) (Prior) and differentiates by θ
// (Grad, GramGrad).
//
// # Composition
//
// Kernels compose. Sum adds independent functions; Linear is the kernel of a linear
// regression term, and Trend adds one; UnitVariance scales K to the same variance
// at every node; NewLayers and NewMultiscale add kernels of longer and longer reach.
// A type of yours that has the methods of Kernel composes with them:
//
//	k := kernel.Sum(local, kernel.Linear(height))
//
// Optional operations of a covariance, such as a preconditioner or draws in one
// pass, are the fields of Abilities; those of a kernel are in Training. Compositions
// forward them. Package kerneltest is the contract as a test suite: run it on a
// kernel of your own.
//
// Subpackages lowrank and materialized reproduce arms of the paper's experiments.
package kernel
