package study

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/crossval"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/graphio"
)

// ModelEngine is the Engine of a graph with a Gaussian process model. It keeps the
// model between calls: new measurements extend it; after a retraction it is fitted
// again from the start. In studies of classes it is a classifier, which is fitted anew
// to other labels.
type ModelEngine struct {
	graph    *graph.Graph
	settings Settings
	spec     grfgp.Spec // of the model, with its covariates
	opts     bayesopt.Options

	mu        sync.Mutex
	optimizer *grfgp.Optimizer // nil in studies of classes
	told      []Measurement    // to optimizer
	classes   *classModel      // nil unless the study is one of classes

	checkpoints CheckpointStore // nil: none
	restored    bool            // the checkpoint was tried since optimizer was made
	savedAt     int             // measurements behind the checkpoint that was saved last
}

// NewModelEngine returns the engine of a study on a graph. The settings are those of the
// study, as Study.Settings or Settings.Complete return them. The node table, which may
// be nil, provides the covariates, and the costs, allowed nodes and groups that the
// settings do not give. The engine computes on the processor: suggestions are the same on
// every machine.
func NewModelEngine(g *graph.Graph, nodes *graphio.NodeTable, s Settings) (*ModelEngine, error) {
	return NewModelEngineOn("cpu", g, nodes, s)
}

// NewModelEngineOn is NewModelEngine on a device, as in grfgp.Spec. Suggestions that were computed on a
// graphics card can be computed again on such a card only: others differ in rounding. The error wraps
// grfgp.ErrNoCard if there is no such device.
func NewModelEngineOn(device string, g *graph.Graph, nodes *graphio.NodeTable, s Settings) (*ModelEngine, error) {
	spec, err := s.modelSpec(nodes, g.Len())
	if err != nil {
		return nil, err
	}
	spec.Device = device
	return newModelEngine(g, nodes, s, spec, func(e *ModelEngine) (err error) {
		if s.Labels {
			e.classes, err = newClassModel(g, spec)
			return err
		}
		e.optimizer, err = grfgp.NewOptimizer(g, spec, e.opts)
		return err
	})
}

// Sibling returns the engine of another study on the same graph and node table. Engines
// of the same Spec and covariates share the costly parts of the model that do not
// depend on measurements.
func (e *ModelEngine) Sibling(nodes *graphio.NodeTable, s Settings) (*ModelEngine, error) {
	if !s.sameModel(e.settings) {
		return NewModelEngineOn(e.spec.Device, e.graph, nodes, s)
	}
	e.mu.Lock()
	optimizer := e.optimizer
	e.mu.Unlock()
	return newModelEngine(e.graph, nodes, s, e.spec, func(to *ModelEngine) (err error) {
		if s.Labels {
			to.classes = e.classes.sibling()
			return nil
		}
		to.optimizer, err = optimizer.Sibling(to.opts)
		return err
	})
}

func newModelEngine(g *graph.Graph, nodes *graphio.NodeTable, s Settings, spec grfgp.Spec, build func(*ModelEngine) error) (*ModelEngine,
	error) {
	e := &ModelEngine{graph: g, settings: s, spec: spec, opts: bayesopt.Options{Goal: s.Goal, Seed: s.Seed, Repeats: s.Repeats}}
	var err error
	if e.opts.Allowed, err = e.allowed(nodes); err != nil {
		return nil, err
	}
	if e.opts.Cost, err = e.costs(nodes, e.opts.Allowed); err != nil {
		return nil, err
	}
	if e.opts.GroupCap = s.GroupCap; s.GroupCap > 0 {
		if e.opts.Group, err = e.groups(nodes); err != nil {
			return nil, err
		}
	}
	if e.opts.Policy, err = bayesopt.PolicyNamed(s.Policy, s.Goal, g.Adjacency()); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if err := build(e); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return e, nil
}

// IDs implements Engine.
func (e *ModelEngine) IDs() NodeIDs { return e.graph.IDs() }

// Cost implements Engine.
func (e *ModelEngine) Cost(node int) float64 {
	if e.opts.Cost == nil {
		return 1
	}
	return e.opts.Cost[node]
}

func (e *ModelEngine) allowed(nodes *graphio.NodeTable) ([]int, error) {
	if e.settings.Allowed != nil {
		all, err := e.nodes(e.settings.Allowed)
		slices.Sort(all)
		return slices.Compact(all), err
	}
	if nodes == nil || nodes.Allowed == nil {
		return nil, nil
	}
	all := []int{}
	for i, may := range nodes.Allowed {
		if may {
			all = append(all, i)
		}
	}
	return all, nil
}

// costs returns the cost of every node, nil if none is given. Nodes that may be
// suggested must have a cost above 0.
func (e *ModelEngine) costs(nodes *graphio.NodeTable, allowed []int) ([]float64, error) {
	cost := make([]float64, e.graph.Len())
	for i := range cost {
		cost[i] = 1
	}
	if e.settings.Cost != nil {
		for id, c := range e.settings.Cost {
			i, err := e.node(id)
			if err != nil {
				return nil, err
			}
			cost[i] = c
		}
		return cost, nil
	}
	if nodes == nil || nodes.Cost == nil {
		return nil, nil
	}
	for _, i := range e.graph.InputOrder() {
		c := nodes.Cost[i]
		_, may := slices.BinarySearch(allowed, i)
		switch {
		case c > 0:
			cost[i] = c
		case (may || allowed == nil) && (math.IsNaN(c) || c == 0):
			return nil, fmt.Errorf("%w: node %q may be suggested but has no cost; give a number > 0", ErrInvalid, e.graph.IDs().At(i))
		}
	}
	return cost, nil
}

// groups returns the number of each node's group. A node without a group is one by
// itself.
func (e *ModelEngine) groups(nodes *graphio.NodeTable) ([]int, error) {
	names := make([]string, e.graph.Len())
	switch {
	case e.settings.Group != nil:
		for id, group := range e.settings.Group {
			i, err := e.node(id)
			if err != nil {
				return nil, err
			}
			names[i] = group
		}
	case nodes != nil && nodes.Group != nil:
		copy(names, nodes.Group)
	default:
		return nil, fmt.Errorf("%w: a cap of %d nodes per group, but no groups; give groups, or leave out the cap", ErrInvalid,
			e.settings.GroupCap)
	}
	return bayesopt.NumberGroups(names), nil
}

func (e *ModelEngine) node(id string) (int, error) {
	i, ok := e.graph.IDs().Lookup([]byte(id))
	if !ok {
		return 0, fmt.Errorf("%w: %q", ErrUnknownNode, id)
	}
	return i, nil
}

func (e *ModelEngine) nodes(ids []string) ([]int, error) {
	all := make([]int, len(ids))
	for k, id := range ids {
		i, err := e.node(id)
		if err != nil {
			return nil, err
		}
		all[k] = i
	}
	return all, nil
}

// tell brings the optimizer up to the measurements. If they do not begin with those
// told before, because one was retracted, it replaces the optimizer.
func (e *ModelEngine) tell(ctx context.Context, measurements []Measurement) error {
	if len(e.told) > len(measurements) || !slices.Equal(e.told, measurements[:len(e.told)]) {
		optimizer, err := e.optimizer.Sibling(e.opts)
		if err != nil {
			return err
		}
		e.optimizer, e.told, e.restored = optimizer, nil, false
	}
	for _, m := range measurements[len(e.told):] {
		node, err := e.node(m.Node)
		if err != nil {
			return err
		}
		d := gp.Data{Nodes: []int{node}, Y: []float64{m.Value}}
		if m.Exposure > 0 {
			d.Exposure = []float64{m.Exposure}
		}
		if err := e.optimizer.TellAll(d); err != nil {
			return fitError(ctx, err)
		}
		e.told = append(e.told, m)
	}
	return e.restoreCheckpoint(ctx)
}

// Suggest implements Engine.
func (e *ModelEngine) Suggest(ctx context.Context, q Query) (Suggestions, error) {
	r := bayesopt.Request{Count: q.Count, Budget: q.Budget, Seed: q.Seed}
	var err error
	if r.Pending, err = e.nodes(q.Pending); err != nil {
		return Suggestions{}, err
	}
	if r.Excluded, err = e.nodes(q.Excluded); err != nil {
		return Suggestions{}, err
	}
	if e.classes != nil {
		return e.suggestClasses(ctx, q, r)
	}
	ask := e.ask
	if q.Random {
		ask = e.draw
	}
	a, err := ask(ctx, r, q.Measurements)
	if err != nil {
		return Suggestions{}, err
	}
	return e.suggestions(a), nil
}

// suggestions returns the answer of an optimizer, with ids.
func (e *ModelEngine) suggestions(a bayesopt.Answer) Suggestions {
	out := Suggestions{Short: a.Short}
	for _, s := range a.Suggestions {
		p := Suggestion{Node: e.graph.IDs().At(s.Node), Cost: s.Cost, Why: s.Why}
		if s.Modelled && finite(s.Mean) && finite(s.SD) {
			p.Mean, p.SD = &s.Mean, &s.SD
		}
		out.List = append(out.List, p)
	}
	return out
}

// ask fits the model and lets the policy pick.
func (e *ModelEngine) ask(ctx context.Context, r bayesopt.Request, measurements []Measurement) (a bayesopt.Answer, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.startAgainAfterPanic()
	if err := e.tell(ctx, measurements); err != nil {
		return a, err
	}
	if a, err = e.optimizer.Ask(ctx, r); err != nil {
		return a, fitError(ctx, err)
	}
	e.saveCheckpoint(ctx)
	return a, nil
}

// draw picks at random, and fits nothing.
func (e *ModelEngine) draw(ctx context.Context, r bayesopt.Request, measurements []Measurement) (a bayesopt.Answer, err error) {
	opts := e.opts
	opts.Policy = bayesopt.Random{}
	o, err := grfgp.NewOptimizer(e.graph, grfgp.Spec{Seed: e.spec.Seed, Device: e.spec.Device}, opts)
	if err != nil {
		return a, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	told := gp.Data{}
	for _, m := range measurements {
		node, err := e.node(m.Node)
		if err != nil {
			return a, err
		}
		told.Nodes, told.Y = append(told.Nodes, node), append(told.Y, 0) // values do not matter
	}
	if err := o.TellAll(told); err != nil {
		return a, err
	}
	return o.Ask(ctx, r)
}

// startAgainAfterPanic, deferred, replaces an optimizer that a panic may have left
// half-changed, and panics on.
func (e *ModelEngine) startAgainAfterPanic() {
	v := recover()
	if v == nil {
		return
	}
	if fresh, err := grfgp.NewOptimizer(e.graph, e.spec, e.opts); err == nil {
		e.optimizer, e.told, e.restored, e.savedAt = fresh, nil, false, 0
	}
	panic(v)
}

// fitError wraps the error of a fit in ErrFit, unless ctx has ended.
func fitError(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, bayesopt.ErrNoModel) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrFit, err)
}

// EstimateMemory estimates what fitting the model to so many measurements takes, and
// predicting all nodes.
func (e *ModelEngine) EstimateMemory(ctx context.Context, measurements int) (grfgp.Memory, error) {
	if e.classes != nil {
		return grfgp.EstimateMemory(ctx, e.graph, e.spec, grfgp.Job{
			Measurements: measurements, Classes: e.expectedClasses(), Places: e.graph.Len()})
	}
	return grfgp.EstimateMemory(ctx, e.graph, e.spec.ForSearch(e.graph, e.opts.Policy),
		grfgp.Job{Measurements: measurements, Places: e.graph.Len(), Searches: 1})
}

// Fit implements Engine.
func (e *ModelEngine) Fit(ctx context.Context, measurements []Measurement) (Snapshot, error) {
	if e.classes != nil {
		return e.classify(ctx, measurements)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.startAgainAfterPanic()
	if err := e.tell(ctx, measurements); err != nil {
		return nil, err
	}
	snapshot, err := e.optimizer.Snapshot(ctx)
	if err == nil {
		snapshot, err = snapshot.WithAlternatives(ctx)
	}
	e.saveCheckpoint(ctx)
	switch {
	case errors.Is(err, bayesopt.ErrNoModel):
		return nil, fmt.Errorf("%w: %d measurements, which are too few, all equal, or too large or too close for a variance", ErrNoModel,
			len(measurements))
	case err != nil:
		return nil, fitError(ctx, err)
	}
	return modelSnapshot{snapshot}, nil
}

// modelSnapshot is a Snapshot of a model.
type modelSnapshot struct{ *grfgp.Snapshot }

func (s modelSnapshot) Validate(ctx context.Context, seed uint64) (*crossval.Validation, error) {
	return crossval.ValidateSnapshot(ctx, s.Snapshot, seed)
}
