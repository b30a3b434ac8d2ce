package graph

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/rng"
)

// byDistance lists for every point all others, nearest first, by looking at every
// pair.
func byDistance(n int, distance func(i, j int) float64) [][]int {
	all := make([][]int, n)
	for i := range all {
		away := make([]float64, n)
		for j := range away {
			away[j] = distance(i, j)
		}
		all[i] = slices.DeleteFunc(numbers(n), func(j int) bool { return j == i })
		slices.SortStableFunc(all[i], func(a, b int) int { return cmp.Compare(away[a], away[b]) })
	}
	return all
}

func compareWithBrute(t *testing.T, name string, x *mat.Dense, m Metric, distance func(i, j int) float64) {
	t.Helper()
	n, _ := x.Dims()
	nearest := byDistance(n, distance)
	for _, k := range []int{1, 2, 7, 30, n - 1} {
		if k >= n {
			continue
		}
		g := must[*Graph](t)(KNN(x, k, m))
		joined := map[[2]int]bool{}
		for i, others := range nearest {
			for _, j := range others[:k] {
				joined[[2]int{min(i, j), max(i, j)}] = true
				if g.Adjacency().At(i, j) != 1 {
					t.Fatalf("%s, k=%d: %d and %d are not joined", name, k, i, j)
				}
			}
		}
		if g.Len() != n || g.Edges() != len(joined) {
			t.Fatalf("%s, k=%d: %d nodes and %d edges, want %d and %d", name, k, g.Len(), g.Edges(), n, len(joined))
		}
	}
}

// fill sets n rows of coordinates.
func fill(n, cols int, at func(i, c int) float64) *mat.Dense {
	x := mat.NewDense(n, cols, nil)
	for i := range n {
		for c := range cols {
			x.Set(i, c, at(i, c))
		}
	}
	return x
}

func euclid(x *mat.Dense) func(i, j int) float64 {
	_, cols := x.Dims()
	return func(i, j int) float64 {
		s := 0.0
		for c := range cols {
			d := x.At(i, c) - x.At(j, c)
			s += d * d
		}
		return s
	}
}

func TestKNNEqualsBruteForce(t *testing.T) {
	t.Parallel()
	draw := rand.New(rng.New(1, "points"))
	uniform := func(i, c int) float64 { return draw.Float64() }
	for name, x := range map[string]*mat.Dense{
		"plane":       fill(250, 2, uniform),
		"space":       fill(250, 3, uniform),
		"lattice":     fill(225, 2, func(i, c int) float64 { return float64([]int{i / 15, i % 15}[c]) }), // ties everywhere
		"few places":  fill(200, 3, func(i, c int) float64 { return float64(draw.IntN(3)) }),
		"one place":   fill(100, 2, func(i, c int) float64 { return 0.1 }),
		"line":        fill(200, 2, func(i, c int) float64 { return float64(i * (1 - c)) }),
		"clusters":    fill(200, 3, func(i, c int) float64 { return float64(i%3)*1e6 + draw.NormFloat64() }),
		"two points":  fill(2, 2, uniform),
		"leaf":        fill(leafSize, 2, uniform),
		"leaf plus 1": fill(leafSize+1, 2, uniform),
	} {
		compareWithBrute(t, name, x, Planar, euclid(x))
	}
}

// Coordinates whose squares leave the range of a float64.
func TestKNNAtAnyScale(t *testing.T) {
	t.Parallel()
	draw := rand.New(rng.New(2, "points"))
	base := fill(200, 2, func(i, c int) float64 { return draw.Float64() })
	want := must[*Graph](t)(KNN(base, 5, Planar)).Hash()
	for _, exponent := range []int{-990, -600, 600, 1023} {
		x := fill(200, 2, func(i, c int) float64 { return math.Ldexp(base.At(i, c), exponent) })
		if must[*Graph](t)(KNN(x, 5, Planar)).Hash() != want {
			t.Errorf("times 2^%d is another graph", exponent)
		}
	}
}

// haversine returns a measure that grows with the great-circle distance.
func haversine(x *mat.Dense) func(i, j int) float64 {
	const degree = math.Pi / 180
	return func(i, j int) float64 {
		lat := math.Sin((x.At(i, 0) - x.At(j, 0)) / 2 * degree)
		lon := math.Sin((x.At(i, 1) - x.At(j, 1)) / 2 * degree)
		return lat*lat + math.Cos(x.At(i, 0)*degree)*math.Cos(x.At(j, 0)*degree)*lon*lon
	}
}

func TestKNNOnTheGlobe(t *testing.T) {
	t.Parallel()
	draw := rand.New(rng.New(3, "globe"))
	for name, at := range map[string]func(i, c int) float64{
		"everywhere":    func(i, c int) float64 { return []float64{180*draw.Float64() - 90, 360*draw.Float64() - 180}[c] },
		"date line":     func(i, c int) float64 { return []float64{draw.Float64() - 17, 179.5 + draw.Float64()}[c] },
		"mixed signs":   func(i, c int) float64 { return []float64{draw.Float64(), math.Remainder(179.5+draw.Float64(), 360)}[c] },
		"north pole":    func(i, c int) float64 { return []float64{90 - draw.Float64(), 360 * draw.Float64()}[c] },
		"south pole":    func(i, c int) float64 { return []float64{draw.Float64() - 90, 360 * draw.Float64()}[c] },
		"within metres": func(i, c int) float64 { return []float64{51.5, -0.1}[c] + 1e-4*draw.Float64() },
	} {
		x := fill(200, 2, at)
		compareWithBrute(t, name, x, GreatCircle, haversine(x))
	}
}

func TestKNNSamePlaces(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]*mat.Dense{
		"date line": mat.NewDense(4, 2, []float64{10, 180, -50, 0, 10, -180, -51, 0}),
		"pole":      mat.NewDense(4, 2, []float64{90, 10, -90, 0, 90, -135, -90, 77}),
		"meridian":  mat.NewDense(4, 2, []float64{33, 360, 0, 90, 33, 0, 0, -270}),
	} {
		points, err := places(x, GreatCircle)
		if err != nil {
			t.Fatal(err)
		}
		if points[0].at != points[2].at {
			t.Errorf("%s: %v and %v are not the same place", name, points[0].at, points[2].at)
		}
		g := must[*Graph](t)(KNN(x, 1, GreatCircle))
		if g.Adjacency().At(0, 2) != 1 || g.Adjacency().At(1, 3) != 1 || g.Edges() != 2 {
			t.Errorf("%s: the same places are not joined", name)
		}
	}
}

func TestSincosDegrees(t *testing.T) {
	t.Parallel()
	for x := -360.0; x <= 360; x += 7.5 {
		sin, cos := sincosDegrees(x)
		wantSin, wantCos := math.Sincos(x * math.Pi / 180)
		if math.Abs(sin-wantSin) > 1e-14 || math.Abs(cos-wantCos) > 1e-14 {
			t.Errorf("%v°: %v, %v, want %v, %v", x, sin, cos, wantSin, wantCos)
		}
		if math.Mod(x, 90) == 0 && math.Abs(sin)+math.Abs(cos) != 1 {
			t.Errorf("%v°: %v, %v is not exact", x, sin, cos)
		}
	}
}

func TestKNNRejects(t *testing.T) {
	t.Parallel()
	ok := mat.NewDense(3, 2, []float64{0, 0, 1, 1, 2, 2})
	for _, c := range []struct {
		name string
		x    *mat.Dense
		k    int
		m    Metric
		says string
	}{
		{"no neighbours", ok, 0, Planar, "0 nearest neighbours, want 1 or more"},
		{"as many as points", ok, 3, Planar, "3 nearest neighbours among 3 points, a point has only 2 others"},
		{"no points", &mat.Dense{}, 1, Planar, "0 columns"},
		{"one column", mat.NewDense(2, 1, nil), 1, Planar, "1 columns"},
		{"four columns", mat.NewDense(2, 4, nil), 1, Planar, "4 columns"},
		{"height on the globe", mat.NewDense(2, 3, nil), 1, GreatCircle, "3 columns"},
		{"not a number", mat.NewDense(2, 2, []float64{0, 0, 0, math.NaN()}), 1, Planar, "coordinate 1 of point 1 is NaN"},
		{"infinite", mat.NewDense(2, 2, []float64{math.Inf(-1), 0, 0, 0}), 1, GreatCircle, "coordinate 0 of point 0 is -Inf"},
		{"latitude", mat.NewDense(2, 2, []float64{0, 0, 90.01, 0}), 1, GreatCircle, "point 1 lies at latitude 90.01"},
		{"longitude", mat.NewDense(2, 2, []float64{0, -400, 0, 0}), 1, GreatCircle, "longitude -400"},
		{"no such metric", ok, 1, Metric(2), "no metric 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := KNN(c.x, c.k, c.m)
			rejected(t, err, c.says)
		})
	}
}

func TestKNNIsDeterministic(t *testing.T) {
	draw := rand.New(rng.New(4, "points"))
	x := fill(5000, 3, func(i, c int) float64 { return float64(draw.IntN(20)) })
	sameAtAnyProcs(t, func() *Graph { return must[*Graph](t)(KNN(x, 8, Planar)) })
}

func TestQueryDoesNotAllocate(t *testing.T) {
	draw := rand.New(rng.New(5, "points"))
	points, err := places(fill(1000, 3, func(i, c int) float64 { return draw.Float64() }), Planar)
	if err != nil {
		t.Fatal(err)
	}
	q := query{tree: newKDTree(points)}
	if n := testing.AllocsPerRun(20, func() { q.run(&points[17], 10) }); n != 0 {
		t.Errorf("%v allocations a query", n)
	}
}

func BenchmarkKNN(b *testing.B) {
	draw := rand.New(rng.New(6, "points"))
	x := fill(1_000_000, 3, func(i, c int) float64 { return draw.Float64() })
	b.Run("tree", func(b *testing.B) {
		for b.Loop() {
			points, _ := places(x, Planar)
			newKDTree(points)
		}
	})
	b.Run("graph", func(b *testing.B) {
		for b.Loop() {
			if _, err := KNN(x, 10, Planar); err != nil {
				b.Fatal(err)
			}
		}
	})
}
