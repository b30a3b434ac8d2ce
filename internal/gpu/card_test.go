//go:build gpu && linux

package gpu

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"
)

// openCard opens the card of this machine; without one the test is skipped. Without compilers its
// kernels are those in kernels.ptx.
func openCard(t testing.TB, compilers []string) *cuda {
	t.Helper()
	c, note, err := openCUDA(driverLibraries, compilers)
	if err != nil {
		t.Skip(err)
	}
	t.Logf("%s: %s", c.name(), note)
	t.Cleanup(func() {
		if err := c.close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// onCard runs a test with both forms of the kernels.
func onCard(t *testing.T, test func(t *testing.T, c *cuda)) {
	t.Run("PTX", func(t *testing.T) { test(t, openCard(t, nil)) })
	t.Run("compiled", func(t *testing.T) {
		if _, err := openFirst(compilerLibraries); err != nil {
			t.Skip("NVRTC is not installed: ", err)
		}
		test(t, openCard(t, compilerLibraries))
	})
}

// TestNVRTC checks that NVRTC, where it is, takes kernels.cu; it needs no card.
func TestNVRTC(t *testing.T) {
	if _, err := openFirst(compilerLibraries); err != nil {
		t.Skip("NVRTC is not installed: ", err)
	}
	image, version, err := compile(compilerLibraries, 90)
	if err != nil || len(image) == 0 {
		t.Fatal(err)
	}
	t.Logf("NVRTC %s made %d bytes", version, len(image))
}

func TestCardCopies(t *testing.T) {
	testCopies(t, openCard(t, nil), append(copySizes, 200<<20+3))
}

func TestCardManyCopies(t *testing.T) { testManyCopies(t, openCard(t, nil)) }

// TestCardLaunch runs extrapolate and compares bits.
func TestCardLaunch(t *testing.T) {
	onCard(t, func(t *testing.T, c *cuda) {
		const n, factor = 100_003, 1.0 / 3
		random := rand.New(rand.NewPCG(3, 4))
		now, before := make([]float64, n), make([]float64, n)
		for i := range now {
			now[i], before[i] = random.NormFloat64(), random.NormFloat64()
		}
		d := newDevice(check(t, c), "")
		at, old := d.take(8*n), d.take(8*n)
		upload(d, at, now)
		upload(d, old, before)
		d.run("extrapolate", (n+255)/256, 256, at, old, int64(n), factor)
		got, gotBefore := make([]float64, n), make([]float64, n)
		d.numbers(got, at)
		d.numbers(gotBefore, old)
		if err := d.Err(); err != nil {
			t.Fatal(err)
		}
		for i := range got {
			want := now[i] + float64(factor*(now[i]-before[i]))
			if math.Float64bits(got[i]) != math.Float64bits(want) || gotBefore[i] != now[i] {
				t.Fatalf("number %d is %v, want %v", i, got[i], want)
			}
		}
		d.give(at)
		d.give(old)
		d.Trim()
	})
}

// TestCardMemory checks that the card goes on after its memory was too small.
func TestCardMemory(t *testing.T) {
	c := openCard(t, nil)
	_, total, err := c.memory()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.alloc(2 * total); !errors.Is(err, ErrMemory) {
		t.Errorf("twice the memory of the card: %v", err)
	}
	testCopies(t, c, []int{1000})
}

// TestCardLost writes where there is no memory, in a process of its own: it is lost for the
// card after that.
func TestCardLost(t *testing.T) {
	const child = "GRFGP_TEST_CARD_LOST"
	if os.Getenv(child) == "" {
		openCard(t, nil)
		cmd := exec.Command(os.Args[0], "-test.run=^TestCardLost$", "-test.v")
		cmd.Env = append(os.Environ(), child+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestCardLost") {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	c, _, err := openCUDA(driverLibraries, nil)
	if err != nil {
		t.Fatal(err)
	}
	at, err := c.alloc(8)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.launch("extrapolate", 1, 256, pack(pointer(1<<20), pointer(1<<20), int64(256), 1.0)); err != nil {
		t.Fatal(err)
	}
	number := 1.0
	for range 2 {
		if err := c.download(unsafe.Pointer(&number), at, 8); !errors.Is(err, ErrLost) ||
			!strings.Contains(err.Error(), "CUDA_ERROR_ILLEGAL_ADDRESS") {
			t.Errorf("after a wild write: %v", err)
		}
	}
	if _, err := c.alloc(1); !errors.Is(err, ErrLost) || number != 1 {
		t.Errorf("after a wild write: %v, %v", err, number)
	}
	t.Log("closed: ", c.close())
}

// BenchmarkCardCopies copies 1 GiB of ordinary memory.
func BenchmarkCardCopies(b *testing.B) {
	c := openCard(b, nil)
	const size = 1 << 30
	at, err := c.alloc(size)
	if err != nil {
		b.Fatal(err)
	}
	host := make([]byte, size)
	for i := range host {
		host[i] = byte(i)
	}
	for _, r := range []ring{{slots: 2, bytes: 32 << 20}, {slots: 2, bytes: 16 << 20}, {slots: 4, bytes: 8 << 20}, {slots: 4, bytes: 4 << 20},
		{slots: 8, bytes: 4 << 20}, {slots: 4, bytes: 2 << 20}} {
		_ = c.do(func() error { c.large.end(c); return nil })
		c.large = r
		for name, copy := range map[string]func() error{
			"upload":   func() error { return errors.Join(c.upload(at, unsafe.Pointer(&host[0]), size), c.wait()) },
			"download": func() error { return c.download(unsafe.Pointer(&host[0]), at, size) },
		} {
			b.Run(fmt.Sprintf("%s/%dx%dMiB", name, r.slots, r.bytes>>20), func(b *testing.B) {
				b.SetBytes(size)
				for b.Loop() {
					if err := copy(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
	if err := c.release(at); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkCardLaunch queues small kernels, and copies of small arrays.
func BenchmarkCardLaunch(b *testing.B) {
	c := openCard(b, nil)
	at, err := c.alloc(1 << 20)
	if err != nil {
		b.Fatal(err)
	}
	numbers := make([]float64, 64)
	args := pack(at, at+512<<10, int64(1000), 0.5)
	for _, n := range []struct {
		name string
		do   func() error
	}{
		{"launch", func() error { return c.launch("extrapolate", 4, 256, args) }},
		{"launch and wait", func() error { return errors.Join(c.launch("extrapolate", 4, 256, args), c.wait()) }},
		{"upload", func() error { return c.upload(at, unsafe.Pointer(&numbers[0]), 512) }},
		{"download", func() error { return c.download(unsafe.Pointer(&numbers[0]), at, 512) }},
		{"alloc", func() error {
			at, err := c.alloc(64 << 20)
			return errors.Join(err, c.release(at))
		}},
	} {
		b.Run(n.name, func(b *testing.B) {
			for b.Loop() {
				if err := n.do(); err != nil {
					b.Fatal(err)
				}
			}
			if err := c.wait(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkCardOpen opens the card with both forms of the kernels.
func BenchmarkCardOpen(b *testing.B) {
	for name, compilers := range map[string][]string{"PTX": nil, "compiled": compilerLibraries} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				c, note, err := openCUDA(driverLibraries, compilers)
				if err != nil {
					b.Skip(err)
				}
				if err := c.close(); err != nil {
					b.Fatal(err)
				}
				b.Log(note)
			}
		})
	}
}

// TestCardTwins compares the results of all operations with those of the twins, bit by bit.
func TestCardTwins(t *testing.T) {
	onCard(t, func(t *testing.T, c *cuda) {
		if err := same(operations(t, newDevice(check(t, c), "")), operations(t, Simulate(Simulated{}))); err != nil {
			t.Error(err)
		}
	})
}

// BenchmarkCardForms runs the kernels that take most of the time in both of their forms: a product
// with a matrix of 20 entries a row, and a step of conjugate gradients. Bytes are those of the
// matrix and of the blocks, each counted once.
func BenchmarkCardForms(b *testing.B) {
	const n, each, k = 1 << 20, 20, 16
	random := rand.New(rand.NewPCG(7, 8))
	ptr, col, val := make([]int, n+1), make([]uint32, n*each), make([]float64, n*each)
	for i := range col {
		col[i], val[i] = uint32(min(n-1, max(0, i/each+random.IntN(4000)-2000))), random.NormFloat64()
	}
	for i := range ptr {
		ptr[i] = i * each
	}
	for _, form := range []struct {
		name      string
		compilers []string
	}{{"PTX", nil}, {"compiled", compilerLibraries}} {
		d := newDevice(openCard(b, form.compilers), "")
		m, noise := d.Matrix(n, n, ptr, col, val), d.Zeros(n, 1)
		x, y, e, r := d.Zeros(n, k), d.Zeros(n, k), d.Zeros(n, k), d.Zeros(n, k)
		rr, rz, alpha := make([]float64, k), make([]float64, k), make([]float64, k)
		for name, do := range map[string]func() int64{
			"product": func() int64 { m.Mul(y, x, 1); return n*each*12 + 2*8*n*k },
			"step":    func() int64 { Step(rr, rz, e, r, x, y, noise, nil, alpha); return 6 * 8 * n * k },
		} {
			b.Run(form.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					b.SetBytes(do())
				}
				if err := d.Err(); err != nil {
					b.Fatal(err)
				}
			})
		}
		m.Free()
		for _, block := range []*Block{noise, x, y, e, r} {
			block.Free()
		}
		d.Trim()
	}
}
