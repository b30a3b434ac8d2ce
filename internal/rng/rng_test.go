package rng

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The known answers published with Random123 (kat_vectors, philox2x64 10).
func TestPhiloxKnownAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ ctr0, ctr1, key, want0, want1 uint64 }{
		{0, 0, 0, 0xca00a0459843d731, 0x66c24222c9a845b5},
		{math.MaxUint64, math.MaxUint64, math.MaxUint64, 0x65b021d60cd8310f, 0x4d02f3222f86df20},
		{0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x0a5e742c2997341c, 0xb0f883d38000de5d},
	} {
		got0, got1 := philox(c.ctr0, c.ctr1, c.key)
		if got0 != c.want0 || got1 != c.want1 {
			t.Errorf("philox(%x, %x, %x) = %x %x, want %x %x", c.ctr0, c.ctr1, c.key, got0, got1, c.want0, c.want1)
		}
	}
}

// Saved results depend on these words: they may never change.
func TestStreamsAreFrozen(t *testing.T) {
	t.Parallel()
	s := New(1, "walk", 7)
	for i, want := range []uint64{0x1c782aad09c7302c, 0x0c92e7f96a09a240, 0x9904b2eb5b89bb7e} {
		if got := s.Uint64(); got != want {
			t.Errorf("word %d = %#x, want %#x", i, got, want)
		}
	}
}

func TestStreamsDiffer(t *testing.T) {
	t.Parallel()
	seen := map[uint64]string{}
	add := func(name string, s *Stream) {
		w := s.Uint64()
		if other, ok := seen[w]; ok {
			t.Errorf("%s and %s start with the same word", name, other)
		}
		seen[w] = name
	}
	add("seed 0", New(0, "a"))
	add("seed 1", New(1, "a"))
	add("purpose b", New(0, "b"))
	add("purpose a0", New(0, "a\x00"))
	add("purpose empty", New(0, ""))
	add("long purpose", New(0, "aaaaaaaaaaaaaaaa"))
	add("longer purpose", New(0, "aaaaaaaaaaaaaaaaa"))
	add("index 1", New(0, "a", 1))
	add("index 2", New(0, "a", 2))
	add("index 1, 2", New(0, "a", 1, 2))
	add("index 2, 1", New(0, "a", 2, 1))
	add("index 1, 2, 0", New(0, "a", 1, 2, 0))
}

func TestFillEqualsUint64(t *testing.T) {
	t.Parallel()
	for n := range 12 {
		for skip := range 3 {
			a, b := New(3, "fill", uint64(n)), New(3, "fill", uint64(n))
			for range skip {
				a.Uint64()
				b.Uint64()
			}
			got := make([]uint64, n)
			a.Fill(got)
			for i := range got {
				if want := b.Uint64(); got[i] != want {
					t.Fatalf("n=%d skip=%d: word %d = %x, want %x", n, skip, i, got[i], want)
				}
			}
			if a.Uint64() != b.Uint64() {
				t.Fatalf("n=%d skip=%d: streams part after Fill", n, skip)
			}
		}
	}
}

// Mean and variance of 2²⁰ uniforms lie within five standard errors: a fixed
// seed, so this passes always or never.
func TestFloat64Moments(t *testing.T) {
	t.Parallel()
	s := New(5, "moments")
	const n = 1 << 20
	sum, sq := 0.0, 0.0
	for range n {
		u := s.Float64()
		if u < 0 || u >= 1 {
			t.Fatalf("uniform %v outside [0, 1)", u)
		}
		sum += u
		sq += u * u
	}
	mean, second := sum/n, sq/n
	if d := math.Abs(mean - 0.5); d > 5*math.Sqrt(1.0/12/n) {
		t.Errorf("mean off by %g", d)
	}
	if d := math.Abs(second - 1.0/3); d > 5*math.Sqrt(4.0/45/n) {
		t.Errorf("second moment off by %g", d)
	}
}

func TestSourceOfRand(t *testing.T) {
	t.Parallel()
	a := rand.New(New(1, "perm")).Perm(10)
	b := rand.New(New(1, "perm")).Perm(10)
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("same stream, different permutations: %v, %v", a, b)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	key, buf := Derive(1, "walk"), make([]uint64, 100)
	if n := testing.AllocsPerRun(10, func() {
		s := key.At(3)
		s.Fill(buf)
		_ = s.Uint64()
	}); n != 0 {
		t.Errorf("%v allocations a run", n)
	}
}

func BenchmarkUint64(b *testing.B) {
	s := New(1, "bench")
	for b.Loop() {
		s.Uint64()
	}
}

func BenchmarkFill(b *testing.B) {
	s, buf := New(1, "bench"), make([]uint64, 128)
	for b.Loop() {
		s.Fill(buf)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(buf)), "ns/word")
}
