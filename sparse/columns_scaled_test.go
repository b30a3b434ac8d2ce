package sparse

import "testing"

// TestColumnsScaled: every value is that of a times the number of its column, and a stays as it is.
func TestColumnsScaled(t *testing.T) {
	t.Parallel()
	a, err := NewCSR(3, 4, []int{0, 2, 2, 5}, []uint32{1, 3, 0, 3, 3}, []float64{2, -3, 5, 7, 11})
	if err != nil {
		t.Fatal(err)
	}
	by := []float64{10, 100, 1000, 0.5}
	b := a.ColumnsScaled(by)
	for i := range 3 {
		cols, vals := a.Row(i)
		same, scaled := b.Row(i)
		for p, j := range cols {
			if same[p] != j || scaled[p] != vals[p]*by[j] {
				t.Errorf("row %d, column %d: %g in column %d, want %g", i, j, scaled[p], same[p], vals[p]*by[j])
			}
		}
	}
	if _, vals := a.Row(0); vals[0] != 2 {
		t.Error("the matrix itself has changed")
	}
}
