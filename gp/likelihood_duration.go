package gp

import "math"

// exponential values are waiting times with the exponential distribution of mean exp(f): gamma values of dispersion 1.
type exponential struct{ gamma }

func (exponential) about() About {
	return About{Name: "duration", Title: "waiting times (exponential)", Help: "waiting times", Quantity: "mean duration",
		Quantities: "mean durations", Reading: "duration", NewReading: "a new duration", Scale: "log", Exposure: ExposureNone,
		Repeats: RepeatsEach, Most: math.Inf(1)}
}

func (exponential) check(y, _, _ float64) error { return checkPositive(y, "duration") }

func (exponential) noise(Shape, float64) string { return "exponential durations" }

func (exponential) checkShape(s Shape) error { return s.want(Shape{Dispersion: 1}) }

func (l exponential) units(d Data, opts FitOptions) (Units, error) { return meanUnits(l, d, opts) }

func (exponential) parameter() parameter { return parameter{} }

func (exponential) shaped(float64) (Shape, float64) { return Shape{Dispersion: 1}, 0 }
