package space

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"grfgp/internal/ranks"
)

// TestSweeps: every sweep has the bits of its definition, for all widths and numbers
// of rows, with and without a diagonal.
func TestSweeps(t *testing.T) {
	t.Parallel()
	t.Run("float64", testSweeps[float64])
	t.Run("float32", testSweeps[float32])
}

func testSweeps[F floats](t *testing.T) {
	type sweep struct {
		name       string
		fast, slow func(*operands[F], []float64)
	}
	random := rand.New(rand.NewPCG(1, 2))
	numbers := func(n int) []F {
		x := make([]F, n)
		for i := range x {
			x[i] = F(random.NormFloat64())
		}
		return x
	}
	for _, s := range []sweep{
		{"turn", turnRows[F], turnGo[F]},
		{"curvature", curvatureRows[F], curvatureGo[F]},
		{"step", stepRows[F], stepGo[F]},
		{"dot", dotRows[F], dotGo[F]},
		{"recur", recurRows[F], recurGo[F]},
		{"begin", beginRows[F], beginGo[F]},
		{"rest", restRows[F], restGo[F]},
	} {
		for columns := 1; columns <= 19; columns++ {
			for _, rows := range []int{1, 2, 63, 65, 130} {
				for _, scaled := range []bool{false, true} {
					n := rows * columns
					a := operands[F]{columns: columns, e: numbers(n), p: numbers(n), q: numbers(n), r: numbers(n), noise: numbers(rows),
						alpha: numbers(columns), beta: numbers(columns), gam: numbers(columns)}
					if scaled {
						a.scale = numbers(rows)
					}
					b := a
					b.e, b.p, b.q, b.r = slices.Clone(a.e), slices.Clone(a.p), slices.Clone(a.q), slices.Clone(a.r)
					sums := make([]float64, 2*columns)
					for j := range sums {
						sums[j] = random.NormFloat64()
					}
					want := slices.Clone(sums)
					s.fast(&a, sums)
					s.slow(&b, want)
					name := fmt.Sprintf("%s, %d×%d, scaled %v", s.name, rows, columns, scaled)
					if !slices.Equal(sums, want) {
						t.Fatalf("%s: sums %v, want %v", name, sums, want)
					}
					for q, pair := range [][2][]F{{a.e, b.e}, {a.p, b.p}, {a.q, b.q}, {a.r, b.r}} {
						if !slices.Equal(pair[0], pair[1]) {
							t.Fatalf("%s: block %d differs", name, q)
						}
					}
				}
			}
		}
	}
}

// TestTreeSum: a range of blocks that is a whole subtree has the same sum alone, and
// the total is that of the blocks.
func TestTreeSum(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for _, blocks := range []int{1, 2, 3, 7, 8, 13, 64, 100} {
		parts := make([]float64, 2*blocks)
		exact := [2]float64{}
		for i := range parts {
			parts[i] = random.NormFloat64()
			exact[i%2] += parts[i]
		}
		total, again := make([]float64, 2), make([]float64, 2)
		// Subtrees first, each by itself.
		var tops []float64
		for lo := 0; lo < blocks; lo += 4 {
			one := make([]float64, 2)
			ranks.TreeSum(one, slices.Clone(parts[2*lo:2*min(blocks, lo+4)]))
			tops = append(tops, one...)
		}
		ranks.TreeSum(again, tops)
		ranks.TreeSum(total, slices.Clone(parts))
		for j := range total {
			if total[j] != again[j] || math.Abs(total[j]-exact[j]) > 1e-12 {
				t.Errorf("%d blocks: %v, by subtrees %v, one after another %v", blocks, total[j], again[j], exact[j])
			}
		}
	}
	if total := []float64{7}; true {
		if ranks.TreeSum(total, nil); total[0] != 0 {
			t.Errorf("no blocks: %v", total)
		}
	}
}

// BenchmarkSweeps reports the bytes that a step and a turn of conjugate gradients move.
func BenchmarkSweeps(b *testing.B) {
	b.Run("float64", benchmarkSweeps[float64])
	b.Run("float32", benchmarkSweeps[float32])
}

func benchmarkSweeps[F floats](b *testing.B) {
	const n = 1 << 19
	size := int(unsafe.Sizeof(F(0)))
	for _, k := range []int{1, 4, 16} {
		h := &host[F]{&link{ctx: context.Background()}}
		e, r, p, q := h.Block(Rows(n), k), h.Block(Rows(n), k), h.Block(Rows(n), k), h.Block(Rows(n), k)
		noise, scale := h.Block(Rows(n), 1), h.Block(Rows(n), 1)
		for _, v := range []Block{e, r, p, q, noise, scale} {
			v.Zero()
		}
		coeff, sums := make([]float64, k), make([]float64, k)
		b.Run(fmt.Sprintf("columns=%d", k), func(b *testing.B) {
			b.SetBytes(int64(11*n*k*size + 4*n*size))
			for b.Loop() {
				p.Turn(r, scale, coeff)
				p.Curvature(sums, q, noise)
				e.Step(sums, sums, r, p, q, noise, scale, coeff)
			}
		})
	}
}
