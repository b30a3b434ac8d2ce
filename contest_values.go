package grfgp

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"grfgp/gp"
	"grfgp/kernel"
	"grfgp/progress"
	"grfgp/walk"
)

const (
	// sketchFrom is the number of measurements from which candidates are compared on
	// a sample of the measurements; the best is then fitted to all of them.
	sketchFrom   = 500
	sketchSample = 1000
	sketchTol    = 0.1 // nats that do not decide between kernels
	finalTol     = 0.03

	productIters = 25 // a product starts from the fit of its terms
)

// finalIters is the most iterations of the fit to all measurements, which starts from
// that to a sample: fewer for many measurements, because an iteration takes O(T³).
func finalIters(measurements int) int {
	const least, most, flops = 4, 40, 1.2e11
	t := float64(measurements)
	return max(least, min(most, int(flops/(t*t*t))))
}

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
	work.Part(1, comparedCost+finalCost(own.Len())).Step("looking at the graph")
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
	if (len(members)*len(scales) > 1 || tryTrend || open || known != 0) && own.Len() > sketchFrom {
		c.opts.Subsample, c.opts.Tol = sketchSample, sketchTol
		c.after = finalCost(own.Len())
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
	if (method == "series" || method == "dense") && own.Len() <= exactMost && t.spec.Terms == 0 && best.Terms == GraphTerm {
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
			gp.FitOptions{From: m.fitted, MaxIter: finalIters(own.Len()), Tol: finalTol, Device: card, Progress: last}); err != nil {
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

// tryMore tries the best kernel of the graph with many scales and with a trend, and
// unusual kernels.
func (c *valueContest) tryMore(ctx context.Context, tryTrend bool) error {
	if len(c.scales) > 1 {
		if err := c.tryMany(ctx, c.best(every)); err != nil {
			return err
		}
	}
	if tryTrend { // added to the best kernel with one scale, and to the best with many
		for _, scales := range c.scales {
			below := c.best(func(a attempt) bool { return a.Scales == scales && !a.Trending() })
			e := below.Expression
			e.Trend = "degree"
			var starts []kernel.Theta
			for _, v := range []float64{1, 0.01} {
				starts = append(starts, append(kernel.Theta{{Path: "trend/variance", Number: v}}, below.theta...))
			}
			if err := c.tryFrom(ctx, e, starts...); err != nil {
				return err
			}
		}
	}
	if err := c.tryOpposite(ctx); err != nil {
		return err
	}
	return c.tryUneven(ctx)
}

// tryMany tries a kernel with many scales. With the same walks it contains the one with one scale: if it is less likely, learning has
// ended elsewhere, and begins again from that, with small coarser scales.
func (c *valueContest) tryMany(ctx context.Context, one attempt) error {
	e := one.Expression
	e.Scales = "many"
	e.Hops = c.fineHops(e, c.hops)
	made, err := c.kernel(ctx, e)
	if err != nil {
		return err
	}
	if err := c.tryFrom(ctx, e, c.manyStarts(e, made)...); err != nil {
		return err
	}
	last := &c.tried[len(c.tried)-1]
	if e.Hops != one.Hops || last.report.LogLikelihood >= one.report.LogLikelihood {
		return nil
	}
	var small kernel.Theta
	for _, p := range made.Params() {
		if p.Variance {
			small = append(small, kernel.Value{Path: p.Name, Number: smallScale})
		}
	}
	again, err := c.fit(ctx, e, []kernel.Theta{slices.Concat(one.theta, small)}, false, c.next(e))
	if err == nil && again.report.LogLikelihood > last.report.LogLikelihood {
		*last = again
	}
	return err
}

// manyStarts returns hyperparameters from which learning many scales starts: those of the kernel, and what was learned of it
// beside covariates or roles. Nil means those of the kernel alone.
func (c *valueContest) manyStarts(e Expression, made kernel.Kernel) (learned []kernel.Theta) {
	for _, a := range c.tried {
		alike := a.Expression
		alike.Terms, alike.Pairs = e.Terms, e.Pairs
		if a.Terms.Has(GraphTerm) && a.Terms != GraphTerm && alike == e {
			learned = append(learned, a.theta)
		}
	}
	if learned != nil {
		learned = append(learned, startsOf(made)...)
	}
	return learned
}

// smallScale is the variance, beside that of the data, of coarser scales that are added to a learned kernel.
const smallScale = 0.03

// opensOpposite reports whether kernels are tried under which neighbours may differ.
func (c *valueContest) opensOpposite() bool {
	return c.spec.Family == "" && !c.spec.Unit() && c.spec.Laplacian != "raw"
}

// tryOpposite tries kernels under which neighbours may differ: diffusion on the
// signless Laplacian, and free coefficients, the kernel of the paper. Free
// coefficients start from those of the best diffusion kernel, from the same with
// alternating signs (neighbours differ), and from its even terms (neighbours are
// uncorrelated). Many scales are added to the kernel that wins with one scale.
func (c *valueContest) tryOpposite(ctx context.Context) error {
	if !c.opensOpposite() {
		return nil
	}
	for _, scales := range c.scales {
		usual := c.best(func(a attempt) bool { return a.Scales == scales }).Expression
		usual.Nu = 0
		won := func(e Expression) bool { // with one scale, if that was tried
			return scales == "one" || len(c.scales) == 1 || c.best(func(a attempt) bool { return !a.Many() }).Alike(e)
		}
		signless := usual
		signless.Family, signless.Laplacian = usualFamily, "signless"
		if c.spec.Laplacian == "" && won(signless) {
			if err := c.tryUnusual(ctx, signless); err != nil {
				return err
			}
		}
		for _, f := range kernel.Families() {
			e := usual
			e.Family, e.Laplacian, e.Hops = f.Name, cmp.Or(c.spec.Laplacian, normalized), c.freeHops()
			if f.Apart == nil || !won(e) {
				continue
			}
			if err := c.tryUnusual(ctx, e, c.apartStarts(f, e)...); err != nil {
				return err
			}
		}
	}
	return nil
}

// tryUnusual tries a kernel that seldom wins, from the starts of its family or from those given.
func (c *valueContest) tryUnusual(ctx context.Context, e Expression, starts ...kernel.Theta) error {
	inOrder := starts == nil
	if inOrder {
		starts = c.familyStarts(e)
	}
	return c.addUnusual(c.fit(ctx, e, starts, inOrder && starts != nil, c.next(e)))
}

// freeHops is the longest walk that has a free coefficient.
func (c *valueContest) freeHops() int {
	if c.method == "grf" || c.method == "lowrank" {
		return c.hops
	}
	return cmp.Or(c.spec.Hops, walk.Default().MaxLen)
}

// usualCoeffs returns the coefficients of the diffusion kernel: as
// learned, if it was tried with one scale.
func (c *valueContest) usualCoeffs(hops int) []float64 {
	_, by := c.spec.modulation(Expression{Family: usualFamily})
	theta := kernel.Begin(by.Params())
	for _, a := range c.tried {
		if a.Family == usualFamily && a.Laplacian == normalized && !a.Many() {
			theta = kernel.Begin(by.Params(), a.theta.Under("graph"))
			theta[1] = min(theta[1], float64(c.freeHops())) // a larger β would put the coefficients beyond the longest walk
			break
		}
	}
	coeffs := make([]float64, hops+1)
	by.Coeffs(coeffs, theta)
	return coeffs
}

// apartStarts returns hyperparameters from which learning a kernel starts under which neighbours may differ; on coarser scales
// those of the best kernel of another family.
func (c *valueContest) apartStarts(f kernel.Family, e Expression) (all []kernel.Theta) {
	_, by := c.spec.modulation(e)
	var above kernel.Theta
	if e.Many() {
		above = c.best(func(a attempt) bool { return a.Many() && a.Family != e.Family }).theta
	}
	for _, theta := range f.Apart(c.usualCoeffs(e.Hops)) {
		all = append(all, append(kernel.ThetaOf(by.Params(), theta).In("graph"), above...))
	}
	return all
}

// tryUneven tries kernels of unit variance on graphs whose degrees differ, and
// kernels on the raw Laplacian if these graphs are small. On a tree the Matérn
// kernel with ν = 1 on the raw Laplacian is Brownian motion, whose posterior mean
// is harmonic interpolation.
func (c *valueContest) tryUneven(ctx context.Context) error {
	if !c.uneven() {
		return nil
	}
	better := c.best(every).Scales
	for _, scales := range c.scales {
		if c.spec.Laplacian == "" && c.spec.Family == "" && !c.spec.Unit() && c.method == "dense" {
			e := c.best(func(a attempt) bool { return a.Scales == scales }).Expression
			e.Family, e.Nu, e.Laplacian = "matern", 1, "raw"
			if err := c.tryUnusual(ctx, e); err != nil {
				return err
			}
		}
		if !c.opensUnit(c.method) || len(c.scales) > 1 && scales != better {
			continue
		}
		plain := c.best(func(a attempt) bool {
			return a.Scales == scales && !a.apart() && a.Laplacian == cmp.Or(c.spec.Laplacian, normalized)
		})
		variance, err := c.meanVariance(ctx, plain)
		if err != nil {
			return err
		}
		e, theta := plain.Expression, append(kernel.Theta{{Path: "graph/variance", Number: variance}}, plain.theta...)
		e.Variance = "unit"
		if err := c.tryUnusual(ctx, e, theta); err != nil {
			return err
		}
		if e.Trending() && c.spec.Trend == "" { // the trend may have replaced unit variance
			e.Trend = "none"
			if err := c.tryUnusual(ctx, e, theta); err != nil {
				return err
			}
		}
	}
	return nil
}

// apart reports whether neighbours may differ by the family of a kernel.
func (a attempt) apart() bool {
	f, _ := kernel.FamilyNamed(a.Family)
	return f.Apart != nil
}

// meanVariance returns the mean variance of the fine part of a fitted kernel at the measured nodes: s² of the same kernel with unit
// variance.
func (c *valueContest) meanVariance(ctx context.Context, a attempt) (float64, error) {
	c.mu.Lock()
	fine, err := c.fine(ctx, a.Expression)
	c.mu.Unlock()
	if err != nil {
		return 0, err
	}
	cov, err := fine.At(kernel.Begin(fine.Params(), a.theta.Under("graph")))
	if err != nil {
		return 0, err
	}
	nodes := NodesOf(c.graph, c.own.Nodes)
	variance := make([]float64, len(nodes))
	if err := cov.Diag(ctx, variance, nodes); err != nil {
		return 0, err
	}
	slices.Sort(variance) // the sum does not depend on the order of the measurements
	sum := 0.0
	for _, v := range variance {
		sum += v
	}
	return sum / float64(len(variance)), nil
}

// tryKnown tries kernels with covariates, with roles and with both beside the graph
// term; then the best of them without the graph term, and with the product of graph
// and covariates. Where terms were requested, it
// tries these alone. Far says that many scales are tried beside them as well.
func (c *valueContest) tryKnown(ctx context.Context, of Terms, far bool) error {
	if of == 0 {
		return nil
	}
	pairs := c.spec.Pairs
	if pairs == 0 && (c.own.Len() > exactMost || c.spec.Solver == "iterative") {
		pairs = pairsMany
	}
	base := c.base()
	base.Pairs = pairs
	if fixed := c.spec.Terms; fixed != 0 {
		if _, err := c.tryTerms(ctx, base, fixed); err != nil {
			return err
		}
	} else if err := c.compareTerms(ctx, base, of); err != nil {
		return err
	}
	if far {
		return c.tryFar(ctx)
	}
	return nil
}

// compareTerms tries terms beside the graph, without it, and their product with it.
func (c *valueContest) compareTerms(ctx context.Context, base attempt, of Terms) error {
	var best *attempt
	for _, set := range []Terms{CovariateTerm, RoleTerm, CovariateTerm | RoleTerm} {
		if !of.Has(set) || set == RoleTerm && of.Has(CovariateTerm) { // roles alone rarely beat both
			continue
		}
		a, err := c.tryTerms(ctx, base, GraphTerm|set)
		if err != nil {
			return err
		}
		if a != nil && (best == nil || a.worth > best.worth) {
			best = a
		}
	}
	if best == nil {
		return nil
	}
	if _, err := c.tryTerms(ctx, *best, best.Terms&^GraphTerm); err != nil {
		return err
	}
	if base.Pairs > 0 || best.worth <= base.worth {
		return nil
	}
	c.opts.MaxIter = productIters
	defer func() { c.opts.MaxIter = 0 }()
	_, err := c.tryTerms(ctx, *best, best.Terms|ProductTerm)
	return err
}

// base returns the best kernel of the graph alone that has one scale, the usual
// Laplacian and the natural variance; the best of all if there is none.
func (c *valueContest) base() attempt {
	plain := func(a attempt) bool { return !a.Many() && !a.unusual && !a.Unit() }
	if slices.ContainsFunc(c.tried, plain) {
		return c.best(plain)
	}
	return c.best(every)
}

// tryTerms fits a kernel with other terms than those of a fitted one, starting from the
// hyperparameters that both have. Variances that new terms may take over are smaller then. The result is nil if its covariance
// is not positive definite to rounding.
func (c *valueContest) tryTerms(ctx context.Context, from attempt, of Terms) (*attempt, error) {
	e := from.Expression
	e.Terms, e.Trend = of, "none"
	made, err := c.kernel(ctx, e)
	if err != nil {
		return nil, err
	}
	before := len(c.tried)
	err = c.tryFrom(ctx, e, from.theta, smaller(made, kernel.Begin(made.Params(), from.theta), takenOver, ""))
	if err != nil || len(c.tried) == before {
		return nil, ifDefinite(err)
	}
	return &c.tried[before], nil
}

// takenOver is the share of a variance that is left where new terms take over the rest.
const takenOver = 0.3

// tryFar tries the best kernel that has the graph term beside others with many scales
// of the graph: walks end after a few hops, and what covariates leave unexplained
// may vary over hundreds.
func (c *valueContest) tryFar(ctx context.Context) error {
	beside := some(c.tried, func(a attempt) bool {
		return a.Terms.Has(GraphTerm) && a.Terms != GraphTerm && !a.Terms.Has(ProductTerm) && !a.Many()
	})
	if len(beside) == 0 {
		return nil
	}
	best := likeliest(beside)
	e := best.Expression
	e.Scales = "many"
	e.Hops = c.fineHops(e, c.hops)
	return ifDefinite(c.tryFrom(ctx, e, best.theta.Without("graph")))
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
