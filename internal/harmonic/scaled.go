package harmonic

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/space"
)

// scaled is a network as conjugate gradients see it, with rows and columns divided
// by the roots of its diagonal. Weights may differ by many decades; without this
// the residual would be that of the largest alone.
type scaled struct {
	*network
	by []float64 // diagonal^-½
}

func newScaled(n *network) scaled {
	by := n.diagonal()
	for i, d := range by {
		by[i] = 1 / math.Sqrt(d)
	}
	return scaled{n, by}
}

// Dims implements solve.Operator.
func (s scaled) Dims() (r, c int) { return len(s.by), len(s.by) }

// Apply implements solve.Operator.
func (s scaled) Apply(_ context.Context, dst, x *mat.Dense) error {
	rows, cols := x.Dims()
	out, in := dst.RawMatrix(), x.RawMatrix()
	parallel.Ranges(rows, networkRows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to, weight := s.row(i)
			for c := range cols {
				own := s.by[i] * in.Data[i*in.Stride+c]
				sum := s.ground[i] * own
				for k, j := range to {
					sum += weight[k] * (own - s.by[j]*in.Data[int(j)*in.Stride+c])
				}
				out.Data[i*out.Stride+c] = s.by[i] * sum
			}
		}
	})
	return nil
}

// scaledCycle is a cycle of the network, scaled alike.
type scaledCycle struct {
	*cycle
	by []float64
}

// Apply implements solve.Preconditioner.
func (s scaledCycle) Apply(dst, r space.Block) { s.apply(space.DenseOf(dst), space.DenseOf(r)) }

func (s scaledCycle) apply(dst, r *mat.Dense) {
	rows, cols := r.Dims()
	top := s.levels[0]
	for c := range cols {
		for i := range rows {
			top.b[i] = r.At(i, c) / s.by[i]
		}
		s.visit(0)
		for i := range rows {
			dst.Set(i, c, top.x[i]/s.by[i])
		}
	}
}
