package grfgp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/covariate"
	"grfgp/effects"
	"grfgp/gp"
	"grfgp/kernel"
	"grfgp/kernel/covariates"
)

// What the columns of a node table do to the quantity, as a fitted model has it: see package effects.
type (
	Effects  = effects.Effects
	Effect   = effects.Effect
	Contrast = effects.Contrast
	Part     = effects.Part
)

const (
	effectLevel   = 0.95
	effectZ       = 1.959963984540054 // quantile of the normal distribution
	effectNodes   = 200               // over which effects are averaged, at most
	effectRows    = 400               // states of nodes per source column
	effectColumns = 40                // source columns, at most
)

// Effects returns the effect of every source column of the covariates, with its
// posterior sd and a 95 % credible interval, and the share of each part of the model.
//
// An effect is a linear functional of the process: with rows x′ and x″ of a node's
// columns before and after the move, it is the mean over nodes of f(x″) − f(x′), where f
// has the linear and smooth terms and the product with the graph. Its posterior given
// the hyperparameters is normal and exact with the exact solver; with the iterative one
// it has the accuracy of Model.Covariance, and where smooth terms are Fourier features it is
// that of this approximation. The nodes are evenly spaced by number, at most 200. In a
// model over time it is the effect in the last period. Effects are associations: a
// column may stand for another one that is not in the table. Columns that go together
// share an effect, and none of them may have a clear one: then Effect.Between, which
// holds nothing fixed, still says how the quantity differs along a column.
//
// Where covariates and roles are one smooth function, it is divided: the part of
// covariates is its mean over the roles of other nodes, that of roles its mean over the
// covariates of other nodes, and covariates × roles is the rest. The parts add up to the
// prediction; variances are then over at most 256 nodes.
//
// Counts, shares, yes-no values and transformed values have effects on the scale on
// which the model is Gaussian: see Scale.
func (m *Model) Effects(ctx context.Context) (*Effects, error) {
	e := &Effects{Level: effectLevel, Scale: m.of.spec.scale()}
	p, err := m.parts(ctx)
	if err != nil {
		return nil, fmt.Errorf("effects: %w", err)
	}
	if err := p.effects(ctx, m, e); err != nil {
		return nil, fmt.Errorf("effects of columns: %w", err)
	}
	if err := p.shares(ctx, m, e); err != nil {
		return nil, fmt.Errorf("shares of parts: %w", err)
	}
	return e, nil
}

// modelParts are the terms of a model's kernel with their hyperparameters, on nodes.
type modelParts struct {
	Expression
	theta   kernel.Theta
	graph   kernel.Kernel       // nil: none
	near    kernel.Kernel       // the graph's part of the product; nil: none
	known   *covariates.Kernels // nil: none
	inTime  []float64           // covariance of the last period with that of each measurement; nil without times
	last    float64             // variance of time in the last period; 1 without times
	nodes   []int               // of the measurements
	columns int                 // number of blocks of covariates, which come first
}

// parts takes the kernel of the model apart.
func (m *Model) parts(ctx context.Context) (p *modelParts, err error) {
	t := m.of
	t.mu.Lock()
	defer t.mu.Unlock()
	p = &modelParts{Expression: m.spec.Expression, theta: m.fitted.Hyperparameters(), last: 1,
		nodes: NodesOf(t.graph, m.posterior.Measured())}
	p.Terms = cmp.Or(p.Terms, GraphTerm)
	if p.Terms.Has(GraphTerm) {
		if p.graph, err = t.graphKernel(ctx, p.Expression, false); err != nil {
			return nil, err
		}
	}
	if p.Terms&knownTerms != 0 {
		if p.known, err = t.knownKernel(ctx, p.Terms&knownTerms, p.Pairs); err != nil {
			return nil, err
		}
		if p.Terms.Has(CovariateTerm) {
			p.columns = len(t.known.covariates)
		}
	}
	if p.Terms.Has(ProductTerm) {
		if p.near, err = t.near(ctx, p.Expression, false); err != nil {
			return nil, err
		}
	}
	return p, p.times(ctx, m)
}

// thetaOf returns those hyperparameters under a path that a kernel has.
func (p *modelParts) thetaOf(k kernel.Kernel, path string) []float64 {
	return kernel.Begin(k.Params(), p.theta.Under(path))
}

// times sets the covariance in time of measurements with the last period.
func (p *modelParts) times(ctx context.Context, m *Model) error {
	t := m.of
	n := len(t.when.Times)
	if n == 0 {
		return nil
	}
	k := t.when.OverTime(kernel.Constant(1))
	cov, err := k.At(kernel.Begin(k.Params(), p.theta))
	if err != nil {
		return err
	}
	gram := mat.NewSymDense(n, nil)
	if err := cov.Gram(ctx, gram, ints(0, n)); err != nil {
		return err
	}
	p.last = gram.At(n-1, n-1)
	for _, place := range m.posterior.Measured() {
		_, period := AtPlace(t.graph, place)
		p.inTime = append(p.inTime, gram.At(n-1, period))
	}
	return nil
}

// effects computes the effects of the source columns.
func (p *modelParts) effects(ctx context.Context, m *Model, e *Effects) error {
	set := m.spec.Covariates
	if set == nil {
		set = m.of.spec.Covariates
	}
	if !p.Terms.Has(CovariateTerm) || set == nil || set.X == nil {
		return nil
	}
	all, err := p.most(ctx, effects.Sources(set), m, e, set)
	if err != nil || len(all) == 0 {
		return err
	}
	var moves []effects.Move
	var parts []*functionals
	for _, o := range all {
		f, err := p.functionals(ctx, set, &o)
		if err != nil {
			return err
		}
		moves, parts = append(moves, o.Moves...), append(parts, f)
		e.Nodes = max(e.Nodes, f.nodes)
	}
	cross, smooth, prior := join(parts)
	mean, cov, err := m.posterior.Functionals(ctx, cross, prior)
	if err != nil {
		return err
	}
	curved, _, err := m.posterior.Functionals(ctx, smooth, nil)
	if err != nil {
		return err
	}
	for k, o := range moves {
		f := o.Effect
		f.Mean, f.SD = mean[k], math.Sqrt(cov.At(k, k))
		f.Lower, f.Upper = f.Mean-effectZ*f.SD, f.Mean+effectZ*f.SD
		if o.Delta > 0 && math.Abs(curved[k]) < 0.05*math.Abs(f.Mean) {
			per := f.Mean / o.Delta * o.Reading.PerUnit()
			f.PerUnit, f.Unit = &per, o.Reading.Unit()
		}
		e.Columns = append(e.Columns, f)
	}
	return m.between(ctx, e, set, all)
}

// most returns the source columns with the largest linear effects, if there are too
// many, and names the others.
func (p *modelParts) most(ctx context.Context, all []effects.Source, m *Model, e *Effects, set *covariate.Set) ([]effects.Source, error) {
	if len(all) <= effectColumns {
		return all, nil
	}
	size := make([]float64, len(all))
	for k, o := range all {
		states, none := mat.NewDense(len(p.nodes), len(o.States), nil), mat.NewDense(len(o.States), len(o.States), nil)
		p.addLinear(states, none, set, &o)
		mean, _, err := m.posterior.Functionals(ctx, states, nil)
		if err != nil {
			return nil, err
		}
		for _, mv := range o.Moves {
			sum := 0.0
			for s, w := range mv.Weights {
				sum += w * mean[s]
			}
			size[k] = max(size[k], math.Abs(sum))
		}
	}
	cut := slices.Sorted(slices.Values(size))[len(all)-effectColumns]
	var some []effects.Source
	for k, o := range all {
		if size[k] >= cut && len(some) < effectColumns {
			some = append(some, o)
		} else {
			e.LeftOut = append(e.LeftOut, o.Name)
		}
	}
	return some, nil
}

// scale names the scale on which the model is Gaussian; empty for that of the values.
func (s Spec) scale() string {
	if scale := s.kind().About().Scale; scale != "" {
		return scale
	}
	if t := s.transform(); t != gp.NoTransform {
		return t.String()
	}
	return ""
}
