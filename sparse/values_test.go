package sparse

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// TestSingleMul compares products of float32, at every block width, stride and number of
// threads, with the sum over stored entries as it is written down; the last width goes
// past the caches.
func TestSingleMul(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	all := matrices(t)
	all["large"] = randomCSR(t, 1<<17, 100, func(i int) int { return i % 3 })
	for name, a := range all {
		if a.rows == 0 || a.cols == 0 {
			continue
		}
		widths := []int{64}
		if name != "large" {
			widths = blockWidths()
		}
		for _, width := range widths {
			pad := width % 4
			x := randomSingle(a.cols, width, width+pad)
			want := Block[float32]{Rows: a.rows, Cols: width, Stride: width, Data: make([]float32, a.rows*width)}
			for i := range a.rows {
				cols, vals := a.Row(i)
				for c := range width {
					sum := float32(0)
					for p, j := range cols {
						sum += float32(float32(vals[p]) * x.Data[int(j)*x.Stride+c])
					}
					want.Data[i*width+c] = sum
				}
			}
			for _, threads := range []int{1, 3} {
				runtime.GOMAXPROCS(threads)
				type product = func(a *CSR, val []float32, dst, x Block[float32], lo, hi int)
				for kernel, rows := range map[string]product{"default": mulSingle, "go": mulSingleGo} {
					gap := width % 3
					dst := Block[float32]{Rows: a.rows, Cols: width, Stride: width + gap, Data: make([]float32, a.rows*(width+gap))}
					for i := range dst.Data {
						dst.Data[i] = canary
					}
					a.mulSingle(ValuesOf[float32](a).val, dst, x, rows)
					if kernel == "default" && gap == 0 {
						for name, add := range map[string]product{"default": mulSingleAdd, "go": mulSingleAddGo} {
							sum := Block[float32]{Rows: a.rows, Cols: width, Stride: width, Data: slices.Clone(dst.Data)}
							a.mulSingle(ValuesOf[float32](a).val, sum, x, add)
							for q, v := range sum.Data {
								if v != dst.Data[q]+dst.Data[q] {
									t.Fatalf("%s, adding, width %d: %d is %v, want twice %v", name, width, q, v, dst.Data[q])
								}
							}
						}
					}
					for i := range a.rows {
						for c := range dst.Stride {
							got, right := dst.Data[i*dst.Stride+c], float32(canary)
							if c < width {
								right = want.Data[i*width+c]
							}
							if got != right {
								t.Fatalf("%s, %s, width %d, %d threads: (%d, %d) is %v, want %v", name, kernel, width, threads, i, c, got, right)
							}
						}
					}
				}
			}
		}
	}
}

func TestSingleMulPanics(t *testing.T) {
	t.Parallel()
	a := randomCSR(t, 10, 8, func(int) int { return 2 })
	x := randomSingle(10, 2, 2)
	for name, f := range map[string]func(){
		"sizes": func() {
			ValuesOf[float32](a).Multiply(randomSingle(10, 2, 2), x, 0, false)
		},
		"overlap": func() {
			ValuesOf[float32](a).Multiply(x, Block[float32]{Rows: 8, Cols: 2, Stride: 2, Data: x.Data[:16]}, 0, false)
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func randomSingle(rows, cols, stride int) Block[float32] {
	random := rand.New(rand.NewPCG(uint64(rows), uint64(cols)))
	x := Block[float32]{Rows: rows, Cols: cols, Stride: stride, Data: make([]float32, rows*stride)}
	for i := range x.Data {
		x.Data[i] = float32(random.NormFloat64())
	}
	return x
}
