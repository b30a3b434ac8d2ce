package grfgp

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"grfgp/gp"
	"grfgp/internal/parallel"
	"grfgp/progress"
)

// kind returns Values, of a Spec that has passed Check.
func (s Spec) kind() (v gp.Values) {
	if s.Values != "" && v.UnmarshalText([]byte(s.Values)) != nil {
		panic("values " + s.Values) // Check has accepted them
	}
	return v
}

// About describes what is measured, of a Spec that has passed Check.
func (s Spec) About() gp.About { return s.kind().About() }

// transform returns Transform, of a Spec that has passed Check.
func (s Spec) transform() (t gp.Transform) {
	if s.Transform != "" && t.UnmarshalText([]byte(s.Transform)) != nil {
		panic("transform " + s.Transform)
	}
	return t
}

// plain reports whether values are Gaussian and modelled as they are.
func (s Spec) plain() bool { return s.kind() == gp.Gaussian && s.transform() == gp.NoTransform }

// checkValues returns an error if Values, Transform, Mean and NoiseSD do not go
// together.
func (s Spec) checkValues() error {
	switch {
	case s.Values != "" && !slices.Contains(gp.ValuesNames(), s.Values):
		return fmt.Errorf("%w: no kind of values is called %q; there are %s", ErrSpec, s.Values, strings.Join(gp.ValuesNames(), ", "))
	case s.Transform != "" && !slices.Contains(gp.TransformNames(), s.Transform):
		return fmt.Errorf("%w: no transform is called %q; there are %s", ErrSpec, s.Transform, strings.Join(gp.TransformNames(), ", "))
	}
	v, t := s.kind(), s.transform()
	own := v.About().Latent() // a scale of their own, and no noise
	switch {
	case own && t != gp.NoTransform:
		return fmt.Errorf("%w: values of kind %s are modelled on a scale of their own; leave out the transform %s", ErrSpec, v, t)
	case own && s.NoiseSD != nil:
		return fmt.Errorf("%w: values of kind %s have no noise of their own; leave out its standard deviation", ErrSpec, v)
	case s.Mean == nil:
		return nil
	}
	if !finite(s.latent(*s.Mean)) {
		return fmt.Errorf("%w: mean %v: values of kind %s with the transform %s cannot have it; give it on the scale of the values: a rate "+
			"above 0, or a probability between 0 and 1", ErrSpec, *s.Mean, v, t)
	}
	return nil
}

// CheckData returns an error, which wraps gp.ErrData, unless a model of the Spec, which
// must be valid, can be fitted to the measurements, at nodes or places of a graph of so many nodes.
func (s Spec) CheckData(nodes int, d gp.Data) error {
	if err := s.Check(); err != nil {
		return err
	}
	_, err := s.ownData(nodes*s.periods(), d)
	return err
}

// ownData returns the measurements as the model is fitted to them: checked, sorted, on
// the scale of the transform, and pooled where that loses nothing. Neither the cost nor
// the choice of a kernel then depends on the order of rows, or on whether repeated
// measurements are given one by one or as their mean.
func (s Spec) ownData(nodes int, d gp.Data) (gp.Data, error) {
	if err := d.CheckValues(nodes, s.kind()); err != nil {
		return gp.Data{}, err
	}
	d, err := d.Transformed(s.transform())
	if err != nil {
		return gp.Data{}, err
	}
	return d.Select(rowOrder(d)).PoolAs(s.kind()), nil
}

// Interval returns the central credible interval of the quantity at each node, at a
// level such as 0.95.
func (p Prediction) Interval(level float64) (lower, upper []float64) {
	lower, upper = make([]float64, len(p.Mean)), make([]float64, len(p.Mean))
	p.each(func(k int, r gp.Response) { lower[k], upper[k] = r.Interval(level) })
	return lower, upper
}

// Above returns the probability that the quantity is above a threshold at each node.
func (p Prediction) Above(threshold float64) []float64 {
	all := make([]float64, len(p.Mean))
	p.each(func(k int, r gp.Response) { all[k] = r.Above(threshold) })
	return all
}

// ReadingInterval returns the central interval of a reading, one new measurement with its
// noise, at each node. The exposure matters for counts, of which it is the expected number
// or the time at risk, and for shares, of which it is the number of trials; the reading is
// then a number of events or of positives.
func (p Prediction) ReadingInterval(level, exposure float64) (lower, upper []float64) {
	lower, upper = make([]float64, len(p.Mean)), make([]float64, len(p.Mean))
	p.each(func(k int, r gp.Response) { lower[k], upper[k] = r.Measurement(exposure).Interval(level) })
	return lower, upper
}

// Select returns the prediction at some of the nodes, by their places in the list that
// was given to Predict.
func (p Prediction) Select(places []int) Prediction {
	pick := func(all []float64) []float64 {
		if all == nil {
			return nil
		}
		some := make([]float64, len(places))
		for k, a := range places {
			some[k] = all[a]
		}
		return some
	}
	return Prediction{Mean: pick(p.Mean), SD: pick(p.SD), latent: pick(p.latent), latentSD: pick(p.latentSD), response: p.response}
}

// At returns the distribution of the quantity at node k of the prediction.
func (p Prediction) At(k int) gp.Response {
	if p.latent == nil {
		return p.response.At(p.Mean[k], p.SD[k])
	}
	return p.response.At(p.latent[k], p.latentSD[k])
}

// each calls do for every node, at several at once.
func (p Prediction) each(do func(k int, r gp.Response)) {
	parallel.Ranges(len(p.Mean), 256, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			do(k, p.At(k))
		}
	})
}

// predict returns the prediction of a posterior on the scale that people read.
func (s Spec) predict(ctx context.Context, p *gp.Posterior, of Share, w *progress.Work) (Prediction, error) {
	w.Part(1, 20)
	lo, hi := of.Range()
	mean, err := p.MeanPart(ctx, of.nodes, lo, hi)
	if err != nil {
		return Prediction{}, err
	}
	sd, err := p.VariancePart(ctx, of.nodes, lo, hi, w.Part(1, 0))
	if err != nil {
		return Prediction{}, err
	}
	for k, v := range sd {
		sd[k] = math.Sqrt(v)
	}
	out := Prediction{Mean: mean, SD: sd, response: p.Response(0, 0).Under(s.transform())}
	if !s.kind().About().Latent() && s.transform() == gp.NoTransform {
		return out, nil
	}
	out.latent, out.latentSD = mean, sd
	out.Mean, out.SD = make([]float64, len(mean)), make([]float64, len(mean))
	out.each(func(k int, r gp.Response) { out.Mean[k], out.SD[k] = r.Mean(), r.SD() })
	return out, nil
}

// readable takes a number on the scale of the model to the scale that people read.
func (s Spec) readable(f float64) float64 { return s.transform().Inverse(s.kind().Inverse(f)) }

// latent takes a number on the scale that people read to the scale of the model.
func (s Spec) latent(x float64) float64 { return s.kind().Link(s.transform().Forward(x)) }

func finite(x float64) bool { return math.Abs(x) <= math.MaxFloat64 }
