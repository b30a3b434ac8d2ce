package kernel_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/testkit"
	"grfgp/kernel"
	"grfgp/kernel/kerneltest"
)

// Products without a factor of low rank draw 128 products for each draw: fewer draws
// keep the test short.
func TestDenseProducts(t *testing.T) {
	hubs, n := graphKernels(t)
	x := covariates(n, 5)
	text := words(n, 1100, 5)
	smooth := kernel.Smooth(x, []int{0, 0, 1, 1, 1}, kernel.Matern52)
	for name, k := range map[string]kernel.Kernel{
		"graph × smooth":             kernel.Product(hubs["series"], smooth),
		"unit variance × smooth":     kernel.Product(kernel.UnitVariance(hubs["features"]), smooth),
		"graph × constant and words": kernel.Product(hubs["features"], kernel.Sum(kernel.Constant(n), kernel.Linear(text))),
		"features × many Fourier":    kernel.Product(hubs["features"], kernel.Fourier(x, nil, kernel.RBF, 80, 1)),
	} {
		t.Run(name, func(t *testing.T) { kerneltest.Run(t, k, kerneltest.Options{Draws: 400}) })
	}
}

// The entries of a product are products of entries, with the starting value, 1, for
// the variance of the second factor.
func TestProductEntries(t *testing.T) {
	t.Parallel()
	hubs := hubKernels(t)
	a := hubs["series"]
	n := a.Nodes()
	x := covariates(n, 3)
	b := kernel.Sum(kernel.Constant(n), kernel.Smooth(x, nil, kernel.RBF))
	k := kernel.Product(a, b)
	var names []string
	for _, p := range k.Params() {
		names = append(names, p.Name)
	}
	if want := []string{"variance", "kappa", "smooth/variance", "length"}; !slices.Equal(names, want) {
		t.Fatalf("parameters %q, want %q", names, want)
	}
	left, right := gramOfAll(t, a, []float64{2, 1.5}), gramOfAll(t, b, []float64{1, 0.3, 2.5})
	var want mat.Dense
	want.MulElem(left, right)
	if got := gramOfAll(t, k, []float64{2, 1.5, 0.3, 2.5}); !mat.EqualApprox(got, &want, 1e-13) {
		t.Error("a product is not the product of its factors")
	}
}

// Products with many rows take blocks of pairs, and give what GramGrad gives.
func TestProductGradBlocks(t *testing.T) {
	t.Parallel()
	const n = 1300
	x := covariates(n, 3)
	k := kernel.Product(kernel.Smooth(x, nil, kernel.RBF), kernel.Sum(kernel.Constant(n), kernel.Smooth(x, []int{0, 1, 1}, kernel.Matern32)))
	theta := []float64{1.2, 2, 0.5, 2, 3}
	cov := at(t, k, theta)
	rows := make([]int, n)
	for i := range rows {
		rows[i] = (7 * i) % n
	}
	u, w := covariates(n, 2), covariates(n, 3).Slice(0, n, 1, 3).(*mat.Dense)
	var uw mat.Dense
	uw.Mul(u, w.T())
	g := mat.NewSymDense(n, nil)
	for a := range n {
		for b := a; b < n; b++ {
			g.SetSym(a, b, (uw.At(a, b)+uw.At(b, a))/2)
		}
	}
	got, want := make([]float64, len(theta)), make([]float64, len(theta))
	if err := cov.Grad(t.Context(), got, rows, u, w); err != nil {
		t.Fatal(err)
	}
	if err := cov.GramGrad(t.Context(), want, rows, g); err != nil {
		t.Fatal(err)
	}
	for j := range want {
		if math.Abs(got[j]-want[j]) > 1e-7*(1+math.Abs(want[j])) {
			t.Errorf("derivative %d by blocks is %v, want %v", j, got[j], want[j])
		}
	}
}

// Products in small pieces satisfy the contract as well: strips of a few columns, few
// columns of low rank, and few terms of a draw at a time.
func TestProductPieces(t *testing.T) {
	hubs, n := graphKernels(t)
	x := covariates(n, 5)
	for name, k := range map[string]kernel.Kernel{
		"low rank":    kernel.Product(hubs["features"], kernel.Linear(x)),
		"no low rank": kernel.Product(hubs["features"], kernel.Smooth(x, nil, kernel.Matern52)),
	} {
		t.Run(name, func(t *testing.T) { kerneltest.Run(t, kernel.InPieces(k, 500), kerneltest.Options{Draws: 150}) })
	}
}

// Draws of a product without a factor of low rank have normal tails: the kurtosis
// over n draws at one node is 3 + 6/128 within 5·√(24/n), 0.17 of 20,000.
func TestProductTails(t *testing.T) {
	t.Parallel()
	const n = 4
	draws := testkit.Size(2000, 20_000)
	x := covariates(n, 2)
	cov := at(t, kernel.Product(kernel.Smooth(x, nil, kernel.RBF), kernel.Smooth(x, nil, kernel.Matern32)), []float64{2, 1.5, 1.5})
	z := mat.NewDense(n, draws, nil)
	if err := cov.Prior(t.Context(), z, 11); err != nil {
		t.Fatal(err)
	}
	square, fourth := 0.0, 0.0
	for _, v := range z.RawRowView(0) {
		square += v * v / float64(draws)
		fourth += v * v * v * v / float64(draws)
	}
	if kurtosis := fourth / (square * square); math.Abs(kurtosis-3-6./128) > 0.17*math.Sqrt(20_000/float64(draws)) {
		t.Errorf("kurtosis %v, want %v", kurtosis, 3+6./128)
	}
}

func ExampleProduct() {
	g, err := graph.Ring(6)
	if err != nil {
		panic(err)
	}
	near, err := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	if err != nil {
		panic(err)
	}
	lanes := mat.NewDense(6, 1, []float64{-1, -1, -1, 1, 1, 1})
	alike := kernel.Sum(kernel.Constant(6), kernel.Smooth(lanes, nil, kernel.RBF, "lanes"))
	for _, p := range kernel.Product(near, alike).Params() {
		fmt.Println(p.Name)
	}
	// Output:
	// variance
	// beta
	// smooth/variance
	// length/lanes
}
