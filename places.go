package grfgp

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"grfgp/calendar"
	"grfgp/gp"
	"grfgp/graph"
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
func Place(g *graph.Graph, node, period int) int { return calendar.Place(g, node, period) }

// Places returns the places of nodes in a period.
func Places(g *graph.Graph, nodes []int, period int) []int { return calendar.Places(g, nodes, period) }

// AtPlace returns the node and the period of a place.
func AtPlace(g *graph.Graph, place int) (node, period int) { return calendar.AtPlace(g, place) }

// NodesOf returns the nodes of places.
func NodesOf(g *graph.Graph, places []int) []int { return calendar.NodesOf(g, places) }

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

// calendar returns the graph in the periods of the Spec.
func (s Spec) calendar(g *graph.Graph) calendar.Calendar {
	return calendar.Calendar{Graph: g, Times: s.Times, Apart: !s.joint()}
}

// work returns the number of measurements without time whose likelihood takes about as
// long: fewer than there are, if the places are a table.
func (t *Trainer) work(own gp.Data) (count int, table bool) {
	if t.when.Times != nil && own.NoiseVar == nil && own.Count == nil && t.spec.kind() == gp.Gaussian {
		k := t.when.OverTime(kernel.Constant(t.graph.Len()))
		if work := kernel.TrainingOf(k).Tabular(own.Nodes); work > 0 {
			return work, true
		}
	}
	return own.Len(), false
}

// retrainOverTime is retrain of a kernel over time. Where a likelihood of all measurements
// takes long, hyperparameters are learned from a sample, and then kept.
func (t *Trainer) retrainOverTime(ctx context.Context, k kernel.Kernel, own gp.Data, opts gp.FitOptions) (*gp.Model, gp.FitReport, error) {
	work, table := t.work(own)
	if opts.MaxIter > 0 {
		opts.MaxIter = t.limits.Iterations(work)
	}
	if own.Len() <= t.limits.Exact || work <= t.limits.TimeAll || t.spec.kind() != gp.Gaussian {
		return gp.Fit(ctx, k, own, opts)
	}
	sample := opts
	sample.Subsample, sample.MaxIter = t.limits.TimeSample, t.limits.TimeIters
	fitted, learned, err := gp.Fit(ctx, k, own, sample)
	if err != nil {
		return nil, learned, err
	}
	if !table && opts.Solver == gp.Auto && own.Len() <= t.limits.TimeExact {
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

// nodePrior returns the covariance of one period.
func (m *Model) nodePrior(ctx context.Context) (kernel.Covariance, error) {
	t := m.of
	if t.when.Times == nil {
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
	var err error
	if other.fitted, err = other.of.model(ctx, other.spec.Expression, m.fitted.State(), m.fitted.Card()); err != nil {
		return nil, err
	}
	own, err := other.spec.ownData(other.of.places(), data)
	if err != nil {
		return nil, err
	}
	other.posterior, err = other.fitted.Condition(ctx, own)
	return &other, err
}
