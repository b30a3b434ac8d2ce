package grfgp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/covariate"
	"grfgp/gp"
	"grfgp/kernel"
	"grfgp/kernel/covariates"
)

// Effects say what the columns of a node table do to the quantity, as a fitted model
// has it.
type Effects struct {
	Columns []Effect `json:"columns,omitempty"`  // in the order of the source columns; empty if the kernel has no covariates
	LeftOut []string `json:"left_out,omitempty"` // source columns beyond the most effective ones, which are not computed
	Parts   []Part   `json:"parts"`              // of the variation of predictions over nodes
	Nodes   int      `json:"nodes"`              // number of nodes over which an effect is averaged
	Level   float64  `json:"level"`              // of the intervals
	Scale   string   `json:"scale,omitempty"`    // of effects: log, log1p, sqrt or logit; empty: that of the values
}

// Effect is the mean change of the quantity when one column alone moves: a number from its
// lower to its upper quartile, a category from its other levels, by their frequencies,
// to one level. Neighbours' columns stay as they are.
type Effect struct {
	Column  string   `json:"column"`
	Of      string   `json:"level,omitempty"` // of a category
	From    string   `json:"from"`            // as text: the quartile, or what the level is compared with
	To      string   `json:"to"`
	Mean    float64  `json:"mean"`
	SD      float64  `json:"sd"`
	Lower   float64  `json:"lower"` // credible interval
	Upper   float64  `json:"upper"`
	PerUnit *float64 `json:"per_unit,omitempty"` // linear coefficient, where the smooth part adds less than 5 % to the effect
	Unit    string   `json:"unit,omitempty"`     // of PerUnit, as covariate.Reading names it
	// Between compares nodes as they are: those from To on with those up to From, or those
	// of the level with those of other levels. All that differs between them counts, not
	// this column alone. Nil: one of the two groups is empty.
	Between *Contrast `json:"between,omitempty"`
}

// Contrast is the difference between the means of the quantity over two groups of nodes.
type Contrast struct {
	Mean  float64 `json:"mean"`
	SD    float64 `json:"sd"`
	Lower float64 `json:"lower"` // credible interval
	Upper float64 `json:"upper"`
	Low   int     `json:"low_nodes"` // number of nodes in the groups
	High  int     `json:"high_nodes"`
	// Chance is the standard deviation that the difference would have if the nodes of
	// the groups were drawn at random: a column that has nothing to do with the quantity
	// differs that much.
	Chance float64 `json:"chance_sd"`
}

// BeyondChance reports whether the interval is on one side of 0 and the difference is
// larger than twice that of random groups.
func (c *Contrast) BeyondChance() bool { return c.Clear() && math.Abs(c.Mean) > 2*c.Chance }

// Clear reports whether the interval is on one side of 0.
func (c *Contrast) Clear() bool { return c != nil && (c.Lower > 0 || c.Upper < 0) }

// Clear reports whether the interval is on one side of 0.
func (e Effect) Clear() bool { return e.Lower > 0 || e.Upper < 0 }

// Part is a part of a model.
type Part struct {
	Name     string  `json:"name"`     // graph, covariates, roles, covariates × roles, graph × covariates, or noise
	Variance float64 `json:"variance"` // of its posterior mean over nodes, or that of the noise
	Share    float64 `json:"share"`    // Variance over the sum of all parts'
}

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
	if err := e.columns(ctx, m, p); err != nil {
		return nil, fmt.Errorf("effects of columns: %w", err)
	}
	if err := e.shares(ctx, m, p); err != nil {
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
	n := len(t.times)
	if n == 0 {
		return nil
	}
	k := t.overTime(kernel.Constant(1))
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

// columns computes the effects of the source columns.
func (e *Effects) columns(ctx context.Context, m *Model, p *modelParts) error {
	set := m.spec.Covariates
	if set == nil {
		set = m.of.spec.Covariates
	}
	if !p.Terms.Has(CovariateTerm) || set == nil || set.X == nil {
		return nil
	}
	all, err := e.most(ctx, sources(set), m, p, set)
	if err != nil || len(all) == 0 {
		return err
	}
	var moves []move
	var parts []*functionals
	for _, o := range all {
		f, err := p.functionals(ctx, set, &o)
		if err != nil {
			return err
		}
		moves, parts = append(moves, o.moves...), append(parts, f)
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
		f := o.effect
		f.Mean, f.SD = mean[k], math.Sqrt(cov.At(k, k))
		f.Lower, f.Upper = f.Mean-effectZ*f.SD, f.Mean+effectZ*f.SD
		if o.delta > 0 && math.Abs(curved[k]) < 0.05*math.Abs(f.Mean) {
			per := f.Mean / o.delta * o.reading.PerUnit()
			f.PerUnit, f.Unit = &per, o.reading.Unit()
		}
		e.Columns = append(e.Columns, f)
	}
	return e.between(ctx, m, set, all)
}

// most returns the source columns with the largest linear effects, if there are too
// many, and names the others.
func (e *Effects) most(ctx context.Context, all []source, m *Model, p *modelParts, set *covariate.Set) ([]source, error) {
	if len(all) <= effectColumns {
		return all, nil
	}
	size := make([]float64, len(all))
	for k, o := range all {
		states, none := mat.NewDense(len(p.nodes), len(o.states), nil), mat.NewDense(len(o.states), len(o.states), nil)
		p.addLinear(states, none, set, &o)
		mean, _, err := m.posterior.Functionals(ctx, states, nil)
		if err != nil {
			return nil, err
		}
		for _, mv := range o.moves {
			sum := 0.0
			for s, w := range mv.weights {
				sum += w * mean[s]
			}
			size[k] = max(size[k], math.Abs(sum))
		}
	}
	cut := slices.Sorted(slices.Values(size))[len(all)-effectColumns]
	var some []source
	for k, o := range all {
		if size[k] >= cut && len(some) < effectColumns {
			some = append(some, o)
		} else {
			e.LeftOut = append(e.LeftOut, o.name)
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
