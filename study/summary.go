package study

import (
	"context"
	"fmt"
	"time"
)

// Summary is what a list shows of a study. It follows from the events, and logs may keep
// it beside them, so that a list reads no events.
type Summary struct {
	Seq      int64              `json:"seq"`      // of the last event
	Settings Settings           `json:"settings"` // without the lists of nodes: Allowed, Cost, Group
	Status   Status             `json:"status"`
	Stopped  *Stop              `json:"stopped,omitempty"`
	Created  time.Time          `json:"created"`
	Updated  time.Time          `json:"updated"`
	Trials   map[TrialState]int `json:"trials"`
	Values   int                `json:"values"` // measurements that were not retracted
	Spent    float64            `json:"spent"`
	Left     *float64           `json:"left,omitempty"`
	Queued   int                `json:"queued,omitempty"` // nodes that the next asks get first
	Best     *Record            `json:"best,omitempty"`
	Classes  []ClassCount       `json:"classes,omitempty"` // of a study of classes, as State.Classes returns them
}

// SummaryLog is a Log that keeps a summary of the study.
type SummaryLog interface {
	Log
	// AppendSummary is Append, and replaces the summary by one of the state after the
	// events. Without events it only replaces the summary; if there are other events
	// behind it by now, it changes nothing.
	AppendSummary(ctx context.Context, summary *Summary, events ...Event) error
}

// appendTo appends events to a log, with a summary if that is known and the log keeps it.
func appendTo(ctx context.Context, log Log, summary *Summary, events ...Event) error {
	if l, ok := log.(SummaryLog); ok && summary != nil {
		return l.AppendSummary(ctx, summary, events...)
	}
	return log.Append(ctx, events...)
}

// Summary returns the summary of the state.
func (s *State) Summary() *Summary {
	m := &Summary{
		Seq: s.Seq, Settings: s.Settings, Status: s.Status, Stopped: s.Stopped, Created: s.Created, Updated: s.Updated,
		Trials: s.Counts(), Values: s.sums.values, Spent: s.Spent(), Left: s.BudgetLeft(), Queued: len(s.Queue), Classes: s.Classes(),
	}
	m.Settings.Allowed, m.Settings.Cost, m.Settings.Group = nil, nil, nil
	if best, ok := s.Best(); ok {
		m.Best = &best
	}
	return m
}

// sums are what a summary counts, kept up to date with every event: a sum over all trials
// at every write would make writes slow.
type sums struct {
	counts map[TrialState]int
	values int     // measurements that are not retracted
	best   int     // number of the record that Best returns; 0: none
	spent  float64 // cost of pending and done trials, added up in their order
	known  bool    // spent is up to date
}

// costs reports whether trials in a state cost something.
func (t TrialState) costs() bool { return t == TrialPending || t == TrialDone }

// move counts a trial that changes its state; "" for a new trial.
func (m *sums) move(from, to TrialState, cost float64) {
	if m.counts == nil {
		m.counts = map[TrialState]int{}
		m.known = true
	}
	m.counts[to]++
	switch {
	case from == "":
		m.spent += cost
		return
	case from.costs() != to.costs(): // the sum in the order of trials is another
		m.known = false
	}
	m.counts[from]--
}

// sumUp makes Spent cheap again. The caller may change the state.
func (s *State) sumUp() {
	if !s.sums.known && s.sums.counts != nil {
		s.sums.spent, s.sums.known = s.addCosts(), true
	}
}

func (s *State) addCosts() float64 {
	spent := 0.0
	for k := range s.Trials {
		if t := &s.Trials[k]; t.State.costs() {
			spent += t.Cost
		}
	}
	return spent
}

// findBest finds the best record again.
func (s *State) findBest() {
	s.sums.best = 0
	var best *float64
	for k := range s.Records {
		if v := &s.Records[k]; !v.Retracted {
			if rate := v.Rate(); s.better(rate, best) {
				best, s.sums.best = &rate, v.Number
			}
		}
	}
}

// record counts a new record.
func (s *State) record(v *Record) {
	s.sums.values++
	var best *float64
	if s.sums.best > 0 {
		rate := s.Records[s.sums.best-1].Rate()
		best = &rate
	}
	if s.better(v.Rate(), best) {
		s.sums.best = v.Number
	}
}

// Summarize replays a log for the summary of its study, and keeps it there if the log can
// and keep is true.
func Summarize(ctx context.Context, log Log, keep bool) (*Summary, error) {
	state := new(State)
	for e, err := range log.Events(ctx, 0) {
		if err != nil {
			return nil, fmt.Errorf("reading events: %w", err)
		}
		if err := state.Apply(e); err != nil {
			return nil, fmt.Errorf("%w: event %d: %w", ErrCorrupt, e.Seq, err)
		}
	}
	if state.Seq == 0 {
		return nil, fmt.Errorf("%w: the log is empty", ErrNotFound)
	}
	m := state.Summary()
	if l, ok := log.(SummaryLog); ok && keep {
		_ = l.AppendSummary(ctx, m) // it is made again if it is not kept
	}
	return m, nil
}
