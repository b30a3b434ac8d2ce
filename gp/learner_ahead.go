package gp

import (
	"slices"
	"unsafe"

	"grfgp/internal/meter"
	"grfgp/internal/parallel"
)

// ahead guesses the solutions of the next step of learning from those of the last two:
// along a climb they change nearly as the hyperparameters do. On a ring with walks of ten
// hops that saves half of the iterations.
type ahead struct {
	x, change []float64 // free hyperparameters of the last step, and their change to it
	before    []float64 // solutions of the step before the last; nil: none
	before32  []float32 // the same in float32
}

// aheadState is an ahead as it is saved.
type aheadState struct {
	X, Change, Before []float64
	Before32          []float32
}

func (a *ahead) state() aheadState { return aheadState{a.x, a.change, a.before, a.before32} }

func (s aheadState) ahead() ahead { return ahead{s.X, s.Change, s.Before, s.Before32} }

// aheadMost bounds how far beyond the last change a guess goes.
const aheadMost = 1.5

// start moves the solutions of the last step to a guess of those at x.
func (a *ahead) start(solutions, x []float64) {
	if factor, ok := a.advance(x); ok {
		a.before = extrapolate(solutions, a.before, factor)
	}
}

// startSingle is start for float32.
func (a *ahead) startSingle(solutions []float32, x []float64) {
	if factor, ok := a.advance(x); ok {
		a.before32 = extrapolate(solutions, a.before32, float32(factor))
	}
}

// advance notes x and returns its change as a multiple of the one before; ok is false for
// the first x, where there are no solutions yet.
func (a *ahead) advance(x []float64) (factor float64, ok bool) {
	last, change := a.x, make([]float64, len(x))
	a.x = slices.Clone(x)
	if last == nil {
		return 0, false
	}
	along, length := 0.0, 0.0
	for j, v := range x {
		change[j] = v - last[j]
		if a.change != nil {
			along += change[j] * a.change[j]
			length += a.change[j] * a.change[j]
		}
	}
	a.change = change
	if length == 0 {
		return 0, true
	}
	return max(0, min(aheadMost, along/length)), true
}

// extrapolate sets now to now + factor·(now − before), and returns what it was; before is
// overwritten.
func extrapolate[F float32 | float64](now, before []F, factor F) []F {
	if before == nil {
		return slices.Clone(now)
	}
	pass := meter.Start()
	defer pass.Done(4 * len(now) * int(unsafe.Sizeof(factor)))
	parallel.Ranges(len(now), 1<<14, func(lo, hi int) {
		last := before[lo:hi]
		for q, v := range now[lo:hi] {
			now[lo+q], last[q] = v+F(factor*(v-last[q])), v
		}
	})
	return before
}
