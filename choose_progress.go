package grfgp

import "grfgp/progress"

// The progress of a fit counts in units of fitting one kernel of the graph with two
// hyperparameters to a sample of the measurements. The costs are those of a mesh of 3,000
// nodes, of 10,000 nodes with hubs, of Facebook's pages, of Enron and of a grid of a million nodes, rounded.
const (
	manyCost  = 1.3 // many scales,
	freeCost  = 1.3 // free coefficients,
	knownCost = 0.5 // and terms over covariates or roles have more hyperparameters
	firstCost = 1   // of what is computed once for all candidates, by the first

	comparedCost     = 12  // of all candidates
	alternativesMost = 950 // measurements up to which the uncertainty of hyperparameters is computed, about
)

// cost is the expected cost of fitting a candidate.
func (k candidate) cost() float64 {
	cost := 1.0
	if k.many {
		cost *= manyCost
	}
	if len(k.modulation.Params()) > 2 {
		cost *= freeCost
	}
	if k.terms != graphTerm {
		cost += knownCost
	}
	return cost
}

// expect returns the expected cost of all candidates.
func (c *contest) expect(families int, scales []bool, tryTrend bool, known terms) float64 {
	cost := float64(families) + firstCost
	if known != 0 {
		cost += 3 * (1 + knownCost)
	}
	if known.has(covariateTerm) {
		cost += 1 + knownCost
	}
	if len(scales) > 1 {
		cost += manyCost
	}
	if tryTrend {
		cost += float64(len(scales))
	}
	if c.spec.Family == "" && c.spec.Variance != "unit" && c.spec.Laplacian != "raw" {
		cost += 1 + freeCost
	}
	if c.opensUnit() && c.uneven() {
		cost++
	}
	return cost
}

// finalCost is the expected cost of fitting the chosen kernel to all measurements, after
// fits to a sample. An evaluation takes a term by the square of their number and one by
// the cube.
func finalCost(measurements int) float64 {
	const sample, typical = 500, 12 // measurements as long to factor as those of the sample, and evaluations of 25
	x := float64(min(measurements, exactMost)) / sample
	return x * x * (1 + x) * min(typical, float64(finalIters(measurements))) / 25
}

// fitCosts returns the expected costs of comparing kernels and fitting the best, of the
// uncertainty of its hyperparameters, and of conditioning on the measurements.
func fitCosts(measurements int) (train, alternatives, condition float64) {
	final := finalCost(measurements)
	train, condition = comparedCost, final/10
	if measurements > sketchFrom {
		train += final
	}
	if measurements <= alternativesMost {
		alternatives, condition = final, final/2 // each alternative is conditioned too
	}
	return train, alternatives, condition
}

// next begins the part of the work that fits a candidate.
func (c *contest) next(k candidate) *progress.Work {
	cost := k.cost()
	if len(c.tried) == 0 {
		cost += firstCost
	}
	c.left = max(0, c.left-cost)
	w := c.work.Part(cost, c.left+c.after)
	w.Step("trying " + k.String())
	return w
}

// classCandidates is the expected cost of comparing kernels of a classifier, beside that of
// the final fit.
const classCandidates = 5

// expectClasses returns the expected cost of all candidates of a classifier.
func (t *Trainer) expectClasses(families int, scales []bool, method string) float64 {
	cost := float64(families + len(scales) - 1)
	if of, _ := t.offers(method); of != 0 {
		cost += 1 + knownCost
	}
	return cost
}

// finalClassCost is that of fitting the best of them to all labels.
func finalClassCost(labels int) float64 {
	if labels <= classSketch {
		return 0.2
	}
	return 4
}
