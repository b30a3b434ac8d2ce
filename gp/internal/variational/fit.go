// Package variational fits classifiers by a variational bound: a normal
// approximation of latent functions at inducing nodes, under the softmax or the
// RobustMax likelihood (Hensman et al., 2015). It reproduces the paper's classifiers;
// no choice of this module ever takes them by itself, for Dirichlet regression
// predicts better in less time.
//
// With values u = Lv at inducing nodes, K_zz = LLᵀ and q(v) = Π_c N(μ_c, Λ_c⁻¹), the
// bound on the log evidence is
//
//	Σ_i E_q[log p(y_i | f_i)] − KL(q ‖ N(0, I)).
//
// Natural gradients climb it by q, Adam by the hyperparameters.
package variational

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/gp/internal/adam"
	"grfgp/gp/internal/latent"
	"grfgp/kernel"
)

const (
	defaultInducing = 300
	defaultSteps    = 40
	naturalShare    = 0.5 // of the way to the natural target in one step
	settleSteps     = 8   // of q before hyperparameters are moved
	adamRate        = 0.05
	latentMeanVar   = 4 // of the unknown mean of a latent function
)

// Params are the transforms of hyperparameters to unbounded ones.
type Params interface {
	Free(theta []float64) []float64
	Natural(x []float64) []float64
	// Chain turns a gradient by natural parameters into one by free ones.
	Chain(grad, theta []float64)
	// Prior returns the log prior at x and adds its gradient.
	Prior(grad, x []float64) float64
}

// Problem is a set of labels, class Class[k] at node Nodes[k], and how they are
// modelled.
type Problem struct {
	Kernel      kernel.Kernel
	Nodes       []int
	Class       []int
	Classes     int
	Params      Params
	Robust      bool                // the RobustMax likelihood; else softmax
	Learn       bool                // hyperparameters too
	Inducing    int                 // nodes; 0 means 300
	Steps       int                 // of learning; 0 means 40
	Calibration *latent.Calibration // nil: found from the labels; not used by Robust
}

// Report says how a fit went.
type Report struct {
	Theta       []float64
	Bound       float64
	Evaluations int
	Converged   bool
	Calibration latent.Calibration
	LeaveOneOut *mat.Dense // the probability of each class at every label, taken out of q as if it were a normal measurement
}

// Fit climbs the bound from theta.
func Fit(ctx context.Context, p Problem, theta []float64) (*Classifier, Report, error) {
	r := Report{Theta: theta, Calibration: latent.Calibration{Temperature: 1, Spread: 1}}
	f := &fit{Problem: p, likelihood: newSoftmaxLikelihood(p.Classes)}
	if f.Steps == 0 {
		f.Steps = defaultSteps
	}
	if p.Robust {
		f.likelihood = newRobustMax()
	}
	size := p.Inducing
	if size == 0 {
		size = defaultInducing
	}
	var err error
	if f.at, err = f.choose(ctx, theta, min(size, len(p.Nodes))); err != nil {
		return nil, r, err
	}
	c, left, err := f.climb(ctx, &r)
	if err != nil {
		return nil, r, err
	}
	switch {
	case p.Robust:
	case p.Calibration != nil:
		r.Calibration = *p.Calibration
	default:
		r.Calibration = left.Calibrate(p.Class)
	}
	c.robust, c.calibration = p.Robust, r.Calibration
	r.LeaveOneOut = c.chances(left)
	return c, r, nil
}

// fit is the climb of the bound.
type fit struct {
	Problem
	likelihood classLikelihood
	at         []int // the labels whose nodes are inducing
}

// nodesOf returns the nodes of the given labels.
func (p *Problem) nodesOf(labels []int) []int {
	nodes := make([]int, len(labels))
	for q, k := range labels {
		nodes[q] = p.Nodes[k]
	}
	return nodes
}

// chooseFrom is the most labels that inducing nodes are chosen from.
const chooseFrom = 2000

// choose returns labels whose nodes tell the most about all others: one by one
// that with the largest variance given those before it.
func (f *fit) choose(ctx context.Context, theta []float64, size int) ([]int, error) {
	n := len(f.Nodes)
	from := make([]int, min(n, chooseFrom))
	for q := range from {
		from[q] = (2*q + 1) * n / (2 * len(from))
	}
	cov, err := f.Kernel.At(theta)
	if err != nil {
		return nil, err
	}
	k := mat.NewSymDense(len(from), nil)
	if err := cov.Gram(ctx, k, f.nodesOf(from)); err != nil {
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
		pivot := latent.Argmax(left)
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
func (f *fit) prepare(ctx context.Context, theta []float64) (z *inducing, a *mat.Dense, prior []float64, err error) {
	cov, err := f.Kernel.At(theta)
	if err != nil {
		return nil, nil, nil, err
	}
	cov = kernel.WithConstant(cov, latentMeanVar)
	if z, err = newInducing(ctx, cov, f.nodesOf(f.at)); err != nil {
		return nil, nil, nil, err
	}
	if a, err = z.project(ctx, f.Nodes); err != nil {
		return nil, nil, nil, err
	}
	prior = make([]float64, len(f.Nodes))
	return z, a, prior, cov.Diag(ctx, prior, f.Nodes)
}

// climb raises the bound, keeps the last q at the last theta, and returns the latent functions at every label without it.
func (f *fit) climb(ctx context.Context, r *Report) (c *Classifier, left latent.Functions, err error) {
	q, err := newVariational(len(f.at), f.Classes)
	if err != nil {
		return nil, left, err
	}
	z, a, prior, err := f.prepare(ctx, r.Theta)
	if err != nil {
		return nil, left, err
	}
	climb := adam.New(len(r.Theta))
	last := math.Inf(-1)
	for t := range f.Steps {
		b := newBound(q, a, prior, f.Class, f.likelihood)
		r.Bound = b.value
		r.Converged = math.Abs(b.value-last) < 1e-4*float64(len(f.Nodes))
		if r.Converged && !f.Learn {
			break
		}
		last = b.value
		// Hyperparameters rest at the end, so that q fits them.
		if f.Learn && t >= settleSteps && t < f.Steps-settleSteps {
			grad := make([]float64, len(r.Theta))
			if err := b.gradient(ctx, grad, q, z, a, f.Nodes, f.at); err != nil {
				return nil, left, err
			}
			x := f.Params.Free(r.Theta)
			f.Params.Chain(grad, r.Theta)
			f.Params.Prior(grad, x)
			climb.Step(x, grad, adamRate)
			r.Theta = f.Params.Natural(x)
			r.Evaluations++
			if z, a, prior, err = f.prepare(ctx, r.Theta); err != nil {
				return nil, left, err
			}
			b = newBound(q, a, prior, f.Class, f.likelihood)
		}
		if q, err = q.step(a, b, naturalShare); err != nil {
			return nil, left, err
		}
	}
	left = newBound(q, a, prior, f.Class, f.likelihood).leaveOneOut()
	return &Classifier{inducing: z, q: q, nodes: f.Kernel.Nodes()}, left, nil
}
