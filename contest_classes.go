package grfgp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"grfgp/gp"
	"grfgp/internal/rng"
	"grfgp/kernel"
	"grfgp/progress"
)

// learnClasses fits the kernels that the Spec leaves open to a sample of the labels, keeps
// the one with the highest leave-one-out log score, and fits it to all labels.
func (t *Trainer) learnClasses(ctx context.Context, own gp.Labels, method gp.ClassMethod, work *progress.Work) (*Classification, error) {
	opts, few, err := t.classOptions(own, method)
	switch {
	case err != nil:
		return nil, err
	case few:
		return t.assumeClasses(ctx, own, opts)
	}
	c := &Classification{of: t, card: opts.Device}
	sample := classSample(own, t.limits.ClassSketch, t.spec.Seed)
	final := t.finalClassCost(own.Len())
	work.Step("looking at the graph")
	best, err := t.compareClasses(ctx, sample, own, opts, &c.choice, work.Part(classCandidates, final))
	if err != nil {
		return nil, err
	}
	switch {
	case method == best.class.Method && sample.Len() == own.Len():
		opts.State = &best.class.ClassState
	case method == gp.Dirichlet || method == gp.OneVsAll:
		opts.Near, opts.Tol, opts.MaxIter = &best.class, classFinalTol, classFinalIters
		if best.close { // there is little to gain
			opts.MaxIter = classCloseIters
		}
	default:
		opts.Starts = [][]float64{best.class.Theta}
	}
	t.forget(best.Expression)
	opts.Progress = work.Part(final, 0)
	opts.Progress.Step("fitting " + best.Name())
	if c.classifier, c.choice.Fit, err = gp.Classify(ctx, best.kernel, own, opts); err != nil {
		return nil, err
	}
	if opts.State != nil {
		c.choice.Fit = best.class // which knows how it was learned
	}
	if err := t.average(ctx, own, method, c); err != nil {
		return nil, err
	}
	c.choose(best.Expression)
	short, err := t.shortfall(best.Expression, c.choice.Fit.Hyperparameters())
	c.choice.Why, c.choice.Cautions = append(c.choice.Why, short...), append(c.choice.Cautions, short...)
	return c, err
}

// relearnClasses fits the kernel of another classifier to labels, starting from its hyperparameters, which it may keep.
func (t *Trainer) relearnClasses(ctx context.Context, own gp.Labels, like *Classification, keep bool, work *progress.Work) (*Classification,
	error) {
	opts, few, err := t.classOptions(own, like.choice.Fit.Method)
	opts.Progress = work
	switch {
	case err != nil:
		return nil, err
	case few:
		return t.assumeClasses(ctx, own, opts)
	case opts.Method == gp.Spreading:
		return t.spread(ctx, own, opts.Method)
	case opts.Method == gp.Dirichlet || opts.Method == gp.OneVsAll:
		opts.Near, opts.Keep, opts.Tol, opts.MaxIter = &like.choice.Fit, keep, classFinalTol, classFinalIters
	default:
		opts.Starts = [][]float64{like.choice.Fit.Theta}
	}
	work.Step("fitting " + like.spec.Name())
	made, err := t.classKernel(ctx, like.spec.Expression)
	if err != nil {
		return nil, err
	}
	c := &Classification{of: t, card: opts.Device, choice: like.choice}
	c.choice.Why, c.choice.Spreading = nil, 0
	if c.classifier, c.choice.Fit, err = gp.Classify(ctx, made, own, opts); err != nil {
		return nil, err
	}
	if err := t.average(ctx, own, opts.Method, c); err != nil {
		return nil, err
	}
	c.fill(like.spec.Expression)
	return c, nil
}

// classOptions returns the options of gp.Classify that the Spec implies, and whether no class has two labels to learn from.
func (t *Trainer) classOptions(own gp.Labels, method gp.ClassMethod) (opts gp.ClassifyOptions, few bool, err error) {
	opts = gp.ClassifyOptions{Method: method, Seed: t.spec.Seed}
	if opts.Device, err = t.card(); err != nil {
		return opts, false, err
	}
	few = t.opensClasses(method) && slices.Max(own.Counts()) < 2
	return opts, few, opts.Solver.UnmarshalText([]byte(cmp.Or(t.spec.Solver, "auto")))
}

// opensClasses reports whether the Spec leaves it open how nodes are alike.
func (t *Trainer) opensClasses(method gp.ClassMethod) bool {
	return t.spec.Family == "" && t.spec.Terms == 0 && (method == gp.Dirichlet || method == gp.OneVsAll)
}

// assumeClasses returns a classifier where no class has two labels. The likelihood of such labels is highest for functions
// that vary from node to node, about which labels say nothing, and none can be left out to see how well it is predicted. So nothing is
// learned: the kernel reaches from the labels to most nodes, as classes could not be predicted otherwise.
func (t *Trainer) assumeClasses(ctx context.Context, own gp.Labels, opts gp.ClassifyOptions) (*Classification, error) {
	method, hops, why := t.decide(own.Len(), true)
	e := (&contest{Trainer: t, method: method, hops: hops}).evenGraph(t.spec.members(forClasses)[0], "one")
	made, err := t.classKernel(ctx, e)
	if err != nil {
		return nil, err
	}
	length, theta := assumedReach*t.meanHops(own.Nodes), kernel.Begin(made.Params())
	for j, p := range made.Params() {
		if !p.Variance {
			theta[j] = length
		}
	}
	if opts.Method == gp.OneVsAll {
		theta = append(theta, assumedNoise)
	}
	opts.State = &gp.ClassState{Method: opts.Method, Solver: cmp.Or(opts.Solver, gp.Exact), Theta: theta,
		Calibration: gp.Calibration{Temperature: 1, Spread: 1}}
	c := &Classification{of: t, card: opts.Device}
	if c.classifier, c.choice.Fit, err = gp.Classify(ctx, made, own, opts); err != nil {
		return nil, err
	}
	c.choice.Method, c.choice.Why = method, append(why, "unit variance at every node: classes do not depend on the degree",
		fmt.Sprintf("hyperparameters are assumed, not learned, because no class has two labels: a length of %.3g, by which labels reach most "+
			"nodes", length))
	if err := t.average(ctx, own, opts.Method, c); err != nil {
		return nil, err
	}
	c.choose(e)
	return c, nil
}

const (
	assumedReach = 2   // length of a kernel about which nothing is known, in mean distances from a node to the nearest label
	assumedNoise = 0.1 // of one-vs-all regressions, of which nothing is known either
)

// meanHops returns the mean distance of nodes to the nearest of some nodes, 1 at least, over those that a path leads to.
func (t *Trainer) meanHops(from []int) float64 {
	sum, n := 0, 0
	for _, hops := range t.graph.Hops(from) {
		if hops > 0 {
			sum, n = sum+hops, n+1
		}
	}
	return max(1, float64(sum)/float64(max(1, n)))
}

// average adds label spreading to a classifier of few labels, unless the Spec says which kernel it has: kernels that are
// learned from few labels reach too far, or not far enough.
func (t *Trainer) average(ctx context.Context, own gp.Labels, method gp.ClassMethod, c *Classification) error {
	if own.Len() > t.limits.ClassAverage || !t.opensClasses(method) {
		return nil
	}
	s, err := t.spread(ctx, own, gp.Spreading)
	if err != nil {
		return err
	}
	c.classifier, c.choice.Spreading = gp.AverageClassifiers(c.classifier, s.classifier, own, &c.choice.Fit)
	return nil
}

const (
	classPatches = 2
	classTol     = 0.3 // nats, over all classes, that do not decide between kernels

	// The fit to all labels starts from that to the sample, and is learned from some 1,000 of them: half a nat of
	// their log probability is less than one part in a thousand of it.
	classFinalTol   = 0.5
	classFinalIters = 20
	classCloseIters = 10

	classDecides = 15 // nats on the sample that decide between the graph alone and what is known beside it
)

// classSample returns all labels, or a sample of the given size with labels of every class: half of it
// in patches, where labels are as near to each other as they are in all, and half from
// all over. Labels are sorted by node, and nodes numbered by locality.
func classSample(l gp.Labels, most int, seed uint64) gp.Labels {
	n := l.Len()
	if n <= most {
		return l
	}
	chosen, seen := make([]bool, n), make([]bool, l.Classes)
	var rows []int
	take := func(r int) {
		chosen[r], seen[l.Class[r]] = true, true
		rows = append(rows, r)
	}
	size := most / 2 / classPatches
	for p := range classPatches {
		lo := (n - size) * (2*p + 1) / (2 * classPatches)
		for r := lo; r < lo+size; r++ {
			take(r)
		}
	}
	for _, r := range rand.New(rng.New(seed, "labels to compare kernels")).Perm(n) {
		if !chosen[r] && (len(rows) < most || !seen[l.Class[r]]) {
			take(r)
		}
	}
	slices.Sort(rows)
	return l.Select(rows)
}

// classContest compares the kernels of classes on a sample of the labels.
type classContest struct {
	contest
	sample gp.Labels
	labels int // that the best is to be fitted to
	opts   gp.ClassifyOptions
	tell   *ClassChoice
}

// fit implements judge.
func (c *classContest) fit(ctx context.Context, e Expression, starts []kernel.Theta, _ bool, w *progress.Work) (attempt, error) {
	made, err := c.classKernel(ctx, e)
	if err != nil {
		return attempt{}, err
	}
	opts := c.opts
	opts.Progress = w
	for _, theta := range starts {
		opts.Starts = append(opts.Starts, kernel.Begin(made.Params(), theta))
	}
	_, report, err := gp.Classify(ctx, made, c.sample, opts)
	if err != nil {
		return attempt{}, err
	}
	c.tell.Candidates = append(c.tell.Candidates, TriedClassKernel{e.Name(), report.Score, report.Accuracy})
	return attempt{Expression: e, theta: report.Hyperparameters(), worth: worthOf(report, c.learned()), kernel: made, class: report}, nil
}

// compareClasses returns the best candidate by a sample of the labels, and adds all candidates to the ClassChoice. The
// first family decides between one scale and many; the other families are tried with that decision. The best is to be
// fitted to all labels, on whose number its representation depends.
func (t *Trainer) compareClasses(ctx context.Context, sample, all gp.Labels, opts gp.ClassifyOptions, tell *ClassChoice,
	work *progress.Work) (best attempt, err error) {
	labels := all.Len()
	method, hops, why := t.decide(min(labels, t.limits.ClassPatches.Rows()), true)
	scales, whyScales, err := t.decideScales(ctx, sample.Nodes, method, hops)
	if err != nil {
		return best, err
	}
	known, whyKnown := t.offers(method)
	tell.Method = method
	tell.Why = append(why, whyScales, "unit variance at every node: classes do not depend on the degree")
	opts.ScoreOnly, opts.Tol = true, classTol
	defer t.shareCaches(method)()
	members := t.spec.members(forClasses)
	c := &classContest{contest: contest{Trainer: t, method: method, hops: hops, scales: scales, work: work}, sample: sample, labels: labels,
		opts: opts, tell: tell}
	c.judge = c
	if c.left = float64(len(members)+len(scales)-1) + firstCost; known != 0 {
		c.left += 1 + knownCost
	}
	for _, s := range scales {
		if err := c.try(ctx, c.evenGraph(members[0], s)); err != nil {
			return best, err
		}
	}
	first := likeliest(c.tried)
	for _, e := range members[1:] {
		e = c.evenGraph(e, first.Scales)
		e.Hops = first.Hops
		if err := c.try(ctx, e); err != nil {
			return best, err
		}
	}
	alone := likeliest(c.tried)
	tell.Why = append(tell.Why, whyKnown)
	if err := c.tryKnown(ctx, alone, known); err != nil {
		return alone, err
	}
	if finalists := some(c.tried, func(a attempt) bool { return a.Terms != GraphTerm }); len(finalists) > 0 {
		if t.spec.Terms == 0 { // else the requested terms replace the graph
			finalists = append(finalists, alone)
		}
		return c.compareAgain(ctx, finalists, all)
	}
	return alone, nil
}

// evenGraph returns a member of a family as a kernel of the graph alone. Free and low-rank kernels are scaled to unit variance as well, but
// an expression cannot say so.
func (c *contest) evenGraph(e Expression, scales string) Expression {
	return c.graphAlone(e, scales, "none", named(c.spec.scaled() && c.method != "lowrank", varianceNames))
}

// compareAgain compares kernels by more labels, with the hyperparameters that were learned from the sample,
// unless the sample has decided between them: functions of what is known about nodes predict the better, the more labels
// they have.
func (c *classContest) compareAgain(ctx context.Context, finalists []attempt, all gp.Labels) (attempt, error) {
	best := likeliest(finalists)
	near := some(finalists, func(a attempt) bool { return best.worth-a.worth <= classDecides })
	if len(near) == 1 || all.Len() <= c.sample.Len() || c.opts.Method != gp.Dirichlet && c.opts.Method != gp.OneVsAll {
		return best, nil
	}
	opts, more := c.opts, classSample(all, c.limits.ClassFinalist, c.spec.Seed)
	opts.Solver, opts.Keep, opts.ScoreOnly = gp.Exact, true, false
	for k, a := range near {
		opts.Near = &a.class
		_, report, err := gp.Classify(ctx, a.kernel, more, opts)
		if err != nil {
			return best, err
		}
		near[k].worth = worthOf(report, c.learned())
	}
	best = likeliest(near)
	best.close = true
	return best, nil
}

// learned is the number of labels that hyperparameters are learned from, about.
func (c *classContest) learned() int { return min(c.labels, c.limits.ClassPatches.Rows()) }

// worthOf compares kernels by the log probability of the labels of the sample, each given the others, less a penalty:
// one nat per hyperparameter (Akaike). Half of it is what the sample's score is too high by, because hyperparameters were
// learned from the sample; the other half is what they will lose elsewhere by their errors. That half is smaller where
// they are then learned from more labels.
func worthOf(r gp.ClassifyReport, learned int) float64 {
	share := min(1, float64(r.Scored)/float64(learned))
	return r.Score*float64(r.Scored) - float64(len(r.Theta))*(1+share)/2
}

// tryKnown tries covariates beside the best kernel of the graph alone, or roles if there are no covariates, and then the
// same without the graph.
func (c *classContest) tryKnown(ctx context.Context, alone attempt, of Terms) error {
	e := alone.Expression
	e.Scales, e.Pairs = "one", c.limits.SmoothPairs(c.spec.Pairs, c.labels, "")
	if c.spec.Terms != 0 {
		if e.Terms = c.spec.Terms; e.Terms == GraphTerm {
			return nil
		}
		return c.tryFrom(ctx, e)
	}
	if of.Has(CovariateTerm) {
		of = CovariateTerm // roles rarely add to them, and classes take long
	}
	if of == 0 {
		return nil
	}
	e.Terms = GraphTerm | of
	var starts []kernel.Theta
	if !alone.Many() { // the usual ones, and what was learned of the graph with small variances of the others, which is as good to begin with
		made, err := c.classKernel(ctx, e)
		if err != nil {
			return err
		}
		starts = []kernel.Theta{nil, smaller(made, kernel.Begin(made.Params(), alone.theta), smallVariance, "graph")}
	}
	if err := c.tryFrom(ctx, e, starts...); err != nil {
		return err
	}
	both := c.tried[len(c.tried)-1]
	if both.worth <= alone.worth {
		return nil
	}
	e.Terms = of
	return c.tryFrom(ctx, e, both.theta)
}

// smallVariance times the usual variance of a term changes little.
const smallVariance = 0.03

// choose records the chosen kernel and the reasons.
func (c *Classification) choose(chosen Expression) {
	c.fill(chosen)
	r := c.choice.Fit
	how := "left out one at a time"
	if r.Solver != gp.Exact {
		how = "held out"
	}
	if n := len(c.choice.Candidates); n > 1 {
		c.choice.Why = append(c.choice.Why, fmt.Sprintf("%v predicts held-out labels best of the %d kernels tried, after a penalty of one nat "+
			"per hyperparameter", chosen.Name(), n))
	}
	if w := c.choice.Spreading; w > 0 {
		by := "by how well it predicts labels left out"
		if r.Scored == 0 {
			by = "as nothing says which is better"
		}
		c.choice.Why = append(c.choice.Why, fmt.Sprintf("labels are few: label spreading has a weight of %.2g in the probabilities, %s", w, by))
	}
	if r.Scored == 0 {
		const unknown = "no class has two labels, so nothing says how accurate the predictions are"
		c.choice.Why, c.choice.Cautions = append(c.choice.Why, unknown), append(c.choice.Cautions, unknown)
		return
	}
	c.choice.Why = append(c.choice.Why, fmt.Sprintf("of %d labels %s, %.1f %% are predicted correctly (mean log probability %.3f; "+
		"calibrated with temperature %.2f and spread %.1f)",
		r.Scored, how, 100*r.Accuracy, r.Score, r.Temperature, r.Spread))
}

// fill records the chosen kernel.
func (c *Classification) fill(e Expression) {
	c.spec = c.of.spec.filled(e)
	c.choice.Family, c.choice.Scales, c.choice.Hops, c.choice.Terms = e.FamilyWords(), e.Scales, e.Hops, e.Terms.Names()
}

// spreadShares are the values tried for α in label spreading, the weight of the
// neighbours' labels; the first is the usual one.
var spreadShares = []float64{0.9, 0.5, 0.7, 0.8, 0.95}

// spread is label spreading with the α that has the highest leave-one-out score.
func (t *Trainer) spread(ctx context.Context, own gp.Labels, method gp.ClassMethod) (*Classification, error) {
	e := Expression{Family: "matern", Nu: 1, Laplacian: normalized, Method: "series", Scales: "one", Variance: "natural", Trend: "none",
		Terms: GraphTerm}
	k, err := t.kernel(ctx, e)
	if err != nil {
		return nil, err
	}
	opts := gp.ClassifyOptions{Method: method}
	for _, share := range spreadShares {
		opts.Starts = append(opts.Starts, []float64{1, math.Sqrt(2 * share / (1 - share))})
	}
	c := &Classification{of: t}
	if c.classifier, c.choice.Fit, err = gp.Classify(ctx, k, own, opts); err != nil {
		return nil, err
	}
	c.choice.Method = "series"
	c.fill(e)
	c.choice.Family = "spreading"
	kappa, _ := c.choice.Fit.Hyperparameters().Get("graph/kappa")
	c.choice.Why = []string{fmt.Sprintf("label spreading: each node takes a share of %.2g of its label from its neighbours",
		kappa*kappa/(2+kappa*kappa))}
	return c, nil
}
