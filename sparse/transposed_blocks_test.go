package sparse

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/rng"
)

// TestTransposedBlocks compares the sums of blocks of rows with plain loops.
func TestTransposedBlocks(t *testing.T) {
	t.Parallel()
	const rows, cols, columns = 103, 17, 3
	r := rand.New(rng.New(1, "blocks"))
	ptr, col, val := []int{0}, []uint32(nil), []float64(nil)
	for i := range rows {
		for range r.IntN(4) * min(1, i%40) { // some blocks are empty rows, some columns come twice
			col, val = append(col, uint32(r.IntN(cols))), append(val, r.NormFloat64())
		}
		ptr = append(ptr, len(col))
	}
	a, err := NewCSR(rows, cols, ptr, col, val)
	if err != nil {
		t.Fatal(err)
	}
	x := mat.NewDense(rows, columns, nil)
	for i := range rows {
		for s := range columns {
			x.Set(i, s, r.NormFloat64())
		}
	}
	for _, size := range []int{1, 10, 103, 200} {
		b, met, starts := a.TransposedBlocks(size)
		if len(starts) != (rows+size-1)/size+1 || starts[len(starts)-1] != len(met) {
			t.Fatalf("blocks of %d rows begin at %v", size, starts)
		}
		got := mat.NewDense(len(met), columns, nil)
		b.Mul(got, x)
		seen := 0
		for block := range len(starts) - 1 {
			want := mat.NewDense(cols, columns, nil)
			touched := make([]bool, cols)
			for i := block * size; i < min(rows, (block+1)*size); i++ {
				own, vals := a.Row(i)
				for p, j := range own {
					touched[j] = true
					for s := range columns {
						want.Set(int(j), s, want.At(int(j), s)+vals[p]*x.At(i, s))
					}
				}
			}
			for q := starts[block]; q < starts[block+1]; q++ {
				if q > starts[block] && met[q-1] >= met[q] {
					t.Fatalf("block %d of %d rows: columns do not increase", block, size)
				}
				touched[met[q]] = false
				seen++
				for s := range columns {
					if got.At(q, s) != want.At(int(met[q]), s) {
						t.Fatalf("block %d of %d rows, column %d: %v, want %v", block, size, met[q], got.At(q, s), want.At(int(met[q]), s))
					}
				}
			}
			for j, left := range touched {
				if left {
					t.Fatalf("block %d of %d rows has no column %d", block, size, j)
				}
			}
		}
		if seen != len(met) {
			t.Fatalf("%d of %d rows belong to no block", len(met)-seen, len(met))
		}
	}
}
