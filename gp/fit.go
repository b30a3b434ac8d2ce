package gp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"grfgp/internal/enum"
	"grfgp/internal/ranks"
	"grfgp/kernel"
	"grfgp/plan"
	"grfgp/progress"
)

// Solver says how systems with the training covariance are solved.
type Solver int

const (
	// Auto takes Exact up to 3,000 measurements and Iterative beyond.
	Auto Solver = iota
	// Exact factors the training covariance: O(T³), exact gradients.
	Exact
	// Iterative uses preconditioned conjugate gradients and random probes.
	Iterative
)

var solvers = enum.New("solver", "auto", "exact", "iterative")

// SolverNames returns the names of all solvers.
func SolverNames() []string { return solvers.Names() }

// String returns the solver's name.
func (s Solver) String() string { return solvers.Name(int(s)) }

// MarshalText returns the name.
func (s Solver) MarshalText() ([]byte, error) { return solvers.Marshal(int(s)) }

// UnmarshalText reads the name.
func (s *Solver) UnmarshalText(text []byte) error { return solvers.Unmarshal((*int)(s), text) }

// defaultTol is the default of FitOptions.Tol: a thousandth of a nat decides nothing.
const defaultTol = 1e-3

// FitOptions says how hyperparameters are learned; the zero value is a good
// choice.
type FitOptions struct {
	Values Values // what is measured; zero: Gaussian
	Solver Solver // zero: Auto
	// known mean, on the scale that people read: of counts a rate, of shares a probability; nil: unknown, with a prior as wide as the data
	Mean *float64
	// known standard deviation of the noise of one measurement (of Student values the scale of its distribution), if Data has no noise
	// variances; nil: learned
	NoiseSD   *float64
	Starts    [][]float64 // hyperparameters of the kernel; learning starts from the most likely of them; nil means those of kernel.Starts
	Ordered   bool        // Starts are in an order, such as that of length: those after one that is 20 nats below the best are not tried
	MaxIter   int         // most iterations of BFGS; 0 means 100
	Tol       float64     // gain in log likelihood, in nats, that the next steps promise, or four steps had, when learning ends; 0 means 0.001
	Epochs    int         // Iterative: steps of Adam; 0 means 50
	ColdStart bool        // Iterative: Adam starts from the first of Starts, not from a fit to a few patches
	Fixed     bool        // keep the most likely of Starts, and learn nothing
	// fitted to the same values, or to a sample of them, maybe with another kernel: a learned noise starts from its own and, where a start
	// begins with its hyperparameters, the first steps from the curvature at them; Gaussian values only; nil: none
	From *Model
	// log marginal likelihood of another kernel for the same measurements: learning ends early if it is far better; nil: none
	Rival     *float64
	Subsample int    // fit to a sample of about this many measurements, in patches and scattered, to compare kernels; 0: to all
	Seed      uint64 // of random probes

	// Ranks are processes that fit the same model to the same data together; nil: this one
	// alone. They call Fit, and methods of what follows from it, together. Many
	// measurements of a kernel that can be spread (kernel.Training) are shared among them;
	// otherwise each computes all.
	Ranks *ranks.Group

	// Checkpoints keep the state of an iterative fit from time to time; nil: nothing is kept.
	Checkpoints Checkpoints

	// Device is a graphics card that the fit, and posteriors of its model, compute on where the kernel can
	// be computed there; nil: the processor alone. Solves end at the same residuals, so that results agree
	// closely, not to the bit. If the card fails, Card.Must decides between the processor and an error.
	Device *Card

	Progress *progress.Work // is told how far learning is; nil: nobody is

	Stochastic Stochastic // Iterative: how gradients are estimated

	Limits *plan.Limits // of the fit, and of what follows from it; nil: plan.Default()
}

// Stochastic says how an iterative fit estimates gradients; the zero value is a
// good choice. Other values serve comparisons with the paper.
type Stochastic struct {
	Probes int     // random vectors, at most MaxProbes; 0 means 3 for many measurements to 15 for few
	Tol    float64 // relative residual of solves; 0 means 0.03, or less where the kernel has a preconditioner of its own
	Plain  bool    // no preconditioner, in the fit and in the posterior
	// new probes in every step, and solves that start from zero; by default probes are kept and solves start from the last solution
	Fresh bool

	limits   *plan.Limits // those of FitOptions
	double   bool         // iterations in float64 alone
	residual float64      // of the solves of posteriors at most; 0: what they need
}

// within returns the limits of a fit, and of what follows from it.
func (s Stochastic) within() *plan.Limits { return s.limits.Or() }

// MaxProbes is the largest Stochastic.Probes.
const MaxProbes = 64

func (s Stochastic) check() error {
	if s.Probes < 0 || s.Probes > MaxProbes || !(s.Tol >= 0) || s.Tol >= 1 {
		return fmt.Errorf("fitting: %d probes and a residual of %g; take 0 to %d and 0 to 1", s.Probes, s.Tol, MaxProbes)
	}
	return nil
}

// FitReport is the outcome of a fit: the learned hyperparameters, and how well the
// optimisation went.
type FitReport struct {
	Solver  Solver    `json:"solver"`
	Names   []string  `json:"names"`
	Theta   []float64 `json:"theta"`    // standardised
	NoiseSD float64   `json:"noise_sd"` // of one measurement, in the units of the data
	// of the standardised data: of all measurements, where the scatter of means is known; by Laplace's approximation unless the values are
	// Gaussian
	LogLikelihood   float64 `json:"log_likelihood"`
	LogLikelihoodSE float64 `json:"log_likelihood_se"` // its standard error; 0 when exact
	LOOScore        float64 `json:"loo_score"`         // mean leave-one-out log density, standardised; 0 with the iterative solver
	Iterations      int     `json:"iterations"`
	Evaluations     int     `json:"evaluations"`
	Residual        float64 `json:"residual"` // largest relative residual of the last step's solves; iterative solver only
	// the iterative solver was not needed: a structure of the kernel, such as a table of nodes × periods, gives exact results
	Factored bool   `json:"factored,omitempty"`
	Values   Values `json:"values,omitempty"`
	Shape    Shape  `json:"shape,omitzero"` // learned parameters of the likelihood
	// Converged reports, with the exact solver or a Subsample, that BFGS ended
	// before MaxIter. With the iterative solver, which takes a fixed number of
	// steps, it reports that the last step's Residual is at most Stochastic.Tol, or
	// 0.03 without one; it does not say that more steps would change nothing. It
	// is true where nothing is learned.
	Converged bool `json:"converged"`
}

// Fit learns the hyperparameters of k from data by maximising the marginal
// likelihood (with a weak prior that matters only where data are few). Repeated
// measurements of a node are pooled first, which saves time and changes nothing
// else: see Data.Pool.
//
// With many measurements, learning starts from an exact fit to a few patches, sets
// of measured nodes with close numbers. On a graph in locality order
// (graph.Graph.Ordered) a patch is a part of the graph with short distances. In
// any other order the result is valid too, but learning starts from worse
// hyperparameters.
//
// For FitOptions.Values other than Gaussian the marginal likelihood is Laplace's
// approximation, and hyperparameters refer to f on its own scale (see the package's
// section Values). Counts are fitted as Poisson numbers and as negative binomial
// ones, and are taken for the latter if that is better by more than one nat. From more
// than 1,500 such measurements, or with the iterative solver, hyperparameters are
// learned by the composite likelihood of a few patches and of scattered
// measurements; all measurements serve the posterior and the reported likelihood.
//
// From a single Gaussian measurement, or from such that are all equal, nothing is
// learned: the hyperparameters keep their prior values, and the mean and the noise
// must be known. Values are then standardised by their distance from the mean, or by
// the noise if that is larger.
func Fit(ctx context.Context, k kernel.Kernel, d Data, opts FitOptions) (*Model, FitReport, error) {
	var r FitReport
	if err := d.CheckValues(k.Nodes(), opts.Values); err != nil {
		return nil, r, err
	}
	if err := opts.Stochastic.check(); err != nil {
		return nil, r, err
	}
	if opts.MaxIter == 0 {
		opts.MaxIter = 100
	}
	if opts.Tol == 0 {
		opts.Tol = defaultTol
	}
	if opts.Epochs == 0 {
		opts.Epochs = 50
	}
	opts.Stochastic.limits = cmp.Or(opts.Limits, opts.Stochastic.limits)
	m := &Model{kernel: k, meanVar: 1, solver: opts.Solver, how: opts.Stochastic, ranks: opts.Ranks, card: opts.Device, hold: new(hold),
		values: opts.Values}
	if m.solver == Auto {
		m.solver = Exact
		if !m.how.within().Factored(d.Len(), "") { // Condition may be given as many
			m.solver = Iterative
		}
	}
	d = d.PoolAs(m.values)
	var err error
	if m.units, err = m.values.likelihood().units(d, opts); err != nil {
		return nil, r, err
	}
	learn := m.learnLaplace
	switch {
	case opts.Mean != nil:
		m.meanVar = 0
	case m.values.latent():
		m.meanVar = latentMeanVar
	}
	if m.values == Gaussian {
		learn = m.learnGaussian
	}
	if r, err = learn(ctx, d, opts); err != nil {
		return nil, r, fmt.Errorf("fitting: %w", err)
	}
	r.Solver, r.Theta, r.NoiseSD, r.Values, r.Shape = m.solver, m.Theta(), m.NoiseSD(), m.values, m.shape
	r.Names = pathsOf(k)
	return m, r, nil
}

// learnGaussian sets the hyperparameters and the noise of Gaussian data.
func (m *Model) learnGaussian(ctx context.Context, d Data, opts FitOptions) (r FitReport, err error) {
	s := m.units.standard(d)
	p, starts, err := newParams(m.kernel, opts.Starts, d.NoiseVar != nil || opts.NoiseSD != nil)
	if err != nil {
		return r, err
	}
	if m.solver == Exact {
		p.floor = noiseFloorExact
	}
	if d.NoiseVar == nil && opts.NoiseSD != nil {
		v := *opts.NoiseSD / m.units.Scale
		p.known = v * v
		if p.known == 0 && slices.ContainsFunc(d.Scatter, func(v float64) bool { return v > 0 }) {
			return r, fmt.Errorf("%w: measurements of one node differ, but the noise is given as 0; give a noise above 0, or let it be learned",
				ErrData)
		}
	}
	l := newMarginal(m.kernel, s, m.meanVar, p)
	theta, r, err := m.fit(ctx, l, p.warm(m.units, opts.From, starts), opts)
	if errors.Is(err, errNoStart) && opts.From != nil { // with so little noise, rounding prevails
		opts.From = nil
		theta, r, err = m.fit(ctx, l, starts, opts)
	}
	if err != nil {
		return r, err
	}
	m.curved = p.curved
	theta, m.noise = p.split(theta)
	m.settle(theta)
	if m.solver == Iterative && opts.Subsample == 0 && !r.Factored {
		r.LogLikelihood, r.LogLikelihoodSE, err = m.estimate(ctx, s, opts.Seed)
	}
	return r, err
}

// estimate returns the log likelihood of standardised data by one solve and a stochastic log-determinant, with its standard error.
func (m *Model) estimate(ctx context.Context, s Data, seed uint64) (value, se float64, err error) {
	k, err := m.prior()
	if err != nil {
		return 0, 0, err
	}
	p, err := m.conditionStandard(ctx, k, s)
	if err != nil {
		return 0, 0, err
	}
	if p.share != nil {
		defer p.share.hold.empty()
	}
	return p.logLikelihood(ctx, seed)
}

// fit learns from l, the data of all measurements, as the options and the solver of the model say.
func (m *Model) fit(ctx context.Context, l *marginal, starts [][]float64, opts FitOptions) (theta []float64, r FitReport, err error) {
	switch {
	case opts.Subsample > 0:
		return m.fitParts(ctx, l.params, m.patches(l.data, m.how.within().Sample(opts.Subsample)), starts, opts)
	case m.solver == Exact:
		return m.fitParts(ctx, l.params, []Data{l.data}, starts, opts)
	case !m.how.Plain && tabular(l.kernel, l.data):
		theta, r, err = m.fitParts(ctx, l.params, []Data{l.data}, starts, opts)
		r.Factored = true
		return theta, r, err
	}
	return m.fitIteratively(ctx, l, starts, opts)
}

// scored is the log likelihood of a part of the data that hyperparameters are learned from.
type scored interface {
	component
	score(ctx context.Context, theta []float64) (score, error)
}

// parts returns the log likelihoods of standardised data, with a cache of the part of the kernel that is the same in every evaluation.
func (m *Model) parts(p *params, all []Data) composite[scored] {
	parts := make(composite[scored], len(all))
	for k, d := range all {
		cached := kernel.Cached(m.kernel, d.Nodes, m.how.within().CacheBytes/len(all))
		if m.values == Gaussian {
			parts[k] = newMarginal(cached, d, m.meanVar, p)
		} else {
			parts[k] = &laplace{kernel: cached, data: d, values: m.values, center: m.units.Center, meanVar: m.meanVar, params: p}
		}
	}
	return parts
}

// fitParts climbs likelihoods of parts of the data, or of all of it, from the most likely start, and adds the leave-one-out score.
func (m *Model) fitParts(ctx context.Context, p *params, all []Data, starts [][]float64, opts FitOptions) (theta []float64, r FitReport,
	err error) {
	parts, values := m.parts(p, all), 0
	for _, d := range all {
		values += d.Len()
	}
	of := counted{parts, newEvaluations(opts.Progress, len(starts), opts.MaxIter)}
	if theta, err = bestStart(ctx, of, starts, opts.Ordered); err != nil {
		return nil, r, err
	}
	if r.Converged = opts.Fixed; !opts.Fixed {
		c := climbing{maxIter: opts.MaxIter, tol: opts.Tol, rival: opts.Rival}
		c.from = opts.From.curvatureAt(p, theta).of(values)
		if theta, r, p.curved, err = p.climbBy(ctx, theta, c, of); err != nil {
			return nil, r, err
		}
		if p.curved != nil {
			p.curved.values = values
		}
	}
	for _, one := range parts {
		s, err := one.score(ctx, theta)
		if err != nil {
			return nil, r, err
		}
		r.LogLikelihood += s.lml
		r.LOOScore += s.leaveOneOut / float64(values)
	}
	opts.Progress.Done()
	return theta, r, nil
}

const (
	patchMaxIter = 30
	patchTol     = 0.1 // nats: the first steps of learning move by a tenth of an e-fold, whatever the start
)

// Costs of an iterative fit, in seconds on two processors, about.
const (
	patchCost = 3    // of the fit to patches
	stepCost  = 1e-6 // of a step of learning, per measurement
)

// fitIteratively starts from an exact fit to a few patches and goes on by
// stochastic gradients of the whole.
func (m *Model) fitIteratively(ctx context.Context, l *marginal, starts [][]float64, opts FitOptions) (theta []float64, r FitReport,
	err error) {
	begin := m.how.within().Start
	if far, err := l.longRange(starts[0]); err != nil {
		return nil, r, err
	} else if !far { // scattered measurements tell about the part of a kernel that has a long range
		begin.Scattered = 0
	}
	patches := m.patches(l.data, begin)
	whole, steps := opts.Progress, stepCost*float64(opts.Epochs)*float64(l.data.Len())
	opts.Progress = whole.Part(patchCost, steps)
	switch {
	case opts.Fixed:
		r.Converged = true
		theta, err = bestStart(ctx, m.parts(l.params, patches), starts, false)
	case opts.ColdStart:
		theta = starts[0]
	default:
		opts.MaxIter, opts.Tol = patchMaxIter, max(opts.Tol, patchTol)
		theta, _, err = m.fitParts(ctx, l.params, patches, starts, opts)
	}
	if err != nil {
		return nil, r, err
	}
	l.card = opts.Device
	if !opts.Fixed {
		if theta, r, err = l.learn(ctx, theta, opts, whole.Part(steps, steps/10)); err != nil {
			return nil, r, err
		}
	}
	return theta, r, nil
}

// longRange reports whether the kernel has a long range.
func (l *marginal) longRange(theta []float64) (bool, error) {
	own, _ := l.params.split(theta)
	cov, err := l.kernel.At(own)
	if err != nil {
		return false, err
	}
	return kernel.AbilitiesOf(cov).LongRange, nil
}

func logNormal(y, mean, variance float64) float64 {
	return -(y-mean)*(y-mean)/(2*variance) - math.Log(2*math.Pi*variance)/2
}
