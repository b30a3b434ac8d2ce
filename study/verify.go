package study

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"grfgp/graph"
	"grfgp/graphio"
)

// Verification counts what Verify checked.
type Verification struct {
	Events      int `json:"events"`
	Suggestions int `json:"suggestions"` // asks whose suggestions were computed again
}

// Checks say what Verify checks beside the order of events. The zero value: nothing.
type Checks struct {
	// IDs are those of the graph, which must have all nodes of the events; nil: not checked.
	IDs NodeIDs
	// Engine returns the engine of settings, by which the suggestions of every ask are
	// computed again; nil: they are not.
	Engine func(Settings) (Engine, error)
	// Progress is called with the number of every event; nil: nothing is.
	Progress func(done int64)
}

// ChecksOn returns the checks of a study on a graph with its node table, which may be nil: of
// its nodes, and of its suggestions if suggestions is set. These are computed on a device, as in
// grfgp.Spec; empty: the processor.
func ChecksOn(g *graph.Graph, table *graphio.NodeTable, suggestions bool, device string) Checks {
	c := Checks{IDs: g.IDs()}
	if suggestions {
		c.Engine = func(s Settings) (Engine, error) { return NewModelEngineOn(cmp.Or(device, "cpu"), g, table, s) }
	}
	return c
}

// Verify replays events and checks them. The error wraps ErrCorrupt if an event cannot
// follow the events before it, if the graph lacks one of its nodes, or if a suggestion has a
// different node, cost, mean or standard deviation when it is computed again.
func Verify(ctx context.Context, events iter.Seq2[Event, error], c Checks) (Verification, error) {
	var v Verification
	now := new(State)
	again := recomputed{make: c.Engine, then: new(State)}
	for e, err := range events {
		if err != nil {
			return v, err
		}
		if err := now.Apply(e); err != nil {
			return v, fmt.Errorf("%w: event %d: %w", ErrCorrupt, e.Seq, err)
		}
		if c.IDs != nil {
			if err := e.checkNodes(c.IDs); err != nil {
				return v, err
			}
		}
		v.Events++
		if c.Progress != nil {
			c.Progress(e.Seq)
		}
		if c.Engine == nil {
			continue
		}
		made, err := again.event(ctx, e)
		if err != nil {
			return v, fmt.Errorf("event %d: %w", e.Seq, err)
		}
		if made {
			v.Suggestions++
		}
	}
	return v, nil
}

// recomputed computes suggestions again.
type recomputed struct {
	make   func(Settings) (Engine, error)
	engine Engine
	of     int64   // modelAt of engine
	then   *State  // at the basis of the last ask
	ahead  []Event // not yet applied to then
}

// event computes the suggestions of an event again, if it is an ask that has some.
func (r *recomputed) event(ctx context.Context, e Event) (made bool, err error) {
	r.ahead = append(r.ahead, e)
	p, asked := e.Data.(Asked)
	if !asked || p.Chosen {
		return false, nil
	}
	for len(r.ahead) > 0 && r.ahead[0].Seq <= p.Basis {
		r.then.apply(r.ahead[0])
		r.ahead = r.ahead[1:]
	}
	if r.engine == nil || r.of != r.then.modelAt {
		if r.engine, err = r.make(r.then.Settings); err != nil {
			return false, fmt.Errorf("making the suggestions again: %w", err)
		}
		r.of = r.then.modelAt
	}
	return true, verifyAsk(ctx, r.then, p, r.engine)
}

// checkNodes returns an error unless the graph has all nodes of an event.
func (e Event) checkNodes(ids NodeIDs) error {
	for _, node := range e.nodes() {
		if _, ok := ids.Lookup([]byte(node)); !ok {
			return fmt.Errorf("%w: event %d: the graph has no node %q", ErrCorrupt, e.Seq, node)
		}
	}
	return nil
}

// nodes returns the nodes that an event names.
func (e Event) nodes() (all []string) {
	switch p := e.Data.(type) {
	case Created:
		return p.Settings.nodes()
	case Changed:
		return p.Settings.nodes()
	case Asked:
		return nodesOf(p.Trials)
	case Observed:
		for _, m := range p.Values {
			all = append(all, m.Node)
		}
	case Queued:
		for _, c := range p.Nodes {
			all = append(all, c.Node)
		}
	}
	return all
}

// nodes returns the nodes that the settings name.
func (s Settings) nodes() []string {
	return slices.Concat(s.Allowed, slices.Sorted(maps.Keys(s.Cost)), slices.Sorted(maps.Keys(s.Group)))
}

// verifyAsk computes the suggestions of an ask again, from the state at its basis.
func verifyAsk(ctx context.Context, s *State, p Asked, engine Engine) error {
	if s.Seq != p.Basis {
		return fmt.Errorf("%w: an ask from events up to %d follows one from events up to %d", ErrCorrupt, p.Basis, s.Seq)
	}
	again, err := s.plan(p.Count).answer(func(q Query, failed []string) (Suggestions, error) {
		if p.Random == "" {
			return suggest(ctx, engine, q, failed)
		}
		return draw(ctx, engine, q, failed, p.Random)
	})
	if err != nil {
		return err
	}
	if !slices.EqualFunc(again.List, p.Trials, func(a Suggestion, b Issued) bool { return a.Node == b.Node }) {
		return fmt.Errorf("%w: the log has suggestions %v; seed and events give %v", ErrCorrupt, nodesOf(p.Trials), suggestedNodes(again.List))
	}
	for k, now := range again.List {
		if was := p.Trials[k]; !was.near(now) {
			return fmt.Errorf("%w: trial %d, node %q, has %s; seed and events give %s: an earlier measurement, or the trial, was altered",
				ErrCorrupt, was.Trial, was.Node, was.figures(), Issued{
					Cost: now.Cost, Mean: now.Mean, SD: now.SD, Expected: now.Expected, Probability: now.Probability}.figures())
		}
	}
	return nil
}

// rounding is the relative difference that is tolerated: machines with other vector
// instructions round differently.
const rounding = 1e-6

// near reports whether a trial agrees with a suggestion computed again.
func (i Issued) near(p Suggestion) bool {
	within := func(a, b, scale float64) bool { return math.Abs(a-b) <= rounding*(scale+math.Abs(b)) }
	modelled := p.Mean != nil && p.SD != nil
	if i.Expected != p.Expected || (i.Probability != nil) != (p.Probability != nil) || p.Probability != nil &&
		!within(*i.Probability, *p.Probability, 1) {
		return false
	}
	switch {
	case (i.Mean != nil) != modelled, (i.SD != nil) != modelled, !within(i.Cost, p.Cost, 0):
		return false
	case !modelled:
		return true
	}
	return within(*i.Mean, *p.Mean, *p.SD) && within(*i.SD, *p.SD, 0)
}

// figures are what a suggestion is compared by, in words.
func (i Issued) figures() string {
	if i.Expected != "" || i.Probability != nil {
		return fmt.Sprintf("cost %v, class %q and probability %s", i.Cost, i.Expected, orNone(i.Probability))
	}
	return fmt.Sprintf("cost %v, mean %s and sd %s", i.Cost, orNone(i.Mean), orNone(i.SD))
}

func orNone(v *float64) string {
	if v == nil {
		return "none"
	}
	return fmt.Sprint(*v)
}

func suggestedNodes(list []Suggestion) []string {
	var all []string
	for _, s := range list {
		all = append(all, s.Node)
	}
	return all
}

func nodesOf(trials []Issued) []string {
	var all []string
	for _, i := range trials {
		all = append(all, i.Node)
	}
	return all
}
