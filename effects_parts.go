package grfgp

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/gp"
	"grfgp/kernel"
)

// namedTerm is a term of a kernel that belongs to a part of the model.
type namedTerm struct {
	part   string
	kernel kernel.Kernel
	theta  []float64
}

// named returns the terms of the kernel by parts. Linear terms over both covariates
// and roles are divided, because they are sums over columns; smooth terms are not.
func (p *modelParts) named() []namedTerm {
	var all []namedTerm
	if p.graph != nil {
		all = append(all, namedTerm{"graph", p.graph, p.theta.graph})
	}
	if p.known == nil {
		return all
	}
	for k, l := range p.known.linear {
		for _, of := range []struct {
			part   string
			blocks []block
		}{{"covariates", p.known.blocks[:p.columns]}, {"roles", p.known.blocks[p.columns:]}} {
			var columns []*mat.Dense
			for _, b := range of.blocks {
				switch {
				case b.linear == l.of && b.in != nil:
					columns = append(columns, b.in)
				case b.linear == l.of:
					columns = append(columns, b.x)
				}
			}
			if len(columns) > 0 {
				x := beside(columns...)
				x.Scale(l.scale, x)
				all = append(all, namedTerm{of.part, kernel.Linear(x), p.theta.linear[k : k+1]})
			}
		}
	}
	together := "covariates with roles"
	switch p.terms & knownTerms {
	case covariateTerm:
		together = "covariates"
	case roleTerm:
		together = "roles"
	}
	all = append(all, namedTerm{together, p.known.smooth, p.theta.smooth})
	if p.near != nil {
		all = append(all, namedTerm{"graph × " + together, kernel.Product(p.near, p.known.smooth), p.theta.product})
	}
	return all
}

// shares computes the variance over nodes of the posterior mean of every part.
func (e *Effects) shares(ctx context.Context, m *Model, p *modelParts) error {
	t := m.of
	places := Places(t.graph, t.graph.Nodes(), t.spec.periods()-1)
	var names []string
	sums := map[string][]float64{}
	for _, term := range p.named() {
		k, theta := t.overTime(term.kernel), term.theta
		if t.spec.joint() {
			all := m.fitted.Theta()
			theta = slices.Concat(theta, all[len(all)-timeParams:])
		}
		cov, err := k.At(theta)
		if err != nil {
			return err
		}
		mean, err := m.posterior.TermMean(ctx, cov, places)
		if err != nil {
			return err
		}
		if sums[term.part] == nil {
			names, sums[term.part] = append(names, term.part), make([]float64, len(places))
		}
		for i, v := range mean {
			sums[term.part][i] += v
		}
	}
	for _, name := range names {
		e.Parts = append(e.Parts, Part{Name: name, Variance: varianceOf(sums[name])})
	}
	if m.fitted.Values() == gp.Gaussian {
		e.Parts = append(e.Parts, Part{Name: "noise", Variance: m.posterior.NoiseVar()})
	}
	total := 0.0
	for _, part := range e.Parts {
		total += part.Variance
	}
	for k := range e.Parts {
		if total > 0 {
			e.Parts[k].Share = e.Parts[k].Variance / total
		}
	}
	return nil
}

// varianceOf is the variance of numbers.
func varianceOf(x []float64) float64 {
	mean, sum := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sum += (v - mean) * (v - mean) / float64(len(x))
	}
	return sum
}
