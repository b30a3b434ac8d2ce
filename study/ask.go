package study

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"grfgp/bayesopt"
	"grfgp/internal/rng"
)

// MaxCount is the most nodes that one ask may want.
const MaxCount = 10_000

// AskRequest is an ask for nodes to measure.
type AskRequest struct {
	Count  int           // nodes wanted
	Key    string        // the same key gets the same answer, once and for all; empty: none
	Holder string        // who measures
	Lease  time.Duration // how long the nodes are reserved; 0: as the study says
}

// Ask reserves up to so many nodes and returns them. Where there are fewer it
// says why; an answer without nodes is no event, and its key stays free.
//
// The suggestion is a function of the settings and of the events up to
// Asked.Basis. Results that come while it is worked out wait for the next ask.
func (s *Study) Ask(ctx context.Context, r AskRequest) (Ask, error) {
	if r.Count < 1 || r.Count > MaxCount {
		return Ask{}, fmt.Errorf("%w: %d nodes; ask for 1 to %d", ErrInvalid, r.Count, MaxCount)
	}
	if r.Lease < 0 {
		return Ask{}, fmt.Errorf("%w: a lease of %v", ErrInvalid, r.Lease)
	}
	if a, done, err := s.answered(r); done {
		return a, err
	}
	select { // one at a time: the next ask sees what this one reserves
	case s.asking <- struct{}{}:
		defer func() { <-s.asking }()
	case <-ctx.Done():
		return Ask{}, ctx.Err()
	}
	if err := s.Expire(ctx); err != nil {
		return Ask{}, err
	}
	const tries = 8
	for try := 1; ; try++ {
		if a, done, err := s.answered(r); done {
			return a, err
		}
		a, err := s.ask(ctx, r)
		if !errors.Is(err, errOvertaken) || try == tries {
			return a, err
		}
	}
}

// errOvertaken says that a pick was no longer open when it was to be reserved.
var errOvertaken = errors.New("study: overtaken by other events")

// answered returns the answer that needs no work: the one that the key got
// before, or none at all.
func (s *Study) answered(r AskRequest) (a Ask, done bool, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if k, used := s.state.asks[r.Key]; used {
		a = s.state.Asks[k]
		if a.Count != r.Count || a.Holder != r.Holder {
			return Ask{}, true, fmt.Errorf("%w: the key %q was used for another ask; take a new one", ErrConflict, r.Key)
		}
		return a, true, nil
	}
	none := Ask{Key: r.Key, Holder: r.Holder, Count: r.Count, Trials: []Issued{}}
	switch s.state.Status {
	case StatusPaused:
		none.Short = ReasonPaused
	case StatusClosed:
		none.Short = ReasonClosed
	}
	return none, none.Short != bayesopt.Enough, nil
}

// ask works out one answer and reserves its nodes.
func (s *Study) ask(ctx context.Context, r AskRequest) (Ask, error) {
	engine, err := s.Engine(ctx)
	if err != nil {
		return Ask{}, err
	}
	s.mu.RLock()
	q, resting, basis := s.state.Query(r.Count), s.state.recentlyFailed(), s.state.Seq
	lease := time.Duration(s.state.Settings.Lease)
	s.mu.RUnlock()
	if r.Lease > 0 {
		lease = r.Lease
	}
	picked, err := suggest(ctx, engine, q, resting)
	if err != nil {
		return Ask{}, fmt.Errorf("study: suggesting: %w", err)
	}
	answer := Ask{Key: r.Key, Holder: r.Holder, Count: r.Count, Short: picked.Short, Trials: []Issued{}}
	if len(picked.List) == 0 {
		return answer, nil
	}
	decide := func(st *State) (Payload, error) {
		p := Asked{Key: r.Key, Count: r.Count, Basis: basis, Until: stamp(s.now().Add(lease)), Short: picked.Short}
		for k, pick := range picked.List {
			p.Trials = append(p.Trials, Issued{len(st.Trials) + 1 + k, pick.Node, pick.Cost, pick.Why, pick.Mean, pick.SD})
		}
		if err := st.checkAsked(p); err != nil && st.Seq != basis {
			return nil, fmt.Errorf("%w: %w", errOvertaken, err)
		}
		return p, nil
	}
	err = s.commit(ctx, r.Holder, decide, func(st *State) { answer = st.Asks[len(st.Asks)-1] })
	return answer, err
}

// Preview returns what Ask would hand out now, and the number of the last event
// behind it. Nothing is reserved.
func (s *Study) Preview(ctx context.Context, count int) (Suggestions, int64, error) {
	if none, done, err := s.answered(AskRequest{Count: count}); done {
		return Suggestions{Short: none.Short}, s.Seq(), err
	}
	engine, err := s.Engine(ctx)
	if err != nil {
		return Suggestions{}, 0, err
	}
	s.mu.RLock()
	q, resting, basis := s.state.Query(count), s.state.recentlyFailed(), s.state.Seq
	s.mu.RUnlock()
	picked, err := suggest(ctx, engine, q, resting)
	return picked, basis, err
}

// Query is the next ask for so many nodes in the eyes of an Engine.
func (s *State) Query(count int) Query {
	return Query{
		Measurements: s.Measurements(), Pending: s.Pending(), Excluded: s.AbandonedNodes(), Count: count, Budget: s.BudgetLeft(),
		Seed: rng.New(s.Settings.Seed, "study ask", uint64(len(s.Asks))).Uint64(),
	}
}

// recentlyFailed are nodes that failed since the last value came, in increasing order:
// at once they would be suggested again, for the same reason as before.
func (s *State) recentlyFailed() []string {
	var all []string
	for node, at := range s.failedAt {
		if at > s.toldAt && s.Available(node) {
			all = append(all, node)
		}
	}
	slices.Sort(all)
	return all
}

// suggest asks the engine; resting nodes come last.
func suggest(ctx context.Context, e Engine, q Query, resting []string) (Suggestions, error) {
	first := q
	first.Excluded = append(slices.Clip(q.Excluded), resting...)
	picked, err := e.Suggest(ctx, first)
	if err != nil || len(resting) == 0 || picked.Short == bayesopt.Enough || picked.Short == bayesopt.BudgetReached {
		return picked, err
	}
	left := q
	left.Count -= len(picked.List)
	left.Pending = slices.Clip(q.Pending)
	for _, p := range picked.List {
		left.Pending = append(left.Pending, p.Node)
		if left.Budget != nil {
			rest := *left.Budget - p.Cost
			left.Budget = &rest
		}
	}
	more, err := e.Suggest(ctx, left)
	return Suggestions{append(picked.List, more.List...), more.Short}, err
}
