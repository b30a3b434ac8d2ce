package variational

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"grfgp/gp/internal/latent"
	"grfgp/internal/parallel"
	"grfgp/internal/rng"
	"grfgp/plan"
	"grfgp/progress"
)

// Classifier has a variational posterior at inducing nodes. It is immutable and
// safe for concurrent use.
type Classifier struct {
	inducing *inducing
	q        *variational
	robust   bool // likelihood
	nodes    int  // of the graph

	calibration latent.Calibration
}

// Probabilities returns the probability of each class, a row per node.
func (c *Classifier) Probabilities(ctx context.Context, nodes []int, w *progress.Work) (*mat.Dense, error) {
	p := mat.NewDense(len(nodes), c.classes(), nil)
	size := plan.Default().Held(len(c.inducing.nodes))
	for lo := 0; lo < len(nodes); lo += size {
		w.Count(int64(lo), int64(len(nodes)))
		hi := min(len(nodes), lo+size)
		part := p.Slice(lo, hi, 0, c.classes()).(*mat.Dense)
		if err := c.probabilities(ctx, part, nodes[lo:hi]); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (c *Classifier) classes() int { return len(c.q.precision) }

func (c *Classifier) probabilities(ctx context.Context, p *mat.Dense, nodes []int) error {
	a, err := c.inducing.project(ctx, nodes)
	if err != nil {
		return err
	}
	prior := make([]float64, len(nodes))
	if err := c.inducing.cov.Diag(ctx, prior, nodes); err != nil {
		return err
	}
	p.Copy(c.chances(c.q.marginals(a, prior)))
	return nil
}

// chances returns the chance of each class under latent functions.
func (c *Classifier) chances(f latent.Functions) *mat.Dense {
	n, classes := f.Mean.Dims()
	p := mat.NewDense(n, classes, nil)
	if !c.robust {
		f.Probabilities(p, c.calibration)
		return p
	}
	l := newRobustMax()
	parallel.Ranges(n, latent.BlockRows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			l.predict(p.RawRowView(i), f.Mean.RawRowView(i), f.Variance.RawRowView(i))
		}
	})
	return p
}

// Sample draws latent functions by Matheron's rule at the inducing nodes, a prior
// draw g plus K_·z L⁻ᵀ(v − L⁻¹g_z) with v from q.
func (c *Classifier) Sample(ctx context.Context, nodes []int, draws int, seed uint64, _ *progress.Work) ([]*mat.Dense, error) {
	f, err := c.draw(ctx, nodes, draws, seed)
	if err != nil {
		return nil, err
	}
	a, err := c.inducing.project(ctx, nodes)
	if err != nil {
		return nil, err
	}
	mean := mat.NewDense(len(nodes), c.classes(), nil)
	mean.Mul(a.T(), c.q.mean)
	all := c.calibration.Draws(f, mean, draws, 1)
	if !c.robust {
		return all, nil
	}
	for _, p := range all { // the largest wins
		for i := range nodes {
			row := p.RawRowView(i)
			best := latent.Argmax(row)
			for k := range row {
				if row[k] = robustError / float64(len(row)-1); k == best {
					row[k] = 1 - robustError
				}
			}
		}
	}
	return all, nil
}

func (c *Classifier) draw(ctx context.Context, nodes []int, draws int, seed uint64) (*mat.Dense, error) {
	z := c.inducing
	classes, size := c.classes(), len(z.nodes)
	out, weights := mat.NewDense(len(nodes), classes*draws, nil), mat.NewDense(size, classes*draws, nil)
	prior := mat.NewDense(c.nodes, draws, nil)
	for k := range classes {
		if err := z.cov.Prior(ctx, prior, uint64(rng.Derive(seed, fmt.Sprintf("class %d", k)))); err != nil {
			return nil, err
		}
		for r, i := range nodes {
			copy(out.RawRowView(r)[k*draws:], prior.RawRowView(i))
		}
		white := mat.NewDense(size, draws, nil)
		for a, i := range z.nodes {
			copy(white.RawRowView(a), prior.RawRowView(i))
		}
		z.solve(blas.NoTrans, white)
		noise := mat.NewDense(size, draws, nil)
		for s := range draws {
			normal := rand.New(rng.New(seed, "variational", uint64(k), uint64(s)))
			for i := range size {
				noise.Set(i, s, normal.NormFloat64())
			}
		}
		c.q.colour(k, noise)
		for i := range size {
			for s := range draws {
				weights.Set(i, k*draws+s, c.q.mean.At(i, k)+noise.At(i, s)-white.At(i, s))
			}
		}
	}
	z.solve(blas.Trans, weights)
	update := mat.NewDense(len(nodes), classes*draws, nil)
	if err := z.cov.Cross(nodes, z.nodes).Apply(ctx, update, weights); err != nil {
		return nil, err
	}
	out.Add(out, update)
	return out, nil
}

// colour makes draws from N(0, Λ⁻¹) of standard normal ones: a symmetric root is
// not needed, F⁻ᵀ of Λ = FFᵀ does.
func (q *variational) colour(class int, x *mat.Dense) {
	var chol mat.Cholesky
	if !chol.Factorize(q.lambda[class]) {
		panic("gp: a precision that was factored before has no factor")
	}
	var l mat.TriDense
	chol.LTo(&l)
	blas64.Trsm(blas.Left, blas.Trans, 1, l.RawTriangular(), x.RawMatrix())
}
