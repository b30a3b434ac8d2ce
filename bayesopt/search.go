package bayesopt

import (
	"context"
	"math/rand/v2"

	"grfgp/internal/rng"
)

// Graph is what policies without a model see of a graph. A *sparse.CSR of its
// weights is one.
type Graph interface {
	// Row returns the neighbours of a node and the weights of the edges.
	Row(node int) (neighbours []uint32, weights []float64)
}

// Random picks uniformly at random without replacement. With costs, in
// proportion to 1/cost.
type Random struct{}

// Blind marks that no model is needed.
func (Random) Blind() {}

// Pick implements Policy.
func (Random) Pick(_ context.Context, _ Surrogate, c *Candidates, n int, seed uint64) ([]Choice, error) {
	random := rand.New(rng.New(seed, "random"))
	why := "drawn at random"
	if c.limits.Cost != nil {
		why = "drawn at random, cheap ones more often"
	}
	var picks []Choice
	for len(picks) < n {
		at := drawOpen(c, random)
		if at < 0 {
			break
		}
		c.Take(at)
		picks = append(picks, Choice{c.nodes[at], 0, why})
	}
	return picks, nil
}

// drawOpen draws an open candidate in proportion to 1/cost; −1 if there is none.
func drawOpen(c *Candidates, random *rand.Rand) int {
	if c.Len() == 0 {
		return -1
	}
	if c.limits.Cost == nil {
		// Nearly always nearly all are open.
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

// BreadthFirst visits the neighbours of measured nodes, those of the node
// measured first before all others. Where no measured node has a neighbour left,
// and at the very start, it goes on from a random node.
//
// The paper says no more of its baseline than that it would "sequentially expand
// observed nodes along the adjacency structure in breadth-first order": values
// do not guide it, and so they do not here. Costs do not either; they count
// against the budget alone.
type BreadthFirst struct{ Graph Graph }

// Blind marks that no model is needed.
func (BreadthFirst) Blind() {}

// Pick implements Policy.
func (b BreadthFirst) Pick(_ context.Context, s Surrogate, c *Candidates, n int, seed uint64) ([]Choice, error) {
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

// DepthFirst is BreadthFirst with the node measured last before all others.
type DepthFirst struct{ Graph Graph }

// Blind marks that no model is needed.
func (DepthFirst) Blind() {}

// Pick implements Policy.
func (d DepthFirst) Pick(_ context.Context, s Surrogate, c *Candidates, n int, seed uint64) ([]Choice, error) {
	return visit(d.Graph, s, c, n, seed, func(visited []int, next func(node int) int) int {
		for k := len(visited) - 1; k >= 0; k-- {
			if at := next(visited[k]); at >= 0 {
				return at
			}
		}
		return -1
	})
}

// visit picks what step finds beside visited nodes, in the order of visits.
func visit(g Graph, s Surrogate, c *Candidates, n int, seed uint64, step func(visited []int, next func(node int) int) int) ([]Choice, error) {
	random := rand.New(rng.New(seed, "search"))
	visited := append([]int(nil), s.Measured()...)
	seen := make([]bool, s.Nodes())
	for _, i := range visited {
		seen[i] = true
	}
	place := make([]int, s.Nodes()) // number of a candidate, from 1
	for at, node := range c.nodes {
		place[node] = at + 1
	}
	next := func(node int) int {
		neighbours, _ := g.Row(node)
		for _, j := range neighbours {
			if at := place[j] - 1; at >= 0 && !seen[j] && c.Open(at) {
				return at
			}
		}
		return -1
	}
	var picks []Choice
	for len(picks) < n {
		why := "beside a node that was measured"
		at := step(visited, next)
		if at < 0 {
			at, why = drawOpen(c, random), "a random start: no measured node has a neighbour left"
		}
		if at < 0 {
			break
		}
		node := c.nodes[at]
		c.Take(at)
		visited, seen[node] = append(visited, node), true
		picks = append(picks, Choice{node, 0, why})
	}
	return picks, nil
}

// HighestDegree picks the nodes with most neighbours; with costs, most per cost.
type HighestDegree struct{ Graph Graph }

// Blind marks that no model is needed.
func (HighestDegree) Blind() {}

// Pick implements Policy.
func (h HighestDegree) Pick(_ context.Context, _ Surrogate, c *Candidates, n int, _ uint64) ([]Choice, error) {
	degree := func(at int) float64 {
		neighbours, _ := h.Graph.Row(c.nodes[at])
		return float64(len(neighbours))
	}
	var picks []Choice
	for len(picks) < n {
		at := c.best(func(at int) float64 { return degree(at) / c.Cost(at) })
		if at < 0 {
			break
		}
		c.Take(at)
		picks = append(picks, Choice{c.nodes[at], degree(at), c.reason("has most neighbours of all that are left")})
	}
	return picks, nil
}
