package grfgp

import (
	"context"
	"fmt"
	"slices"

	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/harmonic"
)

// Baselines are the simple rules that a model has to beat, in the order in which
// they are told.
var Baselines = []string{"overall mean", "nearest measured node", "smoothing"}

// baseline predicts all nodes by the simple rule of that name.
func baseline(ctx context.Context, name string, g *graph.Graph, d gp.Data) ([]float64, error) {
	switch name {
	case "nearest measured node":
		return nearestMeasured(g, d), nil
	case "smoothing":
		return smoothing(ctx, g, d)
	}
	return constant(g.Len(), meanOf(d.Y)), nil
}

func constant(n int, v float64) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = v
	}
	return all
}

func meanOf(y []float64) float64 {
	sum := 0.0
	for _, v := range y {
		sum += v / float64(len(y))
	}
	return sum
}

// measuredMeans returns the mean of all readings of each measured node, and whether
// a node is one.
func measuredMeans(n int, d gp.Data) (mean []float64, measured []bool) {
	mean, measured = make([]float64, n), make([]bool, n)
	count := make([]float64, n)
	for k, i := range d.Nodes {
		n := 1.0
		if d.Count != nil {
			n = float64(d.Count[k])
		}
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

// nearestMeasured gives every node the mean of the measured nodes that are the
// fewest hops away, and the overall mean where none can be reached.
func nearestMeasured(g *graph.Graph, d gp.Data) []float64 {
	value, _ := measuredMeans(g.Len(), d)
	nodes := slices.Compact(slices.Sorted(slices.Values(d.Nodes)))
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
	overall := meanOf(d.Y)
	for i, h := range hops {
		if h < 0 {
			value[i] = overall
		}
	}
	return value
}

// smoothing holds measured nodes at their values and lets every other node be
// the weighted mean of its neighbours, exactly: harmonic interpolation. Where no
// measured node can be reached it is the overall mean.
func smoothing(ctx context.Context, g *graph.Graph, d gp.Data) ([]float64, error) {
	value, measured := measuredMeans(g.Len(), d)
	if err := harmonic.Extend(ctx, g.Adjacency(), measured, value, meanOf(d.Y)); err != nil {
		return nil, fmt.Errorf("the simple rule smoothing: %w", err)
	}
	return value, nil
}
