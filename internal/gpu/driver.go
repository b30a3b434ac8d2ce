package gpu

import "unsafe"

// pointer is an address in the memory of a card; 0 is none.
type pointer uint64

// driver is a card as its manufacturer's library offers it. Its methods are safe for
// concurrent use. Copies and launches happen in the order of the calls.
type driver interface {
	// name is that of the card, as in "NVIDIA H200".
	name() string
	// memory returns the free and the total memory of the card, in bytes.
	memory() (free, total int64, err error)
	// alloc returns memory with undefined contents; the error wraps ErrMemory if there is not enough.
	alloc(bytes int64) (pointer, error)
	release(at pointer) error
	// upload copies from src, which may be changed when it returns.
	upload(dst pointer, src unsafe.Pointer, bytes int64) error
	// download copies to dst; it waits for all that was queued before.
	download(dst unsafe.Pointer, src pointer, bytes int64) error
	// clear sets memory to zero.
	clear(at pointer, bytes int64) error
	// copy copies within the memory of the card.
	copy(dst, src pointer, bytes int64) error
	// launch queues a kernel on a number of groups ("blocks" in CUDA) of threads.
	launch(kernel string, groups, threads int, args *arguments) error
	// wait returns when all that was queued is done.
	wait() error
	close() error
}
