package grfgp

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/stat"

	"grfgp/graph"
	"grfgp/internal/parallel"
)

// degree is about the logarithm of every node's degree. Every graph has this covariate, and
// many quantities on social networks depend on it.
type degree struct {
	spread float64          // standard deviation of the logarithm
	x      func() []float64 // standardised to mean 0 and variance 1; made when first used
}

func degreeOf(g *graph.Graph) degree {
	_, mean, spread := logDegrees(g)
	return degree{spread, sync.OnceValue(func() []float64 {
		x, _, _ := logDegrees(g)
		if spread > 0 {
			for i := range x {
				x[i] = (x[i] - mean) / spread
			}
		}
		return x
	})}
}

// logDegrees returns the logarithms of the degrees, with their mean and standard deviation.
func logDegrees(g *graph.Graph) (x []float64, mean, spread float64) {
	var logs [64]float64 // of the degrees that most nodes have
	for d := range logs {
		logs[d] = math.Log(float64(max(1, d)))
	}
	x = make([]float64, g.Len())
	rowPtr, _, _ := g.Adjacency().Raw()
	parallel.Ranges(len(x), 1<<14, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if d := rowPtr[i+1] - rowPtr[i]; d < len(logs) {
				x[i] = logs[d]
			} else {
				x[i] = math.Log(float64(d))
			}
		}
	})
	mean, spread = stat.PopMeanStdDev(x, nil)
	return x, mean, spread
}

// spreadLeast is the standard deviation of the log degree from which a trend is
// tried; that of a grid is smaller. Below spreadTiny all degrees count as equal.
const (
	spreadLeast = 0.3
	spreadTiny  = 1e-9
)
