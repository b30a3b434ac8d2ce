package ranks

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// together runs ranks and fails the test on an error.
func together(t *testing.T, size int, run func(ctx context.Context, g *Group) error) {
	t.Helper()
	if err := Together(t.Context(), size, run); err != nil {
		t.Fatal(err)
	}
}

func TestGather(t *testing.T) {
	t.Parallel()
	for size := 1; size <= 4; size++ {
		together(t, size, func(ctx context.Context, g *Group) error {
			own := slices.Repeat([]int32{int32(g.Rank())}, g.Rank()+1)
			all, starts, err := Gather(ctx, g, own)
			if err != nil {
				return err
			}
			for r := range size {
				part := all[starts[r]:starts[r+1]]
				if len(part) != r+1 || part[0] != int32(r) {
					return fmt.Errorf("part of rank %d: %v", r, part)
				}
			}
			return nil
		})
	}
}

// uneven returns a layout of random numbers of blocks, none for some ranks.
func uneven(t *testing.T, n, size int, random *rand.Rand) Layout {
	t.Helper()
	sizes := make([]int, size)
	for left := n; left > 0; left -= min(left, BlockRows) {
		sizes[random.IntN(size)] += BlockRows
	}
	for r := size - 1; r >= 0; r-- { // the last block may be short
		if sizes[r] > 0 {
			sizes[r] -= (BlockRows - n%BlockRows) % BlockRows
			break
		}
	}
	return OfSizes(sizes)
}

func TestLayouts(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n, size := random.IntN(20*BlockRows), 1+random.IntN(9)
		for _, l := range []Layout{Even(n, size), uneven(t, n, size, random)} {
			if l.Size() != size || l.Rows() != n {
				t.Fatalf("layout of %d rows for %d ranks: %v", n, size, l)
			}
			end := 0
			for r := range size {
				lo, hi := l.Range(r)
				if lo != end || hi < lo || lo%BlockRows != 0 && lo != n {
					t.Fatalf("rank %d of %v", r, l)
				}
				for _, row := range []int{lo, hi - 1} {
					if lo < hi && l.Owner(row) != r {
						t.Fatalf("row %d belongs to rank %d, not %d, in %v", row, r, l.Owner(row), l)
					}
				}
				end = hi
			}
		}
	}
}

// Sums over ranks have the bits of the sum on one.
func TestSumsHaveTheSameBits(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 1, BlockRows, 3*BlockRows + 1, 16 * BlockRows, 37*BlockRows - 5} {
		const k = 3
		parts := make([]float64, (n+BlockRows-1)/BlockRows*k)
		for i := range parts {
			parts[i] = random.NormFloat64() * float64(random.IntN(1e6))
		}
		want := make([]float64, k)
		TreeSum(want, slices.Clone(parts))
		for size := 1; size <= 9; size++ {
			for _, l := range []Layout{Even(n, size), uneven(t, n, size, random)} {
				together(t, size, func(ctx context.Context, g *Group) error {
					lo, hi := l.blocks(g.Rank())
					total := make([]float64, k)
					if err := g.Sum(ctx, total, slices.Clone(parts[lo*k:hi*k]), l); err != nil {
						return err
					}
					if !slices.Equal(total, want) {
						return fmt.Errorf("%d rows: sum %v on rank %d, %v alone", n, total, g.Rank(), want)
					}
					return nil
				})
			}
		}
	}
}

// SumIntegers adds up on every rank, also fewer numbers than there are ranks.
func TestSumIntegers(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 2, 1000} {
		for size := 1; size <= 4; size++ {
			together(t, size, func(ctx context.Context, g *Group) error {
				x := make([]int64, n)
				for i := range x {
					x[i] = int64(i*(g.Rank()+1)) << 40
				}
				if err := g.SumIntegers(ctx, x); err != nil {
					return err
				}
				for i, v := range x {
					if want := int64(i*size*(size+1)/2) << 40; v != want {
						return fmt.Errorf("sum %d of %d: %d, want %d", i, n, v, want)
					}
				}
				return nil
			})
		}
	}
}

func TestRimBringsRowsOfOthers(t *testing.T) {
	t.Parallel()
	const n, k = 5*BlockRows + 7, 2
	for size := 1; size <= 5; size++ {
		together(t, size, func(ctx context.Context, g *Group) error {
			l := Even(n, size)
			lo, hi := l.Range(g.Rank())
			random := rand.New(rand.NewPCG(7, uint64(g.Rank())))
			var need []uint32
			for row := range n {
				if (row < lo || row >= hi) && random.IntN(50) == 0 {
					need = append(need, uint32(row))
				}
			}
			rim, err := g.NewRim(ctx, l, need)
			if err != nil {
				return err
			}
			own := make([]float32, (hi-lo)*k)
			for i := range own {
				own[i] = float32(lo*k + i)
			}
			ghosts := make([]float32, len(need)*k)
			for range 3 {
				clear(ghosts)
				if err := Fill(ctx, rim, ghosts, own, k, k); err != nil {
					return err
				}
				for i, row := range rim.Need() {
					for j := range k {
						if got := ghosts[i*k+j]; got != float32(int(row)*k+j) {
							return fmt.Errorf("row %d of another rank is %g", row, got)
						}
					}
				}
			}
			if in, _ := Bytes[float32](rim, k); in != 4*len(ghosts) {
				return fmt.Errorf("%d bytes for %d numbers", in, len(ghosts))
			}
			return nil
		})
	}
}

// A rank that fails, panics or leaves ends all others at once.
func TestOthersEndWithARank(t *testing.T) {
	t.Parallel()
	failure := errors.New("out of paper")
	for name, end := range map[string]func() error{
		"fails":  func() error { return failure },
		"panics": func() error { panic("broken") },
		"leaves": func() error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			lost := make(chan error, 3)
			err := Together(ctx, 3, func(ctx context.Context, g *Group) error {
				if g.Rank() == 1 {
					return end()
				}
				_, _, err := Gather(ctx, g, []int32{1})
				lost <- err
				return err
			})
			if err == nil || name == "fails" && !errors.Is(err, failure) {
				t.Errorf("the run ended with %v", err)
			}
			for range 2 {
				if err := <-lost; !errors.Is(err, ErrLost) {
					t.Errorf("another rank got %v", err)
				}
			}
		})
	}
}
