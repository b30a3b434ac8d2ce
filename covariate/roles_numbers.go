package covariate

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"grfgp/graph"
	"grfgp/internal/parallel"
)

// LogDegree returns the logarithm of every node's degree (0 for an isolated node),
// standardised to mean 0 and variance 1, and the standard deviation of the logarithm. If
// all degrees are equal, spread is 0 up to rounding and x is not divided by it.
func LogDegree(g *graph.Graph) (x []float64, spread float64) {
	x = logDegrees(g)
	mean := 0.0
	if mean, spread = stat.PopMeanStdDev(x, nil); spread > 0 {
		for i := range x {
			x[i] = (x[i] - mean) / spread
		}
	}
	return x, spread
}

func logDegrees(g *graph.Graph) []float64 {
	var logs [64]float64 // of the degrees that most nodes have
	for d := range logs {
		logs[d] = math.Log(float64(max(1, d)))
	}
	x := make([]float64, g.Len())
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
	return x
}

// number computes the structural numbers.
func (r *Roles) number(g *graph.Graph) {
	n := g.Len()
	if n == 0 {
		return
	}
	var names []string
	var columns [][]float64
	add := func(name string, x []float64) {
		if !standardize(x) {
			return
		}
		for k, other := range columns {
			if c := stat.Correlation(x, other, nil); math.Abs(c) > 0.999 {
				r.note("%s is left out: it is nearly the same as %s", name, names[k])
				return
			}
		}
		names, columns = append(names, name), append(columns, x)
	}
	own := logDegrees(g)
	mean, spread := neighbours(g, own)
	second, _ := neighbours(g, mean)
	add("log degree", own)
	add("mean log degree of neighbours", mean)
	add("spread of the neighbours' log degrees", spread)
	add("mean log degree two hops away", second)
	add("log of the neighbours' degrees together", neighbourSum(g))
	add("log core number", logs(g.CoreNumbers()))
	if counts, ok := g.Triangles(triangleWork); ok {
		add("log number of triangles", logs(counts))
	} else {
		r.note("triangles are not counted: that would take more than %d comparisons", triangleWork)
	}
	if x := logStrengths(g); x != nil {
		add("log weighted degree", x)
	}
	if len(columns) == 0 {
		r.note("no structural numbers: all nodes are alike in all of them")
		return
	}
	r.Names, r.Numbers = names, mat.NewDense(n, len(columns), nil)
	for k, x := range columns {
		for i, v := range x {
			r.Numbers.Set(i, k, max(-mostSDs, min(mostSDs, v)))
		}
	}
}

// standardize scales x to mean 0 and variance 1, with 0 for NaN, and reports whether
// its values differ.
func standardize(x []float64) bool {
	var known []float64
	for _, v := range x {
		if !math.IsNaN(v) {
			known = append(known, v)
		}
	}
	if len(known) == 0 {
		return false
	}
	mean, sd := stat.PopMeanStdDev(known, nil)
	if !(sd > 1e-9*(1+math.Abs(mean))) {
		return false
	}
	for i, v := range x {
		if x[i] = (v - mean) / sd; math.IsNaN(v) {
			x[i] = 0
		}
	}
	return true
}

// neighbours returns the mean and the standard deviation of x over the neighbours of every
// node; NaN for a node without neighbours.
func neighbours(g *graph.Graph, x []float64) (mean, spread []float64) {
	mean, spread = make([]float64, g.Len()), make([]float64, g.Len())
	for i := range mean {
		cols, _ := g.Adjacency().Row(i)
		n := float64(len(cols))
		sum := 0.0
		for _, j := range cols {
			sum += x[j]
		}
		mean[i] = sum / n
		squares := 0.0
		for _, j := range cols {
			squares += float64((x[j] - mean[i]) * (x[j] - mean[i]))
		}
		spread[i] = math.Sqrt(squares / n)
	}
	return mean, spread
}

// neighbourSum returns the logarithm of 1 + the sum of the degrees of all neighbours.
func neighbourSum(g *graph.Graph) []float64 {
	degrees, x := g.Degrees(), make([]float64, g.Len())
	for i := range x {
		cols, _ := g.Adjacency().Row(i)
		sum := 0
		for _, j := range cols {
			sum += degrees[j]
		}
		x[i] = math.Log1p(float64(sum))
	}
	return x
}

// logs returns log(1 + count).
func logs(counts []int) []float64 {
	x := make([]float64, len(counts))
	for i, c := range counts {
		x[i] = math.Log1p(float64(c))
	}
	return x
}

// logStrengths returns the logarithms of the weighted degrees, NaN for isolated nodes; nil
// if all weights are equal.
func logStrengths(g *graph.Graph) []float64 {
	_, _, val := g.Adjacency().Raw()
	differ := false
	for _, w := range val {
		differ = differ || w != val[0]
	}
	if !differ {
		return nil
	}
	x := g.Strengths()
	for i, d := range x {
		if x[i] = math.Log(d); d == 0 {
			x[i] = math.NaN()
		}
	}
	return x
}
