// Package kernel has kernels, the prior covariances of Gaussian processes on the
// nodes of a graph: of closeness on the graph, and of what else is known about the
// nodes.
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
// # The algebra of roots
//
// A [Root] is a kernel at some nodes as K = F·Fᵀ, in the blocks of a space (package space): float64 or float32 of this
// process, a graphics card, or the rows that several processes share. Everything that inference needs follows from F:
//
//	products         K·x = F(Fᵀx)                                Root.Apply
//	gradients        uᵀ(∂K/∂θ)w from the same projections        Root.Slopes
//	prior draws      F·w with w ~ N(0, I)                        Values.Prior, Values.Mul
//	posterior draws  F_·(w + Fᵀu), for the solution u of a       Values.Settle
//	                 system with K + noise
//	other nodes      F_· there, with the same weights w          Values
//
// Kernels combine as their roots do, in every space alike:
//
//	random features        Φ = Σ f_l Ψ_l, sparse
//	a linear kernel        s·X; Fourier features are such an X; a constant or a trend is one column
//	a sum                  the columns of its terms side by side
//	a scaling              a diagonal on the left: unit variance is D·F
//	many scales            [Φ₀ | s₁P₁Φ̂₁ | s₂P₁P₂Φ̂₂ | …], with interpolations P
//	lone nodes             a masked row, and one weight of its own for each
//	nodes × periods        F ⊗ L with LLᵀ the correlation of the periods
//
// Kernels that have entries only, such as exact smooth kernels and products, are the second and last kind: their root is
// that of products with the entries, in the float64 memory of this process. What a kernel may add is a preconditioner, an
// exact factor and a cheaper diagonal ([Abilities]). Package kerneltest compares every root with the entries.
//
// # Covariates
//
// What is known about the nodes beside the graph is a matrix X with a row x per node:
//
//	Linear       s² xᵀx′, a linear regression with one prior variance for all
//	             coefficients
//	Smooth       s² k(r), r² = Σ_g |x_g − x′_g|²/ℓ_g², a smooth function with one
//	             length ℓ_g per group of columns
//	Fourier      Smooth as a matrix of low rank, for many measurements and nodes
//	Constant     s², the same value at every node
//
// The [Shape] k of a smooth kernel is RBF, exp(−r²/2), or one of two Matérn shapes,
// whose functions are rougher.
//
// # Composition
//
// Kernels can be combined. Sum is the kernel of a sum of independent functions, and
// Trend adds a regression on a single column; Product multiplies entries, so that
// nodes are alike if they are alike under both kernels; UnitVariance scales K to the
// same variance at every node; NewLayers and NewMultiscale add kernels of longer and
// longer reach. Your own type that implements Kernel can be combined with them:
//
//	k := kernel.Sum(local, kernel.Linear(x), kernel.Product(local, kernel.Smooth(x, nil, kernel.RBF)))
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
