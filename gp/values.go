package gp

import (
	"fmt"
	"math"

	"grfgp/internal/enum"
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
)

var valuesNames = enum.New("kind of values", "gaussian", "student", "count", "share", "yes-no")

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
func (v Values) latent() bool { return v == Counts || v == Shares || v == YesNo }

// Link takes the quantity that people read (a value, a rate, a probability) to the
// scale of f.
func (v Values) Link(x float64) float64 {
	switch v {
	case Counts:
		return math.Log(x)
	case Shares, YesNo:
		return math.Log(x) - math.Log1p(-x)
	}
	return x
}

// Inverse takes f to the scale that people read: the value itself, the rate exp(f)
// per unit of exposure, or the probability 1/(1 + exp(−f)).
func (v Values) Inverse(f float64) float64 {
	switch v {
	case Counts:
		return math.Exp(f)
	case Shares, YesNo:
		return logistic(f)
	}
	return f
}

func logistic(f float64) float64 {
	if f < 0 {
		e := math.Exp(f)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-f))
}

// Shape holds the parameters of a likelihood that have no counterpart in the Gaussian
// one. The scale of Student's t is State.Noise, squared.
type Shape struct {
	// Freedom is the number of degrees of freedom of Student's t.
	Freedom float64 `json:"freedom,omitempty"`
	// Dispersion is the φ of counts: the variance of a count of mean μ is μ + φμ². With
	// 0 it is a Poisson number.
	Dispersion float64 `json:"dispersion,omitempty"`
}

// studentFreedom is not learned. The likelihood of the scale and the degrees of
// freedom together is nearly flat along a ridge, and few data push them to a bound;
// with 4, estimates are robust and lose little where the noise is Gaussian (Lange,
// Little and Taylor, JASA 84, 1989).
const studentFreedom = 4

// check returns an error unless the shape can belong to such values.
func (s Shape) check(v Values) error {
	switch {
	case !valuesNames.Valid(int(v)):
		return fmt.Errorf("%s", v)
	case v == Student && !(s.Freedom > 2 && s.Freedom <= 1e6):
		return fmt.Errorf("%v degrees of freedom of Student's t, want more than 2", s.Freedom)
	case !(s.Dispersion >= 0 && s.Dispersion <= math.MaxFloat64):
		return fmt.Errorf("the dispersion of counts is %v, want a finite number ≥ 0", s.Dispersion)
	case v != Student && s.Freedom != 0, v != Counts && s.Dispersion != 0:
		return fmt.Errorf("%+v does not go with values of kind %s", s, v)
	}
	return nil
}

// mostCount is the largest count that is an exact number.
const mostCount = 1 << 53

// CheckValues is Check for values of a known kind: counts are integers, no share has
// more positives than trials, and so on.
func (d Data) CheckValues(nodes int, v Values) error {
	if err := d.Check(nodes); err != nil || v == Gaussian && d.Exposure == nil {
		return err
	}
	if !valuesNames.Valid(int(v)) {
		return fmt.Errorf("%w: %s", ErrData, v)
	}
	switch {
	case d.Exposure != nil && v != Counts && v != Shares:
		return fmt.Errorf("%w: an exposure goes with counts and with shares, but the values are of kind %s; leave it out, or say what is measured", ErrData, v)
	case v == Gaussian:
		return nil
	case !d.single() || d.Scatter != nil:
		return fmt.Errorf("%w: means of repeated measurements are not enough for values of kind %s; give the measurements one by one", ErrData, v)
	case d.NoiseVar != nil && v != Student:
		return fmt.Errorf("%w: values of kind %s have no noise variances; leave these out", ErrData, v)
	}
	for k, y := range d.Y {
		if err := d.checkValue(k, y, v); err != nil {
			return fmt.Errorf("%w: measurement %d, at node %d, %w", ErrData, k, d.Nodes[k], err)
		}
	}
	return nil
}

// checkValue returns an error that says what is wrong with one value.
func (d Data) checkValue(k int, y float64, v Values) error {
	n := d.exposure(k)
	switch {
	case v == Student && d.NoiseVar != nil && d.NoiseVar[k] == 0:
		return fmt.Errorf("is without noise, which Student's t has not; take values of kind %s, or give it a noise", Gaussian)
	case v == Counts && !(y >= 0 && y <= mostCount && y == math.Trunc(y)):
		return fmt.Errorf("is %v, which is no count; counts are 0, 1, 2, …: correct it, or take another kind of values", y)
	case v == YesNo && y != 0 && y != 1:
		return fmt.Errorf("is %v, want 0 or 1; for positives among trials take values of kind %s", y, Shares)
	case v == Shares && !(n <= mostCount && n == math.Trunc(n)):
		return fmt.Errorf("is of %v trials, want an integer", n)
	case v == Shares && !(y >= 0 && y <= n && y == math.Trunc(y)):
		return fmt.Errorf("is %v positives of %v trials; want an integer from 0 to the number of trials, which is the exposure", y, n)
	}
	return nil
}

// exposure returns the exposure of measurement k.
func (d Data) exposure(k int) float64 {
	if d.Exposure == nil {
		return 1
	}
	return d.Exposure[k]
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
