package kerneltest

import (
	"context"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/rng"
	"grfgp/kernel"
	"grfgp/solve"
)

// TestRun: the plainest kernel there is, K = aBBᵀ + bI with B fixed, passes.
func TestRun(t *testing.T) { Run(t, plain{}, Options{}) }

const plainNodes = 11

type plain struct{}

func (plain) Nodes() int { return plainNodes }

func (plain) Params() []kernel.Param {
	return []kernel.Param{
		{Name: "a", Start: 0.7, Positive: true, Variance: true},
		{Name: "b", Start: 0.2, Positive: true, Variance: true},
	}
}

func (plain) At(theta []float64) (kernel.Covariance, error) {
	if len(theta) != 2 {
		return nil, kernel.ErrTheta
	}
	for _, v := range theta {
		if !(v > 0 && v < 1e300) {
			return nil, kernel.ErrTheta
		}
	}
	var c plainCov
	var byA mat.Dense
	b := wave(plainNodes, plainNodes, 0)
	byA.Mul(b, b.T())
	c.slopes[0] = &byA
	c.slopes[1] = mat.NewDense(plainNodes, plainNodes, nil)
	for i := range plainNodes {
		c.slopes[1].Set(i, i, 1)
	}
	c.k = mat.NewSymDense(plainNodes, nil)
	for i := range plainNodes {
		for j := range i + 1 {
			c.k.SetSym(i, j, theta[0]*byA.At(i, j)+theta[1]*c.slopes[1].At(i, j))
		}
	}
	return c, nil
}

type plainCov struct {
	k      *mat.SymDense
	slopes [2]*mat.Dense
}

func (c plainCov) Cross(rows, cols []int) solve.Operator {
	return plainOp{pick(c.k, rows, cols)}
}

func (c plainCov) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	for a, i := range rows {
		for b, j := range rows {
			dst.SetSym(a, b, c.k.At(i, j))
		}
	}
	return ctx.Err()
}

func (c plainCov) Diag(ctx context.Context, dst []float64, rows []int) error {
	for a, i := range rows {
		dst[a] = c.k.At(i, i)
	}
	return ctx.Err()
}

func (c plainCov) Prior(ctx context.Context, dst *mat.Dense, seed uint64) error {
	var chol mat.Cholesky
	chol.Factorize(c.k)
	var l mat.TriDense
	chol.LTo(&l)
	_, columns := dst.Dims()
	for s := range columns {
		random := rand.New(rng.New(seed, "prior", uint64(s)))
		w := mat.NewVecDense(plainNodes, nil)
		for i := range plainNodes {
			w.SetVec(i, random.NormFloat64())
		}
		w.MulVec(&l, w)
		dst.SetCol(s, w.RawVector().Data)
	}
	return ctx.Err()
}

func (c plainCov) Grad(ctx context.Context, grad []float64, rows []int, u, w *mat.Dense) error {
	var g mat.Dense
	g.Mul(u, w.T())
	for j := range grad {
		sum, _ := inner(&g, pick(c.slopes[j], rows, rows))
		grad[j] += sum
	}
	return ctx.Err()
}

func (c plainCov) GramGrad(ctx context.Context, grad []float64, rows []int, g *mat.SymDense) error {
	for j := range grad {
		sum, _ := inner(g, pick(c.slopes[j], rows, rows))
		grad[j] += sum
	}
	return ctx.Err()
}

// pick returns m[rows, cols].
func pick(m mat.Matrix, rows, cols []int) *mat.Dense {
	part := mat.NewDense(len(rows), len(cols), nil)
	for a, i := range rows {
		for b, j := range cols {
			part.Set(a, b, m.At(i, j))
		}
	}
	return part
}

type plainOp struct{ *mat.Dense }

func (o plainOp) Apply(ctx context.Context, dst, x *mat.Dense) error {
	dst.Mul(o.Dense, x)
	return ctx.Err()
}

func (plainCov) Nodes() int { return plainNodes }
