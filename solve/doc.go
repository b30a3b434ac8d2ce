// Package solve solves symmetric positive definite systems
//
//	(A + diag(noise))·X = B
//
// and computes their log-determinants. A is known only by its products with blocks of
// vectors, or a dense matrix. The package is independent of graphs, kernels and Gaussian
// processes.
//
// # Iteration
//
// A System is in a space (package space): the memory of this process in float64 or
// float32, a graphics card, or rows that several processes share. Its CG runs conjugate
// gradients for all columns of B at once: they share every product with A, and each stops
// at its own tolerance. The function CG does it for an Operator, with matrices of gonum. A
// Preconditioner P ≈ A + diag(noise) makes the number of iterations small:
//
//   - Jacobi is a diagonal matrix;
//   - LowRank is a diagonal matrix and one of low rank, such as an interpolated dense
//     matrix on few coarse points, inverted by Woodbury's formula.
//
// Iterations are limited by memory, so their vector work is fused into few sweeps.
// Options.Single halves the memory that is moved, where a System has a Narrow one: its
// iterates are float32, while solutions, residuals and sums are float64.
//
// System.LogDet estimates log det(A + diag(noise)) with a standard error by stochastic
// Lanczos quadrature: for random signs z, E[zᵀ log(H) z] = log det H.
//
// # Factors
//
// Cholesky is the factor H = LLᵀ of a dense matrix of up to some thousands of
// rows. It solves systems, inverts, gives the determinant, and can be extended
// row by row, in O(n²) each.
//
// # Results
//
// Sums run over fixed blocks of rows and up a fixed tree, so results have the same bits
// at any number of threads and processes. A zero in Options means zero, because CG with zero iterations measures a
// residual: start from DefaultOptions. Systems that are not positive definite and
// iterations that do not converge are errors, ErrNotPositiveDefinite and
// ErrNotConverged; after ErrNotConverged the last iterate is kept.
package solve
