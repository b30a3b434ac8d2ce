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
	Family string  `json:"family,omitempty"` // see the function Families; empty: chosen by marginal likelihood
	Nu     float64 `json:"nu,omitempty"`     // smoothness ν of families that have one; 0: chosen by marginal likelihood
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
	methodNames    = []string{"dense", "series", "grf", "lowrank"}
	scaleNames     = []string{"one", "many"}
	varianceNames  = []string{"natural", "unit"}
	trendNames     = []string{"none", "degree"}
	roleNames      = []string{"auto", "none"}
	laplacianNames = []string{normalized, "raw", "signless"}
)

// Families returns the values of Spec.Family: the names of all families that kernel.Register knows.
func Families() []string { return kernel.FamilyNames() }

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

// checkFamily returns an error if the family does not exist, or does not go with the rest.
func (s Spec) checkFamily() error {
	f, known := kernel.FamilyNamed(s.Family)
	switch {
	case s.Family != "" && !known:
		return fmt.Errorf("%w: no family is called %q; there are %s", ErrSpec, s.Family, strings.Join(Families(), ", "))
	case !(s.Nu >= 0 && s.Nu <= math.MaxFloat64) || s.Nu > 0 && !f.Nu:
		return fmt.Errorf("%w: ν = %v: only families of a smoothness (matern) have it, and it must be positive and finite", ErrSpec, s.Nu)
	case len(s.Alpha) > 0 && !f.Alpha:
		return fmt.Errorf("%w: only the family power has coefficients α", ErrSpec)
	case !known:
		return nil
	}
	m, err := f.Of(s.member())
	if err != nil {
		return fmt.Errorf("%w: the family %s: %w", ErrSpec, s.Family, err)
	}
	if _, exact := m.(kernel.Spectrum); s.Method == "dense" && !exact {
		return fmt.Errorf("%w: the method dense needs a kernel.Spectrum, which the family %q is not; use series or grf", ErrSpec, s.Family)
	}
	return nil
}

// member returns which member of its family the Spec names.
func (s Spec) member() kernel.Member {
	return kernel.Member{Nu: s.Nu, Alpha: s.Alpha, Hops: s.freeLen()}
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
	case s.Variance == "unit" && (s.Method == "lowrank" || !s.scaled()):
		return fmt.Errorf("%w: unit variance works neither with the method lowrank nor with families that have no variance, such as free; use the natural variance", ErrSpec)
	case s.Trend != "" && !slices.Contains(trendNames, s.Trend):
		return fmt.Errorf("%w: trends are %s, not %q", ErrSpec, strings.Join(trendNames, " or "), s.Trend)
	case s.Trend == "degree" && s.Method == "lowrank":
		return fmt.Errorf("%w: lowrank has no trend; for one use grf, series or dense", ErrSpec)
	case s.Laplacian != "" && !slices.Contains(laplacianNames, s.Laplacian):
		return fmt.Errorf("%w: Laplacians are %s, not %q", ErrSpec, strings.Join(laplacianNames, " or "), s.Laplacian)
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
	return s.checkValues()
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
	return s
}

// cutOff reports whether every representation of the family is cut off at a
// longest walk, because it has no exact series.
func (s Spec) cutOff() bool {
	f, known := kernel.FamilyNamed(s.Family)
	return known && (f.Ended || !s.exact())
}

// exact reports whether the family, if it is given, has eigenvalues of its own, as exact representations need them.
func (s Spec) exact() bool {
	m := s.modulation()
	_, exact := m.(kernel.Spectrum)
	return m == nil || exact
}

// scaled reports whether the family, if it is given, has a variance of its own.
func (s Spec) scaled() bool {
	m := s.modulation()
	return m == nil || m.Params()[0].Variance
}

// modulation returns that of the family; nil if there is none, or Check refuses it.
func (s Spec) modulation() kernel.Modulation {
	f, known := kernel.FamilyNamed(s.Family)
	if !known {
		return nil
	}
	m, err := f.Of(s.member())
	if err != nil {
		return nil
	}
	return m
}

// complete reports whether a Spec determines the kernel.
func (s Spec) complete() bool {
	return s.Family != "" && s.Terms != nil && s.Method != "" && s.Scales != "" && s.Trend != "" && s.Variance != "" && s.Laplacian != "" &&
		(s.Nu > 0 || !s.smooth()) && (s.Hops > 0 || s.Method == "dense" || s.Method == "series" && !s.cutOff())
}

// smooth reports whether the family has a smoothness.
func (s Spec) smooth() bool {
	f, _ := kernel.FamilyNamed(s.Family)
	return f.Nu
}

// filled returns the Spec with the choice of a kernel and its representation filled in.
func (s Spec) filled(c candidate, method string) Spec {
	s.Family, s.Nu, s.Laplacian, s.Method, s.Hops = c.Name, c.nu, c.laplacian, method, c.hops
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

// family is a member of a kernel family, as a function of walk lengths and of eigenvalues.
type family struct {
	kernel.Family
	name       string // in words
	nu         float64
	modulation kernel.Modulation
	spectrum   kernel.Spectrum // nil: it has none
	laplacian  string          // as in Spec, not empty
}

// familyOf returns a member of a family on the normalised Laplacian.
func familyOf(f kernel.Family, of kernel.Member) family {
	m, err := f.Of(of)
	if err != nil {
		panic(err) // Check has accepted it
	}
	spectrum, _ := m.(kernel.Spectrum)
	return family{f, f.String(of), of.Nu, m, spectrum, normalized}
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
	f, known := kernel.FamilyNamed(s.Family)
	if !known {
		return automatic(func(t kernel.Tried) int { return t.Values })
	}
	var all []family
	for _, t := range f.Tried {
		of := kernel.Member{Nu: cmp.Or(s.Nu, t.Nu), Alpha: s.Alpha, Hops: hops}
		if all = append(all, familyOf(f, of)); s.Nu > 0 {
			break
		}
	}
	return all
}

// automatic returns the members of families that are tried where the choice is open, in the order of their places.
func automatic(place func(t kernel.Tried) int) []family {
	var all []family
	for _, m := range kernel.AutomaticMembers(place) {
		all = append(all, familyOf(m.Family, kernel.Member{Nu: m.Nu}))
	}
	return all
}

// freeLen is the longest walk that has a coefficient of its own in the family free.
func (s Spec) freeLen() int {
	if s.Hops == 0 {
		return walk.Default().MaxLen
	}
	return s.Hops
}
