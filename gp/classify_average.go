package gp

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/gp/internal/latent"
	"grfgp/progress"
)

// averaged is the weighted mean of two classifiers.
type averaged struct {
	first, second classPosterior
	weight        float64 // of the second
}

// AverageClassifiers returns the weighted mean of two classifiers of the same labels, and the weight of the second: that under
// which labels have the highest probability given the others, with a prior that counts like one label for each
// classifier. It is a half where every class has one label, as nothing decides between them then. Score and Accuracy of
// the report become those of the mean. Draws vary as those of the first. If a classifier knows no leave-one-out
// probabilities, and they could decide, the result is the first with weight 0.
func AverageClassifiers(first, second *Classifier, l Labels, r *ClassifyReport) (*Classifier, float64) {
	a, b, class := first.leaveOneOut, second.leaveOneOut, scoredClasses(l.Class, l.Classes)
	of := &averaged{first.of, second.of, 0.5}
	c := &Classifier{of: of, classes: l.Classes}
	if a == nil || b == nil {
		if latent.Scored(class) > 0 {
			return first, 0
		}
		return c, of.weight
	}
	of.weight = averageWeight(a, b, class)
	c.leaveOneOut = of.mean(a, b)
	r.score(c.leaveOneOut, class)
	return c, of.weight
}

// averageWeight returns the w with the highest Σ log((1−w)·a + w·b) + log w + log(1−w), over the classes that are scored.
func averageWeight(a, b *mat.Dense, class []int) float64 {
	lo, hi := 0.0, 1.0
	for range 40 { // the sum is concave
		w := (lo + hi) / 2
		slope := 1/w - 1/(1-w)
		for k, c := range class {
			if c == latent.Unscored {
				continue
			}
			p, q := a.At(k, c), b.At(k, c)
			slope += (q - p) / math.Max((1-w)*p+w*q, 1e-300)
		}
		if slope > 0 {
			lo = w
		} else {
			hi = w
		}
	}
	return (lo + hi) / 2
}

// mean returns the weighted mean of two matrices.
func (c *averaged) mean(a, b *mat.Dense) *mat.Dense {
	var out, more mat.Dense
	out.Scale(1-c.weight, a)
	more.Scale(c.weight, b)
	out.Add(&out, &more)
	return &out
}

func (c *averaged) Probabilities(ctx context.Context, nodes []int, w *progress.Work) (*mat.Dense, error) {
	a, err := c.first.Probabilities(ctx, nodes, w)
	if err != nil {
		return nil, err
	}
	b, err := c.second.Probabilities(ctx, nodes, nil)
	if err != nil {
		return nil, err
	}
	return c.mean(a, b), nil
}

func (c *averaged) Sample(ctx context.Context, nodes []int, draws int, seed uint64, w *progress.Work) ([]*mat.Dense, error) {
	all, err := c.first.Sample(ctx, nodes, draws, seed, w)
	if err != nil {
		return nil, err
	}
	b, err := c.second.Probabilities(ctx, nodes, nil)
	if err != nil {
		return nil, err
	}
	for s, one := range all {
		all[s] = c.mean(one, b)
	}
	return all, nil
}
