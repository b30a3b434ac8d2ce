package walk

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"grfgp/sparse"
)

func ringW(n int) *sparse.CSR {
	ptr := make([]int, n+1)
	col := make([]uint32, 2*n)
	val := make([]float64, 2*n)
	for i := range n {
		ptr[i+1] = 2 * (i + 1)
		a, b := uint32((i+n-1)%n), uint32((i+1)%n)
		if a > b {
			a, b = b, a
		}
		col[2*i], col[2*i+1] = a, b
		val[2*i], val[2*i+1] = .5, .5
	}
	w, err := sparse.NewCSR(n, n, ptr, col, val)
	if err != nil {
		panic(err)
	}
	return w
}

func baW(n, m int) (*sparse.CSR, []float64) {
	ends := []uint32{0, 1}
	adj := make([][]uint32, n)
	link := func(a, b uint32) { adj[a] = append(adj[a], b); adj[b] = append(adj[b], a) }
	link(0, 1)
	x := uint64(88172645463325252)
	for i := 2; i < n; i++ {
		for range m {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			j := ends[x%uint64(len(ends))]
			if int(j) == i {
				continue
			}
			link(uint32(i), j)
			ends = append(ends, j, uint32(i))
		}
	}
	ptr := make([]int, n+1)
	var col []uint32
	var val []float64
	sc := make([]float64, n)
	for i := range n {
		col = append(col, adj[i]...)
		ptr[i+1] = len(col)
		sc[i] = math.Sqrt(float64(len(adj[i])))
	}
	for i := range n {
		for _, j := range adj[i] {
			val = append(val, 1/sc[i]/sc[j])
		}
	}
	w, err := sparse.NewCSR(n, n, ptr, col, val)
	if err != nil {
		panic(err)
	}
	return w, sc
}

func TestScratch(t *testing.T) {
	w := ringW(1 << 20)
	o := Default()
	o.MaxLen = 3
	for _, s := range []Sampler{Independent, Repelling} {
		for _, st := range []Steps{Uniform, Proportional} {
			o.Sampler, o.Steps = s, st
			b := time.Now()
			f, err := Sample(context.Background(), w, o)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Println("ring", s, st, time.Since(b), f.Size())
		}
	}
	w, sc := baW(1<<18, 3)
	o.MaxLen = 5
	for _, s := range []Sampler{Independent, Repelling} {
		for _, st := range []Steps{Uniform, Proportional} {
			o.Sampler, o.Steps = s, st
			o.Scale = sc
			b := time.Now()
			f, err := Sample(context.Background(), w, o)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Println("ba", s, st, time.Since(b), f.Size())
		}
	}
}
