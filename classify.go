package grfgp

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/gp"
	"grfgp/graph"
	"grfgp/kernel"
)

// Classification is a classifier of the nodes of a graph, fitted to labels.
// Nodes are numbered as in the graph that was given, classes as in the labels.
type Classification struct {
	choice     ClassChoice
	spec       Spec // with the choices filled in
	place      []int
	classifier gp.Classifier
	blind      []bool    // by node of the ordered graph: no label in its component
	share      []float64 // of the classes in the labels, with one more of each
}

// ClassChoice says what was chosen, and why.
type ClassChoice struct {
	Family     string            `json:"family"`
	Method     string            `json:"method"` // of the kernel
	Scales     string            `json:"scales"`
	Hops       int               `json:"hops,omitempty"`
	Why        []string          `json:"why"`
	Fit        gp.ClassifyReport `json:"fit"`
	Candidates []ClassCandidate  `json:"candidates"`
}

// ClassCandidate is a kernel that was tried.
type ClassCandidate struct {
	Family   string  `json:"family"`
	Score    float64 `json:"score"`    // mean log probability of labels by the others
	Accuracy float64 `json:"accuracy"` // share of labels that the others predict
}

// Choice returns what was chosen, and why.
func (c *Classification) Choice() ClassChoice { return c.choice }

// Spec returns the Spec with the choices filled in.
func (c *Classification) Spec() Spec { return c.spec }

// Classes returns the number of classes.
func (c *Classification) Classes() int { return c.classifier.Classes() }

// Classify chooses a kernel as spec says, learns its hyperparameters from labels
// by a method, and sets probabilities so that labels are likeliest by the others.
func Classify(ctx context.Context, g *graph.Graph, l gp.Labels, spec Spec, method gp.ClassMethod) (*Classification, error) {
	w, err := newWorkshop(g, spec)
	if err != nil {
		return nil, err
	}
	return w.classify(ctx, l, method)
}

// classify tries the kernels that the Spec leaves and keeps the one under which
// labels are likeliest by the others.
func (w *workshop) classify(ctx context.Context, l gp.Labels, method gp.ClassMethod) (*Classification, error) {
	if w.spec.Trend == "degree" {
		return nil, fmt.Errorf("%w: classes have no trend with the degree", ErrSpec)
	}
	for k, i := range l.Nodes {
		if i < 0 || i >= len(w.place) {
			return nil, fmt.Errorf("%w: label %d is at node %d of %d", gp.ErrData, k, i, len(w.place))
		}
	}
	c := &Classification{spec: w.spec, place: w.place}
	own := gp.Labels{Nodes: w.internal(l.Nodes), Class: l.Class, Classes: l.Classes}
	c.blind, c.share = w.blind(own.Nodes), shares(own)
	if method == gp.Spreading {
		return c, w.spread(ctx, c, own)
	}
	c.choice.Method, c.choice.Hops, c.choice.Why = w.decide(own.Len())
	scales, why, err := w.decideScales(own.Nodes, c.choice.Method, c.choice.Hops)
	if err != nil {
		return nil, err
	}
	c.choice.Why = append(c.choice.Why, why, "every node has the same variance: classes do not go with degrees")
	opts := gp.ClassifyOptions{Method: method, Seed: w.spec.Seed}
	if err := opts.Solver.UnmarshalText([]byte(cmp.Or(w.spec.Solver, "auto"))); err != nil {
		return nil, err
	}
	var chosen candidate
	var kept kernel.Kernel
	try := func(one candidate) error {
		k, err := w.classKernel(ctx, one, c.choice.Method)
		if err != nil {
			return err
		}
		opts := opts
		opts.Sketch, opts.Starts = true, one.starts()
		_, report, err := gp.Classify(ctx, k, own, opts)
		if err != nil {
			return err
		}
		c.choice.Candidates = append(c.choice.Candidates, ClassCandidate{one.String(), report.Score, report.Accuracy})
		if kept == nil || report.Score > c.choice.Fit.Score {
			chosen, kept, c.choice.Fit = one, k, report
		}
		return nil
	}
	families := w.spec.classFamilies(c.choice.Hops)
	// The first family decides on the scales, the others are tried on those.
	for _, many := range scales {
		if err := try(candidate{family: families[0], many: many, hops: w.fineHops(many, c.choice.Method, c.choice.Hops)}); err != nil {
			return nil, err
		}
	}
	for _, f := range families[1:] {
		if err := try(candidate{family: f, many: chosen.many, hops: chosen.hops}); err != nil {
			return nil, err
		}
	}
	w.forget(chosen.hops)
	if method == c.choice.Fit.Method {
		opts.State = &c.choice.Fit.ClassState
	} else {
		opts.Starts = [][]float64{c.choice.Fit.Theta}
	}
	fit := c.choice.Fit
	if c.classifier, c.choice.Fit, err = gp.Classify(ctx, kept, own, opts); err != nil {
		return nil, err
	}
	if opts.State != nil {
		c.choice.Fit = fit // which knows how it was learned
	}
	c.choose(chosen)
	return c, nil
}

// classFamilies returns the candidates that the Spec leaves: smooth ones, for a
// class is shared by whole neighbourhoods.
func (s Spec) classFamilies(hops int) []family {
	if s.Family != "" {
		return s.families(hops)
	}
	matern := Spec{Family: "matern"}.families(hops)
	return append(matern[2:], s.families(hops)[0]) // ν = 2, ν = 4, diffusion
}

// classKernel is the kernel of a candidate, of the same variance at every node.
func (w *workshop) classKernel(ctx context.Context, c candidate, method string) (kernel.Kernel, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fine, err := w.fine(ctx, c.family, method, c.hops)
	if err != nil || !c.many {
		return kernel.Even(fine), err
	}
	return w.onTop(ctx, kernel.Even(fine), c.family)
}

// spreadShares are the shares α of its neighbours' labels that a node takes on in
// label spreading; the first is the usual one.
var spreadShares = []float64{0.9, 0.5, 0.7, 0.8, 0.95}

// spread is label spreading, with the share that predicts labels best.
func (w *workshop) spread(ctx context.Context, c *Classification, own gp.Labels) (err error) {
	k, err := kernel.NewSeries(w.w, kernel.Matern{Nu: 1}, seriesHops)
	if err != nil {
		return err
	}
	opts := gp.ClassifyOptions{Method: gp.Spreading}
	for _, share := range spreadShares {
		opts.Starts = append(opts.Starts, []float64{1, math.Sqrt(2 * share / (1 - share))})
	}
	if c.classifier, c.choice.Fit, err = gp.Classify(ctx, k, own, opts); err != nil {
		return err
	}
	kappa := c.choice.Fit.Theta[1]
	c.choice.Family, c.choice.Method, c.choice.Scales, c.choice.Hops = "spreading", "series", "one", seriesHops
	c.choice.Why = []string{fmt.Sprintf("label spreading: a node takes on %.2g of its neighbours' labels", kappa*kappa/(2+kappa*kappa))}
	return nil
}

// choose fills in what was chosen, and why.
func (c *Classification) choose(chosen candidate) {
	c.choice.Family, c.choice.Scales, c.choice.Hops = chosen.name, "one", chosen.hops
	if chosen.many {
		c.choice.Scales = "many"
	}
	c.spec.Family, c.spec.Nu, c.spec.Scales = chosen.family.family, chosen.nu, c.choice.Scales
	c.spec.Method, c.spec.Hops = c.choice.Method, c.choice.Hops
	r := c.choice.Fit
	how := "left out one at a time"
	if r.Solver != gp.Exact {
		how = "held out"
	}
	if n := len(c.choice.Candidates); n > 1 {
		c.choice.Why = append(c.choice.Why, fmt.Sprintf("%v predicts labels best of the %d kernels tried", chosen, n))
	}
	c.choice.Why = append(c.choice.Why, fmt.Sprintf("of %d labels %s, %.1f %% are predicted right, with log score %.3f at temperature %.2f and spread %.1f",
		r.Scored, how, 100*r.Accuracy, r.Score, r.Temperature, r.Spread))
}

// Probabilities returns the chance of each class, a row per node.
func (c *Classification) Probabilities(ctx context.Context, nodes []int) (*mat.Dense, error) {
	p, err := c.classifier.Probabilities(ctx, renumbered(nodes, c.place))
	if err == nil {
		c.hide(p, nodes)
	}
	return p, err
}

// Sample returns draws of the chances of each class: functions that the labels
// leave possible, each with a row per node. Where no label reaches they are the
// model's own, whose mean is not what Probabilities says there.
func (c *Classification) Sample(ctx context.Context, nodes []int, draws int, seed uint64) ([]*mat.Dense, error) {
	return c.classifier.Sample(ctx, renumbered(nodes, c.place), draws, seed)
}

// hide sets the chances where no label reaches to the shares of the classes. A
// calibration is found among labels, and is too sure where there are none.
func (c *Classification) hide(p *mat.Dense, nodes []int) {
	for r, i := range nodes {
		if c.blind[c.place[i]] {
			p.SetRow(r, c.share)
		}
	}
}

// blind reports for every node whether none of the given ones is in its
// component.
func (w *workshop) blind(nodes []int) []bool {
	comp, sizes := w.graph.Components()
	seen := make([]bool, len(sizes))
	for _, i := range nodes {
		seen[comp[i]] = true
	}
	blind := make([]bool, len(comp))
	for i, k := range comp {
		blind[i] = !seen[k]
	}
	return blind
}

// shares returns the share of every class, counted with one label more of each.
func shares(l gp.Labels) []float64 {
	share := make([]float64, l.Classes)
	for c := range share {
		share[c] = 1 / float64(l.Len()+l.Classes)
	}
	for _, c := range l.Class {
		share[c] += 1 / float64(l.Len()+l.Classes)
	}
	return share
}

// LeftOut returns the chance of each class at every label given all others, or
// nil where there were too many labels for that.
func (c *Classification) LeftOut() *mat.Dense { return c.classifier.LeftOut() }
