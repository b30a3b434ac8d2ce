package kernel_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/kernel/kerneltest"
	"grfgp/walk"
)

// twoPaths is a graph of two components.
func twoPaths(t *testing.T, n int) *graph.Graph {
	t.Helper()
	var e graph.Edges
	for i := 1; i < 2*n; i++ {
		if i != n {
			e.U, e.V = append(e.U, uint32(i-1)), append(e.V, uint32(i))
		}
	}
	g, _, err := graph.FromEdges(graph.NumberIDs(2*n), e, graph.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func newLayers(t *testing.T, g *graph.Graph, fine kernel.Spectrum) *kernel.Layers {
	t.Helper()
	d, err := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	if err != nil {
		t.Fatal(err)
	}
	k, useful := kernel.NewLayers(d.With(fine), d)
	if !useful {
		t.Fatal("layers of no use")
	}
	return k
}

// Layers satisfy the contract of kernels with every family as the fine kernel.
func TestLayers(t *testing.T) {
	g := twoPaths(t, 40)
	for name, fine := range map[string]kernel.Spectrum{
		"diffusion": kernel.Diffusion{}, "matern": kernel.Matern{Nu: 0.5}, "free": kernel.Free{Len: 4}} {
		t.Run(name, func(t *testing.T) { kerneltest.Run(t, newLayers(t, g, fine), kerneltest.Options{}) })
	}
}

// Layer k is exp(−16^k·β·L̃), scaled to one variance, by dense exponentials.
func TestLayersAgainstExponentials(t *testing.T) {
	t.Parallel()
	g := twoPaths(t, 15)
	k := newLayers(t, g, kernel.Diffusion{})
	n, beta := g.Len(), 0.7
	w := g.Normalized(graph.NormalizedAdjacency)
	for layer := range k.Len() {
		theta := []float64{1e-9, 1, beta}
		for q := range k.Len() {
			theta = append(theta, 1e-300)
			if q == layer {
				theta[3+q] = 2.5
			}
		}
		got := gramOfAll(t, k, theta)
		var exponent, want mat.Dense
		exponent.ReuseAs(n, n)
		for i := range n {
			for j := range n {
				v := w.At(i, j)
				if i == j {
					v--
				}
				exponent.Set(i, j, math.Pow(16, float64(layer+1))*beta*v)
			}
		}
		want.Exp(&exponent)
		for i := range n {
			for j := range n {
				if v := 2.5 * want.At(i, j) / math.Sqrt(want.At(i, i)*want.At(j, j)); math.Abs(got.At(i, j)-v) > 1e-8 {
					t.Fatalf("layer %d: K[%d, %d] = %v, want %v", layer+1, i, j, got.At(i, j), v)
				}
			}
		}
	}
}

// The last layer is constant within a component and zero between components; a
// connected graph of small diameter has no layers.
func TestLayersReach(t *testing.T) {
	t.Parallel()
	k := newLayers(t, twoPaths(t, 100), kernel.Diffusion{})
	theta := make([]float64, len(k.Params()))
	for j := range theta {
		theta[j] = 1e-12
	}
	theta[1], theta[2], theta[len(theta)-1] = 4, 4, 1
	gram := gramOfAll(t, k, theta)
	if v := gram.At(0, 99); v < 0.9 {
		t.Errorf("the ends of a path have correlation %v, want nearly 1", v)
	}
	if v := gram.At(0, 199); math.Abs(v) > 1e-9 {
		t.Errorf("two components have correlation %v", v)
	}
	complete, err := graph.RingK(20, 9)
	if err != nil {
		t.Fatal(err)
	}
	d, err := kernel.NewDense(complete.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	if err != nil {
		t.Fatal(err)
	}
	if k, useful := kernel.NewLayers(d, d); useful || k.Len() != 1 {
		t.Errorf("%d layers on a graph that is two hops across, of use: %v", k.Len(), useful)
	}
}

// With features as the fine kernel, draws in one pass equal prior draws plus
// products with K.
func TestLayersDraw(t *testing.T) {
	t.Parallel()
	g := twoPaths(t, 60)
	d, err := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	if err != nil {
		t.Fatal(err)
	}
	k, _ := kernel.NewLayers(newGRF(t, sampled(t, g, nil, func(o *walk.Options) { o.MaxLen = 5 }), kernel.Diffusion{}), d)
	checkDraw(t, k)
}

// The preconditioner of layers is exact if the fine kernel is diagonal.
func TestLayersPrecondition(t *testing.T) {
	t.Parallel()
	g := twoPaths(t, 60)
	k := newLayers(t, g, kernel.Free{Len: 0}) // f_0² on the diagonal
	theta := []float64{0.5, 3}
	for range k.Len() {
		theta = append(theta, 0.7)
	}
	cov, err := k.At(theta)
	if err != nil {
		t.Fatal(err)
	}
	rows := []int{0, 5, 17, 40, 80, 81, 119}
	noise := []float64{0.1, 0.2, 0.1, 0.3, 0.1, 0.1, 0.2}
	p := precondition(t, k, theta, rows, 1.5, noise)
	n := len(rows)
	gram := mat.NewSymDense(n, nil)
	if err := cov.Gram(t.Context(), gram, rows); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		for j := i; j < n; j++ {
			gram.SetSym(i, j, gram.At(i, j)+1.5)
		}
		gram.SetSym(i, i, gram.At(i, i)+noise[i])
	}
	x := preconditioned(p, gram)
	for i := range n {
		for j := range n {
			want := 0.0
			if i == j {
				want = 1
			}
			if math.Abs(x.At(i, j)-want) > 1e-4 { // small eigenvalues are left out
				t.Errorf("P⁻¹H[%d, %d] = %v", i, j, x.At(i, j))
			}
		}
	}
}

// A kernel with free coefficients is the same by eigenvectors and by a series.
func TestFreeDense(t *testing.T) {
	g, err := graph.BarabasiAlbert(60, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	w := g.Normalized(graph.NormalizedAdjacency)
	free := kernel.Free{Len: 5}
	d, err := kernel.NewDense(w, free)
	if err != nil {
		t.Fatal(err)
	}
	kerneltest.Run(t, d, kerneltest.Options{})
	s, err := kernel.NewSeries(w, free, 5)
	if err != nil {
		t.Fatal(err)
	}
	theta := []float64{1, -0.8, 0.6, -0.3, 0.2, -0.1}
	if got, want := gramOfAll(t, d, theta), gramOfAll(t, s, theta); !mat.EqualApprox(got, want, 1e-12) {
		t.Error("free coefficients: eigenvectors and series differ")
	}
	if names := d.Params(); !slices.EqualFunc(names, s.Params(), func(a, b kernel.Param) bool { return a == b }) {
		t.Errorf("parameters %v", names)
	}
}
