package study

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"grfgp/bayesopt"
	"grfgp/gp"
	"grfgp/internal/printable"
)

// MaxClasses is the largest number of classes of a study.
const MaxClasses = 100

// ClassCount is a class of a study, with the number of measurements of it that were not
// retracted.
type ClassCount struct {
	Class string `json:"class"`
	Count int    `json:"count"`
}

// randomPolicy is the only policy of a study of classes beside the default.
const randomPolicy = "random"

// checkLabels refuses settings of classes that do not go together.
func (s Settings) checkLabels() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
	}
	switch {
	case !s.Labels && s.Classes != nil:
		return bad("classes without labels; a study of classes has both")
	case !s.Labels:
		return nil
	case s.Goal != bayesopt.Learn:
		return bad("the goal %v is for values; a study of classes has the goal learn", s.Goal)
	case s.Policy != "" && s.Policy != randomPolicy:
		return bad("the policy %s is for values; leave it out for the nodes whose classes tell most, or give %s", s.Policy, randomPolicy)
	case s.Spec.Values != "" && s.Spec.Values != gp.Gaussian.String(), s.Spec.Transform != "" && s.Spec.Transform != gp.NoTransform.String(),
		s.Exposures:
		return bad("kinds of values, transforms and exposures are for values; leave them out of a study of classes")
	case s.Spec.Trend == "degree", s.Spec.Variance == "natural":
		return bad("a trend with the degree, and a variance that depends on it, are for values; leave them out of a study of classes")
	case s.Repeats:
		return bad("a node has one class, so nodes with a label are not suggested again; leave out the repeats")
	case s.Classes != nil && (len(s.Classes) < 2 || len(s.Classes) > MaxClasses):
		return bad("a list of classes has 2 to %d of them, not %d", MaxClasses, len(s.Classes))
	}
	for k, class := range s.Classes {
		if err := checkClassName(class); err != nil {
			return err
		}
		if slices.Contains(s.Classes[:k], class) {
			return bad("the class %q is listed twice", class)
		}
	}
	return nil
}

// checkClassName refuses names that people could not tell from others.
func checkClassName(class string) error {
	if err := checkText("a class", class, MaxID); err != nil {
		return err
	}
	if class == "" || strings.TrimSpace(class) != class || strings.ContainsFunc(class, printable.Odd) {
		return fmt.Errorf("%w: the class %q; a class has a name without blanks at its ends and without control characters", ErrInvalid, class)
	}
	return nil
}

// checkClass is checkValue where there is a class, or should be one.
func (s Settings) checkClass(m Measurement) error {
	kind := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrKind}, args...)...)
	}
	switch {
	case !s.Labels:
		return kind("node %q has the class %q, but this study measures %s; give a value", m.Node, m.Class, s.measured())
	case m.Class == "":
		return kind("node %q has the value %v, but this study asks for classes; give %s", m.Node, m.Value, s.anyClass())
	case m.Value != 0 || m.Exposure != 0:
		return kind("node %q has a class and a value; give the class alone", m.Node)
	case s.Classes != nil && !slices.Contains(s.Classes, m.Class):
		return kind("%q is no class of this study; give %s", m.Class, s.anyClass())
	}
	return checkClassName(m.Class)
}

// anyClass says which classes there are.
func (s Settings) anyClass() string {
	const listed = 10
	if s.Classes == nil {
		return "the name of a class"
	}
	words := fmt.Sprintf("one of %q", s.Classes[:min(listed, len(s.Classes))])
	if more := len(s.Classes) - listed; more > 0 {
		words += fmt.Sprintf(" and %d more", more)
	}
	return words
}

// checkMeasurements returns an error unless the measurements may be added to the study.
func (s *State) checkMeasurements(all ...Measurement) error {
	classes := slices.Clone(s.classes)
	for _, m := range all {
		if err := s.Settings.checkValue(m); err != nil {
			return err
		}
		if m.Class != "" {
			classes = addClass(classes, m.Class)
		}
	}
	if len(classes) > MaxClasses {
		return fmt.Errorf("%w: a study has at most %d classes; %q would be one more", ErrInvalid, MaxClasses, classes[MaxClasses].Class)
	}
	return nil
}

// addClass counts a class.
func addClass(classes []ClassCount, class string) []ClassCount {
	for k := range classes {
		if classes[k].Class == class {
			classes[k].Count++
			return classes
		}
	}
	return append(classes, ClassCount{class, 1})
}

// countClasses counts the classes of all measurements again.
func (s *State) countClasses() {
	s.classes = nil
	for _, v := range s.Records {
		if !v.Retracted && v.Class != "" {
			s.classes = addClass(s.classes, v.Class)
		}
	}
}

// Classes returns the classes of the study: those of the settings, or those of the
// measurements in the order in which they appeared first. It is nil unless the study is
// one of classes.
func (s *State) Classes() []ClassCount {
	if !s.Settings.Labels {
		return nil
	}
	if s.Settings.Classes == nil {
		return append([]ClassCount{}, s.classes...)
	}
	all := make([]ClassCount, len(s.Settings.Classes))
	for k, class := range s.Settings.Classes {
		all[k].Class = class
		for _, c := range s.classes {
			if c.Class == class {
				all[k].Count = c.Count
			}
		}
	}
	return all
}

// classNumbers returns the names of the classes, and the number of that of each
// measurement.
func (s Settings) classNumbers(measurements []Measurement) (names []string, class []int) {
	names = slices.Clone(s.Classes)
	number := make(map[string]int, len(names))
	for k, name := range names {
		number[name] = k
	}
	for _, m := range measurements {
		k, known := number[m.Class]
		if !known {
			k = len(names)
			number[m.Class] = k
			names = append(names, m.Class)
		}
		class = append(class, k)
	}
	return names, class
}

// words name the result.
func (m Measurement) words() string {
	if m.Class != "" {
		return fmt.Sprintf("the class %q", m.Class)
	}
	return fmt.Sprintf("the value %v", m.Value)
}

// failed reports whether there is no result.
func (p Told) failed() bool { return p.Value == nil && p.Class == "" }

// result returns the result of a trial that has one.
func (t *Trial) result() Measurement {
	m := Measurement{Node: t.Node, Exposure: t.Exposure, Class: t.Class}
	if t.Value != nil {
		m.Value = *t.Value
	}
	return m
}

// wireMeasurement is a Measurement in JSON: a class is in place of the value.
type wireMeasurement struct {
	Node     string   `json:"node"`
	Value    *float64 `json:"value,omitempty"`
	Exposure float64  `json:"exposure,omitempty"`
	Class    string   `json:"class,omitempty"`
}

func (m *Measurement) wire() wireMeasurement {
	w := wireMeasurement{Node: m.Node, Exposure: m.Exposure, Class: m.Class}
	if m.Class == "" || m.Value != 0 {
		w.Value = &m.Value
	}
	return w
}

// MarshalJSON writes {"node":…,"value":…} or {"node":…,"class":…}.
func (m Measurement) MarshalJSON() ([]byte, error) { return json.Marshal(m.wire()) }

// MarshalJSON writes all fields, those of the measurement as it writes them.
func (v Record) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Number int `json:"observation"`
		wireMeasurement
		Trial     int       `json:"trial,omitempty"`
		Seq       int64     `json:"seq"`
		Time      time.Time `json:"time"`
		By        string    `json:"by,omitempty"`
		Retracted bool      `json:"retracted,omitempty"`
		Note      string    `json:"note,omitempty"`
	}{v.Number, v.wire(), v.Trial, v.Seq, v.Time, v.By, v.Retracted, v.Note})
}

// MarshalJSON writes all fields, those of the measurement as it writes them.
func (p HistoryPoint) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Number int       `json:"observation"`
		Trial  int       `json:"trial,omitempty"`
		Time   time.Time `json:"time"`
		wireMeasurement
		Best        *float64 `json:"best,omitempty"`
		Mean        *float64 `json:"mean,omitempty"`
		SD          *float64 `json:"sd,omitempty"`
		Expected    string   `json:"expected,omitempty"`
		Probability *float64 `json:"probability,omitempty"`
	}{p.Number, p.Trial, p.Time, p.wire(), p.Best, p.Mean, p.SD, p.Expected, p.Probability})
}
