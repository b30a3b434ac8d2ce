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

// classAttempt is a candidate with its leave-one-out score.
type classAttempt struct {
	candidate
	kernel kernel.Kernel
	report gp.ClassifyReport
	close  bool // others are nearly as good
}

// learnClasses fits the kernels that the Spec leaves open to a sample of the labels, keeps
// the one with the highest leave-one-out log score, and fits it to all labels.
func (t *Trainer) learnClasses(ctx context.Context, own gp.Labels, method gp.ClassMethod, work *progress.Work) (*Classification, error) {
	card, err := t.card()
	if err != nil {
		return nil, err
	}
	opts := gp.ClassifyOptions{Method: method, Seed: t.spec.Seed, Device: card}
	if err := opts.Solver.UnmarshalText([]byte(cmp.Or(t.spec.Solver, "auto"))); err != nil {
		return nil, err
	}
	if t.opensClasses(method) && !slices.ContainsFunc(own.Counts(), func(n int) bool { return n > 1 }) {
		return t.assumeClasses(ctx, own, opts)
	}
	c := &Classification{of: t, card: card}
	sample := classSample(own, classSketch, t.spec.Seed)
	final := finalClassCost(own.Len())
	work.Step("looking at the graph")
	best, err := t.compareClasses(ctx, sample, own, opts, &c.choice, work.Part(classCandidates, final))
	if err != nil {
		return nil, err
	}
	switch {
	case method == best.report.Method && sample.Len() == own.Len():
		opts.State = &best.report.ClassState
	case method == gp.Dirichlet || method == gp.OneVsAll:
		opts.Near, opts.Tol, opts.MaxIter = &best.report, classFinalTol, classFinalIters
		if best.close { // there is little to gain
			opts.MaxIter = classCloseIters
		}
	default:
		opts.Starts = [][]float64{best.report.Theta}
	}
	t.forget(best.candidate)
	opts.Progress = work.Part(final, 0)
	opts.Progress.Step("fitting " + best.String())
	if c.classifier, c.choice.Fit, err = gp.Classify(ctx, best.kernel, own, opts); err != nil {
		return nil, err
	}
	if opts.State != nil {
		c.choice.Fit = best.report // which knows how it was learned
	}
	if err := t.average(ctx, own, method, c); err != nil {
		return nil, err
	}
	c.choose(best.candidate)
	short, err := t.shortfall(best.candidate, c.choice.Method, c.choice.Fit.Theta)
	c.choice.Why, c.choice.Cautions = append(c.choice.Why, short...), append(c.choice.Cautions, short...)
	return c, err
}

// relearnClasses fits the kernel of another classifier to labels, starting from its hyperparameters, which it may keep.
func (t *Trainer) relearnClasses(ctx context.Context, own gp.Labels, like *Classification, keep bool, work *progress.Work) (*Classification,
	error) {
	card, err := t.card()
	if err != nil {
		return nil, err
	}
	opts := gp.ClassifyOptions{Method: like.choice.Fit.Method, Seed: t.spec.Seed, Device: card, Progress: work}
	if err := opts.Solver.UnmarshalText([]byte(cmp.Or(t.spec.Solver, "auto"))); err != nil {
		return nil, err
	}
	switch {
	case opts.Method == gp.Spreading:
		return t.spread(ctx, own, opts.Method)
	case t.opensClasses(opts.Method) && !slices.ContainsFunc(own.Counts(), func(n int) bool { return n > 1 }):
		return t.assumeClasses(ctx, own, opts)
	case opts.Method == gp.Dirichlet || opts.Method == gp.OneVsAll:
		opts.Near, opts.Keep, opts.Tol, opts.MaxIter = &like.choice.Fit, keep, classFinalTol, classFinalIters
	default:
		opts.Starts = [][]float64{like.choice.Fit.Theta}
	}
	work.Step("fitting " + like.chosen.String())
	made, err := t.classKernel(ctx, like.chosen, like.choice.Method)
	if err != nil {
		return nil, err
	}
	c := &Classification{of: t, card: card, choice: like.choice}
	c.choice.Why, c.choice.Spreading = nil, 0
	if c.classifier, c.choice.Fit, err = gp.Classify(ctx, made, own, opts); err != nil {
		return nil, err
	}
	if err := t.average(ctx, own, opts.Method, c); err != nil {
		return nil, err
	}
	c.fill(like.chosen)
	return c, nil
}

// opensClasses reports whether the Spec leaves it open how nodes are alike.
func (t *Trainer) opensClasses(method gp.ClassMethod) bool {
	return t.spec.Family == "" && t.spec.Terms == nil && (method == gp.Dirichlet || method == gp.OneVsAll)
}

// assumeClasses returns a classifier where no class has two labels. The likelihood of such labels is highest for functions
// that vary from node to node, about which labels say nothing, and none can be left out to see how well it is predicted. So nothing is
// learned: the kernel reaches from the labels to most nodes, as classes could not be predicted otherwise.
func (t *Trainer) assumeClasses(ctx context.Context, own gp.Labels, opts gp.ClassifyOptions) (*Classification, error) {
	method, hops, why := t.decide(own.Len(), true)
	k := candidate{family: t.spec.classFamilies(hops)[0], unit: t.spec.unitClasses(method), hops: t.fineHops(false, method, hops),
		terms: graphTerm}
	made, err := t.classKernel(ctx, k, method)
	if err != nil {
		return nil, err
	}
	length := assumedReach * t.meanHops(own.Nodes)
	theta := []float64{1, length}
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
	c.choose(k)
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
	if own.Len() > classAverage || !t.opensClasses(method) {
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
	// classAverage is the most labels with which a classifier is averaged with label spreading.
	classAverage = 400

	// classSketch is the number of labels by which candidates are compared, if there
	// are more; the best is then fitted to all labels.
	classSketch  = 400
	classPatches = 2
	classTol     = 0.3 // nats, over all classes, that do not decide between kernels

	// The fit to all labels starts from that to the sample, and is learned from some 1,000 of them: half a nat of
	// their log probability is less than one part in a thousand of it.
	classFinalTol   = 0.5
	classFinalIters = 20
	classCloseIters = 10

	classDecides  = 15   // nats on the sample that decide between the graph alone and what is known beside it;
	classFinalist = 1000 // labels by which they are compared otherwise, if there are more

	classLearned = 1000 // labels that hyperparameters are learned from, about, if there are more
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
	return selectLabels(l, rows)
}

// classContest compares the kernels of classes on a sample of the labels.
type classContest struct {
	*Trainer
	sample gp.Labels
	labels int // that the best is to be fitted to
	method string
	opts   gp.ClassifyOptions
	tell   *ClassChoice
	tried  []classAttempt

	work *progress.Work
	left float64 // expected cost of the candidates that follow
}

// compareClasses returns the best candidate by a sample of the labels, and adds all candidates to the ClassChoice. The
// first family decides between one scale and many; the other families are tried with that decision. The best is to be
// fitted to all labels, on whose number its representation depends.
func (t *Trainer) compareClasses(ctx context.Context, sample, all gp.Labels, opts gp.ClassifyOptions, tell *ClassChoice,
	work *progress.Work) (best classAttempt, err error) {
	labels := all.Len()
	method, hops, why := t.decide(min(labels, classLearned), true)
	scales, whyScales, err := t.decideScales(ctx, sample.Nodes, method, hops)
	if err != nil {
		return best, err
	}
	tell.Method = method
	tell.Why = append(why, whyScales, "unit variance at every node: classes do not depend on the degree")
	opts.ScoreOnly, opts.Tol = true, classTol
	defer t.shareCaches(method)()
	families := t.spec.classFamilies(hops)
	c := &classContest{Trainer: t, sample: sample, labels: labels, method: method, opts: opts, tell: tell, work: work}
	c.left = t.expectClasses(len(families), scales, method)
	work.Part(1, c.left)
	for _, many := range scales {
		k := candidate{family: families[0], many: many, unit: t.spec.unitClasses(method), hops: t.fineHops(many, method, hops), terms: graphTerm}
		if err := c.try(ctx, k, k.starts()); err != nil {
			return best, err
		}
	}
	first := c.best(c.tried)
	for _, f := range families[1:] {
		k := candidate{family: f, many: first.many, unit: first.unit, hops: first.hops, terms: graphTerm}
		if err := c.try(ctx, k, k.starts()); err != nil {
			return best, err
		}
	}
	alone := c.best(c.tried)
	c.tried = nil
	if err := c.tryKnown(ctx, alone); err != nil {
		return alone, err
	}
	if len(c.tried) == 0 {
		return alone, nil
	}
	if t.spec.Terms == nil { // else the requested terms replace the graph
		c.tried = append(c.tried, alone)
	}
	return c.compareAgain(ctx, all)
}

// compareAgain compares the kernels tried last by more labels, with the hyperparameters that were learned from the sample,
// unless the sample has decided between them: functions of what is known about nodes predict the better, the more labels
// they have.
func (c *classContest) compareAgain(ctx context.Context, all gp.Labels) (classAttempt, error) {
	best := c.best(c.tried)
	near := slices.DeleteFunc(slices.Clone(c.tried), func(a classAttempt) bool { return c.worth(best)-c.worth(a) > classDecides })
	if len(near) == 1 || all.Len() <= c.sample.Len() || c.opts.Method != gp.Dirichlet && c.opts.Method != gp.OneVsAll {
		return best, nil
	}
	opts, more := c.opts, classSample(all, classFinalist, c.spec.Seed)
	opts.Solver, opts.Keep, opts.ScoreOnly = gp.Exact, true, false
	scores := map[string]float64{}
	for _, a := range near {
		opts.Near = &a.report
		_, report, err := gp.Classify(ctx, a.kernel, more, opts)
		if err != nil {
			return best, err
		}
		scores[a.String()] = worthOf(report, c.labels)
	}
	best = slices.MaxFunc(near, func(a, b classAttempt) int { return cmp.Compare(scores[a.String()], scores[b.String()]) })
	best.close = true
	return best, nil
}

// try fits a candidate and adds it to tried.
func (c *classContest) try(ctx context.Context, k candidate, starts [][]float64) error {
	cost := k.cost()
	c.left = max(0, c.left-cost)
	opts := c.opts
	opts.Starts, opts.Progress = starts, c.work.Part(cost, c.left)
	opts.Progress.Step("trying " + k.String())
	made, err := c.classKernel(ctx, k, c.method)
	if err != nil {
		return err
	}
	_, report, err := gp.Classify(ctx, made, c.sample, opts)
	if err != nil {
		return err
	}
	c.tell.Candidates = append(c.tell.Candidates, TriedClassKernel{k.String(), report.Score, report.Accuracy})
	c.tried = append(c.tried, classAttempt{candidate: k, kernel: made, report: report})
	return nil
}

// best returns the first of those with the highest worth.
func (c *classContest) best(of []classAttempt) classAttempt {
	best := of[0]
	for _, a := range of[1:] {
		if c.worth(a) > c.worth(best) {
			best = a
		}
	}
	return best
}

func (c *classContest) worth(a classAttempt) float64 { return worthOf(a.report, c.labels) }

// worthOf compares kernels by the log probability of the labels of the sample, each given the others, less a penalty:
// one nat per hyperparameter (Akaike). Half of it is what the sample's score is too high by, because hyperparameters were
// learned from the sample; the other half is what they will lose elsewhere by their errors. That half is smaller where
// they are then learned from more labels.
func worthOf(r gp.ClassifyReport, labels int) float64 {
	share := min(1, float64(r.Scored)/float64(min(labels, classLearned)))
	return r.Score*float64(r.Scored) - float64(len(r.Theta))*(1+share)/2
}

// tryKnown tries covariates beside the best kernel of the graph alone, or roles if there are no covariates, and then the
// same without the graph.
func (c *classContest) tryKnown(ctx context.Context, alone classAttempt) error {
	of, why := c.offers(c.method)
	c.tell.Why = append(c.tell.Why, why)
	k := alone.candidate
	k.many, k.pairs = false, c.spec.Pairs
	if c.labels > exactMost && k.pairs == 0 {
		k.pairs = pairsMany
	}
	if c.spec.Terms != nil {
		if k.terms = termsOf(c.spec.Terms); k.terms == graphTerm {
			return nil
		}
		return c.try(ctx, k, nil)
	}
	if of.has(covariateTerm) {
		of = covariateTerm // roles rarely add to them, and classes take long
	}
	if of == 0 {
		return nil
	}
	k.terms = graphTerm | of
	starts, err := c.startsBeside(ctx, alone, k)
	if err != nil {
		return err
	}
	if err := c.try(ctx, k, starts); err != nil {
		return err
	}
	both := c.tried[len(c.tried)-1]
	if c.worth(both) <= c.worth(alone) {
		return nil
	}
	k.terms = of
	made, err := c.classKernel(ctx, k, c.method)
	if err != nil {
		return err
	}
	all := len(both.kernel.Params()) // the graph's come first
	return c.try(ctx, k, [][]float64{slices.Clone(both.report.Theta[all-len(made.Params()) : all])})
}

// startsBeside returns hyperparameters of a kernel with further terms beside the graph: the usual ones and, if the graph
// term has been fitted by itself, what was learned there with small variances of the others, which is as good to begin with.
func (c *classContest) startsBeside(ctx context.Context, alone classAttempt, k candidate) ([][]float64, error) {
	if alone.many {
		return nil, nil
	}
	made, err := c.classKernel(ctx, k, c.method)
	if err != nil {
		return nil, err
	}
	graph := len(alone.kernel.Params())
	var usual, near []float64
	for j, p := range made.Params() {
		usual, near = append(usual, p.Start), append(near, p.Start)
		switch {
		case j < graph:
			near[j] = alone.report.Theta[j]
		case p.Variance:
			near[j] *= smallVariance
		}
	}
	return [][]float64{usual, near}, nil
}

// smallVariance times the usual variance of a term changes little.
const smallVariance = 0.03

// classFamilies returns the families that the Spec leaves open. They are smooth,
// because neighbouring nodes usually share a class.
func (s Spec) classFamilies(hops int) []family {
	if s.Family != "" {
		return s.families(hops)
	}
	all := automatic(func(t kernel.Tried) int { return t.Classes })
	for k, f := range all {
		all[k] = f.on(cmp.Or(s.Laplacian, normalized))
	}
	return all
}

// unitClasses reports whether the Spec of the classifier says "unit variance". Free
// and low-rank kernels are scaled to unit variance as well, but their Spec cannot
// say so.
func (s Spec) unitClasses(method string) bool { return s.scaled() && method != "lowrank" }

// classKernel returns the kernel of a candidate, scaled to the same variance at
// every node.
func (t *Trainer) classKernel(ctx context.Context, c candidate, method string) (kernel.Kernel, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []kernel.Kernel
	if c.terms.has(graphTerm) {
		k, err := t.evenKernel(ctx, c, method)
		if err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	if c.terms != graphTerm {
		k, err := t.knownKernel(ctx, c.terms&knownTerms, c.pairs)
		if err != nil {
			return nil, err
		}
		all = append(all, k.kernels()...)
		if c.terms.has(productTerm) {
			all = append(all, kernel.Product(all[0], k.smooth))
		}
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return kernel.Sum(all...), nil
}

// evenKernel returns the graph term of a classifier's kernel.
func (t *Trainer) evenKernel(ctx context.Context, c candidate, method string) (kernel.Kernel, error) {
	fine, err := t.fine(ctx, c.family, method, c.hops)
	if err != nil {
		return nil, err
	}
	even := kernel.UnitVariance(fine)
	if !c.many {
		return even, nil
	}
	return t.onTop(ctx, even, c.family, method)
}

// choose records the chosen kernel and the reasons.
func (c *Classification) choose(chosen candidate) {
	c.fill(chosen)
	r := c.choice.Fit
	how := "left out one at a time"
	if r.Solver != gp.Exact {
		how = "held out"
	}
	if n := len(c.choice.Candidates); n > 1 {
		c.choice.Why = append(c.choice.Why, fmt.Sprintf("%v predicts held-out labels best of the %d kernels tried, after a penalty of one nat "+
			"per hyperparameter", chosen, n))
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
func (c *Classification) fill(chosen candidate) {
	c.chosen, c.spec = chosen, c.of.spec.filled(chosen, c.choice.Method)
	c.choice.Family, c.choice.Scales, c.choice.Hops, c.choice.Terms = chosen.name, c.spec.Scales, c.spec.Hops, c.spec.Terms
}

// spreadShares are the values tried for α in label spreading, the weight of the
// neighbours' labels; the first is the usual one.
var spreadShares = []float64{0.9, 0.5, 0.7, 0.8, 0.95}

// spread is label spreading with the α that has the highest leave-one-out score.
func (t *Trainer) spread(ctx context.Context, own gp.Labels, method gp.ClassMethod) (*Classification, error) {
	matern := Spec{Family: "matern", Nu: 1}.families(0)[0]
	k, err := t.kernel(ctx, candidate{family: matern, terms: graphTerm}, "series")
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
	c.fill(candidate{family: matern, terms: graphTerm})
	c.choice.Family = "spreading"
	kappa := c.choice.Fit.Theta[1]
	c.choice.Why = []string{fmt.Sprintf("label spreading: each node takes a share of %.2g of its label from its neighbours",
		kappa*kappa/(2+kappa*kappa))}
	return c, nil
}
