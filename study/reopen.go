package study

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Reopen takes back how a trial ended: it is pending again, a value it had is retracted, and
// a node that was abandoned may be suggested again. The lease is the one it had, or that of
// the settings if it has ended. Reopening a pending trial changes nothing.
func (s *Study) Reopen(ctx context.Context, trial int, note, by string) (Trial, error) {
	return s.changeTrial(ctx, trial, by, func(st *State) (Payload, error) {
		t, err := st.trial(trial)
		switch {
		case err != nil:
			return nil, err
		case t.State == TrialPending:
			return nil, nil
		}
		p := Reopened{Trial: trial, Until: t.Until, Note: note}
		if now := s.now(); !p.Until.After(now) {
			p.Until = stamp(now.Add(time.Duration(st.Settings.Lease)))
		}
		return p, nil
	})
}

// Reinstate takes back that a measurement was retracted, by the number of its record.
// Reinstating again changes nothing.
func (s *Study) Reinstate(ctx context.Context, number int, by string) (v Record, err error) {
	decide := func(st *State) (Payload, error) {
		if number >= 1 && number <= len(st.Records) && !st.Records[number-1].Retracted {
			return nil, nil
		}
		return Reinstated{number}, nil
	}
	err = s.commit(ctx, by, decide, func(st *State) { v = st.Records[number-1] })
	return v, err
}

func (s *State) checkReopened(p Reopened) error {
	t, err := s.trial(p.Trial)
	switch {
	case err != nil:
		return err
	case t.State == TrialPending:
		return fmt.Errorf("%w: trial %d is pending", ErrConflict, t.Trial)
	case s.nodes[t.Node].pending > 0:
		return fmt.Errorf("%w: node %q is reserved by another trial meanwhile", ErrConflict, t.Node)
	}
	if b := s.Settings.Budget; b != nil && !t.State.costs() && s.Spent()+t.Cost > *b*(1+budgetRounding) {
		return fmt.Errorf("%w: the budget of %v is spent: there is no room for trial %d any more", ErrConflict, *b, t.Trial)
	}
	return checkText("a note", p.Note, MaxNote)
}

func (s *State) reopen(e Event, p Reopened) {
	t := &s.Trials[p.Trial-1]
	was := t.State
	switch was {
	case TrialDone:
		s.withdraw(e, t.Number, p.Note)
	case TrialFailed:
		delete(s.failedAt, t.Node)
	}
	s.sums.move(was, TrialPending, t.Cost)
	*t = Trial{Issued: t.Issued, State: TrialPending, Holder: t.Holder, Asked: t.Asked, Until: p.Until}
	s.node(t.Node).pending++
	s.unqueue(t.Node)
	if was == TrialAbandoned && !slices.ContainsFunc(s.Trials, func(o Trial) bool { return o.Node == t.Node && o.State == TrialAbandoned }) {
		s.node(t.Node).abandoned = false
		at, _ := slices.BinarySearch(s.abandoned, t.Node)
		s.abandoned = slices.Concat(s.abandoned[:at], s.abandoned[at+1:]) // others may read the old one
	}
}

func (s *State) checkReinstated(p Reinstated) error {
	v, err := s.observation(p.Value)
	if err != nil {
		return err
	}
	if !v.Retracted {
		return fmt.Errorf("%w: observation %d is not retracted", ErrConflict, p.Value)
	}
	if v.Trial > 0 {
		if t := s.Trials[v.Trial-1]; t.State != TrialRetracted || t.Number != v.Number {
			return fmt.Errorf("%w: trial %d, to which observation %d belonged, is %s now; add the value as a new observation", ErrConflict, v.Trial,
				v.Number, t.State)
		}
	}
	return s.Settings.checkValue(v.Measurement)
}

func (s *State) reinstate(e Event, p Reinstated) {
	v := &s.Records[p.Value-1]
	v.Retracted, v.Note, v.said = false, v.said, ""
	s.node(v.Node).values++
	if !s.Settings.Repeats {
		s.unqueue(v.Node)
	}
	s.changedAt = e.Seq
	s.sums.values++
	s.findBest()
	if s.Settings.Labels {
		s.countClasses()
	}
	if v.Trial > 0 {
		t := &s.Trials[v.Trial-1]
		s.sums.move(t.State, TrialDone, t.Cost)
		t.State = TrialDone
	}
}
