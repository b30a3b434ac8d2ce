package experiment

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"grfgp"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/testkit"
	"grfgp/kernel"
	"grfgp/lab/dataset"
)

// The kernel is the same as a series in the Laplacian or in the adjacency matrix.
func TestLaplacianDiffusion(t *testing.T) {
	g, err := graph.BarabasiAlbert(30, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	theta := []float64{1.7, 2.3}
	entries := func(k kernel.Kernel, err error) *mat.SymDense {
		if err != nil {
			t.Fatal(err)
		}
		c, err := k.At(theta)
		if err != nil {
			t.Fatal(err)
		}
		all := mat.NewSymDense(g.Len(), nil)
		if err := c.Gram(context.Background(), all, allNodes(g.Len())); err != nil {
			t.Fatal(err)
		}
		return all
	}
	exact, err := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	want := entries(exact, err)
	series, err := kernel.NewSeries(g.Normalized(graph.NormalizedLaplacian), laplacianDiffusion{}, 40)
	if got := entries(series, err); !mat.EqualApprox(got, want, 1e-10) {
		t.Error("powers of the Laplacian give another kernel")
	}
}

func TestLaplacianDiffusionSlope(t *testing.T) {
	const h = 1e-6
	theta := []float64{1.7, 2.3}
	slope := [][]float64{make([]float64, 6), make([]float64, 6)}
	laplacianDiffusion{}.CoeffsGrad(slope, theta)
	for j := range theta {
		up, down := make([]float64, 6), make([]float64, 6)
		for _, c := range []struct {
			dst  []float64
			step float64
		}{{up, h}, {down, -h}} {
			moved := append([]float64(nil), theta...)
			moved[j] += c.step
			laplacianDiffusion{}.Coeffs(c.dst, moved)
		}
		for l := range up {
			if want := (up[l] - down[l]) / (2 * h); math.Abs(slope[j][l]-want) > 1e-7 {
				t.Errorf("slope %d of hop %d is %v, want %v", j, l, slope[j][l], want)
			}
		}
	}
}

// The authors' published numbers of the first split: the exact diffusion kernel with
// their hyperparameters, and the truncated kernel for which these were learned.
func TestTrafficPublished(t *testing.T) {
	testkit.Full(t)
	d, err := sharedData(t).Traffic(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	k, ref := trafficTask(d, 1111), d.Reference[0]
	score, likelihood, err := k.given(context.Background(), d, 1111)
	if err != nil {
		t.Fatal(err)
	}
	for what, pair := range map[string][2]float64{"RMSE": {score.rmse, ref.RMSE}, "NLPD": {score.nlpd, ref.NLPD},
		"log likelihood": {likelihood, ref.LogLikelihood}} {
		if math.Abs(pair[0]/pair[1]-1) > 1e-6 {
			t.Errorf("%s is %.9f, published %.9f", what, pair[0], pair[1])
		}
	}
	poly, err := kernel.NewSeries(k.graph.Normalized(graph.NormalizedLaplacian), laplacianDiffusion{}, 4)
	if err != nil {
		t.Fatal(err)
	}
	score, likelihood, err = k.learned(context.Background(), poly, gp.FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// Their optimisation has no prior on hyperparameters, ours a weak one.
	if math.Abs(likelihood+341.2189) > 0.01 || math.Abs(score.rmse-13.8939) > 0.02 {
		t.Errorf("the truncated kernel has log likelihood %.4f and RMSE %.4f, published −341.2189 and 13.8939", likelihood, score.rmse)
	}
}

// Groups of one value give the usual standard error; identical values in a group count
// as one.
func TestGrouped(t *testing.T) {
	a, b := []float64{1, 4, 2, 7}, make([]float64, 4)
	mean, se := clusteredDifference(a, b, func(k int) int { return k })
	if want := SpreadOf(a); math.Abs(mean-want.Mean) > 1e-12 || math.Abs(se-want.SE()) > 1e-12 {
		t.Errorf("%v ± %v, want %v ± %v", mean, se, want.Mean, want.SE())
	}
	twice := append(append([]float64(nil), a...), a...)
	if _, again := clusteredDifference(twice, make([]float64, 8), func(k int) int { return k % 4 }); math.Abs(again-se) > 1e-12 {
		t.Errorf("copies change the standard error from %v to %v", se, again)
	}
}

// Edge weights of the grid have the stated values.
func TestWindWeights(t *testing.T) {
	d, err := sharedData(t).Wind(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	weight := func(kind string, i, j int) float64 {
		g, err := regressionSettings{Weight: kind}.grid(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		if g.Edges() != d.Graph.Edges() {
			t.Fatalf("%s has %d edges", kind, g.Edges())
		}
		return g.Adjacency().At(i, j)
	}
	equator, north := 36*dataset.WindColumns, 10*dataset.WindColumns // 0 and 65 degrees
	far, near := weight(distanceWeights, equator, equator+1), weight(distanceWeights, north, north+1)
	if !(far > 2*near) {
		t.Errorf("neighbours are %v apart on the equator and %v in the north", far, near)
	}
	if even := weight(equalWeights, north, north+1); even != 1 {
		t.Errorf("an even weight of %v", even)
	}
	a, b := weight(inverseWeights, equator, equator+1), weight(inverseWeights, north, north+1)
	if math.Abs(b/a-far/near) > 1e-9 || math.Abs(weight(inverseWeights, 0, 1)-10) > 1e-9 {
		t.Errorf("inverse weights %v and %v, %v at the pole", a, b, weight(inverseWeights, 0, 1))
	}
}

// Every paper is in exactly one of the training and test sets, and small training sets
// are balanced.
func TestTopicSplits(t *testing.T) {
	c, err := sharedData(t).Cora(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []topicSettings{{Split: -1}, {Split: 0}, {Split: 3}, {Split: 2, Few: 20}} {
		train, test := s.divide(c)
		if all := slices.Sorted(slices.Values(slices.Concat(train, test))); !slices.Equal(all, allNodes(2485)) {
			t.Errorf("%+v: %d and %d papers", s, len(train), len(test))
		}
		counts := gp.Labels{Nodes: train, Class: classesAt(c, train), Classes: len(c.Classes)}.Counts()
		if s.Few == 0 && len(train) != 1988 || s.Few > 0 && (slices.Min(counts) != s.Few || slices.Max(counts) != s.Few) {
			t.Errorf("%+v: %d labels, %v", s, len(train), counts)
		}
	}
}

func TestDensest(t *testing.T) {
	x, y := []float64{5, 5.1, 0, 0.4, 0.8}, []float64{5, 5, 0, 0, 0}
	if i := densest(x, y, 0.5); i != 3 {
		t.Errorf("node %d, want that in the middle of three", i)
	}
}

// keeping restricts an experiment to parts whose names contain one of the words.
func keeping(e *Experiment, words ...string) *Experiment {
	whole := e.Parts
	e.Parts = func(o Options) []Part {
		return slices.DeleteFunc(whole(o), func(c Part) bool {
			return !slices.ContainsFunc(words, func(word string) bool { return strings.Contains(c.Name, word) })
		})
	}
	return e
}

// Any subset of finished parts can be shown.
func TestPartsAreShown(t *testing.T) {
	sharedData(t)
	all := func(Part) bool { return true }
	for _, c := range []struct {
		experiment *Experiment
		rows       int
		paper      string // in the first table
	}{
		{keeping(traffic(), "polynomial", "features__learnable-64"), 2, "13.59"},
		{keeping(wind(), "nothing"), 0, "0.7295"},
		{keeping(cora(), "nothing"), 0, "87.04"},
		{keeping(bayesOptimisation(), "d-random", "d-uniform", "d-oracle"), 3, "0.022"},
	} {
		r, s := quickly(t, c.experiment, all)
		if len(r.Rows) != c.rows {
			t.Errorf("%s has %d rows, want %d", c.experiment.Name, len(r.Rows), c.rows)
		}
		var text bytes.Buffer
		if err := s.Tables[0].Fprint(&text); err != nil || !strings.Contains(text.String(), c.paper) {
			t.Errorf("%s: %v, or %s is not in\n%s", c.experiment.Name, err, c.paper, text.String())
		}
	}
}

// Fields for maps have the numbering of the data, whatever the order of computation.
func TestFieldsKeepTheNumbering(t *testing.T) {
	grid, err := graph.Grid(8, 8)
	if err != nil {
		t.Fatal(err)
	}
	order := rand.New(rand.NewPCG(1, 1)).Perm(grid.Len())
	shuffled, err := grid.Permute(order)
	if err != nil {
		t.Fatal(err)
	}
	// smooth on the grid
	d := dataAt(allNodes(len(order)), func(i int) float64 { return math.Sin(float64(order[i]/8)/2) + float64(order[i]%8)/4 })
	k := regressionTask{shuffled, d, d}
	_, m, err := k.fit(t.Context(), grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Method: "dense", Scales: "one"}})
	if err != nil {
		t.Fatal(err)
	}
	r := &Result{Arrays: map[string][]float64{}}
	if err := keepField(t.Context(), m, shuffled, r); err != nil {
		t.Fatal(err)
	}
	if c := stat.Correlation(r.Arrays["mean"], d.Y, nil); c < 0.95 {
		t.Errorf("correlation %.3f with the data", c)
	}
}
