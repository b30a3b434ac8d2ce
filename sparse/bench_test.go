package sparse

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"grfgp/internal/machine"
	"grfgp/internal/rng"
)

// BenchmarkMul states products as a share of what the machine can do. One
// iteration measures the streaming triad, our product and the pure Go kernel,
// each at its best of a few, right after one another; medians over iterations
// are reported, so that busy neighbours matter less. GB/s counts the matrix, x
// and dst once each, %triad is that against the triad, and xGo is the time of
// the Go kernel over ours.
func BenchmarkMul(b *testing.B) {
	for _, m := range []struct {
		name   string
		matrix *CSR
	}{
		{"grid", grid(b, 1000, 0)},
		{"shuffledGrid", grid(b, 1000, 1)},
		{"band", band(b, 200_000, 64, 2000)},
	} {
		for _, width := range []int{1, 4, 8, 16, 32, 64} {
			b.Run(fmt.Sprintf("%s/%d", m.name, width), func(b *testing.B) {
				a := m.matrix
				x, dst := randomBlock(a.cols, width, width), emptyBlock(a.rows, width, width)
				bytes := float64(12*a.NNZ() + 8*a.rows + 8*width*(a.rows+a.cols))
				var rate, share, perEntry, speedup []float64
				for b.Loop() {
					limit, err := machine.Bandwidth(context.Background())
					if err != nil {
						b.Fatal(err)
					}
					ours := best(5, func() { a.mul(dst, x, mulRows) })
					plain := best(3, func() { a.mul(dst, x, mulRowsGo) })
					rate = append(rate, bytes/ours/1e9)
					share = append(share, 100*bytes/ours/limit.Triad)
					perEntry = append(perEntry, 1e9*ours/float64(a.NNZ()))
					speedup = append(speedup, plain/ours)
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(median(rate), "GB/s")
				b.ReportMetric(median(share), "%triad")
				b.ReportMetric(median(perEntry), "ns/nnz")
				b.ReportMetric(median(speedup), "xGo")
			})
		}
	}
}

func BenchmarkTranspose(b *testing.B) {
	for _, m := range []struct {
		name   string
		matrix *CSR
	}{
		{"grid", grid(b, 1000, 0)},
		{"shuffledGrid", grid(b, 1000, 1)},
	} {
		b.Run(m.name, func(b *testing.B) {
			var perEntry []float64
			for b.Loop() {
				seconds := best(3, func() { m.matrix.transposed() })
				perEntry = append(perEntry, 1e9*seconds/float64(m.matrix.NNZ()))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(perEntry), "ns/nnz")
		})
	}
}

// best returns the shortest of n times of do, in seconds.
func best(n int, do func()) float64 {
	shortest := math.Inf(1)
	for range n {
		start := time.Now()
		do()
		shortest = min(shortest, time.Since(start).Seconds())
	}
	return shortest
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// grid is the adjacency matrix of an n×n grid, numbered row by row, or at random
// for a seed other than 0.
func grid(t testing.TB, n int, seed uint64) *CSR {
	node := make([]int, n*n)
	for i := range node {
		node[i] = i
	}
	if seed != 0 {
		node = rand.New(rng.New(seed, "sparse bench")).Perm(n * n)
	}
	place := make([]int, n*n)
	for k, i := range node {
		place[i] = k
	}
	rowPtr := []int{0}
	var colIdx []uint32
	var val []float64
	for i := range n * n {
		row, col := place[i]/n, place[i]%n
		for _, k := range [][2]int{{row - 1, col}, {row, col - 1}, {row, col + 1}, {row + 1, col}} {
			if k[0] >= 0 && k[0] < n && k[1] >= 0 && k[1] < n {
				colIdx = append(colIdx, uint32(node[k[0]*n+k[1]]))
				val = append(val, 0.25)
			}
		}
		rowPtr = append(rowPtr, len(val))
	}
	return mustCSR(t, n*n, n*n, rowPtr, colIdx, val)
}

// band has length entries in every row, at random within reach of the diagonal:
// what features of a well-ordered graph look like.
func band(t testing.TB, n, length, reach int) *CSR {
	r := rand.New(rng.New(1, "sparse bench"))
	rowPtr := []int{0}
	var colIdx []uint32
	var val []float64
	for i := range n {
		lo := max(0, min(i-reach/2, n-reach))
		for range length {
			colIdx = append(colIdx, uint32(lo+r.IntN(reach)))
			val = append(val, r.NormFloat64())
		}
		rowPtr = append(rowPtr, len(val))
	}
	return mustCSR(t, n, n, rowPtr, colIdx, val)
}
