package crossval

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/gp"
)

// sharpness values of class probabilities from linear rules are tried in this order.
var sharpness = []float64{1, 2, 3, 4, 6, 8, 12, 16}

// Classify returns the class probabilities of the rule at nodes, a row per node. Rules of
// measurements predict 1 for labels of a class and 0 for others, class by class; label spreading is not
// computed here, but by package gp.
//
// The predictions s of linear rules become probabilities p_c ∝ exp(a·s_c). Their penalty has the smallest
// squared error, and the sharpness a the smallest NLL, on a held-out fifth of the labels.
func (b Baseline) Classify(ctx context.Context, in *Inputs, train gp.Labels, nodes []int) (*mat.Dense, error) {
	switch b {
	case ClassFrequencies:
		return classFrequencies(train, len(nodes)), nil
	case LeastSquares, SingularRidge:
		p, err := b.regressClasses(ctx, in, train, nodes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b, err)
		}
		return p, nil
	case Mean, Nearest, Harmonic, GraphRidge:
	default:
		return nil, fmt.Errorf("no baseline of labels is called %q", b)
	}
	p := mat.NewDense(len(nodes), train.Classes, nil)
	for class := range train.Classes {
		d := gp.Data{Nodes: train.Nodes, Y: make([]float64, train.Len())}
		for r, c := range train.Class {
			if c == class {
				d.Y[r] = 1
			}
		}
		all, err := b.Predict(ctx, in, d)
		if err != nil {
			return nil, err
		}
		for r, i := range nodes {
			p.Set(r, class, max(all[i], 1e-6)) // a graph ridge may be below 0
		}
	}
	for r := range nodes {
		row := p.RawRowView(r)
		sum := 0.0
		for _, v := range row {
			sum += v
		}
		for c := range row {
			row[c] /= sum
		}
	}
	return p, nil
}

// regressClasses is Classify of a linear rule.
func (b Baseline) regressClasses(ctx context.Context, in *Inputs, train gp.Labels, nodes []int) (*mat.Dense, error) {
	c, err := in.columns(ctx, b)
	if err != nil {
		return nil, err
	}
	y, weight := mat.NewDense(train.Len(), train.Classes, nil), make([]float64, train.Len())
	for r, class := range train.Class {
		y.Set(r, class, 1)
		weight[r] = 1
	}
	l, err := c.learn(ctx, train.Nodes, y, weight, true)
	if err != nil {
		return nil, err
	}
	best, least := sharpness[0], math.Inf(1)
	for _, a := range sharpness {
		nll := 0.0
		for at, r := range l.heldOut {
			nll -= math.Log(max(1e-300, softmax(l.predicted.RawRowView(at), a)[train.Class[r]]))
		}
		if l.heldOut != nil && nll < least {
			best, least = a, nll
		}
	}
	p := mat.NewDense(len(nodes), train.Classes, nil)
	for r, i := range nodes {
		p.SetRow(r, softmax(l.all.RawRowView(i), best))
	}
	return p, nil
}

// softmax returns p_c ∝ exp(a·s_c).
func softmax(s []float64, a float64) []float64 {
	p, most, sum := make([]float64, len(s)), math.Inf(-1), 0.0
	for _, v := range s {
		most = max(most, v)
	}
	for c, v := range s {
		p[c] = math.Exp(a * (v - most))
		sum += p[c]
	}
	for c := range p {
		p[c] /= sum
	}
	return p
}
