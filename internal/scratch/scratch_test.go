package scratch

import (
	"runtime"
	"testing"
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
	for k, left := 0, 1; left > 0; k++ {
		if k == 10_000 {
			t.Fatal("a block that nobody wants is kept")
		}
		runtime.GC()
		runtime.Gosched() // to those who free
		p.mu.Lock()
		left = len(p.free)
		p.mu.Unlock()
	}
}
