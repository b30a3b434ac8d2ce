package kernel_test

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/kernel/kerneltest"
)

// Every hyperparameter of a composition has a path of its own.
func TestPaths(t *testing.T) {
	t.Parallel()
	g, err := graph.Ring(6)
	if err != nil {
		t.Fatal(err)
	}
	d, err := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	if err != nil {
		t.Fatal(err)
	}
	x := mat.NewDense(6, 1, []float64{1, 2, 3, 4, 5, 6})
	smooth := kernel.Smooth(x, nil, kernel.RBF, "load")
	k := kernel.OverTime(kernel.Sum(kernel.Trend(kernel.Named("graph", d), []float64{0, 1, 2, 3, 4, 5}),
		kernel.Named("covariates", kernel.Linear(x, "columns")), kernel.Named("covariates", smooth),
		kernel.Named("product", kernel.Product(d, smooth))), []float64{0, 1})
	var paths []string
	for _, p := range k.Params() {
		paths = append(paths, p.Name)
	}
	want := []string{"graph/variance", "graph/beta", "trend/variance", "covariates/linear/columns", "covariates/smooth/variance",
		"covariates/length/load", "product/variance", "product/beta", "product/length/load", "time/scale", "time/change"}
	if !slices.Equal(paths, want) {
		t.Errorf("paths %q, want %q", paths, want)
	}
	kerneltest.Run(t, kernel.Named("graph", d), kerneltest.Options{})
}

// Learning one kernel begins with what it shares with another, whatever the order.
func TestBegin(t *testing.T) {
	t.Parallel()
	params := []kernel.Param{{Name: "graph/variance", Start: 1}, {Name: "graph/beta", Start: 4}, {Name: "trend/variance", Start: 2}}
	fitted := kernel.Theta{{Path: "time/scale", Number: 9}, {Path: "graph/beta", Number: 7}}
	if got := kernel.Begin(params, kernel.Theta{{Path: "graph/variance", Number: 3}}, fitted); !slices.Equal(got, []float64{3, 7, 2}) {
		t.Errorf("begins at %v", got)
	}
	if got := fitted.Under("graph"); len(got) != 1 || got[0] != (kernel.Value{Path: "beta", Number: 7}) || !slices.Equal(got.In("graph"),
		fitted[1:]) {
		t.Errorf("under graph lies %v", got)
	}
	if got := fitted.Without("graph"); !slices.Equal(got, fitted[:1]) || !fitted.Holds(got) || got.Holds(fitted) {
		t.Errorf("without graph there is %v", got)
	}
}
