// Package scratch hands out large blocks of numbers again after use: fresh memory costs as
// much as a pass over it, and more on many processors, which wait for each other to get
// pages. (Asking the system for large pages was tried: on a virtual machine they took five
// times as long.)
package scratch

import (
	"runtime"
	"slices"
	"sync"
)

// Number is what blocks hold.
type Number interface{ ~float32 | ~float64 }

// Pool keeps blocks for the next use, whoever returned them, by size. Those that two
// garbage collections have found unused are freed. The zero value is ready for use; it is
// safe for concurrent use.
type Pool[F Number] struct {
	mu      sync.Mutex
	free    []kept[F] // from small to large
	watched bool      // a garbage collection will call age
}

type kept[F Number] struct {
	block []F
	seen  int // garbage collections since it was returned
}

// Get returns n numbers, whatever they are.
func (p *Pool[F]) Get(n int) []F {
	if x := p.take(n); x != nil {
		return x
	}
	return make([]F, n)
}

// take returns a block of at least n numbers, and not of many more; nil if there is none.
func (p *Pool[F]) take(n int) []F {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.from(n)
	if at == len(p.free) || cap(p.free[at].block) > 2*n+1024 {
		return nil
	}
	x := p.free[at].block[:n]
	p.free = slices.Delete(p.free, at, at+1)
	return x
}

// from returns the place of the smallest block with n numbers.
func (p *Pool[F]) from(n int) int {
	at, _ := slices.BinarySearchFunc(p.free, n, func(k kept[F], n int) int { return cap(k.block) - n })
	return at
}

// Put returns a block of Get, which the caller uses no more.
func (p *Pool[F]) Put(x []F) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = slices.Insert(p.free, p.from(cap(x)), kept[F]{block: x[:0]})
	p.watch()
}

// watch has the next garbage collection call age.
func (p *Pool[F]) watch() {
	if p.watched {
		return
	}
	p.watched = true
	runtime.SetFinalizer(new([16]byte), func(*[16]byte) { p.age() })
}

// age frees the blocks that two garbage collections have found.
func (p *Pool[F]) age() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = slices.DeleteFunc(p.free, func(k kept[F]) bool { return k.seen > 0 })
	for i := range p.free {
		p.free[i].seen++
	}
	if p.watched = false; len(p.free) > 0 {
		p.watch()
	}
}
