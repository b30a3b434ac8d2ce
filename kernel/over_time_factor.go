package kernel

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/dense"
	"grfgp/internal/eigen"
	"grfgp/solve"
)

// timeFactor is H = K[rows, rows] + constant·11ᵀ + noise·I where rows are a table: the
// same n nodes in each of P periods, with a few cells missing. Of the whole table, the
// eigenvectors U of the kernel on nodes and V of ρ give
//
//	A = k ⊗ ρ + noise·I = (U ⊗ V)·D·(U ⊗ V)ᵀ,  D = λ ⊗ μ + noise.
//
// Missing cells Z are taken out by a Schur complement: the inverse for the other cells is
// A⁻¹ − A⁻¹Zᵀ(ZA⁻¹Zᵀ)⁻¹ZA⁻¹, in which missing rows are zero. In the coordinates of the
// eigenvectors it is D⁻¹ − MMᵀ, with a column of M for every missing cell. A function on
// the table is a matrix with a row per node and a column per period.
type timeFactor struct {
	cov        *timeCovariance
	list       *timeList
	cells      []int // of each row: node·P + period, by their places in the list
	u, v       *mat.Dense
	lambda, mu []float64
	inverse    []float64  // D⁻¹
	gaps       *mat.Dense // Mᵀ; nil: no cell is missing
	logDet     float64
	ones       []float64 // (A⁻¹ without the missing cells)·1, in the coordinates of the eigenvectors; nil without a constant
	sum        float64   // 1ᵀ of the same
	constant   float64
	weight     float64 // constant/(1 + constant·sum): the inverse of H has −weight·(A⁻¹1)(A⁻¹1)ᵀ in addition
}

const (
	tableFlops = 7e10    // most operations of factoring a table
	tableGaps  = 1 << 25 // most entries of Mᵀ: 256 MiB
	eigenFlops = 20      // of eigenvectors, per cube of their number,
	denseFlops = 2       // and of a dense factor with its gradient, per cube of its rows
)

// factor implements Abilities.Factor. The result is nil unless rows are a table with
// equal noise, and factoring it takes fewer operations than a dense factor does.
func (c *timeCovariance) factor(ctx context.Context, rows []int, constant float64, noise []float64) (Factor, error) {
	if len(rows) == 0 || !equal(noise) || !(noise[0] > 0) {
		return nil, nil
	}
	l := c.list(rows)
	if !l.tabular() {
		return nil, nil
	}
	f := &timeFactor{cov: c, list: l, cells: make([]int, len(rows)), constant: constant}
	seen := make([]bool, len(l.nodes)*len(l.periods))
	for a := range rows {
		f.cells[a] = l.node[a]*len(l.periods) + l.period[a]
		seen[f.cells[a]] = true
	}
	if err := f.decompose(ctx, noise[0]); err != nil {
		return nil, err
	}
	if len(seen) > len(rows) {
		var missing []int
		for cell, has := range seen {
			if !has {
				missing = append(missing, cell)
			}
		}
		if err := f.leaveOut(missing); err != nil {
			return nil, err
		}
	}
	f.addConstant()
	return f, ctx.Err()
}

func cube(n int) float64 { return float64(n) * float64(n) * float64(n) }

// tableCost estimates the operations of the factor of a table of n nodes and p periods,
// with its gradient.
func tableCost(n, p, gaps int) float64 {
	cells, g := float64(n*p), float64(gaps)
	return eigenFlops*(cube(n)+cube(p)) + 4*cells*float64(n+p) + 2*cells*g*(g+float64(n))
}

// equal reports whether all numbers are the same.
func equal(x []float64) bool {
	for _, v := range x {
		if v != x[0] {
			return false
		}
	}
	return true
}

// decompose finds the eigenvectors of the kernel on nodes and of ρ.
func (f *timeFactor) decompose(ctx context.Context, noise float64) (err error) {
	n, p := len(f.list.nodes), len(f.list.periods)
	graph := mat.NewSymDense(n, nil)
	if err := f.cov.graph.Gram(ctx, graph, f.list.nodes); err != nil {
		return err
	}
	f.u = fullRows(graph)
	if f.lambda, err = eigenvalues(f.u); err != nil {
		return err
	}
	f.v = mat.NewDense(p, p, nil)
	for a, row := range f.cov.rho(f.list.periods) {
		for b, e := range row {
			f.v.Set(a, b, e.value)
		}
	}
	if f.mu, err = eigenvalues(f.v); err != nil {
		return err
	}
	f.inverse = make([]float64, n*p)
	for a, l := range f.lambda {
		for b, m := range f.mu {
			d := l*m + noise
			f.inverse[a*p+b] = 1 / d
			f.logDet += math.Log(d)
		}
	}
	return nil
}

// eigenvalues replaces a positive semidefinite matrix by its eigenvectors, as columns,
// and returns its eigenvalues, those below zero by rounding as zero.
func eigenvalues(a *mat.Dense) ([]float64, error) {
	for _, v := range a.RawMatrix().Data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, errors.Join(solve.ErrNotPositiveDefinite, errors.New("an entry of the kernel is not finite"))
		}
	}
	values, err := eigen.Symmetric(a, eigen.Rising)
	for k, v := range values {
		values[k] = max(0, v)
	}
	return values, err
}

// leaveOut takes missing cells out of the table.
func (f *timeFactor) leaveOut(missing []int) error {
	p, g := len(f.mu), len(missing)
	f.gaps = mat.NewDense(g, len(f.inverse), nil)
	roots := make([]float64, len(f.inverse))
	for k, v := range f.inverse {
		roots[k] = math.Sqrt(v)
	}
	everyRow(g, 256, func(k int) { // D^-½ times the missing rows of U ⊗ V
		row, i, q := f.gaps.RawRowView(k), missing[k]/p, missing[k]%p
		for a, v := range f.u.RawRowView(i) {
			for b, w := range f.v.RawRowView(q) {
				row[a*p+b] = v * w * roots[a*p+b]
			}
		}
	})
	schur := mat.NewSymDense(g, nil)
	raw, view := dense.OfSymmetric(schur.RawSymmetric()), dense.View(f.gaps)
	dense.AddLower(raw.T(), 1, view, view.T())
	chol, err := solve.NewCholesky(schur)
	if err != nil {
		return err
	}
	chol.SolveLower(f.gaps, f.gaps)
	everyRow(g, 256, func(k int) {
		row := f.gaps.RawRowView(k)
		for j, v := range roots {
			row[j] *= v
		}
	})
	f.logDet += chol.LogDet()
	return nil
}

// addConstant prepares the part of the constant.
func (f *timeFactor) addConstant() {
	if f.constant == 0 {
		return
	}
	x := make([]float64, len(f.inverse))
	for _, cell := range f.cells {
		x[cell] = 1
	}
	f.ones = f.rotated(x, false)
	f.invert(f.ones)
	for _, v := range f.atRows(f.ones) {
		f.sum += v
	}
	f.weight = f.constant / (1 + f.constant*f.sum)
	f.logDet += math.Log1p(f.constant * f.sum)
}

// rotated returns UᵀXV of a function X on the table or, back, UXVᵀ.
func (f *timeFactor) rotated(x []float64, back bool) []float64 {
	n, p := len(f.lambda), len(f.mu)
	u, v := dense.View(f.u), dense.View(f.v)
	if back {
		v = v.T()
	} else {
		u = u.T()
	}
	half, out := make([]float64, n*p), make([]float64, n*p)
	dense.Mul(f.table(half), u, f.table(x))
	dense.Mul(f.table(out), f.table(half), v)
	return out
}

// table is a function on the table as a matrix.
func (f *timeFactor) table(x []float64) dense.Matrix {
	return dense.Matrix{Rows: len(f.lambda), Cols: len(f.mu), RowStep: len(f.mu), ColStep: 1, Data: x}
}

// invert multiplies x, in the coordinates of the eigenvectors, by D⁻¹ − MMᵀ.
func (f *timeFactor) invert(x []float64) {
	if f.gaps == nil {
		for j, d := range f.inverse {
			x[j] *= d
		}
		return
	}
	g, _ := f.gaps.Dims()
	sums := make([]float64, g)
	everyRow(g, 256, func(k int) { sums[k] = dot(f.gaps.RawRowView(k), x) })
	for j, d := range f.inverse {
		x[j] *= d
	}
	for k, s := range sums {
		for j, v := range f.gaps.RawRowView(k) {
			x[j] -= s * v
		}
	}
}

// atRows returns a function, given in the coordinates of the eigenvectors, at the rows.
func (f *timeFactor) atRows(x []float64) []float64 {
	back, out := f.rotated(x, true), make([]float64, len(f.cells))
	for a, cell := range f.cells {
		out[a] = back[cell]
	}
	return out
}

func (f *timeFactor) LogDet() float64 { return f.logDet }

func (f *timeFactor) Solve(dst, b *mat.Dense) {
	_, columns := b.Dims()
	x := make([]float64, len(f.inverse))
	for s := range columns {
		clear(x)
		for a, cell := range f.cells {
			x[cell] = b.At(a, s)
		}
		y := f.solved(x)
		for a, cell := range f.cells {
			dst.Set(a, s, y[cell])
		}
	}
}

// solved returns H⁻¹x for x on the table, which is 0 at missing cells.
func (f *timeFactor) solved(x []float64) []float64 {
	y := f.rotated(x, false)
	share := 0.0
	if f.ones != nil {
		share = f.weight * dot(f.ones, y)
	}
	f.invert(y)
	if share != 0 {
		for j, v := range f.ones {
			y[j] -= share * v
		}
	}
	return f.rotated(y, true)
}

func (f *timeFactor) InverseDiag(dst []float64) {
	n, p := len(f.lambda), len(f.mu)
	squares := func(a *mat.Dense) dense.Matrix {
		b := mat.DenseCopyOf(a)
		b.MulElem(a, a)
		return dense.View(b)
	}
	half, all := make([]float64, n*p), make([]float64, n*p)
	dense.Mul(f.table(half), squares(f.u), f.table(f.inverse))
	dense.Mul(f.table(all), f.table(half), squares(f.v).T())
	less := func(x []float64, weight float64) {
		for cell, v := range f.rotated(x, true) {
			all[cell] -= weight * v * v
		}
	}
	if f.gaps != nil {
		g, _ := f.gaps.Dims()
		for k := range g {
			less(f.gaps.RawRowView(k), 1)
		}
	}
	if f.ones != nil {
		less(f.ones, f.weight)
	}
	for a, cell := range f.cells {
		dst[a] = all[cell]
	}
}
