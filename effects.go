package grfgp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/covariate"
	"grfgp/gp"
	"grfgp/kernel"
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
}

// Clear reports whether the interval is on one side of 0.
func (e Effect) Clear() bool { return e.Lower > 0 || e.Upper < 0 }

// Part is a part of a model.
type Part struct {
	Name     string  `json:"name"`     // graph, covariates, roles, covariates with roles, graph × covariates, or noise
	Variance float64 `json:"variance"` // of its posterior mean over all nodes, or that of the noise
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
// column may stand for another one that is not in the table.
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
	terms   terms
	pairs   int
	seed    uint64
	graph   kernel.Kernel // nil: none
	near    kernel.Kernel // the graph's part of the product; nil: none
	known   *knownKernel  // nil: none
	theta   struct{ graph, linear, smooth, product []float64 }
	inTime  []float64 // covariance of the last period with that of each measurement; nil without times
	last    float64   // variance of time in the last period; 1 without times
	nodes   []int     // of the measurements
	ownSize int       // number of parameters of near
	columns int       // number of blocks of covariates, which come first
}

// parts takes the kernel of the model apart.
func (m *Model) parts(ctx context.Context) (*modelParts, error) {
	t := m.of
	t.mu.Lock()
	defer t.mu.Unlock()
	c := m.spec.chosen()
	p := &modelParts{terms: c.terms, pairs: c.pairs, seed: t.spec.Seed, last: 1, nodes: NodesOf(t.graph, m.posterior.Measured())}
	if p.terms == 0 {
		p.terms = graphTerm
	}
	theta := t.inSpace(m.fitted.Theta())
	take := func(n int) []float64 {
		head := theta[:n]
		theta = theta[n:]
		return head
	}
	var err error
	if p.terms.has(graphTerm) {
		if p.graph, err = t.graphKernel(ctx, c, m.spec.Method); err != nil {
			return nil, err
		}
		p.theta.graph = take(len(p.graph.Params()))
	}
	if p.terms&knownTerms != 0 {
		if p.known, err = t.knownKernel(ctx, p.terms&knownTerms, c.pairs); err != nil {
			return nil, err
		}
		if p.terms.has(covariateTerm) {
			p.columns = len(t.known.covariates)
		}
		p.theta.linear = take(len(p.known.linear))
		p.theta.smooth = take(len(p.known.smooth.Params()))
	}
	if p.terms.has(productTerm) {
		plain := c
		plain.many, plain.trend = false, false
		if p.near, err = t.graphKernel(ctx, plain, m.spec.Method); err != nil {
			return nil, err
		}
		p.ownSize = len(p.near.Params())
		p.theta.product = take(len(kernel.Product(p.near, p.known.smooth).Params()))
	}
	if len(theta) > 0 {
		return nil, fmt.Errorf("%d hyperparameters belong to no term", len(theta))
	}
	return p, p.times(ctx, m)
}

// times sets the covariance in time of measurements with the last period.
func (p *modelParts) times(ctx context.Context, m *Model) error {
	t := m.of
	n := len(t.spec.Times)
	if n == 0 {
		return nil
	}
	gram := mat.NewSymDense(n, nil)
	if t.spec.joint() {
		theta := m.fitted.Theta()
		cov, err := kernel.OverTime(kernel.Constant(1), t.spec.Times).At(slices.Concat([]float64{1}, theta[len(theta)-timeParams:]))
		if err != nil {
			return err
		}
		periods := make([]int, n)
		for k := range periods {
			periods[k] = k
		}
		if err := cov.Gram(ctx, gram, periods); err != nil {
			return err
		}
	} else {
		for k := range n {
			gram.SetSym(k, k, 1)
		}
	}
	p.last = gram.At(n-1, n-1)
	for _, place := range m.posterior.Measured() {
		_, period := AtPlace(t.graph, place)
		p.inTime = append(p.inTime, gram.At(n-1, period))
	}
	return nil
}

// productTheta are the hyperparameters of the smooth factor of the product.
func (p *modelParts) productTheta() []float64 {
	own := slices.Clone(p.theta.product[p.ownSize:])
	params := p.known.smooth.Params()
	if fixed := slices.IndexFunc(params, func(q kernel.Param) bool { return q.Variance }); fixed >= 0 {
		own = slices.Insert(own, fixed, params[fixed].Start)
	}
	return own
}

// source is a source column with the states between which effects are computed.
type source struct {
	name   string
	dense  []int       // its columns of Set.X
	states [][]float64 // a row of values of dense per state
	shares []float64   // of nodes in the state, for levels
	moves  []move
}

// move is a contrast between states.
type move struct {
	weights []float64 // of the states; they sum to 0
	effect  Effect    // with its names
	reading covariate.Reading
	delta   float64 // by how much the column of numbers moves; 0 for levels
}

// sources returns the source columns of a set in their order.
func sources(s *covariate.Set) []source {
	var all []source
	for d, r := range s.Readings {
		k := slices.IndexFunc(all, func(o source) bool { return o.name == r.Column })
		if k < 0 {
			k, all = len(all), append(all, source{name: r.Column})
		}
		all[k].dense = append(all[k].dense, d)
	}
	var some []source
	for _, o := range all {
		if o.plan(s) {
			some = append(some, o)
		}
	}
	return some
}

// plan sets the states and moves of a source column; it reports whether there are any.
func (o *source) plan(s *covariate.Set) bool {
	low, high := make([]float64, len(o.dense)), make([]float64, len(o.dense))
	number, levels := -1, []int(nil)
	for k, d := range o.dense {
		low[k], high[k] = extremes(s.X, d)
		switch s.Readings[d].Form {
		case covariate.Level:
			levels = append(levels, k)
		case covariate.Absent:
		default:
			number = k
		}
	}
	switch {
	case number >= 0:
		r := s.Readings[o.dense[number]]
		from, to := slices.Clone(low), slices.Clone(low) // a value is there
		from[number], to[number] = r.Position(r.Low), r.Position(r.High)
		if !(to[number]-from[number] > 1e-9) {
			return false // most nodes have the same value
		}
		o.states = [][]float64{from, to}
		o.moves = []move{{[]float64{-1, 1}, Effect{Column: o.name, From: valueText(r, r.Low), To: valueText(r, r.High)}, r, to[number] - from[number]}}
	case len(levels) == 1:
		to := slices.Clone(low)
		to[levels[0]] = high[levels[0]]
		o.states = [][]float64{low, to}
		r := s.Readings[o.dense[levels[0]]]
		o.moves = []move{{[]float64{-1, 1}, Effect{Column: o.name, Of: r.Of, From: "not " + r.Of, To: r.Of}, r, 0}}
	case len(levels) > 1:
		o.planLevels(s, levels, low, high)
	default:
		return false
	}
	return true
}

// planLevels compares each of several levels with the others, by their frequencies.
func (o *source) planLevels(s *covariate.Set, levels []int, low, high []float64) {
	total := 0.0
	for _, k := range levels {
		to := slices.Clone(low)
		to[k] = high[k]
		o.states = append(o.states, to)
		n := 0.0
		for i := range s.Nodes {
			if s.X.At(i, o.dense[k]) > (low[k]+high[k])/2 {
				n++
			}
		}
		o.shares = append(o.shares, n)
		total += n
	}
	for a, k := range levels {
		weights := make([]float64, len(levels))
		for b := range levels {
			weights[b] = -o.shares[b] / max(total-o.shares[a], 1)
		}
		weights[a] = 1
		r := s.Readings[o.dense[k]]
		o.moves = append(o.moves, move{weights, Effect{Column: o.name, Of: r.Of, From: "other levels", To: r.Of}, r, 0})
	}
}

// extremes returns the least and the largest number of a column.
func extremes(x *mat.Dense, d int) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	n, _ := x.Dims()
	for i := range n {
		low, high = min(low, x.At(i, d)), max(high, x.At(i, d))
	}
	return low, high
}

// columns computes the effects of the source columns.
func (e *Effects) columns(ctx context.Context, m *Model, p *modelParts) error {
	set := m.spec.Covariates
	if set == nil {
		set = m.of.spec.Covariates
	}
	if !p.terms.has(covariateTerm) || set == nil || set.X == nil {
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
	return nil
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

// functionals are the moves of a source column as functionals of the process.
type functionals struct {
	cross  *mat.Dense // with the measurements
	smooth *mat.Dense // that of smooth terms alone
	prior  *mat.SymDense
	nodes  int
}

// functionals returns the covariances of the moves of a source column.
func (p *modelParts) functionals(ctx context.Context, set *covariate.Set, o *source) (*functionals, error) {
	states, moves := len(o.states), len(o.moves)
	sample := evenly(set.Nodes, max(8, min(effectNodes, effectRows/states)))
	t := len(p.nodes)
	cross, prior := mat.NewDense(t, states, nil), mat.NewDense(states, states, nil)
	if err := p.addSmooth(ctx, cross, prior, set, o, sample); err != nil {
		return nil, err
	}
	weights := mat.NewDense(states, moves, nil)
	for k, mv := range o.moves {
		weights.SetCol(k, mv.weights)
	}
	f := &functionals{nodes: len(sample), smooth: mat.NewDense(t, moves, nil), cross: mat.NewDense(t, moves, nil), prior: mat.NewSymDense(moves, nil)}
	f.smooth.Mul(cross, weights)
	p.addLinear(cross, prior, set, o)
	f.cross.Mul(cross, weights)
	var half, full mat.Dense
	half.Mul(prior, weights)
	full.Mul(weights.T(), &half)
	for a := range moves {
		for b := a; b < moves; b++ {
			f.prior.SetSym(a, b, p.last*(full.At(a, b)+full.At(b, a))/2)
		}
	}
	for i, w := range p.inTime {
		for a := range moves {
			f.cross.Set(i, a, w*f.cross.At(i, a))
			f.smooth.Set(i, a, w*f.smooth.At(i, a))
		}
	}
	return f, nil
}

// addLinear adds the covariances of the linear term of columns: those of states of
// one source column, up to what all states have in common.
func (p *modelParts) addLinear(cross, prior *mat.Dense, set *covariate.Set, o *source) {
	for k, l := range p.known.linear {
		if l.of != ofColumns {
			continue
		}
		variance := p.theta.linear[k] * l.scale * l.scale
		for s, state := range o.states {
			for i, node := range p.nodes {
				sum := 0.0
				for j, d := range o.dense {
					sum += state[j] * set.X.At(node, d)
				}
				cross.Set(i, s, cross.At(i, s)+variance*sum)
			}
			for r, other := range o.states {
				sum := 0.0
				for j := range o.dense {
					sum += state[j] * other[j]
				}
				prior.Set(s, r, prior.At(s, r)+variance*sum)
			}
		}
	}
}

// addSmooth adds the covariances of the smooth terms: the mean over the sample of
// nodes in each state.
func (p *modelParts) addSmooth(ctx context.Context, cross, prior *mat.Dense, set *covariate.Set, o *source, sample []int) error {
	x, group := p.augmented(set, o, sample)
	var smooth kernel.Kernel
	if p.pairs > 0 {
		smooth = kernel.Fourier(x, group, kernel.Matern32, p.pairs, p.seed)
	} else {
		smooth = kernel.Smooth(x, group, kernel.Matern32)
	}
	measured, rows := ints(0, len(p.nodes)), ints(len(p.nodes), x.RawMatrix().Rows)
	mean := mat.NewDense(len(rows), len(o.states), nil)
	for k := range rows {
		mean.Set(k, k/len(sample), 1/float64(len(sample)))
	}
	add := func(with, own *mat.Dense) {
		var left, right, square mat.Dense
		left.Mul(with, mean)
		right.Mul(own, mean)
		square.Mul(mean.T(), &right)
		cross.Add(cross, &left)
		prior.Add(prior, &square)
	}
	with, own, err := blocksOf(ctx, smooth, p.theta.smooth, measured, rows)
	if err != nil {
		return err
	}
	add(with, own)
	if p.near == nil {
		return nil
	}
	if with, own, err = blocksOf(ctx, smooth, p.productTheta(), measured, rows); err != nil {
		return err
	}
	near, among, err := blocksOf(ctx, p.near, p.theta.product[:p.ownSize], p.nodes, sample)
	if err != nil {
		return err
	}
	multiply := func(dst, by *mat.Dense, node func(row int) int) {
		dst.Apply(func(i, k int, v float64) float64 { return v * by.At(node(i), k%len(sample)) }, dst)
	}
	multiply(with, near, func(i int) int { return i })
	multiply(own, among, func(i int) int { return i % len(sample) })
	add(with, own)
	return nil
}

// blocksOf returns K[a, b] and K[b, b].
func blocksOf(ctx context.Context, k kernel.Kernel, theta []float64, a, b []int) (ab, bb *mat.Dense, err error) {
	cov, err := k.At(theta)
	if err != nil {
		return nil, nil, err
	}
	one := mat.NewDense(len(b), len(b), nil)
	for i := range b {
		one.Set(i, i, 1)
	}
	ab, bb = mat.NewDense(len(a), len(b), nil), mat.NewDense(len(b), len(b), nil)
	if err := cov.Cross(a, b).Apply(ctx, ab, one); err != nil {
		return nil, nil, err
	}
	return ab, bb, cov.Cross(b, b).Apply(ctx, bb, one)
}

// augmented returns the columns of the smooth terms at the measured nodes and then, for
// every state of a source column, at the sample of nodes in that state; with the
// group of each column.
func (p *modelParts) augmented(set *covariate.Set, o *source, sample []int) (x *mat.Dense, group []int) {
	place := map[int]int{} // column of Set.X → column of x
	width := 0
	for g := range set.Groups { // as covariateBlocks has them
		for d, of := range set.Group {
			if of == g {
				place[d], width = width, width+1
			}
		}
	}
	width = 0
	for g, b := range p.known.blocks {
		_, n := b.x.Dims()
		width += n
		group = append(group, slices.Repeat([]int{g}, n)...)
	}
	x = mat.NewDense(len(p.nodes)+len(o.states)*len(sample), width, nil)
	fill := func(to []float64, node int) {
		for _, b := range p.known.blocks {
			to = to[copy(to, b.x.RawRowView(node)):]
		}
	}
	for i, node := range p.nodes {
		fill(x.RawRowView(i), node)
	}
	row := len(p.nodes)
	for _, state := range o.states {
		for _, node := range sample {
			to := x.RawRowView(row)
			fill(to, node)
			for j, d := range o.dense {
				to[place[d]] = state[j]
			}
			row++
		}
	}
	return x, group
}

// evenly returns most numbers below n, evenly spaced.
func evenly(n, most int) []int {
	most = min(n, most)
	all := make([]int, most)
	for k := range all {
		all[k] = k * n / most
	}
	return all
}

// ints returns the numbers from lo to hi − 1.
func ints(lo, hi int) []int {
	all := make([]int, hi-lo)
	for k := range all {
		all[k] = lo + k
	}
	return all
}

// join puts the functionals of all source columns side by side. Functionals of
// different source columns are taken as independent before the measurements: only the
// variances of the result are used.
func join(parts []*functionals) (cross, smooth *mat.Dense, prior *mat.SymDense) {
	width := 0
	var crosses, smooths []*mat.Dense
	for _, f := range parts {
		width += f.prior.SymmetricDim()
		crosses, smooths = append(crosses, f.cross), append(smooths, f.smooth)
	}
	prior = mat.NewSymDense(width, nil)
	at := 0
	for _, f := range parts {
		n := f.prior.SymmetricDim()
		for a := range n {
			for b := a; b < n; b++ {
				prior.SetSym(at+a, at+b, f.prior.At(a, b))
			}
		}
		at += n
	}
	return beside(crosses...), beside(smooths...), prior
}

// scale names the scale on which the model is Gaussian; empty for that of the values.
func (s Spec) scale() string {
	switch s.kind() {
	case gp.Counts:
		return "log"
	case gp.Shares, gp.YesNo:
		return "logit"
	}
	if t := s.transform(); t != gp.NoTransform {
		return t.String()
	}
	return ""
}
