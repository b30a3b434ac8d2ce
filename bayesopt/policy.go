package bayesopt

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// Policy is an acquisition policy: a rule that picks nodes. Pick takes up to n
// open candidates, calls Candidates.Take for each, and returns them in the order
// of the picks, with Node, Value and Why filled in. It returns fewer only if no
// candidate is open. The same arguments must give the same result.
//
// The zero value of every policy of this package is ready to use, except those
// with a field Graph.
type Policy interface {
	Pick(ctx context.Context, s Surrogate, c *Candidates, n int, seed uint64) ([]Suggestion, error)
}

// ModelFree is a Policy that looks at no predictions. No model is fitted for it,
// and of its Surrogate only Nodes and Measured may be used.
type ModelFree interface {
	Policy
	// ModelFree marks the policy; it does nothing.
	ModelFree()
}

// Surrogate is the model that a policy sees: the posterior distribution of the
// quantity at all nodes. A *gp.Posterior is one.
type Surrogate interface {
	// Nodes returns the number of nodes.
	Nodes() int
	// Measured returns the nodes of all measurements, in their order, followed by
	// pending nodes that are treated as measured.
	Measured() []int
	// NoiseVar returns the noise variance of one more measurement.
	NoiseVar() float64
	// Mean returns the posterior mean at nodes.
	Mean(ctx context.Context, nodes []int) ([]float64, error)
	// Variance returns the posterior variance at nodes, without noise.
	Variance(ctx context.Context, nodes []int) ([]float64, error)
	// Covariance returns the posterior covariance between nodes.
	Covariance(ctx context.Context, rows, cols []int) (*mat.Dense, error)
	// Sample returns joint posterior draws at nodes, one per column.
	Sample(ctx context.Context, nodes []int, draws int, seed uint64) (*mat.Dense, error)
}

// unmodelled is a Surrogate without predictions.
type unmodelled struct {
	nodes    int
	measured []int
}

func (u unmodelled) Nodes() int        { return u.nodes }
func (u unmodelled) Measured() []int   { return u.measured }
func (u unmodelled) NoiseVar() float64 { return 0 }
func (u unmodelled) Mean(context.Context, []int) ([]float64, error) {
	return nil, ErrNoModel
}
func (u unmodelled) Variance(context.Context, []int) ([]float64, error) {
	return nil, ErrNoModel
}
func (u unmodelled) Covariance(context.Context, []int, []int) (*mat.Dense, error) {
	return nil, ErrNoModel
}
func (u unmodelled) Sample(context.Context, []int, int, uint64) (*mat.Dense, error) {
	return nil, ErrNoModel
}
