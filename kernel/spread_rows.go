package kernel

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"grfgp/internal/parallel"
	"grfgp/sparse"
	"grfgp/sparse/spread"
)

// spreadRows is grfRows of which each rank has its own rows: the same bits.
type spreadRows struct {
	kernel    *SpreadGRF
	list      *spreadList
	constant  constantCross
	cov       *grfCovariance // at the theta of Set
	val, valT []float32
	phi, phiT *spread.Single
	diag      []float64
	inverse   []float64 // as of grfRows
}

// Training offers steps of learning in float32.
func (k *SpreadGRF) Training() Training { return Training{Single: k.singleRows} }

// singleRows returns the kernel on the rows in float32; all ranks call it together.
func (k *SpreadGRF) singleRows(rows []int, constant float64) SingleRows {
	r, err := k.newRows(context.Background(), rows, constant)
	if err != nil {
		return failedRows{err}
	}
	return r
}

func (k *SpreadGRF) newRows(ctx context.Context, rows []int, constant float64) (*spreadRows, error) {
	l, err := k.list(ctx, rows)
	if err != nil {
		return nil, err
	}
	r := &spreadRows{kernel: k, list: l, diag: make([]float64, len(rows)),
		val: make([]float32, l.shape.Entries()), valT: make([]float32, l.turn.Entries()),
		constant: constantCross{rows: len(rows), cols: len(rows), variance: constant, right: portion{k.group, l.all}}}
	if r.phi, err = l.shape.Single(r.val); err != nil {
		return nil, err
	}
	r.phiT, err = l.turn.Single(r.valT)
	return r, err
}

func (r *spreadRows) Set(ctx context.Context, theta []float64) error {
	cov, err := r.kernel.grf.at(theta)
	if err != nil {
		return err
	}
	return r.set(ctx, cov)
}

// set computes the values at the theta of cov.
func (r *spreadRows) set(ctx context.Context, cov *grfCovariance) error {
	r.cov = cov
	ok, err := combineSingle(ctx, r.val, r.diag, r.inverse, r.list.own, r.list.shape.From, r.cov.coeff, r.constant.variance)
	if err != nil {
		return err
	}
	well, err := r.kernel.allWell(ctx, ok)
	if err != nil {
		return err
	}
	if !well {
		return outOfSingle(cov.theta)
	}
	return spread.Carry(ctx, r.list.turn, r.valT, r.val)
}

func (r *spreadRows) Diag() []float64 { return r.diag }

// row, toUnit and inverses implement squareRows.
func (r *spreadRows) row(i int) []float32 {
	return r.val[r.list.shape.From(i):r.list.shape.From(i+1)]
}
func (r *spreadRows) toUnit()             { r.inverse = make([]float64, len(r.diag)) }
func (r *spreadRows) inverses() []float64 { return r.inverse }

// square sets dst = ΦΦᵀx.
func (r *spreadRows) square(ctx context.Context, dst, x blas32.General) error {
	mid := r.midBlock(x.Cols)
	defer returnSingle(mid)
	if err := r.phiT.Mul(ctx, mid, x); err != nil {
		return err
	}
	return r.phi.Mul(ctx, dst, mid)
}

func (r *spreadRows) Apply(ctx context.Context, dst, x blas32.General) error {
	err := stripsSingle(dst, x, func(dst, x blas32.General) error { return r.square(ctx, dst, x) })
	if err != nil || r.constant.variance == 0 {
		return err
	}
	return r.constant.addSingle(ctx, dst, x)
}

// midBlock returns a block with a row for each node of this rank.
func (r *spreadRows) midBlock(columns int) blas32.General {
	lo, hi := r.kernel.nodes.Range(r.kernel.group.Rank())
	return borrowSingle(hi-lo, columns)
}

func (r *spreadRows) Grad(ctx context.Context, grad, weight []float64, u, w blas32.General) error {
	slope := make([]float64, len(r.cov.coeff))
	err := stripsGrad(weight, u, w, func(weight []float64, u, w blas32.General) error { return r.stripGrad(ctx, slope, weight, u, w) })
	r.cov.chain(grad, slope, err)
	return err
}

func (r *spreadRows) stripGrad(ctx context.Context, slope, weight []float64, u, w blas32.General) error {
	both := besideEachOther(u, w)
	defer returnSingle(both)
	return r.slopes(ctx, slope, weight, both, nil)
}

// slopes implements squareRows.
func (r *spreadRows) slopes(ctx context.Context, slope, weight []float64, both blas32.General, change func(q []float64, i int)) error {
	ab := r.midBlock(both.Cols) // A and B
	defer returnSingle(ab)
	if err := r.phiT.Mul(ctx, ab, both); err != nil {
		return err
	}
	wide, release, err := r.list.shape.WidenSingle(ctx, ab)
	defer release()
	if err != nil {
		return err
	}
	weigh := pairWeights(weight, both, parallel.Workers(both.Rows))
	parts, err := projections(ctx, r.list.own, both.Rows, len(slope), func(worker int, dst []float64, i int) []float64 {
		cols, widened := r.list.shape.Row(i)
		weights, from := room(&dst, len(cols)), ab
		if widened {
			from = wide
		}
		sparse.DotsSingle(weights, weigh(worker, i), from, cols)
		if change != nil {
			change(weights, i)
		}
		return weights
	})
	if err != nil {
		return err
	}
	total := make([]float64, len(slope))
	if err := r.kernel.group.Sum(ctx, total, parts, r.list.all); err != nil {
		return err
	}
	for l, v := range total {
		slope[l] += v
	}
	return nil
}

// failedRows are rows that could not be made.
type failedRows struct{ err error }

func (r failedRows) Set(context.Context, []float64) error                        { return r.err }
func (r failedRows) Diag() []float64                                             { return nil }
func (r failedRows) Apply(context.Context, blas32.General, blas32.General) error { return r.err }
func (r failedRows) Grad(context.Context, []float64, []float64, blas32.General, blas32.General) error {
	return r.err
}
