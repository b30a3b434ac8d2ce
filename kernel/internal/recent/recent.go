// Package recent caches values that were computed for lists of nodes.
package recent

import (
	"slices"
	"sync"
	"sync/atomic"

	"grfgp/internal/parallel"
)

// size is the number of lists that a cache remembers: those of training, whole and
// in a few patches, of prediction and of all nodes.
const size = 7

// Cache keeps the values of the lists used last. The zero value is ready for use;
// it is safe for concurrent use.
type Cache[V any] struct {
	mu      sync.Mutex
	entries []*entry[V] // the last used first
}

type entry[V any] struct {
	rows  []int
	once  sync.Once
	done  atomic.Bool
	value V
}

// Get returns the value of a list. Unless the cache has it, Get computes it;
// concurrent callers with the same list wait. The function may keep its argument.
func (c *Cache[V]) Get(rows []int, compute func(rows []int) V) V {
	e := c.find(rows)
	e.once.Do(func() {
		e.value = compute(e.rows)
		e.done.Store(true)
	})
	return e.value
}

// Peek returns the value of a list if the cache has it.
func (c *Cache[V]) Peek(rows []int) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.index(rows)
	if at < 0 || !c.entries[at].done.Load() {
		return value, false
	}
	return c.entries[at].value, true
}

func (c *Cache[V]) index(rows []int) int {
	return slices.IndexFunc(c.entries, func(e *entry[V]) bool { return equal(e.rows, rows) })
}

// equal compares lists; long ones on all processors.
func equal(a, b []int) bool {
	const size = 1 << 15
	if len(a) != len(b) || len(a) <= 4*size {
		return slices.Equal(a, b)
	}
	if !slices.Equal(a[:size], b[:size]) {
		return false // as most do that differ
	}
	var differ atomic.Bool
	parallel.Ranges(len(a), size, func(lo, hi int) {
		if !differ.Load() && !slices.Equal(a[lo:hi], b[lo:hi]) {
			differ.Store(true)
		}
	})
	return !differ.Load()
}

func (c *Cache[V]) find(rows []int) *entry[V] {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.index(rows)
	if at < 0 {
		e := &entry[V]{rows: slices.Clone(rows)}
		c.entries = slices.Insert(c.entries, 0, e)
		if last := len(c.entries) - 1; last == size {
			if len(c.entries[last].rows) > len(c.entries[last-1].rows) {
				last-- // the longest takes longest to compute, and stays
			}
			c.entries = slices.Delete(c.entries, last, last+1)
		}
		return e
	}
	e := c.entries[at]
	copy(c.entries[1:], c.entries[:at])
	c.entries[0] = e
	return e
}
