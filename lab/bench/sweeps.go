package bench

import (
	"context"
	"errors"
	"math"
	"time"

	"grfgp/solve"
	"grfgp/space"
)

// Swept is the speed of the vector work of an iteration of conjugate gradients, without
// the product: all sweeps over its blocks.
type Swept struct {
	Rows         int     `json:"rows"`
	RightSides   int     `json:"right_sides"`
	Bits         int     `json:"bits"` // of a number: 32 or 64
	Seconds      float64 `json:"seconds"`
	BytesPerSec  float64 `json:"bytes_per_second"`
	ShareOfTriad float64 `json:"share_of_triad"`
}

// sweepPasses is how often an iteration reads or writes a block: p = r + βp, then
// pᵀ(q + noise∘p), then e += αp with r −= α(q + noise∘p); and once for the zeros that stand
// for the product.
const sweepPasses = 3 + 2 + 6 + 1

// Sweeps times iterations with a matrix of zeros and a diagonal.
func Sweeps(ctx context.Context, limits Limits, rows int) ([]Swept, error) {
	noise := make([]float64, rows)
	for i := range noise {
		noise[i] = 1 + float64(i%97)
	}
	var all []Swept
	for _, bits := range []int{64, 32} {
		for _, k := range []int{1, 4, 16} {
			in := space.Host()
			if bits == 32 {
				in = space.Host32()
			}
			axis, sides := space.Rows(rows), make([]float64, rows*k)
			for q := range sides {
				sides[q] = float64(q%11) - 5.1
			}
			x, b, known := in.Block(axis, k), in.Block(axis, k), in.Block(axis, 1)
			b.Set(sides)
			known.Set(noise)
			system := solve.System{Space: in, Axis: axis, Noise: known, Apply: func(ctx context.Context, dst, _ space.Block) error {
				dst.Zero()
				return ctx.Err()
			}}
			iterate := func(most int) (float64, error) {
				x.Zero()
				start := time.Now()
				_, err := system.CG(ctx, x, b, true, solve.Options{Tol: 1e-300, MaxIter: most, Recursive: true})
				if errors.Is(err, solve.ErrNotConverged) {
					err = nil
				}
				return time.Since(start).Seconds(), err
			}
			// What a solve costs beside iterations is that of one with few of them.
			const few, many = 2, 12
			short, long := math.Inf(1), math.Inf(1)
			for range 3 {
				took, err := iterate(few)
				if err != nil {
					return nil, err
				}
				short = min(short, took)
				if took, err = iterate(many); err != nil {
					return nil, err
				}
				long = min(long, took)
			}
			s := Swept{Rows: rows, RightSides: k, Bits: bits, Seconds: (long - short) / (many - few)}
			s.BytesPerSec = float64(rows) * float64(bits/8) * float64(sweepPasses*k+2) / s.Seconds // and the noise twice
			s.ShareOfTriad = s.BytesPerSec / limits.Triad
			all = append(all, s)
		}
	}
	return all, nil
}
