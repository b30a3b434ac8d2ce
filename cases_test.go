package grfgp_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
)

// fieldCase is a graph with a known function on it.
type fieldCase struct {
	name     string
	graph    func(random *rand.Rand) *graph.Graph
	value    func(g *graph.Graph, random *rand.Rand) []float64
	noise    float64
	measured int
}

// draw makes the graph, the truth, and noisy measurements of random nodes.
func (c fieldCase) draw(seed uint64) (*graph.Graph, []float64, gp.Data) {
	random := rand.New(rng.New(seed, "case "+c.name))
	g := c.graph(random)
	truth := c.value(g, random)
	var d gp.Data
	for _, i := range random.Perm(g.Len())[:c.measured] {
		d.Nodes = append(d.Nodes, i)
		d.Y = append(d.Y, truth[i]+c.noise*random.NormFloat64())
	}
	return g, truth, d
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func grid(rows, cols int) func(*rand.Rand) *graph.Graph {
	return func(*rand.Rand) *graph.Graph { return must(graph.Grid(rows, cols)) }
}

// fromEdges builds a graph of n nodes.
func fromEdges(n int, each func(add func(u, v int, w float64))) *graph.Graph {
	e := graph.Edges{W: []float64{}}
	each(func(u, v int, w float64) {
		e.U, e.V, e.W = append(e.U, uint32(u)), append(e.V, uint32(v)), append(e.W, w)
	})
	g, _, err := graph.FromEdges(graph.NumberIDs(n), e, graph.BuildOptions{Parallel: graph.ParallelSum})
	if err != nil {
		panic(err)
	}
	return g
}

func pathGraph(n int) *graph.Graph {
	return fromEdges(n, func(add func(u, v int, w float64)) {
		for i := 1; i < n; i++ {
			add(i-1, i, 1)
		}
	})
}

// blocks is a block model of so many nodes a block, with ids in random order.
func blocks(sizes []int, inside, outside float64) func(*rand.Rand) *graph.Graph {
	return func(random *rand.Rand) *graph.Graph {
		return must(graph.StochasticBlock(sizes, func(a, b int) float64 {
			if a == b {
				return inside
			}
			return outside
		}, random.Uint64()))
	}
}

// hubBlocks is a degree-corrected model of four blocks: degrees have a heavy tail.
func hubBlocks(n int) func(*rand.Rand) *graph.Graph {
	return func(random *rand.Rand) *graph.Graph {
		weight, total := make([]float64, n), 0.0
		for i := range weight {
			weight[i] = math.Pow(1-random.Float64(), -0.8)
			total += weight[i]
		}
		return fromEdges(n, func(add func(u, v int, w float64)) {
			for i := range n {
				for j := range i {
					p := 1.0
					if i%4 == j%4 {
						p = 20
					}
					if random.Float64() < p*weight[i]*weight[j]/total*0.35 {
						add(i, j, 1)
					}
				}
			}
		})
	}
}

// tree joins every node to one of the twenty before it.
func tree(n int) func(*rand.Rand) *graph.Graph {
	return func(random *rand.Rand) *graph.Graph {
		return fromEdges(n, func(add func(u, v int, w float64)) {
			for i := 1; i < n; i++ {
				add(i, max(0, i-1-random.IntN(20)), 1)
			}
		})
	}
}

// roadMesh is a grid without a fifth of its edges: some nodes are alone.
func roadMesh(side int) func(*rand.Rand) *graph.Graph {
	return func(random *rand.Rand) *graph.Graph {
		return fromEdges(side*side, func(add func(u, v int, w float64)) {
			for i := range side * side {
				if i%side > 0 && random.Float64() < 0.8 {
					add(i-1, i, 1)
				}
				if i >= side && random.Float64() < 0.8 {
					add(i-side, i, 1)
				}
			}
		})
	}
}

// perBlock gives every block its own value.
func perBlock(of func(g *graph.Graph, i int) int, values ...float64) func(*graph.Graph, *rand.Rand) []float64 {
	return func(g *graph.Graph, _ *rand.Rand) []float64 {
		y := make([]float64, g.Len())
		for i := range y {
			y[i] = values[of(g, i)]
		}
		return y
	}
}

// checkered are the colours of a board.
func checkered(side int) func(*graph.Graph, int) int {
	return func(_ *graph.Graph, i int) int { return (i/side + i%side) % 2 }
}

// smoothField averages white noise over neighbours, in steps, and scales it to
// standard deviation 1.
func smoothField(steps int) func(*graph.Graph, *rand.Rand) []float64 {
	return func(g *graph.Graph, random *rand.Rand) []float64 {
		y := make([]float64, g.Len())
		for i := range y {
			y[i] = random.NormFloat64()
		}
		for range steps {
			next := make([]float64, len(y))
			for i := range y {
				cols, vals := g.Adjacency().Row(i)
				sum, weight := 0.0, 0.0
				for p, j := range cols {
					sum += vals[p] * y[j]
					weight += vals[p]
				}
				next[i] = y[i] / 2
				if weight > 0 {
					next[i] += sum / weight / 2
				}
			}
			y = next
		}
		mean, square := 0.0, 0.0
		for _, v := range y {
			mean += v / float64(len(y))
			square += v * v / float64(len(y))
		}
		sd := math.Sqrt(square - mean*mean)
		for i := range y {
			y[i] = (y[i] - mean) / sd
		}
		return y
	}
}

// fieldCases are kinds of graphs and functions: smooth ones, steps, hubs,
// neighbours that differ, far parts, and nothing but noise.
func fieldCases() []fieldCase {
	side := func(g *graph.Graph, i int) int { return i % 2 }
	degreeValue := func(of func(float64) float64) func(*graph.Graph, *rand.Rand) []float64 {
		return func(g *graph.Graph, _ *rand.Rand) []float64 {
			y := make([]float64, g.Len())
			for i, d := range g.Degrees() {
				y[i] = of(float64(d))
			}
			return y
		}
	}
	ba := func(n int) func(*rand.Rand) *graph.Graph {
		return func(random *rand.Rand) *graph.Graph { return must(graph.BarabasiAlbert(n, 3, random.Uint64())) }
	}
	brownian := func(g *graph.Graph, random *rand.Rand) []float64 {
		y := make([]float64, g.Len())
		for i := 1; i < g.Len(); i++ {
			cols, _ := g.Adjacency().Row(i)
			y[i] = y[cols[0]] + 0.5*random.NormFloat64() // the parent has the smallest number
		}
		return y
	}
	quarter := func(g *graph.Graph, i int) int { return i * 4 / g.Len() }
	return []fieldCase{
		{"sbm community", blocks([]int{150, 150, 150, 150}, 0.05, 0.004), perBlock(quarter, -4, -1, 1, 4), 1, 100},
		{"noise only (ba)", ba(800), func(g *graph.Graph, random *rand.Rand) []float64 {
			y := make([]float64, g.Len())
			for i := range y {
				y[i] = random.NormFloat64()
			}
			return y
		}, 0, 150},
		{"degree (ba)", ba(800), degreeValue(func(d float64) float64 { return d }), 0.5, 150},
		{"log degree (ba)", ba(800), degreeValue(math.Log), 0.1, 150},
		{"checkerboard grid", grid(28, 28), perBlock(checkered(28), -1, 1), 0.2, 200},
		{"bipartite sides", func(random *rand.Rand) *graph.Graph {
			return fromEdges(400, func(add func(u, v int, w float64)) {
				for range 1200 {
					add(2*random.IntN(200), 2*random.IntN(200)+1, 1)
				}
			})
		}, perBlock(side, -1, 1), 0.2, 120},
		{"jump on a grid", grid(25, 25), perBlock(func(_ *graph.Graph, i int) int {
			if i%25 < 12 {
				return 0
			}
			return 1
		}, -2.5, 2.5), 0.5, 100},
		{"heavy tails on a grid", grid(30, 30), func(g *graph.Graph, random *rand.Rand) []float64 {
			y := smoothField(60)(g, random)
			for i := range y {
				y[i] = math.Exp(2 * y[i])
			}
			return y
		}, 0.3, 250},
		{"star", func(*rand.Rand) *graph.Graph {
			return fromEdges(300, func(add func(u, v int, w float64)) {
				for i := 1; i < 300; i++ {
					add(0, i, 1)
				}
			})
		}, smoothField(0), 0.2, 80},
		{"long path", func(*rand.Rand) *graph.Graph { return pathGraph(1400) }, func(g *graph.Graph, _ *rand.Rand) []float64 {
			y := make([]float64, g.Len())
			for i := range y {
				y[i] = math.Sin(float64(i) / 60)
			}
			return y
		}, 0.1, 60},
		{"complete", func(*rand.Rand) *graph.Graph {
			return fromEdges(120, func(add func(u, v int, w float64)) {
				for i := range 120 {
					for j := range i {
						add(i, j, 1)
					}
				}
			})
		}, smoothField(0), 0.2, 50},
		{"tree, Brownian", tree(600), brownian, 0.1, 150},
		{"two far components", func(*rand.Rand) *graph.Graph {
			return fromEdges(800, func(add func(u, v int, w float64)) {
				for part := range 2 {
					for i := range 400 {
						at := part*400 + i
						if i%20 > 0 {
							add(at-1, at, 1)
						}
						if i >= 20 {
							add(at-20, at, 1)
						}
					}
				}
			})
		}, func(g *graph.Graph, random *rand.Rand) []float64 {
			y := smoothField(40)(g, random)
			for i := range y {
				y[i] = 0.3*y[i] + []float64{-50, 50}[i/400]
			}
			return y
		}, 0.1, 100},
		{"weights of six decades", func(random *rand.Rand) *graph.Graph {
			return fromEdges(500, func(add func(u, v int, w float64)) {
				for range 2000 {
					if u, v := random.IntN(500), random.IntN(500); u != v {
						add(u, v, math.Pow(10, 6*random.Float64()-3))
					}
				}
			})
		}, smoothField(6), 0.3, 150},
		{"smooth grid", grid(28, 28), smoothField(4), 0.3, 200},
		{"unbalanced blocks", blocks([]int{40, 110, 450}, 0.06, 0.004), perBlock(func(g *graph.Graph, i int) int {
			switch {
			case i < 40:
				return 0
			case i < 150:
				return 1
			}
			return 2
		}, 12, -4, 2), 1, 120},
		{"hubs in blocks", hubBlocks(700), perBlock(func(_ *graph.Graph, i int) int { return i % 4 }, -1.3, -0.4, 0.4, 1.3), 0.3, 150},
		{"smooth road mesh", roadMesh(30), smoothField(300), 0.3, 100},
	}
}

// errors of a Spec at nodes without a measurement, against the truth: the mean over
// draws.
func (c fieldCase) rmse(t *testing.T, draws int, predict func(g *graph.Graph, d gp.Data) []float64) float64 {
	t.Helper()
	mean := 0.0
	for s := range uint64(draws) {
		g, truth, d := c.draw(s)
		measured := map[int]bool{}
		for _, i := range d.Nodes {
			measured[i] = true
		}
		sum, count := 0.0, 0.0
		for i, v := range predict(g, d) {
			if !measured[i] {
				sum += (v - truth[i]) * (v - truth[i])
				count++
			}
		}
		mean += math.Sqrt(sum/count) / float64(draws)
	}
	return mean
}

// by predicts every node by a Spec.
func by(t *testing.T, spec grfgp.Spec) func(g *graph.Graph, d gp.Data) []float64 {
	return func(g *graph.Graph, d gp.Data) []float64 {
		t.Helper()
		_, p := task{graph: g, train: d}.fitted(t, spec)
		return p.Mean
	}
}

// harmonic interpolates: a node without a measurement has the mean of its
// neighbours. It is solved densely, apart from the library.
func harmonic(g *graph.Graph, d gp.Data) []float64 {
	n := g.Len()
	a, b := mat.NewDense(n, n, nil), mat.NewVecDense(n, nil)
	for i := range n {
		cols, vals := g.Adjacency().Row(i)
		for p, j := range cols {
			a.Set(i, int(j), -vals[p])
			a.Set(i, i, a.At(i, i)+vals[p])
		}
		if len(cols) == 0 {
			a.Set(i, i, 1)
		}
	}
	for k, i := range d.Nodes {
		a.SetRow(i, make([]float64, n))
		a.Set(i, i, 1)
		b.SetVec(i, d.Y[k])
	}
	var x mat.VecDense
	if err := x.SolveVec(a, b); err != nil {
		var condition mat.Condition
		if !errors.As(err, &condition) {
			panic(err)
		}
	}
	return x.RawVector().Data
}

func caseNamed(name string) fieldCase {
	for _, c := range fieldCases() {
		if c.name == name {
			return c
		}
	}
	panic("no case " + name)
}

// If neighbours are negatively correlated, the error of the automatic choice is
// within 10 % of that of free coefficients, and far below that of the mean, which
// is 1. The quick suite has one draw on a small grid.
func TestNeighboursThatDiffer(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	board, sides := caseNamed("checkerboard grid"), caseNamed("bipartite sides")
	cases, draws := []fieldCase{board, sides}, 3
	if !testkit.IsFull() {
		board.graph, board.value, board.measured = grid(12, 12), perBlock(checkered(12), -1, 1), 50
		cases, draws = []fieldCase{board}, 1
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			auto, free := c.rmse(t, draws, by(t, grfgp.Spec{})), c.rmse(t, draws, by(t, grfgp.Spec{Expression: grfgp.Expression{Family: "free",
				Scales: "one"}}))
			t.Logf("auto %.3f, free %.3f", auto, free)
			if auto > 1.1*free || auto > 0.3 {
				t.Errorf("auto has an error of %.3f, free coefficients %.3f", auto, free)
			}
		})
	}
}

// If measurements cannot show whether neighbours differ or are alike, the chosen
// kernel makes them alike: on a ring of which every other node is measured.
func TestEveryOtherNode(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	g := must(graph.Ring(200))
	random := rand.New(rng.New(1, "every other node"))
	height := func(i int) float64 { return 3 * math.Sin(2*math.Pi*float64(i)/100) }
	var d gp.Data
	for i := 0; i < 200; i += 2 {
		d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, height(i)+0.2*random.NormFloat64())
	}
	m, p := task{graph: g, train: d}.fitted(t, grfgp.Spec{})
	for i := 1; i < 200; i += 2 {
		if math.Abs(p.Mean[i]-height(i)) > 0.5 {
			t.Fatalf("node %d is %.2f, want %.2f: %s", i, p.Mean[i], height(i), m.Choice().Family)
		}
	}
}

// On graphs with hubs kernels of unit variance are candidates and lower the error, and
// roles, which do not matter there, raise it by 10 % at most; there and, within 1 %, on a tree the automatic choice beats harmonic
// interpolation.
// The quick suite has one draw on smaller graphs.
func TestHubsAndTrees(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	hubs, wood, draws := caseNamed("hubs in blocks"), caseNamed("tree, Brownian"), 3
	if !testkit.IsFull() {
		hubs.graph, hubs.measured = hubBlocks(180), 60
		wood.graph, wood.measured = tree(200), 50
		draws = 1
	}
	t.Run("hubs", func(t *testing.T) {
		t.Parallel()
		auto := hubs.rmse(t, draws, by(t, grfgp.Spec{Roles: "none"}))
		natural := hubs.rmse(t, draws, by(t, grfgp.Spec{Expression: grfgp.Expression{Variance: "natural", Laplacian: "normalized",
			Scales: "one"}, Roles: "none"}))
		rule, roles := hubs.rmse(t, draws, harmonic), hubs.rmse(t, draws, by(t, grfgp.Spec{}))
		t.Logf("without roles %.3f, variance by degree %.3f, harmonic %.3f; with roles %.3f", auto, natural, rule, roles)
		if auto > 0.95*natural || auto > rule || roles > 1.1*auto {
			t.Errorf("without roles the error is %.3f, of kernels whose variance goes with the degree %.3f, of harmonic interpolation %.3f; "+
				"with roles %.3f", auto, natural, rule, roles)
		}
	})
	t.Run("tree", func(t *testing.T) {
		t.Parallel()
		auto, rule := wood.rmse(t, draws, by(t, grfgp.Spec{})), wood.rmse(t, draws, harmonic)
		t.Logf("auto %.3f, harmonic %.3f", auto, rule)
		if auto > 1.01*rule {
			t.Errorf("auto has an error of %.3f, harmonic interpolation %.3f", auto, rule)
		}
	})
}

// Parts of a graph whose values are far apart do not inflate the noise: it is 0.1
// here, a five-hundredth of the distance between the parts.
func TestFarPartsAndNoise(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	g, _, d := caseNamed("two far components").draw(0)
	m, err := grfgp.Fit(context.Background(), g, d, grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Scales: "many",
		Variance: "natural"}})
	if err != nil {
		t.Fatal(err)
	}
	// The standard error of a standard deviation from 100 readings is 7 %, and the
	// field takes part of them.
	if v := m.NoiseSD(); v < 0.07 || v > 0.14 {
		t.Errorf("noise %.3g, want 0.1", v)
	}
}

// TestCasesTable prints the errors of the automatic choice and of simple rules over
// all cases, means over three draws.
func TestCasesTable(t *testing.T) {
	t.Parallel()
	testkit.Study(t)
	for _, c := range fieldCases() {
		const draws = 3
		chosen := ""
		auto := c.rmse(t, draws, func(g *graph.Graph, d gp.Data) []float64 {
			m, p := task{graph: g, train: d}.fitted(t, grfgp.Spec{})
			choice := m.Choice()
			chosen += fmt.Sprintf(" [%s, %s, %s, %s]", choice.Family, choice.Scales, choice.Variance, choice.Trend)
			return p.Mean
		})
		mean := c.rmse(t, draws, func(g *graph.Graph, d gp.Data) []float64 {
			sum := 0.0
			for _, y := range d.Y {
				sum += y / float64(d.Len())
			}
			return slices.Repeat([]float64{sum}, g.Len())
		})
		t.Logf("%-24s auto %8.4f  harmonic %8.4f  mean %8.4f %s", c.name, auto, c.rmse(t, draws, harmonic), mean, chosen)
	}
}
