//go:build gpu && linux

package gpu

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
)

// fake is the driver in testdata, of a card that is none.
type fake struct {
	path      string
	fail      func(name string, status int32)
	setCards  func(n, capability int32)
	setMemory func(bytes uint64)
	held      func() int32
	launched  func() *byte
}

// compileFake returns the driver in testdata; without a C compiler the test is skipped.
func compileFake(t testing.TB) *fake {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("it needs a C compiler: ", err)
	}
	f := &fake{path: filepath.Join(t.TempDir(), "libcuda.so")}
	if out, err := exec.Command(cc, "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", f.path,
		"testdata/driver.c").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	handle, err := purego.Dlopen(f.path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		t.Fatal(err)
	}
	purego.RegisterLibFunc(&f.fail, handle, "fail")
	purego.RegisterLibFunc(&f.setCards, handle, "set_cards")
	purego.RegisterLibFunc(&f.setMemory, handle, "set_memory")
	purego.RegisterLibFunc(&f.held, handle, "held")
	purego.RegisterLibFunc(&f.launched, handle, "launched")
	return f
}

// open opens the card that is none, and checks at the end that all of it was given back.
func (f *fake) open(t testing.TB) *cuda {
	t.Helper()
	c, note, err := openCUDA([]string{f.path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := "driver for CUDA 12.4, kernels as PTX for sm_60 and newer"; note != want || c.name() != "Test card" {
		t.Errorf("%s: %s; want %s", c.name(), note, want)
	}
	t.Cleanup(func() {
		if err := c.close(); err != nil {
			t.Error(err)
		}
		if n := f.held(); n != 0 {
			t.Errorf("%d things were not given back", n)
		}
	})
	return c
}

func TestCUDAWithoutDriver(t *testing.T) {
	_, _, err := openCUDA([]string{"/nowhere/libcuda.so.1", "/nowhere/libcuda.so"}, nil)
	if !errors.Is(err, ErrNone) || !strings.HasPrefix(err.Error(),
		"no graphics card: the driver library /nowhere/libcuda.so.1 is not installed (/nowhere/libcuda.so.1: ") {
		t.Error(err)
	}
}

// TestCUDAOldDriver opens a library that has no function of a driver.
func TestCUDAOldDriver(t *testing.T) {
	_, _, err := openCUDA([]string{"libc.so.6"}, nil)
	if !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "NVIDIA's driver is too old") || !strings.Contains(err.Error(), "cuInit") {
		t.Error(err)
	}
}

// TestCUDANone checks what is said about cards that cannot be used.
func TestCUDANone(t *testing.T) {
	f := compileFake(t)
	for _, c := range []struct {
		function string
		status   status
		want     string
	}{
		{"cuInit", statusNoDevice, "the driver finds none; see whether nvidia-smi lists it"},
		{"cuInit", statusStubLibrary, "is the empty one of the CUDA toolkit; install"},
		{"cuInit", statusDriverMismatch, "different versions; restart the machine"},
		{"cuInit", statusSystemNotReady, "start NVIDIA's fabric manager"},
		{"cuInit", statusNotCompatible, "does not support the card; take it out"},
		{"cuInit", statusUnknown, "does not start; see what nvidia-smi says (CUDA_ERROR_OTHER: described)"},
		{"cuInit", 12345, "does not start; see what nvidia-smi says (status 12345)"},
		{"cuDeviceGetCount", 3, "CUDA_ERROR_OTHER"},
		{"cuDeviceGet", 101, "CUDA_ERROR_OTHER"},
		{"cuDeviceGetName", 101, "CUDA_ERROR_OTHER"},
		{"cuDeviceGetAttribute", 101, "CUDA_ERROR_OTHER"},
		{"cuDevicePrimaryCtxRetain", statusDeviceUnavailable, "Test card is held by another program; wait"},
		{"cuDevicePrimaryCtxRetain", statusOutOfMemory, "other programs hold the memory of Test card"},
		{"cuCtxSetCurrent", statusInvalidContext, "CUDA_ERROR_OTHER"},
		{"cuStreamCreate", statusOutOfMemory, "other programs hold the memory of Test card"},
		{"cuModuleLoadDataEx", statusUnsupportedPTX, "too old for Test card and this program; install"},
		{"cuModuleLoadDataEx", statusNoBinary, "too old for Test card and this program; install"},
		{"cuModuleLoadDataEx", statusNoJIT, "with libnvidia-ptxjitcompiler.so.1"},
	} {
		f.fail(c.function, int32(c.status))
		_, _, err := openCUDA([]string{f.path}, nil)
		if !errors.Is(err, ErrNone) || !strings.HasPrefix(err.Error(), "no graphics card: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s returned %d: %v; want %s", c.function, c.status, err, c.want)
		}
		if n := f.held(); n != 0 {
			t.Fatalf("%s returned %d: %d things were not given back", c.function, c.status, n)
		}
	}
	f.fail("", 0)
	f.setCards(0, 90)
	if _, _, err := openCUDA([]string{f.path}, nil); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "the driver finds none") {
		t.Error(err)
	}
	f.setCards(2, 52)
	if _, _, err := openCUDA([]string{f.path}, nil); !errors.Is(err, ErrNone) ||
		!strings.Contains(err.Error(), "Test card has compute capability 5.2, and this program needs 6.0 or newer") {
		t.Error(err)
	}
}

// TestCUDAStatuses checks which failures are for lack of memory, and after which the card is lost.
func TestCUDAStatuses(t *testing.T) {
	c := compileFake(t).open(t)
	for s, want := range map[status]error{
		2: ErrMemory, 700: ErrLost, 702: ErrLost, 709: ErrLost, 710: ErrLost, 714: ErrLost, 715: ErrLost, 716: ErrLost,
		717: ErrLost, 718: ErrLost, 719: ErrLost, 46: ErrLost, 201: ErrLost, 214: ErrLost, 220: ErrLost, 999: ErrLost, 4: ErrLost,
		1: ErrLost, 400: ErrLost, 500: ErrLost, 701: ErrLost, 801: ErrLost,
	} {
		err := c.cu.failure(&c.cu.launchKernel, s)
		for _, kind := range []error{ErrMemory, ErrLost, ErrNone} {
			if errors.Is(err, kind) != (kind == want) {
				t.Errorf("status %d: %v", s, err)
			}
		}
		if !s.lost() && want == ErrLost && err.Error() != "the graphics card failed: its driver refused cuLaunchKernel (CUDA_ERROR_OTHER: "+
			"described)" {
			t.Errorf("status %d: %v", s, err)
		}
	}
	if err := c.cu.failure(&c.cu.launchKernel, 700); err.Error() != "the graphics card failed (CUDA_ERROR_ILLEGAL_ADDRESS: an illegal "+
		"memory access was encountered)" {
		t.Error(err)
	}
	if err := c.cu.failure(&c.cu.launchKernel, 0); err != nil {
		t.Error(err)
	}
}

// copySizes are around the sizes of slots, and of many slots.
var copySizes = []int{0, 1, 3, 8, 511, 64<<10 - 1, 64 << 10, 64<<10 + 1, 1<<20 + 7, 16 << 20, 16<<20 + 1, 51<<20 + 5, 64 << 20}

// testCopies copies random bytes to and from a card, where the source changes at once.
func testCopies(t *testing.T, d driver, sizes []int) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range sizes {
		want := make([]byte, size+8) // somewhat more: what follows is not touched
		for i := 0; i+8 <= len(want); i += 8 {
			binary.LittleEndian.PutUint64(want[i:], random.Uint64())
		}
		first, err := d.alloc(int64(size))
		if err != nil {
			t.Fatal(err)
		}
		second, err := d.alloc(int64(size))
		if err != nil {
			t.Fatal(err)
		}
		src, got := bytes.Clone(want), bytes.Clone(want)
		clear(got[:size])
		for _, err := range []error{
			d.clear(second, int64(size)),
			d.upload(first, unsafe.Pointer(&src[0]), int64(size)),
			d.(interface {
				copy(dst, src pointer, bytes int64) error
			}).copy(second, first, int64(size)),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		clear(src)
		for _, err := range []error{
			d.clear(first, int64(size/2)),
			d.download(unsafe.Pointer(&got[0]), second, int64(size)),
			d.download(unsafe.Pointer(&src[0]), first, int64(size)),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d bytes came back otherwise", size)
		}
		if !bytes.Equal(src[:size/2], make([]byte, size/2)) || !bytes.Equal(src[size/2:size], want[size/2:size]) {
			t.Errorf("half of %d bytes was not cleared", size)
		}
		for _, at := range []pointer{first, second} {
			if err := d.release(at); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestCUDACopies(t *testing.T) { testCopies(t, compileFake(t).open(t), copySizes) }

// TestCUDAManyCopies queues more copies than there are slots, from several goroutines, which
// move between threads.
func TestCUDAManyCopies(t *testing.T) { testManyCopies(t, compileFake(t).open(t)) }

func testManyCopies(t *testing.T, d driver) {
	t.Helper()
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			const many = 100
			at, err := d.alloc(8 * many)
			if err != nil {
				t.Error(err)
				return
			}
			number, got := 0.0, make([]float64, many)
			for i := range many {
				number = float64(g*many + i)
				if err := d.upload(at+pointer(8*i), unsafe.Pointer(&number), 8); err != nil {
					t.Error(err)
				}
			}
			if err := d.download(unsafe.Pointer(&got[0]), at, 8*many); err != nil {
				t.Error(err)
			}
			for i, v := range got {
				if v != float64(g*many+i) {
					t.Errorf("number %d is %g", g*many+i, v)
				}
			}
			if err := d.release(at); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// TestCUDALaunch checks that every argument comes to a kernel at its place.
func TestCUDALaunch(t *testing.T) {
	f := compileFake(t)
	c := f.open(t)
	var a, b, last factors
	for i := range a {
		a[i], b[i], last[i] = float64(i), math.Sqrt(float64(i)), -float64(i)
	}
	args := []any{pointer(1 << 40), pointer(2), pointer(3), pointer(4), pointer(5), int64(-6), int32(-7), int32(8), a, b, last}
	if err := c.launch("recur", 9, 10, pack(args...)); err != nil {
		t.Fatal(err)
	}
	var want []byte
	for _, arg := range append(args, int32(9), int32(10)) {
		want, _ = binary.Append(want, binary.LittleEndian, arg)
	}
	if got := unsafe.Slice(f.launched(), len(want)); !bytes.Equal(got, want) {
		t.Errorf("recur got %x, want %x", got, want)
	}
	if err := c.launch("pick", 1<<31-1, 1024, pack(pointer(1), pointer(2), pointer(3), int64(4))); err != nil {
		t.Error(err)
	}
	if err := c.launch("nothing", 1, 1, pack()); err == nil ||
		err.Error() != "kernel nothing: the graphics card failed: its driver refused cuModuleGetFunction (CUDA_ERROR_OTHER: described)" {
		t.Error(err)
	}
	f.fail("cuLaunchKernel", 700)
	if err := c.launch("pick", 1, 1, pack(pointer(1), pointer(2), pointer(3), int64(4))); !errors.Is(err, ErrLost) ||
		!strings.HasPrefix(err.Error(), "kernel pick: ") {
		t.Error(err)
	}
	f.fail("", 0)
}

// TestCUDAMemory checks that a card goes on after its memory was too small.
func TestCUDAMemory(t *testing.T) {
	f := compileFake(t)
	d := newDevice(f.open(t), "")
	f.setMemory(1 << 20)
	if at := d.take(2 << 20); at != 0 {
		t.Error("more memory than there is")
	}
	if err := d.Err(); !errors.Is(err, ErrMemory) || err.Error() != "the memory of the graphics card is too small: 2 MiB more are needed "+
		"and 1 MiB of 1.0 GiB are free" {
		t.Error(err)
	}
	at := d.take(1 << 20)
	if free, total, err := d.Memory(); free != 1<<20 || total != 1<<30 || err != nil {
		t.Error(free, total, err)
	}
	d.give(at)
	d.Trim()
	if err := d.Err(); err != nil || at == 0 {
		t.Error(err)
	}
}

// TestCUDALost checks that every operation tells that the card was lost.
func TestCUDALost(t *testing.T) {
	f := compileFake(t)
	c := f.open(t)
	data := make([]byte, 1<<20)
	at, err := c.alloc(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"cuCtxSetCurrent", func() error { return c.wait() }},
		{"cuStreamSynchronize", func() error { return c.wait() }},
		{"cuMemsetD8Async", func() error { return c.clear(at, 1<<20) }},
		{"cuMemAlloc_v2", func() error {
			_, err := c.alloc(1 << 20)
			return err
		}},
		{"cuMemGetInfo_v2", func() error {
			_, _, err := c.memory()
			return err
		}},
		{"cuEventCreate", func() error { return c.upload(at, unsafe.Pointer(&data[0]), 1) }},
		{"cuMemAllocHost_v2", func() error { return c.upload(at, unsafe.Pointer(&data[0]), 1<<20) }},
		{"cuMemcpyHtoDAsync_v2", func() error { return c.upload(at, unsafe.Pointer(&data[0]), 1<<20) }},
		{"cuMemcpyDtoHAsync_v2", func() error { return c.download(unsafe.Pointer(&data[0]), at, 1<<20) }},
		{"cuMemcpyDtoDAsync_v2", func() error { return c.copy(at, at, 1) }},
		{"cuEventRecord", func() error { return c.upload(at, unsafe.Pointer(&data[0]), 8) }},
		{"cuEventSynchronize", func() error { return c.download(unsafe.Pointer(&data[0]), at, 8) }},
		{"cuMemFree_v2", func() error { return c.release(at) }},
	} {
		f.fail(c.name, 700)
		if err := c.do(); !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "CUDA_ERROR_ILLEGAL_ADDRESS") {
			t.Errorf("%s failed: %v", c.name, err)
		}
		f.fail("", 0)
	}
	if err := c.release(at); err != nil {
		t.Error(err)
	}
	if err := c.close(); err != nil {
		t.Error(err)
	}
	if err := c.wait(); !errors.Is(err, ErrLost) {
		t.Errorf("after its end: %v", err)
	}
}

// BenchmarkCUDALaunch is what a launch costs before the driver sees it.
func BenchmarkCUDALaunch(b *testing.B) {
	c := compileFake(b).open(b)
	args := pack(pointer(1), pointer(2), pointer(3), int64(4))
	b.ReportAllocs()
	for b.Loop() {
		if err := c.launch("pick", 1, 1, args); err != nil {
			b.Fatal(err)
		}
	}
}
