package walk_test

import (
	"context"
	"fmt"
	"testing"

	"grfgp/graph"
	"grfgp/walk"
)

// Rows a second of every sampler, on a graph without and one with hubs.
func BenchmarkSample(b *testing.B) {
	ring, err := graph.Ring(1 << 16)
	if err != nil {
		b.Fatal(err)
	}
	hubs, err := graph.BarabasiAlbert(1<<16, 3, 1)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		g    *graph.Graph
		hops int
	}{{"ring", ring, 3}, {"hubs", hubs, 5}} {
		w, scale := c.g.Normalized(graph.NormalizedAdjacency), c.g.WalkScale(graph.NormalizedAdjacency)
		for _, v := range []struct {
			sampler walk.Sampler
			steps   walk.Steps
		}{{walk.Independent, walk.Uniform}, {walk.Independent, walk.Proportional}, {walk.Repelling, walk.Proportional}} {
			b.Run(fmt.Sprintf("%s/%v/%v", c.name, v.sampler, v.steps), func(b *testing.B) {
				opts := walk.Default()
				opts.Sampler, opts.Steps, opts.MaxLen, opts.Scale = v.sampler, v.steps, c.hops, scale
				for b.Loop() {
					if _, err := walk.Sample(context.Background(), w, opts); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*c.g.Len()), "ns/row")
			})
		}
	}
}

func BenchmarkCombine(b *testing.B) {
	g, err := graph.Grid(300, 300)
	if err != nil {
		b.Fatal(err)
	}
	f, err := walk.Sample(context.Background(), g.Normalized(graph.NormalizedAdjacency), walk.Default())
	if err != nil {
		b.Fatal(err)
	}
	coeff := make([]float64, f.MaxLen()+1)
	for l := range coeff {
		coeff[l] = 1 / float64(l+1)
	}
	for b.Loop() {
		if _, err := f.Combine(coeff); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(f.Size().Values), "ns/value")
}
