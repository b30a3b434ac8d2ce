package gp

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"grfgp/internal/parallel"
	"grfgp/kernel"
	"grfgp/plan"
	"grfgp/solve"
)

// patches returns samples of standardised data. Of Gaussian data with equal noise the kernel may choose them. Fitted exactly, they are a
// start that costs the same at any size.
func (m *Model) patches(d Data, of plan.Patches) []Data {
	chosen := patches(d.Nodes, of)
	if own := kernel.TrainingOf(m.kernel).Patches; own != nil && m.values == Gaussian && equalNoise(d) {
		chosen = own(d.Nodes, of.Windows, of.Size, of.Scattered)
	}
	all := make([]Data, len(chosen))
	for k, rows := range chosen {
		all[k] = d.Select(rows)
	}
	return all
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

// component is the log likelihood of a part of the data, or of several parts, as a function of the hyperparameters.
type component interface {
	at(ctx context.Context, theta []float64) (evaluation, error)
}

// evaluation is a log likelihood at hyperparameters. Its gradient is computed when it is wanted: values that are too low need none.
type evaluation interface {
	logLikelihood() float64
	// gradient returns the derivatives by natural parameters, and gives memory back as free does.
	gradient(ctx context.Context) ([]float64, error)
	// free gives memory back where no gradient is wanted.
	free()
}

// composite is the sum of the log likelihoods of parts, as if they were independent.
type composite[P component] []P

func (c composite[P]) at(ctx context.Context, theta []float64) (evaluation, error) {
	all := make(together, len(c))
	err := eachPart(len(c), func(k int) (err error) {
		all[k], err = c[k].at(ctx, theta)
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// together are the evaluations of all parts.
type together []evaluation

func (t together) logLikelihood() (sum float64) {
	for _, part := range t {
		sum += part.logLikelihood()
	}
	return sum
}

func (t together) gradient(ctx context.Context) ([]float64, error) {
	all := make([][]float64, len(t))
	err := eachPart(len(t), func(k int) (err error) {
		all[k], err = t[k].gradient(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	sum := make([]float64, len(all[0]))
	for _, grad := range all {
		floats.Add(sum, grad)
	}
	return sum, nil
}

func (t together) free() {
	for _, part := range t {
		part.free()
	}
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

// startsBehind is the distance, in nats, from the best start from which further ones of an ordered list are
// not tried.
const startsBehind = 20

// bestStart returns the start with the highest likelihood. If they are ordered, those after one that is far below the best are not
// tried.
func bestStart(ctx context.Context, of component, starts [][]float64, ordered bool) ([]float64, error) {
	if len(starts) == 1 {
		return starts[0], nil
	}
	best, most := starts[0], math.Inf(-1)
	for _, theta := range starts {
		at, err := of.at(ctx, theta)
		if undefined(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		value := at.logLikelihood()
		at.free()
		if ordered && value < most-startsBehind {
			break
		}
		if value > most {
			best, most = theta, value
		}
	}
	return best, nil
}

// undefined reports whether a likelihood has no value at hyperparameters, which is no failure.
func undefined(err error) bool {
	return errors.Is(err, solve.ErrNotPositiveDefinite) || errors.Is(err, solve.ErrNotConverged)
}
