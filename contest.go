package grfgp

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"grfgp/gp"
	"grfgp/kernel"
	"grfgp/plan"
	"grfgp/progress"
	"grfgp/solve"
)

// contest compares kernels by what a judge says of each: how well it explains measurements, or labels.
type contest struct {
	*Trainer
	judge
	method string
	hops   int
	scales []string // that are tried
	tried  []attempt

	work        *progress.Work // of all fits
	left, after float64        // expected cost of the candidates to come, and of what follows
}

// judge fits kernels to data.
type judge interface {
	// fit fits a kernel, starting from one of the starts, of which it knows no further hyperparameters; nil: those of the
	// kernel. In order says that they go from short to long reach.
	fit(ctx context.Context, e Expression, starts []kernel.Theta, inOrder bool, w *progress.Work) (attempt, error)
}

// attempt is a kernel and its fit.
type attempt struct {
	Expression
	theta   kernel.Theta
	worth   float64 // the higher, the better
	unusual bool

	model  *gp.Model // of values
	report gp.FitReport

	kernel kernel.Kernel // of classes
	class  gp.ClassifyReport
	close  bool // others are nearly as good
}

// unusualOdds is the gain in log marginal likelihood, in nats, that an unusual
// kernel needs: prior odds of twenty to one against it. Measurements may not
// distinguish it from a usual kernel. If every other node of a ring is measured, a
// kernel under which neighbours differ and one under which they are alike are
// equally likely, but their predictions at the unmeasured nodes are opposite.
const unusualOdds = 3

// likeliest returns the first of the attempts with the highest worth.
func likeliest(tried []attempt) attempt {
	return slices.MaxFunc(tried, func(a, b attempt) int { return cmp.Compare(a.worth, b.worth) })
}

// some returns the attempts that satisfy a condition.
func some(all []attempt, of func(a attempt) bool) []attempt {
	return slices.DeleteFunc(slices.Clone(all), func(a attempt) bool { return !of(a) })
}

// best returns the best of the attempts with the graph alone that satisfy a condition.
func (c *contest) best(of func(a attempt) bool) attempt {
	return likeliest(some(c.tried, func(a attempt) bool { return a.Terms == GraphTerm && of(a) }))
}

// every is the condition that all attempts satisfy.
func every(attempt) bool { return true }

// graphAlone returns a member of a family as a kernel of the graph alone.
func (c *contest) graphAlone(e Expression, scales, trend, variance string) Expression {
	e.Method, e.Scales, e.Trend, e.Variance, e.Terms = c.method, scales, trend, variance, GraphTerm
	e.Hops = c.fineHops(e, c.hops)
	return e
}

// familyStarts returns hyperparameters to start learning from: length scales from two
// to a hundred hops, of which the likeliest is taken. Nil means the start values
// of the kernel.
func (b *workshop) familyStarts(e Expression) (all []kernel.Theta) {
	if f, by := b.spec.modulation(e); !e.Many() && by != nil {
		for _, start := range f.Starts {
			all = append(all, kernel.ThetaOf(by.Params(), start).In("graph"))
		}
	}
	return all
}

// try fits a kernel from the starts of its family, and adds it to tried.
func (c *contest) try(ctx context.Context, e Expression) error {
	starts := c.familyStarts(e)
	return c.add(c.fit(ctx, e, starts, starts != nil, c.next(e)))
}

// tryFrom fits a kernel from the given starts, and adds it to tried.
func (c *contest) tryFrom(ctx context.Context, e Expression, starts ...kernel.Theta) error {
	return c.add(c.fit(ctx, e, starts, false, c.next(e)))
}

func (c *contest) add(a attempt, err error) error {
	if err == nil {
		c.tried = append(c.tried, a)
	}
	return err
}

// addUnusual adds a kernel that seldom wins. If its covariance is not positive
// definite to rounding, the usual kernels remain.
func (c *contest) addUnusual(a attempt, err error) error {
	a.unusual = true
	a.worth -= unusualOdds
	return ifDefinite(c.add(a, err))
}

// ifDefinite returns an error, unless it says that a covariance is not positive definite.
func ifDefinite(err error) error {
	if errors.Is(err, solve.ErrNotPositiveDefinite) {
		return nil
	}
	return err
}

// smaller returns hyperparameters with variances that are some times smaller, except those under a path.
func smaller(k kernel.Kernel, theta []float64, share float64, except string) kernel.Theta {
	all := kernel.ThetaOf(k.Params(), theta)
	for j, p := range k.Params() {
		if p.Variance && !strings.HasPrefix(p.Name, except+"/") {
			all[j].Number *= share
		}
	}
	return all
}

// The progress of a fit counts in units of fitting one kernel of the graph with two
// hyperparameters to a sample of the measurements. The costs are those of a mesh of 3,000
// nodes, of 10,000 nodes with hubs, of Facebook's pages, of Enron and of a grid of a million nodes, rounded.
const (
	manyCost  = 1.3 // many scales,
	freeCost  = 1.3 // free coefficients,
	knownCost = 0.5 // and terms over covariates or roles have more hyperparameters
	firstCost = 1   // of what is computed once for all candidates, by the first

	comparedCost    = 12 // of all candidates
	classCandidates = 5  // the same of a classifier, beside that of the final fit

	fewHyperparameters = 4
)

// costOf is the expected cost of fitting a kernel.
func (b *workshop) costOf(e Expression) float64 {
	cost := 1.0
	if e.Many() {
		cost *= manyCost
	}
	if _, by := b.spec.modulation(e); by != nil && len(by.Params()) > 2 {
		cost *= freeCost
	}
	if e.Terms != GraphTerm {
		cost += knownCost
	}
	return cost
}

// next begins the part of the work that fits a kernel.
func (c *contest) next(e Expression) *progress.Work {
	cost := c.costOf(e)
	if len(c.tried) == 0 {
		cost += firstCost
	}
	c.left = max(0, c.left-cost)
	w := c.work.Part(cost, c.left+c.after)
	w.Step("trying " + e.Name())
	return w
}

// finalCost is the expected cost of fitting the chosen kernel to all measurements, after
// fits to a sample. An evaluation takes a term by the square of their number and one by
// the cube.
func (b *workshop) finalCost(measurements int) float64 {
	const sample, typical = 500, 12 // measurements as long to factor as those of the sample, and evaluations of 25
	x := float64(min(measurements, b.limits.Exact)) / sample
	return x * x * (1 + x) * min(typical, float64(b.limits.Iterations(measurements))) / plan.Evaluations
}

// fitCosts returns the expected costs of comparing kernels and fitting the best, of the
// uncertainty of its hyperparameters, and of conditioning on the measurements.
func (b *workshop) fitCosts(measurements int) (train, alternatives, condition float64) {
	final := b.finalCost(measurements)
	train, condition = comparedCost, final/10
	if measurements > b.limits.SketchFrom {
		train += final
	}
	if b.limits.Alternatives(b.graph.Len(), measurements, fewHyperparameters, 1) {
		alternatives, condition = final, final/2 // each alternative is conditioned too
	}
	return train, alternatives, condition
}

// finalClassCost is that of fitting the best kernel to all labels.
func (b *workshop) finalClassCost(labels int) float64 {
	if labels <= b.limits.ClassSketch {
		return 0.2
	}
	return 4
}
