package walk

import (
	"sync"

	"grfgp/sparse"
)

// Ground is a matrix with what walks on it share, whatever their number, length and seed: the tables of proportional
// steps are made when a run first needs them, once. It is safe for concurrent use. The matrix must not be changed.
type Ground struct {
	w            *sparse.CSR
	opts         Options
	proportional func() *steps
}

// NewGround returns the ground of walks on W with the Scale, Strengths and Rooted of opts.
func NewGround(w *sparse.CSR, opts Options) *Ground {
	own := Options{Scale: opts.Scale, Strengths: opts.Strengths, Rooted: opts.Rooted}
	return &Ground{w, own, sync.OnceValue(func() *steps { return newSteps(w, own, nil) })}
}

// steps returns the steps of a run.
func (g *Ground) steps(opts Options) *steps {
	if opts.Sampler == AdHoc || opts.Steps != Proportional {
		return newSteps(g.w, opts, nil)
	}
	return g.proportional()
}
