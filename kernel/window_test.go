package kernel_test

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/walk"
)

// windowKernels are kernels of a large graph that have windows. From 700 nodes on, a scale
// counts as large.
func windowKernels(t *testing.T, g *graph.Graph) map[string]kernel.Kernel {
	t.Helper()
	sample := func(g *graph.Graph) *walk.Features {
		opts := walk.Default()
		opts.MaxLen, opts.Walks, opts.Budget, opts.Scale = 4, 20, 20, g.WalkScale(graph.NormalizedAdjacency)
		f, err := walk.Lazy(g.Normalized(graph.NormalizedAdjacency), opts)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	fine, err := kernel.NewGRF(sample(g), kernel.Diffusion{})
	if err != nil {
		t.Fatal(err)
	}
	var scales []kernel.Scale
	for _, l := range g.Coarsen(20) {
		scales = append(scales, kernel.Scale{Prolong: l.Prolong, Features: sample(l.Graph)})
	}
	many, err := kernel.NewMultiscale(fine, kernel.Diffusion{}, scales, kernel.MultiscaleOptions{})
	if err != nil {
		t.Fatal(err)
	}
	many.CompactFrom(700)
	x := mat.NewDense(g.Len(), 3, nil)
	x.Apply(func(i, j int, _ float64) float64 { return math.Sin(float64(i*(j+2)) / 3) }, x)
	degree := mat.Col(nil, 0, x)
	return map[string]kernel.Kernel{
		"features": fine,
		"scales":   many,
		"sum":      kernel.Sum(kernel.Trend(many, degree), kernel.Fourier(x, []int{0, 0, 1}, kernel.Matern32, 16, 3), kernel.Constant(g.Len())),
	}
}

// A window of a covariance has the bits that all nodes have there: products, entries,
// diagonals, and draws as a whole and block by block.
func TestWindows(t *testing.T) {
	t.Parallel()
	graphs := map[string]func() (*graph.Graph, error){
		"grid": func() (*graph.Graph, error) { return graph.Grid(50, 70) },
		"hubs": func() (*graph.Graph, error) { return graph.BarabasiAlbert(3000, 2, 1) },
	}
	for name, make := range graphs {
		g, err := make()
		if err != nil {
			t.Fatal(err)
		}
		g = g.Ordered()
		for of, k := range windowKernels(t, g) {
			t.Run(fmt.Sprintf("%s, %s", name, of), func(t *testing.T) { checkWindows(t, k) })
		}
	}
}

func checkWindows(t *testing.T, k kernel.Kernel) {
	theta := make([]float64, len(k.Params()))
	for j, p := range k.Params() {
		theta[j] = 1.3 * p.Start
	}
	at := func() kernel.Covariance {
		cov, err := k.At(theta)
		if err != nil {
			t.Fatal(err)
		}
		return kernel.WithConstant(cov, 2)
	}
	const draws, seed = 3, 7
	n := k.Nodes()
	all, x := upTo(n), []int{n - 4, 3, n / 2, n/2 + 1, 12}
	u := mat.NewDense(len(x), draws, nil)
	u.Apply(func(i, j int, _ float64) float64 { return math.Sin(float64(3*i + 5*j)) }, u)
	cov := at()
	product, entries, drawn := mat.NewDense(n, draws, nil), mat.NewDense(n, len(x), nil), mat.NewDense(n, draws, nil)
	diagonal := make([]float64, n)
	d, err := kernel.AbilitiesOf(cov).Draw(t.Context(), draws, seed, x)
	if err != nil {
		t.Fatal(err)
	}
	measured := mat.DenseCopyOf(d.At())
	for _, err := range []error{
		cov.Cross(all, x).Apply(t.Context(), product, u),
		kernel.Entries(t.Context(), entries, cov.Cross(all, x)),
		cov.Diag(t.Context(), diagonal, all),
		d.Update(t.Context(), drawn, u),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if kernel.WindowOf(cov, all, 0, n) != nil || kernel.WindowOf(cov, all[1:], 0, 5) != nil || kernel.WindowOf(cov, all[:n-1], 0, 5) != nil {
		t.Error("a window that is everything, or of another list")
	}
	for _, cut := range [][2]int{{0, 1024}, {1024, n}, {n - 1, n}, {100, 1300}} {
		lo, hi := cut[0], cut[1]
		cov := at() // as another process has it
		w := kernel.WindowOf(cov, all, lo, hi)
		if w == nil {
			t.Fatal("no window")
		}
		same := func(what string, got, want *mat.Dense) {
			t.Helper()
			_, c := want.Dims()
			if !mat.Equal(got, want.Slice(lo, hi, 0, c)) {
				t.Errorf("[%d, %d): %s differ from those of all nodes", lo, hi, what)
			}
		}
		p, e := mat.NewDense(hi-lo, draws, nil), mat.NewDense(hi-lo, len(x), nil)
		if err := w.Cross(x).Apply(t.Context(), p, u); err != nil {
			t.Fatal(err)
		}
		same("products", p, product)
		if err := kernel.Entries(t.Context(), e, w.Cross(x)); err != nil {
			t.Fatal(err)
		}
		same("entries", e, entries)
		own := make([]float64, hi-lo)
		if err := w.Diag(t.Context(), own); err != nil {
			t.Fatal(err)
		}
		same("variances", mat.NewDense(hi-lo, 1, own), mat.NewDense(n, 1, diagonal))
		for _, streamed := range []bool{false, true} {
			d, err := w.Draw(t.Context(), draws, seed, x)
			if err != nil {
				t.Fatal(err)
			}
			if !mat.Equal(d.At(), measured) {
				t.Errorf("[%d, %d): draws at the measurements differ", lo, hi)
			}
			out := mat.NewDense(hi-lo, draws, nil)
			if !streamed {
				err = d.Update(t.Context(), out, u)
			} else {
				err = kernel.EachRows(t.Context(), d, hi-lo, u, func(lo int, rows *mat.Dense) error {
					r, c := rows.Dims()
					out.Slice(lo, lo+r, 0, c).(*mat.Dense).Copy(rows)
					return nil
				})
			}
			if err != nil {
				t.Fatal(err)
			}
			same("draws", out, drawn)
		}
		part, err := kernel.ConnectedPart(t.Context(), cov, all, lo, hi, x)
		whole, err2 := kernel.Connected(t.Context(), cov, all, x)
		if err != nil || err2 != nil || fmt.Sprint(part) != fmt.Sprint(whole[lo:hi]) {
			t.Errorf("[%d, %d): connected %v %v", lo, hi, err, err2)
		}
	}
}
