package bench

import (
	"context"
	"math"
	"time"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/gpu"
	"grfgp/sparse"
	"grfgp/walk"
)

// CardProduct is a timed product of a sparse matrix with a block of vectors.
type CardProduct struct {
	Matrix      string  `json:"matrix"` // grid or features
	Rows        int     `json:"rows"`
	Entries     int     `json:"entries"`
	RightSides  int     `json:"right_sides"`
	Seconds     float64 `json:"seconds"`
	BytesPerSec float64 `json:"bytes_per_second"` // matrix, x and dst once each
	ShareOfCopy float64 `json:"share_of_copy"`    // of the card
	Processor   float64 `json:"processor_seconds,omitempty"`
	SpeedUp     float64 `json:"speed_up,omitempty"`         // over the processor
	Difference  float64 `json:"largest_relative,omitempty"` // difference to the processor, relative to the largest number
}

// queued is the number of operations that are queued before a measurement waits for them.
const queued = 10

// onCard returns the time of an operation of the card in seconds.
func (o GPUOptions) onCard(ctx context.Context, do func()) (float64, error) {
	d := o.Device
	do()
	if err := d.Err(); err != nil {
		return 0, err
	}
	took, err := o.quickest(ctx, func() error {
		for range queued {
			do()
		}
		return d.Err()
	})
	return took / queued, err
}

// quickest returns the time of one call in quick runs, and of the quickest of several otherwise.
func (o GPUOptions) quickest(ctx context.Context, do func() error) (float64, error) {
	if o.Quick {
		start := time.Now()
		err := do()
		return time.Since(start).Seconds(), err
	}
	return quickest(ctx, do)
}

// copyRate returns the bytes that the card reads and writes per second when it copies within
// its memory.
func (o GPUOptions) copyRate(ctx context.Context) (float64, error) {
	d, rows := o.Device, 1<<22 // 2 GiB
	if o.Quick {
		rows = 1 << 10
	}
	from, to := d.Zeros(rows, gpu.MaxColumns), d.Zeros(rows, gpu.MaxColumns)
	defer from.Free()
	defer to.Free()
	took, err := o.onCard(ctx, func() { to.CopyFrom(from) })
	return 2 * 8 * float64(rows) * gpu.MaxColumns / took, err
}

// cardProducts multiplies the matrix of walks on a grid, whose rows have four entries or fewer,
// and features on a smaller grid, whose rows have some dozens.
func cardProducts(ctx context.Context, o GPUOptions, copied float64) ([]CardProduct, error) {
	side, smaller := 2000, 1000
	if o.Quick {
		side, smaller = 50, 40
	}
	wide, err := graph.Grid(side, side)
	if err != nil {
		return nil, err
	}
	all, err := o.products(ctx, "grid", wide.Normalized(graph.NormalizedAdjacency), copied)
	if err != nil {
		return nil, err
	}
	small, err := graph.Grid(smaller, smaller)
	if err != nil {
		return nil, err
	}
	walks := walk.Default()
	walks.MaxLen, walks.Scale, walks.Seed = 5, small.WalkScale(graph.NormalizedAdjacency), o.Seed
	f, err := walk.Sample(ctx, small.Normalized(graph.NormalizedAdjacency), walks)
	if err != nil {
		return nil, err
	}
	phi, err := f.Combine([]float64{1, 0.5, 0.25, 0.125, 0.0625, 0.03125})
	if err != nil {
		return nil, err
	}
	more, err := o.products(ctx, "features", phi, copied)
	return append(all, more...), err
}

func (o GPUOptions) products(ctx context.Context, name string, w *sparse.CSR, copied float64) ([]CardProduct, error) {
	d := o.Device
	rows, cols := w.Dims()
	ptr, col, val := w.Raw()
	on := d.Matrix(rows, cols, ptr, col, val)
	defer on.Free()
	var all []CardProduct
	for _, k := range []int{1, 4, 16, 32, 64} {
		p := CardProduct{Matrix: name, Rows: rows, Entries: w.NNZ(), RightSides: k}
		x := mat.NewDense(cols, k, nil)
		for i := range x.RawMatrix().Data {
			x.RawMatrix().Data[i] = float64(i%7) - 2.5
		}
		from, to := d.Upload(k, x.RawMatrix().Data), d.Block(rows, k)
		var err error
		if p.Seconds, err = o.onCard(ctx, func() { on.Mul(to, from, 1) }); err != nil {
			return nil, err
		}
		p.BytesPerSec = float64(12*w.NNZ()+4*(rows+1)+8*k*(rows+cols)) / p.Seconds
		p.ShareOfCopy = p.BytesPerSec / copied
		if !o.Alone {
			got, want := make([]float64, rows*k), mat.NewDense(rows, k, nil)
			to.Get(got)
			if p.Processor, err = o.quickest(ctx, func() error { w.Mul(want, x); return nil }); err != nil {
				return nil, err
			}
			p.SpeedUp = p.Processor / p.Seconds
			p.Difference = largestRelative(got, want.RawMatrix().Data)
		}
		from.Free()
		to.Free()
		all = append(all, p)
	}
	return all, d.Err()
}

// largestRelative returns the largest difference of two lists, relative to the largest number;
// NaN if a number is.
func largestRelative(got, want []float64) float64 {
	diff, most := 0.0, 0.0
	for i, v := range want {
		e := math.Abs(got[i] - v)
		if math.IsNaN(e) {
			return e
		}
		diff, most = max(diff, e), max(most, math.Abs(v))
	}
	if diff == 0 {
		return 0
	}
	return diff / most
}
