package chol

import (
	"context"
	"fmt"

	"grfgp/internal/dense"
	"grfgp/sparse"
)

// Inverse returns the elements of Q⁻¹ at the entries of Q, as a matrix of the same pattern, by Takahashi's recursion: at
// twice the cost of the factor. It ends with ctx.
func (f *Factor) Inverse(ctx context.Context) (*sparse.CSR, error) {
	val := make([]float64, len(f.col))
	if err := f.invert(ctx, nil, val); err != nil {
		return nil, err
	}
	// The other triangle: rows in order meet their mirror images in order.
	next := make([]int, len(f.order))
	copy(next, f.rowPtr)
	for i := range f.order {
		for p := f.rowPtr[i]; p < f.rowPtr[i+1]; p++ {
			j := f.col[p]
			mirror := next[j]
			next[j]++
			if f.position[j] < f.position[i] {
				val[p] = val[mirror]
			}
		}
	}
	return sparse.NewCSR(len(f.order), len(f.order), f.rowPtr, f.col, val)
}

// InverseDiag returns the diagonal of Q⁻¹ at the same cost.
func (f *Factor) InverseDiag(ctx context.Context) ([]float64, error) {
	diag := make([]float64, len(f.order))
	return diag, f.invert(ctx, diag, nil)
}

// invert sets the diagonal of the inverse, if it is wanted, and its elements at the entries of one triangle, likewise.
func (f *Factor) invert(ctx context.Context, diag, val []float64) error {
	blocks := make([][]float64, f.len())
	f.plan().down(func(w *walker, k int) {
		if ctx.Err() == nil {
			f.inverse(w, k, blocks, diag, val)
		}
	})
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("selected inverse: %w", err)
	}
	return nil
}

// inverted is the front of a supernode on its way to the inverse: both triangles, rows and columns of the supernode first, those
// below from a multiple of 4 on. Columns are contiguous, step apart.
type inverted struct {
	w, r, top, step int // columns, rows below and where these begin
	data            []float64
	s               []float64 // the columns of L with the identity for the diagonal block, then all times its inverse
	corner          []float64 // the new diagonal block
	at              []int32
}

// inverse computes the columns of supernode k of the inverse from the square of the rows below,
//
//	Y = L21·L11⁻¹, Z21 = −Z22·Y, Z11 = L11⁻ᵀ·L11⁻¹ − Yᵀ·Z21,
//
// and gives each child the square of its rows.
func (f *Factor) inverse(w *walker, k int, blocks [][]float64, diag, val []float64) {
	z := &w.inverted
	z.load(f, k, blocks[k])
	blocks[k] = nil
	w.stack.pop(int32(k))
	z.columns(f.l[f.at[k]:], f.height(k))
	first := int(f.first[k])
	for j := range z.w {
		col := z.data[j*z.step:][:z.step]
		if diag != nil {
			diag[f.order[first+j]] = col[j]
		}
		if val != nil {
			for _, e := range f.place[f.column[first+j]:f.column[first+j+1]] {
				val[e.entry] = col[z.row(e.row)]
			}
		}
	}
	for _, c := range f.childrenOf(k) {
		rows := f.inParent[f.ptr[c]:f.ptr[c+1]]
		size := triangle(len(rows))
		if f.work[c] <= w.below {
			blocks[c] = make([]float64, size)
		} else {
			blocks[c] = w.stack.push(c, size)
		}
		z.give(blocks[c], rows)
	}
}

// row is the place of a row of the front.
func (z *inverted) row(i int32) int {
	if int(i) < z.w {
		return int(i)
	}
	return int(i) - z.w + z.top
}

// room returns n zeros in the memory of x.
func room(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n+n/4)[:n]
	}
	x = x[:n]
	clear(x)
	return x
}

// load sets the square of the rows below, whose lower triangle is given column by column, and the columns of L.
func (z *inverted) load(f *Factor, k int, square []float64) {
	z.w, z.r = f.width(k), f.height(k)-f.width(k)
	z.top = up4(z.w)
	z.step = z.top + up4(z.r)
	z.data = room(z.data, z.step*(z.top+z.r)+16)
	z.s = room(z.s, z.step*z.w+16)
	z.corner = room(z.corner, z.top*z.w+16)
	spread(z.r, z.r, func(lo, hi int) {
		from := square[lo*z.r-lo*(lo-1)/2:]
		for j := lo; j < hi; j++ {
			to := z.data[(z.top+j)*z.step+z.top+j:]
			from = from[copy(to, from[:z.r-j]):]
		}
	})
	spread(z.r, z.r, func(lo, hi int) {
		for j := lo; j < hi; j++ {
			to := z.data[(z.top+j)*z.step+z.top:][:j]
			for i := range to {
				to[i] = z.data[(z.top+i)*z.step+z.top+j]
			}
		}
	})
	high, l := f.height(k), f.l[f.at[k]:]
	for j := range z.w {
		z.s[j*z.step+j] = 1
		copy(z.s[j*z.step+z.top:], l[j*high+z.w:(j+1)*high])
	}
}

// columns computes the columns of the supernode.
func (z *inverted) columns(l []float64, high int) {
	z.divide(l, high, 0, z.w)
	z.multiply()
	for j := range z.w {
		for i := range z.w {
			z.data[j*z.step+i] = -z.s[j*z.step+i]
		}
	}
	if z.w <= narrow {
		dense.SubDots(z.step, z.w, z.w, z.s, z.step, z.data, z.step, z.corner, z.top)
	} else {
		corner := dense.Matrix{Rows: z.w, Cols: z.w, RowStep: 1, ColStep: z.top, Data: z.corner}
		dense.Add(corner, -1, z.view(z.s, 0, z.step).T(), z.view(z.data, 0, z.step))
	}
	for j := range z.w {
		copy(z.data[j*z.step:][:z.w], z.corner[j*z.top:])
	}
}

// multiply sets the rows below to −Z22·Y.
func (z *inverted) multiply() {
	if z.r == 0 {
		return
	}
	square := z.data[z.top*z.step+z.top:]
	if z.w <= narrow {
		dense.SubColumns(z.step-z.top, z.r, z.w, square, z.step, z.s[z.top:], 1, z.step, z.data[z.top:], z.step)
		return
	}
	rows := dense.Matrix{Rows: z.r, Cols: z.r, RowStep: 1, ColStep: z.step, Data: square}
	dense.Add(z.view(z.data, z.top, z.top+z.r), -1, rows, z.view(z.s, z.top, z.top+z.r))
}

// view is rows [lo, hi) of the first w columns of x.
func (z *inverted) view(x []float64, lo, hi int) dense.Matrix {
	return dense.Matrix{Rows: z.step, Cols: z.w, RowStep: 1, ColStep: z.step, Data: x}.Block(lo, hi, 0, z.w)
}

// divide multiplies columns [lo, hi) of s, from which all later columns have been subtracted, by the inverse of their
// diagonal block, from the last to the first.
func (z *inverted) divide(l []float64, high, lo, hi int) {
	if hi-lo > narrow {
		half := lo + ((hi-lo)/2+3)&^3
		z.divide(l, high, half, hi)
		factor := dense.Matrix{Rows: high, Cols: z.w, RowStep: 1, ColStep: high, Data: l}
		s := dense.Matrix{Rows: z.step, Cols: z.w, RowStep: 1, ColStep: z.step, Data: z.s}
		dense.Add(s.Block(half, z.step, lo, half), -1, s.Block(half, z.step, half, hi), factor.Block(half, hi, lo, half))
		z.divide(l, high, lo, half)
		return
	}
	for j := lo + (hi-lo-1)/4*4; j >= lo; j -= 4 {
		group, next := min(4, hi-j), min(hi, j+4)
		if next < hi {
			dense.SubColumns(z.step-j, hi-next, group, z.s[next*z.step+j:], z.step, l[j*high+next:], 1, high, z.s[j*z.step+j:], z.step)
		}
		for q := j + group - 1; q >= j; q-- {
			to := z.s[q*z.step+j : (q+1)*z.step]
			for p := q + 1; p < j+group; p++ {
				by := l[q*high+p]
				for i, v := range z.s[p*z.step+j:][:len(to)] {
					to[i] -= float64(by * v)
				}
			}
			inverse := 1 / l[q*high+q]
			for i := range to {
				to[i] *= inverse
			}
		}
	}
}

// give sets the lower triangle of some rows and columns, column by column.
func (z *inverted) give(square []float64, rows []int32) {
	z.at = z.at[:0]
	for _, row := range rows {
		z.at = append(z.at, int32(z.row(row)))
	}
	spread(len(rows), len(rows), func(lo, hi int) {
		to := square[lo*len(rows)-lo*(lo-1)/2:]
		for j := lo; j < hi; j++ {
			from := z.data[int(z.at[j])*z.step:][:z.step]
			for i, row := range z.at[j:] {
				to[i] = from[row]
			}
			to = to[len(rows)-j:]
		}
	})
}
