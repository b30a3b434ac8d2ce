package grfgp

import (
	"context"
	"fmt"
	"slices"

	"grfgp/gp"
	"grfgp/kernel"
	"grfgp/progress"
)

const (
	sketchTol = 0.1 // nats that do not decide between kernels
	finalTol  = 0.03

	productIters = 25 // a product starts from the fit of its terms
)

// valueContest compares kernels on one set of measurements.
type valueContest struct {
	contest
	own  gp.Data
	opts gp.FitOptions
}

// worthOfValues is the criterion by which kernels are compared: the log marginal
// likelihood, less one nat per learned hyperparameter (Akaike), with the correction
// for few measurements (Hurvich and Tsai, 1989). Free coefficients and terms over covariates have many hyperparameters.
func worthOfValues(r gp.FitReport, values int) float64 {
	p := len(r.Theta)
	return r.LogLikelihood - float64(p) - float64(p*(p+1))/float64(max(1, values-p-1))
}

// fit implements judge.
func (c *valueContest) fit(ctx context.Context, e Expression, starts []kernel.Theta, inOrder bool, w *progress.Work) (attempt, error) {
	made, err := c.kernel(ctx, e)
	if err != nil {
		return attempt{}, err
	}
	starts = c.wholeStarts(made, starts)
	opts := c.opts
	opts.Progress, opts.Ordered, opts.From = w, inOrder, c.before(e, starts)
	for _, theta := range starts {
		opts.Starts = append(opts.Starts, kernel.Begin(made.Params(), theta))
	}
	for _, a := range c.tried { // many scales may gain little for a while, and much later, unless they begin as learned
		if ll := a.report.LogLikelihood; (!e.Many() || e.Unit()) && (opts.Rival == nil || ll > *opts.Rival) {
			opts.Rival = &ll
		}
	}
	fitted, report, err := gp.Fit(ctx, made, c.own, opts)
	if err != nil {
		return attempt{}, err
	}
	return attempt{Expression: e, theta: fitted.Hyperparameters(), worth: worthOfValues(report, c.own.Len()), model: fitted, report: report},
		nil
}

// wholeStarts returns the starts with all hyperparameters of a kernel. Those of time are the learned ones of the best kernel so
// far, and several if there is none. Without starts, those of the kernel are taken.
func (c *valueContest) wholeStarts(k kernel.Kernel, starts []kernel.Theta) []kernel.Theta {
	times := []kernel.Theta{nil}
	if c.when.Joint() {
		if starts == nil {
			starts = startsOf(k)
		}
		if times = c.when.Starts(c.own.Nodes); len(c.tried) > 0 {
			times = []kernel.Theta{likeliest(c.tried).theta.Under("time").In("time")}
		}
	}
	var all []kernel.Theta
	for _, theta := range starts {
		for _, more := range times {
			all = append(all, kernel.ThetaOf(k.Params(), kernel.Begin(k.Params(), more, theta)))
		}
	}
	return all
}

// startsOf returns the starts that a kernel has itself.
func startsOf(k kernel.Kernel) (all []kernel.Theta) {
	for _, theta := range kernel.Starts(k) {
		all = append(all, kernel.ThetaOf(k.Params(), theta))
	}
	return all
}

// before returns the fit from which the climb of a kernel takes over the noise, and the curvature where it can: that of a part
// of it whose hyperparameters three quarters of a start are, else the likeliest; nil if there is none.
func (c *valueContest) before(e Expression, starts []kernel.Theta) *gp.Model {
	if len(c.tried) == 0 {
		return nil
	}
	from, most := likeliest(c.tried).model, 0
	for _, a := range c.tried {
		if !a.Alike(e) { // hyperparameters mean something else
			continue
		}
		for _, start := range starts {
			n, all := len(a.theta), len(start)
			if n > most && n <= all && 4*(all-n) <= all+1 && start.Holds(a.theta) {
				from, most = a.model, n
			}
		}
	}
	return from
}

// train fits the kernels that the Spec leaves open and returns the best as a Model,
// which is not yet conditioned on the measurements.
func (t *Trainer) train(ctx context.Context, own gp.Data, card *gp.Card, work *progress.Work) (*Model, error) {
	work.Part(1, comparedCost+t.finalCost(own.Len())).Step("looking at the graph")
	method, hops, why := t.decide(t.when.Distinct(own.Nodes), t.spec.Unit())
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
	c := &valueContest{contest: contest{Trainer: t, method: method, hops: hops, scales: scales, work: work}, own: own, opts: opts}
	c.judge = c
	members := t.spec.members(forValues)
	open := t.spec.Family == "" || t.opensUnit(method) && t.uneven()
	if (len(members)*len(scales) > 1 || tryTrend || open || known != 0) && own.Len() > t.limits.SketchFrom {
		c.opts.Subsample, c.opts.Tol = t.limits.Sketch, sketchTol
		c.after = t.finalCost(own.Len())
	}
	c.left = c.expect(len(members), tryTrend, known)
	for _, e := range members {
		if err := c.try(ctx, c.graphAlone(e, scales[0], named(trend, trendNames), named(t.spec.Unit(), varianceNames))); err != nil {
			return nil, err
		}
	}
	if err := c.tryKnown(ctx, known, method == "grf" && len(scales) > 1); err != nil {
		return nil, err
	}
	sketch := c.opts.Subsample > 0
	if sketch && c.decided() { // with few measurements, trying the others takes little time
		whyScales, whyTrend = "covariates or roles gain so much that other kernels of the graph alone were not tried", ""
	} else if err := c.tryMore(ctx, tryTrend); err != nil {
		return nil, err
	}
	best := likeliest(c.tried)
	if t.spec.Terms != 0 {
		best = likeliest(some(c.tried, func(a attempt) bool { return a.Terms == t.spec.Terms }))
	}
	if (method == "series" || method == "dense") && own.Len() <= t.limits.Exact && t.spec.Terms == 0 && best.Terms == GraphTerm {
		if best, err = t.confirm(ctx, own, c.tried); err != nil {
			return nil, err
		}
	}
	m := &Model{of: t, fitted: best.model, choice: Choice{
		Method: method, Why: append(append(why, t.when.Why()...), whyScales, whyTrend, whyKnown), Fit: best.report}}
	m.choice.Why = slices.DeleteFunc(m.choice.Why, func(s string) bool { return s == "" })
	m.choose(best.Expression, c.tried, reason(best, c.tried, sketch))
	t.forget(best.Expression)
	if sketch {
		last := work.Part(1, 0)
		last.Step("fitting " + best.Name())
		if m.fitted, m.choice.Fit, err = t.retrain(ctx, own, best.Expression, m.fitted.Hyperparameters(),
			gp.FitOptions{From: m.fitted, MaxIter: t.limits.Iterations(own.Len()), Tol: finalTol, Device: card, Progress: last}); err != nil {
			return nil, err
		}
	}
	short, err := t.shortfall(best.Expression, m.fitted.Hyperparameters())
	m.choice.Why = append(append(m.choice.Why, short...), solved(m.choice.Fit, own.Len()))
	m.choice.Cautions = short
	return m, err
}

// named returns the second of two names if a condition holds, else the first.
func named(second bool, names []string) string {
	if second {
		return names[1]
	}
	return names[0]
}

// expect returns the expected cost of all candidates.
func (c *valueContest) expect(families int, tryTrend bool, known Terms) float64 {
	cost := float64(families) + firstCost
	if known != 0 {
		cost += 3 * (1 + knownCost)
	}
	if known.Has(CovariateTerm) {
		cost += 1 + knownCost
	}
	if len(c.scales) > 1 {
		cost += manyCost
	}
	if tryTrend {
		cost += float64(len(c.scales))
	}
	if c.opensOpposite() {
		cost += 1 + freeCost
	}
	if c.opensUnit(c.method) && c.uneven() {
		cost++
	}
	return cost
}

// knownGain is the gain, in nats per measurement, of covariates or roles from which
// further kernels of the graph alone are not tried: they hardly ever gain as much.
const knownGain = 0.05

// decided reports whether covariates or roles are far better than the graph alone.
func (c *valueContest) decided() bool {
	first, alone, n := likeliest(c.tried), c.best(every), c.own.Len()
	if c.opts.Subsample > 0 {
		n = min(n, c.opts.Subsample)
	}
	return first.Terms != GraphTerm && first.worth-alone.worth > knownGain*float64(n)
}

// reason says why the best of several kernels was chosen.
func reason(best attempt, tried []attempt, sketch bool) string {
	by := ""
	if sketch {
		by = " on a sample of the measurements"
	}
	if first := likeliest(tried); first.Expression != best.Expression {
		return fmt.Sprintf("%v was chosen: %v has a higher marginal likelihood, but predicts held-out measurements no better at the distances "+
			"of the unmeasured nodes", best.Name(), first.Name())
	}
	return fmt.Sprintf("%v has the highest marginal likelihood of the %d kernels tried%s, after a penalty of one nat per hyperparameter, "+
		"more where measurements are few, and three more for an unusual one (unit variance, free coefficients, raw or signless Laplacian)",
		best.Name(), len(tried), by)
}

// choose records the chosen kernel and the reason.
func (m *Model) choose(e Expression, tried []attempt, why string) {
	m.spec = m.of.spec.filled(e)
	m.choice.Family, m.choice.Scales, m.choice.Variance, m.choice.Trend, m.choice.Hops = e.FamilyWords(), e.Scales, e.Variance, e.Trend, e.Hops
	m.choice.Terms = e.Terms.Names()
	for _, a := range tried {
		m.choice.Candidates = append(m.choice.Candidates, TriedKernel{a.Name(), a.report.LogLikelihood, a.report.LOOScore})
	}
	if len(tried) > 1 {
		m.choice.Why = append(m.choice.Why, why)
	}
}
