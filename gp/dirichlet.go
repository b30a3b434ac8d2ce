package gp

import "math"

// dirichletPrior is α_ε, the count that a Dirichlet distribution over classes
// has before a label is seen.
const dirichletPrior = 0.01

// dirichletSide is a label as a normal variable: the logarithm of a gamma variable
// of shape α by its first two moments, σ² = log(1 + 1/α) and log α − σ²/2 (Milios
// et al., 2018).
func dirichletSide(alpha float64) side {
	v := math.Log1p(1 / alpha)
	return side{math.Log(alpha) - v/2, v}
}

// dirichletSides returns both sides of a label in units in
// which targets have mean 0 and variance 1 where classes are equally frequent,
// and the scale of these units. What is added to all classes does not matter.
func dirichletSides(classes int) (own, other side, scale float64) {
	own, other = dirichletSide(1+dirichletPrior), dirichletSide(dirichletPrior)
	share := 1 / float64(classes)
	center := share*own.target + (1-share)*other.target
	scale = (own.target - other.target) * math.Sqrt(share*(1-share))
	standard := func(s side) side { return side{(s.target - center) / scale, s.noise / scale / scale} }
	return standard(own), standard(other), scale
}
