package grfgp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"grfgp/gp"
	"grfgp/kernel"
	"grfgp/solve"
	"grfgp/walk"
)

// candidate is a kernel that the Spec leaves open.
type candidate struct {
	family
	many  bool // scales
	unit  bool // the same variance at every node
	trend bool // with the degree
	hops  int  // of the finest scale
}

func (c candidate) String() string {
	s := c.name
	if c.unit {
		s += ", unit variance"
	}
	if c.many {
		s += ", many scales"
	}
	if c.trend {
		s += ", trend"
	}
	return s
}

// starts are length scales from two to a hundred hops, to be tried by likelihood;
// nil leaves it to the kernel.
func (c candidate) starts() [][]float64 {
	if c.many || c.family.family != "diffusion" && c.family.family != "matern" {
		return nil
	}
	var all [][]float64
	for _, scale := range []float64{2, 8, 32, 128} {
		if _, ok := c.modulation.(kernel.Matern); ok {
			scale /= 2
		}
		start := []float64{1, scale}
		if c.trend {
			start = append(start, 1)
		}
		all = append(all, start)
	}
	return all
}

// attempt is a candidate and its fit.
type attempt struct {
	candidate
	model   *gp.Model
	report  gp.FitReport
	unusual bool
}

// unusualOdds are the nats by which an unusual kernel must be likelier: odds of
// twenty to one against it. Measurements may not tell it from a usual one at all. On
// a ring of which every other node is measured, "neighbours differ" and
// "neighbours are alike" are equally likely, and say the opposite of the others.
const unusualOdds = 3

// worth is what kernels are compared by: the likelihood, less one nat for every
// hyperparameter that was free to raise it (Akaike), less the odds against unusual
// ones.
func (a attempt) worth() float64 {
	v := a.report.LogLikelihood - float64(len(a.report.Theta))
	if a.unusual {
		v -= unusualOdds
	}
	return v
}

func likeliest(tried []attempt) attempt {
	return slices.MaxFunc(tried, func(a, b attempt) int { return cmp.Compare(a.worth(), b.worth()) })
}

const (
	// sketchFrom is the number of measurements from which candidates are compared
	// by a sample of them.
	sketchFrom   = 1500
	sketchSample = 1700
	// glanceFrom is the number from which an unusual kernel is first fitted to a
	// small sample, and to all only if it promises to win.
	glanceFrom   = 500
	glanceSample = 400
)

// contest tries kernels on one set of measurements.
type contest struct {
	*Trainer
	own    gp.Data
	method string
	hops   int
	opts   gp.FitOptions
	tried  []attempt
}

// train tries the kernels that the Spec leaves and keeps the likeliest. The Model is
// not conditioned on measurements yet.
func (t *Trainer) train(ctx context.Context, own gp.Data) (*Model, error) {
	method, hops, why := t.decide(own.Len(), t.spec.Variance == "unit")
	scales, whyScales, err := t.decideScales(ctx, own.Nodes, method, hops)
	if err != nil {
		return nil, err
	}
	trend, tryTrend, whyTrend, err := t.decideTrend(method)
	if err != nil {
		return nil, err
	}
	opts, err := t.fitOptions()
	if err != nil {
		return nil, err
	}
	c := &contest{Trainer: t, own: own, method: method, hops: hops, opts: opts}
	families := t.spec.families(hops)
	unit := t.spec.Variance == "unit"
	open := t.spec.Family == "" || c.opensUnit() && t.uneven()
	if (len(families)*len(scales) > 1 || tryTrend || open) && own.Len() > sketchFrom {
		c.opts.Subsample = sketchSample
	}
	for _, f := range families {
		for _, many := range scales {
			k := candidate{f, many, unit, trend, t.fineHops(many, method, hops)}
			if err := c.try(ctx, k, k.starts()); err != nil {
				return nil, err
			}
		}
	}
	if tryTrend { // on top of the best on one scale, and of the best on many
		for _, many := range scales {
			below := c.best(func(a attempt) bool { return a.many == many && !a.trend })
			k, theta := below.candidate, below.model.Theta()
			k.trend = true
			if err := c.try(ctx, k, [][]float64{append(theta, 1), append(slices.Clone(theta), 0.01)}); err != nil {
				return nil, err
			}
		}
	}
	if err := c.tryOpposite(ctx, scales); err != nil {
		return nil, err
	}
	if err := c.tryUneven(ctx, scales); err != nil {
		return nil, err
	}
	best := likeliest(c.tried)
	sketch := c.opts.Subsample > 0
	if (method == "series" || method == "dense") && !sketch {
		if best, err = t.confirm(ctx, own, c.tried); err != nil {
			return nil, err
		}
	}
	whyBest := reason(best, c.tried, sketch)
	m := &Model{of: t, fitted: best.model, choice: Choice{Method: method, Why: append(why, whyScales, whyTrend), Fit: best.report}}
	m.choose(best.candidate, c.tried, whyBest)
	t.forget(best.candidate)
	if sketch {
		if m.fitted, m.choice.Fit, err = t.retrain(ctx, own, m.spec, m.fitted.Theta()); err != nil {
			return nil, err
		}
	}
	short, err := t.shortfall(best.candidate, method, m.fitted.Theta())
	m.choice.Why = append(append(m.choice.Why, short...), solved(m.choice.Fit, own.Len()))
	return m, err
}

// fit fits one candidate.
func (c *contest) fit(ctx context.Context, k candidate, opts gp.FitOptions) (attempt, error) {
	made, err := c.kernel(ctx, k, c.method)
	if err != nil {
		return attempt{}, err
	}
	fitted, report, err := gp.Fit(ctx, made, c.own, opts)
	return attempt{candidate: k, model: fitted, report: report}, err
}

// try fits a candidate and remembers it.
func (c *contest) try(ctx context.Context, k candidate, starts [][]float64) error {
	return c.tryAs(ctx, k, starts, false)
}

func (c *contest) tryAs(ctx context.Context, k candidate, starts [][]float64, unusual bool) error {
	opts := c.opts
	opts.Starts = starts
	a, err := c.fit(ctx, k, opts)
	a.unusual = unusual
	if err == nil {
		c.tried = append(c.tried, a)
	}
	return err
}

// best returns the likeliest of some that were tried.
func (c *contest) best(of func(a attempt) bool) attempt {
	return likeliest(slices.DeleteFunc(slices.Clone(c.tried), func(a attempt) bool { return !of(a) }))
}

// tryUnusual tries a kernel that seldom wins against the one that it would take the
// place of. Where measurements are many, both are first fitted to a sample of
// them, and the candidate to all only if its gain there, in proportion, is worth
// its hyperparameters and its odds.
func (c *contest) tryUnusual(ctx context.Context, k candidate, starts [][]float64, against attempt) error {
	err := c.glanceAndTry(ctx, k, starts, against)
	if errors.Is(err, solve.ErrNotPositiveDefinite) {
		return nil // the usual kernels stand
	}
	return err
}

func (c *contest) glanceAndTry(ctx context.Context, k candidate, starts [][]float64, against attempt) error {
	if c.opts.Subsample == 0 && c.own.Len() > glanceFrom {
		opts := c.opts
		opts.Subsample, opts.Starts = glanceSample, starts
		glance, err := c.fit(ctx, k, opts)
		if err != nil {
			return err
		}
		opts.Starts = [][]float64{against.model.Theta()}
		usual, err := c.fit(ctx, against.candidate, opts)
		if err != nil {
			return err
		}
		gain := (glance.report.LogLikelihood - usual.report.LogLikelihood) * float64(c.own.Len()) / glanceSample
		if gain < float64(len(glance.report.Theta)-len(usual.report.Theta))+unusualOdds {
			return nil
		}
		starts = [][]float64{glance.model.Theta()}
	}
	return c.tryAs(ctx, k, starts, true)
}

// tryOpposite tries kernels under which neighbours differ: diffusion on the signless
// Laplacian, and free coefficients, the paper's own kernel. These start from the
// shape of the best diffusion kernel, from the same with changing signs, under
// which neighbours differ, and from its even part, under which they are unrelated.
// Many scales are tried on top of what wins on one.
func (c *contest) tryOpposite(ctx context.Context, scales []bool) error {
	if c.spec.Family != "" || c.spec.Variance == "unit" || c.spec.Laplacian == "raw" {
		return nil
	}
	free := Spec{Family: "free", Laplacian: c.spec.Laplacian}.families(c.freeHops())[0]
	signless := Spec{Family: "diffusion", Laplacian: "signless"}.families(c.hops)[0]
	won := func(f family) bool { // on one scale, where that was tried
		return len(scales) == 1 || c.best(func(a attempt) bool { return !a.many }).name == f.name
	}
	for _, many := range scales {
		usual := c.best(func(a attempt) bool { return a.many == many })
		if c.spec.Laplacian == "" && (!many || won(signless)) {
			k := candidate{signless, many, false, usual.trend, usual.hops}
			if err := c.tryUnusual(ctx, k, k.starts(), usual); err != nil {
				return err
			}
		}
		if !many || won(free) {
			k := candidate{free, many, false, usual.trend, c.freeHops()}
			if err := c.tryUnusual(ctx, k, c.freeStarts(k), usual); err != nil {
				return err
			}
		}
	}
	return nil
}

// freeHops is the longest walk with a coefficient of its own.
func (c *contest) freeHops() int {
	if c.method == "grf" || c.method == "lowrank" {
		return c.hops
	}
	return cmp.Or(c.spec.Hops, walk.Default().MaxLen)
}

// diffusionOnOneScale returns variance and β of the diffusion kernel, as learned if
// it was tried on one scale.
func (c *contest) diffusionOnOneScale() []float64 {
	for _, a := range c.tried {
		if a.family.family == "diffusion" && a.laplacian == normalized && !a.many {
			theta := a.model.Theta()
			return []float64{theta[0], min(theta[1], float64(c.freeHops()))} // or the shape lies beyond the hops
		}
	}
	return []float64{1, 4}
}

// freeStarts are starts of a free kernel.
func (c *contest) freeStarts(k candidate) [][]float64 {
	shape := make([]float64, k.hops+1)
	kernel.Diffusion{}.Coeffs(shape, c.diffusionOnOneScale())
	changing, even := slices.Clone(shape), slices.Clone(shape)
	for l := range shape {
		if l%2 == 1 {
			changing[l], even[l] = -changing[l], 0
		}
	}
	var all [][]float64
	for _, f := range [][]float64{shape, changing, even} {
		if k.many { // the coarser part of the best kernel that has two fine parameters
			usual := c.best(func(a attempt) bool { return a.many && a.family.family != "free" }).model.Theta()
			f = append(slices.Clone(f), usual[2:]...)
		} else if k.trend {
			f = append(slices.Clone(f), 1)
		}
		all = append(all, f)
	}
	return all
}

// uneven reports whether degrees differ enough that a kernel whose variance goes
// with them is another than one whose variance does not.
func (t *Trainer) uneven() bool { return t.degree().spread >= spreadLeast }

// tryUneven tries, on graphs whose degrees differ, kernels of unit variance and, on
// small ones, the raw Laplacian: on a tree its Matérn kernel with ν = 1 is
// Brownian motion, whose posterior mean is harmonic interpolation.
func (c *contest) tryUneven(ctx context.Context, scales []bool) error {
	if !c.uneven() {
		return nil
	}
	for _, many := range scales {
		usual := c.best(func(a attempt) bool { return a.many == many })
		if c.spec.Laplacian == "" && c.spec.Family == "" && c.spec.Variance != "unit" && c.method == "dense" {
			raw := Spec{Family: "matern", Nu: 1, Laplacian: "raw"}.families(c.hops)[0]
			k := candidate{raw, many, false, usual.trend, usual.hops}
			if err := c.tryUnusual(ctx, k, k.starts(), usual); err != nil {
				return err
			}
		}
		if c.opensUnit() {
			plain := c.best(func(a attempt) bool {
				return a.many == many && a.family.family != "free" && a.laplacian == cmp.Or(c.spec.Laplacian, normalized)
			})
			k, theta := plain.candidate, plain.model.Theta()
			k.unit = true
			if err := c.tryUnusual(ctx, k, [][]float64{theta}, usual); err != nil {
				return err
			}
			if k.trend && c.spec.Trend == "" { // which may have stood in for it
				k.trend = false
				if err := c.tryUnusual(ctx, k, [][]float64{theta[:len(theta)-1]}, usual); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// opensUnit reports whether unit variance is to be tried. By a series it takes the
// diagonal at all nodes for every prediction, so on graphs where that is dearer than
// an evaluation of the likelihood may be it is not.
func (c *contest) opensUnit() bool {
	return c.spec.Variance == "" && c.spec.Family != "free" && c.method != "lowrank" &&
		(c.method != "series" || c.diagonalFlops() <= seriesFlops)
}

// reason says why the best of several is that.
func reason(best attempt, tried []attempt, sketch bool) string {
	by := ""
	if sketch {
		by = " on a sample of the measurements"
	}
	if first := likeliest(tried); first.String() != best.String() {
		return fmt.Sprintf("%v was chosen: %v has a higher marginal likelihood, but predicts held-out measurements no better at the distances of the unmeasured nodes", best, first)
	}
	return fmt.Sprintf("%v has the highest marginal likelihood of the %d kernels tried%s, after a penalty of one nat per hyperparameter and three more for an unusual one (unit variance, free coefficients, raw or signless Laplacian)", best, len(tried), by)
}

// choose fills in what was chosen, and why.
func (m *Model) choose(c candidate, tried []attempt, why string) {
	m.spec = m.of.spec.filled(c, m.choice.Method)
	m.choice.Family, m.choice.Scales, m.choice.Variance, m.choice.Trend, m.choice.Hops = c.name, m.spec.Scales, m.spec.Variance, m.spec.Trend, m.spec.Hops
	for _, a := range tried {
		m.choice.Candidates = append(m.choice.Candidates, TriedKernel{a.String(), a.report.LogLikelihood, a.report.LOOScore})
	}
	if len(tried) > 1 {
		m.choice.Why = append(m.choice.Why, why)
	}
}
