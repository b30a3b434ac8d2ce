package gp

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"grfgp/internal/ranks"
	"grfgp/kernel"
)

// Model is a Gaussian process prior: a kernel at learned hyperparameters, the noise,
// and the units of the data. It holds no measurements.
type Model struct {
	kernel  kernel.Kernel
	theta   []float64
	noise   float64 // variance of one measurement, standardised
	units   Units
	meanVar float64 // of the unknown mean, standardised
	solver  Solver
	how     Stochastic // Iterative: how systems are solved
	ranks   *ranks.Group
	card    *Card // for posteriors; nil: none
	hold    *hold // of posteriors in the memory of this process; nil: nothing is kept
	values  Values
	shape   Shape

	alternatives []Alternative                     // of the hyperparameters; nil: they are taken as known
	prior        func() (kernel.Covariance, error) // at theta
	curved       *curvature                        // of the likelihood at the end of a fit; nil: unknown
}

// State holds the learned parameters of a Model: with the kernel it determines the
// model.
type State struct {
	Theta []float64 `json:"theta"`           // of the kernel, for standardised values
	Names []string  `json:"names,omitempty"` // their paths; nil, as in old files: they are in the order of the kernel
	// variance of one measurement, standardised; of Student values the squared scale; 0 for the kinds without noise
	Noise   float64 `json:"noise"`
	MeanVar float64 `json:"mean_var"` // variance of the unknown mean, standardised
	Units   Units   `json:"units"`    // of f
	Solver  Solver  `json:"solver"`
	Values  Values  `json:"values,omitempty"` // what is measured; Gaussian if it is not there
	Shape   Shape   `json:"shape,omitzero"`

	// two for each learned direction of the hyperparameters; none where these are taken as known
	Alternatives []Alternative `json:"alternatives,omitempty"`
}

// State returns the parameters from which NewModel makes the same model.
func (m *Model) State() State {
	return State{m.Theta(), pathsOf(m.kernel), m.noise, m.meanVar, m.units, m.solver, m.values, m.shape, slices.Clone(m.alternatives)}
}

// pathsOf returns the paths of the hyperparameters of a kernel.
func pathsOf(k kernel.Kernel) []string {
	var all []string
	for _, p := range k.Params() {
		all = append(all, p.Name)
	}
	return all
}

// inOrder returns the State with the hyperparameters in the order of the kernel.
func (s State) inOrder(k kernel.Kernel) (State, error) {
	own := pathsOf(k)
	if s.Names == nil || slices.Equal(s.Names, own) {
		return s, nil
	}
	order := make([]int, len(own))
	for j, path := range own {
		if order[j] = slices.Index(s.Names, path); order[j] < 0 || len(s.Names) != len(own) || len(s.Theta) != len(own) {
			return s, fmt.Errorf("%w: the hyperparameters %q for a kernel that has %q", kernel.ErrTheta, s.Names, own)
		}
	}
	arrange := func(theta []float64) []float64 {
		if len(theta) != len(own) {
			return theta // which is refused
		}
		out := make([]float64, len(own))
		for j, from := range order {
			out[j] = theta[from]
		}
		return out
	}
	s.Theta, s.Names, s.Alternatives = arrange(s.Theta), own, slices.Clone(s.Alternatives)
	for a := range s.Alternatives {
		s.Alternatives[a].Theta = arrange(s.Alternatives[a].Theta)
	}
	return s, nil
}

// NewModel returns the model of a kernel and a State.
func NewModel(k kernel.Kernel, s State) (*Model, error) {
	s, err := s.inOrder(k)
	if err != nil {
		return nil, fmt.Errorf("making a model: %w", err)
	}
	if _, err := k.At(s.Theta); err != nil {
		return nil, fmt.Errorf("making a model: %w", err)
	}
	if !(s.Noise >= 0) || !(s.MeanVar >= 0) || !(s.Units.Scale > 0) || math.IsNaN(s.Units.Center) || s.Solver != Exact &&
		s.Solver != Iterative {
		return nil, fmt.Errorf("making a model: %+v is out of range", s)
	}
	if err := s.Shape.check(s.Values); err != nil {
		return nil, fmt.Errorf("making a model: %w", err)
	}
	for _, a := range s.Alternatives {
		if err := a.check(s, k); err != nil {
			return nil, fmt.Errorf("making a model: alternative hyperparameters: %w", err)
		}
	}
	m := &Model{kernel: k, noise: s.Noise, units: s.Units, meanVar: s.MeanVar, solver: s.Solver, values: s.Values, shape: s.Shape,
		alternatives: slices.Clone(s.Alternatives), hold: new(hold)}
	m.settle(s.Theta)
	return m, nil
}

// settle sets the hyperparameters of the kernel.
func (m *Model) settle(theta []float64) {
	m.theta = slices.Clone(theta)
	k, own := m.kernel, m.theta
	m.prior = sync.OnceValues(func() (kernel.Covariance, error) { return k.At(own) })
}

// Theta returns the hyperparameters of the kernel, which refer to standardised
// values.
func (m *Model) Theta() []float64 { return append([]float64(nil), m.theta...) }

// Hyperparameters returns Theta by their paths.
func (m *Model) Hyperparameters() kernel.Theta { return kernel.ThetaOf(m.kernel.Params(), m.theta) }

// Values returns what the model takes measurements for.
func (m *Model) Values() Values { return m.values }

// NoiseSD returns the learned or given noise of one measurement, in the units of the
// data; 0 where noise variances came with the data. For Student values it is the scale
// of the noise, and it is 0 for counts, shares and yes-no values. With alternatives it is
// the noise of a new measurement, which the uncertainty of a learned noise makes larger.
func (m *Model) NoiseSD() float64 { return math.Sqrt(m.noiseOfNew()) * m.units.Scale }
