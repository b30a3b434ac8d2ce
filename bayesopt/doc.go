// Package bayesopt decides which nodes of a graph to measure next, by Bayesian
// optimisation and active learning with a Gaussian process.
//
// # Goals and policies
//
// A Goal is the purpose of a search: Maximize, Minimize, Learn (predict all nodes
// well) or Threshold (tell nodes above a level from nodes below). A Policy is a
// rule that picks nodes, given the posterior: with mean m_i, standard deviation
// s_i and covariance c_ij at nodes i and j, noise variance σ² and best mean m* of
// a measured node,
//
//	Thompson             arg max of a posterior draw f          default of Maximize, Minimize
//	ExpectedImprovement  arg max E[max(0, f_i − m*)]
//	UCB                  arg max m_i + β s_i
//	VarianceReduction    arg max Σ_j c_ij² / (s_i² + σ²)        default of Learn
//	HighestVariance      arg max s_i²
//	Straddle             arg max 1.96 s_i − |m_i − level|       default of Threshold
//	Random, BreadthFirst, DepthFirst, HighestDegree             need no model
//
// Thompson, ExpectedImprovement and UCB have a field Minimize that turns the
// direction. With costs, policies rank nodes by gain per cost. Several nodes at
// once are picked one after the other: Thompson by a new draw for each, the others
// as if the nodes before had been measured and their means observed, so that a
// batch spreads out. Any type with a Pick method is a Policy; see the example of
// Policy.
//
// # Ask and tell
//
// An Optimizer is told measurements and asked for suggestions. It refits its
// hyperparameters by a Schedule and updates the posterior in between. It remembers
// measurements only: nodes that are pending (suggested, not measured yet), nodes
// to exclude and the budget that is left come with each Request, so that several
// people or machines can share one Optimizer whose caller keeps track of them.
//
//	o, err := bayesopt.New(bayesopt.Train(k, gp.FitOptions{}), bayesopt.Options{Goal: bayesopt.Maximize})
//	for range 20 {
//		answer, err := o.Ask(ctx, bayesopt.Request{Count: 2})
//		for _, s := range answer.Suggestions {
//			err = o.Tell(s.Node, measure(s.Node))
//		}
//	}
//
// SuggestLabels is the counterpart for classes: it suggests nodes to label.
//
// Suggestions depend on the seed, the measurements and the request alone: not on
// the number of threads, nor on whether the Optimizer was restarted in between
// (see Checkpoint).
package bayesopt

import "errors"

// Errors of this package.
var (
	// ErrOptions is wrapped by errors about invalid options and requests.
	ErrOptions = errors.New("bad options")
	// ErrNoModel is wrapped where the measurements do not determine a model yet.
	ErrNoModel = errors.New("there is no model yet")
	// ErrNode is wrapped by errors about nodes and values that are not valid
	// measurements.
	ErrNode = errors.New("not a measurement")
)
