package bayesopt

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"grfgp/gp"
	"grfgp/internal/ranks"
	"grfgp/kernel"
	"grfgp/progress"
	"grfgp/solve"
)

// Options are the options of an Optimizer. The zero value maximises over all
// nodes by Thompson sampling.
type Options struct {
	Goal    Goal     // zero: Maximize
	Policy  Policy   // nil: Goal.Policy()
	Seed    uint64   // of the suggestions
	Allowed []int    // nodes that may be suggested; nil: all
	Repeats bool     // measured nodes may be suggested again
	Limits           // costs and groups of nodes
	Retrain Schedule // when to fit hyperparameters again

	// Ranks are processes that make the same suggestions together, and share draws and means
	// at all nodes; nil: this one alone.
	Ranks *ranks.Group

	Transform gp.Transform // under which values are modelled; levels, means and sds stay on the scale of the values
}

// Optimizer is told measurements and suggests nodes to measure. Suggestions are a
// function of the options, the measurements in their order and the request: they
// have the same bits at any GOMAXPROCS and from every Optimizer with the same
// options and measurements. It is not safe for concurrent use.
//
// The model is updated when the next suggestion is asked for. Each new
// measurement then extends the Cholesky factor, in O(T²) for T measurements, or
// triggers a training, as the Schedule says, which starts from the last optimum.
type Optimizer struct {
	trainer Trainer
	opts    Options
	policy  Policy

	data     gp.Data // told
	own      gp.Data // on the scale of the transform
	measured []bool  // by node
	allowed  []int
	every    everyNode
	open     openNodes

	last      *Trained
	trainedAt int // measurements; 0: never
	taken     int // measurements in the model
	posterior *gp.Posterior

	effort Effort
	work   *progress.Work // of the request under way; nil: nobody is told
}

// Effort is the work of an Optimizer and the time it took.
type Effort struct {
	Trainings  int           `json:"trainings"` // times that hyperparameters were fitted
	Extensions int           `json:"extensions"`
	Train      time.Duration `json:"train_ns"`   // fitting hyperparameters
	Extend     time.Duration `json:"extend_ns"`  // conditioning on new measurements
	Pick       time.Duration `json:"pick_ns"`    // the policy
	Explain    time.Duration `json:"explain_ns"` // predictions of suggestions
}

func (e Effort) less(f Effort) Effort {
	return Effort{e.Trainings - f.Trainings, e.Extensions - f.Extensions, e.Train - f.Train, e.Extend - f.Extend, e.Pick - f.Pick,
		e.Explain - f.Explain}
}

// New returns an Optimizer without measurements.
func New(t Trainer, opts Options) (*Optimizer, error) {
	n := t.Nodes()
	if err := opts.Limits.Check(n); err != nil {
		return nil, err
	}
	if err := opts.Goal.check(); err != nil {
		return nil, err
	}
	var err error
	if opts.Retrain, err = opts.Retrain.check(); err != nil {
		return nil, err
	}
	o := &Optimizer{trainer: t, opts: opts, policy: opts.Policy, measured: make([]bool, n)}
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
		o.allowed = o.every.list(n)
	}
	if _, err := NewCandidates(n, o.allowed, Limits{}, nil); err != nil {
		return nil, fmt.Errorf("allowed nodes: %w", err)
	}
	return o, nil
}

// Tell adds a measurement. The node need not have been suggested, and may have
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

// TellAll adds measurements, which may be means of repeated measurements (d.Count,
// d.Scatter). A mean counts as one measurement in a Schedule. Known noise variances
// (d.NoiseVar) are an error: one noise variance is fitted for all measurements.
func (o *Optimizer) TellAll(d gp.Data) error {
	if d.Len() == 0 {
		return nil
	}
	if err := d.Check(len(o.measured)); err != nil {
		return fmt.Errorf("%w: %w", ErrNode, err)
	}
	if d.NoiseVar != nil {
		return fmt.Errorf("%w: an Optimizer fits one noise variance for all measurements; leave known noise variances out", ErrNode)
	}
	if judge, ok := o.trainer.(Judge); ok {
		if err := judge.CheckData(d); err != nil {
			return fmt.Errorf("%w: %w", ErrNode, err)
		}
	}
	own, err := d.Transformed(o.opts.Transform)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNode, err)
	}
	all, err := o.data.Append(d)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNode, err)
	}
	if own, err = o.own.Append(own); err != nil {
		return fmt.Errorf("%w: %w", ErrNode, err)
	}
	o.data, o.own = all, own
	for _, i := range d.Nodes {
		o.measured[i] = true
	}
	return nil
}

func (o *Optimizer) checkNode(node int) error {
	if node < 0 || node >= len(o.measured) {
		return fmt.Errorf("%w: there is no node %d of %d", ErrNode, node, len(o.measured))
	}
	return nil
}

// Data returns the measurements, in the order told.
func (o *Optimizer) Data() gp.Data { return o.data.Clone() }

// Effort returns the work done since New.
func (o *Optimizer) Effort() Effort { return o.effort }

// Update brings the model up to date and returns the posterior. Before the first
// training the error wraps ErrNoModel.
func (o *Optimizer) Update(ctx context.Context) (*gp.Posterior, error) {
	for ; o.taken < o.data.Len(); o.taken++ {
		if err := o.take(ctx, o.taken+1); err != nil {
			return nil, fmt.Errorf("measurement %d: %w", o.taken+1, err)
		}
	}
	if o.posterior == nil {
		return nil, fmt.Errorf("%w: %d measurements", ErrNoModel, o.data.Len())
	}
	if err := o.extend(ctx, o.taken); err != nil { // by iteration
		return nil, err
	}
	return o.posterior, nil
}

// extend conditions the posterior on the first now measurements.
func (o *Optimizer) extend(ctx context.Context, now int) error {
	known := len(o.posterior.Measured())
	if known == now {
		return nil
	}
	start := time.Now()
	p, err := o.posterior.Condition(ctx, o.own.Slice(known, now))
	if err != nil {
		return err
	}
	o.posterior = p
	o.effort.Extend += time.Since(start)
	o.effort.Extensions++
	return nil
}

// take adds measurement now to the posterior, or trains on the first now. With an
// iterative solver it does not change the posterior, and Update extends it once;
// the result has the same bits.
func (o *Optimizer) take(ctx context.Context, now int) error {
	if o.opts.Retrain.due(now, o.trainedAt) {
		return o.train(ctx, now)
	}
	if o.posterior == nil || !o.posterior.Factored() {
		return nil
	}
	err := o.extend(ctx, now)
	if errors.Is(err, solve.ErrNotPositiveDefinite) {
		return o.train(ctx, now) // repeated measurements contradict a noise variance of zero
	}
	if err != nil {
		return err
	}
	z, err := o.posterior.StandardizedResiduals()
	if err != nil {
		return err
	}
	if o.opts.Retrain.drifted(z[o.trainedAt:]) {
		return o.train(ctx, now)
	}
	return nil
}

// train fits the hyperparameters to the first now measurements.
func (o *Optimizer) train(ctx context.Context, now int) error {
	start := time.Now()
	d := o.first(now)
	fit := o.trainer.Fit
	if t, ok := o.trainer.(Reporter); ok && o.work != nil {
		fit = func(ctx context.Context, d gp.Data, last *Trained) (*Trained, error) {
			return t.FitProgress(ctx, d, last, o.work)
		}
	}
	trained, err := fit(ctx, d, o.last)
	o.effort.Train += time.Since(start)
	if errors.Is(err, gp.ErrData) {
		o.posterior = nil
		return nil // too few measurements so far, or values out of range that may yet be corrected
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

// first returns the first measurements, on the scale of the transform.
func (o *Optimizer) first(n int) gp.Data { return o.own.Slice(0, n) }

// Checkpoint is the result of the last training. An Optimizer that resumes from it
// continues as if it had done all earlier trainings itself.
type Checkpoint struct {
	Measurements int               `json:"measurements"`    // number of measurements trained on
	Kernel       kernel.Expression `json:"kernel,omitzero"` // the fields of Trained
	ChosenAt     int               `json:"chosen_at,omitempty"`
	Settings     string            `json:"settings,omitempty"`
	State        gp.State          `json:"state"`
}

// Checkpoint returns the last training, and false before the first.
func (o *Optimizer) Checkpoint() (Checkpoint, bool) {
	if o.last == nil {
		return Checkpoint{}, false
	}
	return Checkpoint{o.trainedAt, o.last.Kernel, o.last.ChosenAt, o.last.Settings, o.last.Model.State()}, true
}

// Resume makes a new Optimizer continue from a checkpoint; it must have been told
// at least the measurements of the checkpoint. Without Resume all past trainings
// are repeated. With the default schedule and no drift that is at most five times
// the work of the last training, if the work grows at least linearly with the
// number of measurements.
func (o *Optimizer) Resume(ctx context.Context, c Checkpoint) error {
	if o.taken > 0 || c.Measurements < 1 || c.Measurements > o.data.Len() {
		return fmt.Errorf("%w: resuming at %d of %d measurements, with %d in the model already", ErrOptions, c.Measurements, o.data.Len(),
			o.taken)
	}
	m, err := o.trainer.Restore(ctx, c)
	if err != nil {
		return fmt.Errorf("resuming: %w", err)
	}
	if err := o.adopt(ctx, &Trained{m, c.Kernel, c.ChosenAt, c.Settings}, c.Measurements); err != nil {
		return fmt.Errorf("resuming: %w", err)
	}
	o.taken = c.Measurements
	return nil
}
