package machine

import (
	"context"
	"errors"
	"testing"
)

func TestStreams(t *testing.T) {
	t.Parallel()
	s, err := streams(context.Background(), 32*blockWords)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("copy %.1f, triad %.1f, read %.1f GB/s", s.Copy/1e9, s.Triad/1e9, s.Read/1e9)
	for name, rate := range map[string]float64{"copy": s.Copy, "triad": s.Triad, "read": s.Read} {
		// From an old telephone to the largest server.
		if rate < 1e7 || rate > 1e13 {
			t.Errorf("%s: %g bytes a second cannot be", name, rate)
		}
	}
}

func TestRandomReads(t *testing.T) {
	t.Parallel()
	for _, bytes := range []int{1, 32 << 10, 4 << 20} {
		rate, err := RandomReads(context.Background(), bytes)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d bytes: %.0f million reads a second", bytes, rate/1e6)
		if rate < 1e5 || rate > 1e13 {
			t.Errorf("%d bytes: %g reads a second cannot be", bytes, rate)
		}
	}
}

func TestEndedContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Bandwidth(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Bandwidth: %v, want %v", err, context.Canceled)
	}
	if _, err := RandomReads(ctx, 1<<20); !errors.Is(err, context.Canceled) {
		t.Errorf("RandomReads: %v, want %v", err, context.Canceled)
	}
}

func TestPasses(t *testing.T) {
	t.Parallel()
	a, b, c := make([]float64, 8), []float64{1, 2, 3, 4, 5, 6, 7, 8}, []float64{1, 1, 1, 1, 2, 2, 2, 2}
	triad(a, b, c, 3)
	if got := sum(a); got != 36+3*12 {
		t.Errorf("Σ (b + 3c) = %v, want 72", got)
	}
	// Every place of a small set must come up, about equally often.
	words := make([]uint64, 4)
	for i := range words {
		clear(words)
		words[i] = 1
		n := float64(gather(words, 5))
		// 5 standard deviations of a binomial count with mean 16384.
		if want := float64(readBlock) / 4; n < want-555 || n > want+555 {
			t.Errorf("place %d read %v times of %d", i, n, readBlock)
		}
	}
}

func BenchmarkBandwidth(b *testing.B) {
	for b.Loop() {
		s, err := Bandwidth(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(s.Copy/1e9, "copy-GB/s")
		b.ReportMetric(s.Triad/1e9, "triad-GB/s")
		b.ReportMetric(s.Read/1e9, "read-GB/s")
	}
}

func BenchmarkRandomReads(b *testing.B) {
	for _, size := range []struct {
		name  string
		bytes int
	}{{"1MiB", 1 << 20}, {"32MiB", 32 << 20}, {"256MiB", 256 << 20}} {
		b.Run(size.name, func(b *testing.B) {
			for b.Loop() {
				rate, err := RandomReads(context.Background(), size.bytes)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(rate/1e6, "Mreads/s")
			}
		})
	}
}
