package gpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"unsafe"
)

// Errors of cards. Messages say what is missing and need no more words.
var (
	// ErrNone is wrapped when there is no card that this program can use.
	ErrNone = errors.New("no graphics card")
	// ErrMemory is wrapped when the memory of the card does not hold what is needed.
	ErrMemory = errors.New("the memory of the graphics card is too small")
	// ErrLost is wrapped when a card fails while it computes.
	ErrLost = errors.New("the graphics card failed")
)

// Device is a card. Its methods are safe for concurrent use; what belongs to it, such as
// blocks, is used by one goroutine at a time, between Acquire and Release.
type Device struct {
	driver driver
	note   string        // about the driver and the kernels, for people
	busy   chan struct{} // has an element while somebody computes

	mu   sync.Mutex // guards what follows
	err  error
	pool map[int64][]pointer // memory that is not in use, by size
	used int64               // bytes in use
	kept int64               // bytes in the pool
	most int64               // largest value of used
	live map[pointer]int64   // sizes of what is in use

	zigguratMu sync.Mutex // guards what follows
	zigguratAt tables     // of random numbers; of zeros until first used
}

// Open returns the first card of this machine. The error wraps ErrNone if there is none that
// can be used, and says why.
func Open() (*Device, error) {
	d, note, err := openDriver()
	if err != nil {
		return nil, err
	}
	return newDevice(d, note), nil
}

func newDevice(d driver, note string) *Device {
	return &Device{driver: d, note: note, busy: make(chan struct{}, 1), pool: map[int64][]pointer{}, live: map[pointer]int64{}}
}

// Acquire waits until nobody else computes on the card, and Release lets others. Failures belong to a
// card, and not to who caused them, so that a computation holds the card from its first operation to Err.
func (d *Device) Acquire(ctx context.Context) error {
	select {
	case d.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Release lets others compute.
func (d *Device) Release() { <-d.busy }

// Name returns the name of the card.
func (d *Device) Name() string { return d.driver.name() }

// Note says which driver and which form of the kernels are in use.
func (d *Device) Note() string { return d.note }

// Memory returns the free and the total memory of the card in bytes.
func (d *Device) Memory() (free, total int64, err error) {
	free, total, err = d.driver.memory()
	d.mu.Lock()
	defer d.mu.Unlock()
	return free + d.kept, total, err
}

// Most returns the largest number of bytes that were in use at a time.
func (d *Device) Most() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.most
}

// Err waits for all operations, and returns the first failure since the last call of Err.
// After ErrMemory the card can be used again.
func (d *Device) Err() error {
	d.fail(d.driver.wait())
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.err
	if !errors.Is(err, ErrLost) {
		d.err = nil
	}
	return err
}

// Failure returns the first failure since the last call of Err, as far as it is known. It
// neither waits nor forgets.
func (d *Device) Failure() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// failed reports whether an operation has failed.
func (d *Device) failed() bool { return d.Failure() != nil }

// fail notes the first failure.
func (d *Device) fail(err error) {
	if err == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil {
		d.err = err
	}
}

// Close gives the card back. Nothing of it can be used any more.
func (d *Device) Close() error {
	d.Trim()
	return d.driver.close()
}

// Trim gives memory that is not in use back to the card.
func (d *Device) Trim() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, all := range d.pool {
		for _, at := range all {
			_ = d.driver.release(at) // a card that failed has no memory to give back
		}
	}
	clear(d.pool)
	d.kept = 0
}

// roundUp returns the size of memory that serves for so many bytes: requests of nearly the
// same size share memory.
func roundUp(bytes int64) int64 {
	const least = 512
	step := int64(least)
	for step*16 < bytes {
		step *= 2
	}
	return (max(bytes, 1) + step - 1) / step * step
}

// take returns memory for so many bytes; 0 after a failure.
func (d *Device) take(bytes int64) pointer {
	size := roundUp(bytes)
	d.mu.Lock()
	if d.err != nil {
		d.mu.Unlock()
		return 0
	}
	if all := d.pool[size]; len(all) > 0 {
		at := all[len(all)-1]
		d.pool[size] = all[:len(all)-1]
		d.kept -= size
		d.own(at, size)
		d.mu.Unlock()
		return at
	}
	d.mu.Unlock()
	at, err := d.driver.alloc(size)
	if errors.Is(err, ErrMemory) {
		d.Trim()
		at, err = d.driver.alloc(size)
	}
	if errors.Is(err, ErrMemory) {
		free, total, _ := d.driver.memory()
		err = fmt.Errorf("%w: %s more are needed and %s of %s are free", ErrMemory, sizeWords(size), sizeWords(free), sizeWords(total))
	}
	d.fail(err)
	if err != nil {
		return 0
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.own(at, size)
	return at
}

// keepForGood makes memory in use one that is never given back, and is not counted.
func (d *Device) keepForGood(all ...pointer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, at := range all {
		d.used -= d.live[at]
		delete(d.live, at)
	}
}

// own notes memory in use; the caller holds mu.
func (d *Device) own(at pointer, size int64) {
	d.live[at] = size
	d.used += size
	d.most = max(d.most, d.used)
}

// give returns memory to the pool. Operations that are queued may still use it: those
// queued later come after them.
func (d *Device) give(at pointer) {
	if at == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	size, ok := d.live[at]
	if !ok {
		panic("gpu: memory is given back twice")
	}
	delete(d.live, at)
	d.used -= size
	d.kept += size
	d.pool[size] = append(d.pool[size], at)
}

// run queues a kernel on so many groups of threads.
func (d *Device) run(kernel string, groups, threads int, args ...any) {
	if groups == 0 || d.failed() {
		return
	}
	d.fail(d.driver.launch(kernel, groups, threads, pack(args...)))
}

// upload copies numbers to the card.
func upload[T any](d *Device, to pointer, from []T) {
	if len(from) == 0 || d.failed() {
		return
	}
	d.fail(d.driver.upload(to, unsafe.Pointer(&from[0]), int64(len(from))*int64(unsafe.Sizeof(from[0]))))
}

// download copies numbers from the card; after a failure they are left as they are.
func download[T any](d *Device, to []T, from pointer) bool {
	if len(to) == 0 {
		return true
	}
	if d.failed() {
		return false
	}
	err := d.driver.download(unsafe.Pointer(&to[0]), from, int64(len(to))*int64(unsafe.Sizeof(to[0])))
	d.fail(err)
	return err == nil
}

// numbers downloads float64, NaN after a failure.
func (d *Device) numbers(to []float64, from pointer) {
	if !download(d, to, from) {
		for i := range to {
			to[i] = math.NaN()
		}
	}
}

// sizeWords is a number of bytes in words.
func sizeWords(bytes int64) string {
	const unit = 1 << 30
	if bytes >= unit {
		return fmt.Sprintf("%.1f GiB", float64(bytes)/unit)
	}
	return fmt.Sprintf("%.0f MiB", float64(bytes)/(1<<20))
}

// InUse returns the number of bytes in use.
func (d *Device) InUse() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.used
}
