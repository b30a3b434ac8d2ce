package kernel_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/gpu"
	"grfgp/kernel"
)

// deviceKernels are kernels that a card can compute: of few and of many nodes, which have
// features of float32, with one scale and with many.
func deviceKernels(t *testing.T) map[string]kernel.Kernel {
	t.Helper()
	small, err := graph.Grid(12, 20)
	if err != nil {
		t.Fatal(err)
	}
	ring, err := graph.Ring(9000)
	all := map[string]kernel.Kernel{
		"one scale":                 newGRF(t, sampled(t, small, nil, same), kernel.Matern{Nu: 1.5}),
		"many scales":               newMultiscale(t, small, nil, kernel.Diffusion{}, 20, kernel.MultiscaleOptions{}),
		"many scales, a long ring":  newMultiscale(t, ring, err, kernel.Diffusion{}, 20, kernel.MultiscaleOptions{}),
		"many scales, free lengths": newMultiscale(t, small, nil, kernel.Diffusion{}, 20, kernel.MultiscaleOptions{FreeLengths: true}),
	}
	return all
}

// near fails unless two blocks agree to a share of the largest number.
func near(t *testing.T, what string, got, want *mat.Dense, tol float64) {
	t.Helper()
	top, worst := 0.0, 0.0
	rows, cols := want.Dims()
	for i := range rows {
		for j := range cols {
			top = max(top, math.Abs(want.At(i, j)))
			if d := math.Abs(got.At(i, j) - want.At(i, j)); !(d <= worst) {
				worst = d
			}
		}
	}
	if !(worst <= tol*top) || top == 0 {
		t.Errorf("%s: differs by %.3g of %.3g", what, worst, top)
	}
}

// TestDeviceRows: a kernel on a card has the products, the gradient, the preconditioner, the draws and the
// predictions of the covariance, at one theta after another. The card is simulated. Compact kernels
// predict by features of float32, as on large graphs.
func TestDeviceRows(t *testing.T) {
	t.Parallel()
	for _, compact := range []bool{false, true} {
		for name, k := range deviceKernels(t) {
			t.Run(fmt.Sprintf("%s/%v", name, compact), func(t *testing.T) {
				if compact {
					k = deviceKernels(t)[name]
					k.(interface{ CompactFrom(nodes int) }).CompactFrom(100)
				}
				testDeviceRows(t, k, compact)
			})
		}
	}
}

func testDeviceRows(t *testing.T, k kernel.Kernel, compact bool) {
	exact := 1e-12
	if compact { // norms of long lists of rows are those of float32 features
		exact = 2e-8
	}
	d := gpu.Simulate(gpu.Simulated{})
	random := rand.New(rand.NewPCG(1, 2))
	var rows, others []int
	for i := range k.Nodes() {
		if random.Float64() < 0.4 {
			rows = append(rows, i)
		} else if random.Float64() < 0.3 {
			others = append(others, i)
		}
	}
	rows = append(rows, rows[0]) // measured twice
	const columns, constant = 5, 0.7
	block := func(n int) *mat.Dense {
		x := mat.NewDense(n, columns, nil)
		for q := range x.RawMatrix().Data {
			x.RawMatrix().Data[q] = random.NormFloat64()
		}
		return x
	}
	u, w := block(len(rows)), block(len(rows))
	weight, noise := []float64{0.5, -0.25, -0.25, 1, 2}, make([]float64, len(rows))
	weighted := mat.DenseCopyOf(u)
	for i := range rows {
		noise[i] = 0.01 + 0.1*random.Float64()
		for s, c := range weight {
			weighted.Set(i, s, c*u.At(i, s))
		}
	}
	r, err := kernel.TrainingOf(k).Device(d, rows, constant)
	if err != nil || r == nil {
		t.Fatal(r, err)
	}
	onU, onW, onNoise := d.Upload(columns, u.RawMatrix().Data), d.Upload(columns, w.RawMatrix().Data), d.Upload(1, noise)
	get := func(b *gpu.Block) *mat.Dense {
		x := mat.NewDense(b.Rows(), b.Cols(), nil)
		b.Get(x.RawMatrix().Data)
		return x
	}
	starts := kernel.Starts(k)
	for _, theta := range [][]float64{starts[0], starts[len(starts)-1]} {
		cov, err := k.At(theta)
		if err != nil {
			t.Fatal(err)
		}
		full := kernel.WithConstant(cov, constant)
		if err := r.Set(t.Context(), theta); err != nil {
			t.Fatal(err)
		}
		out := d.Block(len(rows), columns)
		want := mat.NewDense(len(rows), columns, nil)
		if err := full.Cross(rows, rows).Apply(t.Context(), want, u); err != nil {
			t.Fatal(err)
		}
		r.Apply(out, onU)
		near(t, "product", get(out), want, exact)

		grad, wantGrad := make([]float64, len(theta)), make([]float64, len(theta))
		if err := cov.Grad(t.Context(), wantGrad, rows, weighted, w); err != nil {
			t.Fatal(err)
		}
		r.Grad(grad, weight, onU, onW)
		near(t, "gradient", mat.NewDense(1, len(grad), grad), mat.NewDense(1, len(grad), wantGrad), 10*exact)

		p, own, err := r.Precondition(t.Context(), noise, onNoise)
		if err != nil {
			t.Fatal(err)
		}
		if precondition := kernel.AbilitiesOf(full).Precondition; precondition != nil {
			m, err := precondition(t.Context(), rows, 0, noise)
			if err != nil || !own {
				t.Fatal(own, err)
			}
			p.Apply(out, onU)
			m.Apply(want, u)
			near(t, "preconditioner", get(out), want, 10*exact)
			p.Whiten(out, onU)
			m.Whiten(want, u)
			near(t, "whitened", get(out), want, 100*exact)
			p.WhitenT(out, onU)
			m.WhitenT(want, u)
			near(t, "whitened transposed", get(out), want, 100*exact)
			if math.Abs(p.LogDet()-m.LogDet()) > 1e3*exact*float64(len(rows)) {
				t.Errorf("log determinant %v, want %v", p.LogDet(), m.LogDet())
			}
		}
		p.Free()

		// Draws, and what measurements change of them.
		const seed, first = 7, 2
		prior := mat.NewDense(k.Nodes(), first+columns, nil)
		if err := full.Prior(t.Context(), prior, seed); err != nil {
			t.Fatal(err)
		}
		weights := r.Prior(columns, first, seed)
		r.Here(out, weights)
		near(t, "draws at the rows", get(out), rowsAndColumns(prior, rows, first, columns), 1e-6)
		r.Settle(weights, onU)
		for name, nodes := range map[string][]int{"all nodes": all(k.Nodes()), "other nodes": others} {
			v, err := r.Elsewhere(t.Context(), nodes)
			if err != nil || v == nil {
				t.Fatal(v, err)
			}
			at := d.Block(len(nodes), columns)
			v.Values(at, weights)
			want := mat.NewDense(len(nodes), columns, nil)
			if err := full.Cross(nodes, rows).Apply(t.Context(), want, u); err != nil {
				t.Fatal(err)
			}
			want.Add(want, rowsAndColumns(prior, nodes, first, columns))
			near(t, "posterior draws at "+name, get(at), want, 1e-6)
			zero := r.Zero(columns)
			v.Values(at, zero)
			if get(at).At(0, 0) != 0 {
				t.Errorf("functions without weights are %v", get(at).At(0, 0))
			}
			zero.Free()
			at.Free()
			v.Free()
		}
		weights.Free()
		out.Free()
	}
	r.Free()
	for _, b := range []*gpu.Block{onU, onW, onNoise} {
		b.Free()
	}
	if err := d.Err(); err != nil {
		t.Error(err)
	}
	if d.InUse() != 0 {
		t.Errorf("%d bytes were not given back", d.InUse())
	}
}

func all(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func rowsAndColumns(x *mat.Dense, rows []int, first, columns int) *mat.Dense {
	out := mat.NewDense(len(rows), columns, nil)
	for a, i := range rows {
		for s := range columns {
			out.Set(a, s, x.At(i, first+s))
		}
	}
	return out
}

// TestDeviceRowsFail: a card without memory, and one that is lost, are errors of the card.
func TestDeviceRowsFail(t *testing.T) {
	t.Parallel()
	k := deviceKernels(t)["many scales"]
	for _, c := range []struct {
		how  gpu.Simulated
		want error
	}{{gpu.Simulated{Memory: 1 << 12}, gpu.ErrMemory}, {gpu.Simulated{FailAfter: 5}, gpu.ErrLost}} {
		d := gpu.Simulate(c.how)
		r, err := kernel.TrainingOf(k).Device(d, all(50), 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Set(t.Context(), kernel.Starts(k)[0]); err != nil {
			t.Fatal(err)
		}
		x, y := d.Block(50, 1), d.Block(50, 1)
		r.Apply(y, x)
		if err := d.Err(); !errors.Is(err, c.want) {
			t.Errorf("%v, want %v", err, c.want)
		}
	}
}
