package grfgp

import (
	"context"
	"fmt"

	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/sparse"
	"grfgp/walk"
)

// workshop makes the kernels of one graph, and keeps what several fits share:
// the order of nodes, eigenvectors, features.
type workshop struct {
	spec     Spec
	graph    *graph.Graph // ordered
	w        *sparse.CSR
	hash     [32]byte // of the graph as given
	place    []int    // place[node] is the number of a given node in the ordered graph
	dense    *kernel.Dense
	features *walk.Features
}

func newWorkshop(g *graph.Graph, spec Spec) (*workshop, error) {
	if err := spec.Check(); err != nil {
		return nil, err
	}
	order := g.Order()
	h, err := g.Permute(order)
	if err != nil {
		return nil, err
	}
	w := &workshop{spec: spec, graph: h, w: h.Normalized(graph.NormalizedAdjacency), hash: g.Hash(), place: make([]int, len(order))}
	for at, node := range order {
		w.place[node] = at
	}
	return w, nil
}

const (
	denseNodes  = 1500 // eigenvectors of that many nodes take seconds
	seriesHops  = 200
	seriesFlops = 2e10 // of one evaluation of the likelihood
	seriesTerms = 64   // products with W that an evaluation takes, about
)

// decide chooses the representation by what it costs, and its reach.
func (w *workshop) decide(measurements int) (method string, hops int, why []string) {
	n, nnz := w.graph.Len(), w.w.NNZ()
	flops := 2 * seriesTerms * float64(nnz) * float64(measurements)
	free := w.spec.Family == "free"
	say := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	switch {
	case w.spec.Method != "":
		method = w.spec.Method
		say("the method %s was asked for", method)
	case n <= denseNodes && !free:
		method = "dense"
		say("dense: eigenvectors of %d nodes are cheap, and the kernel is exact at any reach", n)
	case flops <= seriesFlops:
		method = "series"
		say("series: exact at any reach for about %.1g operations a step", flops)
	default:
		method = "grf"
		say("random features: an exact series would take %.1g operations a step", flops)
	}
	switch {
	case method == "dense":
	case w.spec.Hops > 0:
		hops = w.spec.Hops
	case method == "series" && !free:
		hops = seriesHops
	default:
		hops = walk.Default().MaxLen
	}
	return method, hops, why
}

// kernel returns the kernel of a family in a representation.
func (w *workshop) kernel(ctx context.Context, f family, method string, hops int) (kernel.Kernel, error) {
	switch method {
	case "dense":
		if w.dense != nil {
			return w.dense.With(f.spectrum), nil
		}
		var err error
		w.dense, err = kernel.NewDense(w.w, f.spectrum)
		return w.dense, err
	case "series":
		return kernel.NewSeries(w.w, f.modulation, hops)
	}
	if w.features == nil {
		opts := walk.Default()
		opts.MaxLen, opts.Seed, opts.Scale = hops, w.spec.Seed, w.graph.WalkScale(graph.NormalizedAdjacency)
		if w.spec.Walks > 0 {
			opts.Walks, opts.Budget = w.spec.Walks, 2*w.spec.Walks
		}
		var err error
		if w.features, err = walk.Sample(ctx, w.w, opts); err != nil {
			return nil, err
		}
	}
	if method == "lowrank" {
		rank := w.spec.Rank
		if rank == 0 {
			rank = 256
		}
		return kernel.NewLowRank(w.features, f.modulation, kernel.LowRankOptions{Dim: rank, Seed: w.spec.Seed})
	}
	return kernel.NewGRF(w.features, f.modulation)
}

// starts are length scales from two to a hundred hops, to be tried by
// likelihood.
func starts(f family) [][]float64 {
	if f.spectrum == nil {
		return nil
	}
	var all [][]float64
	for _, scale := range []float64{2, 8, 32, 128} {
		if _, ok := f.modulation.(kernel.Matern); ok {
			scale /= 2
		}
		all = append(all, []float64{1, scale})
	}
	return all
}
