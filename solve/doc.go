// Package solve solves symmetric positive definite systems
//
//	(A + diag(noise))·X = B
//
// and computes their log-determinants. A is an Operator, known only by its products
// with blocks of vectors, or a dense matrix. The package is independent of graphs,
// kernels and Gaussian processes.
//
// # Iteration
//
// CG runs conjugate gradients for all columns of B at once: they share every product
// with A, and each stops at its own tolerance. A Preconditioner P ≈ A + diag(noise)
// makes the number of iterations small:
//
//   - Jacobi is a diagonal matrix;
//   - LowRank is UUᵀ + diag(noise), inverted by Woodbury's formula;
//   - Coarse is an interpolated dense matrix on few coarse points, plus a diagonal.
//
// Iterations are limited by memory, so their vector work is fused into few sweeps, in
// assembly and in Go. Options.Single halves the memory that is moved: iterates are
// float32, while solutions, residuals and sums are float64. Solvers are written
// against a small interface, the space in which blocks of vectors live (space.go).
//
// LogDet estimates log det(A + diag(noise)) with a standard error by stochastic
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
// at any number of threads. A zero in Options means zero, because CG with zero iterations measures a
// residual: start from DefaultOptions. Systems that are not positive definite and
// iterations that do not converge are errors, ErrNotPositiveDefinite and
// ErrNotConverged; after ErrNotConverged the last iterate is kept.
package solve
