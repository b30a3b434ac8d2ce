package chol

import (
	"fmt"

	"grfgp/internal/dense"
	"grfgp/internal/parallel"
	"grfgp/sparse"
)

const (
	sidesMost = 24 // right-hand sides at a time
	blockCols = 16 // columns of L at a time: so many streams of memory
	rowBlock  = 1 << 12
)

// Solve sets dst = Q⁻¹·b; the two may be one.
func (f *Factor) Solve(dst, b sparse.Block[float64]) { f.solve(dst, b, true, true) }

// SolveLower sets dst = C⁻¹·b for the root C = PᵀLP of Q = C·Cᵀ; the two may be one. Nodes keep their numbers: to whom the
// order of elimination matters not, C is as good as L.
func (f *Factor) SolveLower(dst, b sparse.Block[float64]) { f.solve(dst, b, true, false) }

// SolveUpper sets dst = C⁻ᵀ·z; the two may be one. It has the covariance Q⁻¹ where elements of z are independent and of
// variance 1.
func (f *Factor) SolveUpper(dst, z sparse.Block[float64]) { f.solve(dst, z, false, true) }

func (f *Factor) solve(dst, b sparse.Block[float64], forward, backward bool) {
	n := len(f.order)
	if b.Rows != n || dst.Rows != n || b.Cols != dst.Cols {
		panic(fmt.Sprintf("chol: %d×%d solutions of %d×%d right-hand sides for a factor of %d", dst.Rows, dst.Cols, b.Rows, b.Cols, n))
	}
	if n == 0 {
		return
	}
	p := f.plan()
	for at := 0; at < b.Cols; at += sidesMost {
		sides := min(sidesMost, b.Cols-at)
		x := make([]float64, n*sides) // by columns of L
		f.each(func(k, v int) { copy(x[k*sides:][:sides], b.Data[v*b.Stride+at:]) })
		if forward {
			updates := make([][]float64, f.len())
			p.up(func(w *walker, k int) bool {
				f.forward(w, k, x, sides, updates)
				return true
			})
		}
		if backward {
			p.down(func(w *walker, k int) { f.backward(w, k, x, sides) })
		}
		f.each(func(k, v int) { copy(dst.Data[v*dst.Stride+at:][:sides], x[k*sides:]) })
	}
}

// each calls do for every column of L and its node.
func (f *Factor) each(do func(column, node int)) {
	parallel.Ranges(len(f.order), rowBlock, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			do(k, int(f.order[k]))
		}
	})
}

// sides returns scratch for vectors of the rows of a supernode, step apart.
func (w *walker) sides(rows, sides int) (x []float64, step int) {
	step = up4(rows)
	if size := step*sides + 16; cap(w.local) < size {
		w.local = make([]float64, size+size/2)
	}
	x = w.local[:step*sides+16]
	clear(x)
	return x, step
}

// forward solves for the columns of supernode k. Rows below lose what these explain, in a block for the parent: nothing is
// written that another subtree writes.
func (f *Factor) forward(w *walker, k int, x []float64, sides int, updates [][]float64) {
	wide, high := f.width(k), f.height(k)
	y, step := w.sides(high, sides)
	own := x[int(f.first[k])*sides:][:wide*sides]
	turn(y, step, own, sides)
	children := f.childrenOf(k)
	for _, c := range children {
		at := f.inParent[f.ptr[c]:f.ptr[c+1]]
		for q := range sides {
			to, from := y[q*step:][:step], updates[c][q*len(at):][:len(at)]
			for i, row := range at {
				to[row] += from[i]
			}
		}
	}
	for i := len(children) - 1; i >= 0; i-- {
		w.stack.pop(children[i])
		updates[children[i]] = nil
	}
	f.lower(k, y, step, sides)
	for q := range sides {
		for i := range wide {
			own[i*sides+q] = y[q*step+i]
		}
	}
	if r := high - wide; r > 0 {
		updates[k] = w.keep(int32(k), r*sides)
		for q := range sides {
			copy(updates[k][q*r:], y[q*step+wide:][:r])
		}
	}
}

// turn sets the first rows of y, column by column, to those of own, row by row.
func turn(y []float64, step int, own []float64, sides int) {
	for q := range sides {
		to := y[q*step:][:len(own)/sides]
		for i := range to {
			to[i] = own[i*sides+q]
		}
	}
}

// lower replaces the first rows of y by the solution for the diagonal block of supernode k, and subtracts what it explains
// from the other rows.
func (f *Factor) lower(k int, y []float64, step, sides int) {
	wide, high, l := f.width(k), f.height(k), f.l[f.at[k]:]
	for lo := 0; lo < wide; lo += blockCols {
		hi := min(wide, lo+blockCols)
		end := up4(hi)
		for j := lo; j < hi; j += 4 {
			group := min(4, hi-j)
			for q := range sides {
				solveFour(l[j*high+j:], high, group, y[q*step+j:][:4])
			}
			dense.SubColumns(end-j-4, group, sides, l[j*high+j+4:], high, y[j:], 1, step, y[j+4:], step)
		}
		dense.SubColumns(step-end, hi-lo, sides, l[lo*high+end:], high, y[lo:], 1, step, y[end:], step)
	}
}

// solveFour solves for the first rows of four, as many as the group has columns, and subtracts these from the others.
func solveFour(l []float64, step, group int, y []float64) {
	for j := range group {
		y[j] /= l[j*step+j]
		for i := j + 1; i < 4; i++ {
			y[i] -= float64(l[j*step+i] * y[j])
		}
	}
}

// backward solves the transposed system for the columns of supernode k, given the solution for the rows below.
func (f *Factor) backward(w *walker, k int, x []float64, sides int) {
	wide, high, l := f.width(k), f.height(k), f.l[f.at[k]:]
	y, step := w.sides(high, sides)
	own := x[int(f.first[k])*sides:][:wide*sides]
	turn(y, step, own, sides)
	for i, row := range f.below(k) {
		for q, v := range x[int(row)*sides:][:sides] {
			y[q*step+wide+i] = v
		}
	}
	for lo := (wide - 1) / blockCols * blockCols; lo >= 0; lo -= blockCols {
		hi := min(wide, lo+blockCols)
		end := up4(hi)
		dense.SubDots(step-end, hi-lo, sides, l[lo*high+end:], high, y[end:], step, y[lo:], step)
		for j := lo + (hi-lo-1)/4*4; j >= lo; j -= 4 {
			group := min(4, hi-j)
			dense.SubDots(end-j-4, group, sides, l[j*high+j+4:], high, y[j+4:], step, y[j:], step)
			for q := range sides {
				solveFourT(l[j*high+j:], high, group, y[q*step+j:][:4])
			}
		}
	}
	for q := range sides {
		for i := range wide {
			own[i*sides+q] = y[q*step+i]
		}
	}
}

// solveFourT solves the transposed system for as many rows of four as the group has columns, given the others.
func solveFourT(l []float64, step, group int, y []float64) {
	for j := group - 1; j >= 0; j-- {
		for i := 3; i > j; i-- {
			y[j] -= float64(l[j*step+i] * y[i])
		}
		y[j] /= l[j*step+j]
	}
}
