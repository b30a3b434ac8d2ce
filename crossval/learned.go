package crossval

import (
	"context"

	"grfgp"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/progress"
)

// Learned is what a cross-validation learns in every fold, from the other folds alone. The
// rest is learned once, from all measurements or labels.
type Learned string

// What folds learn.
const (
	LearnedKernel          Learned = "kernel"          // with its hyperparameters
	LearnedHyperparameters Learned = "hyperparameters" // of the kernel that is best for all
	LearnedNothing         Learned = "nothing"
)

// String says it in a sentence.
func (l Learned) String() string {
	switch l {
	case LearnedKernel:
		return "Kernel and hyperparameters were learned from the other folds alone."
	case LearnedHyperparameters:
		return "The kernel was chosen once, from all values; its hyperparameters were learned from the other folds alone."
	case LearnedNothing:
		return "Kernel and hyperparameters were learned once, from all values: errors may be slightly too small."
	}
	return ""
}

// learns decides what folds learn. A score of T held-out values by p hyperparameters that were
// learned from the same values is too good by about p/T nats per value (Akaike), and its own standard
// error is about 1/√2T: from T = 8p² on, the former is less than half of the latter.
func (o Options) learns(values, hyperparameters int) Learned {
	switch {
	case o.ChooseAgain:
		return LearnedKernel
	case o.Fixed || values >= 8*hyperparameters*hyperparameters:
		return LearnedNothing
	}
	return LearnedHyperparameters
}

// fitting returns how folds are fitted, and leaves their work in o.Progress.
func (o *Options) fitting(ctx context.Context, g *graph.Graph, d gp.Data,
	spec grfgp.Spec) (func(context.Context, gp.Data, *progress.Work) (*grfgp.Model, error), Learned, error) {
	whole := o.Model
	if whole == nil || o.ChooseAgain {
		t, err := grfgp.NewTrainer(g, spec)
		if err != nil || o.ChooseAgain {
			return t.FitProgress, LearnedKernel, err
		}
		if whole, err = t.FitProgress(ctx, d, o.Progress.Part(1, 1)); err != nil {
			return nil, "", err
		}
		o.Progress = o.Progress.Part(1, 0)
	}
	learned := o.learns(d.Len(), len(whole.Choice().Fit.Theta))
	if learned == LearnedNothing {
		return func(ctx context.Context, train gp.Data, _ *progress.Work) (*grfgp.Model, error) {
			return whole.Condition(ctx, train)
		}, learned, nil
	}
	return whole.Refit, learned, nil
}

// classFitting is a way to fit a classifier.
type classFitting func(context.Context, gp.Labels, *progress.Work) (*grfgp.Classification, error)

// fittingClasses is fitting for labels.
func (o *Options) fittingClasses(ctx context.Context, l gp.Labels, fit classFitting) (classFitting, Learned, error) {
	if o.ChooseAgain {
		return fit, LearnedKernel, nil
	}
	whole := o.Classifier
	if whole == nil {
		var err error
		if whole, err = fit(ctx, l, o.Progress.Part(1, 1)); err != nil {
			return nil, "", err
		}
		o.Progress = o.Progress.Part(1, 0)
	}
	learned := o.learns(l.Len(), len(whole.Choice().Fit.Theta))
	if learned == LearnedNothing {
		return whole.Condition, learned, nil
	}
	return whole.Refit, learned, nil
}
