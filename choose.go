package grfgp

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"grfgp/gp"
	"grfgp/kernel"
)

// candidate is a kernel that the Spec leaves open.
type candidate struct {
	family
	many  bool // scales
	trend bool // with the degree
	hops  int  // of the finest scale
}

func (c candidate) String() string {
	s := c.name
	if c.many {
		s += ", many scales"
	}
	if c.trend {
		s += ", trend"
	}
	return s
}

// starts are length scales from two to a hundred hops, to be tried by likelihood;
// nil leaves it to the kernel.
func (c candidate) starts() [][]float64 {
	if c.spectrum == nil || c.many || c.family.family == "power" {
		return nil
	}
	var all [][]float64
	for _, scale := range []float64{2, 8, 32, 128} {
		if _, ok := c.modulation.(kernel.Matern); ok {
			scale /= 2
		}
		start := []float64{1, scale}
		if c.trend {
			start = append(start, 1)
		}
		all = append(all, start)
	}
	return all
}

// attempt is a candidate and its fit.
type attempt struct {
	candidate
	model  *gp.Model
	report gp.FitReport
}

// worth is what kernels are compared by: the likelihood, less one nat for every
// hyperparameter that was free to raise it (Akaike).
func (a attempt) worth() float64 { return a.report.LogLikelihood - float64(len(a.report.Theta)) }

func likeliest(tried []attempt) attempt {
	return slices.MaxFunc(tried, func(a, b attempt) int { return cmp.Compare(a.worth(), b.worth()) })
}

// sketchFrom is the number of measurements from which candidates are compared by
// a sample of them.
const sketchFrom = 1500

// trained is a model, and the choices behind it.
type trained struct {
	model  *gp.Model
	spec   Spec // with the choices filled in
	choice Choice
}

// train tries the kernels that the Spec leaves and keeps the likeliest.
func (w *workshop) train(ctx context.Context, own gp.Data) (*trained, error) {
	method, hops, why := w.decide(own.Len())
	scales, whyScales, err := w.decideScales(own.Nodes, method, hops)
	if err != nil {
		return nil, err
	}
	trend, tryTrend, whyTrend, err := w.decideTrend(method)
	if err != nil {
		return nil, err
	}
	opts, err := w.fitOptions()
	if err != nil {
		return nil, err
	}
	families := w.spec.families(hops)
	opts.Sketch = (len(families)*len(scales) > 1 || tryTrend) && own.Len() > sketchFrom

	var tried []attempt
	try := func(c candidate, starts [][]float64) error {
		k, err := w.kernel(ctx, c, method)
		if err != nil {
			return err
		}
		opts.Starts = starts
		fitted, report, err := gp.Fit(ctx, k, own, opts)
		tried = append(tried, attempt{c, fitted, report})
		return err
	}
	for _, f := range families {
		for _, many := range scales {
			c := candidate{f, many, trend, w.fineHops(many, method, hops)}
			if err := try(c, c.starts()); err != nil {
				return nil, err
			}
		}
	}
	if tryTrend { // on top of the best on one scale, and of the best on many
		for _, many := range scales {
			below := likeliest(slices.DeleteFunc(slices.Clone(tried), func(a attempt) bool { return a.many != many || a.trend }))
			c, theta := below.candidate, below.model.Theta()
			c.trend = true
			if err := try(c, [][]float64{append(theta, 1), append(slices.Clone(theta), 0.01)}); err != nil {
				return nil, err
			}
		}
	}

	best := likeliest(tried)
	if (method == "series" || method == "dense") && !opts.Sketch {
		if best, err = w.proven(ctx, own, tried); err != nil {
			return nil, err
		}
	}
	whyBest := reason(best, tried, opts.Sketch)
	t := &trained{best.model, w.spec, Choice{Method: method, Hops: hops, Why: append(why, whyScales, whyTrend), Fit: best.report}}
	t.choose(best.candidate, tried, whyBest)
	w.forget(best.candidate)
	if opts.Sketch {
		if t.model, t.choice.Fit, err = w.retrain(ctx, own, t.spec, t.model.Theta()); err != nil {
			return nil, err
		}
	}
	short, err := w.shortfall(best.candidate, method, t.model.Theta())
	t.choice.Why = append(append(t.choice.Why, short...), solved(t.choice.Fit, own.Len()))
	return t, err
}

// reason says why the best of several is that.
func reason(best attempt, tried []attempt, sketch bool) string {
	by := ""
	if sketch {
		by = ", by a sample of the measurements"
	}
	if first := likeliest(tried); first.candidate != best.candidate {
		return fmt.Sprintf("%v has the highest likelihood of the kernels tried on one scale; %v is likelier, but hardly better from as far as other nodes lie from data", best, first)
	}
	return fmt.Sprintf("%v has the highest likelihood of the %d kernels tried%s, less one nat for every hyperparameter", best, len(tried), by)
}

// choose fills in what was chosen, and why.
func (t *trained) choose(c candidate, tried []attempt, why string) {
	t.choice.Family, t.choice.Scales, t.choice.Trend, t.choice.Hops = c.name, "one", "none", c.hops
	if c.many {
		t.choice.Scales = "many"
	}
	if c.trend {
		t.choice.Trend = "degree"
	}
	t.spec.Family, t.spec.Nu, t.spec.Scales, t.spec.Trend = c.family.family, c.nu, t.choice.Scales, t.choice.Trend
	t.spec.Method, t.spec.Hops, t.spec.Laplacian = t.choice.Method, c.hops, c.laplacian
	for _, a := range tried {
		t.choice.Candidates = append(t.choice.Candidates, Candidate{a.String(), a.report.LogLikelihood, a.report.LOOScore})
	}
	if len(tried) > 1 {
		t.choice.Why = append(t.choice.Why, why)
	}
}
