package kernel_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/kernel/kerneltest"
	"grfgp/kernel/lowrank"
	"grfgp/walk"
)

// Connected reports the rows with a non-zero entry in the matrix, for every
// representation by features.
func TestConnected(t *testing.T) {
	t.Parallel()
	g, err := graph.Ring(60)
	if err != nil {
		t.Fatal(err)
	}
	w := g.Normalized(graph.NormalizedAdjacency)
	f, err := walk.Sample(t.Context(), w, walk.Options{Walks: 5, Budget: 4, MaxLen: 4, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	grf, err := kernel.NewGRF(f, kernel.Diffusion{})
	if err != nil {
		t.Fatal(err)
	}
	low, err := lowrank.New(f, kernel.Diffusion{}, lowrank.Options{Dim: 3, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, 60)
	for i := range x {
		x[i] = rand.New(rand.NewPCG(1, uint64(i))).NormFloat64()
	}
	rows, cols := []int{50, 3, 12, 7, 30, 31, 3}, []int{0, 5, 5}
	truth, err := grf.At([]float64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	k := mat.NewDense(len(rows), len(cols), nil)
	if err := truth.Cross(rows, cols).Apply(t.Context(), k, mat.NewDense(3, 3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1})); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		kernel kernel.Kernel
		theta  []float64
	}{
		"grf": {grf, []float64{1, 2}}, "lowrank": {low, []float64{1, 2}}, "unit variance": {kernel.UnitVariance(grf), []float64{1, 2}},
		"trend":                  {kernel.Trend(grf, x), []float64{1, 2, 1}},
		"trend of unit variance": {kernel.UnitVariance(kernel.Trend(grf, x)), []float64{1, 2, 1}},
		"trend with lone nodes":  {kernel.Lone(kernel.Trend(grf, x), []int{9}), []float64{1, 2, 1}},
		"trend over time":        {kernel.OverTime(kernel.Trend(grf, x), []float64{0, 1}), []float64{1, 2, 1, 1, 1}},
		"trend in each period":   {kernel.EachPeriod(kernel.Trend(grf, x), 2), []float64{1, 2, 1}},
		"product with constants": {kernel.Product(kernel.Trend(grf, x), kernel.Constant(60)), []float64{1, 2, 1}},
	} {
		cov, err := c.kernel.At(c.theta)
		if err != nil {
			t.Fatal(err)
		}
		connected, err := kernel.Connected(t.Context(), cov, rows, cols)
		if err != nil {
			t.Fatal(err)
		}
		any, none := false, false
		for a := range rows {
			want := mat.Norm(k.RowView(a), 1) != 0
			any, none = any || want, none || !want
			if connected[a] != want {
				t.Errorf("%s: node %d is connected: %v, want %v", name, rows[a], connected[a], want)
			}
		}
		if !any || !none {
			t.Fatal("all rows are alike: there is nothing to tell")
		}
		if a := kernel.AbilitiesOf(cov); cov.Nodes() == 60 && (a.Fine == nil || a.Fine.Features != f || len(a.Coarse) != 0) {
			t.Errorf("%s: rests on %v and %v, want its features", name, a.Fine, a.Coarse)
		}
	}
	series, err := kernel.NewSeries(w, kernel.Diffusion{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	cov, err := series.At([]float64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	if a := kernel.AbilitiesOf(cov); a.Fine != nil || a.Coarse != nil {
		t.Errorf("an exact series rests on %v and %v", a.Fine, a.Coarse)
	}
}

// Combined kernels keep the abilities of their parts.
func TestAbilitiesAreForwarded(t *testing.T) {
	for name, k := range hubKernels(t) {
		t.Run(name, func(t *testing.T) {
			kerneltest.Forwards(t, k, kernel.UnitVariance(k))
			kerneltest.Forwards(t, k, kernel.Sum(k, kernel.Linear(mat.NewDense(k.Nodes(), 1, nil))))
			kerneltest.Forwards(t, k, kernel.Sum(k, newGRF(t, features(t, k.Nodes()), kernel.Diffusion{})))
		})
	}
	g := twoPaths(t, 60)
	w := g.Normalized(graph.NormalizedAdjacency)
	dense, err := kernel.NewDense(w, kernel.Diffusion{})
	if err != nil {
		t.Fatal(err)
	}
	for _, fine := range []kernel.Kernel{newGRF(t, features(t, g.Len()), kernel.Diffusion{}), dense} {
		layers, _ := kernel.NewLayers(fine, dense)
		kerneltest.Forwards(t, fine, layers)
		kerneltest.Forwards(t, layers, kernel.UnitVariance(layers))
	}
}

// features are those of walks on a ring.
func features(t *testing.T, n int) *walk.Features { return ringFeatures(t, n, 4) }

// column is a linear kernel on a single column.
func column(x []float64) kernel.Kernel { return kernel.Linear(mat.NewDense(len(x), 1, x)) }

// A sum of kernels satisfies the contract and is the sum of its terms.
func TestSum(t *testing.T) {
	hubs := hubKernels(t)
	n := hubs["series"].Nodes()
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i%7) - 3
	}
	for name, terms := range map[string][]kernel.Kernel{
		"one":                    {hubs["series"]},
		"features and series":    {newGRF(t, features(t, n), kernel.Diffusion{}), hubs["series"]},
		"series and features":    {hubs["series"], newGRF(t, features(t, n), kernel.Diffusion{})},
		"two sets of features":   {newGRF(t, features(t, n), kernel.Diffusion{}), newGRF(t, features(t, n), kernel.Free{Len: 2})},
		"scales and two trends":  {hubs["many scales"], column(x), column(append(x[1:], 1))},
		"a sum and more":         {kernel.Sum(hubs["series"], column(x)), newGRF(t, features(t, n), kernel.Diffusion{})},
		"a trend on unit scales": {kernel.UnitVariance(hubs["many scales"]), column(x)},
	} {
		t.Run(name, func(t *testing.T) {
			k := kernel.Sum(terms...)
			kerneltest.Run(t, k, kerneltest.Options{})
			want := mat.NewDense(n, n, nil)
			var theta []float64
			for _, term := range terms {
				own := kernel.Starts(term)[0]
				theta = append(theta, own...)
				want.Add(want, gramOfAll(t, term, own))
			}
			if got := gramOfAll(t, k, theta); !mat.EqualApprox(got, want, 1e-12) {
				t.Error("a sum is not the sum of its terms")
			}
		})
	}
}

// Kernels with different numbers of nodes cannot be added.
func TestSumRefuses(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("kernels on 20 and 30 nodes were added")
		}
	}()
	kernel.Sum(newGRF(t, ringFeatures(t, 20, 3), kernel.Diffusion{}), newGRF(t, ringFeatures(t, 30, 3), kernel.Diffusion{}))
}

func ExampleSum() {
	g, err := graph.Ring(6)
	if err != nil {
		panic(err)
	}
	local, err := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	if err != nil {
		panic(err)
	}
	height := []float64{0, 1, 2, 2, 1, 0}
	k := kernel.Sum(local, kernel.Linear(mat.NewDense(len(height), 1, height)))
	for _, p := range k.Params() {
		fmt.Println(p.Name)
	}
	// Output:
	// variance
	// beta
	// linear/variance
}
