package grfgp

import (
	"context"
	"encoding/json"
	"fmt"

	"grfgp/bayesopt"
	"grfgp/gp"
	"grfgp/graph"
)

// Optimizer is a bayesopt.Optimizer whose kernel is chosen as in Fit. It is not safe
// for concurrent use.
type Optimizer struct {
	*bayesopt.Optimizer
	spec Spec // as asked for
	of   *Trainer
}

// NewOptimizer returns an Optimizer without measurements. The policy is Options.Policy,
// or one of bayesopt.PolicyNames, or by default that of the goal.
func NewOptimizer(g *graph.Graph, spec Spec, policy string, opts bayesopt.Options) (*Optimizer, error) {
	t, err := NewTrainer(g, suited(g, spec, policy, opts))
	if err != nil {
		return nil, err
	}
	return t.optimizer(spec.clone(), policy, opts)
}

// Sibling returns an Optimizer without measurements on the same graph and with the same
// Spec. Both may be used at once. They share eigenvectors and features unless their
// policies need other representations; suggestions are those of a new Optimizer.
func (o *Optimizer) Sibling(policy string, opts bayesopt.Options) (*Optimizer, error) {
	if g := o.of.graph; suited(g, o.spec, policy, opts).Method != o.of.spec.Method {
		return NewOptimizer(g, o.spec, policy, opts)
	}
	return o.of.optimizer(o.spec, policy, opts)
}

const (
	crowdDegree = 8       // mean degree from which a few hops reach everywhere,
	crowdNNZ    = 800_000 // and edges, both ways, up to which a draw by series takes 0.1 s
)

// drawing returns the Spec for models with many posterior draws. On all but small graphs
// draws are fastest with features. If nodes have many neighbours, features are long and
// noisy; an exact series is then as fast for draws, but slow for variances of many
// nodes.
func drawing(g *graph.Graph, spec Spec, onlyDraws bool) Spec {
	if spec.Method != "" || g.Len() <= denseNodes {
		return spec
	}
	nnz := g.Adjacency().NNZ()
	if spec.Method = "grf"; onlyDraws && nnz > crowdDegree*g.Len() && nnz <= crowdNNZ {
		spec.Method = "series"
	}
	return spec
}

// suited returns the Spec with the representation that suits an Optimizer.
func suited(g *graph.Graph, spec Spec, policy string, opts bayesopt.Options) Spec {
	return drawing(g, spec, opts.Policy == nil && onlyDraws(policy, opts.Goal))
}

// onlyDraws reports whether a policy needs nothing of a model but draws.
func onlyDraws(policy string, goal bayesopt.Goal) bool {
	return policy == "thompson" || policy == "" && goal.Seeks()
}

// Optimizer returns an Optimizer without measurements, with the policy as in
// NewOptimizer. Several may share a Trainer and be used at once.
func (t *Trainer) Optimizer(policy string, opts bayesopt.Options) (*Optimizer, error) {
	return t.optimizer(t.spec, policy, opts)
}

func (t *Trainer) optimizer(asked Spec, policy string, opts bayesopt.Options) (_ *Optimizer, err error) {
	if opts.Policy == nil {
		if opts.Policy, err = bayesopt.PolicyNamed(policy, opts.Goal, t.graph.Adjacency()); err != nil {
			return nil, err
		}
	}
	inner, err := bayesopt.New(searchTrainer{t}, opts)
	if err != nil {
		return nil, err
	}
	return &Optimizer{inner, asked, t}, nil
}

// Chosen returns the Spec of the last training with its choices filled in, and false
// before the first training.
func (o *Optimizer) Chosen() (Spec, bool) {
	var by searchKernel
	c, ok := o.Checkpoint()
	if ok {
		ok = json.Unmarshal([]byte(c.Kernel), &by) == nil
		by.Spec.Custom = o.of.spec.Custom
	}
	return by.Spec, ok
}

// searchTrainer is a Trainer for package bayesopt. It chooses the kernel anew whenever
// there are four times as many measurements as at the last choice.
type searchTrainer struct{ *Trainer }

const chooseAgain = 4

// searchKernel is the JSON by which checkpoints name a kernel.
type searchKernel struct {
	Spec         Spec `json:"spec"`
	Measurements int  `json:"measurements"`
}

func (t searchTrainer) Nodes() int { return t.graph.Len() }

func (t searchTrainer) Fit(ctx context.Context, d gp.Data, last *bayesopt.Trained) (*bayesopt.Trained, error) {
	if last != nil {
		var by searchKernel
		if err := json.Unmarshal([]byte(last.Kernel), &by); err != nil {
			return nil, fmt.Errorf("last training: %w", err)
		}
		by.Spec.Custom = t.spec.Custom
		if d.Len() < chooseAgain*by.Measurements {
			m, _, err := t.retrain(ctx, d, by.Spec, last.Model.Theta())
			if err != nil {
				return nil, err
			}
			return &bayesopt.Trained{Model: m, Kernel: last.Kernel}, nil
		}
	}
	best, err := t.train(ctx, d)
	if err != nil {
		return nil, err
	}
	name, err := json.Marshal(searchKernel{best.spec, d.Len()})
	if err != nil {
		return nil, err
	}
	return &bayesopt.Trained{Model: best.fitted, Kernel: string(name)}, nil
}

func (t searchTrainer) Restore(ctx context.Context, name string, s gp.State) (*gp.Model, error) {
	var by searchKernel
	if err := json.Unmarshal([]byte(name), &by); err != nil {
		return nil, fmt.Errorf("%w: checkpoint: %w", bayesopt.ErrOptions, err)
	}
	by.Spec.Custom = t.spec.Custom
	if err := by.Spec.Check(); err != nil {
		return nil, fmt.Errorf("%w: checkpoint: %w", bayesopt.ErrOptions, err)
	}
	if !t.spec.refinedBy(by.Spec) {
		return nil, fmt.Errorf("%w: the checkpoint was made with another specification; resume with the same one", bayesopt.ErrOptions)
	}
	k, err := t.chosenKernel(ctx, by.Spec)
	if err != nil {
		return nil, err
	}
	return gp.NewModel(k, s)
}
