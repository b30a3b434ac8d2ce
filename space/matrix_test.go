package space_test

import (
	"fmt"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/ranks"
	"grfgp/space"
	"grfgp/sparse"
)

// entries are those of a sparse matrix of all processes.
type entries struct {
	n, m int
	ptr  []int
	col  []uint32
	val  []float64
}

// entries returns a matrix with empty rows, columns that come twice and in any order, and a row of many entries.
func (e *exam) entries(n, m int) entries {
	a := entries{n: n, m: m, ptr: []int{0}}
	for i := range n {
		count := e.random.IntN(6)
		switch {
		case m == 0:
			count = 0
		case i == n/3:
			count = 700
		}
		for range count {
			j := e.random.IntN(m)
			if e.random.IntN(4) > 0 { // near the diagonal
				j = min(m-1, i*m/n+e.random.IntN(20))
			}
			a.col = append(a.col, uint32(j))
		}
		a.ptr = append(a.ptr, len(a.col))
	}
	a.val = e.numbers(len(a.col))
	return a
}

// own returns the rows of this process.
func (a entries) own(rows space.Axis) space.Entries {
	_, lo := rows.All()
	of := space.Entries{Ptr: make([]int, rows.Own+1)}
	for i := range of.Ptr {
		of.Ptr[i] = a.ptr[lo+i] - a.ptr[lo]
	}
	of.Col, of.Val = a.col[a.ptr[lo]:a.ptr[lo+rows.Own]], a.val[a.ptr[lo]:a.ptr[lo+rows.Own]]
	return of
}

// loop is the product of a matrix with k columns.
type loop func(x []float64, k int) []float64

// times returns M·x, and timesT Mᵀ·x.
func (a entries) times(x []float64, k int) []float64 {
	out := make([]float64, a.n*k)
	a.each(func(i, j int, v float64) { addRow(out[i*k:][:k], v, x[j*k:]) })
	return out
}

func (a entries) timesT(x []float64, k int) []float64 {
	out := make([]float64, a.m*k)
	a.each(func(i, j int, v float64) { addRow(out[j*k:][:k], v, x[i*k:]) })
	return out
}

func (a entries) each(do func(i, j int, v float64)) {
	for i := range a.n {
		for q := a.ptr[i]; q < a.ptr[i+1]; q++ {
			do(i, int(a.col[q]), a.val[q])
		}
	}
}

func addRow(to []float64, factor float64, row []float64) {
	for t := range to {
		to[t] += factor * row[t]
	}
}

// checkProducts checks products of a matrix with blocks, and of its transpose if it has those, set and added, with and
// without a factor.
func (e *exam) checkProducts(what string, m space.Matrix, rows, columns space.Axis, k int, times, timesT loop) {
	of := func(what string, to, from space.Axis, mul func(dst, x space.Block, scale float64, add bool), times loop) {
		n, _ := to.All()
		width, _ := from.All()
		x, before := e.numbers(width*k), e.numbers(n*k)
		var product []float64
		if e.way == plain {
			product = times(x, k)
		}
		bx := e.block(from, k, x)
		for _, add := range []bool{false, true} {
			for _, scale := range []float64{1, -0.7} {
				dst := e.fresh(to, k)
				if add {
					dst.Set(own(to, k, before))
				}
				mul(dst, bx, scale, add)
				e.check(fmt.Sprintf("%s of %d×%d, %d columns, added %v, scale %g", what, n, width, k, add, scale), e.all(dst),
					e.table(n, k, func(i, t int) float64 {
						v := scale * product[i*k+t]
						if add {
							v += before[i*k+t]
						}
						return v
					}))
				free(dst)
			}
		}
		e.check(what+" reads x", e.all(bx), x)
		free(bx)
	}
	of(what, rows, columns, func(dst, x space.Block, scale float64, add bool) { m.Mul(dst, x, 0, scale, add) }, times)
	if timesT != nil {
		of(what+", transposed", columns, rows, m.MulT, timesT)
	}
}

// checkSome checks products of the rows from lo on, of a matrix that is not shared, in the memory of a process.
func (e *exam) checkSome(what string, m space.Matrix, n, lo, columns, k int, times loop) {
	if space.DeviceOf(e.space) != nil || lo > n {
		return
	}
	x := e.numbers(columns * k)
	product := times(x, k)
	bx := e.block(space.Rows(columns), k, x)
	for _, rows := range []int{0, min(10, n-lo), n - lo} {
		before := e.numbers(rows * k)
		for _, add := range []bool{false, true} {
			dst := e.fresh(space.Rows(rows), k)
			if add {
				dst.Set(before)
			}
			m.Mul(dst, bx, lo, 2, add)
			want := make([]float64, rows*k)
			for q := range want {
				if want[q] = 2 * product[lo*k+q]; add {
					want[q] += before[q]
				}
			}
			e.check(fmt.Sprintf("%s, %d rows from %d on, added %v", what, rows, lo, add), e.all(dst), want)
			free(dst)
		}
	}
	free(bx)
}

// Sparse matrices: processes share rows and columns, or rows alone, or nothing.
func TestSparse(t *testing.T) {
	examine(t, func(e *exam) {
		for _, shape := range shapes {
			a := e.entries(shape[0], shape[1])
			local := space.Rows(a.n)
			for _, way := range []struct {
				name          string
				rows, columns space.Axis
			}{
				{"shared", e.axis(a.n), e.axis(a.m)},
				{"shared rows", e.axis(a.n), space.Rows(a.m)},
				{"not shared", local, space.Rows(a.m)},
			} {
				m, err := e.space.Sparse(e, way.rows, way.columns, a.own(way.rows))
				must(err)
				for _, k := range []int{1, 4, 40} {
					e.checkProducts(way.name, m, way.rows, way.columns, k, a.times, a.timesT)
				}
				m.Free()
			}
			csr, err := sparse.NewCSR(a.n, a.m, a.ptr, a.col, a.val)
			must(err)
			m, err := e.space.Sparse(e, local, space.Rows(a.m), space.Of(csr))
			must(err)
			e.checkProducts("of CSR", m, local, space.Rows(a.m), 4, a.times, a.timesT)
			e.checkSome("sparse", m, a.n, 7, a.m, 5, a.times)
			m.Free()
			if a.m > 0 {
				bad := a.own(local)
				bad.Col = append(slices.Clone(bad.Col), uint32(a.m))
				bad.Val, bad.Ptr = append(slices.Clone(bad.Val), 1), append(slices.Clone(bad.Ptr), len(bad.Col))
				if _, err := e.space.Sparse(e, space.Rows(a.n+1), space.Rows(a.m), bad); err == nil {
					panic("an entry beyond the last column")
				}
			}
		}
	})
}

// Dense matrices of few columns, which all processes have.
func TestDense(t *testing.T) {
	examine(t, func(e *exam) {
		for _, n := range rowCounts[:len(rowCounts)-1] {
			for _, width := range []int{1, 5, 20} {
				all := e.numbers(n * width)
				times := func(x []float64, k int) []float64 {
					out := make([]float64, n*k)
					for i := range n {
						for j := range width {
							addRow(out[i*k:][:k], all[i*width+j], x[j*k:])
						}
					}
					return out
				}
				timesT := func(x []float64, k int) []float64 {
					out := make([]float64, width*k)
					for i := range n {
						for j := range width {
							addRow(out[j*k:][:k], all[i*width+j], x[i*k:])
						}
					}
					return out
				}
				for local, rows := range []space.Axis{e.axis(n), space.Rows(n)} {
					x := &mat.Dense{}
					if rows.Own > 0 { // a part of a wider matrix
						x = mat.NewDense(rows.Own, width+2, nil).Slice(0, rows.Own, 1, width+1).(*mat.Dense)
						x.Copy(mat.NewDense(rows.Own, width, slices.Clone(own(rows, width, all))))
					}
					m := e.space.Dense(rows, x)
					for _, k := range columnCounts {
						e.checkProducts("dense", m, rows, space.Rows(width), k, times, timesT)
					}
					if local == 1 {
						e.checkSome("dense", m, n, 3, width, 4, times)
					}
					m.Free()
				}
			}
		}
	})
}

// Compact matrices: products by rows alone, in the float64 memory of a single process and on a card.
func TestCompact(t *testing.T) {
	examineAlone(t, func(e *exam) {
		for _, shape := range [][2]int{{0, 5}, {5, 0}, {1, 1}, {700, 300}, {2500, 100_000}} {
			a := e.entries(shape[0], shape[1])
			c := sparse.NewCompact(a.n, a.m, ranks.BlockRows)
			for b := range c.Blocks() {
				lo, hi := b*ranks.BlockRows, min(a.n, (b+1)*ranks.BlockRows)
				var ends []uint32
				for _, p := range a.ptr[lo+1 : hi+1] {
					ends = append(ends, uint32(p-a.ptr[lo]))
				}
				must(c.Set(b, ends, a.col[a.ptr[lo]:a.ptr[hi]], a.val[a.ptr[lo]:a.ptr[hi]]))
			}
			rows, columns := space.Rows(a.n), space.Rows(a.m)
			m := e.space.Compact(rows, columns, c)
			if (m == nil) != e.space.Single() {
				panic("a compact matrix of float32, or none of float64")
			}
			if e.check("compact", nil, nil); m == nil {
				continue
			}
			for _, k := range columnCounts {
				e.checkProducts("compact", m, rows, columns, k, a.times, nil)
			}
			e.checkSome("compact", m, a.n, 0, a.m, 3, a.times)
			e.checkSome("compact", m, a.n, ranks.BlockRows, a.m, 3, a.times)
			m.Free()
		}
	})
}
