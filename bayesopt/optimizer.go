package bayesopt

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"grfgp/gp"
	"grfgp/solve"
)

// Options of an Optimizer; the zero value maximises over all nodes.
type Options struct {
	Goal    Goal
	Policy  Policy // nil: as the goal says
	Seed    uint64
	Allowed []int // nodes that may be suggested; nil: all
	Repeats bool  // measured nodes may be suggested again
	Limits        // Budget is for all nodes told, pending and suggested, GroupCap for those pending and suggested
	Free    int   // so many of the first nodes told cost nothing: they were there before
	Draws   int   // posterior draws behind the chance of being the best; 0 means 64
	Retrain Schedule
}

// Optimizer suggests nodes and is told what was measured there. A suggestion is a
// function of the options, the measurements in their order and the nodes
// pending: the same bytes at any GOMAXPROCS, and from an Optimizer that was told
// the same again. It is not safe for concurrent use.
//
// Measurements are taken in when the next suggestion is asked for. Each then
// extends the factor of the last one, for O(T²), or retrains when the schedule
// says so, starting from the last optimum.
type Optimizer struct {
	trainer Trainer
	opts    Options
	policy  Policy

	data     gp.Data // told
	measured []bool  // by node
	pending  map[int]bool
	excluded map[int]bool
	allowed  []int

	last      *Trained
	trainedAt int // measurements; 0: never
	taken     int // measurements taken in
	posterior *gp.Posterior

	effort Effort
}

// Effort is what was done, and the time it took.
type Effort struct {
	Trainings  int           `json:"trainings"`
	Extensions int           `json:"extensions"`
	Train      time.Duration `json:"train_ns"`   // learning hyperparameters
	Extend     time.Duration `json:"extend_ns"`  // conditioning on what is new
	Pick       time.Duration `json:"pick_ns"`    // the policy
	Explain    time.Duration `json:"explain_ns"` // means, variances and chances of what was picked
}

func (e Effort) less(f Effort) Effort {
	return Effort{e.Trainings - f.Trainings, e.Extensions - f.Extensions, e.Train - f.Train, e.Extend - f.Extend, e.Pick - f.Pick, e.Explain - f.Explain}
}

// New returns an Optimizer that was told nothing.
func New(t Trainer, opts Options) (*Optimizer, error) {
	n := t.Nodes()
	if err := opts.Limits.check(n); err != nil {
		return nil, err
	}
	if err := opts.Goal.check(); err != nil {
		return nil, err
	}
	var err error
	if opts.Retrain, err = opts.Retrain.check(); err != nil {
		return nil, err
	}
	if opts.Free < 0 || opts.Draws < 0 {
		return nil, fmt.Errorf("%w: %d free measurements and %d draws", ErrOptions, opts.Free, opts.Draws)
	}
	if opts.Draws == 0 {
		opts.Draws = 64
	}
	o := &Optimizer{trainer: t, opts: opts, policy: opts.Policy, measured: make([]bool, n), pending: map[int]bool{}, excluded: map[int]bool{}}
	if o.policy == nil {
		o.policy = opts.Goal.Policy()
	}
	if v, ok := o.policy.(VarianceReduction); ok {
		for _, i := range v.Over {
			if i < 0 || i >= n {
				return nil, fmt.Errorf("%w: nodes whose variance counts: there is no node %d of %d", ErrOptions, i, n)
			}
		}
	}
	o.allowed = opts.Allowed
	if o.allowed == nil {
		o.allowed = allNodes(n)
	}
	if _, err := NewCandidates(n, o.allowed, Limits{}); err != nil {
		return nil, fmt.Errorf("allowed nodes: %w", err)
	}
	return o, nil
}

// Tell adds a measurement. Its node need not have been asked for, and may have
// been measured before.
func (o *Optimizer) Tell(node int, value float64) error {
	if err := o.checkNode(node); err != nil {
		return err
	}
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return fmt.Errorf("%w: node %d has the value %v, want a finite number", ErrNode, node, value)
	}
	return o.TellAll(gp.Data{Nodes: []int{node}, Y: []float64{value}})
}

// TellAll adds measurements, which may be means of several readings: d.Count and
// d.Scatter say so. A mean counts as one measurement wherever these are counted.
// Noise variances are refused, for one noise is learned of all readings.
func (o *Optimizer) TellAll(d gp.Data) error {
	if d.Len() == 0 {
		return nil
	}
	if err := d.Check(len(o.measured)); err != nil {
		return fmt.Errorf("%w: %w", ErrNode, err)
	}
	if d.NoiseVar != nil {
		return fmt.Errorf("%w: measurements have noise variances of their own, but one noise is learned of all readings; leave them out", ErrNode)
	}
	all, err := o.data.Append(d)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNode, err)
	}
	o.data = all
	for _, i := range d.Nodes {
		o.measured[i] = true
		delete(o.pending, i)
	}
	return nil
}

func (o *Optimizer) checkNode(node int) error {
	if node < 0 || node >= len(o.measured) {
		return fmt.Errorf("%w: there is no node %d of %d", ErrNode, node, len(o.measured))
	}
	return nil
}

// Hold marks a node as pending: someone is about to measure it, and it is not
// suggested meanwhile. Ask does so with what it suggests.
func (o *Optimizer) Hold(node int) error {
	if err := o.checkNode(node); err != nil {
		return err
	}
	o.pending[node] = true
	return nil
}

// Release takes a node back that is no longer pending. It may be suggested again.
func (o *Optimizer) Release(node int) { delete(o.pending, node) }

// Exclude releases a node and never suggests it again.
func (o *Optimizer) Exclude(node int) error {
	if err := o.checkNode(node); err != nil {
		return err
	}
	delete(o.pending, node)
	o.excluded[node] = true
	return nil
}

// Data returns what was told, in order.
func (o *Optimizer) Data() gp.Data { return o.data.Clone() }

// Pending returns the nodes that are held, in increasing order.
func (o *Optimizer) Pending() []int { return slices.Sorted(maps.Keys(o.pending)) }

// Effort returns what was done since New.
func (o *Optimizer) Effort() Effort { return o.effort }

// Update takes in what was told and returns what is known; ErrNoModel before the
// first training.
func (o *Optimizer) Update(ctx context.Context) (*gp.Posterior, error) {
	for ; o.taken < o.data.Len(); o.taken++ {
		if err := o.take(ctx, o.taken+1); err != nil {
			return nil, fmt.Errorf("bayesopt: measurement %d: %w", o.taken+1, err)
		}
	}
	if o.posterior == nil {
		return nil, fmt.Errorf("%w: %d measurements", ErrNoModel, o.data.Len())
	}
	if err := o.extend(ctx, o.taken); err != nil { // by iteration
		return nil, fmt.Errorf("bayesopt: %w", err)
	}
	return o.posterior, nil
}

// extend brings the posterior to the first now measurements.
func (o *Optimizer) extend(ctx context.Context, now int) error {
	known := len(o.posterior.Measured())
	if known == now {
		return nil
	}
	start := time.Now()
	p, err := o.posterior.Extend(ctx, o.data.Slice(known, now))
	if err != nil {
		return err
	}
	o.posterior = p
	o.effort.Extend += time.Since(start)
	o.effort.Extensions++
	return nil
}

// take brings the posterior from now−1 measurements to now, or trains at now. By
// iteration it leaves the posterior behind, for Update to extend it once; that
// gives the same bytes.
func (o *Optimizer) take(ctx context.Context, now int) error {
	if o.opts.Retrain.due(now, o.trainedAt) {
		return o.train(ctx, now)
	}
	if o.posterior == nil || !o.posterior.Exact(1) {
		return nil
	}
	err := o.extend(ctx, now)
	if errors.Is(err, solve.ErrNotPositiveDefinite) {
		return o.train(ctx, now) // readings of one node contradict a noise of zero
	}
	if err != nil {
		return err
	}
	z, err := o.posterior.Innovations()
	if err != nil {
		return err
	}
	if o.opts.Retrain.drifted(z[o.trainedAt:]) {
		return o.train(ctx, now)
	}
	return nil
}

// train learns from the first now measurements.
func (o *Optimizer) train(ctx context.Context, now int) error {
	start := time.Now()
	d := o.first(now)
	trained, err := o.trainer.Fit(ctx, d, o.last)
	o.effort.Train += time.Since(start)
	if errors.Is(err, gp.ErrData) {
		o.posterior = nil
		return nil // too little so far, and more may help; or at the edge of numbers, and one may be corrected
	}
	if err != nil {
		return err
	}
	o.effort.Trainings++
	return o.adopt(ctx, trained, now)
}

// adopt conditions a model on the first now measurements.
func (o *Optimizer) adopt(ctx context.Context, trained *Trained, now int) error {
	start := time.Now()
	p, err := trained.Model.Condition(ctx, o.first(now))
	if err != nil {
		return err
	}
	o.effort.Extend += time.Since(start)
	o.last, o.trainedAt, o.posterior = trained, now, p
	return nil
}

// first returns the first measurements.
func (o *Optimizer) first(n int) gp.Data { return o.data.Slice(0, n) }

// Checkpoint is the last training: with it an Optimizer goes on as if it had
// done all trainings before.
type Checkpoint struct {
	Measurements int      `json:"measurements"` // learned from
	Kernel       string   `json:"kernel,omitempty"`
	State        gp.State `json:"state"`
}

// Checkpoint returns the last training, and false before the first.
func (o *Optimizer) Checkpoint() (Checkpoint, bool) {
	if o.last == nil {
		return Checkpoint{}, false
	}
	return Checkpoint{o.trainedAt, o.last.Kernel, o.last.Model.State()}, true
}

// Resume starts from a checkpoint instead of from nothing. It is for a new
// Optimizer that was told at least what the checkpoint learned from. Without it
// every training of the past is done again: by the default schedule, and without
// drift, five times the work of the last one if that is linear in measurements,
// and less if it is more.
func (o *Optimizer) Resume(ctx context.Context, c Checkpoint) error {
	if o.taken > 0 || c.Measurements < 1 || c.Measurements > o.data.Len() {
		return fmt.Errorf("%w: resuming at %d of %d measurements, with %d taken in already", ErrOptions, c.Measurements, o.data.Len(), o.taken)
	}
	m, err := o.trainer.Restore(ctx, c.Kernel, c.State)
	if err != nil {
		return fmt.Errorf("bayesopt: resuming: %w", err)
	}
	if err := o.adopt(ctx, &Trained{m, c.Kernel}, c.Measurements); err != nil {
		return fmt.Errorf("bayesopt: resuming: %w", err)
	}
	o.taken = c.Measurements
	return nil
}
