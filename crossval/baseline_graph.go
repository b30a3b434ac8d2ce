package crossval

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/gp"
	"grfgp/graph"
	"grfgp/solve"
	"grfgp/space"
	"grfgp/sparse"
)

// smoothness values of graph ridge are tried from the largest to the smallest.
var smoothness = []float64{100, 30, 10, 3, 1, 0.3, 0.1, 0.03}

// graphRidge is GraphRidge at every node.
func graphRidge(ctx context.Context, g *graph.Graph, d gp.Data) ([]float64, error) {
	p := newPenalised(g)
	lambda := 1.0
	if in, out := fifth(d.Nodes); len(in) > 0 && len(out) > 0 {
		train, test := d.Select(in), d.Select(out)
		least := math.Inf(1)
		f := mat.NewDense(g.Len(), 1, nil)
		for _, try := range smoothness {
			all, err := p.solve(ctx, train, try, f)
			if err != nil {
				return nil, err
			}
			sum := 0.0
			for r, i := range test.Nodes {
				sum += countOf(test, r) * (all[i] - test.Y[r]) * (all[i] - test.Y[r])
			}
			if sum < least {
				lambda, least = try, sum
			}
		}
	}
	return p.solve(ctx, d, lambda, mat.NewDense(g.Len(), 1, nil))
}

// penalised is the normalised Laplacian of a graph as a penalty.
type penalised struct {
	w       *sparse.CSR // D^-½AD^-½
	diag    []float64   // of the Laplacian
	lambda  float64
	maxIter int
}

func newPenalised(g *graph.Graph) *penalised {
	p := &penalised{w: g.Normalized(graph.NormalizedAdjacency), diag: make([]float64, g.Len())}
	for i := range p.diag {
		p.diag[i] = 1 - p.w.At(i, i)
	}
	// Within about 10⁹ multiplications for each value of λ.
	p.maxIter = max(50, min(1000, 1_000_000_000/max(1, p.w.NNZ())))
	return p
}

// Dims and Apply make λ·L an operator.
func (p *penalised) Dims() (int, int) { return p.w.Dims() }

// Apply is part of solve.Operator.
func (p *penalised) Apply(_ context.Context, dst, x *mat.Dense) error {
	p.w.Mul(dst, x)
	out, in := dst.RawMatrix(), x.RawMatrix()
	for i := range out.Rows {
		row := out.Data[i*out.Stride:][:out.Cols]
		for c, v := range in.Data[i*in.Stride:][:out.Cols] {
			row[c] = p.lambda * (v - row[c])
		}
	}
	return nil
}

// solve minimises Σ n (f_i + m − y)² + λ fᵀL f, where m is the mean of the measurements. f holds the
// start, and then the solution.
func (p *penalised) solve(ctx context.Context, d gp.Data, lambda float64, f *mat.Dense) ([]float64, error) {
	n, _ := p.w.Dims()
	p.lambda = lambda
	count, right := make([]float64, n), mat.NewDense(n, 1, nil)
	mean := meanOf(d)
	for r, i := range d.Nodes {
		c := countOf(d, r)
		count[i] += c
		right.Set(i, 0, right.At(i, 0)+c*(d.Y[r]-mean))
	}
	diag := make([]float64, n)
	for i := range diag {
		// An isolated node without a measurement has no equation: its solution stays 0.
		if diag[i] = lambda*p.diag[i] + count[i]; diag[i] <= 0 {
			diag[i] = 1
		}
	}
	jacobi, err := solve.NewJacobi(space.Host(), space.Rows(n), diag)
	if err != nil {
		return nil, fmt.Errorf("graph ridge: %w", err)
	}
	defer jacobi.Free()
	opts := solve.Options{Tol: 1e-6, MaxIter: p.maxIter}
	if _, err := solve.CG(ctx, f, p, count, right, jacobi, opts); err != nil && !errors.Is(err, solve.ErrNotConverged) {
		return nil, fmt.Errorf("graph ridge: %w", err)
	}
	all := make([]float64, n)
	for i := range all {
		all[i] = mean + f.At(i, 0)
	}
	return all, nil
}

// countOf returns the number of measurements that a value is the mean of, or the
// exposure of a rate.
func countOf(d gp.Data, r int) float64 {
	if d.Exposure != nil || d.Count == nil {
		return weightOf(d, r)
	}
	return float64(d.Count[r])
}
