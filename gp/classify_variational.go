package gp

import (
	"context"
	"slices"

	"grfgp/gp/internal/latent"
	"grfgp/gp/internal/variational"
	"grfgp/kernel"
)

// classifyVariationally fits Variational or RobustMax. Hyperparameters start from
// the Dirichlet fit; with more labels than Exact takes they stay there.
func classifyVariationally(ctx context.Context, k kernel.Kernel, l Labels, opts ClassifyOptions) (*Classifier, ClassifyReport, error) {
	r := ClassifyReport{ClassState: ClassState{Method: opts.Method, Solver: opts.Solver, Calibration: uncalibrated}}
	params, _, err := newParams(k, nil, true)
	if err != nil {
		return nil, r, err
	}
	p := variational.Problem{
		Kernel: k, Nodes: l.Nodes, Class: l.Class, Classes: l.Classes, Params: params,
		Robust: opts.Method == RobustMax, Inducing: opts.Inducing, Steps: opts.Steps,
	}
	if opts.State != nil {
		r.Theta = slices.Clone(opts.State.Theta)
		calibration := latent.Calibration(opts.State.Calibration)
		p.Calibration = &calibration
	} else {
		p.Learn = opts.Solver == Exact
		first := opts
		first.Method, first.ScoreOnly = Dirichlet, true
		_, start, err := classifyByRegression(ctx, k, l, first)
		if err != nil {
			return nil, r, err
		}
		r.Theta, r.Evaluations = start.Theta, start.Evaluations
		_, _, scale := dirichletSides(l.Classes)
		for j, p := range k.Params() {
			if p.Variance { // from standardised units to log odds
				r.Theta[j] *= scale * scale / (start.Temperature * start.Temperature)
			}
		}
	}
	c, fit, err := variational.Fit(ctx, p, r.Theta)
	if err != nil {
		return nil, r, err
	}
	r.Theta, r.LogLikelihood, r.Converged = fit.Theta, fit.Bound, fit.Converged
	r.Evaluations += fit.Evaluations
	r.Calibration = Calibration(fit.Calibration)
	r.score(fit.LeaveOneOut, scoredClasses(l.Class, l.Classes))
	return &Classifier{c, l.Classes, fit.LeaveOneOut}, r, nil
}
