// Package adam climbs by gradients that are noisy or differ in size: every step is
// about as long as the rate, whatever the gradient (Kingma and Ba, 2015).
package adam

import "math"

// Adam is the state of a climb.
type Adam struct {
	first, second []float64 // moments of the gradients so far
	steps         float64
}

// New returns a climb over n parameters.
func New(n int) *Adam { return &Adam{make([]float64, n), make([]float64, n), 0} }

// State is what a climb needs to go on.
type State struct {
	First, Second []float64
	Steps         float64
}

// State returns the state of a, which shares its memory.
func (a *Adam) State() State { return State{a.first, a.second, a.steps} }

// Resume returns a climb that goes on from a state.
func Resume(s State) *Adam { return &Adam{s.First, s.Second, s.Steps} }

// Step moves x along grad.
func (a *Adam) Step(x, grad []float64, rate float64) {
	const decay1, decay2, tiny = 0.9, 0.999, 1e-8
	a.steps++
	for j, g := range grad {
		a.first[j] = decay1*a.first[j] + (1-decay1)*g
		a.second[j] = decay2*a.second[j] + (1-decay2)*g*g
		m, v := a.first[j]/(1-math.Pow(decay1, a.steps)), a.second[j]/(1-math.Pow(decay2, a.steps))
		x[j] += rate * m / (math.Sqrt(v) + tiny)
	}
}
