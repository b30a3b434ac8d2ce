package study

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
)

// Verification counts what Verify checked.
type Verification struct {
	Events      int `json:"events"`
	Suggestions int `json:"suggestions"` // asks whose suggestions were computed again
}

// Verify replays events and, unless engine is nil, computes the suggestions of every
// ask again. The error wraps ErrCorrupt if an event cannot follow the events before
// it, or if a suggestion has a different node, cost, mean or standard deviation. If
// progress is not nil it is called with the number of every event.
func Verify(ctx context.Context, events iter.Seq2[Event, error], engine Engine, progress func(done int64)) (Verification, error) {
	var v Verification
	now, then := new(State), new(State) // then: the state at the basis of the last ask
	var ahead []Event                   // events not yet applied to then
	for e, err := range events {
		if err != nil {
			return v, err
		}
		if err := now.Apply(e); err != nil {
			return v, fmt.Errorf("%w: event %d: %w", ErrCorrupt, e.Seq, err)
		}
		v.Events++
		if progress != nil {
			progress(e.Seq)
		}
		if engine == nil {
			continue
		}
		ahead = append(ahead, e)
		p, asked := e.Data.(Asked)
		if !asked {
			continue
		}
		for len(ahead) > 0 && ahead[0].Seq <= p.Basis {
			then.apply(ahead[0])
			ahead = ahead[1:]
		}
		if err := verifyAsk(ctx, then, p, engine); err != nil {
			return v, fmt.Errorf("event %d: %w", e.Seq, err)
		}
		v.Suggestions++
	}
	return v, nil
}

// verifyAsk computes the suggestions of an ask again, from the state at its basis.
func verifyAsk(ctx context.Context, s *State, p Asked, engine Engine) error {
	if s.Seq != p.Basis {
		return fmt.Errorf("%w: an ask from events up to %d follows one from events up to %d", ErrCorrupt, p.Basis, s.Seq)
	}
	var again Suggestions
	var err error
	if p.Random == "" {
		again, err = suggest(ctx, engine, s.query(p.Count), s.recentlyFailed())
	} else {
		again, err = draw(ctx, engine, s.query(p.Count), s.recentlyFailed(), p.Random)
	}
	if err != nil {
		return err
	}
	if !slices.EqualFunc(again.List, p.Trials, func(a Suggestion, b Issued) bool { return a.Node == b.Node }) {
		return fmt.Errorf("%w: the log has suggestions %v; seed and events give %v", ErrCorrupt, nodesOf(p.Trials), again.List)
	}
	for k, now := range again.List {
		if was := p.Trials[k]; !was.near(now) {
			return fmt.Errorf("%w: trial %d, node %q, has cost %v, mean %s and sd %s; seed and events give %v, %s and %s: an earlier measurement, or the trial, was altered",
				ErrCorrupt, was.Trial, was.Node, was.Cost, orNone(was.Mean), orNone(was.SD), now.Cost, orNone(now.Mean), orNone(now.SD))
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
	switch {
	case (i.Mean != nil) != modelled, (i.SD != nil) != modelled, !within(i.Cost, p.Cost, 0):
		return false
	case !modelled:
		return true
	}
	return within(*i.Mean, *p.Mean, *p.SD) && within(*i.SD, *p.SD, 0)
}

func orNone(v *float64) string {
	if v == nil {
		return "none"
	}
	return fmt.Sprint(*v)
}

func nodesOf(trials []Issued) []string {
	var all []string
	for _, i := range trials {
		all = append(all, i.Node)
	}
	return all
}
