package gp

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/gp/internal/latent"
	"grfgp/internal/parallel"
	"grfgp/internal/rng"
	"grfgp/kernel"
	"grfgp/plan"
	"grfgp/solve"
)

// tuner learns the hyperparameters of classification by regression, in three steps:
// by the likelihood of the regressions, by one factor for all variances, and by the
// probability of each label given the others.
type tuner struct {
	kernel kernel.Kernel
	labels Labels
	params *params
	method ClassMethod
	solver Solver
	seed   uint64
	count  *evaluations // nil: nobody is told of them
	card   *Card        // of the classifier; nil: none
	limits *plan.Limits // nil: plan.Default()

	parts []*regressions // that are learned from
	scale float64        // of their latent functions
	class []int          // of the labels of all parts

	recent []factored // the last factors, the newest first
}

// factored are the factors of all parts at theta.
type factored struct {
	theta []float64
	parts []*classFactor
}

// recentFactors is how many factors are kept: a climb ends where it was last or, after a step too far, the time before,
// and what begins or follows it needs the same factors.
const recentFactors = 2

// factors returns the factors of all parts at theta.
func (t *tuner) factors(ctx context.Context, theta []float64) ([]*classFactor, error) {
	for _, f := range t.recent {
		if slices.Equal(f.theta, theta) {
			return f.parts, nil
		}
	}
	parts := make([]*classFactor, len(t.parts))
	err := parallel.Blocks(ctx, len(parts), func(_, k int) (err error) {
		parts[k], err = t.parts[k].factor(ctx, theta)
		return err
	})
	if err != nil {
		return nil, err
	}
	t.recent = slices.Insert(t.recent, 0, factored{slices.Clone(theta), parts})
	t.recent = t.recent[:min(len(t.recent), recentFactors)]
	return parts, nil
}

// at returns the log likelihood of all parts.
func (t *tuner) at(ctx context.Context, theta []float64) (evaluation, error) {
	factors, err := t.factors(ctx, theta)
	if err != nil {
		return nil, err
	}
	all := make(together, len(factors))
	for k, f := range factors {
		all[k] = f
	}
	return all, nil
}

// learn sets hyperparameters, calibration and scores from a sample of the labels. Near says that the one start is from a
// fit to these labels.
func (t *tuner) learn(ctx context.Context, starts [][]float64, near bool, maxIter int, tol float64, r *ClassifyReport) error {
	t.sample()
	byScore := len(starts[0]) >= refineLeast && len(t.class) >= scoreLeast
	if byScore && near {
		return t.learnByScore(ctx, starts, 0, min(maxIter, scoreIters), tol, r)
	}
	likelihood := counted{t, t.count}
	best, err := bestStart(ctx, likelihood, starts, false)
	if err != nil {
		return err
	}
	theta, fit, _, err := t.params.climbBy(ctx, best, climbing{maxIter: maxIter, tol: tol}, likelihood)
	if err != nil {
		return err
	}
	r.Theta, r.Evaluations, r.Converged = theta, fit.Evaluations, fit.Converged
	if err := t.amplify(ctx, r); err != nil {
		return err
	}
	if byScore {
		likely := r.Theta
		err := t.learnByScore(ctx, append([][]float64{likely}, starts...), 0, min(maxIter, scoreIters), tol, r)
		r.likely = likely
		return err
	}
	if len(theta) >= refineLeast {
		if err := t.refineTwice(ctx, maxIter/2, max(tol, refineTol), r); err != nil {
			return err
		}
	}
	return t.report(ctx, r)
}

// report sets the log likelihood at the report's hyperparameters.
func (t *tuner) report(ctx context.Context, r *ClassifyReport) error {
	at, err := t.at(ctx, r.Theta)
	if err == nil {
		r.LogLikelihood = at.logLikelihood()
	}
	return err
}

// learnByScore climbs the score from the start that has the highest. The result is taken if it gains more than least nats.
func (t *tuner) learnByScore(ctx context.Context, starts [][]float64, least float64, maxIter int, tol float64, r *ClassifyReport) error {
	most := math.Inf(-1)
	var failed error
	for _, theta := range starts {
		trial := *r
		trial.Theta, trial.refined, trial.Converged = slices.Clone(theta), true, true
		switch err := t.rate(ctx, &trial); {
		case errors.Is(err, solve.ErrNotPositiveDefinite):
			failed = err
		case err != nil:
			return err
		case trial.Score > most:
			most, *r = trial.Score, trial
		}
	}
	if math.IsInf(most, -1) {
		return failed
	}
	if err := t.refine(ctx, least, maxIter, max(tol, refineTol), r); err != nil {
		return err
	}
	return t.report(ctx, r)
}

// tests returns how often leave-one-out scores are computed, about.
func (t *tuner) tests() float64 {
	if len(t.params.list) < refineLeast {
		return 4
	}
	return 4 + plan.Evaluations
}

// costs returns the expected costs of learning and of what follows, for progress: those
// of dense factors.
func (t *tuner) costs(starts [][]float64, opts ClassifyOptions) (learn, finish float64) {
	n := t.labels.Len()
	learn = t.limits.Or().Classes(n).Cubes() * (float64(len(starts)) + plan.Evaluations + t.tests())
	switch {
	case opts.ScoreOnly:
		return learn, 0
	case t.solver == Exact:
		return learn, plan.Patches{Scattered: n}.Cubes()
	}
	return learn, learn / 3
}

// refineTwice refines the report's hyperparameters and, because the likelihood may have
// made variances so small that the score does not change with them, the start values. A
// result is taken if it gains more than one nat per hyperparameter: with few labels it
// would fit their noise.
func (t *tuner) refineTwice(ctx context.Context, maxIter int, tol float64, r *ClassifyReport) error {
	least := float64(len(r.Theta))
	other := *r
	other.Theta = make([]float64, len(r.Theta))
	for j, p := range t.params.list {
		other.Theta[j] = p.Start
	}
	if r.Scored == 0 {
		return nil
	}
	needed := r.Score + least/float64(r.Scored)
	if err := t.refine(ctx, least, maxIter, tol, r); err != nil {
		return err
	}
	if err := t.rate(ctx, &other); err != nil {
		return ctx.Err() // no covariance there
	}
	if err := t.refine(ctx, 0, maxIter, tol, &other); err != nil {
		return err
	}
	if other.refined && other.Score > max(needed, r.Score) {
		*r = other
	}
	return nil
}

// continueFrom is learn after a fit to some of the labels.
func (t *tuner) continueFrom(ctx context.Context, near *ClassifyReport, maxIter int, tol float64, r *ClassifyReport) error {
	if !near.refined {
		return t.learn(ctx, [][]float64{near.Theta}, true, maxIter, tol, r)
	}
	t.sample()
	starts := [][]float64{near.Theta}
	if near.likely != nil {
		starts = append(starts, near.likely)
	}
	return t.learnByScore(ctx, starts, float64(len(near.Theta)), maxIter, tol, r)
}

// sample chooses the labels that are learned from: all, or windows of labels that
// are near each other and some from all over.
func (t *tuner) sample() {
	all := []Labels{t.labels}
	if of := t.limits.Or().Classes(t.labels.Len()); of.Windows > 0 {
		all = nil
		for _, chosen := range patches(t.labels.Nodes, of) {
			all = append(all, t.labels.Select(chosen))
		}
	}
	for _, part := range all {
		var one *regressions
		one, t.scale = newRegressions(t.method, t.kernel, part, t.params)
		one.kernel = kernel.Cached(t.kernel, one.nodes, t.limits.Or().CacheBytes/4)
		t.parts = append(t.parts, one)
		t.class = append(t.class, one.labelClasses()...)
	}
}

const (
	scaleStep   = 0.4 // by which the variance is multiplied from trial to trial
	scaleTrials = 5
	scaleSpread = 3    // e-folds: how far from the likelihood the score may lead
	heldLabels  = 2000 // that are held out where leaving one out is too much work

	refineTol = 0.1 // nats

	// refineLeast is the number of hyperparameters from which the score is climbed in all
	// of them: with two of a graph kernel, the factor for all variances has most of the
	// gain (what was left was 1.6 nats on Cora and 2.2 on Facebook, less than it costs).
	refineLeast = 5

	// scoreLeast is the number of labels from which a start is climbed by the score whatever it gains: with fewer, it would
	// fit their noise.
	scoreLeast = 300
	scoreIters = 12 // of such a climb, which a fit to more labels continues
)

// amplify multiplies all variances by the factor that gives labels the highest
// probability given the others: the likelihood of a regression is not that of
// classes, and mostly sets the variance too high.
func (t *tuner) amplify(ctx context.Context, r *ClassifyReport) error {
	best, most := *r, math.Inf(-1)
	better := func(factor float64) (bool, error) {
		trial := *r
		trial.Theta = t.amplified(r.Theta, factor)
		if err := t.rate(ctx, &trial); err != nil {
			return false, err
		}
		x := math.Log(factor) / scaleSpread
		value := trial.Score - x*x/(2*float64(max(1, trial.Scored)))
		if value <= most {
			return false, nil
		}
		best, most = trial, value
		return true, nil
	}
	if _, err := better(1); err != nil {
		return err
	}
	if best.Scored == 0 {
		*r = best
		return nil
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

// refine climbs the probability of labels given the others, and the weak prior, from
// the report's hyperparameters. Its result is taken if it gains more than least nats.
func (t *tuner) refine(ctx context.Context, least float64, maxIter int, tol float64, r *ClassifyReport) error {
	of := &leftOut{tuner: t, spread: r.Spread, first: math.NaN(), most: math.Inf(-1)}
	of.params = &params{list: append(slices.Clone(t.params.list), kernel.Param{Name: "temperature", Start: 1, Positive: true})}
	theta, fit, _, err := of.params.climbBy(ctx, append(slices.Clone(r.Theta), r.Temperature), climbing{maxIter: maxIter, tol: tol},
		counted{of, t.count})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil || !(of.most-of.first > least):
		return nil // what was learned so far stands
	}
	refined := *r
	refined.Theta, refined.refined = theta[:len(r.Theta)], true
	if err := t.rate(ctx, &refined); errors.Is(err, solve.ErrNotPositiveDefinite) {
		return nil
	} else if err != nil {
		return err
	}
	refined.Evaluations += fit.Evaluations
	*r = refined
	return nil
}

// leftOut is the log probability of the labels of all parts given the others, as a function of the hyperparameters and, last, the
// temperature.
type leftOut struct {
	*tuner
	params      *params
	spread      float64
	first, most float64 // with the weak prior: the first value, NaN before it, and the highest
}

func (l *leftOut) at(ctx context.Context, theta []float64) (evaluation, error) {
	last := len(theta) - 1
	factors, err := l.factors(ctx, theta[:last])
	if err != nil {
		return nil, err
	}
	all := make(together, len(factors))
	err = parallel.Blocks(ctx, len(factors), func(_, k int) error {
		all[k] = factors[k].leaveOutScore(l.scale, latent.Calibration{Temperature: theta[last], Spread: l.spread})
		return nil
	})
	if err != nil {
		return nil, err
	}
	penalised := all.logLikelihood() + l.params.Prior(make([]float64, len(theta)), l.params.Free(theta))
	if math.IsNaN(l.first) {
		l.first = penalised
	}
	l.most = max(l.most, penalised)
	return all, nil
}

// rate sets the calibration and the scores of the report's hyperparameters, by
// leaving out one label at a time from the labels that are learned from.
func (t *tuner) rate(ctx context.Context, r *ClassifyReport) error {
	defer t.count.add()
	factors, err := t.factors(ctx, r.Theta)
	if err != nil {
		return err
	}
	all := latent.New(len(t.class), t.labels.Classes)
	at := 0
	for _, f := range factors {
		left := f.leaveOneOut()
		n, _ := left.Mean.Dims()
		for k := range n {
			copy(all.Mean.RawRowView(at), left.Mean.RawRowView(k))
			copy(all.Variance.RawRowView(at), left.Variance.RawRowView(k))
			at++
		}
	}
	r.calibrate(all.Scaled(t.scale), t.class)
	return nil
}

// calibrate sets the calibration and the scores.
func (r *ClassifyReport) calibrate(f latent.Functions, class []int) {
	c := f.Calibrate(class)
	r.Calibration = Calibration(c)
	n, classes := f.Mean.Dims()
	p := mat.NewDense(n, classes, nil)
	f.Probabilities(p, c)
	r.score(p, class)
}

// finish returns the classifier at the report's hyperparameters, and calibrates it
// with all labels: each left out by itself, or some held out.
func (t *tuner) finish(ctx context.Context, r *ClassifyReport) (*normalClassifier, error) {
	if t.solver == Exact {
		c := t.newClassifier(t.labels, r.Theta, uncalibrated)
		f, err := c.factor(ctx, r.Theta)
		if err != nil {
			return nil, err
		}
		left := f.leaveOneOut().Scaled(c.scale)
		r.calibrate(left, c.labelClasses())
		c.calibration = r.Calibration
		c.use(f, left, t.labels)
		return c, nil
	}
	held, rest := t.split()
	c, err := t.condition(ctx, rest, r.Theta, uncalibrated)
	if err != nil {
		return nil, err
	}
	f, err := c.latents(ctx, held.Nodes, nil)
	if err != nil {
		return nil, err
	}
	r.calibrate(f, held.Class)
	return t.condition(ctx, t.labels, r.Theta, r.Calibration)
}

// split holds out a tenth of the labels, at most heldLabels.
func (t *tuner) split() (held, rest Labels) {
	n := t.labels.Len()
	perm := rand.New(rng.New(t.seed, "held-out labels")).Perm(n)
	size := min(heldLabels, n/10)
	return t.labels.Select(perm[:size]), t.labels.Select(perm[size:])
}
