package gp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"grfgp/kernel"
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

// Solvers are the names of the solvers.
var Solvers = []string{"auto", "exact", "iterative"}

// String returns the solver's name.
func (s Solver) String() string {
	if s < 0 || int(s) >= len(Solvers) {
		return fmt.Sprintf("Solver(%d)", int(s))
	}
	return Solvers[s]
}

// MarshalText writes the name.
func (s Solver) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the name.
func (s *Solver) UnmarshalText(text []byte) error {
	k := slices.Index(Solvers, string(text))
	if k < 0 {
		return fmt.Errorf("gp: no solver is called %q; there are %q", text, Solvers)
	}
	*s = Solver(k)
	return nil
}

// keptBytes is the most memory that a kernel may keep between evaluations.
const keptBytes = 3 << 30

// exactLimit is the most measurements that Auto factors.
const exactLimit = 3000

// FitOptions say how hyperparameters are learned; the zero value is a good
// choice.
type FitOptions struct {
	Solver  Solver
	Mean    *float64    // known mean; nil: unknown, with the spread of the data as its own
	NoiseSD *float64    // known noise, where Data has none; nil: learned
	Starts  [][]float64 // of the kernel's parameters: the likeliest is climbed from; nil means the kernel's own
	MaxIter int         // of L-BFGS; 0 means 100
	Epochs  int         // Iterative: steps of Adam; 0 means 50
	Cold    bool        // Iterative: Adam begins at the first start as it is, not at a fit to a few patches
	Fixed   bool        // take the likeliest start as it is: nothing is learned
	Sketch  bool        // fit to a sample of the measurements, in patches and scattered: to compare kernels by
	Seed    uint64      // of random probes

	Stochastic Stochastic // Iterative: how gradients are estimated
}

// Stochastic says how a fit by iteration estimates its gradients; the zero value
// is a good choice. Others than that are for comparison.
type Stochastic struct {
	Probes int     // random vectors, at most MaxProbes; 0 means 3 to 15, the fewer the more measurements there are
	Tol    float64 // relative residual of solves; 0 means 0.03, or less where the kernel has a preconditioner of its own
	Plain  bool    // no preconditioner, here and in the posterior
	Fresh  bool    // new probes in every step, whose solves start from zero: without, they stay and start from the last step's
}

// MaxProbes is the most random vectors that a fit takes.
const MaxProbes = 64

func (s Stochastic) check() error {
	if s.Probes < 0 || s.Probes > MaxProbes || !(s.Tol >= 0) || s.Tol >= 1 {
		return fmt.Errorf("gp: fitting: %d probes and a residual of %g; take 0 to %d and 0 to 1", s.Probes, s.Tol, MaxProbes)
	}
	return nil
}

// Model is a kernel with its hyperparameters, and the units in which they are.
// It holds no measurements.
type Model struct {
	kernel  kernel.Kernel
	theta   []float64
	noise   float64 // variance, standardised
	units   Units
	meanVar float64 // of the unknown mean, standardised
	solver  Solver
	plain   bool // Iterative: no preconditioner
}

// State is what a Model is made of beside its kernel: what a file must hold.
type State struct {
	Theta   []float64 `json:"theta"`    // of the kernel, for standardised values
	Noise   float64   `json:"noise"`    // variance, standardised
	MeanVar float64   `json:"mean_var"` // variance of the unknown mean, standardised
	Units   Units     `json:"units"`
	Solver  Solver    `json:"solver"`
}

// State returns what NewModel needs to make the same model again.
func (m *Model) State() State {
	return State{m.Theta(), m.noise, m.meanVar, m.units, m.solver}
}

// NewModel makes a model of a kernel and a State.
func NewModel(k kernel.Kernel, s State) (*Model, error) {
	if _, err := k.At(s.Theta); err != nil {
		return nil, fmt.Errorf("gp: making a model: %w", err)
	}
	if !(s.Noise >= 0) || !(s.MeanVar >= 0) || !(s.Units.Scale > 0) || math.IsNaN(s.Units.Center) || s.Solver != Exact && s.Solver != Iterative {
		return nil, fmt.Errorf("gp: making a model: %+v makes no sense", s)
	}
	return &Model{kernel: k, theta: append([]float64(nil), s.Theta...), noise: s.Noise, units: s.Units, meanVar: s.MeanVar, solver: s.Solver}, nil
}

// Theta returns the kernel's hyperparameters, for standardised values.
func (m *Model) Theta() []float64 { return append([]float64(nil), m.theta...) }

// NoiseSD returns the learned or given noise, in the units of the data.
func (m *Model) NoiseSD() float64 { return math.Sqrt(m.noise) * m.units.Scale }

// FitReport says how a fit went.
type FitReport struct {
	Solver          Solver    `json:"solver"`
	Names           []string  `json:"names"`
	Theta           []float64 `json:"theta"`             // standardised
	NoiseSD         float64   `json:"noise_sd"`          // in the units of the data
	LogLikelihood   float64   `json:"log_likelihood"`    // of the standardised data
	LogLikelihoodSE float64   `json:"log_likelihood_se"` // its standard error; 0 when exact
	LOOScore        float64   `json:"loo_score"`         // mean leave-one-out log density, standardised; 0 by iteration
	Iterations      int       `json:"iterations"`
	Evaluations     int       `json:"evaluations"`
	Residual        float64   `json:"residual"` // largest relative residual of the last step's solves; iterative solver only
	// Converged: by Exact, and for a Sketch, L-BFGS ended by itself and not at
	// MaxIter. By Iterative, which takes as many steps as it is given, the solves
	// of the last one left a Residual of at most 0.03, or what was asked for; that more steps would
	// change nothing is not said. Where nothing is learned it is true.
	Converged bool `json:"converged"`
}

// Fit learns the hyperparameters of k from data by maximising the marginal
// likelihood (with a weak prior that matters only where data are few).
func Fit(ctx context.Context, k kernel.Kernel, d Data, opts FitOptions) (*Model, FitReport, error) {
	var r FitReport
	if err := d.Check(k.Nodes()); err != nil {
		return nil, r, err
	}
	if err := opts.Stochastic.check(); err != nil {
		return nil, r, err
	}
	if opts.MaxIter == 0 {
		opts.MaxIter = 100
	}
	if opts.Epochs == 0 {
		opts.Epochs = 50
	}
	m := &Model{kernel: k, meanVar: 1, solver: opts.Solver, plain: opts.Stochastic.Plain}
	var err error
	if m.units, err = unitsOf(d.Y); err != nil {
		return nil, r, err
	}
	if opts.Mean != nil {
		m.units.Center, m.meanVar = *opts.Mean, 0
	}
	if m.solver == Auto {
		m.solver = Exact
		if d.Len() > exactLimit {
			m.solver = Iterative
		}
	}
	s := m.units.standard(d)
	if d.NoiseVar == nil && opts.NoiseSD != nil {
		v := *opts.NoiseSD / m.units.Scale
		s.NoiseVar = make([]float64, d.Len())
		for i := range s.NoiseVar {
			s.NoiseVar[i] = v * v
		}
	}
	p, starts, err := newParams(k, opts.Starts, s.NoiseVar != nil)
	if err != nil {
		return nil, r, err
	}
	l := &likelihood{k, s, m.meanVar, p}
	var theta []float64
	switch {
	case opts.Sketch:
		theta, r, err = l.fitTogether(ctx, l.patches(sketchNodes), starts, opts)
	case m.solver == Exact:
		theta, r, err = l.fitTogether(ctx, []*likelihood{l}, starts, opts)
	default:
		theta, r, err = l.fitIteratively(ctx, starts, opts)
	}
	if err != nil {
		return nil, r, fmt.Errorf("gp: fitting: %w", err)
	}
	m.theta, m.noise = p.split(theta)
	if d.NoiseVar == nil && opts.NoiseSD != nil {
		m.noise = s.NoiseVar[0]
	}
	r.Solver, r.Theta, r.NoiseSD = m.solver, m.Theta(), m.NoiseSD()
	for _, q := range k.Params() {
		r.Names = append(r.Names, q.Name)
	}
	return m, r, nil
}

// fitTogether climbs likelihoods of parts of the data, or of all of it, from the
// likeliest start, and adds the leave-one-out score.
func (l *likelihood) fitTogether(ctx context.Context, parts []*likelihood, starts [][]float64, opts FitOptions) (theta []float64, r FitReport, err error) {
	keep(parts)
	if theta, err = likeliest(ctx, parts, starts); err != nil {
		return nil, r, err
	}
	if r.Converged = opts.Fixed; !opts.Fixed {
		if theta, r, err = l.params.climb(ctx, theta, opts.MaxIter, together(parts)); err != nil {
			return nil, r, err
		}
	}
	count := 0
	for _, l := range parts {
		f, err := l.factor(ctx, theta)
		if err != nil {
			return nil, r, err
		}
		r.LogLikelihood += f.lml
		mean, variance := f.leaveOneOut(l.data)
		for i, y := range l.data.Y {
			r.LOOScore += logNormal(y, mean[i], variance[i])
		}
		count += l.data.Len()
	}
	r.LOOScore /= float64(count)
	return theta, r, nil
}

// keep makes kernels keep what is the same in every evaluation.
func keep(parts []*likelihood) {
	for p, l := range parts {
		if k, ok := l.kernel.(kernel.Keeper); ok {
			parts[p] = &likelihood{k.Keep(l.data.Nodes, keptBytes/len(parts)), l.data, l.meanVar, l.params}
		}
	}
}

// fitIteratively starts from an exact fit to a few patches and goes on by
// stochastic gradients of the whole.
func (l *likelihood) fitIteratively(ctx context.Context, starts [][]float64, opts FitOptions) (theta []float64, r FitReport, err error) {
	scattered, err := l.scattered(starts[0])
	if err != nil {
		return nil, r, err
	}
	patches := l.patches(scattered)
	switch {
	case opts.Fixed:
		r.Converged = true
		theta, err = likeliest(ctx, patches, starts)
	case opts.Cold:
		theta = starts[0]
	default:
		opts.MaxIter = patchMaxIter
		theta, _, err = l.fitTogether(ctx, patches, starts, opts)
	}
	if err != nil {
		return nil, r, err
	}
	if !opts.Fixed {
		if theta, r, err = l.learn(ctx, theta, opts.Epochs, opts.Stochastic, opts.Seed); err != nil {
			return nil, r, err
		}
	}
	r.LogLikelihood, r.LogLikelihoodSE, err = l.estimate(ctx, theta, opts.Stochastic.Plain, opts.Seed)
	return theta, r, err
}

// leaveOneOut returns mean and variance of each measurement given all others:
// y_i − α_i/[H⁻¹]_ii and 1/[H⁻¹]_ii, noise included.
func (f *factor) leaveOneOut(d Data) (mean, variance []float64) {
	n := d.Len()
	mean, variance = make([]float64, n), make([]float64, n)
	f.chol.InverseDiag(variance)
	for i, q := range variance {
		mean[i] = d.Y[i] - f.alpha[i]/q
		variance[i] = 1 / q
	}
	return mean, variance
}

func logNormal(y, mean, variance float64) float64 {
	return -(y-mean)*(y-mean)/(2*variance) - math.Log(2*math.Pi*variance)/2
}
