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
}

// learnClasses fits the kernels that the Spec leaves open to a sample of the labels, keeps
// the one with the highest leave-one-out log score, and fits it to all labels.
func (t *Trainer) learnClasses(ctx context.Context, own gp.Labels, method gp.ClassMethod, work *progress.Work) (*Classification, error) {
	opts := gp.ClassifyOptions{Method: method, Seed: t.spec.Seed}
	if err := opts.Solver.UnmarshalText([]byte(cmp.Or(t.spec.Solver, "auto"))); err != nil {
		return nil, err
	}
	c := &Classification{of: t}
	sample := classSample(own, t.spec.Seed)
	final := finalClassCost(own.Len())
	work.Step("looking at the graph")
	best, err := t.compareClasses(ctx, sample, own.Len(), opts, &c.choice, work.Part(classCandidates, final))
	if err != nil {
		return nil, err
	}
	t.forget(best.candidate)
	switch {
	case method == best.report.Method && sample.Len() == own.Len():
		opts.State = &best.report.ClassState
	case method == gp.Dirichlet || method == gp.OneVsAll:
		opts.Near = &best.report
	default:
		opts.Starts = [][]float64{best.report.Theta}
	}
	opts.Progress = work.Part(final, 0)
	opts.Progress.Step("fitting " + best.String())
	if c.classifier, c.choice.Fit, err = gp.Classify(ctx, best.kernel, own, opts); err != nil {
		return nil, err
	}
	if opts.State != nil {
		c.choice.Fit = best.report // which knows how it was learned
	}
	c.choose(best.candidate)
	short, err := t.shortfall(best.candidate, c.choice.Method, c.choice.Fit.Theta)
	c.choice.Why = append(c.choice.Why, short...)
	return c, err
}

const (
	// classSketch is the number of labels by which candidates are compared, if there
	// are more; the best is then fitted to all labels.
	classSketch  = 400
	classPatches = 2
	classTol     = 0.3 // nats, over all classes, that do not decide between kernels

	classLearned = 1000 // labels that hyperparameters are learned from, about, if there are more
)

// classSample returns all labels, or a sample with labels of every class: half of it
// in patches, where labels are as near to each other as they are in all, and half from
// all over. Labels are sorted by node, and nodes numbered by locality.
func classSample(l gp.Labels, seed uint64) gp.Labels {
	n := l.Len()
	if n <= classSketch {
		return l
	}
	chosen, seen := make([]bool, n), make([]bool, l.Classes)
	var rows []int
	take := func(r int) {
		chosen[r], seen[l.Class[r]] = true, true
		rows = append(rows, r)
	}
	const size = classSketch / 2 / classPatches
	for p := range classPatches {
		lo := (n - size) * (2*p + 1) / (2 * classPatches)
		for r := lo; r < lo+size; r++ {
			take(r)
		}
	}
	for _, r := range rand.New(rng.New(seed, "labels to compare kernels")).Perm(n) {
		if !chosen[r] && (len(rows) < classSketch || !seen[l.Class[r]]) {
			take(r)
		}
	}
	slices.Sort(rows)
	return selectLabels(l, rows)
}

// compareClasses returns the best candidate and adds all of them to the
// ClassChoice. The first family decides between one scale and many; the other
// families are tried with that decision. The best is to be fitted to the given number of
// labels, on which its representation depends.
func (t *Trainer) compareClasses(ctx context.Context, own gp.Labels, labels int, opts gp.ClassifyOptions, tell *ClassChoice, work *progress.Work) (best classAttempt, err error) {
	method, hops, why := t.decide(min(labels, classLearned), true)
	scales, whyScales, err := t.decideScales(ctx, own.Nodes, method, hops)
	if err != nil {
		return best, err
	}
	tell.Method = method
	tell.Why = append(why, whyScales, "unit variance at every node: classes do not depend on the degree")
	opts.ScoreOnly, opts.Tol = true, classTol
	defer t.shareCaches(method)()
	families := t.spec.classFamilies(hops)
	left := t.expectClasses(len(families), scales, method)
	work.Part(1, left)
	try := func(c candidate) error {
		cost := c.cost()
		left = max(0, left-cost)
		opts.Progress = work.Part(cost, left)
		opts.Progress.Step("trying " + c.String())
		k, err := t.classKernel(ctx, c, method)
		if err != nil {
			return err
		}
		if opts.Starts = c.starts(); c.terms != graphTerm {
			opts.Starts = nil
		}
		_, report, err := gp.Classify(ctx, k, own, opts)
		if err != nil {
			return err
		}
		tell.Candidates = append(tell.Candidates, TriedClassKernel{c.String(), report.Score, report.Accuracy})
		if best.kernel == nil || worthOf(report) > worthOf(best.report) {
			best = classAttempt{c, k, report}
		}
		return nil
	}
	for _, many := range scales {
		if err := try(candidate{family: families[0], many: many, unit: t.spec.unitClasses(method), hops: t.fineHops(many, method, hops), terms: graphTerm}); err != nil {
			return best, err
		}
	}
	for _, f := range families[1:] {
		if err := try(candidate{family: f, many: best.many, unit: best.unit, hops: best.hops, terms: graphTerm}); err != nil {
			return best, err
		}
	}
	return best, t.tryKnownClasses(&best, labels, method, tell, try)
}

// worthOf is the log probability of the labels, each given the others, less one nat per
// hyperparameter.
func worthOf(r gp.ClassifyReport) float64 {
	return r.Score*float64(r.Scored) - float64(len(r.Theta))
}

// tryKnownClasses tries covariates beside the best kernel of the graph, or roles if
// there are no covariates, and then the same without the graph.
func (t *Trainer) tryKnownClasses(best *classAttempt, labels int, method string, tell *ClassChoice, try func(candidate) error) error {
	of, why := t.offers(method)
	tell.Why = append(tell.Why, why)
	pairs := t.spec.Pairs
	if labels > exactMost && pairs == 0 {
		pairs = pairsMany
	}
	c := best.candidate
	c.many, c.pairs = false, pairs
	if t.spec.Terms != nil {
		if c.terms = termsOf(t.spec.Terms); c.terms == graphTerm {
			return nil
		}
		best.kernel = nil // the requested terms replace it
		return try(c)
	}
	if of.has(covariateTerm) {
		of = covariateTerm // roles rarely add to them, and classes take long
	}
	if of != 0 {
		c.terms = graphTerm | of
		if err := try(c); err != nil {
			return err
		}
	}
	if best.terms != graphTerm {
		c.terms = best.terms &^ graphTerm
		return try(c)
	}
	return nil
}

// classFamilies returns the families that the Spec leaves open. They are smooth,
// because neighbouring nodes usually share a class.
func (s Spec) classFamilies(hops int) []family {
	if s.Family != "" {
		return s.families(hops)
	}
	matern := Spec{Family: "matern", Laplacian: s.Laplacian}.families(hops)
	return append(matern[2:], s.families(hops)[0]) // ν = 2, ν = 4, diffusion
}

// unitClasses reports whether the Spec of the classifier says "unit variance". Free
// and low-rank kernels are scaled to unit variance as well, but their Spec cannot
// say so.
func (s Spec) unitClasses(method string) bool { return s.Family != "free" && method != "lowrank" }

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
		c.choice.Why = append(c.choice.Why, fmt.Sprintf("%v predicts held-out labels best of the %d kernels tried, after a penalty of one nat per hyperparameter", chosen, n))
	}
	c.choice.Why = append(c.choice.Why, fmt.Sprintf("of %d labels %s, %.1f %% are predicted correctly (mean log probability %.3f; calibrated with temperature %.2f and spread %.1f)",
		r.Scored, how, 100*r.Accuracy, r.Score, r.Temperature, r.Spread))
}

// fill records the chosen kernel.
func (c *Classification) fill(chosen candidate) {
	c.spec = c.of.spec.filled(chosen, c.choice.Method)
	c.choice.Family, c.choice.Scales, c.choice.Hops, c.choice.Terms = chosen.name, c.spec.Scales, c.spec.Hops, c.spec.Terms
}

// spreadShares are the values tried for α in label spreading, the weight of the
// neighbours' labels; the first is the usual one.
var spreadShares = []float64{0.9, 0.5, 0.7, 0.8, 0.95}

// spread is label spreading with the α that has the highest leave-one-out score.
func (t *Trainer) spread(ctx context.Context, own gp.Labels, method gp.ClassMethod, _ *progress.Work) (*Classification, error) {
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
	c.choice.Why = []string{fmt.Sprintf("label spreading: each node takes a share of %.2g of its label from its neighbours", kappa*kappa/(2+kappa*kappa))}
	return c, nil
}
