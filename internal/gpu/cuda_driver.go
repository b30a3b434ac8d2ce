//go:build gpu && linux

package gpu

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"
)

// cuda is an NVIDIA card. All that is queued goes to one stream.
type cuda struct {
	cu      *library
	card    string // its name
	device  uintptr
	context uintptr
	stream  uintptr
	module  uintptr

	mu           sync.Mutex // guards all below, and the order of what is queued
	closed       bool
	kernels      map[string]uintptr
	small, large ring

	// Arguments of a launch and their addresses, in memory that does not move.
	values    [maxArguments]byte
	addresses [maxArguments / 4]uintptr
}

// maxArguments is the most bytes of arguments that a kernel takes.
const maxArguments = 4096

// oldest is the compute capability for which kernels.ptx is made, 60 for 6.0.
const oldest = 60

// openDriver opens the first card that the driver offers. The note says which driver and which
// form of the kernels are in use.
func openDriver() (driver, string, error) {
	c, note, err := openCUDA(driverLibraries, compilerLibraries)
	if err != nil {
		return nil, "", err
	}
	return c, note, nil
}

// openCUDA opens a card by the first of the drivers and compilers that there are.
func openCUDA(drivers, compilers []string) (*cuda, string, error) {
	cu, err := loadLibrary(drivers)
	if err != nil {
		return nil, "", err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c := &cuda{cu: cu, card: "the card", kernels: map[string]uintptr{}, small: smallRing, large: largeRing}
	capability, s := c.find()
	if s != 0 {
		return nil, "", cu.none(s, c.card)
	}
	if capability < oldest {
		return nil, "", fmt.Errorf("%w: %s has compute capability %d.%d, and this program needs %d.%d or newer; use a newer card", ErrNone,
			c.card, capability/10, capability%10, oldest/10, oldest%10)
	}
	if s := cu.devicePrimaryCtxRetain.call(uintptr(unsafe.Pointer(&c.context)), c.device); s != 0 {
		return nil, "", cu.none(s, c.card)
	}
	note, s := c.start(capability, compilers)
	if s != 0 {
		_ = c.close() // what failed is s
		return nil, "", cu.none(s, c.card)
	}
	var version int32
	cu.driverGetVersion.call(uintptr(unsafe.Pointer(&version)))
	return c, fmt.Sprintf("driver for CUDA %d.%d, %s", version/1000, version%1000/10, note), nil
}

// find starts the driver and finds the first card; it returns its compute capability, 90 for 9.0.
func (c *cuda) find() (int, status) {
	if s := c.cu.init.call(0); s != 0 {
		return 0, s
	}
	var count, device int32
	if s := c.cu.deviceGetCount.call(uintptr(unsafe.Pointer(&count))); s != 0 {
		return 0, s
	}
	if count == 0 {
		return 0, statusNoDevice
	}
	if s := c.cu.deviceGet.call(uintptr(unsafe.Pointer(&device)), 0); s != 0 {
		return 0, s
	}
	c.device = uintptr(device)
	var name [256]byte
	if s := c.cu.deviceGetName.call(uintptr(unsafe.Pointer(&name[0])), uintptr(len(name)-1), c.device); s != 0 {
		return 0, s
	}
	c.card = text(&name[0])
	const majorAttribute, minorAttribute = 75, 76
	var major, minor int32
	if s := c.cu.deviceGetAttribute.call(uintptr(unsafe.Pointer(&major)), majorAttribute, c.device); s != 0 {
		return 0, s
	}
	if s := c.cu.deviceGetAttribute.call(uintptr(unsafe.Pointer(&minor)), minorAttribute, c.device); s != 0 {
		return 0, s
	}
	return int(10*major + minor), 0
}

// start makes the stream and loads the kernels; the note is about them.
func (c *cuda) start(capability int, compilers []string) (note string, s status) {
	if s := c.cu.ctxSetCurrent.call(c.context); s != 0 {
		return "", s
	}
	const nonBlocking = 1 // it waits for no other stream
	if s := c.cu.streamCreate.call(uintptr(unsafe.Pointer(&c.stream)), nonBlocking); s != 0 {
		return "", s
	}
	return c.loadKernels(capability, compilers)
}

// do calls f on a thread on which the context of the card is current; others wait.
func (c *cuda) do(f func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if c.closed {
		return fmt.Errorf("%w: it was given back", ErrLost)
	}
	if err := c.cu.try(&c.cu.ctxSetCurrent, c.context); err != nil {
		return err
	}
	return f()
}

func (c *cuda) name() string { return c.card }

func (c *cuda) memory() (free, total int64, err error) {
	err = c.do(func() error {
		return c.cu.try(&c.cu.memGetInfo, uintptr(unsafe.Pointer(&free)), uintptr(unsafe.Pointer(&total)))
	})
	return free, total, err
}

func (c *cuda) alloc(bytes int64) (at pointer, err error) {
	err = c.do(func() error {
		return c.cu.try(&c.cu.memAlloc, uintptr(unsafe.Pointer(&at)), uintptr(max(bytes, 1)))
	})
	return at, err
}

// release waits for all that was queued, which may use the memory.
func (c *cuda) release(at pointer) error {
	if at == 0 {
		return nil
	}
	return c.do(func() error {
		if err := c.await(); err != nil {
			return err
		}
		return c.cu.try(&c.cu.memFree, uintptr(at))
	})
}

func (c *cuda) clear(at pointer, bytes int64) error {
	if bytes == 0 {
		return nil
	}
	return c.do(func() error {
		return c.cu.try(&c.cu.memsetD8Async, uintptr(at), 0, uintptr(bytes), c.stream)
	})
}

func (c *cuda) copy(dst, src pointer, bytes int64) error {
	if bytes == 0 {
		return nil
	}
	return c.do(func() error {
		return c.cu.try(&c.cu.memcpyDtoDAsync, uintptr(dst), uintptr(src), uintptr(bytes), c.stream)
	})
}

func (c *cuda) launch(kernel string, groups, threads int, args *arguments) error {
	return c.do(func() error {
		f, err := c.lookUp(kernel)
		if err != nil {
			return err
		}
		if len(args.data) > len(c.values) {
			panic(fmt.Sprintf("gpu: %d bytes of arguments for %s", len(args.data), kernel))
		}
		copy(c.values[:], args.data)
		for i, start := range args.starts {
			c.addresses[i] = uintptr(unsafe.Pointer(&c.values[start]))
		}
		err = c.cu.try(&c.cu.launchKernel, f, uintptr(groups), 1, 1, uintptr(threads), 1, 1, 0, c.stream,
			uintptr(unsafe.Pointer(&c.addresses[0])), 0)
		if err != nil {
			return fmt.Errorf("kernel %s: %w", kernel, err)
		}
		return nil
	})
}

func (c *cuda) wait() error { return c.do(c.await) }

// await waits for the stream.
func (c *cuda) await() error { return c.cu.try(&c.cu.streamSynchronize, c.stream) }

// close gives back all that the program has on the card, which does what was queued before. A
// card that was lost has nothing to give back: only the last step may fail.
func (c *cuda) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c.cu.ctxSetCurrent.call(c.context)
	if c.stream != 0 {
		c.cu.streamSynchronize.call(c.stream)
		c.small.end(c)
		c.large.end(c)
		c.cu.streamDestroy.call(c.stream)
	}
	if c.module != 0 {
		c.cu.moduleUnload.call(c.module)
	}
	c.cu.ctxSetCurrent.call(0)
	return c.cu.try(&c.cu.devicePrimaryCtxRelease, c.device)
}
