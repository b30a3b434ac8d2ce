package walk

import (
	"context"
	"math"
	"slices"
	"testing"

	"grfgp/sparse"
)

// hubAndLeaves is D^-½AD^-½ of a hub, node 0, with so many leaves, and √D.
func hubAndLeaves(t *testing.T, leaves int) (*sparse.CSR, []float64) {
	t.Helper()
	n := leaves + 1
	ptr, col, val, scale := make([]int, n+1), []uint32{}, []float64{}, make([]float64, n)
	w := 1 / math.Sqrt(float64(leaves))
	for j := 1; j < n; j++ {
		col, val = append(col, uint32(j)), append(val, w)
	}
	ptr[1] = leaves
	scale[0] = math.Sqrt(float64(leaves))
	for j := 1; j < n; j++ {
		col, val = append(col, 0), append(val, w)
		ptr[j+1], scale[j] = len(col), 1
	}
	a, err := sparse.NewCSR(n, n, ptr, col, val)
	if err != nil {
		t.Fatal(err)
	}
	return a, scale
}

// The square of a hub's row is what its variance is: with a walker per neighbour
// it is right to 2 %, where ten walkers make it many times too high. Rows of
// nodes with few neighbours do not change.
func TestHubWalks(t *testing.T) {
	t.Parallel()
	const leaves = 500
	w, scale := hubAndLeaves(t, leaves)
	opts := Options{Walks: 10, MaxLen: 5, Budget: 20, Seed: 3, Scale: scale}
	// exp(−L̃) by lengths: on a star W^l is known, (W^l)_00 = 1 for even l, and so
	// is the square of each row of the hub.
	coeff := make([]float64, opts.MaxLen+1)
	even, odd := 0.0, 0.0
	for l := range coeff {
		coeff[l] = math.Exp(-0.5)
		for k := 1; k <= l; k++ {
			coeff[l] *= 0.5 / float64(k)
		}
		if l%2 == 0 {
			even += coeff[l]
		} else {
			odd += coeff[l]
		}
	}
	want := even*even + odd*odd
	square := func(f *Features) float64 {
		row := make([]float64, len(f.Reached(0)))
		f.CombineRow(row, coeff, 0)
		sum := 0.0
		for _, v := range row {
			sum += v * v
		}
		return sum
	}
	few, err := Sample(context.Background(), w, opts)
	if err != nil {
		t.Fatal(err)
	}
	opts.HubWalks = 1
	many, err := Sample(context.Background(), w, opts)
	if err != nil {
		t.Fatal(err)
	}
	if got := square(few); got < 3*want {
		t.Errorf("ten walkers give %v for %v: there is nothing to show", got, want)
	}
	if got := square(many); math.Abs(got/want-1) > 0.02 {
		t.Errorf("a walker per neighbour gives %v, want %v", got, want)
	}
	for i := 1; i <= leaves; i++ {
		before, after := make([]float64, len(few.Reached(i))), make([]float64, len(many.Reached(i)))
		few.CombineRow(before, coeff, i)
		many.CombineRow(after, coeff, i)
		if !slices.Equal(few.Reached(i), many.Reached(i)) || !slices.Equal(before, after) {
			t.Fatalf("row %d has changed", i)
		}
	}
	if _, err := Sample(context.Background(), w, Options{Walks: 1, HubWalks: math.NaN()}); err == nil {
		t.Error("NaN walkers")
	}
}
