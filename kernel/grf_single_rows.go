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
	"grfgp/walk"
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
	r := &grfRows{kernel: k, pattern: p, constant: constantCross{rows: len(rows), cols: len(rows), variance: constant},
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
	p := r.pattern
	ok, err := combineSingle(ctx, r.val, r.diag, r.inverse, p.own, func(a int) int { return p.ptr[a] }, cov.coeff, r.constant.variance)
	if err != nil {
		return err
	}
	if !ok {
		return outOfSingle(cov.theta)
	}
	parallel.Ranges(len(r.valT), 1<<16, func(lo, hi int) {
		for q, from := range p.from[lo:hi] {
			r.valT[lo+q] = r.val[from]
		}
	})
	return ctx.Err()
}

// combineSingle sets val to the entries of Φ, of which row a begins at from(a), and diag to
// the squares of its rows plus a constant. If inverse is not nil it is set to 1/N_i, with N_i
// the norm of row i, and val to N⁻¹Φ. It reports whether all are numbers of float32.
func combineSingle(ctx context.Context, val []float32, diag, inverse []float64, own *walk.List, from func(a int) int, coeff []float64,
	constant float64) (bool, error) {
	const size = 1024
	coeff = walk.Padded(coeff)
	var bad atomic.Bool
	values := make([][]float64, parallel.Workers(len(diag)))
	err := parallel.Blocks(ctx, (len(diag)+size-1)/size, func(worker, b int) error {
		for a := b * size; a < min(len(diag), (b+1)*size); a++ {
			to := val[from(a):from(a+1)]
			row := room(&values[worker], len(to))
			own.CombineRow(row, coeff, a)
			diag[a] = squares(row)
			if !(diag[a] <= math.MaxFloat32) {
				bad.Store(true)
			}
			scale := 1.0
			if inverse != nil {
				if scale = 0; diag[a] > 0 {
					scale = 1 / math.Sqrt(diag[a])
				}
				inverse[a] = scale
			}
			for e, v := range row {
				to[e] = float32(scale * v)
			}
			diag[a] += constant
		}
		return nil
	})
	return !bad.Load(), err
}

// outOfSingle is the error for hyperparameters of which float32 cannot hold the variances.
func outOfSingle(theta []float64) error {
	return fmt.Errorf("%w: at %v variances leave the range of float32", ErrTheta, theta)
}

func (r *grfRows) Diag() []float64 { return r.diag }

// row, toUnit and inverses implement squareRows.
func (r *grfRows) row(i int) []float32 { return r.val[r.pattern.ptr[i]:r.pattern.ptr[i+1]] }
func (r *grfRows) toUnit()             { r.inverse = make([]float64, len(r.diag)) }
func (r *grfRows) inverses() []float64 { return r.inverse }

func (r *grfRows) Apply(ctx context.Context, dst, x blas32.General) error {
	err := stripsSingle(dst, x, func(dst, x blas32.General) error { return r.square(ctx, dst, x) })
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
	err := stripsGrad(weight, u, w, func(weight []float64, u, w blas32.General) error { return r.stripGrad(ctx, slope, weight, u, w) })
	r.cov.chain(grad, slope, err)
	return err
}

// stripsGrad calls do with strips of the columns, half as wide as those of products: u and
// w go beside each other.
func stripsGrad(weight []float64, u, w blas32.General, do func(weight []float64, u, w blas32.General) error) error {
	const most = stripColumns / 2
	for lo := 0; lo < u.Cols; lo += most {
		hi := min(u.Cols, lo+most)
		if err := do(weight[lo:hi], columnsSingle(u, lo, hi), columnsSingle(w, lo, hi)); err != nil {
			return err
		}
	}
	return nil
}

// besideEachOther returns a block with the columns of u, those of w, and zeros up to a
// multiple of eight.
func besideEachOther(u, w blas32.General) blas32.General {
	k, width := u.Cols, (2*u.Cols+7)/8*8
	both := borrowSingle(u.Rows, width)
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
	return both
}

// pairWeights returns a function that gives row i of both with its halves exchanged, each
// column times its weight, in memory of the worker.
func pairWeights(weight []float64, both blas32.General, workers int) func(worker, i int) []float32 {
	k, width := len(weight), both.Cols
	factor := make([]float32, k)
	for s, v := range weight {
		factor[s] = float32(v)
	}
	pairs := make([][]float32, workers)
	return func(worker, i int) []float32 {
		if pairs[worker] == nil {
			pairs[worker] = make([]float32, width+16) // and a cache line to the next
		}
		wu, row := pairs[worker][:width], both.Data[i*width:][:width]
		for s, v := range factor {
			wu[s], wu[k+s] = v*row[k+s], v*row[s]
		}
		return wu
	}
}

func (r *grfRows) stripGrad(ctx context.Context, slope, weight []float64, u, w blas32.General) error {
	both := besideEachOther(u, w)
	defer returnSingle(both)
	return r.slopes(ctx, slope, weight, both, nil)
}

// slopes adds the derivatives by f_l to slope[l], where both holds u and w beside each other.
// change, if it is not nil, may change the weights Q_ic of the entries of row i on the way.
func (r *grfRows) slopes(ctx context.Context, slope, weight []float64, both blas32.General, change func(q []float64, i int)) error {
	ab := borrowSingle(r.pattern.width, both.Cols) // A and B
	defer returnSingle(ab)
	r.phiT.Mul(ab, both)
	if err := ctx.Err(); err != nil {
		return err
	}
	pass := meter.Start()
	defer pass.Done(4*(len(both.Data)+len(ab.Data)+len(r.pattern.col)) + 8*len(r.pattern.ptr)) // and the features
	weigh := pairWeights(weight, both, parallel.Workers(len(r.pattern.rows)))
	return r.cov.project(ctx, slope, r.pattern, func(worker int, dst []float64, i int, cols []uint32) {
		sparse.DotsSingle(dst, weigh(worker, i), ab, cols)
		if change != nil {
			change(dst, i)
		}
	})
}
