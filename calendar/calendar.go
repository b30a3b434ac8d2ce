// Package calendar numbers the nodes of a graph in several periods of time, and knows which of them are near each other.
package calendar

import (
	"fmt"
	"slices"

	"grfgp/graph"
	"grfgp/internal/parallel"
	"grfgp/kernel"
)

// Place returns the place of a node in a period.
func Place(g *graph.Graph, node, period int) int { return period*g.Len() + node }

// Places returns the places of nodes in a period.
func Places(g *graph.Graph, nodes []int, period int) []int {
	places := make([]int, len(nodes))
	parallel.Ranges(len(nodes), 1<<14, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			places[k] = Place(g, nodes[k], period)
		}
	})
	return places
}

// AtPlace returns the node and the period of a place.
func AtPlace(g *graph.Graph, place int) (node, period int) { return place % g.Len(), place / g.Len() }

// NodesOf returns the nodes of places.
func NodesOf(g *graph.Graph, places []int) []int {
	nodes := make([]int, len(places))
	for k, p := range places {
		nodes[k], _ = AtPlace(g, p)
	}
	return nodes
}

// Calendar is a graph in periods.
type Calendar struct {
	Graph *graph.Graph
	Times []float64 // nil: there is no time
	Apart bool      // periods are independent
}

// Joint reports whether periods inform each other.
func (c Calendar) Joint() bool { return c.Times != nil && !c.Apart }

// Periods returns the number of periods, 1 without times.
func (c Calendar) Periods() int { return max(1, len(c.Times)) }

// Places returns the number of places.
func (c Calendar) Places() int { return c.Graph.Len() * c.Periods() }

// Distinct returns the number of distinct nodes of places: columns of a kernel on nodes
// serve all periods.
func (c Calendar) Distinct(places []int) int {
	if c.Times == nil {
		return len(places)
	}
	nodes := NodesOf(c.Graph, places)
	slices.Sort(nodes)
	return len(slices.Compact(nodes))
}

// OverTime returns a kernel on nodes as one on places.
func (c Calendar) OverTime(k kernel.Kernel) kernel.Kernel {
	switch {
	case c.Times == nil:
		return k
	case c.Apart:
		return kernel.EachPeriod(k, len(c.Times))
	}
	return kernel.OverTime(k, c.Times)
}

// Starts are hyperparameters of time to start learning from: change over one, four
// and sixteen of the mean gaps between periods with measurements.
func (c Calendar) Starts(places []int) (all []kernel.Theta) {
	var measured []int
	for _, p := range places {
		_, period := AtPlace(c.Graph, p)
		measured = append(measured, period)
	}
	slices.Sort(measured)
	gap := 1.0
	if n := len(slices.Compact(measured)); n > 1 {
		gap = (c.Times[slices.Max(measured)] - c.Times[measured[0]]) / float64(n-1)
	}
	for _, v := range [][2]float64{{4 * gap, 1}, {gap, 1}, {16 * gap, 0.3}} {
		all = append(all, kernel.Theta{{Path: "time/scale", Number: v[0]}, {Path: "time/change", Number: v[1]}})
	}
	return all
}

// Why says what the model over time is.
func (c Calendar) Why() []string {
	switch {
	case c.Times == nil:
		return nil
	case c.Joint():
		return []string{fmt.Sprintf("one function of node and time, over %d periods: a part that stays and a part that changes", len(c.Times))}
	}
	return []string{fmt.Sprintf("independent functions in %d periods, with the same hyperparameters", len(c.Times))}
}

// ByPeriod returns the nodes of places by period.
func (c Calendar) ByPeriod(places []int) [][]int {
	all := make([][]int, c.Periods())
	for _, p := range places {
		node, period := AtPlace(c.Graph, p)
		all[period] = append(all[period], node)
	}
	return all
}

// HopsToMeasured returns a function from a place to the hops from its node to the nearest
// measurement that informs it: one of any period, or of the same if periods are
// independent. It is −1 if there is none.
func (c Calendar) HopsToMeasured(measured []int) func(place int) int {
	if !c.Apart || c.Times == nil {
		hops := c.Graph.Hops(NodesOf(c.Graph, measured))
		return func(place int) int {
			node, _ := AtPlace(c.Graph, place)
			return hops[node]
		}
	}
	nodes, hops := c.ByPeriod(measured), make([][]int, c.Periods())
	return func(place int) int {
		node, period := AtPlace(c.Graph, place)
		switch {
		case len(nodes[period]) == 0:
			return -1
		case hops[period] == nil:
			hops[period] = c.Graph.Hops(nodes[period])
		}
		return hops[period][node]
	}
}

// Unseen counts the places in periods that no measurement informs.
func (c Calendar) Unseen(places, measured []int) (count int) {
	if !c.Apart || c.Times == nil {
		return 0
	}
	nodes := c.ByPeriod(measured)
	for _, p := range places {
		if _, period := AtPlace(c.Graph, p); len(nodes[period]) == 0 {
			count++
		}
	}
	return count
}

// Distances returns the hops from each unmeasured node to its nearest measurement of a
// period, without nodes whose component has no measurement; at most so many
// periods are looked at, evenly spaced.
func (c Calendar) Distances(places []int, most int) (all []int) {
	measured := slices.DeleteFunc(c.ByPeriod(places), func(nodes []int) bool { return len(nodes) == 0 })
	some := min(len(measured), most)
	for k := range some {
		hops := c.Graph.Hops(measured[(2*k+1)*len(measured)/(2*some)])
		all = append(all, slices.DeleteFunc(hops, func(hops int) bool { return hops <= 0 })...)
	}
	return all
}

// Spacing returns the mean distance in hops from a measured node to the nearest other
// measured node, over a sample of the nodes whose component has another.
func (c Calendar) Spacing(places []int) float64 {
	const most = 200
	nodes := NodesOf(c.Graph, places)
	measured := make([]bool, c.Graph.Len())
	for _, i := range nodes {
		measured[i] = true
	}
	unique := slices.Compact(slices.Sorted(slices.Values(nodes)))
	search, sum, found := graph.NewSearch(c.Graph), 0, 0
	step := (len(unique) + most - 1) / most
	for s := 0; s < len(unique); s += step {
		for i, hops := range search.From(unique[s]) {
			if hops > 0 && measured[i] {
				sum, found = sum+hops, found+1
				break
			}
		}
	}
	return float64(sum) / float64(max(1, found))
}

// Nearer returns measurement k and the others of its period that are nearer to its node than the given distance, in
// hops: the nearest that remain are at that distance or farther, as those of an unmeasured node are. The list, of at most so many,
// follows from the measurements by place.
func (c Calendar) Nearer(s *graph.Search, k, place, distance, most int, at map[int][]int) []int {
	list := []int{k}
	node, period := AtPlace(c.Graph, place)
	for i, hops := range s.From(node) {
		if hops >= distance && hops > 0 || len(list) >= most {
			break
		}
		for _, other := range at[Place(c.Graph, i, period)] {
			if other != k {
				list = append(list, other)
			}
		}
	}
	return list
}
