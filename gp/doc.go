// Package gp is Gaussian process regression and classification on the nodes of a
// graph. It works with kernels (package kernel) and solvers and never uses the
// graph itself.
//
// # Model
//
// The quantity is a function f on the nodes: an unknown constant plus a draw from
// N(0, K(θ)). Measurement k at node x_k is y_k = f(x_k) + ε_k, with the noise
// variance σ² or a given variance of its own. With H = K_xx + noise, in the notation
// of Rasmussen and Williams (Gaussian Processes for Machine Learning, chapter 2),
//
//	log marginal likelihood   log p(y) = −½ yᵀH⁻¹y − ½ log det H − (T/2) log 2π
//	posterior mean            K_*x H⁻¹ y
//	posterior covariance      K_** − K_*x H⁻¹ K_x*
//
// Values are standardised first, so that the priors of the hyperparameters do not
// depend on the units of the data; results are in these units.
//
// # Use
//
// Fit learns θ and σ² by maximising the log marginal likelihood and returns a
// Model. Model.Condition returns a Posterior, and Posterior.Condition a posterior
// given more measurements:
//
//	m, report, err := gp.Fit(ctx, k, data, gp.FitOptions{})
//	p, err := m.Condition(ctx, data)
//	mean, err := p.Mean(ctx, nodes)
//
// A Posterior has Mean, Variance, Covariance, Sample, LogMarginalLikelihood,
// LogDensity and JointLogDensity of test measurements, LeaveOneOut and
// StandardizedResiduals; each has an example.
//
// # Solvers
//
// Up to 3,000 measurements H is factored, and all results are exact. With more,
// systems with H are solved by conjugate gradients, gradients of the likelihood
// are estimated from random vectors, and variances from posterior draws;
// Posterior.SDError gives their standard error.
//
// # Classes
//
// Classify gives every node the probability of each class from Labels. The default,
// Dirichlet, is regression to transformed labels (Milios et al., 2018), calibrated by
// leave-one-out. Variational and RobustMax reproduce the paper's classifiers and are
// never chosen automatically.
package gp
