package sparse

import (
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestTimes compares products with those of dense matrices, over several blocks
// of rows and with columns given twice.
func TestTimes(t *testing.T) {
	t.Parallel()
	for _, size := range [][3]int{{0, 3, 4}, {3, 0, 4}, {1, 1, 1}, {40, 30, 20}, {2500, 60, 50}} {
		a := randomCSR(t, size[0], size[1], func(i int) int { return min(i%5, 4*size[1]) })
		b := randomCSR(t, size[1], size[2], func(i int) int { return i % 7 })
		c, err := a.Times(b)
		if err != nil {
			t.Fatal(err)
		}
		if rows, cols := c.Dims(); rows != size[0] || cols != size[2] {
			t.Fatalf("%v: product is %d×%d", size, rows, cols)
		}
		for i := range size[0] {
			cols, _ := c.Row(i)
			for p := range cols {
				if p > 0 && cols[p-1] >= cols[p] {
					t.Fatalf("%v: columns of row %d do not increase", size, i)
				}
			}
		}
		if size[0]*size[1] == 0 {
			continue
		}
		var want mat.Dense
		want.Mul(dense(a), dense(b))
		if !mat.EqualApprox(dense(c), &want, 1e-13) {
			t.Errorf("%v: product differs from the dense one", size)
		}
	}
}

func dense(a *CSR) *mat.Dense {
	rows, cols := a.Dims()
	d := mat.NewDense(rows, cols, nil)
	for i := range rows {
		for j := range cols {
			d.Set(i, j, a.At(i, j))
		}
	}
	return d
}

// TestTimesMany: a product of several factors has the bits of products of two, one after another.
func TestTimesMany(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	a := bandedCSR(t, 5000, 900)
	b := randomCSR(t, 900, 1200, func(i int) int { return i % 6 })
	c := bandedCSR(t, 1200, 300)
	d := randomCSR(t, 300, 12, func(i int) int { return i % 9 })
	want := a
	for _, m := range []*CSR{b, c, d} {
		var err error
		if want, err = want.Times(m); err != nil {
			t.Fatal(err)
		}
	}
	for _, threads := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(threads)
		got, err := a.Times(b, c, d)
		if err != nil {
			t.Fatal(err)
		}
		if got.rows != want.rows || got.cols != want.cols || !slices.Equal(got.rowPtr, want.rowPtr) || !slices.Equal(got.colIdx, want.colIdx) ||
			!slices.Equal(got.val, want.val) {
			t.Errorf("another product with %d threads", threads)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic for sizes that do not fit")
		}
	}()
	_, _ = a.Times(b, d)
}
