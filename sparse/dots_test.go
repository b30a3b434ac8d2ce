package sparse

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestDots compares products of rows with the definition, bit for bit, and with the plain
// sum.
func TestDots(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	for width := 1; width <= 40; width++ {
		v := randomBlock(50, width, width+width%3)
		u, dst, want := make([]float64, width), make([]float64, 30), make([]float64, 30)
		cols := make([]uint32, 30)
		for i := range u {
			u[i] = random.NormFloat64()
		}
		for e := range cols {
			cols[e] = uint32(random.IntN(50))
		}
		Dots(dst, u, v, cols)
		dotRowsGo(want, u, v, cols)
		for e, c := range cols {
			plain := 0.0
			for w, x := range u {
				plain += x * v.Data[int(c)*v.Stride+w]
			}
			if dst[e] != want[e] || math.Abs(dst[e]-plain) > 1e-13*float64(width) {
				t.Fatalf("width %d, entry %d: %v, defined as %v, plain sum %v", width, e, dst[e], want[e], plain)
			}
		}
	}
	Dots(nil, nil, randomBlock(1, 1, 1), nil)
}

// TestDotsSingle is TestDots for float32.
func TestDotsSingle(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	for width := 0; width <= 40; width += 8 {
		v := randomSingle(50, width, width+width%3)
		u, dst, want := make([]float32, width), make([]float64, 30), make([]float64, 30)
		cols := make([]uint32, 30)
		for i := range u {
			u[i] = float32(random.NormFloat64())
		}
		for e := range cols {
			cols[e] = uint32(random.IntN(50))
		}
		DotsSingle(dst, u, v, cols)
		dotRowsSingleGo(want, u, v, cols)
		for e, c := range cols {
			plain := 0.0
			for w, x := range u {
				plain += float64(x) * float64(v.Data[int(c)*v.Stride+w])
			}
			if dst[e] != want[e] || math.Abs(dst[e]-plain) > 1e-6*float64(width) {
				t.Fatalf("width %d, entry %d: %v, defined as %v, plain sum %v", width, e, dst[e], want[e], plain)
			}
		}
	}
}
