package grfgp

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"grfgp/covariate"
	"grfgp/gp"
	"grfgp/kernel"
	"grfgp/walk"
)

// ErrSpec is wrapped by every error about an invalid Spec.
var ErrSpec = errors.New("bad specification")

// Spec describes a model. JSON uses the same names and values. The zero value
// leaves every choice to Fit.
type Spec struct {
	Family string  `json:"family,omitempty"` // diffusion, matern, free or power; empty: that of Custom, or chosen by marginal likelihood
	Nu     float64 `json:"nu,omitempty"`     // smoothness ν of matern; 0: chosen by marginal likelihood
	Method string  `json:"method,omitempty"` // dense, series, grf or lowrank; empty: chosen by cost
	// longest walk of grf, lowrank and free, and cut-off of series; 0: chosen automatically, without a cut-off for series
	Hops   int    `json:"hops,omitempty"`
	Scales string `json:"scales,omitempty"` // one; or many: kernels of longer reach are added; empty: chosen by marginal likelihood
	Trend  string `json:"trend,omitempty"`  // degree: a linear term in the log degree; or none; empty: chosen by marginal likelihood
	// natural: as the kernel has it; or unit: the same at every node; empty: chosen by marginal likelihood
	Variance string `json:"variance,omitempty"`
	Walks    int    `json:"walks,omitempty"`  // walkers per node of grf and lowrank; 0: 100, or 50 on graphs of more than 200,000 nodes
	Rank     int    `json:"rank,omitempty"`   // dimensions of lowrank; 0: 256
	Solver   string `json:"solver,omitempty"` // exact or iterative; empty: exact up to 3,000 measurements
	Seed     uint64 `json:"seed"`             // of random walks, probes and samples

	// what is known about every node; nil: nothing. Model files and checkpoints hold its hash only
	Covariates *covariate.Set `json:"-"`
	Roles      string         `json:"roles,omitempty"` // none: no covariates from the graph itself; or auto; empty: auto
	Terms      []string       `json:"terms,omitempty"` // terms of the kernel, see the function Terms; nil: chosen by marginal likelihood
	// pairs of random Fourier features by which smooth terms are approximated; 0: exact up to 3,000 measurements
	Pairs int `json:"pairs,omitempty"`

	// normalized, raw or signless, see the function Laplacians; empty: chosen by marginal likelihood if Family is empty too, normalized
	// otherwise
	Laplacian string    `json:"laplacian,omitempty"`
	Alpha     []float64 `json:"alpha,omitempty"` // α_0, α_1, … of the family power, K = s² Σ α_r W^r

	Custom *CustomFamily `json:"-"` // a family that the caller defines; Family is then empty or its name; nil: none

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

var (
	familyNames    = []string{"diffusion", "matern", "free", "power"}
	methodNames    = []string{"dense", "series", "grf", "lowrank"}
	scaleNames     = []string{"one", "many"}
	varianceNames  = []string{"natural", "unit"}
	trendNames     = []string{"none", "degree"}
	roleNames      = []string{"auto", "none"}
	laplacianNames = []string{normalized, "raw", "signless"}
)

// Families returns the built-in values of Spec.Family.
func Families() []string { return slices.Clone(familyNames) }

// Methods returns the values of Spec.Method.
func Methods() []string { return slices.Clone(methodNames) }

// Scales returns the values of Spec.Scales.
func Scales() []string { return slices.Clone(scaleNames) }

// Variances returns the values of Spec.Variance.
func Variances() []string { return slices.Clone(varianceNames) }

// Trends returns the values of Spec.Trend.
func Trends() []string { return slices.Clone(trendNames) }

// RoleChoices returns the values of Spec.Roles.
func RoleChoices() []string { return slices.Clone(roleNames) }

// CustomFamily is a kernel family that the caller defines. Fitting,
// cross-validation, searches and replays work with it as with the built-in
// families. Model files and checkpoints hold only its name, so Load and the Spec of
// a resumed Optimizer must be given the family again. The family is a function of the
// matrix W of norm one: D^-½ A D^-½, or I − L/c on the raw Laplacian L, where c is the
// bound of its norm. Its length scales are in that unit.
type CustomFamily struct {
	Name string // not one of Families
	// coefficients by walk length; must also be a kernel.Spectrum for the method dense and for series without a cut-off
	Modulation kernel.Modulation
}

// spectrum returns the family as a function of eigenvalues; nil if it has no such
// form.
func (c *CustomFamily) spectrum() kernel.Spectrum {
	s, _ := c.Modulation.(kernel.Spectrum)
	return s
}

// checkFamily returns an error if the family does not exist.
func (s Spec) checkFamily() error {
	switch c := s.Custom; {
	case c == nil && s.Family != "" && !slices.Contains(familyNames, s.Family):
		return fmt.Errorf("%w: no family is called %q; there are %s, and your own (Custom)", ErrSpec, s.Family, strings.Join(familyNames, ", "))
	case c == nil:
		return nil
	case c.Name == "" || slices.Contains(familyNames, c.Name) || c.Modulation == nil || len(c.Modulation.Params()) == 0:
		return fmt.Errorf("%w: a custom family needs hyperparameters and a name other than %s", ErrSpec, strings.Join(familyNames, ", "))
	case s.Family != "" && s.Family != c.Name:
		return fmt.Errorf("%w: both the family %q and the custom family %q are given; give one", ErrSpec, s.Family, c.Name)
	case s.Method == "dense" && c.spectrum() == nil:
		return fmt.Errorf("%w: the method dense needs a kernel.Spectrum, which the family %q is not; use series or grf", ErrSpec, c.Name)
	}
	return nil
}

// Check returns an error, which wraps ErrSpec, if the Spec is invalid on every
// graph.
func (s Spec) Check() error {
	if err := s.checkFamily(); err != nil {
		return err
	}
	switch {
	case s.Method != "" && !slices.Contains(methodNames, s.Method):
		return fmt.Errorf("%w: no method is called %q; there are %s", ErrSpec, s.Method, strings.Join(methodNames, ", "))
	case s.Scales != "" && !slices.Contains(scaleNames, s.Scales):
		return fmt.Errorf("%w: scales are %s, not %q", ErrSpec, strings.Join(scaleNames, " or "), s.Scales)
	case s.Scales == "many" && s.Method == "lowrank":
		return fmt.Errorf("%w: lowrank has one scale; for many use grf, series or dense", ErrSpec)
	case s.Variance != "" && !slices.Contains(varianceNames, s.Variance):
		return fmt.Errorf("%w: variances are %s, not %q", ErrSpec, strings.Join(varianceNames, " or "), s.Variance)
	case s.Variance == "unit" && (s.Method == "lowrank" || s.Family == "free"):
		return fmt.Errorf("%w: unit variance works with neither the method lowrank nor the family free; use the natural variance", ErrSpec)
	case s.Trend != "" && !slices.Contains(trendNames, s.Trend):
		return fmt.Errorf("%w: trends are %s, not %q", ErrSpec, strings.Join(trendNames, " or "), s.Trend)
	case s.Trend == "degree" && s.Method == "lowrank":
		return fmt.Errorf("%w: lowrank has no trend; for one use grf, series or dense", ErrSpec)
	case !(s.Nu >= 0 && s.Nu <= math.MaxFloat64) || s.Nu > 0 && s.Family != "matern":
		return fmt.Errorf("%w: ν = %v: only the family matern has it, and it must be positive and finite", ErrSpec, s.Nu)
	case s.Laplacian != "" && !slices.Contains(laplacianNames, s.Laplacian):
		return fmt.Errorf("%w: Laplacians are %s, not %q", ErrSpec, strings.Join(laplacianNames, " or "), s.Laplacian)
	case len(s.Alpha) > 0 && s.Family != "power":
		return fmt.Errorf("%w: only the family power has coefficients α", ErrSpec)
	case s.Solver != "" && !slices.Contains(gp.SolverNames()[1:], s.Solver):
		return fmt.Errorf("%w: no solver is called %q; there are %s", ErrSpec, s.Solver, strings.Join(gp.SolverNames()[1:], ", "))
	case s.Device != "" && !slices.Contains(deviceNames, s.Device):
		return fmt.Errorf("%w: no device is called %q; there are %s", ErrSpec, s.Device, strings.Join(deviceNames, ", "))
	case s.Roles != "" && !slices.Contains(roleNames, s.Roles):
		return fmt.Errorf("%w: roles are %s, not %q", ErrSpec, strings.Join(roleNames, " or "), s.Roles)
	case s.Pairs < 0:
		return fmt.Errorf("%w: %d pairs of Fourier features; want 0 or more", ErrSpec, s.Pairs)
	case s.Hops < 0 || s.Hops > walk.MaxMaxLen:
		return fmt.Errorf("%w: %d hops, want 1 to %d", ErrSpec, s.Hops, walk.MaxMaxLen)
	case s.Walks < 0 || s.Walks > walk.MaxWalks:
		return fmt.Errorf("%w: %d walkers, want 1 to %d", ErrSpec, s.Walks, walk.MaxWalks)
	case s.Rank < 0:
		return fmt.Errorf("%w: rank %d is negative", ErrSpec, s.Rank)
	case s.NoiseSD != nil && !(*s.NoiseSD >= 0 && *s.NoiseSD <= math.MaxFloat64):
		return fmt.Errorf("%w: noise %v, want a finite number ≥ 0", ErrSpec, *s.NoiseSD)
	case s.Mean != nil && !(math.Abs(*s.Mean) <= math.MaxFloat64):
		return fmt.Errorf("%w: mean %v, want a finite number", ErrSpec, *s.Mean)
	}
	if err := s.checkTerms(); err != nil {
		return err
	}
	if err := s.checkTimes(); err != nil {
		return err
	}
	if err := s.checkValues(); err != nil {
		return err
	}
	if s.Family == "power" {
		if _, err := kernel.NewPower(s.Alpha); err != nil {
			return fmt.Errorf("%w: the family power: %w", ErrSpec, err)
		}
	}
	return nil
}

// checkTerms returns an error if the terms are no kernel.
func (s Spec) checkTerms() error {
	for _, name := range s.Terms {
		if !slices.Contains(termNames, name) {
			return fmt.Errorf("%w: no term of a kernel is called %q; there are %s", ErrSpec, name, strings.Join(termNames, ", "))
		}
	}
	switch of := termsOf(s.Terms); {
	case of&(graphTerm|knownTerms) == 0, of.has(productTerm) && (of&knownTerms == 0 || !of.has(graphTerm)):
		return fmt.Errorf("%w: a product needs the graph and covariates or roles", ErrSpec)
	case of != graphTerm && s.Method == "lowrank":
		return fmt.Errorf("%w: the method lowrank has neither covariates nor roles; use grf, series or dense", ErrSpec)
	case of.has(roleTerm) && s.Roles == "none":
		return fmt.Errorf("%w: the terms have roles, and roles are none; leave one of them out", ErrSpec)
	case !of.has(graphTerm) && s.Trend == "degree":
		return fmt.Errorf("%w: a trend with the degree belongs to the term graph; add it, or use roles", ErrSpec)
	}
	return nil
}

// clone returns a deep copy. Covariates are shared: they are not changed.
func (s Spec) clone() Spec {
	for _, known := range []**float64{&s.Mean, &s.NoiseSD} {
		if *known != nil {
			v := **known
			*known = &v
		}
	}
	s.Alpha, s.Terms = slices.Clone(s.Alpha), slices.Clone(s.Terms)
	if s.Values == gp.Gaussian.String() {
		s.Values = ""
	}
	if s.Transform == gp.NoTransform.String() {
		s.Transform = ""
	}
	s.Times, s.TimeNames = slices.Clone(s.Times), slices.Clone(s.TimeNames)
	if s.Custom != nil {
		c := *s.Custom
		s.Custom, s.Family = &c, c.Name
	}
	return s
}

// cutOff reports whether every representation of the family is cut off at a
// longest walk, because it has no exact series.
func (s Spec) cutOff() bool {
	return s.Family == "free" || s.Custom != nil && s.Custom.spectrum() == nil
}

// complete reports whether a Spec determines the kernel.
func (s Spec) complete() bool {
	return s.Family != "" && s.Terms != nil && s.Method != "" && s.Scales != "" && s.Trend != "" && s.Variance != "" && s.Laplacian != "" &&
		(s.Nu > 0 || s.Family != "matern") && (s.Hops > 0 || s.Method == "dense" || s.Method == "series" && !s.cutOff())
}

// filled returns the Spec with the choice of a kernel and its representation filled in.
func (s Spec) filled(c candidate, method string) Spec {
	s.Family, s.Nu, s.Laplacian, s.Method, s.Hops = c.family.family, c.nu, c.laplacian, method, c.hops
	s.Scales, s.Variance, s.Trend = "one", "natural", "none"
	s.Terms, s.Pairs = c.terms.names(), c.pairs
	if c.many {
		s.Scales = "many"
	}
	if c.unit {
		s.Variance = "unit"
	}
	if c.trend {
		s.Trend = "degree"
	}
	return s
}

// refinedBy reports whether a complete Spec is this one with its choices filled in.
func (s Spec) refinedBy(complete Spec) bool {
	open := complete
	s.Custom, open.Custom = nil, nil // Family holds its name
	s.Covariates, open.Covariates = nil, nil
	s.Device, open.Device = "", ""
	if s.Terms == nil {
		open.Terms = nil
	}
	if s.Pairs == 0 || complete.Pairs == 0 { // a kernel of the graph alone has none
		open.Pairs = s.Pairs
	}
	if s.Family == "" {
		open.Family = ""
	}
	if s.Nu == 0 {
		open.Nu = 0
	}
	if s.Method == "" {
		open.Method = ""
	}
	if s.Hops == 0 || complete.Method == "dense" { // dense kernels have no longest walk
		open.Hops = s.Hops
	}
	if s.Scales == "" {
		open.Scales = ""
	}
	if s.Trend == "" {
		open.Trend = ""
	}
	if s.Variance == "" {
		open.Variance = ""
	}
	if s.Laplacian == "" {
		open.Laplacian = ""
	}
	return complete.complete() && reflect.DeepEqual(open, s)
}

// family is a kernel family, as a function of walk lengths and of eigenvalues.
type family struct {
	name       string // in words
	family     string // as in Spec
	nu         float64
	modulation kernel.Modulation
	spectrum   kernel.Spectrum
	laplacian  string // as in Spec, not empty
}

// on returns the family on another Laplacian.
func (f family) on(laplacian string) family {
	if f.laplacian = laplacian; laplacian != normalized {
		f.name += ", " + laplacian + " Laplacian"
	}
	return f
}

// families returns the families that the Spec leaves open.
func (s Spec) families(hops int) []family {
	all := s.normalizedFamilies(hops)
	for k, f := range all {
		all[k] = f.on(cmp.Or(s.Laplacian, normalized))
	}
	return all
}

// normalizedFamilies is families for the normalised Laplacian.
func (s Spec) normalizedFamilies(hops int) []family {
	diffusion := family{"diffusion", "diffusion", 0, kernel.Diffusion{}, kernel.Diffusion{}, normalized}
	matern := func(nu float64) family {
		m := kernel.Matern{Nu: nu}
		return family{fmt.Sprintf("matern, ν = %g", nu), "matern", nu, m, m, normalized}
	}
	rough, smooth := matern(0.5), matern(2)
	if c := s.Custom; c != nil {
		return []family{{c.Name, c.Name, 0, c.Modulation, c.spectrum(), normalized}}
	}
	switch s.Family {
	case "diffusion":
		return []family{diffusion}
	case "free":
		return []family{{"free", "free", 0, kernel.Free{Len: hops}, kernel.Free{Len: hops}, normalized}}
	case "power":
		p, err := kernel.NewPower(s.Alpha)
		if err != nil {
			panic(err) // Check has accepted it
		}
		return []family{{"power series", "power", 0, p, p, normalized}}
	case "matern":
		if s.Nu > 0 {
			return []family{matern(s.Nu)}
		}
		return []family{rough, matern(1), smooth, matern(4)}
	}
	return []family{diffusion, rough, smooth}
}

// freeLen is the longest walk that has a coefficient of its own in the family free.
func (s Spec) freeLen() int {
	if s.Hops == 0 {
		return walk.Default().MaxLen
	}
	return s.Hops
}
