package gp

import (
	"fmt"
	"math"
	"strings"
)

// Values says what is measured, and with it the distribution of a measurement given
// the function f on the nodes (the likelihood).
type Values int

const (
	// Gaussian values are f plus normal noise.
	Gaussian Values = iota
	// Student values are f plus noise from Student's t with 4 degrees of freedom:
	// gross errors among the measurements then count for little.
	Student
	// Counts are Poisson numbers of events with mean E·exp(f), E the exposure, or
	// negative binomial ones with variance μ + φμ² where the data are more
	// dispersed than Poisson numbers.
	Counts
	// Shares are numbers of positives among as many trials as the exposure says, with
	// the probability 1/(1 + exp(−f)).
	Shares
	// YesNo values are 1 with the probability 1/(1 + exp(−f)), else 0.
	YesNo
	// Duration values are waiting times, exponential with mean exp(f).
	Duration
	// Positive values have the gamma distribution with mean exp(f) and variance φ·exp(2f).
	Positive
)

// ValuesNames returns the names of all kinds of values.
func ValuesNames() []string { return valuesNames.Names() }

// String returns the name.
func (v Values) String() string { return valuesNames.Name(int(v)) }

// MarshalText returns the name.
func (v Values) MarshalText() ([]byte, error) { return valuesNames.Marshal(int(v)) }

// UnmarshalText reads the name.
func (v *Values) UnmarshalText(text []byte) error { return valuesNames.Unmarshal((*int)(v), text) }

// latent reports whether f is on a scale of its own, log or logit, and not on that of
// the data.
func (v Values) latent() bool { return v.About().Latent() }

// Link takes the quantity that people read (a value, a rate, a probability) to the
// scale of f.
func (v Values) Link(x float64) float64 { return v.likelihood().link(x) }

// Inverse takes f to the scale that people read: the value itself, the rate exp(f)
// per unit of exposure, or the probability 1/(1 + exp(−f)).
func (v Values) Inverse(f float64) float64 { return v.likelihood().inverse(f) }

// Shape holds the parameters of a likelihood that have no counterpart in the Gaussian
// one. The scale of Student's t is State.Noise, squared.
type Shape struct {
	// Freedom is the number of degrees of freedom of Student's t.
	Freedom float64 `json:"freedom,omitempty"`
	// Dispersion is φ: the variance of a count of mean μ is μ + φμ², and with 0 it is a Poisson number; that of a
	// positive value is φμ².
	Dispersion float64 `json:"dispersion,omitempty"`
}

// check returns an error unless the shape can belong to such values.
func (s Shape) check(v Values) error {
	if !valuesNames.Valid(int(v)) {
		return fmt.Errorf("%s", v)
	}
	if err := v.likelihood().checkShape(s); err != nil {
		return fmt.Errorf("values of kind %s: %w", v, err)
	}
	return nil
}

// CheckValues is Check for values of a known kind: counts are integers, no share has
// more positives than trials, and so on.
func (d Data) CheckValues(nodes int, v Values) error {
	if err := d.Check(nodes); err != nil || v == Gaussian && d.Exposure == nil {
		return err
	}
	if !valuesNames.Valid(int(v)) {
		return fmt.Errorf("%w: %s", ErrData, v)
	}
	l := v.likelihood()
	about := l.about()
	switch {
	case d.Exposure != nil && about.Exposure == ExposureNone:
		return fmt.Errorf("%w: an exposure goes with values of kind %s, but these are of kind %s; leave it out, or say what is measured", ErrData,
			exposedNames(), v)
	case about.Repeats == RepeatsMean:
		return nil
	case !d.single() || d.Scatter != nil:
		return fmt.Errorf("%w: means of repeated measurements are not enough for values of kind %s; give the measurements one by one", ErrData, v)
	case d.NoiseVar != nil && !about.Noisy:
		return fmt.Errorf("%w: values of kind %s have no noise variances; leave these out", ErrData, v)
	}
	for k, y := range d.Y {
		noise := math.NaN()
		if d.NoiseVar != nil {
			noise = d.NoiseVar[k]
		}
		if err := l.check(y, d.exposure(k), noise); err != nil {
			return fmt.Errorf("%w: measurement %d, at node %d, %w", ErrData, k, d.Nodes[k], err)
		}
	}
	return nil
}

// exposedNames are the kinds whose measurements have exposures.
func exposedNames() string {
	var names []string
	for _, a := range AboutValues() {
		if a.Exposure != ExposureNone {
			names = append(names, a.Name)
		}
	}
	return strings.Join(names, " or ")
}

// exposure returns the exposure of measurement k.
func (d Data) exposure(k int) float64 {
	if d.Exposure == nil {
		return 1
	}
	return d.Exposure[k]
}

// PoolAs returns what is sufficient of repeated measurements of a kind of values: their means, their sums, or all of them. d must
// pass CheckValues.
func (d Data) PoolAs(v Values) Data {
	switch v.About().Repeats {
	case RepeatsMean:
		return d.Pool()
	case RepeatsSum:
		return d.PoolSums()
	}
	return d
}

// PoolSums returns one row for each node, the sums of its counts and of its exposures,
// in order of first appearance. The sums are sufficient statistics for shares and for
// Poisson counts, not for counts that are more dispersed and not for other values:
// keep these one by one. d must pass CheckValues.
func (d Data) PoolSums() Data {
	if !d.repeats() {
		return d
	}
	at := map[int]int{} // node → its place in p
	p := Data{Exposure: []float64{}}
	for k, i := range d.Nodes {
		r, again := at[i]
		if !again {
			at[i] = p.Len()
			p.Nodes, p.Y, p.Exposure = append(p.Nodes, i), append(p.Y, d.Y[k]), append(p.Exposure, d.exposure(k))
			continue
		}
		p.Y[r] += d.Y[k]
		p.Exposure[r] += d.exposure(k)
	}
	return p
}
