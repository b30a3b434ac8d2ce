package grfgp

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"grfgp/gp"
	"grfgp/kernel"
	"grfgp/kernel/covariates"
)

// namedTerm is a term of a kernel that belongs to a part of the model.
type namedTerm struct {
	part   string
	kernel kernel.Kernel
	theta  []float64 // without time
}

// named returns the terms of the kernel by parts. Linear terms over both covariates
// and roles are divided, because they are sums over columns; smooth terms are not.
func (p *modelParts) named() []namedTerm {
	var all []namedTerm
	if p.graph != nil {
		all = append(all, namedTerm{"graph", p.graph, kernel.Begin(p.graph.Params(), p.theta)})
	}
	if p.known == nil {
		return all
	}
	for _, l := range p.known.Linear {
		for _, of := range []struct {
			part   string
			blocks []covariates.Block
		}{{"covariates", p.known.Blocks[:p.columns]}, {"roles", p.known.Blocks[p.columns:]}} {
			var columns []*mat.Dense
			for _, b := range of.blocks {
				if b.Kind == l.Kind {
					columns = append(columns, b.Linear())
				}
			}
			if len(columns) > 0 {
				x := covariates.Beside(columns...)
				x.Scale(l.Scale, x)
				all = append(all, namedTerm{of.part, kernel.Linear(x), p.thetaOf(l.Kernel, p.known.Path)})
			}
		}
	}
	together := bothKnown
	switch p.Terms & knownTerms {
	case CovariateTerm:
		together = "covariates"
	case RoleTerm:
		together = "roles"
	}
	all = append(all, namedTerm{together, p.known.Smooth, p.thetaOf(p.known.Smooth, p.known.Path)})
	if p.near != nil {
		k := kernel.Product(p.near, p.known.Smooth)
		all = append(all, namedTerm{"graph × " + together, k, p.thetaOf(k, "product")})
	}
	return all
}

// bothKnown names the smooth function of covariates and roles together.
const bothKnown = "covariates with roles"

// Nodes over which parts vary where a smooth function is divided, and nodes over which
// it is averaged.
const (
	dividedNodes    = 256
	dividedAverages = 24
)

// shares computes the variance over nodes of the posterior mean of every part.
func (p *modelParts) shares(ctx context.Context, m *Model, e *Effects) error {
	t := m.of
	nodes := t.graph.Nodes()
	divided := p.Terms.Has(knownTerms)
	if divided {
		nodes = evenly(len(nodes), dividedNodes)
	}
	places := Places(t.graph, nodes, t.when.Periods()-1)
	var names []string
	sums := map[string][]float64{}
	add := func(part string, mean []float64) {
		if sums[part] == nil {
			names, sums[part] = append(names, part), make([]float64, len(places))
		}
		for i, v := range mean {
			sums[part][i] += v
		}
	}
	for _, term := range p.named() {
		k := t.when.OverTime(term.kernel)
		cov, err := k.At(kernel.Begin(k.Params(), kernel.ThetaOf(term.kernel.Params(), term.theta), p.theta))
		if err != nil {
			return err
		}
		mean, err := m.posterior.TermMean(ctx, cov, places)
		if err != nil {
			return err
		}
		if term.part != bothKnown {
			add(term.part, mean)
			continue
		}
		columns, err := p.averaged(ctx, m, nodes, true)
		if err != nil {
			return err
		}
		roles, err := p.averaged(ctx, m, nodes, false)
		if err != nil {
			return err
		}
		for i := range mean {
			mean[i] -= columns[i] + roles[i]
		}
		add("covariates", columns)
		add("roles", roles)
		add("covariates × roles", mean)
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

// averaged returns, for each of the nodes, the posterior mean of the smooth function of
// covariates and roles at the covariates of the node (of columns) or at its roles, with
// the mean over what other nodes have of the rest.
func (p *modelParts) averaged(ctx context.Context, m *Model, nodes []int, ofColumns bool) ([]float64, error) {
	const atOnce = 32
	others := evenly(m.of.graph.Len(), dividedAverages)
	var out []float64
	for lo := 0; lo < len(nodes); lo += atOnce {
		some := nodes[lo:min(len(nodes), lo+atOnce)]
		var rows [][2]int
		average := mat.NewDense(len(some)*len(others), len(some), nil)
		for k, node := range some {
			for _, other := range others {
				average.Set(len(rows), k, 1/float64(len(others)))
				if ofColumns {
					rows = append(rows, [2]int{node, other})
				} else {
					rows = append(rows, [2]int{other, node})
				}
			}
		}
		cov, err := p.known.SmoothOn(p.mixed(rows)).At(p.thetaOf(p.known.Smooth, p.known.Path))
		if err != nil {
			return nil, err
		}
		cross := mat.NewDense(len(p.nodes), len(some), nil)
		if err := cov.Cross(ints(0, len(p.nodes)), ints(len(p.nodes), len(p.nodes)+len(rows))).Apply(ctx, cross, average); err != nil {
			return nil, err
		}
		for i, w := range p.inTime {
			row := cross.RawRowView(i)
			for k := range row {
				row[k] *= w
			}
		}
		mean, _, err := m.posterior.Functionals(ctx, cross, nil)
		if err != nil {
			return nil, err
		}
		out = append(out, mean...)
	}
	return out, nil
}

// mixed returns the columns of the smooth terms at the measured nodes, and then with the
// covariates of one node and the roles of another.
func (p *modelParts) mixed(rows [][2]int) *mat.Dense {
	width := p.known.Width()
	x := mat.NewDense(len(p.nodes)+len(rows), width, nil)
	for i := range len(p.nodes) + len(rows) {
		to := x.RawRowView(i)
		for b, block := range p.known.Blocks {
			node := 0
			switch {
			case i < len(p.nodes):
				node = p.nodes[i]
			case b < p.columns:
				node = rows[i-len(p.nodes)][0]
			default:
				node = rows[i-len(p.nodes)][1]
			}
			to = to[copy(to, block.X.RawRowView(node)):]
		}
	}
	return x
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
