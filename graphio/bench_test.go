package graphio

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"grfgp/internal/rng"
)

// edgeFile writes a text file of random edges; id turns a number into an id.
func edgeFile(b *testing.B, nodes, edges int, weighted bool, id func([]byte, int) []byte) string {
	b.Helper()
	random := rand.New(rng.New(1, "bench"))
	var buf bytes.Buffer
	var line []byte
	for range edges {
		line = id(line[:0], random.IntN(nodes))
		line = append(line, '\t')
		line = id(line, random.IntN(nodes))
		if weighted {
			line = strconv.AppendFloat(append(line, '\t'), random.Float64(), 'g', 6, 64)
		}
		buf.Write(append(line, '\n'))
	}
	path := filepath.Join(b.TempDir(), "edges.tsv")
	if err := os.WriteFile(path, buf.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkReadGraph reads 3 million edges between a million nodes. It reports
// the peak of the heap as a multiple of the matrix that results: 12 bytes an
// entry, 8 a row.
func BenchmarkReadGraph(b *testing.B) {
	integer := func(dst []byte, i int) []byte { return strconv.AppendInt(dst, int64(i), 10) }
	for _, c := range []struct {
		name     string
		weighted bool
		id       func([]byte, int) []byte
	}{
		{"integers", false, integer},
		{"weighted", true, integer},
		{"large integers", false, func(dst []byte, i int) []byte { return strconv.AppendInt(dst, 1e10+7919*int64(i), 10) }},
		{"text", false, func(dst []byte, i int) []byte { return fmt.Appendf(dst, "user-%07d", i) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			path := edgeFile(b, 1<<20, 3_000_000, c.weighted, c.id)
			info, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(info.Size())
			opts := Options{}
			if c.weighted {
				opts.Weights = WeightsSimilarity
			}
			worst, size := 0.0, 0.0
			for b.Loop() {
				runtime.GC()
				peak := watchHeap()
				n, err := ReadGraph(context.Background(), File(path), opts)
				if err != nil {
					b.Fatal(err)
				}
				worst = max(worst, float64(peak()))
				size = float64(12*n.Graph.Adjacency().NNZ() + 8*n.Graph.Len())
			}
			b.ReportMetric(worst/size, "peak/CSR")
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/op")
		})
	}
}

// watchHeap samples the heap every millisecond until the returned function is
// called, which gives the most that was in use beyond what was at the start.
func watchHeap() func() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before := m.HeapInuse
	var stop atomic.Bool
	peak := make(chan uint64)
	go func() {
		most := uint64(0)
		for !stop.Load() {
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapInuse)
			time.Sleep(time.Millisecond)
		}
		peak <- most - before
	}()
	return func() uint64 { stop.Store(true); return <-peak }
}
