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
