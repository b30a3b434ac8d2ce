package eigen

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/rng"
)

// TestSymmetric: eigenvalues agree with gonum's, eigenvectors are orthonormal, and both
// reconstruct the matrix, to 1e-13 of the norm, for simple, multiple, clustered
// and zero eigenvalues.
func TestSymmetric(t *testing.T) {
	t.Parallel()
	must := func(g *graph.Graph, err error) *graph.Graph {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	normalized := func(g *graph.Graph) *mat.SymDense {
		w := g.Normalized(graph.NormalizedAdjacency)
		n := g.Len()
		a := mat.NewSymDense(n, nil)
		for i := range n {
			cols, vals := w.Row(i)
			for p, j := range cols {
				a.SetSym(i, int(j), vals[p])
			}
		}
		return a
	}
	star := graph.Edges{}
	for i := range 40 {
		star.U, star.V = append(star.U, 0), append(star.V, uint32(i+1))
	}
	hub, _, err := graph.FromEdges(graph.NumberIDs(45), star, graph.BuildOptions{}) // and four lone nodes
	if err != nil {
		t.Fatal(err)
	}
	random := mat.NewSymDense(67, nil)
	graded := mat.NewSymDense(30, nil)
	stream := rng.New(1, "matrix")
	for i := range 67 {
		for j := i; j < 67; j++ {
			random.SetSym(i, j, stream.Float64()-0.5)
			if j < 30 {
				graded.SetSym(i, j, math.Pow(10, -float64(i+j)/3))
			}
		}
	}
	for name, a := range map[string]*mat.SymDense{
		"one":      mat.NewSymDense(1, []float64{-3}),
		"two":      mat.NewSymDense(2, []float64{1, 2, 2, -1}),
		"zero":     mat.NewSymDense(7, nil),
		"identity": mat.NewSymDense(3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}),
		"ring":     normalized(must(graph.Ring(100))),
		"grid":     normalized(must(graph.Grid(9, 9))),
		"hubs":     normalized(must(graph.BarabasiAlbert(131, 2, 1))),
		"star":     normalized(hub),
		"random":   random,
		"graded":   graded,
		"blocks": normalized(must(graph.StochasticBlock([]int{20, 1, 30},
			func(a, b int) float64 { return map[bool]float64{true: 0.3}[a == b] }, 2))),
		"tiny":      scaledSym(1e-60, random),
		"enormous":  scaledSym(1e60, random),
		"long path": path(200),
	} {
		n := a.SymmetricDim()
		u := mat.DenseCopyOf(a)
		for i := range n {
			for j := i + 1; j < n; j++ {
				u.Set(i, j, math.NaN()) // not read
			}
		}
		values, err := Symmetric(u, Rising)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var g mat.EigenSym
		if !g.Factorize(a, false) {
			t.Fatalf("%s: gonum finds no eigenvalues", name)
		}
		want := g.Values(nil)
		norm := max(math.Abs(want[0]), math.Abs(want[n-1]))
		for k := range want {
			if math.Abs(values[k]-want[k]) > 1e-13*norm {
				t.Errorf("%s: eigenvalue %d is %v, want %v", name, k, values[k], want[k])
			}
		}
		var gram, again mat.Dense
		gram.Mul(u.T(), u)
		again.Mul(u, mat.NewDiagDense(n, values))
		again.Mul(&again, u.T())
		for i := range n {
			for j := range n {
				unit := 0.0
				if i == j {
					unit = 1
				}
				if d := math.Abs(gram.At(i, j) - unit); d > 1e-13 {
					t.Fatalf("%s: eigenvectors %d and %d are %v off being orthonormal", name, i, j, d)
				}
				if d := math.Abs(again.At(i, j) - a.At(i, j)); d > 1e-13*norm {
					t.Fatalf("%s: entry %d, %d comes back %v off", name, i, j, d)
				}
			}
		}
	}
}

// TestOrders: eigenvalues and their columns come in the order that is asked for.
func TestOrders(t *testing.T) {
	t.Parallel()
	diagonal := []float64{2, -3, 0.5, 3, -1}
	for name, c := range map[string]struct {
		by   Order
		want []float64
	}{
		"rising":    {Rising, []float64{-3, -1, 0.5, 2, 3}},
		"falling":   {Falling, []float64{3, 2, 0.5, -1, -3}},
		"magnitude": {Magnitude, []float64{3, -3, 2, -1, 0.5}},
	} {
		u := mat.DenseCopyOf(mat.NewDiagDense(5, diagonal))
		values, err := Symmetric(u, c.by)
		if err != nil || !slices.Equal(values, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, values, err, c.want)
		}
		for k, v := range values {
			if i := slices.Index(diagonal, v); math.Abs(u.At(i, k)) != 1 {
				t.Errorf("%s: column %d is not the vector of %v", name, k, v)
			}
		}
	}
}

// TestSymmetricThreads: the same bits on any number of processors, also with several
// batches of rotations.
func TestSymmetricThreads(t *testing.T) {
	const n = 320
	a := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range i + 1 {
			a.Set(i, j, math.Sin(float64(i*j+i+j)))
		}
	}
	on := func(threads int) ([]float64, *mat.Dense) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		u := mat.DenseCopyOf(a)
		values, err := Symmetric(u, Falling)
		if err != nil {
			t.Fatal(err)
		}
		return values, u
	}
	values, vectors := on(1)
	v, u := on(3)
	if !slices.Equal(v, values) || !mat.Equal(u, vectors) {
		t.Error("other eigenvectors on three processors than on one")
	}
}

func scaledSym(f float64, a *mat.SymDense) *mat.SymDense {
	var s mat.SymDense
	s.ScaleSym(f, a)
	return &s
}

// path is a tridiagonal matrix whose eigenvalues are dense at both ends of the
// spectrum.
func path(n int) *mat.SymDense {
	a := mat.NewSymDense(n, nil)
	for i := range n - 1 {
		a.SetSym(i, i+1, 0.5)
	}
	return a
}

func BenchmarkSymmetric(b *testing.B) {
	const n = 1000
	a := path(n)
	for i := range n {
		for j := range i {
			a.SetSym(i, j, a.At(i, j)+math.Sin(float64(i*j+i+j))/n)
		}
	}
	for b.Loop() {
		if _, err := Symmetric(mat.DenseCopyOf(a), Falling); err != nil {
			b.Fatal(err)
		}
	}
}
