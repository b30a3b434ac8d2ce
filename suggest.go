package grfgp

import (
	"context"
	"encoding/json"
	"fmt"

	"grfgp/bayesopt"
	"grfgp/gp"
	"grfgp/graph"
)

// Optimizer suggests nodes of a graph to measure and is told what was measured:
// a bayesopt.Optimizer whose kernel is chosen as in Fit. Nodes are numbered as in
// the graph that was given, in options too. It is not safe for concurrent use.
type Optimizer struct {
	inner *bayesopt.Optimizer
	spec  Spec // as asked for
	of    *workshop
	place []int // of a given node in the ordered graph
	given []int // its inverse
}

// NewOptimizer returns an Optimizer that was told nothing. The policy is
// Options.Policy, or one of bayesopt.PolicyNames; with neither, as the goal says.
// A policy of Options knows nodes as the graph does that was given.
func NewOptimizer(g *graph.Graph, spec Spec, policy string, opts bayesopt.Options) (*Optimizer, error) {
	w, err := newWorkshop(g, suited(g, spec, policy, opts))
	if err != nil {
		return nil, err
	}
	return w.optimizer(spec.own(), policy, opts)
}

// Sibling returns an Optimizer on the same graph and with the same Spec that was
// told nothing. The two may be used at once, and share what is costly to make
// unless their policies want other kernels: what it suggests is what a new one
// would.
func (o *Optimizer) Sibling(policy string, opts bayesopt.Options) (*Optimizer, error) {
	if g := o.of.given; suited(g, o.spec, policy, opts).Method != o.of.spec.Method {
		return NewOptimizer(g, o.spec, policy, opts)
	}
	return o.of.optimizer(o.spec, policy, opts)
}

const (
	crowdDegree = 8       // mean degree from which a few hops reach everywhere,
	crowdNNZ    = 800_000 // and edges, both ways, up to which a draw by series takes 0.1 s
)

// drawing is the Spec for models that are drawn from again and again: on all but
// small graphs features are the quickest to draw from. Where nodes have many
// neighbours features are long and noisy; there an exact series is as quick, if
// all that is wanted is draws. Variances of many nodes it is slow at.
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

// suited is the Spec for what an Optimizer does.
func suited(g *graph.Graph, spec Spec, policy string, opts bayesopt.Options) Spec {
	return drawing(g, spec, opts.Policy == nil && onlyDraws(policy, opts.Goal))
}

// onlyDraws reports whether a policy needs nothing of a model but draws.
func onlyDraws(policy string, goal bayesopt.Goal) bool {
	return policy == "thompson" || policy == "" && goal.Seeks()
}

// optimizer returns one that shares the workshop, which several may do at once.
func (w *workshop) optimizer(asked Spec, policy string, opts bayesopt.Options) (_ *Optimizer, err error) {
	o := &Optimizer{spec: asked, of: w, place: w.place, given: inverse(w.place)}
	if opts.Allowed != nil {
		if opts.Allowed, err = o.places(opts.Allowed); err != nil {
			return nil, fmt.Errorf("%w: allowed nodes: %w", bayesopt.ErrOptions, err)
		}
	}
	opts.Cost, opts.Group = moved(opts.Cost, o.given), moved(opts.Group, o.given)
	if opts.Policy == nil {
		opts.Policy, err = bayesopt.PolicyNamed(policy, opts.Goal, w.graph.Adjacency())
	} else {
		opts.Policy, err = o.inOrder(opts.Policy)
	}
	if err != nil {
		return nil, err
	}
	if o.inner, err = bayesopt.New(trainer{w}, opts); err != nil {
		return nil, err
	}
	return o, nil
}

// inOrder returns for the ordered graph a policy for the given one.
func (o *Optimizer) inOrder(p bayesopt.Policy) (_ bayesopt.Policy, err error) {
	switch p := p.(type) {
	case bayesopt.Thompson, bayesopt.ExpectedImprovement, bayesopt.UCB, bayesopt.Straddle, bayesopt.HighestVariance, bayesopt.Random:
		return p, nil // no node has a number in them
	case bayesopt.VarianceReduction:
		if p.Over != nil {
			if p.Over, err = o.places(p.Over); err != nil {
				return nil, fmt.Errorf("%w: nodes whose variance counts: %w", bayesopt.ErrOptions, err)
			}
		}
		return p, nil
	}
	return bayesopt.Renumbered(p, o.given), nil
}

// places returns the numbers of nodes in the ordered graph.
func (o *Optimizer) places(nodes []int) ([]int, error) { return places(nodes, o.place) }

// moved returns values by node in the order of the ordered graph; values of
// another length are left to those who check them.
func moved[T any](values []T, given []int) []T {
	if len(values) != len(given) {
		return values
	}
	out := make([]T, len(values))
	for at, node := range given {
		out[at] = values[node]
	}
	return out
}

// at returns the number of a node in the ordered graph; one that does not exist
// stays as it is, for the Optimizer beneath to refuse.
func (o *Optimizer) at(node int) int {
	if node < 0 || node >= len(o.place) {
		return node
	}
	return o.place[node]
}

// Tell adds a measurement, of a node that was asked for or of any other.
func (o *Optimizer) Tell(node int, value float64) error { return o.inner.Tell(o.at(node), value) }

// TellAll adds measurements, which may be means of several readings; see
// bayesopt.Optimizer. They are taken in order, see Sorted.
func (o *Optimizer) TellAll(d gp.Data) error {
	at := make([]int, len(d.Nodes))
	for k, node := range d.Nodes {
		at[k] = o.at(node)
	}
	d.Nodes = at
	return o.inner.TellAll(d)
}

// Sorted returns measurements in an order that depends on the graph and on their
// values alone: told so, the rows of a file give the same suggestions in any order.
// What is no measurement of the graph's nodes comes back as it is.
func (o *Optimizer) Sorted(d gp.Data) gp.Data {
	if d.Check(len(o.place)) != nil {
		return d
	}
	inner := d
	inner.Nodes = renumbered(d.Nodes, o.place)
	return d.Select(rowOrder(inner))
}

// Ask suggests nodes, with their predictions; see bayesopt.Optimizer.
func (o *Optimizer) Ask(ctx context.Context, r bayesopt.Request) (bayesopt.Answer, error) {
	a, err := o.inner.Ask(ctx, o.request(r))
	for k := range a.Suggestions {
		a.Suggestions[k].Node = o.given[a.Suggestions[k].Node]
	}
	return a, err
}

// Next is Ask for the nodes alone.
func (o *Optimizer) Next(ctx context.Context, r bayesopt.Request) ([]int, bayesopt.Reason, error) {
	nodes, reason, err := o.inner.Next(ctx, o.request(r))
	return renumbered(nodes, o.given), reason, err
}

// Run measures nodes one after the other; see bayesopt.Optimizer.
func (o *Optimizer) Run(ctx context.Context, r bayesopt.Request, measure func(ctx context.Context, node int) (float64, error)) (bayesopt.Reason, error) {
	return o.inner.Run(ctx, o.request(r), func(ctx context.Context, at int) (float64, error) { return measure(ctx, o.given[at]) })
}

// request returns a request in the numbers of the ordered graph.
func (o *Optimizer) request(r bayesopt.Request) bayesopt.Request {
	for _, nodes := range []*[]int{&r.Pending, &r.Excluded} {
		at := make([]int, len(*nodes))
		for k, node := range *nodes {
			at[k] = o.at(node)
		}
		*nodes = at
	}
	return r
}

// Data returns what was told, in order.
func (o *Optimizer) Data() gp.Data {
	d := o.inner.Data()
	d.Nodes = renumbered(d.Nodes, o.given)
	return d
}

// Best returns the best node told so far and its value; false if nothing was
// told, or if the goal is not to find the best.
func (o *Optimizer) Best() (node int, value float64, ok bool) {
	node, value, ok = o.inner.Best()
	if ok {
		node = o.given[node]
	}
	return node, value, ok
}

// Effort returns what was done so far.
func (o *Optimizer) Effort() bayesopt.Effort { return o.inner.Effort() }

// Checkpoint returns the last training, and false before the first.
func (o *Optimizer) Checkpoint() (bayesopt.Checkpoint, bool) { return o.inner.Checkpoint() }

// Resume starts from a checkpoint instead of doing all trainings again. One of
// another Spec is refused.
func (o *Optimizer) Resume(ctx context.Context, c bayesopt.Checkpoint) error {
	return o.inner.Resume(ctx, c)
}

// Chosen returns the kernel of the last training: the Spec with its choices filled
// in, and false before the first.
func (o *Optimizer) Chosen() (Spec, bool) {
	var by chosenBy
	c, ok := o.Checkpoint()
	if ok {
		ok = json.Unmarshal([]byte(c.Kernel), &by) == nil
		by.Spec.Custom = o.of.spec.Custom
	}
	return by.Spec, ok
}

// Predict takes in what was told and returns mean and standard deviation of the
// quantity at the nodes.
func (o *Optimizer) Predict(ctx context.Context, nodes []int) (Prediction, error) {
	at, err := o.places(nodes)
	if err != nil {
		return Prediction{}, err
	}
	p, err := o.inner.Update(ctx)
	if err != nil {
		return Prediction{}, err
	}
	return predict(ctx, p, at)
}

// trainer learns from measurements on the ordered graph. The kernel is chosen
// anew whenever there are four times the measurements that it was chosen by.
type trainer struct{ *workshop }

const chooseAgain = 4

// chosenBy is a kernel in the words of the trainer.
type chosenBy struct {
	Spec         Spec `json:"spec"`
	Measurements int  `json:"measurements"`
}

func (t trainer) Nodes() int { return t.graph.Len() }

func (t trainer) Fit(ctx context.Context, d gp.Data, last *bayesopt.Trained) (*bayesopt.Trained, error) {
	if last != nil {
		var by chosenBy
		if err := json.Unmarshal([]byte(last.Kernel), &by); err != nil {
			return nil, fmt.Errorf("the last training: %w", err)
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
	name, err := json.Marshal(chosenBy{best.spec, d.Len()})
	if err != nil {
		return nil, err
	}
	return &bayesopt.Trained{Model: best.model, Kernel: string(name)}, nil
}

func (t trainer) Restore(ctx context.Context, name string, s gp.State) (*gp.Model, error) {
	var by chosenBy
	if err := json.Unmarshal([]byte(name), &by); err != nil {
		return nil, fmt.Errorf("%w: a training to resume from: %w", bayesopt.ErrOptions, err)
	}
	by.Spec.Custom = t.spec.Custom
	if err := by.Spec.Check(); err != nil {
		return nil, fmt.Errorf("%w: a training to resume from: %w", bayesopt.ErrOptions, err)
	}
	if !t.spec.leadsTo(by.Spec) {
		return nil, fmt.Errorf("%w: a training to resume from is of another specification; resume with the one that it was made by", bayesopt.ErrOptions)
	}
	k, err := t.chosenKernel(ctx, by.Spec)
	if err != nil {
		return nil, err
	}
	return gp.NewModel(k, s)
}
