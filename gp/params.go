package gp

import (
	"fmt"
	"math"
	"slices"

	"grfgp/kernel"
)

// params are the hyperparameters that a fit may change: those of the kernel and,
// last, the noise variance unless it is known. The optimiser sees positive ones
// by their logarithms.
type params struct {
	list  []kernel.Param
	noise bool    // the last one is the noise
	known float64 // noise variance of one measurement where it is not learned
	floor float64 // of the noise variance that is learned

	curved *curvature // of the likelihood where a climb has ended; nil: unknown
}

// The least noise variance that is learned, as a share of that of the data. A
// factored matrix allows for little noise: where parts of a graph lie far apart
// in value, the variance of all data is large beside the noise. By iteration less
// noise takes more steps.
const (
	noiseFloorExact     = 1e-6
	noiseFloorIterative = 1e-4
)

// spread is the standard deviation, in e-folds, of the weak log-normal prior on
// positive hyperparameters. It matters where data are few: a lot with three
// measurements, next to nothing with three hundred.
const spread = 3

// newParams returns the hyperparameters of a fit, with a noise unless it is
// known, and where they may start: as given, or as the kernel says.
func newParams(k kernel.Kernel, starts [][]float64, known bool) (*params, [][]float64, error) {
	return newParamsWith(k, starts, kernel.Param{Name: "noise", Start: 0.1, Positive: true}, known)
}

// newParamsWith is newParams with another last parameter than the noise.
func newParamsWith(k kernel.Kernel, starts [][]float64, last kernel.Param, known bool) (*params, [][]float64, error) {
	p := &params{list: k.Params(), floor: noiseFloorIterative}
	if len(starts) == 0 {
		starts = kernel.Starts(k)
	}
	if !known {
		p.noise = true
		p.list = append(p.list[:len(p.list):len(p.list)], last)
	}
	all := make([][]float64, len(starts))
	for s, start := range starts {
		if len(start) != len(k.Params()) {
			return nil, nil, fmt.Errorf("%d starting values for %d parameters", len(start), len(k.Params()))
		}
		all[s] = append([]float64(nil), start...)
		if !known {
			all[s] = append(all[s], p.list[len(p.list)-1].Start)
		}
	}
	return p, all, nil
}

// warm returns the starts with the noise that another model of the same values has learned.
func (p *params) warm(u Units, from *Model, starts [][]float64) [][]float64 {
	if from == nil || !p.noise {
		return starts
	}
	scale := from.units.Scale / u.Scale
	noise := max(from.noise*scale*scale, p.floor*(1+leastWarm))
	all := make([][]float64, len(starts))
	for k, start := range starts {
		all[k] = slices.Clone(start)
		all[k][len(start)-1] = noise
	}
	return all
}

// leastWarm is the least noise to start from, above the floor and as a share of it: at the floor itself there is
// no slope.
const leastWarm = 0.1

// unknownShare: with more than one new hyperparameter in so many, learning begins without a curvature.
const unknownShare = 4

// curvatureAt returns the curvature at theta, if it has the hyperparameters of m, and nil if not. Of further ones, which m
// does not have, nothing is known; where these are many, nor is anything of the whole.
func (m *Model) curvatureAt(p *params, theta []float64) *curvature {
	if m == nil || m.curved == nil {
		return nil
	}
	had := m.kernel.Params()
	values := kernel.ThetaOf(had, m.theta)
	if !kernel.ThetaOf(p.list, theta).Holds(values) {
		return nil
	}
	if p.noise {
		had = append(had[:len(had):len(had)], p.list[len(p.list)-1])
	}
	if n := len(had); len(m.curved.inverse) != n*n || len(theta)-n > 0 && len(theta)-n > len(theta)/unknownShare {
		return nil
	}
	places := make([]int, len(theta)) // in m; −1: nowhere
	for j, q := range p.list {
		places[j] = slices.IndexFunc(had, func(h kernel.Param) bool { return h.Name == q.Name })
	}
	return m.curved.at(len(had), places)
}

// Free returns the variables of the optimiser: log θ, log(noise − floor), or θ.
func (p *params) Free(theta []float64) []float64 {
	x := make([]float64, len(theta))
	for j, v := range theta {
		switch {
		case p.isNoise(j):
			x[j] = math.Log(v - p.floor)
		case p.list[j].Positive:
			x[j] = math.Log(v)
		default:
			x[j] = v
		}
	}
	return x
}

// Natural is the inverse of Free.
func (p *params) Natural(x []float64) []float64 {
	theta := make([]float64, len(x))
	for j, v := range x {
		switch {
		case p.isNoise(j):
			theta[j] = p.floor + math.Exp(v)
		case p.list[j].Positive:
			theta[j] = math.Exp(v)
		default:
			theta[j] = v
		}
	}
	return theta
}

// Chain turns a gradient by natural parameters into one by free ones.
func (p *params) Chain(grad, theta []float64) {
	for j := range grad {
		switch {
		case p.isNoise(j):
			grad[j] *= theta[j] - p.floor
		case p.list[j].Positive:
			grad[j] *= theta[j]
		}
	}
}

// Prior returns the log density, up to a constant, of the weak prior at x, and
// adds its gradient.
func (p *params) Prior(grad, x []float64) float64 {
	sum := 0.0
	for j, q := range p.list {
		if !q.Positive {
			continue
		}
		z := (x[j] - math.Log(q.Start)) / spread
		sum -= z * z / 2
		grad[j] -= z / spread
	}
	return sum
}

// far reports whether a positive parameter is out of range: a long first step of a
// line search may lead there.
func (p *params) far(x []float64) bool {
	for j, q := range p.list {
		if q.Positive && !(math.Abs(x[j]-math.Log(q.Start)) < farthest) {
			return true
		}
	}
	return false
}

// farthest is the range of the logarithm of a positive parameter, on both sides of its
// start value.
const farthest = 5 * spread

// near moves parameters that are out of range, such as those of an earlier fit, into
// it; x is changed.
func (p *params) near(x []float64) []float64 {
	for j, q := range p.list {
		if q.Positive {
			at := math.Log(q.Start)
			x[j] = max(at-0.9*farthest, min(at+0.9*farthest, x[j]))
		}
	}
	return x
}

func (p *params) isNoise(j int) bool { return p.noise && j == len(p.list)-1 }

// split returns the kernel's parameters and the noise variance.
func (p *params) split(theta []float64) ([]float64, float64) {
	if !p.noise {
		return theta, p.known
	}
	last := len(theta) - 1
	return theta[:last], theta[last]
}
