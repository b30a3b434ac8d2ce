package bench

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/lab/dataset"
)

// Medium is a case of whole runs: a graph, and a quantity or classes known at some nodes.
type Medium struct {
	Name     string
	Title    string
	nodes    int // of a generated graph
	measured int
	small    int // nodes in quick runs, of which three tenths are measured; 0: none
	make     func(ctx context.Context, s dataset.Store, nodes, measured int, seed uint64) (*mediumTask, error)
}

// mediumTask is a graph with all values, or all classes.
type mediumTask struct {
	graph        *graph.Graph
	truth, value []float64 // by node, without and with noise
	class        []int     // by node; nil: values are predicted
	given        []int     // nodes with a measurement or a label
}

// Mediums returns all cases.
func Mediums() []Medium {
	values := []Medium{
		{"mesh", "mesh, smooth function", 3000, 900, 600, smoothOn(mesh)},
		{"hubs", "hubs, smooth function", 10_000, 2800, 1600, smoothOn(hubs)},
		{"facebook-smooth", "Facebook, smooth function", 0, 3000, 0, smoothOn(stored("facebook"))},
		{"facebook-degree", "Facebook, log degree", 0, 3000, 0, degreesOn(stored("facebook"))},
		{"enron", "Enron, smooth function", 0, 1000, 0, smoothOn(stored("enron"))},
		{"million", "grid of a million nodes, smooth function", 1_000_000, 1000, 0, smoothOn(square)},
	}
	return append(values, mediumClasses()...)
}

// graphMaker makes or loads a graph; the number of nodes and the seed are for those that are made.
type graphMaker func(ctx context.Context, s dataset.Store, nodes int, seed uint64) (*graph.Graph, error)

// mesh joins random places in a square to their nearest ones: six neighbours on average.
func mesh(_ context.Context, _ dataset.Store, nodes int, seed uint64) (*graph.Graph, error) {
	const nearest = 5
	random := rand.New(rng.New(seed, "mesh"))
	at := mat.NewDense(nodes, 2, nil)
	for i := range nodes {
		at.SetRow(i, []float64{random.Float64(), random.Float64()})
	}
	return graph.KNN(at, nearest, graph.Planar)
}

// hubs is a scale-free graph with thirty neighbours on average.
func hubs(_ context.Context, _ dataset.Store, nodes int, seed uint64) (*graph.Graph, error) {
	return graph.BarabasiAlbert(nodes, 15, seed)
}

func square(_ context.Context, _ dataset.Store, nodes int, _ uint64) (*graph.Graph, error) {
	side := int(math.Round(math.Sqrt(float64(nodes))))
	return graph.Grid(side, side)
}

// stored is a data set on this machine.
func stored(name string) graphMaker {
	return func(ctx context.Context, s dataset.Store, _ int, _ uint64) (*graph.Graph, error) {
		set, err := dataset.Named(name)
		if err != nil {
			return nil, err
		}
		return s.Graph(ctx, set)
	}
}

// smoothOn measures white noise after twenty steps of averaging over neighbours.
func smoothOn(of graphMaker) func(context.Context, dataset.Store, int, int, uint64) (*mediumTask, error) {
	return func(ctx context.Context, s dataset.Store, nodes, measured int, seed uint64) (*mediumTask, error) {
		g, err := of(ctx, s, nodes, seed)
		if err != nil {
			return nil, err
		}
		t := averages("smooth", g, seed)
		return &mediumTask{graph: g, truth: t.Truth, value: t.Table, given: someNodes(g.Len(), measured, seed)}, nil
	}
}

// degreesOn measures the log degree, standardised, with noise of standard deviation 0.1.
func degreesOn(of graphMaker) func(context.Context, dataset.Store, int, int, uint64) (*mediumTask, error) {
	return func(ctx context.Context, s dataset.Store, nodes, measured int, seed uint64) (*mediumTask, error) {
		g, err := of(ctx, s, nodes, seed)
		if err != nil {
			return nil, err
		}
		t := &mediumTask{graph: g, given: someNodes(g.Len(), measured, seed)}
		for _, d := range g.Degrees() {
			t.truth = append(t.truth, math.Log(float64(max(1, d))))
		}
		mean, sd := stat.PopMeanStdDev(t.truth, nil)
		random := rand.New(rng.New(seed, "degrees"))
		for i := range t.truth {
			t.truth[i] = (t.truth[i] - mean) / sd
			t.value = append(t.value, t.truth[i]+0.1*random.NormFloat64())
		}
		return t, nil
	}
}

// someNodes returns random nodes.
func someNodes(n, count int, seed uint64) []int {
	return rand.New(rng.New(seed, "medium")).Perm(n)[:count]
}
