package kernel_test

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/testkit"
	"grfgp/kernel"
	"grfgp/sparse"
)

func newExact(t testing.TB, w *sparse.CSR, s kernel.Spectrum, bound []float64) *kernel.Series {
	t.Helper()
	k, err := kernel.NewExact(w, s, bound)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// far are kernels of long reach, and some of a short one.
var far = []struct {
	m      kernel.Spectrum
	length float64
}{
	{kernel.Matern{Nu: 0.5}, 4},
	{kernel.Matern{Nu: 2}, 12},
	{kernel.Matern{Nu: 0.5}, 40}, {kernel.Matern{Nu: 0.5}, 100}, {kernel.Matern{Nu: 0.5}, 1700},
	{kernel.Matern{Nu: 1.5}, 40}, {kernel.Matern{Nu: 1.5}, 100}, {kernel.Matern{Nu: 1.5}, 1700},
	{kernel.Matern{Nu: 2}, 40}, {kernel.Matern{Nu: 2}, 100}, {kernel.Matern{Nu: 2}, 1700},
	{kernel.Matern{Nu: 3.7}, 40}, {kernel.Matern{Nu: 3.7}, 100}, {kernel.Matern{Nu: 3.7}, 1700},
	{kernel.Diffusion{}, 40}, {kernel.Diffusion{}, 400}, {kernel.Diffusion{}, 4000}, {kernel.Diffusion{}, 1e6},
}

// scattered returns some nodes of n, in no order.
func scattered(n, count int) []int {
	rows := make([]int, count)
	for a := range rows {
		rows[a] = (a*7919 + 3) % n
	}
	return rows
}

// agree compares K[rows, rows] of the exact series of far kernels with what want
// computes, relative to the largest entry. Both depend on eigenvalues near 1, known
// to 1e-15 or so, through 1 + κ²(1 − w)/2ν or exp(−β(1 − w)): κ = 1,700 makes that
// 1e-9, β = 10⁶ too.
func agree(t *testing.T, w *sparse.CSR, bound []float64, rows []int, want func(m kernel.Spectrum, theta []float64) *mat.SymDense) {
	t.Helper()
	const tolerance = 1e-8
	base := newExact(t, w, kernel.Diffusion{}, bound)
	for _, c := range far {
		theta := []float64{1.7, c.length}
		series := base.With(c.m)
		got := mat.NewSymDense(len(rows), nil)
		if err := at(t, series, theta).Gram(t.Context(), got, rows); err != nil {
			t.Fatal(err)
		}
		if gap := apartBy(got, want(c.m, theta)); !(gap <= tolerance) {
			t.Errorf("%v at %v is %.2g off", c.m, c.length, gap)
		}
		if c.length == 1700 {
			if carried, err := series.Carried(theta); err != nil || carried != 1 {
				t.Errorf("%v at %v carries %v, %v", c.m, c.length, carried, err)
			}
		}
	}
}

// On a path of n nodes D^-½ A D^-½ has eigenvalues cos φ_k, φ_k = πk/(n−1), and
// eigenvectors √D_i cos(iφ_k).
func TestExactOnAPath(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	n := testkit.Size(1600, 2000)
	path, err := graph.Grid(1, n)
	if err != nil {
		t.Fatal(err)
	}
	rows := scattered(n, 60)
	degree := func(i int) float64 {
		if i == 0 || i == n-1 {
			return 1
		}
		return 2
	}
	agree(t, path.Normalized(graph.NormalizedAdjacency), nil, rows, func(m kernel.Spectrum, theta []float64) *mat.SymDense {
		k := mat.NewSymDense(len(rows), nil)
		for e := range n {
			norm := float64(n - 1)
			if e == 0 || e == n-1 {
				norm *= 2
			}
			phi := math.Pi * float64(e) / float64(n-1)
			v := mat.NewVecDense(len(rows), nil)
			for a, i := range rows {
				v.SetVec(a, math.Sqrt(degree(i)/norm)*math.Cos(float64(i)*phi))
			}
			k.SymRankOne(k, m.Density(math.Cos(phi), theta), v)
		}
		return k
	})
}

// cylinder returns a grid of rows that close, each joined to the next.
func cylinder(t testing.TB, height, around int) *graph.Graph {
	t.Helper()
	var e graph.Edges
	for i := range height * around {
		right := i - i%around + (i+1)%around
		e.U, e.V = append(e.U, uint32(i)), append(e.V, uint32(right))
		if i+around < height*around {
			e.U, e.V = append(e.U, uint32(i)), append(e.V, uint32(i+around))
		}
	}
	for range e.U {
		e.W = append(e.W, 1)
	}
	g, _, err := graph.FromEdges(graph.NumberIDs(height*around), e, graph.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// The wind's grid is a cylinder of 73 circles of 144 nodes. Fourier's transform
// along the circles leaves matrices of order 73.
func TestExactOnTheWindsGrid(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	height, around := testkit.Size(25, 73), testkit.Size(64, 144) // more nodes than have all eigenvectors
	g := cylinder(t, height, around)
	if testkit.IsFull() {
		sameAsWind(t, g)
	}
	degree := func(r int) float64 {
		if r == 0 || r == height-1 {
			return 3
		}
		return 4
	}
	eigen := make([]mat.EigenSym, around)
	for q := range eigen {
		a := mat.NewSymDense(height, nil)
		for r := range height {
			a.SetSym(r, r, 2*math.Cos(2*math.Pi*float64(q)/float64(around))/degree(r))
			if r+1 < height {
				a.SetSym(r, r+1, 1/math.Sqrt(degree(r)*degree(r+1)))
			}
		}
		if !eigen[q].Factorize(a, true) {
			t.Fatal("no eigenvalues")
		}
	}
	rows := scattered(height*around, 40)
	agree(t, g.Normalized(graph.NormalizedAdjacency), g.WalkScale(graph.NormalizedAdjacency), rows,
		func(m kernel.Spectrum, theta []float64) *mat.SymDense {
			k := mat.NewSymDense(len(rows), nil)
			for q := range eigen {
				var u mat.Dense
				eigen[q].VectorsTo(&u)
				values := eigen[q].Values(nil)
				for a, i := range rows {
					for b, j := range rows[:a+1] {
						sum := 0.0
						for e, w := range values {
							sum += u.At(i/around, e) * m.Density(w, theta) * u.At(j/around, e)
						}
						wave := math.Cos(2*math.Pi*float64(q)*float64(i%around-j%around)/float64(around)) / float64(around)
						k.SetSym(a, b, k.At(a, b)+wave*sum)
					}
				}
			}
			return k
		})
}

// sameAsWind fails if the data set is present and has a different graph.
func sameAsWind(t *testing.T, g *graph.Graph) {
	t.Helper()
	const file = "wind_era5/grid_edges.csv.gz"
	if !testkit.HasData(file) {
		t.Log("the wind's grid is not here to be compared with")
		return
	}
	f, err := os.Open(testkit.Data(t, file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	edges, lines := 0, bufio.NewScanner(z)
	for lines.Scan() {
		var u, v int
		if _, err := fmt.Sscanf(strings.ReplaceAll(lines.Text(), ",", " "), "%d %d", &u, &v); err != nil {
			continue // header
		}
		if edges++; g.Adjacency().At(u, v) != 1 {
			t.Fatalf("the wind's grid has an edge between %d and %d", u, v)
		}
	}
	if 2*edges != g.Adjacency().NNZ() {
		t.Fatalf("the wind's grid has %d edges, want %d", edges, g.Adjacency().NNZ()/2)
	}
}

// On grids, hubs, weights over decades, several components, isolated nodes and
// other matrices the series agrees with all eigenvectors of W.
func TestExactEqualsDense(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	side := testkit.Size(16, 45)
	grid, err := graph.Grid(side, side)
	if err != nil {
		t.Fatal(err)
	}
	small, err := graph.Grid(min(24, side), min(24, side))
	if err != nil {
		t.Fatal(err)
	}
	hubs, err := graph.BarabasiAlbert(min(500, side*side), 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		g    *graph.Graph
		kind graph.Normalization
	}{
		{"grid", grid, graph.NormalizedAdjacency},
		{"grid, raw", small, graph.RawDiffusion},
		{"hubs", hubs, graph.NormalizedAdjacency},
		{"hubs, raw", hubs, graph.RawDiffusion},
		{"patchwork", patchwork(t), graph.NormalizedAdjacency},
		{"islands", islands(t), graph.NormalizedAdjacency},
		{"islands, raw", islands(t), graph.RawDiffusion},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.g.Len() > 1000 {
				testkit.Full(t)
			}
			w := c.g.Normalized(c.kind)
			dense, err := kernel.NewDense(w, kernel.Diffusion{})
			if err != nil {
				t.Fatal(err)
			}
			rows := scattered(c.g.Len(), 50)
			bound := c.g.WalkScale(c.kind)
			if bound == nil {
				bound = ones(c.g.Len())
			}
			agree(t, w, bound, rows, func(m kernel.Spectrum, theta []float64) *mat.SymDense {
				k := mat.NewSymDense(len(rows), nil)
				if err := at(t, dense.With(m), theta).Gram(t.Context(), k, rows); err != nil {
					t.Fatal(err)
				}
				return k
			})
		})
	}
}

func ones(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 1
	}
	return v
}

// islands is a long path with weights over six decades, two rings, and more pairs,
// triples and isolated nodes than the number of leading eigenvectors.
func islands(t testing.TB) *graph.Graph {
	t.Helper()
	var e graph.Edges
	add := func(i, j int, w float64) {
		e.U, e.V, e.W = append(e.U, uint32(i)), append(e.V, uint32(j)), append(e.W, w)
	}
	for i := range 499 {
		add(i, i+1, math.Pow(10, 3*math.Sin(float64(i*i))))
	}
	for i := range 90 {
		add(500+i, 500+(i+1)%90, 1)
		add(590+i, 590+(i+1)%90, 2)
	}
	next := 680
	for range 120 {
		add(next, next+1, 1)
		next += 2
	}
	for range 60 {
		add(next, next+1, 0.5)
		add(next+1, next+2, 3)
		next += 3
	}
	g, _, err := graph.FromEdges(graph.NumberIDs(next+100), e, graph.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}
