package grfgp_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"grfgp"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
	paperdata "grfgp/lab/dataset"
)

// TestTableOfFewLabels prints the table of few labels per class in docs/classification.md.
func TestTableOfFewLabels(t *testing.T) {
	t.Parallel()
	testkit.Study(t)
	for _, c := range []struct {
		name    string
		classes int
		draws   int
		make    func(t *testing.T) (*graph.Graph, []int)
	}{
		{"Cora", 7, 8, coraCase},
		{"blocks", 5, 5, blockCase},
		{"four regions", 4, 5, func(t *testing.T) (*graph.Graph, []int) { return regionCase(t, "grid", 4) }},
		{"24 regions", 4, 5, func(t *testing.T) (*graph.Graph, []int) { return regionCase(t, "patches", 24) }},
		{"arcs", 6, 5, arcCase},
	} {
		g, class := inOrder(c.make(t))
		for _, per := range []int{1, 2, 3, 5, 10, 20} {
			for _, method := range []gp.ClassMethod{gp.Dirichlet, gp.Spreading} {
				t.Logf("%s, %d per class, %v: %+v", c.name, per, method, fewLabels(t, g, class, c.classes, per, c.draws, method))
			}
		}
	}
}

// fewLabels returns mean scores over draws of labels, at up to 2,500 other nodes.
func fewLabels(t *testing.T, g *graph.Graph, class []int, classes, per, draws int, method gp.ClassMethod) (mean classScore) {
	t.Helper()
	for seed := 1; seed <= draws; seed++ {
		var has, rest []int
		left := make([]int, classes)
		for _, i := range rand.New(rng.New(uint64(seed), "few")).Perm(g.Len()) {
			if left[class[i]] < per {
				left[class[i]]++
				has = append(has, i)
			} else if len(rest) < 2500 {
				rest = append(rest, i)
			}
		}
		k := classTask{g, labelled(has, class, classes), labelled(rest, class, classes)}
		s, _ := k.score(t, grfgp.Spec{Seed: 1}, method)
		mean.accuracy += s.accuracy / float64(draws)
		mean.nll += s.nll / float64(draws)
		mean.ece += s.ece / float64(draws)
	}
	return mean
}

// inOrder returns a graph as it is when it has been read from a file, with its classes.
func inOrder(old *graph.Graph, class []int) (*graph.Graph, []int) {
	g := old.Ordered()
	number := map[string]int{}
	for i := range g.Len() {
		number[g.IDs().At(i)] = i
	}
	now := make([]int, g.Len())
	for i, c := range class {
		now[number[old.IDs().At(i)]] = c
	}
	return g, now
}

func build(t *testing.T, nodes int, e graph.Edges) *graph.Graph {
	t.Helper()
	g, _, err := graph.FromEdges(graph.NumberIDs(nodes), e, graph.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func coraCase(t *testing.T) (*graph.Graph, []int) {
	d, err := paperdata.Default().Cora(t.Context())
	if err != nil {
		t.Skip(err)
	}
	return d.Graph, d.Class
}

// blockCase is a stochastic block model of 3,000 nodes and five blocks of 35, 25, 20, 12 and 8 %: a node chooses three
// neighbours, 60 % of them in its block and the others anywhere.
func blockCase(t *testing.T) (*graph.Graph, []int) {
	const n = 3000
	r := rand.New(rng.New(3, "sbm"))
	class, members := make([]int, n), make([][]int, 5)
	for i := range class {
		u := r.Float64()
		for _, s := range []float64{0.35, 0.6, 0.8, 0.92} {
			if u > s {
				class[i]++
			}
		}
	}
	for i, c := range class {
		members[c] = append(members[c], i)
	}
	var e graph.Edges
	for i, c := range class {
		for range 3 {
			j := r.IntN(n)
			if r.Float64() < 0.6 {
				j = members[c][r.IntN(len(members[c]))]
			}
			if j != i {
				e.U, e.V = append(e.U, uint32(i)), append(e.V, uint32(j))
			}
		}
	}
	return build(t, n, e), class
}

// regionCase is a grid of 50 × 50 nodes in regions around random points, which have four classes in turn.
func regionCase(t *testing.T, stream string, regions int) (*graph.Graph, []int) {
	const n = 50
	r := rand.New(rng.New(5, stream))
	x, y := make([]float64, regions), make([]float64, regions)
	for k := range x {
		x[k], y[k] = n*r.Float64(), n*r.Float64()
	}
	var e graph.Edges
	class := make([]int, n*n)
	for i := range class {
		if i+n < n*n {
			e.U, e.V = append(e.U, uint32(i)), append(e.V, uint32(i+n))
		}
		if i%n < n-1 {
			e.U, e.V = append(e.U, uint32(i)), append(e.V, uint32(i+1))
		}
		near := math.Inf(1)
		for k := range x {
			if d := math.Hypot(float64(i/n)-x[k], float64(i%n)-y[k]); d < near {
				near, class[i] = d, k%4
			}
		}
	}
	return build(t, n*n, e), class
}

// arcCase is a ring of 2,000 nodes joined to those up to three away, 5 % of the edges to anywhere, in six arcs.
func arcCase(t *testing.T) (*graph.Graph, []int) {
	const n = 2000
	r := rand.New(rng.New(9, "ringlattice"))
	var e graph.Edges
	class := make([]int, n)
	for i := range class {
		class[i] = i * 6 / n
		for d := 1; d <= 3; d++ {
			j := (i + d) % n
			if r.Float64() < 0.05 {
				j = r.IntN(n)
			}
			if i != j {
				e.U, e.V = append(e.U, uint32(i)), append(e.V, uint32(j))
			}
		}
	}
	return build(t, n, e), class
}
