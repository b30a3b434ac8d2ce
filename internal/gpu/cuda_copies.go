//go:build gpu && linux

package gpu

import (
	"unsafe"

	"grfgp/internal/parallel"
)

// ring is host memory from and to which the card copies by itself. Its slots are used one
// after the other; a copy of many slots fills or empties one while the card copies others.
type ring struct {
	slots int
	bytes int // of a slot

	memory unsafe.Pointer // of all slots; nil before the first use
	done   []uintptr      // events: the last copy of a slot is done
	next   int
}

// Copies of at most a small slot are queued at once, behind up to so many others.
var (
	smallRing = ring{slots: 32, bytes: 64 << 10}
	largeRing = ring{slots: 2, bytes: 16 << 20}
)

// copyBlock is how many bytes a goroutine copies at a time: less is not worth sharing.
const copyBlock = 512 << 10

// begin takes the memory of the ring, if that was not done.
func (r *ring) begin(c *cuda) error {
	const noTiming = 2
	for len(r.done) < r.slots {
		var event uintptr
		if err := c.cu.try(&c.cu.eventCreate, uintptr(unsafe.Pointer(&event)), noTiming); err != nil {
			return err
		}
		r.done = append(r.done, event)
	}
	if r.memory != nil {
		return nil
	}
	return c.cu.try(&c.cu.memAllocHost, uintptr(unsafe.Pointer(&r.memory)), uintptr(r.slots*r.bytes))
}

// end gives the memory back.
func (r *ring) end(c *cuda) {
	for _, event := range r.done {
		c.cu.eventDestroy.call(event)
	}
	if r.memory != nil {
		c.cu.memFreeHost.call(uintptr(r.memory))
	}
	r.done, r.memory = nil, nil
}

// take returns the next slot.
func (r *ring) take() int {
	slot := r.next
	r.next = (slot + 1) % r.slots
	return slot
}

// part returns the memory of a slot.
func (r *ring) part(slot int) unsafe.Pointer { return unsafe.Add(r.memory, slot*r.bytes) }

// await waits for the last copy of a slot. An event that never was recorded is done.
func (r *ring) await(c *cuda, slot int) error {
	return c.cu.try(&c.cu.eventSynchronize, r.done[slot])
}

// mark notes that the copy of a slot is the last that was queued.
func (r *ring) mark(c *cuda, slot int) error {
	return c.cu.try(&c.cu.eventRecord, r.done[slot], c.stream)
}

// ring returns the one for a copy of so many bytes.
func (c *cuda) ring(bytes int64) *ring {
	if bytes <= int64(c.small.bytes) {
		return &c.small
	}
	return &c.large
}

func (c *cuda) upload(dst pointer, src unsafe.Pointer, bytes int64) error {
	if bytes == 0 {
		return nil
	}
	return c.do(func() error {
		r := c.ring(bytes)
		if err := r.begin(c); err != nil {
			return err
		}
		for at := int64(0); at < bytes; at += int64(r.bytes) {
			size := min(int64(r.bytes), bytes-at)
			slot := r.take()
			if err := r.await(c, slot); err != nil {
				return err
			}
			move(r.part(slot), unsafe.Add(src, at), size)
			err := c.cu.try(&c.cu.memcpyHtoDAsync, uintptr(dst)+uintptr(at), uintptr(r.part(slot)), uintptr(size), c.stream)
			if err != nil {
				return err
			}
			if err := r.mark(c, slot); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *cuda) download(dst unsafe.Pointer, src pointer, bytes int64) error {
	if bytes == 0 {
		return c.wait()
	}
	return c.do(func() error {
		r := c.ring(bytes)
		if err := r.begin(c); err != nil {
			return err
		}
		step := int64(r.bytes)
		queued := int64(0)
		slots := make([]int, 0, r.slots) // of what is queued, in order
		queue := func() error {
			slot := r.take()
			if err := r.await(c, slot); err != nil {
				return err
			}
			err := c.cu.try(&c.cu.memcpyDtoHAsync, uintptr(r.part(slot)), uintptr(src)+uintptr(queued), uintptr(min(step, bytes-queued)), c.stream)
			if err != nil {
				return err
			}
			queued += step
			slots = append(slots, slot)
			return r.mark(c, slot)
		}
		for at := int64(0); at < bytes; at += step {
			for queued < bytes && len(slots) < r.slots {
				if err := queue(); err != nil {
					return err
				}
			}
			slot := slots[0]
			if err := r.await(c, slot); err != nil {
				return err
			}
			move(unsafe.Add(dst, at), r.part(slot), min(step, bytes-at))
			slots = append(slots[:0], slots[1:]...)
		}
		return nil
	})
}

// move copies memory of the host.
func move(dst, src unsafe.Pointer, bytes int64) {
	to, from := unsafe.Slice((*byte)(dst), bytes), unsafe.Slice((*byte)(src), bytes)
	if bytes <= copyBlock {
		copy(to, from)
		return
	}
	parallel.Ranges(len(to), copyBlock, func(lo, hi int) { copy(to[lo:hi], from[lo:hi]) })
}
