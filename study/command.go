package study

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Outcome is the result of a trial.
type Outcome struct {
	Value    float64
	Exposure float64 // as in Measurement; 0: none
	Class    string  // in place of Value, in studies of classes
	Failed   bool    // the node could not be measured; all of the above is ignored
	Note     string
}

// Tell records the result of a trial. Telling the same result again changes
// nothing; a different result is a conflict. Expired, released and abandoned trials
// accept a result too.
func (s *Study) Tell(ctx context.Context, trial int, o Outcome, by string) (Trial, error) {
	decide := func(st *State) (Payload, error) {
		t, err := st.trial(trial)
		if err != nil {
			return nil, err
		}
		switch said := t.wasTold(o); {
		case said && t.State == TrialRetracted:
			return nil, fmt.Errorf("%w: %s of trial %d was retracted; if it is right, give it as an observation of node %q", ErrConflict,
				t.result().words(), t.Trial, t.Node)
		case said:
			return nil, nil
		}
		p := Told{Trial: trial, Note: o.Note}
		if !o.Failed {
			p.Exposure, p.Class = o.Exposure, o.Class
			if o.Class == "" || o.Value != 0 {
				p.Value = &o.Value
			}
		}
		return p, nil
	}
	return s.changeTrial(ctx, trial, by, decide)
}

// wasTold reports whether the trial has this outcome already.
func (t *Trial) wasTold(o Outcome) bool {
	switch t.State {
	case TrialDone, TrialRetracted:
		return !o.Failed && t.result() == Measurement{t.Node, o.Value, o.Exposure, o.Class}
	case TrialFailed:
		return o.Failed
	}
	return false
}

// changeTrial runs a command on a trial and returns the trial afterwards.
func (s *Study) changeTrial(ctx context.Context, trial int, by string, decide func(*State) (Payload, error)) (t Trial, err error) {
	err = s.commit(ctx, by, decide, func(st *State) { t = st.Trials[trial-1] })
	return t, err
}

// Observe adds measurements that belong to no trial, all or none, and returns their
// records. A key takes effect once: with the same key and measurements, Observe
// returns the records of the first call. An error about one of several measurements
// is a *RowError.
func (s *Study) Observe(ctx context.Context, key string, measurements []Measurement, note, by string) ([]Record, error) {
	engine, err := s.Engine(ctx)
	if err != nil {
		return nil, err
	}
	for k, r := range measurements {
		if _, ok := engine.IDs().Lookup([]byte(r.Node)); !ok {
			return nil, &RowError{k, fmt.Errorf("%w: %q", ErrUnknownNode, r.Node)}
		}
		if err := s.Settings().checkValue(r); err != nil {
			return nil, &RowError{k, err}
		}
	}
	var values []Record
	var again error
	decide := func(st *State) (Payload, error) {
		at, used := st.observed[key]
		if key == "" || !used {
			return Observed{key, slices.Clone(measurements), note}, nil
		}
		if values = st.valuesOf(at); !slices.EqualFunc(values, measurements, func(v Record, r Measurement) bool { return v.Measurement == r }) {
			again = fmt.Errorf("%w: the key %q was used for other measurements; use a new key", ErrConflict, key)
		}
		return nil, again
	}
	err = s.commit(ctx, by, decide, func(st *State) {
		if values == nil {
			values = slices.Clone(st.Records[len(st.Records)-len(measurements):])
		}
	})
	return values, err
}

// RowError is an error about one of several measurements.
type RowError struct {
	Row int // from 0
	Err error
}

func (e *RowError) Error() string { return fmt.Sprintf("row %d: %v", e.Row+1, e.Err) }

// Unwrap returns Err.
func (e *RowError) Unwrap() error { return e.Err }

// CheckMeasurements returns an error, a *RowError, about the first measurement that is not of
// the kind that the settings say.
func (s Settings) CheckMeasurements(all []Measurement) error {
	for k, m := range all {
		if err := s.checkValue(m); err != nil {
			return &RowError{k, err}
		}
	}
	return nil
}

// valuesOf returns the records of an event.
func (s *State) valuesOf(seq int64) []Record {
	var all []Record
	for _, v := range s.Records {
		if v.Seq == seq {
			all = append(all, v)
		}
	}
	return all
}

// Retract withdraws a measurement by the number of its record. Its node may be
// suggested again, and its trial accepts another value. Retracting again changes
// nothing.
func (s *Study) Retract(ctx context.Context, number int, note, by string) (v Record, err error) {
	decide := func(st *State) (Payload, error) {
		if number >= 1 && number <= len(st.Records) && st.Records[number-1].Retracted {
			return nil, nil
		}
		return Retracted{number, note}, nil
	}
	err = s.commit(ctx, by, decide, func(st *State) { v = st.Records[number-1] })
	return v, err
}

// Renew extends the lease of a pending trial to the given time from now; 0: to
// Settings.Lease from now. It refuses to shorten a lease.
func (s *Study) Renew(ctx context.Context, trial int, lease time.Duration, by string) (Trial, error) {
	if err := checkLease(lease); err != nil {
		return Trial{}, err
	}
	return s.changeTrial(ctx, trial, by, func(st *State) (Payload, error) {
		if lease == 0 {
			lease = time.Duration(st.Settings.Lease)
		}
		until := stamp(s.now().Add(lease))
		if t, err := st.pending(trial); err == nil && until.Before(t.Until) {
			return nil, fmt.Errorf("%w: trial %d is reserved until %s, which is later than %v from now; give a longer lease", ErrInvalid, trial,
				t.Until.Format(time.DateTime), lease)
		}
		return Renewed{trial, until}, nil
	})
}

// Release ends a pending trial, so that its node may be suggested again. Releasing
// again changes nothing.
func (s *Study) Release(ctx context.Context, trial int, by string) (Trial, error) {
	return s.changeTrial(ctx, trial, by, func(st *State) (Payload, error) {
		if t, err := st.trial(trial); err == nil && (t.State == TrialReleased || t.State == TrialExpired) {
			return nil, nil
		}
		return Released{trial}, nil
	})
}

// Abandon ends a trial that has no value, and excludes its node from all later
// suggestions. Abandoning again changes nothing.
func (s *Study) Abandon(ctx context.Context, trial int, note, by string) (Trial, error) {
	return s.changeTrial(ctx, trial, by, func(st *State) (Payload, error) {
		if t, err := st.trial(trial); err == nil && t.State == TrialAbandoned {
			return nil, nil
		}
		return Abandoned{trial, note}, nil
	})
}

// Expire ends the trials whose leases have run out, so that their nodes may be
// suggested again. Ask calls it first.
func (s *Study) Expire(ctx context.Context) error {
	if !s.anyDue() {
		return nil
	}
	return s.commit(ctx, "", func(st *State) (Payload, error) {
		if st.Status == StatusArchived {
			return nil, nil // when it is restored
		}
		var p Expired
		now := stamp(s.now())
		for k := range st.Trials {
			if t := &st.Trials[k]; t.State == TrialPending && !t.Until.After(now) {
				p.Trials = append(p.Trials, t.Trial)
			}
		}
		if p.Trials == nil {
			return nil, nil
		}
		return p, nil
	}, nil)
}

// anyDue reports whether a lease has run out.
func (s *Study) anyDue() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.state.sums.counts[TrialPending] == 0 {
		return false
	}
	now := stamp(s.now())
	for k := range s.state.Trials {
		if t := &s.state.Trials[k]; t.State == TrialPending && !t.Until.After(now) {
			return true
		}
	}
	return false
}

// Pause stops suggestions; results are still accepted. Pausing again changes
// nothing.
func (s *Study) Pause(ctx context.Context, note, by string) error {
	return s.setStatus(ctx, by, StatusPaused, Paused{note})
}

// Resume ends a pause. Resuming again changes nothing.
func (s *Study) Resume(ctx context.Context, by string) error {
	return s.setStatus(ctx, by, StatusOpen, Resumed{})
}

// Close ends suggestions permanently; results of trials are still accepted.
// Closing again changes nothing.
func (s *Study) Close(ctx context.Context, note, by string) error {
	return s.setStatus(ctx, by, StatusClosed, Closed{note})
}

func (s *Study) setStatus(ctx context.Context, by string, to Status, p Payload) error {
	return s.commit(ctx, by, func(st *State) (Payload, error) {
		if st.Status == to {
			return nil, nil
		}
		return p, nil
	}, nil)
}
