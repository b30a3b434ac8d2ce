package grfgp

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"grfgp/bayesopt"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/progress"
)

// Classification is a classifier of the nodes of a graph, fitted to labels.
// Classes have the numbers that they have in the labels. It is immutable and safe
// for concurrent use.
type Classification struct {
	of         *Trainer
	classifier *gp.Classifier
	spec       Spec // with the choices filled in
	choice     ClassChoice
	card       *gp.Card // nil: none

	order []int     // order[k] is the row, as given, of the classifier's label k
	alone []bool    // by node: its component has no label
	share []float64 // class frequencies, after adding one label of each class
}

// ClassChoice is the kernel that Classify has chosen, with the reasons. Scales and
// Hops have the values of the same fields of Spec.
type ClassChoice struct {
	Family     string             `json:"family"`
	Method     string             `json:"method"` // representation of the kernel, as in Spec.Method
	Scales     string             `json:"scales"`
	Hops       int                `json:"hops,omitempty"`
	Terms      []string           `json:"terms,omitempty"`     // of the kernel, as in Spec.Terms
	Spreading  float64            `json:"spreading,omitempty"` // weight of label spreading in the probabilities; 0 unless labels are few
	Why        []string           `json:"why"`
	Cautions   []string           `json:"cautions,omitempty"` // those of Why that limit the trust in probabilities, or tell of a failure
	Device     string             `json:"device,omitempty"`   // graphics card that computed some of it; empty: the processor did
	Fit        gp.ClassifyReport  `json:"fit"`
	Candidates []TriedClassKernel `json:"candidates"`
}

// TriedClassKernel is one of the kernels that Classify has compared.
type TriedClassKernel struct {
	Family   string  `json:"family"`
	Score    float64 `json:"score"`    // mean log probability of a label given the other labels
	Accuracy float64 `json:"accuracy"` // share of labels that the other labels predict correctly
}

// Choice returns the chosen kernel, with reasons, and what was computed where so far, if
// there is a choice of devices. Its lists must not be changed.
func (c *Classification) Choice() ClassChoice {
	choice := c.choice
	choice.Device = told(c.card, &choice.Why, &choice.Cautions)
	return choice
}

// Spec returns the Spec with the choices filled in.
func (c *Classification) Spec() Spec { return c.spec }

// Nodes returns the number of nodes.
func (c *Classification) Nodes() int { return c.of.graph.Len() }

// Spread returns the factor by which the calibration has scaled the deviations of
// the latent functions from their means; 0 if there was no calibration. See
// gp.Calibration.
func (c *Classification) Spread() float64 { return c.choice.Fit.Spread }

// Classes returns the number of classes.
func (c *Classification) Classes() int { return c.classifier.Classes() }

// Classify chooses a kernel within the limits of spec, learns its hyperparameters from
// labels by the given method, and calibrates the probabilities by the leave-one-out log
// score of the labels.
func Classify(ctx context.Context, g *graph.Graph, l gp.Labels, spec Spec, method gp.ClassMethod) (*Classification, error) {
	t, err := NewTrainer(g, spec)
	if err != nil {
		return nil, err
	}
	return t.Classify(ctx, l, method)
}

// Classify is the function Classify for the Trainer's graph and Spec.
func (t *Trainer) Classify(ctx context.Context, l gp.Labels, method gp.ClassMethod) (*Classification, error) {
	return t.ClassifyProgress(ctx, l, method, nil)
}

// ClassifyProgress is Classify that tells w how far it is.
func (t *Trainer) ClassifyProgress(ctx context.Context, l gp.Labels, method gp.ClassMethod, w *progress.Work) (*Classification, error) {
	if t.spec.Trend == "degree" {
		return nil, fmt.Errorf("%w: classification has no trend with the degree", ErrSpec)
	}
	if err := t.spec.noTimes("classification is"); err != nil {
		return nil, err
	}
	if t.spec.Variance == "natural" {
		return nil, fmt.Errorf("%w: classification always uses unit variance; leave the variance empty", ErrSpec)
	}
	return t.classify(ctx, l, w, func(own gp.Labels) (*Classification, error) {
		if method == gp.Spreading {
			return t.spread(ctx, own, method)
		}
		return t.learnClasses(ctx, own, method, w)
	})
}

// Refit fits the kernel of c to other labels on the same graph: its hyperparameters are learned
// again, starting from those of c, and no other kernel is tried.
func (c *Classification) Refit(ctx context.Context, l gp.Labels, w *progress.Work) (*Classification, error) {
	return c.of.classify(ctx, l, w, func(own gp.Labels) (*Classification, error) {
		return c.of.relearnClasses(ctx, own, c, false, w)
	})
}

// Condition is Refit with the hyperparameters of c, for the methods gp.Dirichlet and gp.OneVsAll:
// probabilities are only calibrated again. For others it is Refit.
func (c *Classification) Condition(ctx context.Context, l gp.Labels, w *progress.Work) (*Classification, error) {
	return c.of.classify(ctx, l, w, func(own gp.Labels) (*Classification, error) {
		return c.of.relearnClasses(ctx, own, c, true, w)
	})
}

// classify fits a classifier by learn, which gets sorted labels.
func (t *Trainer) classify(ctx context.Context, l gp.Labels, w *progress.Work,
	learn func(own gp.Labels) (*Classification, error)) (*Classification, error) {
	if err := l.Check(t.graph.Len()); err != nil {
		return nil, err
	}
	order := l.Order()
	own := l.Select(order)
	c, err := learn(own)
	if err != nil {
		return nil, err
	}
	c.order, c.share = order, own.Frequencies()
	c.alone, _ = t.graph.Unreached(own.Nodes)
	w.Done()
	return c, nil
}

// Probabilities returns the probability of each class, one row per node. At a node
// whose component has no label they are the class frequencies, after adding one label
// of each class. The error wraps ErrNode if the graph has no such node.
func (c *Classification) Probabilities(ctx context.Context, nodes []int) (*mat.Dense, error) {
	return c.ProbabilitiesProgress(ctx, nodes, nil)
}

// ProbabilitiesProgress is Probabilities that tells w how far it is.
func (c *Classification) ProbabilitiesProgress(ctx context.Context, nodes []int, w *progress.Work) (*mat.Dense, error) {
	if err := c.of.check(nodes); err != nil {
		return nil, err
	}
	p, err := c.classifier.Probabilities(ctx, nodes, w)
	if err != nil {
		return nil, err
	}
	c.hide(p, nodes)
	return p, nil
}

// Sample returns posterior draws of the probabilities of the classes, each with one row
// per node. In components without a label they are draws from the prior, whose mean
// differs from the result of Probabilities. An empty node list gives no draws.
func (c *Classification) Sample(ctx context.Context, nodes []int, draws int, seed uint64) ([]*mat.Dense, error) {
	return c.SampleProgress(ctx, nodes, draws, seed, nil)
}

// SampleProgress is Sample that tells w how far it is.
func (c *Classification) SampleProgress(ctx context.Context, nodes []int, draws int, seed uint64, w *progress.Work) ([]*mat.Dense, error) {
	if err := c.of.check(nodes); err != nil {
		return nil, err
	}
	if draws < 0 {
		return nil, fmt.Errorf("%w: %d draws; ask for 0 or more", bayesopt.ErrOptions, draws)
	}
	return c.classifier.Sample(ctx, nodes, draws, seed, w)
}

// hide sets probabilities to the class frequencies in components without a label:
// probabilities calibrated on labels are overconfident there.
func (c *Classification) hide(p *mat.Dense, nodes []int) {
	for r, i := range nodes {
		if c.alone[i] {
			p.SetRow(r, c.share)
		}
	}
}

// LeaveOneOut returns the probability of each class at every label given all others, in
// the order of the labels; nil if there are too many labels to compute it.
func (c *Classification) LeaveOneOut() *mat.Dense {
	left := c.classifier.LeaveOneOut()
	if left == nil {
		return nil
	}
	given := mat.NewDense(left.RawMatrix().Rows, left.RawMatrix().Cols, nil)
	for k, r := range c.order {
		given.SetRow(r, left.RawRowView(k))
	}
	return given
}
