package sparse

import (
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestTimes compares products with those of dense matrices, over several blocks
// of rows and with columns given twice.
func TestTimes(t *testing.T) {
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
