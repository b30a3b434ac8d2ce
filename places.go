package grfgp

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/parallel"
	"grfgp/kernel"
)

// A model with Spec.Times is a function of node and period. A place is a node in a
// period, as a number; gp.Data.Nodes, Predict and Sample of such a model take places
// where those of other models take nodes. Without Times, places are nodes.
//
// The whole kernel is one over time, with its terms of covariates, roles and trend,
// though these are the same in all periods: their effects stay and change as the rest
// of the function does. So a model of one period is the same with and without time,
// independent periods are a limit of dependent ones, and a function that covariates
// alone explain can change, too.

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

var timeModelNames = []string{"joint", "separate"}

// TimeModels returns the values of Spec.TimeModel.
func TimeModels() []string { return slices.Clone(timeModelNames) }

// checkTimes returns an error unless times are increasing.
func (s Spec) checkTimes() error {
	for p, t := range s.Times {
		switch {
		case math.IsNaN(t) || math.IsInf(t, 0):
			return fmt.Errorf("%w: time %v of period %d; want a finite number", ErrSpec, t, p)
		case p > 0 && t <= s.Times[p-1]:
			return fmt.Errorf("%w: period %d at time %v is not after the one before it, at %v; sort the periods", ErrSpec, p, t, s.Times[p-1])
		}
	}
	switch {
	case s.TimeModel != "" && !slices.Contains(timeModelNames, s.TimeModel):
		return fmt.Errorf("%w: models over time are %s, not %q", ErrSpec, strings.Join(timeModelNames, " or "), s.TimeModel)
	case len(s.TimeNames) > 0 && len(s.TimeNames) != len(s.Times):
		return fmt.Errorf("%w: %d names of %d periods; give one for each, or none", ErrSpec, len(s.TimeNames), len(s.Times))
	case s.TimeModel != "" && s.Times == nil:
		return fmt.Errorf("%w: a model over time needs the times of its periods", ErrSpec)
	case s.Times != nil && s.Method == "lowrank":
		return fmt.Errorf("%w: the method lowrank has no model over time; use grf, series or dense", ErrSpec)
	}
	return nil
}

// periods returns the number of periods, 1 without times.
func (s Spec) periods() int { return max(1, len(s.Times)) }

// joint reports whether periods inform each other.
func (s Spec) joint() bool { return len(s.Times) > 0 && s.TimeModel != "separate" }

// noTimes refuses times for a use that has none.
func (s Spec) noTimes(what string) error {
	if s.Times != nil {
		return fmt.Errorf("%w: %s without time; use the values of one period, or the latest of each node", ErrSpec, what)
	}
	return nil
}

// calendar is a graph in periods.
type calendar struct {
	graph *graph.Graph
	times []float64 // nil: there is no time
	apart bool      // periods are independent
}

// calendar returns the graph in the periods of the Spec.
func (s Spec) calendar(g *graph.Graph) calendar { return calendar{g, s.Times, !s.joint()} }

// joint reports whether periods inform each other.
func (c calendar) joint() bool { return c.times != nil && !c.apart }

// periods returns the number of periods, 1 without times.
func (c calendar) periods() int { return max(1, len(c.times)) }

// places returns the number of places.
func (c calendar) places() int { return c.graph.Len() * c.periods() }

// distinct returns the number of distinct nodes of places: columns of a kernel on nodes
// serve all periods.
func (c calendar) distinct(places []int) int {
	if c.times == nil {
		return len(places)
	}
	nodes := NodesOf(c.graph, places)
	slices.Sort(nodes)
	return len(slices.Compact(nodes))
}

// work returns the number of measurements without time whose likelihood takes about as
// long: fewer than there are, if the places are a table.
func (t *Trainer) work(own gp.Data) (count int, table bool) {
	if t.times != nil && own.NoiseVar == nil && own.Count == nil && t.spec.kind() == gp.Gaussian {
		k := t.overTime(kernel.Constant(t.graph.Len()))
		if work := kernel.TrainingOf(k).Tabular(own.Nodes); work > 0 {
			return work, true
		}
	}
	return own.Len(), false
}

const (
	wholeWork   = 1500 // most work of a likelihood of all measurements over time in learning
	finalSample = 2000 // beyond, measurements to learn from,
	sampleIters = 30   // and most iterations
	factorMost  = 6000 // most measurements over time whose covariance is factored: conjugate gradients take longer
)

// retrainOverTime is retrain of a kernel over time. Where a likelihood of all measurements
// takes long, hyperparameters are learned from a sample, and then kept.
func (t *Trainer) retrainOverTime(ctx context.Context, k kernel.Kernel, own gp.Data, opts gp.FitOptions) (*gp.Model, gp.FitReport, error) {
	work, table := t.work(own)
	if opts.MaxIter > 0 {
		opts.MaxIter = finalIters(work)
	}
	if own.Len() <= exactMost || work <= wholeWork || t.spec.kind() != gp.Gaussian {
		return gp.Fit(ctx, k, own, opts)
	}
	sample := opts
	sample.Subsample, sample.MaxIter = finalSample, sampleIters
	fitted, learned, err := gp.Fit(ctx, k, own, sample)
	if err != nil {
		return nil, learned, err
	}
	if !table && opts.Solver == gp.Auto && own.Len() <= factorMost {
		opts.Solver = gp.Exact
	}
	opts.Starts, opts.Fixed = [][]float64{fitted.Theta()}, true
	noise := fitted.NoiseSD()
	if own.NoiseVar == nil {
		opts.NoiseSD = &noise
	}
	m, r, err := gp.Fit(ctx, k, own, opts)
	r.Converged, r.Iterations, r.Evaluations = learned.Converged, learned.Iterations, learned.Evaluations
	return m, r, err
}

// overTime returns a kernel on nodes as one on places.
func (c calendar) overTime(k kernel.Kernel) kernel.Kernel {
	switch {
	case c.times == nil:
		return k
	case c.apart:
		return kernel.EachPeriod(k, len(c.times))
	}
	return kernel.OverTime(k, c.times)
}

// timeStarts are hyperparameters of time to start learning from: change over one, four
// and sixteen of the mean gaps between periods with measurements.
func (c calendar) timeStarts(places []int) (all []kernel.Theta) {
	var measured []int
	for _, p := range places {
		_, period := AtPlace(c.graph, p)
		measured = append(measured, period)
	}
	slices.Sort(measured)
	gap := 1.0
	if n := len(slices.Compact(measured)); n > 1 {
		gap = (c.times[slices.Max(measured)] - c.times[measured[0]]) / float64(n-1)
	}
	for _, v := range [][2]float64{{4 * gap, 1}, {gap, 1}, {16 * gap, 0.3}} {
		all = append(all, kernel.Theta{{Path: "time/scale", Number: v[0]}, {Path: "time/change", Number: v[1]}})
	}
	return all
}

// whyTimes says what the model over time is.
func (c calendar) whyTimes() []string {
	switch {
	case c.times == nil:
		return nil
	case c.joint():
		return []string{fmt.Sprintf("one function of node and time, over %d periods: a part that stays and a part that changes", len(c.times))}
	}
	return []string{fmt.Sprintf("independent functions in %d periods, with the same hyperparameters", len(c.times))}
}

// byPeriod returns the nodes of places by period.
func (c calendar) byPeriod(places []int) [][]int {
	all := make([][]int, c.periods())
	for _, p := range places {
		node, period := AtPlace(c.graph, p)
		all[period] = append(all[period], node)
	}
	return all
}

// hopsToMeasured returns a function from a place to the hops from its node to the nearest
// measurement that informs it: one of any period, or of the same if periods are
// independent. It is −1 if there is none.
func (c calendar) hopsToMeasured(measured []int) func(place int) int {
	if !c.apart || c.times == nil {
		hops := c.graph.Hops(NodesOf(c.graph, measured))
		return func(place int) int {
			node, _ := AtPlace(c.graph, place)
			return hops[node]
		}
	}
	nodes, hops := c.byPeriod(measured), make([][]int, c.periods())
	return func(place int) int {
		node, period := AtPlace(c.graph, place)
		switch {
		case len(nodes[period]) == 0:
			return -1
		case hops[period] == nil:
			hops[period] = c.graph.Hops(nodes[period])
		}
		return hops[period][node]
	}
}

// unseen counts the places in periods that no measurement informs.
func (c calendar) unseen(places, measured []int) (count int) {
	if !c.apart || c.times == nil {
		return 0
	}
	nodes := c.byPeriod(measured)
	for _, p := range places {
		if _, period := AtPlace(c.graph, p); len(nodes[period]) == 0 {
			count++
		}
	}
	return count
}

// nodePrior returns the covariance of one period.
func (m *Model) nodePrior(ctx context.Context) (kernel.Covariance, error) {
	t := m.of
	if t.times == nil {
		return m.posterior.Prior(), nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	k, err := t.nodeKernel(ctx, m.spec.Expression, false)
	if err != nil {
		return nil, err
	}
	return k.At(kernel.Begin(k.Params(), m.fitted.Hyperparameters()))
}

// OverPeriods returns the model, with the same hyperparameters and measurements, over
// other periods: such as with a further one, of which there is no measurement but a
// prediction is wanted. All periods with a measurement must be among them. Names may be
// nil.
func (m *Model) OverPeriods(ctx context.Context, times []float64, names []string) (*Model, error) {
	spec := m.of.spec.clone()
	if spec.Times == nil {
		return nil, fmt.Errorf("%w: the model has no time; fit one with times", ErrSpec)
	}
	spec.Times, spec.TimeNames = slices.Clone(times), slices.Clone(names)
	if err := spec.Check(); err != nil {
		return nil, err
	}
	data := m.data.Clone()
	for k, place := range data.Nodes {
		node, period := AtPlace(m.of.graph, place)
		at, has := slices.BinarySearch(times, m.of.spec.Times[period])
		if !has {
			return nil, fmt.Errorf("%w: the time %v has measurements and is not among the periods; add it", ErrSpec, m.of.spec.Times[period])
		}
		data.Nodes[k] = Place(m.of.graph, node, at)
	}
	other := *m
	other.of, other.data = &Trainer{workshop: m.of.with(spec, true), hash: m.of.hash, open: m.of.open}, data
	other.spec.Times, other.spec.TimeNames = spec.Times, spec.TimeNames
	k, err := other.of.chosenKernel(ctx, other.spec.Expression)
	if err != nil {
		return nil, err
	}
	if other.fitted, err = gp.NewModel(k, m.fitted.State()); err != nil {
		return nil, err
	}
	other.fitted = other.fitted.On(m.fitted.Card())
	own, err := other.spec.ownData(other.of.places(), data)
	if err != nil {
		return nil, err
	}
	other.posterior, err = other.fitted.Condition(ctx, own)
	return &other, err
}
