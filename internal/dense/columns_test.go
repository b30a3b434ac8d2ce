package dense

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"grfgp/internal/rng"
)

// TestColumns: small products in place are what their definitions are, to the bit, whatever the size, and right.
func TestColumns(t *testing.T) {
	t.Parallel()
	const lStep, rightStep, rightCol, cStep, xStep = 44, 3, 31, 45, 47
	s := rng.New(1, "columns")
	random := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = s.Float64() - 0.5
		}
		return x
	}
	l, right, x, c := random(40*lStep), random(600), random(20*xStep), random(40*cStep)
	for _, rows := range []int{4, 8, 12, 16, 40} {
		for _, steps := range []int{1, 2, 7, 30} {
			for _, cols := range []int{1, 2, 3, 4, 5, 7, 11} {
				name := fmt.Sprint(rows, steps, cols)
				got, want := slices.Clone(c), slices.Clone(c)
				SubColumns(rows, steps, cols, l, lStep, right, rightStep, rightCol, got, cStep)
				columnsGo(rows, steps, cols, l, lStep, right, rightStep, rightCol, want, cStep)
				if !slices.Equal(got, want) {
					t.Errorf("columns %s: other bits than the definition", name)
				}
				sum := c[(cols-1)*cStep]
				for p := range steps {
					sum -= l[p*lStep] * right[p*rightStep+(cols-1)*rightCol]
				}
				if math.Abs(sum-want[(cols-1)*cStep]) > 1e-14 {
					t.Errorf("columns %s: %v, want %v", name, want[(cols-1)*cStep], sum)
				}
				got, want = slices.Clone(c), slices.Clone(c)
				SubDots(rows, steps, cols, l, lStep, x, xStep, got, cStep)
				dotsGo(rows, steps, cols, l, lStep, x, xStep, want, cStep)
				if !slices.Equal(got, want) {
					t.Errorf("dots %s: other bits than the definition", name)
				}
				sum = c[(cols-1)*cStep]
				for i := range rows {
					sum -= l[i] * x[(cols-1)*xStep+i]
				}
				if math.Abs(sum-want[(cols-1)*cStep]) > 1e-14 {
					t.Errorf("dots %s: %v, want %v", name, want[(cols-1)*cStep], sum)
				}
			}
		}
	}
}
