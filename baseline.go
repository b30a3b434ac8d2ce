package grfgp

import (
	"grfgp/gp"
	"grfgp/graph"
)

// Baselines are the simple rules that a model has to beat, in the order in which
// they are told.
var Baselines = []string{"overall mean", "nearest measured node", "smoothing"}

// baseline predicts all nodes by the simple rule of that name.
func baseline(name string, g *graph.Graph, d gp.Data) []float64 {
	switch name {
	case "nearest measured node":
		return nearestMeasured(g, d)
	case "smoothing":
		return smoothing(g, d)
	}
	return constant(g.Len(), meanOf(d.Y))
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
	n := g.Len()
	value, known := measuredMeans(n, d)
	var front []int
	for i, ok := range known {
		if ok {
			front = append(front, i)
		}
	}
	for len(front) > 0 {
		sum, count := map[int]float64{}, map[int]float64{}
		var next []int
		for _, i := range front {
			cols, _ := g.Adjacency().Row(i)
			for _, j := range cols {
				if known[j] {
					continue
				}
				if count[int(j)] == 0 {
					next = append(next, int(j))
				}
				sum[int(j)] += value[i]
				count[int(j)]++
			}
		}
		for _, j := range next {
			value[j], known[j] = sum[j]/count[j], true
		}
		front = next
	}
	overall := meanOf(d.Y)
	for i, ok := range known {
		if !ok {
			value[i] = overall
		}
	}
	return value
}

// smoothing holds measured nodes at their values and lets every other node be
// the weighted mean of its neighbours: label propagation, in 200 sweeps.
func smoothing(g *graph.Graph, d gp.Data) []float64 {
	const sweeps = 200
	n := g.Len()
	mean, measured := measuredMeans(n, d)
	value, next := constant(n, meanOf(d.Y)), make([]float64, n)
	for i, ok := range measured {
		if ok {
			value[i] = mean[i]
		}
	}
	strengths := g.Strengths()
	for range sweeps {
		g.Adjacency().MulVec(next, value)
		for i := range next {
			switch {
			case measured[i]:
				next[i] = mean[i]
			case strengths[i] == 0:
				next[i] = value[i]
			default:
				next[i] /= strengths[i]
			}
		}
		value, next = next, value
	}
	return value
}
