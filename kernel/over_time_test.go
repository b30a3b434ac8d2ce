package kernel_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/kernel/kerneltest"
)

// unevenTimes are periods with gaps of different lengths.
var unevenTimes = []float64{-1, 0, 0.5, 3, 3.25}

// timeKernels are kernels on a few nodes, one of each representation.
func timeKernels(t *testing.T) map[string]kernel.Kernel {
	t.Helper()
	g, err := graph.Ring(14)
	if err != nil {
		t.Fatal(err)
	}
	w := g.Normalized(graph.NormalizedAdjacency)
	dense, err := kernel.NewDense(w, kernel.Diffusion{})
	if err != nil {
		t.Fatal(err)
	}
	series, err := kernel.NewSeries(w, kernel.Matern{Nu: 1.5}, 8)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, 14)
	for i := range x {
		x[i] = math.Cos(float64(3 * i))
	}
	grf := newGRF(t, ringFeatures(t, 14, 4), kernel.Diffusion{})
	return map[string]kernel.Kernel{
		"dense":         dense,
		"series":        series,
		"features":      grf,
		"free":          newGRF(t, ringFeatures(t, 14, 3), kernel.Free{Len: 3}),
		"with a trend":  kernel.Trend(grf, x),
		"unit variance": kernel.UnitVariance(series),
	}
}

// A kernel over time satisfies the contract, whatever the kernel on nodes.
func TestOverTime(t *testing.T) {
	for name, k := range timeKernels(t) {
		for _, periods := range []int{1, 2, 5} {
			t.Run(fmt.Sprintf("%s, %d periods", name, periods), func(t *testing.T) {
				kerneltest.Run(t, kernel.OverTime(k, unevenTimes[:periods]), kerneltest.Options{})
			})
		}
	}
}

// On sampled features, and at parameters far from the start: hardly any memory, hardly
// any change, nothing but change.
func TestOverTimeFar(t *testing.T) {
	k := newGRF(t, scaleFreeFeatures(t), kernel.Diffusion{})
	for _, theta := range [][]float64{{1, 2, 0.01, 3}, {0.5, 1, 1e4, 0.3}, {2, 1, 2, 1e6}, {2, 1, 2, 1e-6}} {
		t.Run(fmt.Sprint(theta), func(t *testing.T) {
			kerneltest.Run(t, kernel.OverTime(k, unevenTimes[:4]), kerneltest.Options{Theta: theta})
		})
	}
}

// The matrix is the Kronecker product of that of time, written out, and that of nodes;
// products between lists in different periods are its entries.
func TestOverTimeKronecker(t *testing.T) {
	t.Parallel()
	const tau, change = 0.8, 2.5
	rho := func(p, q int) float64 {
		return (1 + change*math.Exp(-math.Abs(unevenTimes[p]-unevenTimes[q])/tau)) / (1 + change)
	}
	for name, k := range timeKernels(t) {
		theta := kernel.Starts(k)[0]
		n := k.Nodes()
		own := gramOfAll(t, k, theta)
		cov := at(t, kernel.OverTime(k, unevenTimes), append(slices.Clone(theta), tau, change))
		entry := func(a, b int) float64 { return own.At(a%n, b%n) * rho(a/n, b/n) }
		early, late, mixed := []int{3, n + 1, 2, n + 3, 3}, []int{4*n + 2, 4*n + 3, 3 * n}, []int{2*n + 1, 5, 4*n + 1, n + 9}
		for _, lists := range [][2][]int{{early, late}, {late, early}, {mixed, early}, {late, mixed}, {mixed, mixed}, {{2*n + 2}, mixed}} {
			rows, cols := lists[0], lists[1]
			one := mat.NewDense(len(cols), len(cols), nil)
			for b := range cols {
				one.Set(b, b, 1)
			}
			got := mat.NewDense(len(rows), len(cols), nil)
			if err := cov.Cross(rows, cols).Apply(t.Context(), got, one); err != nil {
				t.Fatal(err)
			}
			for a := range rows {
				for b := range cols {
					if want := entry(rows[a], cols[b]); math.Abs(got.At(a, b)-want) > 1e-12 {
						t.Errorf("%s: entry %d, %d is %v, want %v", name, rows[a], cols[b], got.At(a, b), want)
					}
				}
			}
		}
	}
}

// Many columns go through in strips, and many periods by recursion: both agree with
// single columns.
func TestOverTimeManyPeriods(t *testing.T) {
	t.Parallel()
	times := make([]float64, 3000)
	for p := range times {
		times[p] = float64(p) + 0.3*math.Sin(float64(p))
	}
	k := timeKernels(t)["dense"]
	n := k.Nodes()
	cov := at(t, kernel.OverTime(k, times), []float64{1, 2, 40, 3})
	const columns = 450 // 14·3000·450 numbers: two strips
	rows := upTo(n * len(times))[:n*len(times)-5]
	x, got := mat.NewDense(len(rows), columns, nil), mat.NewDense(3, columns, nil)
	for s := range columns {
		x.Set(s*70, s, 1) // 70 = 5·14: node 0 in period 5s
	}
	to := []int{0, 1000*n + 3, 2999*n + 1}
	if err := cov.Cross(to, rows).Apply(t.Context(), got, x); err != nil {
		t.Fatal(err)
	}
	own := gramOfAll(t, k, []float64{1, 2})
	for a, r := range to {
		for s := range columns {
			want := own.At(r%n, 0) * (1 + 3*math.Exp(-math.Abs(times[r/n]-times[5*s])/40)) / 4
			if math.Abs(got.At(a, s)-want) > 1e-12 {
				t.Fatalf("entry %d, %d is %v, want %v", r, s, got.At(a, s), want)
			}
		}
	}
}

// What can be passed on is: all but preconditioners, whose matrix is another, and
// features, whose nodes are others.
func TestOverTimeForwards(t *testing.T) {
	t.Parallel()
	kernels := timeKernels(t)
	dense := kernels["dense"]
	layers, _ := kernel.NewLayers(kernels["series"], dense.(*kernel.Dense))
	for _, k := range []kernel.Kernel{dense, kernels["series"], layers} {
		cov := atStart(t, kernel.OverTime(k, unevenTimes))
		in, out := kernel.AbilitiesOf(atStart(t, k)), kernel.AbilitiesOf(cov)
		if (in.DiagFlops != nil) != (out.DiagFlops != nil) || (in.Connected != nil) != (out.Connected != nil) ||
			!out.LongRange {
			t.Errorf("%T: abilities %+v, over time %+v", k, in, out)
		}
		before, after := kernel.TrainingOf(k), kernel.TrainingOf(kernel.OverTime(k, unevenTimes))
		if len(before.Starts) != len(after.Starts) || (before.Cache != nil) != (after.Cache != nil) {
			t.Errorf("%T: training %+v, over time %+v", k, before, after)
		}
	}
}

// Times that are no times are refused.
func TestOverTimeRefuses(t *testing.T) {
	t.Parallel()
	k := timeKernels(t)["dense"]
	for _, times := range [][]float64{{}, {0, 0}, {1, 0}, {0, math.NaN()}, {0, math.Inf(1)}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("periods at %v were taken", times)
				}
			}()
			kernel.OverTime(k, times)
		}()
	}
}

func ExampleOverTime() {
	g, err := graph.Ring(6)
	if err != nil {
		panic(err)
	}
	k, err := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	if err != nil {
		panic(err)
	}
	over := kernel.OverTime(k, []float64{2019, 2020, 2021})
	fmt.Println(over.Nodes(), "numbers: node i in period p is 6p + i")
	for _, p := range over.Params() {
		fmt.Println(p.Name, p.Start)
	}
	// Output:
	// 18 numbers: node i in period p is 6p + i
	// variance 1
	// beta 4
	// time/scale 4
	// time/change 1
}

// Independent periods satisfy the contract, and the matrix has one block per period, each
// that of the kernel on nodes.
func TestEachPeriod(t *testing.T) {
	for name, k := range timeKernels(t) {
		for _, periods := range []int{1, 3} {
			t.Run(fmt.Sprintf("%s, %d periods", name, periods), func(t *testing.T) {
				kerneltest.Run(t, kernel.EachPeriod(k, periods), kerneltest.Options{})
			})
		}
		n := k.Nodes()
		own, all := gramOfAll(t, k, kernel.Starts(k)[0]), gramOfAll(t, kernel.EachPeriod(k, 3), kernel.Starts(k)[0])
		for a := range 3 * n {
			for b := range 3 * n {
				want := 0.0
				if a/n == b/n {
					want = own.At(a%n, b%n)
				}
				if got := all.At(a, b); got != want {
					t.Fatalf("%s: entry %d, %d is %v, want %v", name, a, b, got, want)
				}
			}
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic without periods")
		}
	}()
	kernel.EachPeriod(timeKernels(t)["dense"], 0)
}
