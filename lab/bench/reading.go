package bench

import (
	"bytes"
	"context"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"strconv"
	"sync/atomic"
	"time"

	"grfgp/graphio"
	"grfgp/internal/rng"
)

// Read is a timed reading of a text file of edges.
type Read struct {
	Edges          int     `json:"edges"`
	Nodes          int     `json:"nodes"`
	Bytes          int     `json:"bytes"`
	Seconds        float64 `json:"seconds"`
	BytesPerSecond float64 `json:"bytes_per_second"`
	// PeakShare is the peak memory while reading, without the file's text, divided by the
	// size of the adjacency matrix.
	PeakShare float64 `json:"peak_share"`
}

// Reading times the reader on random edges, with a third as many nodes, from memory, so
// that the disk does not matter.
func Reading(ctx context.Context, edges int, seed uint64) (*Read, error) {
	text := randomEdges(edges, edges/3, seed)
	r := &Read{Bytes: len(text)}
	before := heap()
	peak := &peakMemory{}
	seconds, err := quickest(ctx, func() error {
		runtime.GC()
		stop := peak.watch()
		defer stop()
		net, err := graphio.ReadGraph(ctx, graphio.Reader("random edges", bytes.NewReader(text)), graphio.Options{})
		if err == nil {
			r.Edges, r.Nodes = net.Graph.Edges(), net.Graph.Len()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	r.Seconds, r.BytesPerSecond = seconds, float64(len(text))/seconds
	csr := 24*float64(r.Edges) + 8*float64(r.Nodes+1)
	r.PeakShare = (float64(peak.most.Load()) - before) / csr
	return r, nil
}

// randomEdges returns a text file of pairs.
func randomEdges(edges, nodes int, seed uint64) []byte {
	random := rand.New(rng.New(seed, "random edges"))
	text := make([]byte, 0, 16*edges)
	for range edges {
		text = strconv.AppendInt(text, random.Int64N(int64(nodes)), 10)
		text = append(text, '\t')
		text = strconv.AppendInt(text, random.Int64N(int64(nodes)), 10)
		text = append(text, '\n')
	}
	return text
}

// peakMemory holds the maximum of heap object bytes, live or not yet freed.
type peakMemory struct{ most atomic.Uint64 }

// watch samples every few milliseconds until stopped.
func (p *peakMemory) watch() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for {
			metrics.Read(sample)
			p.most.Store(max(p.most.Load(), sample[0].Value.Uint64()))
			select {
			case <-done:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	return func() { close(done); <-ended }
}
