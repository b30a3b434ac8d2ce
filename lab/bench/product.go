package bench

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
)

// Multiplied is a timed product of a grid's matrix with a block of vectors.
type Multiplied struct {
	Rows         int     `json:"rows"`
	RightSides   int     `json:"right_sides"`
	Seconds      float64 `json:"seconds"`
	NanosPerNNZ  float64 `json:"nanoseconds_per_non_zero"`
	BytesPerSec  float64 `json:"bytes_per_second"` // matrix, x and dst once each
	ShareOfTriad float64 `json:"share_of_triad"`
}

// Product times D^-½AD^-½·X on an ordered side×side grid for several widths.
func Product(ctx context.Context, limits Limits, side int) ([]Multiplied, error) {
	g, err := graph.Grid(side, side)
	if err != nil {
		return nil, err
	}
	w := g.Normalized(graph.NormalizedAdjacency)
	n := g.Len()
	var all []Multiplied
	for _, k := range []int{1, 4, 16, 64} {
		x, dst := mat.NewDense(n, k, nil), mat.NewDense(n, k, nil)
		for i := range x.RawMatrix().Data {
			x.RawMatrix().Data[i] = float64(i % 7)
		}
		m := Multiplied{Rows: n, RightSides: k}
		m.Seconds, err = quickest(ctx, func() error { w.Mul(dst, x); return nil })
		if err != nil {
			return nil, err
		}
		bytes := 12*w.NNZ() + 8*(n+1) + 2*8*n*k
		m.NanosPerNNZ = m.Seconds * 1e9 / float64(w.NNZ())
		m.BytesPerSec = float64(bytes) / m.Seconds
		m.ShareOfTriad = m.BytesPerSec / limits.Triad
		all = append(all, m)
	}
	return all, nil
}
