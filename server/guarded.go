package server

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"gonum.org/v1/gonum/mat"

	"grfgp"
	"grfgp/crossval"
	"grfgp/study"
)

// guarded is the engine of a study that cannot end the server: its memory is bounded, its
// panics are errors, and the store has a mark while it does something for the first time.
type guarded struct {
	study.Engine
	of *openStudy
}

// Suggest implements study.Engine.
func (g guarded) Suggest(ctx context.Context, q study.Query) (out study.Suggestions, err error) {
	do := func() (err error) { out, err = g.Engine.Suggest(ctx, q); return err }
	if q.Random || !g.of.Settings().UsesModel() {
		err = g.of.safely(do)
		return out, err
	}
	err = g.of.perform(ctx, "suggest", g.Engine, len(q.Measurements), do)
	return out, err
}

// Fit implements study.Engine.
func (g guarded) Fit(ctx context.Context, m []study.Measurement) (study.Snapshot, error) {
	var s study.Snapshot
	err := g.of.perform(ctx, "fit", g.Engine, len(m), func() (err error) { s, err = g.Engine.Fit(ctx, m); return err })
	g.of.work.fitted(ctx, err)
	if err != nil {
		return nil, err
	}
	by := guardedSnapshot{s, g, len(m)}
	if c, ok := s.(study.ClassSnapshot); ok {
		return guardedClasses{by, c}, nil
	}
	return by, nil
}

// guardedClasses is a snapshot of classes.
type guardedClasses struct {
	guardedSnapshot
	of study.ClassSnapshot
}

// Classes implements study.ClassSnapshot.
func (s guardedClasses) Classes() []string { return s.of.Classes() }

// Probabilities implements study.ClassSnapshot.
func (s guardedClasses) Probabilities(ctx context.Context, nodes []int) (p *mat.Dense, err error) {
	err = s.perform(ctx, "predict", func() (err error) { p, err = s.of.Probabilities(ctx, nodes); return err })
	return p, err
}

// ValidateClasses implements study.ClassSnapshot.
func (s guardedClasses) ValidateClasses(ctx context.Context) (v *crossval.ClassValidation, err error) {
	err = s.perform(ctx, "validate", func() (err error) { v, err = s.of.ValidateClasses(ctx); return err })
	return v, err
}

// guardedSnapshot is a snapshot of a guarded engine.
type guardedSnapshot struct {
	study.Snapshot
	by           guarded
	measurements int
}

func (s guardedSnapshot) perform(ctx context.Context, what string, do func() error) error {
	return s.by.of.perform(ctx, what, s.by.Engine, s.measurements, do)
}

// Predict implements study.Snapshot.
func (s guardedSnapshot) Predict(ctx context.Context, nodes []int) (p grfgp.Prediction, err error) {
	err = s.perform(ctx, "predict", func() (err error) { p, err = s.Snapshot.Predict(ctx, nodes); return err })
	return p, err
}

// Validate implements study.Snapshot.
func (s guardedSnapshot) Validate(ctx context.Context, seed uint64) (v *crossval.Validation, err error) {
	err = s.perform(ctx, "validate", func() (err error) { v, err = s.Snapshot.Validate(ctx, seed); return err })
	return v, err
}

// Effects implements study.Snapshot.
func (s guardedSnapshot) Effects(ctx context.Context) (e *grfgp.Effects, err error) {
	err = s.perform(ctx, "effects", func() (err error) { e, err = s.Snapshot.Effects(ctx); return err })
	return e, err
}

// estimator is an engine that knows what a model costs, as study.ModelEngine does.
type estimator interface {
	EstimateMemory(ctx context.Context, measurements int) (grfgp.Memory, error)
}

// workbook is what a server knows of the costs and the failures of a model.
type workbook struct {
	mu       sync.Mutex
	crash    *crash           // nil: not in quarantine
	failed   error            // of the last fit
	upTo     int              // measurements for which need is an estimate; 0: there is none
	need     grfgp.Memory     //
	held     int64            // most that the model may hold since its last work
	settled  map[string]int64 // need of the work that has ended, by kind
	attempts int              // crashes before this process
	at       int              // pieces of work under way, with a mark if they need one
}

// stage says what is done while a model is being fitted.
func (b *workbook) stage() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.at == 0 {
		return "estimating what the model takes"
	}
	return "fitting the model to the measurements"
}

// fitted keeps the error of a fit, nil for none.
func (b *workbook) fitted(ctx context.Context, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ctx.Err() == nil {
		b.failed = nil
		if errors.Is(err, study.ErrFit) && !errors.Is(err, errQuarantined) {
			b.failed = err
		}
	}
}

// failure returns why the last fit failed, nil if it did not.
func (b *workbook) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failed
}

// quarantined returns an error if the model must not be fitted.
func (b *workbook) quarantined() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.crash == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", errQuarantined, b.crash.words())
}

// growth is by how much the number of measurements, or the memory, grows until it is
// estimated again.
const growth = 1.25

// estimate returns what work with so many measurements takes.
func (b *workbook) estimate(ctx context.Context, e study.Engine, measurements int) (grfgp.Memory, error) {
	of, ok := e.(estimator)
	if !ok {
		return grfgp.Memory{}, nil
	}
	b.mu.Lock()
	need, upTo := b.need, b.upTo
	b.mu.Unlock()
	if 0 < upTo && measurements <= upTo && measurements > upTo/4 {
		return need, nil
	}
	upTo = int(growth*float64(measurements)) + 10
	need, err := of.EstimateMemory(ctx, upTo)
	if err == nil {
		b.mu.Lock()
		b.need, b.upTo = need, upTo
		b.mu.Unlock()
	}
	return need, err
}

// perform runs work of the engine: with a panic as an error, within the memory of the
// server, and with a mark in the store if no work like it has ended before.
func (o *openStudy) perform(ctx context.Context, what string, e study.Engine, measurements int, do func() error) error {
	if err := o.work.quarantined(); err != nil {
		return err
	}
	var need grfgp.Memory
	err := o.safely(func() (err error) { need, err = o.work.estimate(ctx, e, measurements); return err })
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !errors.Is(err, study.ErrFit):
		return fmt.Errorf("%w: %w", study.ErrFit, err)
	case err != nil:
		return err
	}
	if err := o.server.tooSlow(need); err != nil {
		return err
	}
	o.work.mu.Lock()
	held := o.work.held
	o.work.mu.Unlock()
	give, err := o.server.memory.take(ctx, need, held)
	if err != nil {
		return err
	}
	defer give()
	defer o.mark(what, need)()
	defer o.begin()()
	began := time.Now()
	err = o.safely(do)
	if ctx.Err() == nil && !errors.Is(err, study.ErrNoModel) {
		o.server.metrics.work(what, time.Since(began), err != nil)
	}
	o.work.mu.Lock()
	o.work.held = max(o.work.held, need.Bytes)
	o.work.mu.Unlock()
	return err
}

// begin notes that work has begun, and returns the function that notes its end.
func (o *openStudy) begin() (end func()) {
	count := func(by int) {
		o.work.mu.Lock()
		defer o.work.mu.Unlock()
		o.work.at += by
	}
	count(1)
	o.mu.Lock()
	if o.status.State == engineLearning {
		o.setStatus(o.made())
	}
	o.mu.Unlock()
	return func() { count(-1) }
}

// safely is the function safely for work with a model.
func (o *openStudy) safely(do func() error) error {
	err := safely(do)
	var p *panicked
	if errors.As(err, &p) {
		o.server.log.Error("a model panicked", "study", o.name, "error", err)
		return fmt.Errorf("%w: a defect of the program: %w", study.ErrFit, err)
	}
	return err
}

// retry ends a quarantine, and makes the next request that needs a model fit it again.
func (o *openStudy) retry() {
	o.work.mu.Lock()
	if o.work.crash != nil {
		o.work.attempts = o.work.crash.Times
	}
	o.work.crash, o.work.failed, o.work.upTo = nil, nil, 0
	o.work.mu.Unlock()
	o.Refit()
	o.mu.Lock()
	if o.engine != nil {
		o.setStatus(o.made())
	}
	o.mu.Unlock()
	o.start()
	o.fitSoon(true)
}

// errQuarantined is wrapped, with study.ErrFit, while a model must not be fitted.
var errQuarantined = fmt.Errorf("%w: quarantine", study.ErrFit)

// crash is the mark of a study in the store while its engine works: if a server finds it,
// the process before ended in the midst of that work.
type crash struct {
	Work  string    `json:"work"`  // fit, suggest, predict, validate or effects
	Since time.Time `json:"since"` // when it began
	Times int       `json:"times"` // that a process ended so, this one included
}

// words say what happened and what to do.
func (c *crash) words() string {
	times := ""
	if c.Times > 1 {
		times = fmt.Sprintf(", for the %d. time", c.Times)
	}
	return fmt.Sprintf("the server ended%s while it was at work on the model (%s, begun %s); results are taken and nodes are drawn at "+
		"random until somebody tries the model again",
		times, c.Work, c.Since.UTC().Format(time.RFC3339))
}
