package study

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"grfgp"
	"grfgp/crossval"
	"grfgp/gp"
)

// Response is the distribution of the quantity at a node, on the scale that people read.
type Response = gp.Response

// Predictions are the posterior means and standard deviations of all nodes.
type Predictions struct {
	Seq              int64      // last event taken into account
	Measurements     int        // number of measurements behind them
	Spec             grfgp.Spec // of the model, its choices filled in
	NoiseSD          float64    // of a measurement
	grfgp.Prediction            // by node, in the order of Engine.IDs

	// In studies of classes, where Mean is the probability of the most probable class:
	Classes       []string   // names; nil: the study is of values
	Class         []int      // number of the most probable class, by node
	Probabilities *mat.Dense // of the classes, a row per node
}

// fit is the cache of all that follows from one set of measurements. Each part is
// computed when it is first asked for.
type fit struct {
	changedAt    int64 // event of the last change of the measurements
	seq          int64
	measurements []Measurement

	snapshot    lazy[Snapshot]
	predictions lazy[*Predictions]
	validation  lazy[*crossval.Validation]
	classes     lazy[*ClassCalibration]
	effects     lazy[*grfgp.Effects]
}

// lazy is a value that is computed once. Errors are not kept, except those that depend on
// the measurements alone: ErrNoModel, and ErrFit unless memory was short.
type lazy[T any] struct {
	mu   sync.Mutex
	done bool
	v    T
	err  error
}

func (l *lazy[T]) get(compute func() (T, error)) (T, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done {
		return l.v, l.err
	}
	v, err := compute()
	if err == nil || errors.Is(err, ErrNoModel) || errors.Is(err, ErrFit) && !errors.Is(err, ErrTooLarge) {
		l.v, l.err, l.done = v, err, true
	}
	return v, err
}

// ready returns the value if it is there, without waiting for it.
func (l *lazy[T]) ready() (v T, ok bool) {
	if !l.mu.TryLock() {
		return v, false
	}
	defer l.mu.Unlock()
	return l.v, l.done && l.err == nil
}

// failure returns the error that is kept, nil if there is none or the value is being
// computed.
func (l *lazy[T]) failure() error {
	if !l.mu.TryLock() {
		return nil
	}
	defer l.mu.Unlock()
	return l.err
}

// fitFailure returns the error of a model that could not be fitted to the measurements so
// far, nil if that is not known, or if suggestions need no model.
func (s *Study) fitFailure() error {
	if !s.Settings().UsesModel() {
		return nil
	}
	if err := s.currentFit().snapshot.failure(); errors.Is(err, ErrFit) {
		return err
	}
	return nil
}

// Refit forgets that a model could not be fitted, so that the next command that needs it
// tries again.
func (s *Study) Refit() {
	s.fitting.Lock()
	defer s.fitting.Unlock()
	s.fit = nil
}

// currentFit returns the fit to the measurements so far.
func (s *Study) currentFit() *fit {
	s.fitting.Lock()
	defer s.fitting.Unlock()
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.fit == nil || s.fit.changedAt != s.state.changedAt {
		s.fit = &fit{changedAt: s.state.changedAt, seq: s.state.Seq, measurements: s.state.Measurements()}
	}
	return s.fit
}

func (s *Study) snapshot(ctx context.Context, f *fit) (Snapshot, error) {
	return f.snapshot.get(func() (Snapshot, error) {
		e, err := s.Engine(ctx)
		if err != nil {
			return nil, err
		}
		return e.Fit(ctx, f.measurements)
	})
}

// Snapshot fits the model to the measurements so far. The error wraps ErrNoModel
// if they are too few.
func (s *Study) Snapshot(ctx context.Context) (Snapshot, error) {
	return s.snapshot(ctx, s.currentFit())
}

// ReadySnapshot is Snapshot if the model is fitted already; it does not wait.
func (s *Study) ReadySnapshot() (Snapshot, bool) { return s.currentFit().snapshot.ready() }

// Predictions returns the posterior at every node, given the measurements so far.
// The error wraps ErrNoModel if they are too few.
func (s *Study) Predictions(ctx context.Context) (*Predictions, error) {
	f := s.currentFit()
	p, err := f.predictions.get(func() (*Predictions, error) { return s.predict(ctx, f) })
	if err == nil {
		s.latest.Store(p)
	}
	return p, err
}

// LatestPredictions returns the predictions that were computed last, which may
// lack the newest measurements; nil if there are none.
func (s *Study) LatestPredictions() *Predictions { return s.latest.Load() }

func (s *Study) predict(ctx context.Context, f *fit) (*Predictions, error) {
	snapshot, err := s.snapshot(ctx, f)
	if err != nil {
		return nil, err
	}
	e, err := s.Engine(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]int, e.IDs().Len())
	for i := range all {
		all[i] = i
	}
	if classes, ok := snapshot.(ClassSnapshot); ok {
		return predictClasses(ctx, f, classes, all)
	}
	p, err := snapshot.Predict(ctx, all)
	if err != nil {
		return nil, err
	}
	infinite := func(v float64) bool { return !finite(v) }
	if slices.ContainsFunc(p.Mean, infinite) || slices.ContainsFunc(p.SD, infinite) {
		return nil, fmt.Errorf("%w: the measurements are too large or too far apart for a model; retract those that cannot be true", ErrNoModel)
	}
	return &Predictions{Seq: f.seq, Measurements: len(f.measurements), Spec: snapshot.Chosen(), NoiseSD: snapshot.NoiseSD(), Prediction: p},
		nil
}

// Effects returns the effects of covariates in the model of the measurements so far, and
// the shares of its parts. The error wraps ErrNoModel if they are too few.
func (s *Study) Effects(ctx context.Context) (*grfgp.Effects, error) {
	f := s.currentFit()
	return f.effects.get(func() (*grfgp.Effects, error) {
		snapshot, err := s.snapshot(ctx, f)
		if err != nil {
			return nil, err
		}
		e, err := snapshot.Effects(ctx)
		if err == nil && !finiteEffects(e) {
			err = fmt.Errorf("%w: the measurements are too large or too far apart for effects; retract those that cannot be true", ErrNoModel)
		}
		return e, err
	})
}

// finiteEffects reports whether all numbers are finite.
func finiteEffects(e *grfgp.Effects) bool {
	ok := true
	for _, f := range e.Columns {
		ok = ok && finite(f.Mean) && finite(f.SD) && finite(f.Lower) && finite(f.Upper)
		if c := f.Between; c != nil {
			ok = ok && finite(c.Mean) && finite(c.SD) && finite(c.Lower) && finite(c.Upper) && finite(c.Chance)
		}
	}
	for _, p := range e.Parts {
		ok = ok && finite(p.Variance) && finite(p.Share)
	}
	return ok
}

// Calibration cross-validates the model on the measurements so far, with its
// hyperparameters held fixed, and compares it with simple baselines.
func (s *Study) Calibration(ctx context.Context) (*crossval.Validation, error) {
	f := s.currentFit()
	return f.validation.get(func() (*crossval.Validation, error) {
		snapshot, err := s.snapshot(ctx, f)
		if err != nil {
			return nil, err
		}
		return snapshot.Validate(ctx, s.Settings().Seed)
	})
}
