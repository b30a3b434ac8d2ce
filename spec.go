package grfgp

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"grfgp/covariate"
	"grfgp/gp"
	"grfgp/walk"
)

// ErrSpec is wrapped by every error about an invalid Spec.
var ErrSpec = errors.New("bad specification")

// Spec describes a model. JSON uses the same names and values. The zero value
// leaves every choice to Fit.
type Spec struct {
	Expression // of the kernel; what is empty is left open

	Walks  int    `json:"walks,omitempty"`  // walkers per node of grf and lowrank; 0: 100, or 50 on graphs of more than 200,000 nodes
	Rank   int    `json:"rank,omitempty"`   // dimensions of lowrank; 0: 256
	Solver string `json:"solver,omitempty"` // exact or iterative; empty: exact up to 3,000 measurements
	Seed   uint64 `json:"seed"`             // of random walks, probes and samples

	// what is known about every node; nil: nothing. Model files and checkpoints hold its hash only
	Covariates *covariate.Set `json:"-"`
	Roles      string         `json:"roles,omitempty"` // none: no covariates from the graph itself; or auto; empty: auto

	Alpha []float64 `json:"alpha,omitempty"` // α_0, α_1, … of the family power, K = s² Σ α_r W^r

	// positions of periods in time, increasing: the model is one of nodes and periods, see Place; nil: no time
	Times     []float64 `json:"times,omitempty"`
	TimeNames []string  `json:"time_names,omitempty"` // of the periods, for people; nil: none
	// joint: periods inform each other, see kernel.OverTime; or separate: independent periods with the same hyperparameters; empty: joint
	TimeModel string `json:"time_model,omitempty"`

	// what is measured, a name of gp.ValuesNames such as count, see gp.Values; empty: gaussian
	Values string `json:"values,omitempty"`
	// under which gaussian or student values are modelled: none, log, log1p or sqrt, see gp.Transform; empty: none
	Transform string `json:"transform,omitempty"`

	// auto: a graphics card where there is one; cpu: the processor alone; gpu: an error without a card; empty: auto. Results agree closely;
	// model files and checkpoints do not hold it
	Device string `json:"device,omitempty"`

	// known mean, on the scale of the values; of counts a rate, of shares a probability; nil: unknown
	Mean *float64 `json:"mean,omitempty"`
	// known standard deviation of the noise of one measurement, on the scale of the transform; nil: learned
	NoiseSD *float64 `json:"noise_sd,omitempty"`
}

var roleNames = []string{"auto", "none"}

// RoleChoices returns the values of Spec.Roles.
func RoleChoices() []string { return slices.Clone(roleNames) }

// Check returns an error, which wraps ErrSpec, if the Spec is invalid on every
// graph.
func (s Spec) Check() error {
	if err := s.checkExpression(); err != nil {
		return err
	}
	switch {
	case s.Solver != "" && !slices.Contains(gp.SolverNames()[1:], s.Solver):
		return fmt.Errorf("%w: no solver is called %q; there are %s", ErrSpec, s.Solver, strings.Join(gp.SolverNames()[1:], ", "))
	case s.Device != "" && !slices.Contains(deviceNames, s.Device):
		return fmt.Errorf("%w: no device is called %q; there are %s", ErrSpec, s.Device, strings.Join(deviceNames, ", "))
	case s.Roles != "" && !slices.Contains(roleNames, s.Roles):
		return fmt.Errorf("%w: roles are %s, not %q", ErrSpec, strings.Join(roleNames, " or "), s.Roles)
	case s.Walks < 0 || s.Walks > walk.MaxWalks:
		return fmt.Errorf("%w: %d walkers, want 1 to %d", ErrSpec, s.Walks, walk.MaxWalks)
	case s.Rank < 0:
		return fmt.Errorf("%w: rank %d is negative", ErrSpec, s.Rank)
	case s.NoiseSD != nil && !(*s.NoiseSD >= 0 && *s.NoiseSD <= math.MaxFloat64):
		return fmt.Errorf("%w: noise %v, want a finite number ≥ 0", ErrSpec, *s.NoiseSD)
	case s.Mean != nil && !(math.Abs(*s.Mean) <= math.MaxFloat64):
		return fmt.Errorf("%w: mean %v, want a finite number", ErrSpec, *s.Mean)
	}
	if err := s.checkTimes(); err != nil {
		return err
	}
	return s.checkValues()
}

// clone returns a deep copy, without names of what is usual. Covariates are shared: they are not changed.
func (s Spec) clone() Spec {
	for _, known := range []**float64{&s.Mean, &s.NoiseSD} {
		if *known != nil {
			v := **known
			*known = &v
		}
	}
	s.Alpha, s.Times, s.TimeNames = slices.Clone(s.Alpha), slices.Clone(s.Times), slices.Clone(s.TimeNames)
	if s.Values == gp.Gaussian.String() {
		s.Values = ""
	}
	if s.Transform == gp.NoTransform.String() {
		s.Transform = ""
	}
	return s
}
