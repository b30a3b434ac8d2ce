package kernel

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/dense"
)

// This file computes with V·diag(lift)·Vᵀ, where the columns of V are the leading
// eigenvectors, the fragments last.

// rows returns a copy of the rows of some nodes, and nil where all eigenvectors
// are fragments.
func (l *leading) rows(nodes []int) *mat.Dense {
	if l.v == nil || len(nodes) == 0 {
		return nil
	}
	_, columns := l.v.Dims()
	m := mat.NewDense(len(nodes), columns, nil)
	for a, i := range nodes {
		copy(m.RawRowView(a), l.v.RawRowView(i))
	}
	return m
}

// addGram adds V[rows]·diag(lift)·V[rows]ᵀ to a.
func (l *leading) addGram(a blas64.Symmetric, lift []float64, rows []int) {
	if right := l.rows(rows); right != nil {
		left := l.rows(rows)
		scaleColumns(left, l.ofV(lift))
		dense.AddLower(dense.OfSymmetric(a).T(), 1, dense.View(left), dense.View(right).T())
	}
	lift = l.ofSmall(lift)
	l.small.pairs(rows, func(i, j, e int, product float64) { a.Data[i*a.Stride+j] += lift[e] * product })
}

// diag returns the diagonal of V·diag(lift)·Vᵀ at a node.
func (l *leading) diag(lift []float64, node int) float64 {
	sum := 0.0
	if l.v != nil {
		for e, v := range l.v.RawRowView(node) {
			sum += lift[e] * v * v
		}
	}
	lift = l.ofSmall(lift)
	cols, vals := l.small.v.Row(node)
	for p, e := range cols {
		sum += lift[e] * vals[p] * vals[p]
	}
	return sum
}

// moments returns (Vᵀ[rows]·u)_e·(Vᵀ[rows]·w)_e summed over columns, for every e.
func (l *leading) moments(rows []int, u, w *mat.Dense) []float64 {
	all := make([]float64, len(l.values))
	add := func(all []float64, uv, wv *mat.Dense) {
		for e := range all {
			right := wv.RawRowView(e)
			for s, v := range uv.RawRowView(e) {
				all[e] += v * right[s]
			}
		}
	}
	if basis := l.rows(rows); basis != nil {
		var uv, wv mat.Dense
		uv.Mul(basis.T(), u)
		wv.Mul(basis.T(), w)
		add(l.ofV(all), &uv, &wv)
	}
	if len(l.small.values) > 0 {
		add(l.ofSmall(all), l.small.project(rows, u), l.small.project(rows, w))
	}
	return all
}

// gramMoments returns (Vᵀ[rows]·g·V[rows])_ee for every e.
func (l *leading) gramMoments(rows []int, g *mat.SymDense) []float64 {
	all := make([]float64, len(l.values))
	if basis := l.rows(rows); basis != nil {
		gv := mat.DenseCopyOf(basis)
		dense.Mul(dense.View(gv), dense.View(mat.DenseCopyOf(g)), dense.View(basis))
		for a := range rows {
			right := basis.RawRowView(a)
			for e, v := range gv.RawRowView(a) {
				all[e] += v * right[e]
			}
		}
	}
	small := l.ofSmall(all)
	l.small.pairs(rows, func(a, b, e int, product float64) {
		if a != b {
			product *= 2
		}
		small[e] += g.At(a, b) * product
	})
	return all
}

// ofV and ofSmall split a list with one element per eigenpair into the part of v
// and the part of the fragments.
func (l *leading) ofV(all []float64) []float64     { return all[:len(all)-len(l.small.values)] }
func (l *leading) ofSmall(all []float64) []float64 { return all[len(all)-len(l.small.values):] }

// leadingCross is V[rows]·diag(lift)·V[cols]ᵀ.
type leadingCross struct {
	*leading
	left, right *mat.Dense // left has the factor lift; nil: none
	lift        []float64
	rows, cols  []int
}

func (l *leading) cross(lift []float64, rows, cols []int) *leadingCross {
	o := &leadingCross{l, l.rows(rows), l.rows(cols), lift, rows, cols}
	if o.left != nil {
		scaleColumns(o.left, l.ofV(lift))
	}
	return o
}

// add adds the product with x to dst.
func (o *leadingCross) add(dst, x *mat.Dense) {
	if o.left != nil && o.right != nil {
		_, inside := o.right.Dims()
		_, columns := x.Dims()
		inner := mat.NewDense(inside, columns, nil)
		dense.Mul(dense.View(inner), dense.View(o.right).T(), dense.View(x))
		dense.Add(dense.View(dst), 1, dense.View(o.left), dense.View(inner))
	}
	if len(o.small.values) > 0 {
		o.small.add(dst, o.ofSmall(o.lift), o.rows, o.cols, x)
	}
}
