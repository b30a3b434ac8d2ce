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
// LogDensity of test measurements, LeaveOneOut and StandardizedResiduals; each
// has an example.
//
// # Values
//
// FitOptions.Values says what is measured. Gaussian, the default, is the model above. For
// the others, f is on the scale of the third column, and a measurement has the
// distribution of the second given f:
//
//	Student  y = f + σ·t, t from Student's t with 4 degrees of freedom   the value
//	Counts   Poisson, or negative binomial, with mean E·exp(f)           log rate
//	Shares   binomial: y of n trials with probability 1/(1 + exp(−f))    logit
//	YesNo    0 or 1, as shares of one trial                              logit
//	Duration exponential, with mean exp(f)                               log mean
//	Positive gamma, with mean exp(f) and variance φ·exp(2f)              log mean
//
// Data.Exposure holds E, the expected count or the time at risk, or n. The posterior of f
// is approximated by Laplace's method: it is that of Gaussian pseudo-measurements
// z = f̂ + W⁻¹∇log p(y|f̂) with noise variances W⁻¹, where f̂ is the mode and W are minus the
// second derivatives of the log likelihoods there, and its mean is corrected for
// skewness. Fit, Condition and all methods of Posterior then work as for Gaussian values,
// on the scale of f; Posterior.Responses gives distributions on the scale that people
// read:
//
//	m, report, err := gp.Fit(ctx, k, data, gp.FitOptions{Values: gp.Counts})
//	p, err := m.Condition(ctx, data)
//	r, err := p.Responses(ctx, nodes)
//	r[0].Mean(), r[0].Quantile(0.975), r[0].Above(1)  // of a rate, or a relative risk
//	r[0].Measurement(exposure).Quantile(0.975)        // of one more count
//
// Gaussian and Student values may be modelled under a Transform: Data.Transformed takes
// them there, and Response.Under takes predictions back.
//
// Against long Markov chains on a ring of 40 nodes (elliptical slice sampling, one data
// set each, TestLaplaceAgainstSampling), means of f are off by at most 0.01 posterior standard deviations, and standard
// deviations by 2 %, for counts of mean 0.2 to 30, shares of 4 and 40 and yes-no values.
// For Student values means are off by up to 0.06, and standard deviations are
// 7 % too small on average and up to 15 % at a node.
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
