package gp

import (
	"fmt"
	"math"

	"grfgp/internal/enum"
	"grfgp/kernel"
)

// likelihood is the distribution of a measurement given the function f at its node, with all that
// follows from it. To add one, write a file with a type like those of likelihood_*.go, and
// add a constant and a line to the list below: readers, models, validation, studies, reports and
// programs learn the rest from these methods and from About.
//
// Everything is in the units of Units: a value with noise is standardised, all others are as given.
type likelihood interface {
	// about describes it, for people and programs.
	about() About
	// noise describes the distribution of a reading given the quantity, with its learned parameters; sd is Model.NoiseSD.
	noise(s Shape, sd float64) string
	// check says what is wrong with a measurement, if anything is, such as a value that cannot be; its noise is a variance, or NaN
	// if none came with it.
	check(y, exposure, noise float64) error
	// checkShape says what is wrong with parameters of the likelihood, if anything is.
	checkShape(s Shape) error

	// link takes the quantity that people read to the scale of f, and inverse takes it back.
	link(x float64) float64
	inverse(f float64) float64
	// units returns the center and the scale of f.
	units(d Data, opts FitOptions) (Units, error)

	// parameter is what is learned beside the hyperparameters of the kernel, and shaped is the likelihood with
	// a value of it: its shape, and its noise.
	parameter() parameter
	shaped(value float64) (s Shape, noise float64)

	// offset is what the exposure adds to f.
	offset(exposure float64) float64
	// base is the part of the log density of a reading that does not depend on f.
	base(o reading) float64
	// terms returns the log density without base, and its derivatives, at offset + f.
	terms(o reading, f float64) terms
	// guess is a rough pseudo-measurement of offset + f with its weight: what the reading says alone.
	guess(o reading) (f, weight float64)
	// concave reports whether the log density is concave in f. If not, steps towards the mode have constant weights.
	concave() bool
	// stepWeight is the weight in a step towards the mode of f.
	stepWeight(o reading, t terms) float64
	// predictive is the log density of a reading where offset + f is normal.
	predictive(o reading, mean, variance float64) float64

	// moments returns mean and standard deviation of the quantity where f is normal.
	moments(mean, sd float64) (mean2, sd2 float64)
	// measurement returns mean and standard deviation of a reading where f is normal.
	measurement(o reading, mean, sd float64) (mean2, sd2 float64)
	// cdf is the probability that a reading is at most o.y where f is normal.
	cdf(o reading, mean, sd float64) float64
	// quantile inverts cdf.
	quantile(o reading, mean, sd, p float64) float64
}

// logConcave is what likelihoods have in common whose log density is concave in f.
type logConcave struct{}

func (logConcave) concave() bool { return true }

func (logConcave) stepWeight(_ reading, t terms) float64 { return t.weight }

// reading is a measurement with what its distribution depends on beside f.
type reading struct {
	y        float64
	exposure float64
	noise    float64 // variance, or squared scale
	shape    Shape
}

// at returns the reading with another value.
func (o reading) at(y float64) reading {
	o.y = y
	return o
}

// terms are the log density of a measurement and its derivatives.
type terms struct {
	value  float64 // log p(y|f)
	slope  float64 // by f
	curve  float64 // minus the second derivative
	weight float64 // W: curve, or 0 where that is negative
	bend   float64 // derivative of curve by f

	// derivatives by the parameter of the likelihood, if there is one
	valueBy, slopeBy, weightBy float64
}

// parameter is a parameter of a likelihood that is learned.
type parameter struct {
	name  string // empty: there is none
	start float64
	floor float64
	// noise: it is the noise, which may be given instead of learned.
	noise bool
	// optional: the likelihood with the value 0 is another model, which is taken unless the parameter is worth a nat.
	optional bool
}

func (p parameter) param() kernel.Param {
	return kernel.Param{Name: p.name, Start: p.start, Positive: true}
}

// likelihoods is the registry, in the order of the constants of Values.
var likelihoods = []likelihood{
	Gaussian: gaussian{},
	Student:  studentT{},
	Counts:   negativeBinomial{},
	Shares:   binomial{},
	YesNo:    bernoulli{},
	Duration: exponential{},
	Positive: gamma{},
}

var valuesNames = enum.New("kind of values", namesOf(likelihoods)...)

func namesOf(all []likelihood) (names []string) {
	for _, l := range all {
		names = append(names, l.about().Name)
	}
	return names
}

// likelihood returns the likelihood of a valid kind.
func (v Values) likelihood() likelihood {
	if !valuesNames.Valid(int(v)) {
		panic(fmt.Sprintf("gp: %s", v))
	}
	return likelihoods[v]
}

// About returns what there is to say about the kind, which must be valid.
func (v Values) About() About { return v.likelihood().about() }

// NoiseWords describes the distribution of a reading given the quantity: that of a model with its shape and its NoiseSD.
func (v Values) NoiseWords(s Shape, sd float64) string { return v.likelihood().noise(s, sd) }

// CheckValue says what is wrong with one measurement of the kind, if anything is. The exposure is 1 where there is none.
func (v Values) CheckValue(y, exposure float64) error {
	return v.likelihood().check(y, exposure, math.NaN())
}

// AboutValues returns what there is to say about all kinds, in the order of ValuesNames.
func AboutValues() []About {
	all := make([]About, len(likelihoods))
	for k, l := range likelihoods {
		all[k] = l.about()
	}
	return all
}

// About describes a kind of values: what programs need to know of it, and say about it.
type About struct {
	// Name is what users write.
	Name string `json:"name"`
	// Title describes it in a list to choose from, such as "counts: 0, 1, 2, …".
	Title string `json:"title"`
	// Help describes it in a line of help, such as "numbers of events".
	Help string `json:"help"`
	// Quantity is what predictions are of, such as "rate", and Quantities its plural.
	Quantity   string `json:"quantity"`
	Quantities string `json:"quantities"`
	// Reading is one measurement, such as "count"; NewReading a new one, such as "a new count".
	Reading    string `json:"reading"`
	NewReading string `json:"new_reading"`
	// Scale names the scale of f: "log", "logit", or nothing for that of the values.
	Scale string `json:"scale,omitempty"`
	// Noisy: a value is f plus noise, which has a standard deviation that may be given, and values may be transformed;
	// Noise says what Model.NoiseSD is then.
	Noisy bool   `json:"noisy"`
	Noise string `json:"noise,omitempty"`
	// Whole: measurements are whole numbers.
	Whole bool `json:"whole"`
	// Negative: measurements may be below 0.
	Negative bool `json:"negative"`
	// Exposure says whether a measurement comes with a size, and Exposures what that is.
	Exposure  ExposureUse `json:"exposure"`
	Exposures string      `json:"exposures,omitempty"`
	// Repeats says how repeated measurements of a node are used.
	Repeats RepeatsUse `json:"repeats"`
	// Least and Most are the ends of the range of the quantity.
	Least, Most float64 `json:"-"`
}

// ExposureUse says whether measurements of a kind come with exposures.
type ExposureUse string

// Uses of exposures.
const (
	ExposureNone     ExposureUse = "none"
	ExposureOptional ExposureUse = "optional"
	ExposureRequired ExposureUse = "required"
)

// RepeatsUse says what is sufficient of repeated measurements.
type RepeatsUse string

// Uses of repeated measurements.
const (
	RepeatsMean RepeatsUse = "mean" // their mean, number and scatter
	RepeatsSum  RepeatsUse = "sum"  // the sums of values and of exposures
	RepeatsEach RepeatsUse = "each" // nothing less than all of them
)

// Latent reports whether f is on a scale of its own, such as a log rate, and not on that of the data.
func (a About) Latent() bool { return a.Scale != "" }
