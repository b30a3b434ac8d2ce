package study

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"sync"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/crossval"
	"grfgp/graph"
	"grfgp/graphio"
)

// Optimizer is the Engine of a graph: a grfgp.Optimizer that is told what it was
// not told yet, and begins anew where a value was withdrawn.
type Optimizer struct {
	graph    *graph.Graph
	settings Settings
	opts     bayesopt.Options

	mu    sync.Mutex
	inner *grfgp.Optimizer
	told  []Measurement
	keep  keeping
}

// NewOptimizer returns the engine of a study on a graph. What the settings leave
// open of cost, allowed and group is taken from nodes, which may be nil.
func NewOptimizer(g *graph.Graph, nodes *graphio.NodeTable, s Settings) (*Optimizer, error) {
	return newOptimizer(g, nodes, s, func(opts bayesopt.Options) (*grfgp.Optimizer, error) {
		return grfgp.NewOptimizer(g, s.Spec, opts)
	})
}

// Sibling returns the engine of another study on the same graph. If the two have
// the same Spec they share what is costly to make.
func (o *Optimizer) Sibling(nodes *graphio.NodeTable, s Settings) (*Optimizer, error) {
	if !reflect.DeepEqual(s.Spec, o.settings.Spec) {
		return NewOptimizer(o.graph, nodes, s)
	}
	o.mu.Lock()
	inner := o.inner
	o.mu.Unlock()
	return newOptimizer(o.graph, nodes, s, func(opts bayesopt.Options) (*grfgp.Optimizer, error) {
		return inner.Sibling(opts)
	})
}

func newOptimizer(g *graph.Graph, nodes *graphio.NodeTable, s Settings, build func(bayesopt.Options) (*grfgp.Optimizer, error)) (*Optimizer, error) {
	o := &Optimizer{graph: g, settings: s, opts: bayesopt.Options{Goal: s.Goal, Seed: s.Seed, Repeats: s.Repeats}}
	var err error
	if o.opts.Allowed, err = o.allowed(nodes); err != nil {
		return nil, err
	}
	if o.opts.Cost, err = o.costs(nodes, o.opts.Allowed); err != nil {
		return nil, err
	}
	if o.opts.GroupCap = s.GroupCap; s.GroupCap > 0 {
		if o.opts.Group, err = o.groups(nodes); err != nil {
			return nil, err
		}
	}
	if o.opts.Policy, err = bayesopt.PolicyNamed(s.Policy, s.Goal, g.Adjacency()); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if o.inner, err = build(o.opts); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return o, nil
}

// IDs implements Engine.
func (o *Optimizer) IDs() NodeIDs { return o.graph.IDs() }

// Graph is what the study is about.
func (o *Optimizer) Graph() *graph.Graph { return o.graph }

func (o *Optimizer) allowed(nodes *graphio.NodeTable) ([]int, error) {
	if o.settings.Allowed != nil {
		all, err := o.numbers(o.settings.Allowed)
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

// costs returns what every node costs, nil where nobody says. Nodes that may be
// suggested must have one.
func (o *Optimizer) costs(nodes *graphio.NodeTable, allowed []int) ([]float64, error) {
	cost := make([]float64, o.graph.Len())
	for i := range cost {
		cost[i] = 1
	}
	if o.settings.Cost != nil {
		for id, c := range o.settings.Cost {
			i, err := o.number(id)
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
	for _, i := range o.graph.InputOrder() {
		c := nodes.Cost[i]
		_, may := slices.BinarySearch(allowed, i)
		switch {
		case c > 0:
			cost[i] = c
		case (may || allowed == nil) && (math.IsNaN(c) || c == 0):
			return nil, fmt.Errorf("%w: node %q may be suggested and has no cost, or 0; give it one > 0", ErrInvalid, o.graph.IDs().At(i))
		}
	}
	return cost, nil
}

// groups numbers the groups of nodes. A node without one is a group by itself.
func (o *Optimizer) groups(nodes *graphio.NodeTable) ([]int, error) {
	names := make([]string, o.graph.Len())
	switch {
	case o.settings.Group != nil:
		for id, group := range o.settings.Group {
			i, err := o.number(id)
			if err != nil {
				return nil, err
			}
			names[i] = group
		}
	case nodes != nil && nodes.Group != nil:
		copy(names, nodes.Group)
	default:
		return nil, fmt.Errorf("%w: at most %d nodes of a group, but there are no groups; give them, or leave out the cap", ErrInvalid, o.settings.GroupCap)
	}
	number, groups, next := map[string]int{}, make([]int, len(names)), 0
	for i, name := range names {
		g, known := number[name]
		if !known || name == "" {
			g, next = next, next+1
			if name != "" {
				number[name] = g
			}
		}
		groups[i] = g
	}
	return groups, nil
}

func (o *Optimizer) number(id string) (int, error) {
	i, ok := o.graph.IDs().Lookup([]byte(id))
	if !ok {
		return 0, fmt.Errorf("%w: %q", ErrUnknownNode, id)
	}
	return i, nil
}

func (o *Optimizer) numbers(ids []string) ([]int, error) {
	all := make([]int, len(ids))
	for k, id := range ids {
		i, err := o.number(id)
		if err != nil {
			return nil, err
		}
		all[k] = i
	}
	return all, nil
}

// tell brings the inner optimizer to the readings.
func (o *Optimizer) tell(ctx context.Context, readings []Measurement) error {
	if len(o.told) > len(readings) || !slices.Equal(o.told, readings[:len(o.told)]) {
		inner, err := o.inner.Sibling(o.opts)
		if err != nil {
			return err
		}
		o.inner, o.told, o.keep.tried = inner, nil, false
	}
	for _, r := range readings[len(o.told):] {
		node, err := o.number(r.Node)
		if err != nil {
			return err
		}
		if err := o.inner.Tell(node, r.Value); err != nil {
			return err
		}
		o.told = append(o.told, r)
	}
	return o.restore(ctx)
}

// Suggest implements Engine.
func (o *Optimizer) Suggest(ctx context.Context, q Query) (Suggestions, error) {
	r := bayesopt.Request{Count: q.Count, Budget: q.Budget, Seed: q.Seed}
	var err error
	if r.Pending, err = o.numbers(q.Pending); err != nil {
		return Suggestions{}, err
	}
	if r.Excluded, err = o.numbers(q.Excluded); err != nil {
		return Suggestions{}, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.tell(ctx, q.Measurements); err != nil {
		return Suggestions{}, err
	}
	a, err := o.inner.Ask(ctx, r)
	if err != nil {
		return Suggestions{}, err
	}
	o.save(ctx)
	out := Suggestions{Short: a.Short}
	for _, s := range a.Suggestions {
		p := Suggestion{Node: o.graph.IDs().At(s.Node), Cost: s.Cost, Why: s.Why}
		if s.Modelled && finite(s.Mean) && finite(s.SD) {
			p.Mean, p.SD = &s.Mean, &s.SD
		}
		out.List = append(out.List, p)
	}
	return out, nil
}

// Fit implements Engine.
func (o *Optimizer) Fit(ctx context.Context, readings []Measurement) (Snapshot, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.tell(ctx, readings); err != nil {
		return nil, err
	}
	k, err := o.inner.Snapshot(ctx)
	o.save(ctx)
	switch {
	case errors.Is(err, bayesopt.ErrNoModel):
		return nil, fmt.Errorf("%w: %d values that are too few, all the same, or too far from or too near each other for a variance to be a number", ErrNoModel, len(readings))
	case err != nil:
		return nil, err
	}
	return knowledge{k, o.settings.Seed}, nil
}

// knowledge adds the seed of the study to what is known.
type knowledge struct {
	*grfgp.Snapshot
	seed uint64
}

func (k knowledge) Validate(ctx context.Context) (*crossval.Validation, error) {
	return crossval.ValidateSnapshot(ctx, k.Snapshot, k.seed)
}
