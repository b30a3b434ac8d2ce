package bayesopt

import (
	"context"
	"math/rand/v2"

	"grfgp/internal/rng"
)

// Graph gives the edges of a graph to policies without a model. The weight
// matrix, a *sparse.CSR (graph.Graph.Adjacency), implements it.
type Graph interface {
	// Row returns the neighbours of a node and the weights of the edges.
	Row(node int) (neighbours []uint32, weights []float64)
}

// Random picks nodes uniformly at random without replacement or, if there are
// costs, with probability proportional to 1/cost. It is the baseline of a search.
type Random struct{}

// ModelFree implements ModelFree.
func (Random) ModelFree() {}

// Pick implements Policy.
func (Random) Pick(_ context.Context, _ Surrogate, c *Candidates, n int, seed uint64) ([]Suggestion, error) {
	random := rand.New(rng.New(seed, "random"))
	why := "drawn at random"
	if c.limits.Cost != nil {
		why = "drawn at random, with probability proportional to 1/cost"
	}
	var picks []Suggestion
	for len(picks) < n {
		at := drawOpen(c, random)
		if at < 0 {
			break
		}
		c.Take(at)
		picks = append(picks, Suggestion{Node: c.nodes[at], Value: 0, Why: why})
	}
	return picks, nil
}

// drawOpen draws an open candidate in proportion to 1/cost; −1 if there is none.
func drawOpen(c *Candidates, random *rand.Rand) int {
	if c.Len() == 0 {
		return -1
	}
	if c.limits.Cost == nil {
		// Most candidates are open most of the time.
		for range 16 {
			if at := random.IntN(c.Len()); c.Open(at) {
				return at
			}
		}
	}
	total := 0.0
	open := c.open()
	for _, at := range open {
		total += 1 / c.Cost(at)
	}
	u := random.Float64() * total
	for _, at := range open {
		if u -= 1 / c.Cost(at); u < 0 {
			return at
		}
	}
	if len(open) == 0 {
		return -1
	}
	return open[len(open)-1] // rounding
}

// BreadthFirst picks neighbours of measured nodes, beginning with those of the
// node measured first. At the start, and when no measured node has an open
// neighbour, it picks a random node. Graph is required.
//
// It is the paper's baseline that would "sequentially expand observed nodes along
// the adjacency structure in breadth-first order". It ignores values, and costs
// except for the budget.
type BreadthFirst struct{ Graph Graph }

// ModelFree implements ModelFree.
func (BreadthFirst) ModelFree() {}

// Pick implements Policy.
func (b BreadthFirst) Pick(_ context.Context, s Surrogate, c *Candidates, n int, seed uint64) ([]Suggestion, error) {
	from := 0 // nodes before it have no neighbour left
	return visit(b.Graph, s, c, n, seed, func(visited []int, next func(node int) int) int {
		for ; from < len(visited); from++ {
			if at := next(visited[from]); at >= 0 {
				return at
			}
		}
		return -1
	})
}

// DepthFirst is BreadthFirst, but begins with the neighbours of the node measured
// last. Graph is required.
type DepthFirst struct{ Graph Graph }

// ModelFree implements ModelFree.
func (DepthFirst) ModelFree() {}

// Pick implements Policy.
func (d DepthFirst) Pick(_ context.Context, s Surrogate, c *Candidates, n int, seed uint64) ([]Suggestion, error) {
	return visit(d.Graph, s, c, n, seed, func(visited []int, next func(node int) int) int {
		for k := len(visited) - 1; k >= 0; k-- {
			if at := next(visited[k]); at >= 0 {
				return at
			}
		}
		return -1
	})
}

// visit picks the candidates that step finds among the neighbours of visited
// nodes.
func visit(g Graph, s Surrogate, c *Candidates, n int, seed uint64, step func(visited []int, next func(node int) int) int) ([]Suggestion,
	error) {
	random := rand.New(rng.New(seed, "search"))
	visited := append([]int(nil), s.Measured()...)
	seen := make([]bool, s.Nodes())
	for _, i := range visited {
		seen[i] = true
	}
	index := make([]int, s.Nodes()) // index of a candidate plus 1
	for at, node := range c.nodes {
		index[node] = at + 1
	}
	next := func(node int) int {
		neighbours, _ := g.Row(node)
		for _, j := range neighbours {
			if at := index[j] - 1; at >= 0 && !seen[j] && c.Open(at) {
				return at
			}
		}
		return -1
	}
	var picks []Suggestion
	for len(picks) < n {
		why := "neighbour of a measured node"
		at := step(visited, next)
		if at < 0 {
			at, why = drawOpen(c, random), "random start: no measured node has an open neighbour"
		}
		if at < 0 {
			break
		}
		node := c.nodes[at]
		c.Take(at)
		visited, seen[node] = append(visited, node), true
		picks = append(picks, Suggestion{Node: node, Value: 0, Why: why})
	}
	return picks, nil
}

// HighestDegree picks the nodes with the most neighbours, or neighbours per cost if
// there are costs. Graph is required.
type HighestDegree struct{ Graph Graph }

// ModelFree implements ModelFree.
func (HighestDegree) ModelFree() {}

// Pick implements Policy.
func (h HighestDegree) Pick(_ context.Context, _ Surrogate, c *Candidates, n int, _ uint64) ([]Suggestion, error) {
	degree := func(at int) float64 {
		neighbours, _ := h.Graph.Row(c.nodes[at])
		return float64(len(neighbours))
	}
	var picks []Suggestion
	for len(picks) < n {
		at := c.best(func(at int) float64 { return degree(at) / c.Cost(at) })
		if at < 0 {
			break
		}
		c.Take(at)
		picks = append(picks, Suggestion{Node: c.nodes[at], Value: degree(at), Why: c.reason("highest degree")})
	}
	return picks, nil
}
