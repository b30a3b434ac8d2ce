package grfgp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"grfgp/bayesopt"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/plan"
	"grfgp/progress"
)

// Optimizer is a bayesopt.Optimizer that chooses its kernel as Fit does, and chooses
// again when the number of measurements has grown fourfold, or twofold if there are
// covariates. Values may be of any kind: policies work on the scale of the model,
// levels, means and standard deviations are on that of Predict, and counts and shares
// with exposures are told by TellAll. It is not safe for concurrent use.
type Optimizer struct {
	*bayesopt.Optimizer
	spec Spec // as asked for
	of   *Trainer
}

// NewOptimizer returns an Optimizer without measurements. If spec leaves the
// representation open, Spec.ForSearch decides.
func NewOptimizer(g *graph.Graph, spec Spec, opts bayesopt.Options) (*Optimizer, error) {
	t, err := NewTrainer(g, spec.ForSearch(g, policyOf(opts)))
	if err != nil {
		return nil, err
	}
	return t.optimizer(spec.clone(), opts)
}

// Sibling returns an Optimizer without measurements on the same graph and with
// the same Spec. It suggests the same nodes as one from NewOptimizer. The two may
// be used concurrently, and they share features and eigenvectors unless their
// policies need different representations.
func (o *Optimizer) Sibling(opts bayesopt.Options) (*Optimizer, error) {
	if g := o.of.graph; o.spec.ForSearch(g, policyOf(opts)).Method != o.of.spec.Method {
		return NewOptimizer(g, o.spec, opts)
	}
	return o.of.optimizer(o.spec, opts)
}

// policyOf returns the policy of an Optimizer with these options.
func policyOf(opts bayesopt.Options) bayesopt.Policy {
	if opts.Policy == nil {
		return opts.Goal.Policy()
	}
	return opts.Policy
}

// ForSearch returns the Spec with Method set, if it is empty, to the representation
// that is fastest for a search by the policy: random features on all but small
// graphs. On graphs of high degree features are long and noisy. There an exact
// series draws as fast but is slow at the variances of many nodes, so it is used for
// Thompson sampling, which needs only draws. A nil policy is taken to need
// variances.
//
// On graphs of more than 20,000 nodes ForSearch sets Roles to none unless Terms has
// them: the values of a draw at all nodes are 1,024 cosines and sines per node of
// functions of some hundred roles, seconds for each suggestion.
func (s Spec) ForSearch(g *graph.Graph, p bayesopt.Policy) Spec {
	limits := plan.Default()
	if g.Len() > limits.SearchRoleNodes && !s.Terms.Has(RoleTerm) {
		s.Roles = "none"
	}
	if s.Method == "" {
		_, draws := p.(bayesopt.Thompson)
		s.Method = limits.SearchMethod(g.Len(), g.Adjacency().NNZ(), draws)
	}
	return s
}

// Optimizer returns an Optimizer without measurements. It uses the Trainer's Spec as
// it is; apply Spec.ForSearch before NewTrainer for a representation that suits
// searches. Several Optimizers may share a Trainer and be used concurrently.
func (t *Trainer) Optimizer(opts bayesopt.Options) (*Optimizer, error) {
	return t.optimizer(t.spec, opts)
}

func (t *Trainer) optimizer(asked Spec, opts bayesopt.Options) (*Optimizer, error) {
	if err := t.spec.noTimes("searches are"); err != nil {
		return nil, err
	}
	opts.Transform = t.spec.transform()
	if level, ok := opts.Goal.Level(); ok && !finite(t.spec.latent(level)) {
		return nil, fmt.Errorf("%w: no quantity of kind %s with the transform %s can be %v, so it cannot be a threshold; give a rate above 0, "+
			"or a probability between 0 and 1", bayesopt.ErrOptions, t.spec.kind(), t.spec.transform(), level)
	}
	inner, err := bayesopt.New(searchTrainer{t}, opts)
	if err != nil {
		return nil, err
	}
	return &Optimizer{inner, asked, t}, nil
}

// Chosen returns the Spec of the last training with its choices filled in and without a
// device, and false before the first training.
func (o *Optimizer) Chosen() (Spec, bool) {
	c, ok := o.Checkpoint()
	if !ok {
		return Spec{}, false
	}
	return o.of.spec.filled(c.Kernel).anywhere(), true
}

// searchTrainer is a Trainer for package bayesopt. It chooses the kernel again when
// there are some times as many measurements as at the last choice.
type searchTrainer struct{ *Trainer }

// chooseAt returns the number of measurements at which the kernel is chosen again, given
// that of the last choice. The first choice is made from five measurements, which
// support no covariate; with covariates the second choice comes soon after it.
func (t searchTrainer) chooseAt(last int) int {
	if t.spec.Covariates != nil {
		return 2 * last
	}
	return 4 * last
}

func (t searchTrainer) Nodes() int { return t.graph.Len() }

func (t searchTrainer) CheckData(d gp.Data) error {
	return d.CheckValues(t.graph.Len(), t.spec.kind())
}

func (t searchTrainer) Fit(ctx context.Context, d gp.Data, last *bayesopt.Trained) (*bayesopt.Trained, error) {
	return t.FitProgress(ctx, d, last, nil)
}

// FitProgress is Fit that tells w how far it is.
func (t searchTrainer) FitProgress(ctx context.Context, d gp.Data, last *bayesopt.Trained, w *progress.Work) (*bayesopt.Trained, error) {
	card, err := t.card()
	if err != nil {
		return nil, err
	}
	if last != nil && d.Len() < t.chooseAt(last.ChosenAt) {
		m, _, err := t.retrain(ctx, d, last.Kernel, last.Model.Hyperparameters(), gp.FitOptions{Device: card, Progress: w})
		if err != nil {
			return nil, err
		}
		return &bayesopt.Trained{Model: m, Kernel: last.Kernel, ChosenAt: last.ChosenAt, Settings: last.Settings}, nil
	}
	best, err := t.train(ctx, d, card, w)
	if err != nil {
		return nil, err
	}
	return &bayesopt.Trained{Model: best.fitted, Kernel: best.spec.Expression, ChosenAt: d.Len(), Settings: t.settings()}, nil
}

// settings returns a digest of the Spec beside the expression of its kernel: a model of other settings is another one.
func (t searchTrainer) settings() string {
	rest := t.spec.anywhere()
	rest.Expression = Expression{}
	text, err := json.Marshal(rest)
	if err != nil {
		panic(err) // Check has accepted its numbers
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func (t searchTrainer) Restore(ctx context.Context, c bayesopt.Checkpoint) (*gp.Model, error) {
	made := t.spec.filled(c.Kernel)
	if err := made.Check(); err != nil {
		return nil, fmt.Errorf("%w: checkpoint: %w", bayesopt.ErrOptions, err)
	}
	if !made.complete() || !t.spec.Admits(c.Kernel) || c.Settings != t.settings() {
		return nil, fmt.Errorf("%w: the checkpoint was made with another specification; resume with the same one", bayesopt.ErrOptions)
	}
	card, err := t.card()
	if err != nil {
		return nil, err
	}
	return t.model(ctx, c.Kernel, c.State, card)
}
