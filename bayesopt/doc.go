// Package bayesopt suggests which nodes of a graph to measure next, by Bayesian
// optimisation and active learning with a Gaussian process.
//
// # Goals and policies
//
// A Goal is the purpose of a search: Maximize, Minimize, Learn (predict all nodes
// well) or Threshold (find out which nodes are above a level). A Policy is an
// acquisition policy, a rule that picks nodes given the posterior. With posterior
// mean m_i, standard deviation s_i and covariance c_ij at nodes i and j, noise
// variance σ², and m* the best posterior mean of a measured node,
//
//	Thompson             arg max of a posterior draw f          default of Maximize, Minimize
//	ExpectedImprovement  arg max E[max(0, f_i − m*)]
//	UCB                  arg max m_i + β s_i
//	VarianceReduction    arg max Σ_j c_ij² / (s_i² + σ²)        default of Learn
//	HighestVariance      arg max s_i²
//	Straddle             arg max 1.96 s_i − |m_i − level|       default of Threshold
//	Random, BreadthFirst, DepthFirst, HighestDegree             need no model
//
// Thompson, ExpectedImprovement and UCB have a field Minimize for the opposite
// direction. With costs, policies rank nodes by gain per cost. A batch is picked
// node by node: Thompson takes a new draw for each pick; the other policies treat
// earlier picks as if they had been measured and their posterior means observed,
// so that a batch spreads out. Any type with a Pick method is a Policy; see the
// example of Policy.
//
// # Ask and tell
//
// An Optimizer is told measurements and asked for suggestions. It fits the
// hyperparameters again when its Schedule says so and updates the posterior in
// between. It stores only measurements. Pending nodes (suggested, not measured
// yet), excluded nodes and the remaining budget are part of each Request, so that
// several people or machines can share one Optimizer whose caller keeps track of
// them.
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
// Suggestions depend only on the options, the measurements and the request: not
// on the number of threads, and not on whether the Optimizer was restarted in
// between (see Checkpoint).
package bayesopt

import "errors"

// Errors of this package.
var (
	// ErrOptions is wrapped by errors about invalid options and requests.
	ErrOptions = errors.New("bad options")
	// ErrNoModel is wrapped if the measurements do not determine a model yet.
	ErrNoModel = errors.New("there is no model yet")
	// ErrNode is wrapped by errors about nodes and values that are not valid
	// measurements.
	ErrNode = errors.New("not a measurement")
)
