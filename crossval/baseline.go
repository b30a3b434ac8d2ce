package crossval

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/harmonic"
)

// Baseline is a simple prediction rule, for comparison with a model.
type Baseline string

const (
	// Mean predicts the mean of all measurements at every node.
	Mean Baseline = "overall mean"
	// Nearest predicts the mean of the measured nodes that are the fewest hops away,
	// and the overall mean at nodes from which no measured node can be reached.
	Nearest Baseline = "nearest measured node"
	// Harmonic is harmonic interpolation: measured nodes keep their values, and
	// every other node is the weighted mean of its neighbours; at nodes from which no
	// measured node can be reached it is the overall mean.
	Harmonic Baseline = "harmonic interpolation"
	// GraphRidge is Laplacian-regularised least squares: f minimises the squared errors at
	// measured nodes plus λ·fᵀ(I − D^-½AD^-½)f, after subtraction of the mean. λ has the smallest
	// error on a held-out fifth of the measurements.
	GraphRidge Baseline = "graph ridge"
	// LeastSquares is linear regression on covariates. With words it is a
	// ridge regression, whose penalty has the smallest error on a held-out fifth. It is also a baseline of labels, with
	// one regression per class.
	LeastSquares Baseline = "least squares on covariates"
	// SingularRidge is a ridge regression on the roles of nodes (package covariate): structural numbers and
	// singular vectors. The penalty has the smallest error on a held-out fifth. It is also a baseline of labels,
	// with one regression per class.
	SingularRidge Baseline = "ridge on singular vectors"
)

// keys are the names of baselines in JSON.
var keys = map[Baseline]string{
	Mean: "mean", Nearest: "nearest", Harmonic: "harmonic", GraphRidge: "graph_ridge", LeastSquares: "least_squares",
	SingularRidge: "singular_ridge",
	SameNode:      "same_node", ClassFrequencies: "majority", LabelSpreading: "label_spreading",
}

// Key returns the name of the baseline for programs, which stays when its words for people
// change. A caller's own baseline is its own key.
func (b Baseline) Key() string {
	if key, ok := keys[b]; ok {
		return key
	}
	return string(b)
}

// ByKey returns scores by the keys of the baselines.
func ByKey[V any](scores map[Baseline]V) map[string]V {
	if scores == nil {
		return nil
	}
	named := make(map[string]V, len(scores))
	for b, score := range scores {
		named[b.Key()] = score
	}
	return named
}

// Baselines returns the baselines of measurements, the simplest first. Not all can be
// computed for every graph; see Inputs.Baselines.
func Baselines() []Baseline {
	return []Baseline{Mean, Nearest, Harmonic, GraphRidge, LeastSquares, SingularRidge}
}

// InOrder returns the baselines in a table of scores, the simplest first, and a caller's own last.
func InOrder[V any](scores map[Baseline]V) []Baseline {
	var order []Baseline
	known := slices.Concat(Baselines(), ClassBaselines(), []Baseline{SameNode}, slices.Sorted(maps.Keys(scores)))
	for _, b := range known {
		if _, ok := scores[b]; ok && !slices.Contains(order, b) {
			order = append(order, b)
		}
	}
	return order
}

// Predict returns the prediction of the rule at every node.
func (b Baseline) Predict(ctx context.Context, in *Inputs, d gp.Data) ([]float64, error) {
	g := in.Graph
	switch b {
	case Mean:
		all, mean := make([]float64, g.Len()), meanOf(d)
		for i := range all {
			all[i] = mean
		}
		return all, nil
	case Nearest:
		return nearest(g, d), nil
	case Harmonic:
		value, measured := nodeMeans(g.Len(), d)
		if err := harmonic.Extend(ctx, g.Adjacency(), measured, value, meanOf(d)); err != nil {
			return nil, fmt.Errorf("harmonic interpolation: %w", err)
		}
		return value, nil
	case GraphRidge:
		return graphRidge(ctx, g, d)
	case LeastSquares, SingularRidge:
		return b.regress(ctx, in, d)
	}
	return nil, fmt.Errorf("no baseline of measurements is called %q", b)
}

// regress is a linear rule at every node.
func (b Baseline) regress(ctx context.Context, in *Inputs, d gp.Data) ([]float64, error) {
	c, err := in.columns(ctx, b)
	if err != nil {
		return nil, err
	}
	weight := make([]float64, d.Len())
	for r := range weight {
		weight[r] = countOf(d, r)
	}
	l, err := c.learn(ctx, d.Nodes, mat.NewDense(d.Len(), 1, slices.Clone(d.Y)), weight, b == SingularRidge || c.words != nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b, err)
	}
	return mat.Col(nil, 0, l.all), nil
}

// meanOf returns the mean of all values; of rates weighted by exposures, which is the
// rate of all together.
func meanOf(d gp.Data) float64 {
	sum, weights := 0.0, 0.0
	for r := range d.Y {
		weights += weightOf(d, r)
	}
	for r, v := range d.Y {
		sum += weightOf(d, r) * v / weights
	}
	return sum
}

// weightOf returns the exposure of a rate, 1 for other values.
func weightOf(d gp.Data, r int) float64 {
	if d.Exposure == nil {
		return 1
	}
	return d.Exposure[r]
}

// nodeMeans returns the mean of all measurements of each node, and whether it has
// any.
func nodeMeans(n int, d gp.Data) (mean []float64, measured []bool) {
	mean, measured = make([]float64, n), make([]bool, n)
	count := make([]float64, n)
	for k, i := range d.Nodes {
		n := countOf(d, k)
		mean[i] += n * d.Y[k]
		count[i] += n
		measured[i] = true
	}
	for i, c := range count {
		if c > 0 {
			mean[i] /= c
		}
	}
	return mean, measured
}

// nearest is Nearest at every node.
func nearest(g *graph.Graph, d gp.Data) []float64 {
	value, _ := nodeMeans(g.Len(), d)
	nodes := distinct(d.Nodes)
	hops, count := g.Hops(nodes), make([]float64, g.Len())
	for i, h := range graph.NewSearch(g).From(nodes...) {
		if h > 0 {
			value[i] /= count[i]
		}
		cols, _ := g.Adjacency().Row(i)
		for _, j := range cols {
			if hops[j] == h+1 {
				value[j] += value[i]
				count[j]++
			}
		}
	}
	overall := meanOf(d)
	for i, h := range hops {
		if h < 0 {
			value[i] = overall
		}
	}
	return value
}
