package gp

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel"
)

const (
	inducingNodes   = 300
	variationalStep = 40
	naturalShare    = 0.5 // of the way to the natural target in one step
	settleSteps     = 8   // of q before hyperparameters are moved
	variationalRate = 0.05
	latentMeanVar   = 4 // of the unknown mean of a latent function
)

// classifyVariationally fits Variational or RobustMax: natural gradients for q,
// and Adam for the hyperparameters, which start from the Dirichlet fit. With more
// labels than Exact takes they stay there.
func classifyVariationally(ctx context.Context, k kernel.Kernel, l Labels, opts ClassifyOptions) (Classifier, ClassifyReport, error) {
	r := ClassifyReport{ClassState: ClassState{Method: opts.Method, Solver: opts.Solver, Calibration: asIs}}
	if opts.State != nil {
		r.Theta, r.Converged = slices.Clone(opts.State.Theta), true
		r.Calibration = opts.State.Calibration
	} else {
		first := opts
		first.Method, first.Sketch = Dirichlet, true
		_, start, err := classifyByRegression(ctx, k, l, first)
		if err != nil {
			return nil, r, err
		}
		r.Theta, r.Evaluations = start.Theta, start.Evaluations
		_, scale := newDirichlet(k, l, nil)
		for j, p := range k.Params() {
			if p.Variance { // from standardised units to those of log odds
				r.Theta[j] *= scale * scale / (start.Temperature * start.Temperature)
			}
		}
	}
	p, _, err := newParams(k, nil, true)
	if err != nil {
		return nil, r, err
	}
	f := &variationalFit{kernel: k, labels: l, params: p, learn: opts.State == nil && opts.Solver == Exact}
	f.steps = opts.Steps
	if f.steps == 0 {
		f.steps = variationalStep
	}
	if f.likelihood = newSoftmaxLikelihood(l.Classes); opts.Method == RobustMax {
		f.likelihood = newRobustMax()
	}
	size := opts.Inducing
	if size == 0 {
		size = inducingNodes
	}
	if f.at, err = f.choose(ctx, r.Theta, min(size, l.Len())); err != nil {
		return nil, r, err
	}
	c, err := f.climb(ctx, &r)
	if err != nil {
		return nil, r, err
	}
	if c.robust = opts.Method == RobustMax; c.robust {
		r.Calibration = asIs
	} else if opts.State == nil {
		r.Calibration = c.left.calibrate(l.Class)
	}
	c.calibration = r.Calibration
	c.leftOut = c.chances(c.left)
	r.score(c.leftOut, l.Class)
	return c, r, nil
}

// variationalFit is the climb of the bound.
type variationalFit struct {
	kernel     kernel.Kernel
	labels     Labels
	params     *params
	likelihood classLikelihood
	at         []int // of the labels: those whose nodes are inducing
	steps      int
	learn      bool // hyperparameters
}

// chooseFrom is the most labels that inducing nodes are chosen from.
const chooseFrom = 2000

// choose returns labels whose nodes tell the most about all others: one by one
// that with the largest variance given those before it.
func (f *variationalFit) choose(ctx context.Context, theta []float64, size int) ([]int, error) {
	n := f.labels.Len()
	from := make([]int, min(n, chooseFrom))
	for q := range from {
		from[q] = (2*q + 1) * n / (2 * len(from))
	}
	cov, err := f.kernel.At(theta)
	if err != nil {
		return nil, err
	}
	k := mat.NewSymDense(len(from), nil)
	if err := cov.Gram(ctx, k, f.labels.pick(from).Nodes); err != nil {
		return nil, err
	}
	left, top := make([]float64, len(from)), 0.0
	for i := range left {
		left[i] = k.At(i, i)
		top = max(top, left[i])
	}
	rows := mat.NewDense(size, len(from), nil) // of the pivoted factor
	var chosen []int
	for m := range min(size, len(from)) {
		pivot := argmax(left)
		if left[pivot] <= 1e-6*top {
			break // the others follow from these
		}
		row, root := rows.RawRowView(m), math.Sqrt(left[pivot])
		for i := range row {
			row[i] = k.At(pivot, i)
		}
		for p := range m {
			earlier := rows.RawRowView(p)
			w := earlier[pivot]
			for i, v := range earlier {
				row[i] -= w * v
			}
		}
		for i := range row {
			row[i] /= root
			left[i] = max(0, left[i]-row[i]*row[i])
		}
		left[pivot] = 0
		chosen = append(chosen, from[pivot])
	}
	slices.Sort(chosen)
	return chosen, nil
}

// prepare returns the inducing nodes at theta, the projection of the labels and
// their prior variance.
func (f *variationalFit) prepare(ctx context.Context, theta []float64) (z *inducing, a *mat.Dense, prior []float64, err error) {
	cov, err := f.kernel.At(theta)
	if err != nil {
		return nil, nil, nil, err
	}
	cov = kernel.WithConstant(cov, latentMeanVar)
	if z, err = newInducing(ctx, cov, f.labels.pick(f.at).Nodes); err != nil {
		return nil, nil, nil, err
	}
	if a, err = z.project(ctx, f.labels.Nodes); err != nil {
		return nil, nil, nil, err
	}
	prior = make([]float64, f.labels.Len())
	return z, a, prior, cov.Diag(ctx, prior, f.labels.Nodes)
}

// climb raises the bound, and keeps the last q at the last theta.
func (f *variationalFit) climb(ctx context.Context, r *ClassifyReport) (*variationalClassifier, error) {
	q, err := newVariational(len(f.at), f.labels.Classes)
	if err != nil {
		return nil, err
	}
	z, a, prior, err := f.prepare(ctx, r.Theta)
	if err != nil {
		return nil, err
	}
	adam := newAdam(len(r.Theta))
	last := math.Inf(-1)
	for t := range f.steps {
		b := newBound(q, a, prior, f.labels.Class, f.likelihood)
		r.LogLikelihood = b.value
		r.Converged = math.Abs(b.value-last) < 1e-4*float64(f.labels.Len())
		if r.Converged && !f.learn {
			break
		}
		last = b.value
		// Hyperparameters rest at the end, so that q fits them.
		if f.learn && t >= settleSteps && t < f.steps-settleSteps {
			grad := make([]float64, len(r.Theta))
			if err := b.gradient(ctx, grad, q, z, a, f.labels.Nodes, f.at); err != nil {
				return nil, err
			}
			x := f.params.free(r.Theta)
			f.params.chain(grad, r.Theta)
			f.params.prior(grad, x)
			adam.step(x, grad, variationalRate)
			r.Theta = f.params.natural(x)
			r.Evaluations++
			if z, a, prior, err = f.prepare(ctx, r.Theta); err != nil {
				return nil, err
			}
			b = newBound(q, a, prior, f.labels.Class, f.likelihood)
		}
		if q, err = q.step(a, b, naturalShare); err != nil {
			return nil, err
		}
	}
	left := newBound(q, a, prior, f.labels.Class, f.likelihood).leaveOneOut()
	return &variationalClassifier{inducing: z, q: q, nodes: f.kernel.Nodes(), left: left}, nil
}
