package bayesopt

import (
	"context"
	"fmt"
	"math"

	"grfgp/gp"
	"grfgp/kernel"
	"grfgp/progress"
)

// Trainer fits models to measurements. Results depend only on the arguments. Train
// returns a Trainer for one kernel.
type Trainer interface {
	// Nodes returns the number of nodes.
	Nodes() int
	// Fit fits a model to d. last is its previous result, to start from; nil the
	// first time. An error that wraps gp.ErrData means that d does not determine a
	// model, but that more measurements may.
	Fit(ctx context.Context, d gp.Data, last *Trained) (*Trained, error)
	// Restore rebuilds a model of Fit from its kernel and state.
	Restore(ctx context.Context, c Checkpoint) (*gp.Model, error)
}

// Judge is a Trainer that knows what is measured. An Optimizer refuses measurements
// for which CheckData returns an error.
type Judge interface {
	CheckData(d gp.Data) error
}

// Reporter is a Trainer whose Fit can tell how far it is.
type Reporter interface {
	FitProgress(ctx context.Context, d gp.Data, last *Trained, w *progress.Work) (*Trained, error)
}

// Trained is a fitted model, with what Trainer.Restore and the next training need to know of its kernel.
type Trained struct {
	Model    *gp.Model
	Kernel   kernel.Expression // zero: the only one of the Trainer
	ChosenAt int               // measurements by which the kernel was chosen
	Settings string            // of the Trainer, if models differ by others than their kernel
}

// Train returns the Trainer of one kernel. Each training starts from the last
// optimum or one of opts.Starts, whichever has the highest likelihood.
func Train(k kernel.Kernel, opts gp.FitOptions) Trainer { return oneKernel{k, opts} }

type oneKernel struct {
	kernel kernel.Kernel
	opts   gp.FitOptions
}

func (o oneKernel) Nodes() int { return o.kernel.Nodes() }

func (o oneKernel) CheckData(d gp.Data) error {
	return d.CheckValues(o.kernel.Nodes(), o.opts.Values)
}

func (o oneKernel) Fit(ctx context.Context, d gp.Data, last *Trained) (*Trained, error) {
	opts := o.opts
	if last != nil && !opts.Fixed {
		opts.Starts = append([][]float64{last.Model.Theta()}, opts.Starts...)
	}
	m, _, err := gp.Fit(ctx, o.kernel, d, opts)
	if err != nil {
		return nil, err
	}
	return &Trained{Model: m}, nil
}

func (o oneKernel) Restore(_ context.Context, c Checkpoint) (*gp.Model, error) {
	return gp.NewModel(o.kernel, c.State)
}

// Schedule says when an Optimizer trains, that is, fits its hyperparameters
// again. The zero value trains when the number of measurements has grown by a
// quarter, and when predictions drift.
//
// Drift is the difference, in nats per measurement, between the expected and the
// observed log score since the last training: the mean of (z² − 1)/2, where z is
// the error of the prediction of a measurement by all earlier ones, in standard
// deviations, noise included. Its expectation is 0 if the model is right; it is
// positive if intervals are too narrow. It triggers a training if its absolute
// value over m ≥ 10 measurements exceeds both the field Drift and three standard
// errors, 3·√(1/2m). It is computed only with the exact solver, because variances
// by the iterative solver are too expensive.
type Schedule struct {
	First  int     // measurements before the first training; 0 means 5
	Growth float64 // relative growth of the number of measurements that triggers a training; 0 means 0.25, or never if Every is set
	Every  int     // number of new measurements that triggers a training; 0: by Growth
	Drift  float64 // least drift that triggers a training; 0 means 0.25; negative: never
}

const driftLeast = 10 // measurements

func (s Schedule) check() (Schedule, error) {
	if s.First < 0 || s.Every < 0 || !(s.Growth >= 0) || math.IsInf(s.Growth, 0) || math.IsNaN(s.Drift) {
		return s, fmt.Errorf("%w: a schedule of %+v", ErrOptions, s)
	}
	if s.First == 0 {
		s.First = 5
	}
	if s.Growth == 0 && s.Every == 0 {
		s.Growth = 0.25
	}
	if s.Drift == 0 {
		s.Drift = 0.25
	}
	return s, nil
}

// due reports whether to train at now measurements, after the last training at
// last.
func (s Schedule) due(now, last int) bool {
	switch {
	case last == 0:
		return now >= s.First
	case s.Every > 0 && now >= last+s.Every:
		return true
	}
	return s.Growth > 0 && float64(now) >= float64(last)*(1+s.Growth)
}

// drifted reports whether the innovations z since the last training are too large
// or too small.
func (s Schedule) drifted(z []float64) bool {
	if s.Drift < 0 || len(z) < driftLeast {
		return false
	}
	m, sum := float64(len(z)), 0.0
	for _, v := range z {
		sum += (v*v - 1) / 2
	}
	return math.Abs(sum/m) > max(s.Drift, 3*math.Sqrt(1/(2*m)))
}
