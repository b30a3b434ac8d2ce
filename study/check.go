package study

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"grfgp/graph"
	"grfgp/internal/plural"
	"grfgp/internal/printable"
)

// check returns an error if the event cannot follow. All rules of a study are in
// this file, and hold for commands, replays and imports alike.
func (s *State) check(e Event) error {
	if e.Seq != s.Seq+1 {
		return outOfSequence(e.Seq, s.Seq+1)
	}
	if err := checkText("a name", e.By, MaxID); err != nil {
		return err
	}
	if _, first := e.Data.(Created); first != (s.Seq == 0) {
		return fmt.Errorf("%w: the first event, and no other, creates the study", ErrCorrupt)
	}
	if _, restores := e.Data.(Restored); s.Status == StatusArchived && !restores {
		return errArchived
	}
	switch p := e.Data.(type) {
	case Created:
		return p.Settings.check()
	case Asked:
		return s.checkAsked(p)
	case Told:
		return s.checkTold(p)
	case Observed:
		return s.checkObserved(p)
	case Renewed:
		_, err := s.pending(p.Trial)
		return err
	case Released:
		_, err := s.pending(p.Trial)
		return err
	case Abandoned:
		return s.checkAbandoned(p)
	case Expired:
		seen := make(map[int]bool, len(p.Trials))
		for _, id := range p.Trials {
			if seen[id] {
				return fmt.Errorf("%w: trial %d occurs twice", ErrCorrupt, id)
			}
			seen[id] = true
			if _, err := s.pending(id); err != nil {
				return err
			}
		}
		return nil
	case Reopened:
		return s.checkReopened(p)
	case Retracted:
		return s.checkRetracted(p)
	case Reinstated:
		return s.checkReinstated(p)
	case Paused:
		return s.checkStatus("pause", StatusOpen)
	case Resumed:
		return s.checkStatus("resume", StatusPaused)
	case Closed:
		return s.checkStatus("close", StatusOpen, StatusPaused)
	case Changed:
		return s.checkChanged(p)
	case Queued:
		return s.checkQueued(p)
	case Unqueued:
		return s.checkUnqueued(p)
	case Archived:
		return checkText("a note", p.Note, MaxNote)
	case Restored:
		return s.checkStatus("restore", StatusArchived)
	}
	return fmt.Errorf("%w: unknown event type %T", ErrCorrupt, e.Data)
}

func (s *State) checkAsked(p Asked) error {
	if err := checkText("a key", p.Key, MaxID); err != nil {
		return err
	}
	if _, used := s.asks[p.Key]; used {
		return fmt.Errorf("%w: the key %q was used before", ErrConflict, p.Key)
	}
	if s.Status != StatusOpen {
		return fmt.Errorf("%w: the study is %s", ErrConflict, s.Status)
	}
	if err := checkText("a reason", p.Random, MaxNote); err != nil {
		return err
	}
	if p.Of != 0 && p.Of < p.Count {
		return fmt.Errorf("%w: %d nodes asked for, as a part of %d", ErrCorrupt, p.Count, p.Of)
	}
	if len(p.Trials) < 1 || len(p.Trials) > p.Count || p.Basis >= s.Seq+1 {
		return fmt.Errorf("%w: %d trials for %d nodes asked for, from events up to %d", ErrCorrupt, len(p.Trials), p.Count, p.Basis)
	}
	cost, taken := s.Spent(), map[string]bool{}
	for k, i := range p.Trials {
		if err := checkText("a node", i.Node, MaxID); err != nil {
			return err
		}
		switch {
		case i.Trial != len(s.Trials)+1+k:
			return fmt.Errorf("%w: trial %d where %d is next", ErrCorrupt, i.Trial, len(s.Trials)+1+k)
		case !(i.Cost > 0):
			return fmt.Errorf("%w: trial %d costs %v", ErrCorrupt, i.Trial, i.Cost)
		case !s.available(i.Node) || taken[i.Node]:
			return fmt.Errorf("%w: node %q is measured, reserved or abandoned", ErrConflict, i.Node)
		}
		taken[i.Node] = true
		cost += i.Cost
	}
	if math.IsInf(cost, 0) {
		return fmt.Errorf("%w: the cost of all trials would overflow; ask for fewer nodes, or give smaller costs", ErrConflict)
	}
	if b := s.Settings.Budget; b != nil && cost > *b*(1+budgetRounding) {
		return fmt.Errorf("%w: all trials together would cost %v, and the budget is %v", ErrConflict, cost, *b)
	}
	return nil
}

// budgetRounding is the relative rounding error that a sum of costs may have.
const budgetRounding = 1e-9

func (s *State) checkTold(p Told) error {
	t, err := s.trial(p.Trial)
	if err != nil {
		return err
	}
	if err := checkText("a note", p.Note, MaxNote); err != nil {
		return err
	}
	if !p.failed() {
		m := Measurement{Node: t.Node, Exposure: p.Exposure, Class: p.Class}
		if p.Value != nil {
			m.Value = *p.Value
		}
		if err := s.checkMeasurements(m); err != nil {
			return err
		}
	}
	switch {
	case p.Value != nil && p.Class != "":
		return fmt.Errorf("%w: trial %d has a class and a value; give the class alone", ErrKind, p.Trial)
	case p.failed() && p.Exposure != 0:
		return fmt.Errorf("%w: trial %d failed, with an exposure", ErrCorrupt, p.Trial)
	case t.State == TrialDone:
		return fmt.Errorf("%w: trial %d has %s; retract observation %d first, then tell the new result", ErrConflict, t.Trial, t.result().words(),
			t.Number)
	case t.State == TrialFailed:
		return fmt.Errorf("%w: trial %d has failed; if there is a value after all, give it as an observation of node %q", ErrConflict, t.Trial,
			t.Node)
	case p.failed() && (t.State == TrialAbandoned || t.State == TrialRetracted):
		return fmt.Errorf("%w: trial %d is %s and cannot fail any more", ErrConflict, t.Trial, t.State)
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// CheckIDs returns an error if an id is too long for a study or is not UTF-8.
func CheckIDs(ids *graph.IDs) error {
	for i := range ids.Len() {
		if id := ids.Bytes(i); len(id) > MaxID || !utf8.Valid(id) {
			return fmt.Errorf("%w: node %d has the id %.40q; ids are UTF-8 text of at most %d bytes", ErrInvalid, i+1, id, MaxID)
		}
	}
	return nil
}

// CheckNewIDs is CheckIDs for a graph that is new: its ids have no control characters, nor
// others that change how the text around them looks. Graphs of before are used as they are.
func CheckNewIDs(ids *graph.IDs) error {
	if err := CheckIDs(ids); err != nil {
		return err
	}
	for i := range ids.Len() {
		if id := ids.Bytes(i); bytes.ContainsFunc(id, printable.Odd) {
			return fmt.Errorf("%w: node %d has the id %.40q; ids have no control characters, such as line breaks", ErrInvalid, i+1, id)
		}
	}
	return nil
}

func (s *State) checkObserved(p Observed) error {
	if err := checkText("a key", p.Key, MaxID); err != nil {
		return err
	}
	if _, used := s.observed[p.Key]; used {
		return fmt.Errorf("%w: the key %q was used before", ErrConflict, p.Key)
	}
	if s.Status == StatusClosed {
		return fmt.Errorf("%w: the study is closed and accepts only results of its trials", ErrConflict)
	}
	if err := checkText("a note", p.Note, MaxNote); err != nil {
		return err
	}
	if len(p.Values) == 0 {
		return fmt.Errorf("%w: no measurements", ErrInvalid)
	}
	for _, r := range p.Values {
		if err := checkText("a node", r.Node, MaxID); err != nil {
			return err
		}
	}
	return s.checkMeasurements(p.Values...)
}

func (s *State) checkAbandoned(p Abandoned) error {
	t, err := s.trial(p.Trial)
	switch {
	case err != nil:
		return err
	case t.State == TrialDone:
		return t.isDone()
	case t.State == TrialAbandoned:
		return fmt.Errorf("%w: trial %d is %s", ErrConflict, t.Trial, t.State)
	}
	return checkText("a note", p.Note, MaxNote)
}

func (s *State) checkRetracted(p Retracted) error {
	v, err := s.observation(p.Value)
	if err != nil {
		return err
	}
	if v.Retracted {
		return fmt.Errorf("%w: observation %d is retracted already", ErrConflict, p.Value)
	}
	return checkText("a note", p.Note, MaxNote)
}

func (s *State) checkStatus(what string, from ...Status) error {
	if !slices.Contains(from, s.Status) {
		return fmt.Errorf("%w: cannot %s a study that is %s", ErrConflict, what, s.Status)
	}
	return nil
}

// observation returns a record by its number.
func (s *State) observation(number int) (*Record, error) {
	if number < 1 || number > len(s.Records) {
		return nil, fmt.Errorf("%w: there is no observation %d; the study has %s", ErrNotFound, number,
			plural.Count(len(s.Records), "observations"))
	}
	return &s.Records[number-1], nil
}

// trial returns a trial by its number.
func (s *State) trial(id int) (*Trial, error) {
	if id < 1 || id > len(s.Trials) {
		return nil, fmt.Errorf("%w: there is no trial %d; the study has %s", ErrNotFound, id, plural.Count(len(s.Trials), "trials"))
	}
	return &s.Trials[id-1], nil
}

// pending returns a trial by its number, and an error unless it is pending.
func (s *State) pending(id int) (*Trial, error) {
	t, err := s.trial(id)
	switch {
	case err == nil && t.State == TrialDone:
		err = t.isDone()
	case err == nil && t.State != TrialPending:
		err = fmt.Errorf("%w: trial %d is %s, not pending; its result is still accepted", ErrConflict, id, t.State)
	}
	return t, err
}

// isDone is the error of a command that a trial with a value does not allow.
func (t *Trial) isDone() error {
	return fmt.Errorf("%w: trial %d is done, with %s; to correct it, retract observation %d", ErrConflict, t.Trial, t.result().words(),
		t.Number)
}
