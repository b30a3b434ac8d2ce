package kernel

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas32"

	"grfgp/internal/meter"
	"grfgp/internal/parallel"
	"grfgp/sparse"
)

// grfRows is ΦΦᵀ + constant·11ᵀ of some rows in float32, for one theta after another.
type grfRows struct {
	kernel    *GRF
	pattern   *pattern
	constant  constantCross
	cov       *grfCovariance // at the theta of Set
	val, valT []float32
	phi, phiT *sparse.Single
	diag      []float64
	inverse   []float64 // 1/N_i for features Φ̂ = N⁻¹Φ of variance one; nil: Φ as it is
}

// singleRows returns the kernel on the rows in float32; nil if their features cannot be
// listed, or are too many.
func (k *GRF) singleRows(rows []int, constant float64) SingleRows {
	if r := k.newRows(rows, constant); r != nil {
		return r
	}
	return nil // not an interface that holds a nil pointer
}

func (k *GRF) newRows(rows []int, constant float64) *grfRows {
	p := k.pattern(rows)
	if p.err != nil || len(rows) == 0 {
		return nil
	}
	p.transpose()
	if p.from == nil || p.shape == nil {
		return nil
	}
	n := len(p.col)
	r := &grfRows{kernel: k, pattern: p, constant: constantCross{len(rows), len(rows), constant},
		val: make([]float32, n), valT: make([]float32, n), diag: make([]float64, len(rows))}
	var err, errT error
	r.phi, err = p.shape.Single(r.val)
	r.phiT, errT = p.transposed.Single(r.valT)
	if err != nil || errT != nil {
		return nil
	}
	return r
}

func (r *grfRows) Set(ctx context.Context, theta []float64) error {
	cov, err := r.kernel.at(theta)
	if err != nil {
		return err
	}
	return r.set(ctx, cov)
}

// set computes the values at the theta of cov.
func (r *grfRows) set(ctx context.Context, cov *grfCovariance) error {
	r.cov = cov
	const size = 1024
	p := r.pattern
	var bad atomic.Bool
	values := make([][]float64, parallel.Workers(len(p.rows)))
	err := parallel.Blocks(ctx, (len(p.rows)+size-1)/size, func(worker, b int) error {
		for a := b * size; a < min(len(p.rows), (b+1)*size); a++ {
			to := r.val[p.ptr[a]:p.ptr[a+1]]
			row := room(&values[worker], len(to))
			p.own.CombineRow(row, cov.coeff, a)
			r.diag[a] = squares(row)
			if !(r.diag[a] <= math.MaxFloat32) {
				bad.Store(true)
			}
			scale := 1.0
			if r.inverse != nil {
				if scale = 0; r.diag[a] > 0 {
					scale = 1 / math.Sqrt(r.diag[a])
				}
				r.inverse[a] = scale
			}
			for e, v := range row {
				to[e] = float32(scale * v)
			}
			r.diag[a] += r.constant.variance
		}
		return nil
	})
	if err != nil {
		return err
	}
	if bad.Load() {
		return fmt.Errorf("%w: at %v variances leave the range of float32", ErrTheta, cov.theta)
	}
	parallel.Ranges(len(r.valT), 1<<16, func(lo, hi int) {
		for q, from := range p.from[lo:hi] {
			r.valT[lo+q] = r.val[from]
		}
	})
	return ctx.Err()
}

func (r *grfRows) Diag() []float64 { return r.diag }

func (r *grfRows) Apply(ctx context.Context, dst, x blas32.General) error {
	err := stripsSingle(dst, x, func(dst, x blas32.General) error {
		return r.square(ctx, dst, x)
	})
	if err != nil || r.constant.variance == 0 {
		return err
	}
	return r.constant.addSingle(ctx, dst, x)
}

// square sets dst = ΦΦᵀx.
func (r *grfRows) square(ctx context.Context, dst, x blas32.General) error {
	mid := borrowSingle(r.pattern.width, x.Cols)
	defer returnSingle(mid)
	r.phiT.Mul(mid, x)
	if err := ctx.Err(); err != nil {
		return err
	}
	r.phi.Mul(dst, mid)
	return ctx.Err()
}

// Grad is that of grfCovariance: with A = Φᵀu and B = Φᵀw,
//
//	∂/∂f_l = Σ_ic Ψ_l[i,c]·Σ_s weight_s·(u_is·B_cs + w_is·A_cs).
func (r *grfRows) Grad(ctx context.Context, grad, weight []float64, u, w blas32.General) error {
	slope := make([]float64, len(r.cov.coeff))
	const most = stripColumns / 2
	var err error
	for lo := 0; lo < u.Cols && err == nil; lo += most {
		hi := min(u.Cols, lo+most)
		err = r.stripGrad(ctx, slope, weight[lo:hi], columnsSingle(u, lo, hi), columnsSingle(w, lo, hi))
	}
	r.cov.chain(grad, slope, err)
	return err
}

func (r *grfRows) stripGrad(ctx context.Context, slope, weight []float64, u, w blas32.General) error {
	k, width := u.Cols, (2*u.Cols+7)/8*8
	both := borrowSingle(u.Rows, width) // u and w side by side, then zeros
	defer returnSingle(both)
	sweep := meter.Start()
	parallel.Ranges(u.Rows, 4096, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := both.Data[i*width:][:width]
			copy(row, u.Data[i*u.Stride:][:k])
			copy(row[k:], w.Data[i*w.Stride:][:k])
			clear(row[2*k:])
		}
	})
	sweep.Done(4 * u.Rows * (2*k + width))
	factor := make([]float32, k)
	for s, v := range weight {
		factor[s] = float32(v)
	}
	return r.slopes(ctx, slope, factor, both, nil)
}

// slopes adds to slope[l] the derivatives by f_l, where both holds u and w side by side, with
// the weights of the columns. change may change the weights Q_ic of the entries of row i on
// the way.
func (r *grfRows) slopes(ctx context.Context, slope []float64, weight []float32, both blas32.General, change func(q []float64, i int)) error {
	k, width := len(weight), both.Cols
	ab := borrowSingle(r.pattern.width, width) // A and B
	defer returnSingle(ab)
	r.phiT.Mul(ab, both)
	if err := ctx.Err(); err != nil {
		return err
	}
	pass := meter.Start()
	defer pass.Done(4*(len(both.Data)+len(ab.Data)+len(r.pattern.col)) + 8*len(r.pattern.ptr)) // and the features
	pairs := make([][]float32, parallel.Workers(len(r.pattern.rows)))
	return r.cov.project(ctx, slope, r.pattern, func(worker int, dst []float64, i int, cols []uint32) {
		if pairs[worker] == nil {
			pairs[worker] = make([]float32, width+16) // and a cache line to the next
		}
		wu, row := pairs[worker][:width], both.Data[i*width:][:width]
		for s, v := range weight {
			wu[s], wu[k+s] = v*row[k+s], v*row[s]
		}
		sparse.DotsSingle(dst, wu, ab, cols)
		if change != nil {
			change(dst, i)
		}
	})
}
