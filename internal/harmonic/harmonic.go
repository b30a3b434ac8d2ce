// Package harmonic extends values from some nodes of a graph to all others, so
// that each of these is the weighted mean of its neighbours.
package harmonic

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/solve"
	"grfgp/sparse"
)

const (
	accuracy  = 1e-9 // error of the solution, as a share of the range of the known values
	stepTol   = 1e-5 // relative residual of one round,
	stepMost  = 500  // its iterations
	mostSteps = 20   // and how many rounds there may be
	wholeMost = 4096 // nodes that are solved as a whole where rounds do not converge, in seconds
)

// Extend sets value at every node that is not known to the mean of its neighbours
// by weight: the solution of L_uu·x = −L_uk·y. Nodes from which no known node can
// be reached get the value far. The weights are symmetric and positive; loops
// change nothing.
//
// Nodes of one or two neighbours are eliminated, so that paths, rings and trees
// are solved exactly in linear time. What is left is solved by conjugate gradients
// with aggregates as preconditioner, until the error is below 1e-9 of the range of
// the known values at every node.
func Extend(ctx context.Context, weights *sparse.CSR, known []bool, value []float64, far float64) error {
	center, spread := span(known, value)
	e := newElimination(weights, known, value, center)
	for i, ok := range known {
		if !ok && !e.live[i] {
			value[i] = far
		}
	}
	e.run()
	core, nodes := e.core()
	x, err := core.solve(ctx, spread)
	if err != nil {
		return fmt.Errorf("%d of %d nodes: %w", len(nodes), len(known), err)
	}
	for k, i := range nodes {
		value[i] = center + x[k]
	}
	e.substitute(value, center)
	return nil
}

// span returns the middle of the known values, and half their range.
func span(known []bool, value []float64) (center, spread float64) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for i, ok := range known {
		if ok {
			lo, hi = min(lo, value[i]), max(hi, value[i])
		}
	}
	if lo > hi {
		return 0, 0
	}
	return lo/2 + hi/2, hi/2 - lo/2
}

// solve returns the solution of the network, with an error below accuracy·spread
// at every node. Each round solves for what the rounds before have left, so the
// largest step of a round is the error before it, and the ratio to the step of the
// round before says what error it leaves.
func (n *network) solve(ctx context.Context, spread float64) ([]float64, error) {
	size := len(n.ground)
	x := make([]float64, size)
	if size == 0 || spread == 0 {
		return x, nil
	}
	scaled := newScaled(n)
	precond := scaledCycle{newCycle(n), scaled.by}
	rest, step, none := make([]float64, size), make([]float64, size), make([]float64, size)
	before := spread
	for range mostSteps {
		n.residual(rest, n.source, x)
		for i, s := range scaled.by {
			rest[i] *= s
		}
		clear(step)
		_, err := solve.CG(ctx, mat.NewDense(size, 1, step), scaled, none, mat.NewDense(size, 1, rest), precond,
			solve.Options{Tol: stepTol, MaxIter: stepMost})
		if errors.Is(err, solve.ErrNotConverged) && size <= wholeMost { // weights over some 16 decades
			newWhole(n).solve(x, n.source)
			return x, nil
		}
		if err != nil {
			return nil, err
		}
		largest := 0.0
		for i, d := range step {
			d *= scaled.by[i]
			x[i] += d
			largest = max(largest, math.Abs(d))
		}
		if largest*min(1, largest/before) <= accuracy*spread {
			return x, nil
		}
		before = largest
	}
	return nil, fmt.Errorf("%w: rounding keeps corrections above %g of the range of values", solve.ErrNotConverged, accuracy)
}
