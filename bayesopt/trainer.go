package bayesopt

import (
	"context"
	"fmt"
	"math"

	"grfgp/gp"
	"grfgp/kernel"
)

// Trainer learns hyperparameters from measurements. What it returns depends on
// its arguments alone.
type Trainer interface {
	Nodes() int
	// Fit learns from d. last is what it returned before, a good place to start
	// from; nil the first time. An error that wraps gp.ErrData says that d is too
	// little, and that more may help.
	Fit(ctx context.Context, d gp.Data, last *Trained) (*Trained, error)
	// Restore makes a model again from the kernel and the state of one that Fit
	// returned.
	Restore(ctx context.Context, kernel string, s gp.State) (*gp.Model, error)
}

// Trained is a model, and which of the trainer's kernels it has, in the words of
// the trainer.
type Trained struct {
	Model  *gp.Model
	Kernel string
}

// Train returns the trainer of one kernel. Each training starts from the
// likeliest of the last optimum and opts.Starts.
func Train(k kernel.Kernel, opts gp.FitOptions) Trainer { return oneKernel{k, opts} }

type oneKernel struct {
	kernel kernel.Kernel
	opts   gp.FitOptions
}

func (o oneKernel) Nodes() int { return o.kernel.Nodes() }

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

func (o oneKernel) Restore(_ context.Context, _ string, s gp.State) (*gp.Model, error) {
	return gp.NewModel(o.kernel, s)
}

// Schedule says when hyperparameters are learned anew. The zero value trains
// when measurements have grown by a quarter and when predictions drift.
//
// Drift is how many nats per measurement the log score of what was measured
// since the last training lies from what the model then expected of itself: with
// z the distance of a value from its prediction by all values before, in standard
// deviations, noise included, the mean of (z² − 1)/2. It is 0 on average if the
// model is right, and positive if predictions are too sure. It counts when it is
// above Drift, either way, and three standard errors, 3·√(1/2m) for m ≥ 10
// measurements. Only the exact solver has it: by iteration, variances cost too
// much.
type Schedule struct {
	First  int     // measurements before the first training; 0 means 5
	Growth float64 // of measurements since the last training, as a share; 0 means 0.25, or none if Every is set
	Every  int     // so many measurements since the last training; 0: by Growth
	Drift  float64 // 0 means 0.25; negative: never
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

// due reports whether to train at so many measurements, with the last training
// at so many.
func (s Schedule) due(now, last int) bool {
	switch {
	case last == 0:
		return now >= s.First
	case s.Every > 0 && now >= last+s.Every:
		return true
	}
	return s.Growth > 0 && float64(now) >= float64(last)*(1+s.Growth)
}

// drifted reports whether measurements since the last training came out too far
// from their predictions, or too near: z are their innovations.
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
