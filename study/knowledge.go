package study

import (
	"context"
	"sync"

	"grfgp"
)

// Predictions are what is known of every node.
type Predictions struct {
	Seq              int64      // of the last event that they know
	Measurements     int        // that they were made from
	Spec             grfgp.Spec // of the model, its choices filled in
	NoiseSD          float64    // of a reading
	grfgp.Prediction            // by number of node, in the order of Engine.Nodes
}

// learned keeps the last knowledge, and what was made from it.
type learned struct {
	mu   sync.Mutex // of the pointer
	last *lesson
}

// lesson is what a set of readings tells; each part is made once, when it is
// first asked for.
type lesson struct {
	changedAt int64 // event
	seq       int64
	readings  []Measurement

	know        once[Snapshot]
	predictions once[*Predictions]
	validation  once[*grfgp.Validation]
}

// once is a value that is made once; errors are not kept.
type once[T any] struct {
	mu   sync.Mutex
	made bool
	v    T
}

func (o *once[T]) get(f func() (T, error)) (T, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.made {
		return o.v, nil
	}
	v, err := f()
	if err == nil {
		o.v, o.made = v, true
	}
	return v, err
}

// lesson returns that of the values as they are.
func (s *Study) lesson() *lesson {
	s.learned.mu.Lock()
	defer s.learned.mu.Unlock()
	s.mu.RLock()
	defer s.mu.RUnlock()
	if l := s.learned.last; l != nil && l.changedAt == s.state.changedAt {
		return l
	}
	l := &lesson{changedAt: s.state.changedAt, seq: s.state.Seq, readings: s.state.Measurements()}
	s.learned.last = l
	return l
}

func (s *Study) knowledge(ctx context.Context, l *lesson) (Snapshot, error) {
	return l.know.get(func() (Snapshot, error) {
		e, err := s.Engine(ctx)
		if err != nil {
			return nil, err
		}
		return e.Fit(ctx, l.readings)
	})
}

// Snapshot is what the values so far tell. The error wraps ErrNoModel where they
// are too few.
func (s *Study) Snapshot(ctx context.Context) (Snapshot, error) {
	return s.knowledge(ctx, s.lesson())
}

// Predictions returns mean and standard deviation at every node. They are kept
// until another value comes. The error wraps ErrNoModel where values are too few.
func (s *Study) Predictions(ctx context.Context) (*Predictions, error) {
	l := s.lesson()
	return l.predictions.get(func() (*Predictions, error) {
		k, err := s.knowledge(ctx, l)
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
		p, err := k.Predict(ctx, all)
		if err != nil {
			return nil, err
		}
		return &Predictions{l.seq, len(l.readings), k.Chosen(), k.NoiseSD(), p}, nil
	})
}

// Calibration predicts each reading from all others and compares, beside the
// simple rules. It is kept until another value comes.
func (s *Study) Calibration(ctx context.Context) (*grfgp.Validation, error) {
	l := s.lesson()
	return l.validation.get(func() (*grfgp.Validation, error) {
		k, err := s.knowledge(ctx, l)
		if err != nil {
			return nil, err
		}
		return k.Validate(ctx)
	})
}
