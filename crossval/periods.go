package crossval

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"grfgp"
	"grfgp/gp"
	"grfgp/graph"
)

// LatestPeriod is the scheme of "what is it now, where we did not look", for models with
// times: folds are random nodes of the latest period with measurements. They are
// predicted from the other folds of that period and from all other periods.
const LatestPeriod Scheme = "latest period"

// SameNode is a baseline for models with times: the measurement of the node that is
// nearest in time, and Nearest at nodes without one.
const SameNode Baseline = "same node at the nearest time"

// overTime are the baselines of models with times. Those of the graph are computed in
// each period, so that expensive ones are left out.
var overTime = []Baseline{Mean, Nearest, Harmonic, LeastSquares, SameNode}

// period returns the period of a row, given its place.
func period(g *graph.Graph, place int) int {
	_, p := grfgp.AtPlace(g, place)
	return p
}

// latest returns the latest period of some places.
func latest(g *graph.Graph, places []int) int {
	last := 0
	for _, place := range places {
		last = max(last, period(g, place))
	}
	return last
}

// foldsOverTime is folds for places: single places, regions of nodes in all periods, or
// nodes of the latest period; rows of other periods then have the fold −1.
func (o Options) foldsOverTime(g *graph.Graph, places []int, random *rand.Rand) []int {
	fold := make([]int, len(places))
	shuffled := func(all []int) []int {
		all = distinct(all)
		random.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
		return all
	}
	if o.Scheme == Neighbourhoods {
		nodes := grfgp.NodesOf(g, places)
		unique := shuffled(nodes)
		of := regions(g, unique[:min(o.Folds, len(unique))])
		for r, i := range nodes {
			fold[r] = of[i]
		}
		return fold
	}
	some := places
	if o.Scheme == LatestPeriod {
		last := latest(g, places)
		some = slices.DeleteFunc(slices.Clone(places), func(place int) bool { return period(g, place) != last })
	}
	of := map[int]int{}
	for k, place := range shuffled(some) {
		of[place] = k % o.Folds
	}
	for r, place := range places {
		f, in := of[place]
		if fold[r] = f; !in {
			fold[r] = -1
		}
	}
	return fold
}

// predictRows returns the predictions of a rule at the nodes, or places, of test rows.
func (o Options) predictRows(ctx context.Context, rule Baseline, in *Inputs, train, test gp.Data) ([]float64, error) {
	if o.times == nil {
		all, err := rule.Predict(ctx, in, train)
		if err != nil {
			return nil, err
		}
		return pickRows(all, test.Nodes), nil
	}
	switch rule {
	case Mean, LeastSquares: // the same in all periods
		d := train.Clone()
		d.Nodes = grfgp.NodesOf(in.Graph, d.Nodes)
		all, err := rule.Predict(ctx, in, d)
		if err != nil {
			return nil, err
		}
		return pickRows(all, grfgp.NodesOf(in.Graph, test.Nodes)), nil
	case SameNode:
		return o.sameNode(ctx, in, train, test)
	}
	rows := map[int][]int{}
	for r, place := range test.Nodes {
		p := period(in.Graph, place)
		rows[p] = append(rows[p], r)
	}
	result := make([]float64, test.Len())
	for _, p := range slices.Sorted(maps.Keys(rows)) {
		all, err := rule.Predict(ctx, in, o.nearestPeriod(in.Graph, train, p))
		if err != nil {
			return nil, err
		}
		for _, r := range rows[p] {
			node, _ := grfgp.AtPlace(in.Graph, test.Nodes[r])
			result[r] = all[node]
		}
	}
	return result, nil
}

func pickRows(all []float64, nodes []int) []float64 {
	some := make([]float64, len(nodes))
	for r, i := range nodes {
		some[r] = all[i]
	}
	return some
}

// nearestPeriod returns the data of a period, by node; of the nearest one that has any,
// the earlier of two.
func (o Options) nearestPeriod(g *graph.Graph, d gp.Data, want int) gp.Data {
	best := math.Inf(1)
	from := -1
	for _, place := range d.Nodes {
		p := period(g, place)
		if gap := math.Abs(o.times[p] - o.times[want]); gap < best || gap == best && p < from {
			best, from = gap, p
		}
	}
	var rows []int
	for r, place := range d.Nodes {
		if period(g, place) == from {
			rows = append(rows, r)
		}
	}
	some := d.Select(rows)
	some.Nodes = grfgp.NodesOf(g, some.Nodes)
	return some
}

// sameNode is SameNode at test rows. Of two measurements as near it takes the earlier.
func (o Options) sameNode(ctx context.Context, in *Inputs, train, test gp.Data) ([]float64, error) {
	result, err := o.predictRows(ctx, Nearest, in, train, test)
	if err != nil {
		return nil, err
	}
	byNode := map[int][]int{}
	for r, place := range train.Nodes {
		node, _ := grfgp.AtPlace(in.Graph, place)
		byNode[node] = append(byNode[node], r)
	}
	for r, place := range test.Nodes {
		node, p := grfgp.AtPlace(in.Graph, place)
		best, count, from := math.Inf(1), 0.0, -1
		for _, k := range byNode[node] {
			q := period(in.Graph, train.Nodes[k])
			gap := math.Abs(o.times[q] - o.times[p])
			if gap < best || gap == best && q < from {
				best, from, count, result[r] = gap, q, 0, 0
			}
			if q == from {
				result[r] += (train.Y[k] - result[r]) * countOf(train, k) / (count + countOf(train, k))
				count += countOf(train, k)
			}
		}
	}
	return result, nil
}

// checkScheme returns an error unless the scheme is one of those that apply.
func (o Options) checkScheme() error {
	switch {
	case slices.Contains(Schemes(), o.Scheme):
		return nil
	case o.Scheme == LatestPeriod && o.times == nil:
		return fmt.Errorf("%w: the scheme %q is for models with times", grfgp.ErrSpec, o.Scheme)
	case o.Scheme == LatestPeriod:
		return nil
	}
	return fmt.Errorf("%w: no scheme of folds is called %q; there are %q", grfgp.ErrSpec, o.Scheme, Schemes())
}
