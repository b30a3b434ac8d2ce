package scratch

import (
	"runtime"
	"testing"
	"time"
)

// TestPool: a block is handed out again if it fits and is not much too large, never to two
// at a time, and two garbage collections free what nobody wants.
func TestPool(t *testing.T) {
	var p Pool[float32]
	a, b := p.Get(1<<20), p.Get(3<<20)
	a[0], b[0] = 1, 2
	p.Put(b)
	p.Put(a)
	if c := p.Get(1<<20 - 5); &c[0] != &a[0] || len(c) != 1<<20-5 {
		t.Error("not the block that fits")
	}
	if c := p.Get(1 << 20); &c[0] == &b[0] || &c[0] == &a[0] {
		t.Error("a block that is much too large, or not free")
	}
	if c := p.Get(2 << 20); &c[0] != &b[0] {
		t.Error("not the larger block")
	} else {
		p.Put(c)
	}
	if c := p.Get(3 << 20); &c[0] != &b[0] {
		t.Error("a block that was used in part has lost the rest")
	}
	p.Put(make([]float32, 5000))
	for k := 0; ; k++ {
		p.mu.Lock()
		left := len(p.free)
		p.mu.Unlock()
		if left == 0 {
			break
		}
		if k == 1000 {
			t.Fatal("a block that nobody wants is kept")
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

// TestMake: blocks have the length that was asked for, all of it can be written, survives garbage collections, and no
// two blocks share any of it.
func TestMake(t *testing.T) {
	sizes := []int{0, 1, 1000, 1<<17 - 1, 1 << 17, 300_001, 1 << 20}
	for round := range 3 {
		all := make([][]float64, len(sizes))
		words := make([][]uint32, len(sizes))
		for k, n := range sizes {
			all[k], words[k] = Make[float64](n), Make[uint32](n)
			if len(all[k]) != n || len(words[k]) != n {
				t.Fatalf("%d and %d numbers, want %d", len(all[k]), len(words[k]), n)
			}
			for i := range n {
				all[k][i], words[k][i] = float64(k*n+i+round), uint32(k+i+round)
			}
		}
		runtime.GC()
		for k, n := range sizes {
			for i := range n {
				if all[k][i] != float64(k*n+i+round) || words[k][i] != uint32(k+i+round) {
					t.Fatalf("place %d of %d has changed", i, n)
				}
			}
		}
	}
}
