package gp

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/gp/internal/latent"
	"grfgp/internal/rng"
	"grfgp/kernel"
)

// tuner learns the hyperparameters of classification by regression.
type tuner struct {
	kernel kernel.Kernel
	labels Labels
	params *params
	method ClassMethod
	solver Solver
	seed   uint64
}

const (
	learnLabels = 800 // that likelihoods are learned from as a whole; beyond, from samples:
	windowCount = 3   // windows of labels near each other,
	windowSize  = 300
	spreadSize  = 600 // and labels from all over
)

// learn climbs the likelihood from the most likely start.
func (t *tuner) learn(ctx context.Context, starts [][]float64, maxIter int, tol float64, r *ClassifyReport) error {
	var all []*regressions
	for _, part := range t.samples() {
		one, _ := newRegressions(t.method, t.kernel, part, t.params)
		one.kernel = kernel.Cached(t.kernel, one.nodes, cacheBytes/4)
		all = append(all, one)
	}
	best, err := bestStart(ctx, all, starts)
	if err != nil {
		return err
	}
	theta, fit, err := t.params.climb(ctx, best, maxIter, tol, compositeObjective(all))
	if err != nil {
		return err
	}
	r.Theta, r.Evaluations, r.Converged = theta, fit.Evaluations, fit.Converged
	r.LogLikelihood, err = compositeLogLikelihood(ctx, all, theta)
	return err
}

// samples returns the labels that are learned from: all, or windows of labels
// that are near each other and some from all over.
func (t *tuner) samples() []Labels {
	if t.labels.Len() <= learnLabels {
		return []Labels{t.labels}
	}
	var all []Labels
	for _, chosen := range patches(t.labels.Nodes, windowCount, windowSize, spreadSize) {
		all = append(all, t.labels.pick(chosen))
	}
	return all
}

const (
	scaleStep   = 0.4 // by which the variance is multiplied from trial to trial
	scaleTrials = 5
	scaleSpread = 3    // e-folds: how far from the likelihood the score may lead
	heldLabels  = 2000 // that are held out where leaving one out is too much work
)

// tune sets the variance, starting from what the likelihood says, and the
// calibration for the highest probability of labels given the others: the likelihood of
// a regression is not that of classes, and mostly sets the variance too high.
func (t *tuner) tune(ctx context.Context, r *ClassifyReport) error {
	best, most := *r, math.Inf(-1)
	better := func(factor float64) (bool, error) {
		trial := *r
		trial.Theta = t.amplified(r.Theta, factor)
		if err := t.trial(ctx, &trial); err != nil {
			return false, err
		}
		x := math.Log(factor) / scaleSpread
		value := trial.Score - x*x/(2*float64(trial.Scored))
		if value <= most {
			return false, nil
		}
		best, most = trial, value
		return true, nil
	}
	if _, err := better(1); err != nil {
		return err
	}
	for _, step := range []float64{scaleStep, 1 / scaleStep} {
		trials := 0
		for factor := step; trials < scaleTrials; factor *= step {
			ok, err := better(factor)
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			trials++
		}
		if trials > 0 {
			break // the score has one peak
		}
	}
	*r = best
	return nil
}

// amplified returns theta with all variances of the kernel times factor.
func (t *tuner) amplified(theta []float64, factor float64) []float64 {
	out := slices.Clone(theta)
	for j, p := range t.params.list {
		if p.Variance {
			out[j] *= factor
		}
	}
	return out
}

// trial scores theta: by leaving out one label at a time, or a part of them.
func (t *tuner) trial(ctx context.Context, r *ClassifyReport) error {
	if t.solver == Exact {
		reg, scale := newRegressions(t.method, t.kernel, t.labels, t.params)
		f, err := reg.factor(ctx, r.Theta)
		if err != nil {
			return err
		}
		order, _ := t.labels.byClass()
		t.rate(r, f.leaveOneOut().Scaled(scale), t.labels.pick(order).Class)
		return nil
	}
	held, rest := t.split()
	c, err := t.condition(ctx, rest, r.Theta, uncalibrated)
	if err != nil {
		return err
	}
	f, err := c.latents(ctx, held.Nodes)
	if err != nil {
		return err
	}
	t.rate(r, f, held.Class)
	return nil
}

// rate sets the calibration and the scores.
func (t *tuner) rate(r *ClassifyReport, f latent.Functions, class []int) {
	c := f.Calibrate(class)
	r.Calibration = Calibration(c)
	p := mat.NewDense(len(class), t.labels.Classes, nil)
	f.Probabilities(p, c)
	r.score(p, class)
}

// split holds out a tenth of the labels, at most heldLabels.
func (t *tuner) split() (held, rest Labels) {
	n := t.labels.Len()
	perm := rand.New(rng.New(t.seed, "held-out labels")).Perm(n)
	size := min(heldLabels, n/10)
	return t.labels.pick(perm[:size]), t.labels.pick(perm[size:])
}
