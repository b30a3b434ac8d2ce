package space_test

import (
	"math"
	"testing"

	"grfgp/internal/ranks"
	"grfgp/space"
	"grfgp/sparse"
)

// Aᵀ·diag(w)·A is that of its definition, with columns that come twice in a row, in any order and not at all.
func TestGram(t *testing.T) {
	examine(t, func(e *exam) {
		for _, n := range []int{0, 1, 3000, 20 * ranks.BlockRows} {
			const m = 40
			a := entries{n: n, m: m, ptr: []int{0}}
			for i := range n {
				for range e.random.IntN(6) {
					a.col = append(a.col, uint32((i/(n/20+1)+e.random.IntN(7)*e.random.IntN(4))%(m-1)))
				}
				a.ptr = append(a.ptr, len(a.col))
			}
			a.val = e.numbers(len(a.col))
			w := make([]float64, n)
			for i := range w {
				w[i] = 0.05 + float64(i%7)/10
			}
			want := make([]float64, m*m)
			for i := 0; i < n && e.way == plain; i++ {
				for p := a.ptr[i]; p < a.ptr[i+1]; p++ {
					for q := a.ptr[i]; q < a.ptr[i+1]; q++ {
						want[int(a.col[p])*m+int(a.col[q])] += w[i] * a.val[p] * a.val[q]
					}
				}
			}
			rows := e.axis(n)
			mine := a.own(rows)
			csr, err := sparse.NewCSR(rows.Own, m, mine.Ptr, mine.Col, mine.Val)
			must(err)
			got, err := space.Gram(e.space, rows, csr, own(rows, 1, w))
			must(err)
			e.check("Gram", got.Data, want)
		}
	})
}

// Squares that float64 does not hold are not numbers of whatever size.
func TestGramOutOfRange(t *testing.T) {
	t.Parallel()
	for _, v := range []float64{1e200, 1e160} {
		a, err := sparse.NewCSR(1, 2, []int{0, 1}, []uint32{1}, []float64{v})
		if err != nil {
			t.Fatal(err)
		}
		got, err := space.Gram(space.Host(), space.Rows(1), a, []float64{1})
		if err != nil || !math.IsNaN(got.Data[3]) {
			t.Errorf("the square of %g is %v: %v", v, got.Data[3], err)
		}
	}
}
