package grfgp

import (
	"cmp"
	"context"
	"slices"

	"grfgp/kernel"
	"grfgp/walk"
)

// tryMore tries the best kernel of the graph with many scales and with a trend, and
// unusual kernels.
func (c *valueContest) tryMore(ctx context.Context, tryTrend bool) error {
	if len(c.scales) > 1 {
		if err := c.tryMany(ctx, c.best(every)); err != nil {
			return err
		}
	}
	if tryTrend { // added to the best kernel with one scale, and to the best with many
		for _, scales := range c.scales {
			below := c.best(func(a attempt) bool { return a.Scales == scales && !a.Trending() })
			e := below.Expression
			e.Trend = "degree"
			var starts []kernel.Theta
			for _, v := range []float64{1, 0.01} {
				starts = append(starts, append(kernel.Theta{{Path: "trend/variance", Number: v}}, below.theta...))
			}
			if err := c.tryFrom(ctx, e, starts...); err != nil {
				return err
			}
		}
	}
	if err := c.tryOpposite(ctx); err != nil {
		return err
	}
	return c.tryUneven(ctx)
}

// tryMany tries a kernel with many scales. With the same walks it contains the one with one scale: if it is less likely, learning has
// ended elsewhere, and begins again from that, with small coarser scales.
func (c *valueContest) tryMany(ctx context.Context, one attempt) error {
	e := one.Expression
	e.Scales = "many"
	e.Hops = c.fineHops(e, c.hops)
	made, err := c.kernel(ctx, e)
	if err != nil {
		return err
	}
	if err := c.tryFrom(ctx, e, c.manyStarts(e, made)...); err != nil {
		return err
	}
	last := &c.tried[len(c.tried)-1]
	if e.Hops != one.Hops || last.report.LogLikelihood >= one.report.LogLikelihood {
		return nil
	}
	var small kernel.Theta
	for _, p := range made.Params() {
		if p.Variance {
			small = append(small, kernel.Value{Path: p.Name, Number: smallScale})
		}
	}
	again, err := c.fit(ctx, e, []kernel.Theta{slices.Concat(one.theta, small)}, false, c.next(e))
	if err == nil && again.report.LogLikelihood > last.report.LogLikelihood {
		*last = again
	}
	return err
}

// manyStarts returns hyperparameters from which learning many scales starts: those of the kernel, and what was learned of it
// beside covariates or roles. Nil means those of the kernel alone.
func (c *valueContest) manyStarts(e Expression, made kernel.Kernel) (learned []kernel.Theta) {
	for _, a := range c.tried {
		alike := a.Expression
		alike.Terms, alike.Pairs = e.Terms, e.Pairs
		if a.Terms.Has(GraphTerm) && a.Terms != GraphTerm && alike == e {
			learned = append(learned, a.theta)
		}
	}
	if learned != nil {
		learned = append(learned, startsOf(made)...)
	}
	return learned
}

// smallScale is the variance, beside that of the data, of coarser scales that are added to a learned kernel.
const smallScale = 0.03

// opensOpposite reports whether kernels are tried under which neighbours may differ.
func (c *valueContest) opensOpposite() bool {
	return c.spec.Family == "" && !c.spec.Unit() && c.spec.Laplacian != "raw"
}

// tryOpposite tries kernels under which neighbours may differ: diffusion on the
// signless Laplacian, and free coefficients, the kernel of the paper. Free
// coefficients start from those of the best diffusion kernel, from the same with
// alternating signs (neighbours differ), and from its even terms (neighbours are
// uncorrelated). Many scales are added to the kernel that wins with one scale.
func (c *valueContest) tryOpposite(ctx context.Context) error {
	if !c.opensOpposite() {
		return nil
	}
	for _, scales := range c.scales {
		usual := c.best(func(a attempt) bool { return a.Scales == scales }).Expression
		usual.Nu = 0
		won := func(e Expression) bool { // with one scale, if that was tried
			return scales == "one" || len(c.scales) == 1 || c.best(func(a attempt) bool { return !a.Many() }).Alike(e)
		}
		signless := usual
		signless.Family, signless.Laplacian = usualFamily, "signless"
		if c.spec.Laplacian == "" && won(signless) {
			if err := c.tryUnusual(ctx, signless); err != nil {
				return err
			}
		}
		for _, f := range kernel.Families() {
			e := usual
			e.Family, e.Laplacian, e.Hops = f.Name, cmp.Or(c.spec.Laplacian, normalized), c.freeHops()
			if f.Apart == nil || !won(e) {
				continue
			}
			if err := c.tryUnusual(ctx, e, c.apartStarts(f, e)...); err != nil {
				return err
			}
		}
	}
	return nil
}

// tryUnusual tries a kernel that seldom wins, from the starts of its family or from those given.
func (c *valueContest) tryUnusual(ctx context.Context, e Expression, starts ...kernel.Theta) error {
	inOrder := starts == nil
	if inOrder {
		starts = c.familyStarts(e)
	}
	return c.addUnusual(c.fit(ctx, e, starts, inOrder && starts != nil, c.next(e)))
}

// freeHops is the longest walk that has a free coefficient.
func (c *valueContest) freeHops() int {
	if c.method == "grf" || c.method == "lowrank" {
		return c.hops
	}
	return cmp.Or(c.spec.Hops, walk.Default().MaxLen)
}

// usualCoeffs returns the coefficients of the diffusion kernel: as
// learned, if it was tried with one scale.
func (c *valueContest) usualCoeffs(hops int) []float64 {
	_, by := c.spec.modulation(Expression{Family: usualFamily})
	theta := kernel.Begin(by.Params())
	for _, a := range c.tried {
		if a.Family == usualFamily && a.Laplacian == normalized && !a.Many() {
			theta = kernel.Begin(by.Params(), a.theta.Under("graph"))
			theta[1] = min(theta[1], float64(c.freeHops())) // a larger β would put the coefficients beyond the longest walk
			break
		}
	}
	coeffs := make([]float64, hops+1)
	by.Coeffs(coeffs, theta)
	return coeffs
}

// apartStarts returns hyperparameters from which learning a kernel starts under which neighbours may differ; on coarser scales
// those of the best kernel of another family.
func (c *valueContest) apartStarts(f kernel.Family, e Expression) (all []kernel.Theta) {
	_, by := c.spec.modulation(e)
	var above kernel.Theta
	if e.Many() {
		above = c.best(func(a attempt) bool { return a.Many() && a.Family != e.Family }).theta
	}
	for _, theta := range f.Apart(c.usualCoeffs(e.Hops)) {
		all = append(all, append(kernel.ThetaOf(by.Params(), theta).In("graph"), above...))
	}
	return all
}

// tryUneven tries kernels of unit variance on graphs whose degrees differ, and
// kernels on the raw Laplacian if these graphs are small. On a tree the Matérn
// kernel with ν = 1 on the raw Laplacian is Brownian motion, whose posterior mean
// is harmonic interpolation.
func (c *valueContest) tryUneven(ctx context.Context) error {
	if !c.uneven() {
		return nil
	}
	better := c.best(every).Scales
	for _, scales := range c.scales {
		if c.spec.Laplacian == "" && c.spec.Family == "" && !c.spec.Unit() && c.method == "dense" {
			e := c.best(func(a attempt) bool { return a.Scales == scales }).Expression
			e.Family, e.Nu, e.Laplacian = "matern", 1, "raw"
			if err := c.tryUnusual(ctx, e); err != nil {
				return err
			}
		}
		if !c.opensUnit(c.method) || len(c.scales) > 1 && scales != better {
			continue
		}
		plain := c.best(func(a attempt) bool {
			return a.Scales == scales && !a.apart() && a.Laplacian == cmp.Or(c.spec.Laplacian, normalized)
		})
		variance, err := c.meanVariance(ctx, plain)
		if err != nil {
			return err
		}
		e, theta := plain.Expression, append(kernel.Theta{{Path: "graph/variance", Number: variance}}, plain.theta...)
		e.Variance = "unit"
		if err := c.tryUnusual(ctx, e, theta); err != nil {
			return err
		}
		if e.Trending() && c.spec.Trend == "" { // the trend may have replaced unit variance
			e.Trend = "none"
			if err := c.tryUnusual(ctx, e, theta); err != nil {
				return err
			}
		}
	}
	return nil
}

// apart reports whether neighbours may differ by the family of a kernel.
func (a attempt) apart() bool {
	f, _ := kernel.FamilyNamed(a.Family)
	return f.Apart != nil
}

// meanVariance returns the mean variance of the fine part of a fitted kernel at the measured nodes: s² of the same kernel with unit
// variance.
func (c *valueContest) meanVariance(ctx context.Context, a attempt) (float64, error) {
	c.mu.Lock()
	fine, err := c.fine(ctx, a.Expression)
	c.mu.Unlock()
	if err != nil {
		return 0, err
	}
	cov, err := fine.At(kernel.Begin(fine.Params(), a.theta.Under("graph")))
	if err != nil {
		return 0, err
	}
	nodes := NodesOf(c.graph, c.own.Nodes)
	variance := make([]float64, len(nodes))
	if err := cov.Diag(ctx, variance, nodes); err != nil {
		return 0, err
	}
	slices.Sort(variance) // the sum does not depend on the order of the measurements
	sum := 0.0
	for _, v := range variance {
		sum += v
	}
	return sum / float64(len(variance)), nil
}
