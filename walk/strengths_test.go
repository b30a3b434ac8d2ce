package walk_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"grfgp/graph"
	"grfgp/internal/testkit"
	"grfgp/walk"
)

// TestStrengths: walks on A with strengths are those on D^-½AD^-½, to the last bit: rows, pilots, lists and Φ,
// for all kinds of steps, on graphs with equal weights and with weights of many sizes.
func TestStrengths(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	weighted := func(g *graph.Graph, err error) *graph.Graph {
		if err != nil {
			t.Fatal(err)
		}
		var e graph.Edges
		for i := range g.Len() {
			cols, _ := g.Adjacency().Row(i)
			for _, j := range cols {
				if int(j) <= i {
					e.U, e.V = append(e.U, uint32(i)), append(e.V, j)
					e.W = append(e.W, []float64{0.3, 7, 1e-170, 2.5, 1e160}[(i*7+int(j))%5])
				}
			}
		}
		h, _, err := graph.FromEdges(graph.NumberIDs(g.Len()), e, graph.BuildOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	plain := func(g *graph.Graph, err error) *graph.Graph {
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	for name, g := range map[string]*graph.Graph{
		"grid": plain(graph.Grid(40, 30)), "hubs": plain(graph.BarabasiAlbert(900, 3, 2)), "weighted": weighted(graph.Grid(30, 20)),
		"weighted hubs": weighted(graph.BarabasiAlbert(600, 2, 3)),
	} {
		for _, change := range []func(o *walk.Options){
			func(o *walk.Options) {}, func(o *walk.Options) { o.Sampler = walk.Independent },
			func(o *walk.Options) { o.Steps, o.Scale = walk.Uniform, nil }, func(o *walk.Options) { o.Scale = nil },
		} {
			opts := walk.Default()
			opts.MaxLen, opts.Walks, opts.Budget = 4, 20, 10
			w, scale, strengths := g.WalkMatrix(graph.NormalizedAdjacency)
			if strengths == nil || scale != nil || w != g.Adjacency() {
				t.Fatalf("%s: W is a copy, or the scale", name)
			}
			opts.Scale = g.WalkScale(graph.NormalizedAdjacency)
			change(&opts)
			want, err := walk.Sample(t.Context(), g.Normalized(graph.NormalizedAdjacency), opts)
			if err != nil {
				t.Fatal(err)
			}
			with := opts
			with.Strengths = strengths
			if opts.Scale != nil {
				with.Scale, with.Rooted = nil, true
			}
			got, err := walk.Sample(t.Context(), w, with)
			if err != nil {
				t.Fatal(err)
			}
			lazy, err := walk.Lazy(w, with)
			if err != nil {
				t.Fatal(err)
			}
			coeff := []float64{1, 0.5, 0.25, 0.1, 0.05}
			a, err := want.Compact(t.Context(), coeff)
			if err != nil {
				t.Fatal(err)
			}
			b, err := lazy.Compact(t.Context(), coeff)
			if err != nil {
				t.Fatal(err)
			}
			for i := range g.Len() {
				if !reflect.DeepEqual(slices.Collect(want.Row(i)), slices.Collect(got.Row(i))) {
					t.Fatalf("%s: row %d differs", name, i)
				}
			}
			if !reflect.DeepEqual(a, b) {
				t.Errorf("%s: another Φ", name)
			}
			pa, err := walk.Pilot(t.Context(), g.Normalized(graph.NormalizedAdjacency), opts, coeff, 50)
			if err != nil {
				t.Fatal(err)
			}
			if pb, err := walk.Pilot(t.Context(), w, with, coeff, 50); err != nil || !reflect.DeepEqual(pa, pb) {
				t.Errorf("%s: another estimate of the error: %v", name, err)
			}
		}
	}
	g := plain(graph.Ring(10))
	opts := walk.Default()
	for _, bad := range [][]float64{{1}, slices.Repeat([]float64{0}, 10)} {
		opts.Strengths = bad
		if _, err := walk.Lazy(g.Adjacency(), opts); !errors.Is(err, walk.ErrOptions) {
			t.Errorf("strengths %v: %v", bad, err)
		}
	}
	for _, bad := range []walk.Options{{Rooted: true, Walks: 1},
		{Rooted: true, Walks: 1, Strengths: slices.Repeat([]float64{1}, 10), Scale: slices.Repeat([]float64{1}, 10)}} {
		if _, err := walk.Lazy(g.Adjacency(), bad); !errors.Is(err, walk.ErrOptions) {
			t.Errorf("roots of strengths %v beside %v: %v", bad.Strengths, bad.Scale, err)
		}
	}
	if _, _, d := g.WalkMatrix(graph.NormalizedLaplacian); d != nil {
		t.Error("strengths for another matrix")
	}
	lone, _, err := graph.FromEdges(graph.NumberIDs(3), graph.Edges{U: []uint32{0}, V: []uint32{1}}, graph.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if w, _, d := lone.WalkMatrix(graph.NormalizedAdjacency); d != nil || w.At(2, 2) != 1 {
		t.Error("an isolated node has no entry on the diagonal of W")
	}
}
