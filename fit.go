package grfgp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/plural"
	"grfgp/kernel"
	"grfgp/progress"
)

// Model is a Gaussian process on a graph, fitted to measurements and conditioned
// on them. It is immutable and safe for concurrent use.
type Model struct {
	of        *Trainer
	spec      Spec // with the choices filled in
	choice    Choice
	data      gp.Data // as given
	fitted    *gp.Model
	noiseSD   float64
	posterior *gp.Posterior
	learned   int // number of measurements that the hyperparameters were learned from
}

// Choice is the kernel that a fit has chosen, with the reasons. Method, Scales,
// Variance, Trend, Hops and Terms have the values of the same fields of Spec.
type Choice struct {
	Family     string        `json:"family"` // in words
	Method     string        `json:"method"`
	Scales     string        `json:"scales"`
	Variance   string        `json:"variance,omitempty"`
	Trend      string        `json:"trend,omitempty"`
	Hops       int           `json:"hops,omitempty"`
	Terms      []string      `json:"terms,omitempty"`    // of the kernel, as in Spec.Terms
	Why        []string      `json:"why"`                // the reasons, one sentence each
	Cautions   []string      `json:"cautions,omitempty"` // those of Why that limit the trust in predictions, or tell of a failure
	Device     string        `json:"device,omitempty"`   // graphics card that computed some of it; empty: the processor did
	Fit        gp.FitReport  `json:"fit"`
	Candidates []TriedKernel `json:"candidates"` // all kernels that were compared
}

// TriedKernel is one of the kernels that a fit has compared.
type TriedKernel struct {
	Family        string  `json:"family"`         // the kernel in words
	LogLikelihood float64 `json:"log_likelihood"` // log marginal likelihood of the standardised measurements
	LOOScore      float64 `json:"loo_score"`      // mean leave-one-out log density
}

// Choice returns the chosen kernel, with reasons, and what was computed where so far, if
// there is a choice of devices. Its lists must not be changed.
func (m *Model) Choice() Choice {
	c := m.choice
	c.Device = told(m.fitted.Card(), &c.Why, &c.Cautions)
	return c
}

// NoiseSD returns the standard deviation of the noise of one measurement, on the scale
// of Spec.Transform, with the uncertainty of a learned noise. If the measurements have noise variances of their own, it is the
// square root of their mean. Of Student values it is the scale of the noise, and 0 of
// counts, shares and yes-no values, whose noise follows from rate or probability.
func (m *Model) NoiseSD() float64 { return m.noiseSD }

// Spec returns the Spec with the choices filled in.
func (m *Model) Spec() Spec { return m.spec.clone() }

// Data returns a copy of the measurements that the model is conditioned on.
func (m *Model) Data() gp.Data { return m.data.Clone() }

// LearnedFrom returns the number of measurements, counting repeats, that the
// hyperparameters were learned from. After Condition it may differ from that of Data.
func (m *Model) LearnedFrom() int { return m.learned }

// Fit chooses a kernel within the limits of spec, learns its hyperparameters and
// conditions on the measurements. The graph should be in locality order, as the
// readers of package graphio return it (see [graph.Graph.Ordered]): computations on
// large graphs are then faster.
func Fit(ctx context.Context, g *graph.Graph, d gp.Data, spec Spec) (*Model, error) {
	t, err := NewTrainer(g, spec)
	if err != nil {
		return nil, err
	}
	return t.Fit(ctx, d)
}

// Fit is the function Fit for the Trainer's graph and Spec.
func (t *Trainer) Fit(ctx context.Context, d gp.Data) (*Model, error) {
	return t.FitProgress(ctx, d, nil)
}

// FitProgress is Fit that tells w how far it is.
func (t *Trainer) FitProgress(ctx context.Context, d gp.Data, w *progress.Work) (*Model, error) {
	own, err := t.spec.ownData(t.places(), d)
	if err != nil {
		return nil, err
	}
	card, err := t.card()
	if err != nil {
		return nil, err
	}
	first, then, last := t.fitCosts(own.Len())
	m, err := t.train(ctx, own, card, w.Part(first, then+last))
	if err != nil {
		return nil, err
	}
	return m, t.finish(ctx, m, d, own, w, then, last)
}

// Refit fits the kernel of m to other measurements on the same graph: its hyperparameters are
// learned again, starting from those of m, and no other kernel is tried. That takes a
// fraction of the time of Fit; cross-validation refits the model of all measurements to each fold.
func (m *Model) Refit(ctx context.Context, d gp.Data, w *progress.Work) (*Model, error) {
	t := m.of
	own, err := t.spec.ownData(t.places(), d)
	if err != nil {
		return nil, err
	}
	card, err := t.card()
	if err != nil {
		return nil, err
	}
	_, then, last := t.fitCosts(own.Len())
	learn := w.Part(t.finalCost(own.Len()), then+last)
	learn.Step("fitting " + m.spec.Name())
	other := &Model{of: t, spec: m.spec, choice: m.choice}
	other.choice.Why = slices.Clone(m.choice.Why)
	bounds := gp.FitOptions{From: m.fitted, MaxIter: t.limits.Iterations(own.Len()), Tol: finalTol, Epochs: refitEpochs, ColdStart: true,
		Device: card, Progress: learn}
	if other.fitted, other.choice.Fit, err = t.retrain(ctx, own, m.spec.Expression, m.fitted.Hyperparameters(), bounds); err != nil {
		return nil, err
	}
	return other, t.finish(ctx, other, d, own, w, then, last)
}

// refitEpochs are the steps of Adam of an iterative Refit, which starts near its end.
const refitEpochs = 12

// finish adds the uncertainty of hyperparameters to a trained model and conditions it on the
// measurements d, own on the model's scale. The costs are those of the two steps.
func (t *Trainer) finish(ctx context.Context, m *Model, d, own gp.Data, w *progress.Work, then, last float64) (err error) {
	beside := w.Part(then, last)
	beside.Step("computing the uncertainty of hyperparameters")
	if err := t.addAlternatives(ctx, m, own, beside); err != nil {
		return err
	}
	w.Part(1, 0).Step("conditioning on the measurements")
	m.data, m.noiseSD, m.learned = d.Clone(), m.fitted.NoiseSD(), d.Measurements()
	if m.posterior, err = m.fitted.Condition(ctx, own); err != nil {
		return err
	}
	if d.NoiseVar != nil {
		m.noiseSD = math.Sqrt(m.posterior.NoiseVar())
	}
	w.Done()
	return nil
}

// addAlternatives gives the model the uncertainty of its hyperparameters, if they are few
// enough for the measurements, and says so.
func (t *Trainer) addAlternatives(ctx context.Context, m *Model, own gp.Data, w *progress.Work) error {
	opts, err := t.fitOptions()
	opts.Device, opts.Progress = m.fitted.Card(), w
	if err != nil {
		return err
	}
	if m.fitted, err = m.fitted.WithAlternatives(ctx, own, opts); err != nil {
		return err
	}
	why := "intervals take hyperparameters as known"
	if n := len(m.fitted.State().Alternatives) / 2; n > 0 {
		why = "intervals include the uncertainty of " + plural.Count(n, "hyperparameters")
	}
	m.choice.Why = append(m.choice.Why, why)
	return nil
}

// retrain learns the hyperparameters of a chosen kernel, starting from theta, with
// From, MaxIter, Tol, Epochs, ColdStart and Device of the bounds, and tells bounds.Progress.
func (t *Trainer) retrain(ctx context.Context, own gp.Data, e Expression, theta kernel.Theta, bounds gp.FitOptions) (*gp.Model,
	gp.FitReport, error) {
	k, err := t.chosenKernel(ctx, e)
	if err != nil {
		return nil, gp.FitReport{}, err
	}
	opts, err := t.fitOptions()
	if err != nil {
		return nil, gp.FitReport{}, err
	}
	opts.Starts, opts.From, opts.MaxIter, opts.Tol, opts.Progress = [][]float64{kernel.Begin(k.Params(), theta)},
		bounds.From, bounds.MaxIter, bounds.Tol,
		bounds.Progress
	opts.Epochs, opts.ColdStart, opts.Device = bounds.Epochs, bounds.ColdStart, bounds.Device
	if t.when.Times != nil {
		return t.retrainOverTime(ctx, k, own, opts)
	}
	return gp.Fit(ctx, k, own, opts)
}

// fitOptions returns the options of gp.Fit that the Spec implies, without a device.
func (t *Trainer) fitOptions() (gp.FitOptions, error) {
	opts := gp.FitOptions{Values: t.spec.kind(), Mean: t.spec.Mean, NoiseSD: t.spec.NoiseSD, Seed: t.spec.Seed, Ranks: t.together.Ranks,
		Checkpoints: t.together.Checkpoints, Limits: t.limits}
	if by := t.spec.transform(); by != gp.NoTransform && opts.Mean != nil {
		mean := by.Forward(*opts.Mean)
		opts.Mean = &mean
	}
	return opts, opts.Solver.UnmarshalText([]byte(cmp.Or(t.spec.Solver, "auto")))
}

// solved says which solver was used and why.
func solved(r gp.FitReport, measurements int) string {
	if r.Factored {
		return fmt.Sprintf("exact: %d measurements in a table of nodes and periods", measurements)
	}
	if r.Solver == gp.Exact {
		return fmt.Sprintf("exact solver: %d measurements", measurements)
	}
	return fmt.Sprintf("iterative solver: %d measurements, residual %.1g during training", measurements, r.Residual)
}

// Sorted returns the measurements sorted by node, then by value, noise and exposure. An
// Optimizer that is told sorted measurements makes the same suggestions whatever the
// order of the rows in the file. Invalid data is returned unchanged.
func Sorted(d gp.Data) gp.Data {
	if d.Check(math.MaxInt) != nil {
		return d
	}
	return d.Select(rowOrder(d))
}

// rowOrder returns the rows sorted by node, then by value, noise and exposure.
func rowOrder(d gp.Data) []int {
	order := make([]int, d.Len())
	for r := range order {
		order[r] = r
	}
	slices.SortStableFunc(order, func(a, b int) int {
		c := cmp.Or(cmp.Compare(d.Nodes[a], d.Nodes[b]), cmp.Compare(d.Y[a], d.Y[b]))
		if c == 0 && d.NoiseVar != nil {
			c = cmp.Compare(d.NoiseVar[a], d.NoiseVar[b])
		}
		if c == 0 && d.Count != nil {
			c = cmp.Compare(d.Count[a], d.Count[b])
		}
		if c == 0 && d.Scatter != nil {
			c = cmp.Compare(d.Scatter[a], d.Scatter[b])
		}
		if c == 0 && d.Exposure != nil {
			c = cmp.Compare(d.Exposure[a], d.Exposure[b])
		}
		return c
	})
	return order
}

// ErrNode is wrapped by errors about nodes that the graph does not have.
var ErrNode = errors.New("no such node")

// places returns the number of places.
func (b *workshop) places() int { return b.when.Places() }

// check returns an error, which wraps ErrNode, unless the graph has all the nodes, or
// the model all the places.
func (b *workshop) check(nodes []int) error {
	places := b.places()
	for _, i := range nodes {
		switch {
		case i >= 0 && i < places:
		case b.when.Times != nil:
			return fmt.Errorf("%w: place %d, with %d nodes and %d periods", ErrNode, i, b.graph.Len(), len(b.when.Times))
		default:
			return fmt.Errorf("%w: %d in a graph of %d nodes", ErrNode, i, b.graph.Len())
		}
	}
	return nil
}

// Prediction is the posterior mean and standard deviation at some nodes, of the
// quantity on the scale that people read: the value, if need be taken back from the
// scale of Spec.Transform; the rate of counts per unit of exposure, which is a relative
// risk if exposures are expected counts; the probability behind shares and yes-no values.
// Intervals of rates, probabilities and transformed values are not symmetric: use Interval.
type Prediction struct {
	Mean []float64
	// of the quantity itself; a new Gaussian measurement has the noise variance in addition, the mean of n measurements 1/n of it
	SD []float64

	latent, latentSD []float64   // on the scale of the model; nil: Mean and SD
	response         gp.Response // of which At sets mean and sd
}

// SDError returns the relative standard error of the standard deviations that Predict
// returns for this number of nodes: 0 if they are exact, about 0.04 if they are
// estimated from posterior draws because exact ones would take too long.
func (m *Model) SDError(nodes int) float64 {
	return m.posterior.SDError(nodes)
}

// Predict returns the posterior distribution of the quantity at the nodes, or at the
// places if the model has times. The error wraps ErrNode if the graph has no such node.
func (m *Model) Predict(ctx context.Context, nodes []int) (Prediction, error) {
	return m.PredictProgress(ctx, nodes, nil)
}

// PredictProgress is Predict that tells w how far it is.
func (m *Model) PredictProgress(ctx context.Context, nodes []int, w *progress.Work) (Prediction, error) {
	return m.PredictShare(ctx, NewShare(nil, nodes), w)
}

// Sample returns posterior draws of the quantity at the nodes, one column per draw, on
// the scale of Predict. Draw s depends on the seed, not on the number of draws. An empty node list or zero
// draws gives an empty matrix.
func (m *Model) Sample(ctx context.Context, nodes []int, draws int, seed uint64) (*mat.Dense, error) {
	if err := m.of.check(nodes); err != nil {
		return nil, err
	}
	all, err := m.posterior.Sample(ctx, nodes, draws, seed)
	if err == nil && !m.spec.plain() && len(nodes)*draws > 0 {
		all.Apply(func(_, _ int, f float64) float64 { return m.spec.readable(f) }, all)
	}
	return all, err
}
