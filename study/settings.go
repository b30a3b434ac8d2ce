package study

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/covariate"
	"grfgp/gp"
)

// Settings define a study. Name and graph are fixed when it is created; Study.Change
// changes the others.
type Settings struct {
	Name   string        `json:"name"`
	Graph  string        `json:"graph"` // id of the graph, the hash of its content
	Goal   bayesopt.Goal `json:"goal"`
	Policy string        `json:"policy,omitempty"` // one of bayesopt.PolicyNames(); empty: the default of the goal
	Spec   grfgp.Spec    `json:"spec"`             // of the model; Complete sets empty Roles to auto, and studies without Roles have none
	Seed   uint64        `json:"seed"`             // of the suggestions
	Unit   string        `json:"unit,omitempty"`   // of the values, as people read it, such as mph; no computation uses it
	// Budget bounds the cost of pending and done trials together; nil: no limit.
	// Measurements from Observe cost nothing.
	Budget *float64 `json:"budget,omitempty"`
	// Lease is how long a trial is reserved unless the ask gives another time; 0:
	// DefaultLease.
	Lease   Duration `json:"lease"`
	Repeats bool     `json:"repeats,omitempty"` // measured nodes may be suggested again
	// Exposures says that every measurement has an exposure (see Measurement): that of a
	// count, or the number tested of a share. Complete sets it for shares.
	Exposures bool `json:"exposures,omitempty"`
	// Labels says that results are classes, not values. Complete sets it if there are
	// Classes. Such studies have the goal to learn.
	Labels bool `json:"labels,omitempty"`
	// Classes are those that a node may be of, in the order in which people see them. Nil,
	// with Labels: those of the results, which may bring new ones.
	Classes []string `json:"classes,omitempty"`
	// Covariates names columns of the graph's node table that the model uses, see
	// covariate.Select; covariate.All stands for all. Nil: none.
	Covariates []string `json:"covariates,omitempty"`

	// The following fields replace columns of the graph's node table. Nil means that
	// the column is used, if there is one.
	Allowed  []string           `json:"allowed,omitempty"`   // ids of nodes that may be suggested; without a column: all
	Cost     map[string]float64 `json:"cost,omitempty"`      // by id, 1 for ids not named; without a column: 1 each
	Group    map[string]string  `json:"group,omitempty"`     // name of the group by id
	GroupCap int                `json:"group_cap,omitempty"` // most nodes of a group that may be pending at once; 0: no cap
}

// DefaultLease is the default of Settings.Lease.
const DefaultLease = Duration(24 * time.Hour)

// MaxLease is the longest lease that is given.
const MaxLease = 10 * 365 * 24 * time.Hour

// checkLease refuses leases that are negative or too long.
func checkLease(lease time.Duration) error {
	if lease < 0 || lease > MaxLease {
		return fmt.Errorf("%w: lease %v; give a duration from 0 to %v", ErrInvalid, lease, MaxLease)
	}
	return nil
}

// Limits on the length of texts, in bytes.
const (
	maxName   = 128  // of a study
	maxColumn = 1024 // of the name of a column
	maxUnit   = 40   // of a unit
	MaxID     = 256  // of a node, a key or a holder
	MaxNote   = 4096 // of a note
)

// Duration is a time.Duration that is written as "24h0m0s" in JSON.
type Duration time.Duration

// MarshalText writes the duration as time.Duration.String does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads a duration as time.ParseDuration does.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%w: %q is not a duration; write 90m or 24h", ErrInvalid, text)
	}
	*d = Duration(v)
	return nil
}

// Complete checks the settings and returns them with defaults filled in.
func (s Settings) Complete() (Settings, error) {
	if s.Lease == 0 {
		s.Lease = DefaultLease
	}
	if s.Spec.Roles == "" {
		s.Spec.Roles = rolesAuto
	}
	if s.About().Exposure == gp.ExposureRequired {
		s.Exposures = true
	}
	if s.Classes != nil {
		s.Labels = true
	}
	if _, level := s.Goal.Level(); s.Policy == "straddle" && !level { // not in check, because old studies may have it
		return s, fmt.Errorf("%w: the policy straddle needs the goal threshold=V, not %v", ErrInvalid, s.Goal)
	}
	if err := s.check(); err != nil {
		return s, err
	}
	return s, checkLease(time.Duration(s.Lease))
}

func (s Settings) check() error {
	if err := CheckName(s.Name); err != nil {
		return err
	}
	if err := s.Spec.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
	}
	switch {
	case s.Graph == "":
		return bad("give the id of a graph")
	case s.Policy != "" && !slices.Contains(bayesopt.PolicyNames(), s.Policy):
		return bad("no policy is called %q; there are %q", s.Policy, bayesopt.PolicyNames())
	case s.Budget != nil && !(*s.Budget >= 0 && !math.IsInf(*s.Budget, 0)):
		return bad("budget %v; give a finite number ≥ 0", *s.Budget)
	case s.Lease <= 0:
		return bad("lease %v; give a duration > 0", time.Duration(s.Lease))
	case s.Spec.Device != "":
		return bad("the device %q, but where a model is computed is up to the machine, not to the study; leave it out", s.Spec.Device)
	case s.Spec.Times != nil:
		return bad("periods in time, but a search is over nodes: it suggests where to measure now, and takes all results of a study for the " +
			"same quantity; leave out the times, and create a study for each period")
	case !s.Exposures && s.About().Exposure == gp.ExposureRequired:
		return bad("values of kind %s without exposures; each has one: %s", s.Spec.Values, s.About().Exposures)
	case s.Exposures && s.About().Exposure == gp.ExposureNone:
		return bad("exposures do not go with values of kind %s; leave them out, or say what is measured", s.About().Name)
	case s.GroupCap < 0:
		return bad("group_cap %d; give a number ≥ 0", s.GroupCap)
	}
	if err := checkText("a unit", s.Unit, maxUnit); err != nil {
		return err
	}
	if err := s.checkLabels(); err != nil {
		return err
	}
	for _, node := range s.Allowed {
		if err := checkText("a node", node, MaxID); err != nil {
			return err
		}
	}
	for _, column := range s.Covariates {
		if err := checkText("the name of a covariate", column, maxColumn); err != nil {
			return err
		}
		if column == "" {
			return bad("a covariate without a name; give names of columns, or %q", covariate.All)
		}
	}
	for node, cost := range s.Cost {
		if !(cost > 0) || math.IsInf(cost, 0) {
			return bad("node %q costs %v; give a finite number > 0", node, cost)
		}
	}
	return nil
}

// Kinds describes all kinds of values that a study can measure, beside classes.
func Kinds() []gp.About { return gp.AboutValues() }

// About describes what is measured. A kind that there is not, of settings that were not checked, is described as gaussian.
func (s Settings) About() gp.About {
	var kind gp.Values
	if kind.UnmarshalText([]byte(s.Spec.Values)) != nil {
		kind = gp.Gaussian
	}
	return kind.About()
}

// checkValue returns an error if a measurement is not of the kind that the settings say,
// or is outside the domain of their transform.
func (s Settings) checkValue(m Measurement) error {
	if s.Labels || m.Class != "" {
		return s.checkClass(m)
	}
	if !finite(m.Value) || !finite(m.Exposure) {
		what := fmt.Sprintf("value %v", m.Value)
		if finite(m.Value) {
			what = fmt.Sprintf("exposure %v", m.Exposure)
		}
		return fmt.Errorf("%w: node %q has the %s", ErrNotFinite, m.Node, what)
	}
	d := gp.Data{Nodes: []int{0}, Y: []float64{m.Value}}
	switch {
	case !s.Exposures && m.Exposure != 0:
		return fmt.Errorf("%w: node %q has the exposure %v, but this study measures %s, without exposures; leave it out", ErrInvalid, m.Node,
			m.Exposure, s.measured())
	case s.Exposures && !(m.Exposure > 0):
		return fmt.Errorf("%w: node %q has no exposure above 0, but this study measures %s; give it with the value", ErrInvalid, m.Node,
			s.measured())
	case s.Exposures:
		d.Exposure = []float64{m.Exposure}
	case s.Spec.Values == "" && s.Spec.Transform == "": // any finite value
		return nil
	}
	if s.Spec.CheckData(1, d) != nil {
		of := ""
		if s.Exposures {
			of = fmt.Sprintf(" with the exposure %v", m.Exposure)
		}
		return fmt.Errorf("%w: node %q has the value %v%s, but this study measures %s", ErrInvalid, m.Node, m.Value, of, s.measured())
	}
	return nil
}

// measured says in words which values fit.
func (s Settings) measured() string {
	about := s.About()
	switch {
	case s.Spec.Transform != "" && s.Spec.Transform != gp.NoTransform.String():
		return "values in the domain of its transform, " + s.Spec.Transform
	case about.Noisy:
		return "numbers"
	case s.Exposures:
		return about.Name + " values, each with its exposure: " + about.Exposures
	}
	return about.Title
}

// equal reports whether two settings are the same.
func (s Settings) equal(t Settings) bool {
	a, errA := json.Marshal(s)
	b, errB := json.Marshal(t)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// repeats reports whether creating a study with settings s again has no effect if it has
// the settings was. Settings of studies that were created before there were roles leave
// them open.
func (s Settings) repeats(was Settings) bool {
	if was.Spec.Roles == "" && s.Spec.Roles == rolesAuto {
		s.Spec.Roles = ""
	}
	return s.equal(was)
}

// CheckName returns an error unless a name of a study is safe in URLs and file
// names.
func CheckName(name string) error {
	if name == "" || len(name) > maxName || !utf8.ValidString(name) {
		return fmt.Errorf("%w: the name of a study has 1 to %d bytes", ErrInvalid, maxName)
	}
	for i, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && (i == 0 || r != '-' && r != '_' && r != '.') {
			return fmt.Errorf("%w: the name %q; use letters and digits, and after the first character also the marks . - _", ErrInvalid, name)
		}
	}
	return nil
}

// checkText refuses text that is too long or not UTF-8.
func checkText(what, text string, most int) error {
	if len(text) > most || !utf8.ValidString(text) {
		return fmt.Errorf("%w: %s is text of at most %d bytes", ErrInvalid, what, most)
	}
	return nil
}

// UsesModel reports whether the policy needs a model.
func (s Settings) UsesModel() bool {
	p, _ := bayesopt.PolicyNamed(s.Policy, s.Goal, noEdges{}) // the settings were checked
	_, free := p.(bayesopt.ModelFree)
	return !free
}

// noEdges stands for the graph where only the type of a policy matters.
type noEdges struct{}

func (noEdges) Row(int) ([]uint32, []float64) { return nil, nil }
