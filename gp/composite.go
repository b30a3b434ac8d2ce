package gp

import (
	"context"
	"errors"
	"math"
	"slices"

	"grfgp/internal/parallel"
	"grfgp/kernel"
	"grfgp/plan"
	"grfgp/solve"
)

// choosePatches chooses samples of Gaussian data, as the kernel wants them if the noise is
// equal: see patches.
func choosePatches(k kernel.Kernel, d Data, of plan.Patches) [][]int {
	if own := kernel.TrainingOf(k).Patches; own != nil && equalNoise(d) {
		return own(d.Nodes, of.Windows, of.Size, of.Scattered)
	}
	return patches(d.Nodes, of)
}

// patches chooses samples of the given nodes and returns each as positions in the
// list: windows of nodes that are near each other, and last, if Scattered > 0,
// that many nodes from all over. Nodes are numbered by locality (graph.Order), so
// windows are ranges of node numbers.
func patches(nodes []int, of plan.Patches) [][]int {
	windows, size, scattered := of.Windows, of.Size, of.Scattered
	n := len(nodes)
	order := make([]int, n)
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return nodes[a] - nodes[b] })
	var all [][]int
	size = min(n, size)
	for w := range windows {
		lo := (n - size) * (2*w + 1) / (2 * windows)
		all = append(all, order[lo:lo+size])
	}
	if scattered > 0 {
		chosen := make([]int, min(n, scattered))
		for q := range chosen {
			chosen[q] = order[(2*q+1)*n/(2*len(chosen))]
		}
		all = append(all, chosen)
	}
	return all
}

// component is the exact log likelihood of a part of the data. Sums over components
// are composite likelihoods: they treat the parts as independent.
type component interface {
	logLikelihood(ctx context.Context, theta []float64) (float64, error)
	// evaluate returns the gradient as well, in natural parameters.
	evaluate(ctx context.Context, theta []float64) (float64, []float64, error)
}

// eachPart calls do for n parts at the same time, the last one, which is the largest of
// patches, first. It returns the error of the first part that has one.
func eachPart(n int, do func(k int) error) error {
	errs := make([]error, n)
	parallel.Tasks(n, func(k int) { errs[n-1-k] = do(n - 1 - k) })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// compositeLogLikelihood returns the sum over components.
func compositeLogLikelihood[P component](ctx context.Context, all []P, theta []float64) (sum float64, err error) {
	values := make([]float64, len(all))
	err = eachPart(len(all), func(k int) (err error) {
		values[k], err = all[k].logLikelihood(ctx, theta)
		return err
	})
	if err != nil {
		return 0, err
	}
	for _, v := range values {
		sum += v
	}
	return sum, nil
}

// compositeObjective is the composite log likelihood and its gradient.
func compositeObjective[P component](all []P) objective {
	return func(ctx context.Context, theta []float64) (sum float64, grad []float64, err error) {
		values, grads := make([]float64, len(all)), make([][]float64, len(all))
		err = eachPart(len(all), func(k int) (err error) {
			values[k], grads[k], err = all[k].evaluate(ctx, theta)
			return err
		})
		if err != nil {
			return 0, nil, err
		}
		grad = make([]float64, len(theta))
		for k, g := range grads {
			sum += values[k]
			for j, v := range g {
				grad[j] += v
			}
		}
		return sum, grad, nil
	}
}

// startsBehind is the distance, in nats, from the best start from which further ones of an ordered list are
// not tried.
const startsBehind = 20

// bestStart returns the start with the highest composite likelihood. If they are ordered, those after one that is
// far below the best are not tried.
func bestStart[P component](ctx context.Context, all []P, starts [][]float64, ordered bool, count *evaluations) ([]float64, error) {
	if len(starts) == 1 {
		return starts[0], nil
	}
	best, most := starts[0], math.Inf(-1)
	for _, theta := range starts {
		value, err := compositeLogLikelihood(ctx, all, theta)
		count.add()
		if errors.Is(err, solve.ErrNotPositiveDefinite) || errors.Is(err, solve.ErrNotConverged) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if ordered && value < most-startsBehind {
			break
		}
		if value > most {
			best, most = theta, value
		}
	}
	return best, nil
}
