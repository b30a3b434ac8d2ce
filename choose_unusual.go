package grfgp

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"grfgp/kernel"
	"grfgp/solve"
	"grfgp/walk"
)

// tryUnusual tries a kernel that seldom wins. If its covariance is not positive
// definite to rounding, the usual kernels remain.
func (c *contest) tryUnusual(ctx context.Context, k candidate, starts [][]float64) error {
	err := c.tryAs(ctx, k, starts, true)
	if errors.Is(err, solve.ErrNotPositiveDefinite) {
		return nil
	}
	return err
}

// tryOpposite tries kernels under which neighbours may differ: diffusion on the
// signless Laplacian, and free coefficients, the kernel of the paper. Free
// coefficients start from those of the best diffusion kernel, from the same with
// alternating signs (neighbours differ), and from its even terms (neighbours are
// uncorrelated). Many scales are added to the kernel that wins with one scale.
func (c *contest) tryOpposite(ctx context.Context, scales []bool) error {
	if c.spec.Family != "" || c.spec.Variance == "unit" || c.spec.Laplacian == "raw" {
		return nil
	}
	var apart []family
	for _, f := range kernel.Families() {
		if f.Apart != nil {
			apart = append(apart, Spec{Family: f.Name, Laplacian: c.spec.Laplacian}.families(c.freeHops())...)
		}
	}
	signless := Spec{Family: usualFamily, Laplacian: "signless"}.families(c.hops)[0]
	won := func(f family) bool { // with one scale, if that was tried
		return len(scales) == 1 || c.best(func(a attempt) bool { return !a.many }).name == f.name
	}
	for _, many := range scales {
		usual := c.best(func(a attempt) bool { return a.many == many })
		if c.spec.Laplacian == "" && (!many || won(signless)) {
			k := candidate{signless, many, false, usual.trend, usual.hops, graphTerm, 0}
			if err := c.tryUnusual(ctx, k, k.starts()); err != nil {
				return err
			}
		}
		for _, f := range apart {
			if !many || won(f) {
				k := candidate{f, many, false, usual.trend, c.freeHops(), graphTerm, 0}
				if err := c.tryUnusual(ctx, k, c.apartStarts(k)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// freeHops is the longest walk that has a free coefficient.
func (c *contest) freeHops() int {
	if c.method == "grf" || c.method == "lowrank" {
		return c.hops
	}
	return cmp.Or(c.spec.Hops, walk.Default().MaxLen)
}

// usualFamily is the family that says how reach falls where another has nothing to go by.
const usualFamily = "diffusion"

// diffusionOnOneScale returns the variance and β of the diffusion kernel: as
// learned, if it was tried with one scale.
func (c *contest) diffusionOnOneScale() []float64 {
	for _, a := range c.tried {
		if a.Name == usualFamily && a.laplacian == normalized && !a.many {
			theta := a.model.Theta()
			return []float64{theta[0], min(theta[1], float64(c.freeHops()))} // a larger β would put the coefficients beyond the longest walk
		}
	}
	return []float64{1, 4}
}

// apartStarts returns hyperparameters from which learning a kernel starts by which neighbours may differ.
func (c *contest) apartStarts(k candidate) [][]float64 {
	shape := make([]float64, k.hops+1)
	kernel.Diffusion{}.Coeffs(shape, c.diffusionOnOneScale())
	var all [][]float64
	for _, f := range k.Apart(shape) {
		if k.many { // the coarse hyperparameters of the best kernel whose fine part has two
			usual := c.inSpace(c.best(func(a attempt) bool { return a.many && a.Name != k.Name }).model.Theta())
			f = append(slices.Clone(f), usual[2:]...)
		} else if k.trend {
			f = append(slices.Clone(f), 1)
		}
		all = append(all, f)
	}
	return all
}

// uneven reports whether degrees differ so much that a kernel whose variance
// depends on the degree differs from one whose variance does not.
func (t *Trainer) uneven() bool { return t.degree().spread >= spreadLeast }

// tryUneven tries kernels of unit variance on graphs whose degrees differ, and
// kernels on the raw Laplacian if these graphs are small. On a tree the Matérn
// kernel with ν = 1 on the raw Laplacian is Brownian motion, whose posterior mean
// is harmonic interpolation.
func (c *contest) tryUneven(ctx context.Context, scales []bool) error {
	if !c.uneven() {
		return nil
	}
	better := c.best(func(attempt) bool { return true }).many
	for _, many := range scales {
		usual := c.best(func(a attempt) bool { return a.many == many })
		if c.spec.Laplacian == "" && c.spec.Family == "" && c.spec.Variance != "unit" && c.method == "dense" {
			raw := Spec{Family: "matern", Nu: 1, Laplacian: "raw"}.families(c.hops)[0]
			k := candidate{raw, many, false, usual.trend, usual.hops, graphTerm, 0}
			if err := c.tryUnusual(ctx, k, k.starts()); err != nil {
				return err
			}
		}
		if c.opensUnit() && (len(scales) == 1 || many == better) {
			plain := c.best(func(a attempt) bool {
				return a.many == many && a.Apart == nil && a.laplacian == cmp.Or(c.spec.Laplacian, normalized)
			})
			k, theta := plain.candidate, c.inSpace(plain.model.Theta())
			k.unit = true
			var err error
			if theta, err = c.evened(ctx, plain.candidate, theta); err != nil {
				return err
			}
			if err := c.tryUnusual(ctx, k, [][]float64{theta}); err != nil {
				return err
			}
			if k.trend && c.spec.Trend == "" { // the trend may have replaced unit variance
				k.trend = false
				if err := c.tryUnusual(ctx, k, [][]float64{theta[:len(theta)-1]}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// evened returns hyperparameters of a kernel as those of the same kernel with unit variance: s² is the mean variance of
// its fine part at the measured nodes.
func (c *contest) evened(ctx context.Context, k candidate, theta []float64) ([]float64, error) {
	c.mu.Lock()
	fine, err := c.fine(ctx, k.family, c.method, k.hops)
	c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	cov, err := fine.At(theta[:len(fine.Params())])
	if err != nil {
		return nil, err
	}
	nodes := NodesOf(c.graph, c.own.Nodes)
	variance := make([]float64, len(nodes))
	if err := cov.Diag(ctx, variance, nodes); err != nil {
		return nil, err
	}
	slices.Sort(variance) // the sum does not depend on the order of the measurements
	sum := 0.0
	for _, v := range variance {
		sum += v
	}
	return append([]float64{sum / float64(len(variance))}, theta[1:]...), nil
}

// opensUnit reports whether unit variance is tried. With a series every prediction
// then needs the diagonal at all nodes, so it is not tried on graphs where that
// costs more than seriesFlops.
func (c *contest) opensUnit() bool {
	return c.spec.Variance == "" && c.spec.scaled() && c.method != "lowrank" &&
		(c.method != "series" || c.diagonalFlops() <= seriesFlops)
}
