package study

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"grfgp/bayesopt"
	"grfgp/internal/rng"
)

// MaxCount is the largest AskRequest.Count.
const MaxCount = 10_000

// AskRequest asks for nodes to measure.
type AskRequest struct {
	Count  int           // nodes wanted, 1 to MaxCount
	Nodes  []string      // nodes of one's own choice, in place of the queue and of suggestions; Count is then their number. Nil: none
	Of     int           // nodes of the whole ask that this is a part of, as AskInParts sets it; 0: of none
	Key    string        // a repeated key gets the first answer again; empty: none
	Holder string        // who will measure
	Lease  time.Duration // how long the nodes stay reserved; 0: Settings.Lease
	Wait   time.Duration // how long to wait for asks before this one; then the error wraps ErrBusy. 0: as long as it takes
}

// Ask reserves nodes: those that are in the queue first, and then suggested ones. With
// AskRequest.Nodes it reserves these. If there are fewer than wanted, Ask.Short
// says why. An answer without nodes is not an event, and does not use up the key.
//
// Suggestions take the events up to Asked.Basis into account. Results that arrive
// while they are computed count for the next ask.
func (s *Study) Ask(ctx context.Context, r AskRequest) (Ask, error) {
	if r.Nodes != nil {
		r.Count = len(r.Nodes)
	}
	if r.Count < 1 || r.Count > MaxCount {
		return Ask{}, fmt.Errorf("%w: %d nodes wanted; ask for 1 to %d", ErrInvalid, r.Count, MaxCount)
	}
	if err := checkLease(r.Lease); err != nil {
		return Ask{}, err
	}
	if a, done, err := s.answered(r); done {
		return a, err
	}
	if err := s.awaitTurn(ctx, r.Wait); err != nil {
		return Ask{}, err
	}
	defer func() { <-s.asking }()
	if err := s.Expire(ctx); err != nil {
		return Ask{}, err
	}
	if r.Nodes != nil {
		return s.take(ctx, r)
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

// awaitTurn takes the token of asks: one ask at a time, so that the next sees the nodes that
// this one reserves. They have their turn in the order in which they came.
func (s *Study) awaitTurn(ctx context.Context, wait time.Duration) error {
	var late <-chan time.Time
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		late = t.C
	}
	select {
	case s.asking <- struct{}{}:
		return nil
	case <-late:
		return fmt.Errorf("%w: suggestions for others are being computed; try again soon", ErrBusy)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// errOvertaken is wrapped if a suggested node was no longer available when it was to
// be reserved.
var errOvertaken = errors.New("overtaken by other events")

// answered returns an answer that needs no engine, if there is one: that of an
// earlier ask with the same key, or none because the study is paused or closed.
func (s *Study) answered(r AskRequest) (a Ask, done bool, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if k, used := s.state.asks[r.Key]; used {
		a = s.state.Asks[k]
		if a.Count != r.Count || a.Of != r.Of || a.Holder != r.Holder || a.Chosen != (r.Nodes != nil) || a.Chosen &&
			!slices.Equal(nodesOf(a.Trials), r.Nodes) {
			return Ask{}, true, fmt.Errorf("%w: the key %q was used for another ask; use a new key", ErrConflict, r.Key)
		}
		a.Ended = s.state.ended(a)
		return a, true, nil
	}
	none := Ask{Key: r.Key, Holder: r.Holder, Count: r.Count, Of: r.Of, Trials: []Issued{}}
	switch s.state.Status {
	case StatusPaused:
		none.Short = ReasonPaused
	case StatusClosed:
		none.Short = ReasonClosed
	case StatusArchived:
		return Ask{}, true, errArchived
	}
	return none, none.Short != bayesopt.Enough, nil
}

// ended returns the states of an ask's trials that are pending no more.
func (s *State) ended(a Ask) map[int]TrialState {
	var ended map[int]TrialState
	for _, i := range a.Trials {
		if state := s.Trials[i.Trial-1].State; state != TrialPending {
			if ended == nil {
				ended = map[int]TrialState{}
			}
			ended[i.Trial] = state
		}
	}
	return ended
}

// ask computes suggestions and reserves them.
func (s *Study) ask(ctx context.Context, r AskRequest) (Ask, error) {
	s.mu.RLock()
	planned := s.state.plan(r.Count)
	s.mu.RUnlock()
	basis := planned.basis
	suggested, err := s.suggestPlanned(ctx, planned)
	if err != nil {
		return Ask{}, fmt.Errorf("suggesting: %w", err)
	}
	answer := Ask{Key: r.Key, Holder: r.Holder, Count: r.Count, Of: r.Of, Short: suggested.Short, Random: suggested.Random, Trials: []Issued{}}
	if len(suggested.List) == 0 {
		return answer, nil
	}
	decide := func(st *State) (Payload, error) {
		p := Asked{Key: r.Key, Count: r.Count, Of: r.Of, Basis: basis, Until: s.leaseEnd(st, r), Short: suggested.Short, Random: suggested.Random}
		for k, g := range suggested.List {
			p.Trials = append(p.Trials, Issued{len(st.Trials) + 1 + k, g.Node, g.Cost, g.Why, g.Mean, g.SD, g.Expected, g.Probability})
		}
		err := st.checkAsked(p)
		if st.modelAt > basis {
			err = fmt.Errorf("%w: the settings were changed", ErrConflict)
		}
		if err != nil && st.Seq != basis {
			return nil, fmt.Errorf("%w: %w", errOvertaken, err)
		}
		return p, nil
	}
	err = s.commit(ctx, r.Holder, decide, func(st *State) { answer = st.Asks[len(st.Asks)-1] })
	return answer, err
}

// leaseEnd returns the end of the lease of an ask.
func (s *Study) leaseEnd(st *State, r AskRequest) time.Time {
	lease := r.Lease
	if lease == 0 {
		lease = time.Duration(st.Settings.Lease)
	}
	return stamp(s.now().Add(lease))
}

// take reserves the nodes that the request names.
func (s *Study) take(ctx context.Context, r AskRequest) (answer Ask, err error) {
	if a, done, err := s.answered(r); done {
		return a, err
	}
	chosen, err := s.choose(ctx, r.Nodes)
	if err != nil {
		return Ask{}, err
	}
	why := "chosen"
	if r.Holder != "" {
		why += " by " + r.Holder
	}
	decide := func(st *State) (Payload, error) {
		p := Asked{Key: r.Key, Count: r.Count, Basis: st.Seq, Until: s.leaseEnd(st, r), Chosen: true}
		for k, c := range chosen {
			if !st.available(c.Node) {
				return nil, st.taken(c.Node)
			}
			p.Trials = append(p.Trials, Issued{Trial: len(st.Trials) + 1 + k, Node: c.Node, Cost: c.Cost, Why: why})
		}
		return p, nil
	}
	err = s.commit(ctx, r.Holder, decide, func(st *State) { answer = st.Asks[len(st.Asks)-1] })
	return answer, err
}

// Preview returns the suggestions that Ask would reserve now, and the number of the
// last event that they take into account.
func (s *Study) Preview(ctx context.Context, count int) (Suggestions, int64, error) {
	if none, done, err := s.answered(AskRequest{Count: count}); done {
		return Suggestions{Short: none.Short}, s.Seq(), err
	}
	s.mu.RLock()
	planned := s.state.plan(count)
	s.mu.RUnlock()
	suggested, err := s.suggestPlanned(ctx, planned)
	return suggested, planned.basis, err
}

// suggestPlanned returns the nodes of a plan.
func (s *Study) suggestPlanned(ctx context.Context, p plan) (Suggestions, error) {
	return p.answer(func(q Query, failed []string) (Suggestions, error) {
		engine, err := s.Engine(ctx)
		if err != nil {
			return Suggestions{}, err
		}
		return s.suggestOrDraw(ctx, engine, q, failed)
	})
}

// suggestOrDraw is suggest. If the model cannot be fitted it draws candidates at random, and
// says so.
func (s *Study) suggestOrDraw(ctx context.Context, e Engine, q Query, failed []string) (out Suggestions, err error) {
	if err = s.fitFailure(); err == nil {
		out, err = suggest(ctx, e, q, failed)
	}
	if !errors.Is(err, ErrFit) || ctx.Err() != nil {
		return out, err
	}
	return draw(ctx, e, q, failed, briefly(err))
}

// draw suggests nodes at random, for a reason.
func draw(ctx context.Context, e Engine, q Query, failed []string, reason string) (Suggestions, error) {
	q.Random = true
	out, err := suggest(ctx, e, q, failed)
	out.Random = reason
	for k := range out.List {
		out.List[k].Why = "drawn at random: " + reason
	}
	return out, err
}

// reasonBytes is the longest reason for which nodes are drawn at random.
const reasonBytes = 400

// briefly returns the first line of an error, cut to reasonBytes.
func briefly(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	for len(text) > reasonBytes || !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text[:min(len(text), reasonBytes)], "")
	}
	return text
}

// query returns the query that the next ask for count nodes sends to the engine.
func (s *State) query(count int) Query {
	return Query{
		Measurements: s.Measurements(), Pending: s.Pending(), Excluded: s.AbandonedNodes(), Count: count, Budget: s.BudgetLeft(),
		Seed: rng.New(s.Settings.Seed, "study ask", uint64(len(s.Asks))).Uint64(),
	}
}

// recentlyFailed returns the available nodes that failed since the last measurement,
// sorted. The model has not changed since, so they would be suggested again.
func (s *State) recentlyFailed() []string {
	var all []string
	for node, at := range s.failedAt {
		if at > s.toldAt && s.available(node) {
			all = append(all, node)
		}
	}
	slices.Sort(all)
	return all
}

// suggest queries the engine. Nodes that failed recently are suggested only if there
// are not enough others.
func suggest(ctx context.Context, e Engine, q Query, failed []string) (Suggestions, error) {
	first := q
	first.Excluded = append(slices.Clip(q.Excluded), failed...)
	out, err := e.Suggest(ctx, first)
	if err != nil || len(failed) == 0 || out.Short == bayesopt.Enough || out.Short == bayesopt.BudgetReached {
		return out, err
	}
	rest := q
	rest.Count -= len(out.List)
	rest.Pending = slices.Clip(q.Pending)
	for _, p := range out.List {
		rest.Pending = append(rest.Pending, p.Node)
		if rest.Budget != nil {
			left := *rest.Budget - p.Cost
			rest.Budget = &left
		}
	}
	more, err := e.Suggest(ctx, rest)
	return Suggestions{List: append(out.List, more.List...), Short: more.Short}, err
}
