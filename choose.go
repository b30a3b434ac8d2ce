package grfgp

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"grfgp/gp"
	"grfgp/kernel"
	"grfgp/progress"
)

// candidate is one of the kernels that the Spec leaves open.
type candidate struct {
	family
	many  bool // many scales
	unit  bool // the same variance at every node
	trend bool // a linear trend in the log degree
	hops  int  // longest walk on the finest scale
	terms terms
	pairs int // of Fourier features; 0: exact
}

func (c candidate) String() string {
	s := c.name
	if c.unit {
		s += ", unit variance"
	}
	if c.many {
		s += ", many scales"
	}
	if c.trend {
		s += ", trend"
	}
	switch {
	case c.terms&knownTerms == 0:
		return s
	case !c.terms.has(graphTerm):
		return c.terms.String()
	}
	return s + " + " + (c.terms &^ graphTerm).String()
}

// starts returns hyperparameters to start learning from: length scales from two
// to a hundred hops, of which the likeliest is taken. Nil means the start values
// of the kernel.
func (c candidate) starts() [][]float64 {
	if c.many {
		return nil
	}
	var all [][]float64
	for _, start := range c.Starts {
		start = slices.Clone(start)
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
	model   *gp.Model
	report  gp.FitReport
	unusual bool
	values  int // measurements that it was fitted to
}

// unusualOdds is the gain in log marginal likelihood, in nats, that an unusual
// kernel needs: prior odds of twenty to one against it. Measurements may not
// distinguish it from a usual kernel. If every other node of a ring is measured, a
// kernel under which neighbours differ and one under which they are alike are
// equally likely, but their predictions at the unmeasured nodes are opposite.
const unusualOdds = 3

// worth is the criterion by which kernels are compared: the log marginal
// likelihood, less one nat per learned hyperparameter (Akaike), with the correction
// for few measurements (Hurvich and Tsai, 1989), less unusualOdds for unusual
// kernels. Free coefficients and terms over covariates have many hyperparameters.
func (a attempt) worth() float64 {
	p := len(a.report.Theta)
	v := a.report.LogLikelihood - float64(p) - float64(p*(p+1))/float64(max(1, a.values-p-1))
	if a.unusual {
		v -= unusualOdds
	}
	return v
}

func likeliest(tried []attempt) attempt {
	return slices.MaxFunc(tried, func(a, b attempt) int { return cmp.Compare(a.worth(), b.worth()) })
}

const (
	// sketchFrom is the number of measurements from which candidates are compared on
	// a sample of the measurements; the best is then fitted to all of them.
	sketchFrom   = 500
	sketchSample = 1000
	sketchTol    = 0.1 // nats that do not decide between kernels
	finalTol     = 0.03
)

// finalIters is the most iterations of the fit to all measurements, which starts from
// that to a sample: fewer for many measurements, because an iteration takes O(T³).
func finalIters(measurements int) int {
	const least, most, flops = 4, 40, 1.2e11
	t := float64(measurements)
	return max(least, min(most, int(flops/(t*t*t))))
}

// contest compares kernels on one set of measurements.
type contest struct {
	*Trainer
	own    gp.Data
	method string
	hops   int
	opts   gp.FitOptions
	tried  []attempt

	work        *progress.Work // of all fits
	left, after float64        // expected cost of the candidates to come, and of what follows
}

// train fits the kernels that the Spec leaves open and returns the best as a Model,
// which is not yet conditioned on the measurements.
func (t *Trainer) train(ctx context.Context, own gp.Data, card *gp.Card, work *progress.Work) (*Model, error) {
	work.Part(1, comparedCost+finalCost(own.Len())).Step("looking at the graph")
	method, hops, why := t.decide(t.distinct(own.Nodes), t.spec.Variance == "unit")
	scales, whyScales, err := t.decideScales(ctx, own.Nodes, method, hops)
	if err != nil {
		return nil, err
	}
	trend, tryTrend, whyTrend, err := t.decideTrend(method)
	if err != nil {
		return nil, err
	}
	known, whyKnown := t.offers(method)
	opts, err := t.fitOptions()
	if err != nil {
		return nil, err
	}
	opts.Device = card
	defer t.shareCaches(method)()
	c := &contest{Trainer: t, own: own, method: method, hops: hops, opts: opts, work: work}
	families := t.spec.families(hops)
	unit := t.spec.Variance == "unit"
	open := t.spec.Family == "" || c.opensUnit() && t.uneven()
	if (len(families)*len(scales) > 1 || tryTrend || open || known != 0) && own.Len() > sketchFrom {
		c.opts.Subsample, c.opts.Tol = sketchSample, sketchTol
		c.after = finalCost(own.Len())
	}
	c.left = c.expect(len(families), scales, tryTrend, known)
	for _, f := range families {
		k := candidate{f, scales[0], unit, trend, t.fineHops(scales[0], method, hops), graphTerm, 0}
		if err := c.try(ctx, k, k.starts()); err != nil {
			return nil, err
		}
	}
	if err := c.tryKnown(ctx, known, method == "grf" && len(scales) > 1); err != nil {
		return nil, err
	}
	if c.opts.Subsample > 0 && c.decided() { // with few measurements, trying the others takes little time
		whyScales, whyTrend = "covariates or roles gain so much that other kernels of the graph alone were not tried", ""
	} else if err := c.tryMore(ctx, scales, tryTrend); err != nil {
		return nil, err
	}
	best := likeliest(c.tried)
	if t.spec.Terms != nil {
		best = likeliest(slices.DeleteFunc(slices.Clone(c.tried), func(a attempt) bool { return a.terms != termsOf(t.spec.Terms) }))
	}
	sketch := c.opts.Subsample > 0
	if (method == "series" || method == "dense") && own.Len() <= exactMost && t.spec.Terms == nil && best.terms == graphTerm {
		if best, err = t.confirm(ctx, own, c.tried); err != nil {
			return nil, err
		}
	}
	whyBest := reason(best, c.tried, sketch)
	m := &Model{of: t, fitted: best.model, choice: Choice{
		Method: method, Why: append(append(why, t.whyTimes()...), whyScales, whyTrend, whyKnown), Fit: best.report}}
	m.choice.Why = slices.DeleteFunc(m.choice.Why, func(s string) bool { return s == "" })
	m.choose(best.candidate, c.tried, whyBest)
	t.forget(best.candidate)
	if sketch {
		last := work.Part(1, 0)
		last.Step("fitting " + best.String())
		if m.fitted, m.choice.Fit, err = t.retrain(ctx, own, m.spec, m.fitted.Theta(),
			gp.FitOptions{From: m.fitted, MaxIter: finalIters(own.Len()), Tol: finalTol, Device: card, Progress: last}); err != nil {
			return nil, err
		}
	}
	short, err := t.shortfall(best.candidate, method, m.fitted.Theta())
	m.choice.Why = append(append(m.choice.Why, short...), solved(m.choice.Fit, own.Len()))
	m.choice.Cautions = short
	return m, err
}

// fit fits one candidate.
func (c *contest) fit(ctx context.Context, k candidate, opts gp.FitOptions) (attempt, error) {
	opts.Progress = c.next(k)
	made, err := c.kernel(ctx, k, c.method)
	if err != nil {
		return attempt{}, err
	}
	opts.Starts = c.startsInTime(made, opts.Starts)
	opts.From = c.before(k, opts.Starts)
	for _, a := range c.tried { // many scales may gain little for a while, and much later, unless they begin as learned
		if ll := a.report.LogLikelihood; (!k.many || k.unit) && (opts.Rival == nil || ll > *opts.Rival) {
			opts.Rival = &ll
		}
	}
	fitted, report, err := gp.Fit(ctx, made, c.own, opts)
	return attempt{candidate: k, model: fitted, report: report, values: c.own.Len()}, err
}

// before returns the fit from which the climb of a candidate takes over the noise, and the curvature where it can: that of a part
// of it whose hyperparameters three quarters of a start are, else the likeliest; nil if there is none.
func (c *contest) before(k candidate, starts [][]float64) *gp.Model {
	if len(c.tried) == 0 {
		return nil
	}
	from, most := likeliest(c.tried).model, 0
	for _, a := range c.tried {
		if a.name != k.name || a.unit != k.unit { // hyperparameters mean something else
			continue
		}
		theta := a.model.Theta()
		for _, start := range starts {
			n := len(theta)
			if n > most && n <= len(start) && 4*(len(start)-n) <= len(start)+1 && slices.Equal(start[:n], theta) {
				from, most = a.model, n
			}
		}
	}
	return from
}

// try fits a candidate and adds it to tried.
func (c *contest) try(ctx context.Context, k candidate, starts [][]float64) error {
	return c.tryAs(ctx, k, starts, false)
}

func (c *contest) tryAs(ctx context.Context, k candidate, starts [][]float64, unusual bool) error {
	opts := c.opts
	opts.Starts = starts
	opts.Ordered = len(starts) > 0 && len(starts) == len(k.starts()) // by length, the shortest first
	a, err := c.fit(ctx, k, opts)
	a.unusual = unusual
	if err == nil {
		c.tried = append(c.tried, a)
	}
	return err
}

// best returns the best of the attempts with the graph alone that satisfy a condition.
func (c *contest) best(of func(a attempt) bool) attempt {
	return likeliest(slices.DeleteFunc(slices.Clone(c.tried), func(a attempt) bool { return a.terms != graphTerm || !of(a) }))
}

// knownGain is the gain, in nats per measurement, of covariates or roles from which
// further kernels of the graph alone are not tried: they hardly ever gain as much.
const knownGain = 0.05

// decided reports whether covariates or roles are far better than the graph alone.
func (c *contest) decided() bool {
	first := likeliest(c.tried)
	alone := c.best(func(attempt) bool { return true })
	n := c.own.Len()
	if c.opts.Subsample > 0 {
		n = min(n, c.opts.Subsample)
	}
	return first.terms != graphTerm && first.worth()-alone.worth() > knownGain*float64(n)
}

// tryMore tries the best kernel of the graph with many scales and with a trend, and
// unusual kernels.
func (c *contest) tryMore(ctx context.Context, scales []bool, tryTrend bool) error {
	if len(scales) > 1 {
		if err := c.tryMany(ctx, c.best(func(attempt) bool { return true })); err != nil {
			return err
		}
	}
	if tryTrend { // added to the best kernel with one scale, and to the best with many
		for _, many := range scales {
			below := c.best(func(a attempt) bool { return a.many == many && !a.trend })
			k, theta := below.candidate, c.inSpace(below.model.Theta())
			k.trend = true
			if err := c.try(ctx, k, [][]float64{append(theta, 1), append(slices.Clone(theta), 0.01)}); err != nil {
				return err
			}
		}
	}
	if err := c.tryOpposite(ctx, scales); err != nil {
		return err
	}
	return c.tryUneven(ctx, scales)
}

// tryMany tries a kernel with many scales. With the same walks it contains the one with one scale: if it is less likely, learning has
// ended elsewhere, and begins again from that, with small coarser scales.
func (c *contest) tryMany(ctx context.Context, one attempt) error {
	k := one.candidate
	k.many, k.hops = true, c.fineHops(true, c.method, c.hops)
	starts, err := c.manyStarts(ctx, k)
	if err != nil {
		return err
	}
	if err := c.try(ctx, k, starts); err != nil {
		return err
	}
	last := len(c.tried) - 1
	if k.hops != one.hops || c.tried[last].report.LogLikelihood >= one.report.LogLikelihood {
		return nil
	}
	made, err := c.kernel(ctx, k, c.method)
	if err != nil {
		return err
	}
	theta := slices.Clone(c.inSpace(one.model.Theta()))
	for _, p := range c.nodeParams(made)[len(theta):] {
		v := p.Start
		if p.Variance {
			v = smallScale
		}
		theta = append(theta, v)
	}
	opts := c.opts
	opts.Starts = [][]float64{theta}
	again, err := c.fit(ctx, k, opts)
	if err == nil && again.report.LogLikelihood > c.tried[last].report.LogLikelihood {
		c.tried[last] = again
	}
	return err
}

// manyStarts returns hyperparameters from which learning many scales starts: those of the kernel, and what was learned of it
// beside covariates or roles. Nil means those of the kernel alone.
func (c *contest) manyStarts(ctx context.Context, k candidate) ([][]float64, error) {
	var learned [][]float64
	for _, a := range c.tried {
		alike := a.candidate
		alike.terms, alike.pairs = k.terms, k.pairs
		if a.terms.has(graphTerm) && a.terms != graphTerm && alike.String() == k.String() && alike.hops == k.hops {
			learned = append(learned, c.inSpace(a.model.Theta())[:c.graphParams(a)])
		}
	}
	if learned == nil {
		return k.starts(), nil
	}
	made, err := c.kernel(ctx, k, c.method)
	if err != nil {
		return nil, err
	}
	for _, theta := range kernel.Starts(made) {
		learned = append(learned, c.inSpace(theta))
	}
	return learned, nil
}

// smallScale is the variance, beside that of the data, of coarser scales that are added to a learned kernel.
const smallScale = 0.03

// reason says why the best of several kernels was chosen.
func reason(best attempt, tried []attempt, sketch bool) string {
	by := ""
	if sketch {
		by = " on a sample of the measurements"
	}
	if first := likeliest(tried); first.String() != best.String() {
		return fmt.Sprintf("%v was chosen: %v has a higher marginal likelihood, but predicts held-out measurements no better at the distances "+
			"of the unmeasured nodes", best, first)
	}
	return fmt.Sprintf("%v has the highest marginal likelihood of the %d kernels tried%s, after a penalty of one nat per hyperparameter, "+
		"more where measurements are few, and three more for an unusual one (unit variance, free coefficients, raw or signless Laplacian)", best,
		len(tried), by)
}

// choose records the chosen kernel and the reason.
func (m *Model) choose(c candidate, tried []attempt, why string) {
	m.spec = m.of.spec.filled(c, m.choice.Method)
	m.choice.Family, m.choice.Scales, m.choice.Variance, m.choice.Trend, m.choice.Hops = c.name, m.spec.Scales, m.spec.Variance, m.spec.Trend,
		m.spec.Hops
	m.choice.Terms = m.spec.Terms
	for _, a := range tried {
		m.choice.Candidates = append(m.choice.Candidates, TriedKernel{a.String(), a.report.LogLikelihood, a.report.LOOScore})
	}
	if len(tried) > 1 {
		m.choice.Why = append(m.choice.Why, why)
	}
}
