package gp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/gp/internal/latent"
	"grfgp/internal/gpu"
	"grfgp/internal/rng"
	"grfgp/kernel"
	"grfgp/plan"
	"grfgp/progress"
	"grfgp/space"
)

// normalClassifier has a normal posterior for the latent function of each class,
// independent of the others, by regression.
type normalClassifier struct {
	*regressions
	theta       []float64
	cov         kernel.Covariance // with the unknown mean
	scale       float64           // of latent functions: standardised to as they are
	calibration Calibration
	exact       *classFactor // nil with the iterative solver
	alpha       *mat.Dense   // H_c⁻¹y_c, a column per class
	leaveOneOut *mat.Dense   // in the order of the labels as given; nil unless exact
	card        *Card        // nil: none
	hold        *hold
	limits      *plan.Limits
}

// classifyByRegression fits Dirichlet or OneVsAll.
func classifyByRegression(ctx context.Context, k kernel.Kernel, l Labels, opts ClassifyOptions) (*Classifier, ClassifyReport, error) {
	r := ClassifyReport{ClassState: ClassState{Method: opts.Method, Solver: opts.Solver}}
	p, starts, err := newParams(k, opts.Starts, opts.Method == Dirichlet)
	if err != nil {
		return nil, r, err
	}
	t := &tuner{kernel: k, labels: l, params: p, method: opts.Method, solver: opts.Solver, seed: opts.Seed, card: opts.Device,
		limits: opts.Limits}
	if opts.State != nil {
		if len(opts.State.Theta) != len(p.list) {
			return nil, r, fmt.Errorf("%d values for %d parameters", len(opts.State.Theta), len(p.list))
		}
		r.ClassState, r.Converged = *opts.State, true
		c, err := t.condition(ctx, l, r.Theta, r.Calibration)
		if err != nil {
			return nil, r, err
		}
		if c.leaveOneOut != nil {
			r.score(c.leaveOneOut, scoredClasses(l.Class, l.Classes))
		}
		return c.classifier(), r, nil
	}
	if opts.Near != nil && len(opts.Near.Theta) != len(p.list) {
		return nil, r, fmt.Errorf("%d values for %d parameters", len(opts.Near.Theta), len(p.list))
	}
	learn, finish := t.costs(starts, opts)
	t.count = newEvaluations(opts.Progress.Part(learn, finish), len(starts), opts.MaxIter)
	t.count.expect(t.tests())
	switch {
	case opts.Near != nil && opts.Keep:
		return t.keep(ctx, opts.Near, r)
	case opts.Near != nil:
		err = t.continueFrom(ctx, opts.Near, opts.MaxIter, opts.Tol, &r)
	default:
		err = t.learn(ctx, starts, len(opts.Starts) == 1, opts.MaxIter, opts.Tol, &r)
	}
	if err != nil || opts.ScoreOnly {
		return nil, r, err
	}
	opts.Progress.Part(finish, 0)
	c, err := t.finish(ctx, &r)
	if err != nil {
		return nil, r, err
	}
	opts.Progress.Done()
	return c.classifier(), r, nil
}

// keep returns the classifier at the hyperparameters of an earlier report, or at those that the likelihood led to there,
// whichever score higher, and the report, of the method and the solver of own.
func (t *tuner) keep(ctx context.Context, near *ClassifyReport, own ClassifyReport) (*Classifier, ClassifyReport, error) {
	var best *normalClassifier
	r := own
	for _, theta := range [][]float64{near.Theta, near.likely} {
		if theta == nil {
			continue
		}
		trial := *near
		trial.Method, trial.Solver, trial.Theta, trial.Names = own.Method, own.Solver, slices.Clone(theta), nil
		c, err := t.finish(ctx, &trial)
		if err != nil {
			return nil, own, err
		}
		if best == nil || trial.Score > r.Score {
			best, r = c, trial
		}
	}
	return best.classifier(), r, nil
}

func (c *normalClassifier) classifier() *Classifier {
	return &Classifier{c, c.classes(), c.leaveOneOut}
}

// newRegressions returns the regressions of a method, and the scale of their
// latent functions.
func newRegressions(m ClassMethod, k kernel.Kernel, l Labels, p *params) (*regressions, float64) {
	own, other, scale := side{target: 1}, side{target: -1}, 1.0 // the noise is one for all, so classes share their factor
	if m == Dirichlet {
		own, other, scale = dirichletSides(l.Classes)
	}
	order, begin := l.byClass()
	return &regressions{k, l.Select(order).Nodes, begin, own, other, 1, p}, scale
}

// newClassifier returns the classifier at theta without its solver.
func (t *tuner) newClassifier(l Labels, theta []float64, k Calibration) *normalClassifier {
	c := &normalClassifier{theta: slices.Clone(theta), calibration: k, card: t.card, limits: t.limits, hold: new(hold)}
	c.regressions, c.scale = newRegressions(t.method, t.kernel, l, t.params)
	return c
}

// condition returns the classifier at theta given labels.
func (t *tuner) condition(ctx context.Context, l Labels, theta []float64, k Calibration) (*normalClassifier, error) {
	c := t.newClassifier(l, theta, k)
	if t.solver == Exact {
		f, err := c.factor(ctx, theta)
		if err != nil {
			return nil, err
		}
		c.use(f, f.leaveOneOut().Scaled(c.scale), l)
		return c, nil
	}
	var err error
	if c.cov, err = c.covariance(theta); err != nil {
		return nil, err
	}
	c.alpha = mat.NewDense(l.Len(), l.Classes, nil)
	return c, c.compute(ctx, "conditioned", func(s *stage) error { return c.solve(ctx, s, c.alpha, c.targets(), 1, forMeans) })
}

// compute calls do with the kernel at the labels on the card, if it can be there, and, if not or if the card fails, in the memory
// of this process.
func (c *normalClassifier) compute(ctx context.Context, what string, do func(s *stage) error) error {
	device := c.card.Use()
	if device != nil && (c.classes() > gpu.MaxColumns || c.exact != nil && !c.card.Must) {
		device = nil
	}
	own, _ := c.params.split(c.theta)
	of := setting{c.kernel, own, c.cov, c.meanVar, c.nodes}
	at := func(in space.Space, h *hold) error { return of.on(ctx, in, h, true, do) }
	if done, err := c.card.try(ctx, device, what, at); done || err != nil {
		return err
	}
	return at(space.Host(), c.hold)
}

// solve sets dst = H_c⁻¹b for blocks with the given number of columns per class, class by class.
func (c *normalClassifier) solve(ctx context.Context, s *stage, dst, b *mat.Dense, columns int, a accuracy) error {
	if c.exact != nil {
		return c.exact.solve(ctx, dst, b, columns)
	}
	classes := c.classes()
	if s.sys == nil {
		own, other := c.sides(c.theta)
		noise := slices.Repeat([]float64{other.noise}, len(c.nodes)*classes)
		for q := range classes {
			lo, hi := c.members(q)
			for k := lo; k < hi; k++ {
				noise[k*classes+q] = own.noise
			}
		}
		var err error
		if s.sys, err = newStackedSystem(ctx, s.parts[0], classes, noise, other.noise); err != nil {
			return err
		}
	}
	return s.sys.solveDense(ctx, stacked(dst, columns), stacked(b, columns), a)
}

// stacked views an n×(C·k) matrix as (n·C)×k.
func stacked(x *mat.Dense, columns int) *mat.Dense {
	raw := x.RawMatrix()
	return mat.NewDense(raw.Rows*raw.Cols/columns, columns, raw.Data)
}

// use makes f the solver, where left are the latent functions at the labels, each
// without itself.
func (c *normalClassifier) use(f *classFactor, left latent.Functions, l Labels) {
	c.cov, c.exact, c.alpha = f.cov, f, f.alpha
	p := mat.NewDense(l.Len(), l.Classes, nil)
	left.Probabilities(p, latent.Calibration(c.calibration))
	c.leaveOneOut = mat.NewDense(l.Len(), l.Classes, nil)
	order, _ := l.byClass()
	for at, label := range order {
		copy(c.leaveOneOut.RawRowView(label), p.RawRowView(at))
	}
}

func (c *normalClassifier) Probabilities(ctx context.Context, nodes []int, w *progress.Work) (*mat.Dense, error) {
	f, err := c.latents(ctx, nodes, w.Part(1, 0.1))
	if err != nil {
		return nil, err
	}
	w.Part(1, 0)
	p := mat.NewDense(len(nodes), c.classes(), nil)
	f.Probabilities(p, latent.Calibration(c.calibration))
	return p, nil
}

// latents returns the posterior at the nodes: exact where that is affordable,
// else the exact mean and a variance from draws.
func (c *normalClassifier) latents(ctx context.Context, nodes []int, w *progress.Work) (latent.Functions, error) {
	if c.exact != nil {
		_, others := c.exact.labelled(nodes)
		m := len(others)
		if c.limits.Or().ExactVariance(m, len(c.nodes), plan.ClassProducts, kernel.DiagFlops(c.cov, m)) {
			f, err := c.exact.predict(ctx, nodes, w)
			if err != nil {
				return latent.Functions{}, err
			}
			return f.Scaled(c.scale), nil
		}
	}
	mean, err := c.mean(ctx, nodes)
	if err != nil {
		return latent.Functions{}, err
	}
	variance, err := c.drawnVariance(ctx, nodes, mean, w)
	if err != nil {
		return latent.Functions{}, err
	}
	return latent.Functions{Mean: mean, Variance: variance}.Scaled(c.scale), nil
}

// mean returns the posterior mean of all classes, standardised.
func (c *normalClassifier) mean(ctx context.Context, nodes []int) (mean *mat.Dense, err error) {
	err = c.compute(ctx, "predicted", func(s *stage) error {
		mean = mat.NewDense(len(nodes), c.classes(), nil)
		return s.view(ctx, wholeList(nodes), func(v *view) error {
			w := v.of.Zero(c.classes())
			defer w.Free()
			if err := v.settle(ctx, w, c.alpha); err != nil {
				return err
			}
			return v.fill(ctx, mean, w)
		})
	})
	return mean, err
}

// drawnVariance returns the mean square of draws about the mean. Classes differ
// only in the noise of their labels, so they share one variance per node, with a
// relative standard error of √(2/64) ≈ 18 %.
func (c *normalClassifier) drawnVariance(ctx context.Context, nodes []int, mean *mat.Dense, w *progress.Work) (*mat.Dense, error) {
	classes := c.classes()
	draws := max(2, (plan.ClassDraws+classes-1)/classes)
	f, err := c.draw(ctx, nodes, draws, varianceSeed, w)
	if err != nil {
		return nil, err
	}
	variance := mat.NewDense(len(nodes), classes, nil)
	for i := range nodes {
		row, m, sum := f.RawRowView(i), mean.RawRowView(i), 0.0
		for q, v := range row {
			sum += (v - m[q/draws]) * (v - m[q/draws])
		}
		for k := range classes {
			variance.Set(i, k, sum/float64(len(row)))
		}
	}
	return variance, nil
}

// draw returns posterior draws of the latent functions at the nodes, one column
// per draw and class: prior draws g plus K_·x H⁻¹(y − g_x − ε).
func (c *normalClassifier) draw(ctx context.Context, nodes []int, draws int, seed uint64, w *progress.Work) (out *mat.Dense, err error) {
	drawn, added := w.Part(1, 3), (*progress.Work)(nil)
	err = c.compute(ctx, "predicted", func(s *stage) error {
		return s.view(ctx, wholeList(nodes), func(v *view) error {
			all, weights, err := c.conditioned(ctx, v, draws, seed, drawn)
			defer func() {
				for _, one := range all {
					one.Free()
				}
			}()
			if err != nil {
				return err
			}
			added = w.Part(1, 0) // solves count no steps
			out = mat.NewDense(len(nodes), c.classes()*draws, nil)
			for q, one := range all {
				added.Count(int64(q), int64(len(all)))
				if err := v.settle(ctx, one, columnsOf(weights, q*draws, (q+1)*draws)); err != nil {
					return err
				}
				if err := v.fill(ctx, columnsOf(out, q*draws, (q+1)*draws), one); err != nil {
					return err
				}
			}
			return nil
		})
	})
	return out, err
}

// conditioned returns prior draws of all classes, and H⁻¹(y − g_x − ε), class by class.
func (c *normalClassifier) conditioned(ctx context.Context, v *view, draws int, seed uint64, w *progress.Work) (all []kernel.Weights,
	weights *mat.Dense, err error) {
	classes, n, r := c.classes(), len(c.nodes), v.parts[0]
	rest := mat.NewDense(n, classes*draws, nil)
	own, other := c.sides(c.theta)
	y := c.targets()
	at := v.space.Block(r.axis, draws)
	defer at.Free()
	for q := range classes {
		w.Count(int64(q), int64(classes))
		one, err := v.of.Prior(ctx, draws, 0, uint64(rng.Derive(seed, fmt.Sprintf("class %d", q))))
		if err != nil {
			return all, nil, err
		}
		all = append(all, one)
		if err := r.root.Here(ctx, at, v.of, one, false); err != nil {
			return all, nil, err
		}
		g := numbersOf(at)
		lo, hi := c.members(q)
		for d := range draws {
			normal := rand.New(rng.New(seed, "label noise", uint64(q), uint64(d)))
			for k := range c.nodes {
				noise := other.noise
				if lo <= k && k < hi {
					noise = own.noise
				}
				rest.Set(k, q*draws+d, y.At(k, q)-g.At(k, d)-math.Sqrt(noise)*normal.NormFloat64())
			}
		}
	}
	if err := v.space.Err(); err != nil {
		return all, nil, err
	}
	weights = mat.NewDense(n, classes*draws, nil)
	return all, weights, c.solve(ctx, v.stage, weights, rest, draws, forSamples)
}

// columnsOf returns the columns [lo, hi) of x.
func columnsOf(x *mat.Dense, lo, hi int) *mat.Dense {
	n, _ := x.Dims()
	return x.Slice(0, n, lo, hi).(*mat.Dense)
}

// Sample returns the softmax of pathwise draws, calibrated.
func (c *normalClassifier) Sample(ctx context.Context, nodes []int, draws int, seed uint64, w *progress.Work) ([]*mat.Dense, error) {
	f, err := c.draw(ctx, nodes, draws, seed, w)
	if err != nil {
		return nil, err
	}
	mean, err := c.mean(ctx, nodes)
	if err != nil {
		return nil, err
	}
	return latent.Calibration(c.calibration).Draws(f, mean, draws, c.scale), nil
}
