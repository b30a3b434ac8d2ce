package dense

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"grfgp/internal/rng"
	"grfgp/internal/testkit"
)

// Sizes around tiles, blocks and the depth of a sum: rows, columns, steps.
var shapes = [][3]int{
	{0, 3, 2}, {3, 0, 2}, {3, 2, 0}, {1, 1, 1}, {1, 30, 7}, {30, 1, 7}, {3, 5, 1}, {4, 12, 4}, {5, 13, 3}, {7, 11, 9},
	{17, 25, 127}, {23, 24, 128}, {25, 37, 129}, {50, 100, 400}, {191, 97, 33}, {193, 385, 40}, {200, 390, 201},
	{48, 1, 129}, {100, 4, 300}, {131, 7, 260}, {4000, 8, 140}, {5, 97, 131},
}

// random returns a matrix of normals with room after every row.
func random(rows, cols int, transposed bool, seed uint64) Matrix {
	if transposed {
		return random(cols, rows, false, seed).T()
	}
	r := rand.New(rng.New(seed, "dense"))
	m := Matrix{Rows: rows, Cols: cols, RowStep: cols + 3, ColStep: 1, Data: make([]float64, rows*(cols+3))}
	for i := range m.Data {
		m.Data[i] = r.NormFloat64()
	}
	return m
}

func clone(m Matrix) Matrix {
	m.Data = append([]float64(nil), m.Data...)
	return m
}

// definition is the product element by element, with room that must not change.
func definition(want part, c Matrix, alpha float64, a, b Matrix) Matrix {
	c = clone(c)
	for i := range c.Rows {
		for j := range c.Cols {
			if want == lower && j > i {
				continue
			}
			for p := 0; p < a.Cols; p += depth {
				sum := 0.0
				for q := p; q < min(a.Cols, p+depth); q++ {
					sum = math.FMA(*a.At(i, q), *b.At(q, j), sum)
				}
				*c.At(i, j) = math.FMA(alpha, sum, *c.At(i, j))
			}
		}
	}
	return c
}

// TestAdd compares products with their definition bit by bit, for all ways to
// lie in memory, on one processor and on several.
func TestAdd(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, s := range shapes {
		for way := range 8 {
			a := random(s[0], s[2], way&1 > 0, 1)
			b := random(s[2], s[1], way&2 > 0, 2)
			c := random(s[0], s[1], way&4 > 0, 3)
			for want, do := range map[part]func(c Matrix, alpha float64, a, b Matrix){whole: Add, lower: AddLower} {
				expected := definition(want, c, -0.7, a, b)
				for _, procs := range testkit.FewIfRaced(1, []int{5, 1, 2}) {
					runtime.GOMAXPROCS(procs)
					got := clone(c)
					do(got, -0.7, a, b)
					for i, v := range expected.Data {
						if got.Data[i] != v {
							t.Fatalf("%v, way %d, part %d, %d processors: element %d is %v, want %v", s, way, want, procs, i, got.Data[i], v)
						}
					}
				}
			}
		}
	}
}

// TestMul: what was there before has no say.
func TestMul(t *testing.T) {
	t.Parallel()
	for way := range 8 {
		a, b := random(30, 20, way&1 > 0, 1), random(20, 40, way&2 > 0, 2)
		got := random(30, 40, way&4 > 0, 3)
		want := clone(got)
		for i := range want.Rows {
			for j := range want.Cols {
				*want.At(i, j) = 0
				*got.At(i, j) = math.NaN()
			}
		}
		want = definition(whole, want, 1, a, b)
		Mul(got, a, b)
		for i, v := range want.Data {
			if got.Data[i] != v {
				t.Fatalf("way %d: element %d is %v, want %v", way, i, got.Data[i], v)
			}
		}
	}
}

// TestAddAgainstGonum: both are within steps roundings of the exact product, so
// they differ by at most 2·steps·2⁻⁵³·Σ|a||b|, which is below 2·steps·2⁻⁵³·steps·25
// for normals under 5.
func TestAddAgainstGonum(t *testing.T) {
	t.Parallel()
	for _, s := range shapes {
		if s[0]*s[1]*s[2] == 0 {
			continue
		}
		a, b, c := random(s[0], s[2], false, 1), random(s[2], s[1], false, 2), random(s[0], s[1], false, 3)
		want := clone(c)
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 2, general(a), general(b), 1, general(want))
		Add(c, 2, a, b)
		bound := 2 * 2 * float64(s[2]+1) * 0x1p-53 * float64(s[2]+1) * 25
		for i, v := range want.Data {
			if d := math.Abs(c.Data[i] - v); d > bound {
				t.Fatalf("%v: element %d differs by %g, more than %g", s, i, d, bound)
			}
		}
	}
}

func general(m Matrix) blas64.General {
	return blas64.General{Rows: m.Rows, Cols: m.Cols, Stride: m.RowStep, Data: m.Data}
}

// TestTile compares the kernel in use with its definition bit by bit.
func TestTile(t *testing.T) {
	t.Parallel()
	for steps := 1; steps <= 20; steps++ {
		a, b := random(steps, tileRows, false, 1), random(steps, tileCols, false, 2)
		got := random(tileRows, tileCols, false, 3)
		want := clone(got)
		left, right := make([]float64, steps*tileRows), make([]float64, steps*tileCols)
		pack(left, a, tileRows)
		pack(right, b, tileCols)
		tile(steps, 1.3, left, right, got.Data, got.RowStep)
		tileGo(steps, 1.3, left, right, want.Data, want.RowStep)
		for i, v := range want.Data {
			if got.Data[i] != v {
				t.Fatalf("%d steps: element %d is %v, want %v", steps, i, got.Data[i], v)
			}
		}
	}
}

func TestAddPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("a product that does not fit passes")
		}
	}()
	Add(random(2, 2, false, 1), 1, random(2, 3, false, 1), random(2, 2, false, 1))
}

func TestAddAllocations(t *testing.T) {
	a, b, c := random(30, 30, false, 1), random(30, 30, true, 2), random(30, 30, false, 3)
	Add(c, 1, a, b)
	if allocs := testing.AllocsPerRun(20, func() { Add(c, 1, a, b) }); allocs >= 1 {
		t.Errorf("%v allocations a product", allocs)
	}
}

// BenchmarkAdd reports the speed of products beside gonum's.
func BenchmarkAdd(b *testing.B) {
	for _, s := range [][3]int{{1400, 1400, 1400}, {700, 700, 700}, {192, 192, 192}, {1400, 1400, 64}, {48, 1400, 48}, {24, 192, 24},
		{4096, 4, 512}, {512, 4, 4096}} {
		x, y, c := random(s[0], s[2], false, 1), random(s[2], s[1], false, 2), random(s[0], s[1], false, 3)
		flops, below := 2*float64(s[0]*s[1]*s[2]), 0.0
		for i := range s[0] {
			below += 2 * float64(min(i+1, s[1])*s[2])
		}
		for _, run := range []struct {
			name  string
			flops float64
			do    func()
		}{
			{"whole", flops, func() { Add(c, 1, x, y) }},
			{"lower", below, func() { AddLower(c, 1, x, y) }},
			{"gonum", flops, func() { blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, general(x), general(y), 1, general(c)) }},
		} {
			b.Run(fmt.Sprintf("%dx%dx%d/%s", s[0], s[1], s[2], run.name), func(b *testing.B) {
				for b.Loop() {
					run.do()
				}
				b.ReportMetric(run.flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFlop/s")
			})
		}
	}
}
