package kernel_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/kernel"
)

// Entries are the product with the identity matrix, to 1e-12 of the largest.
func TestEntries(t *testing.T) {
	t.Parallel()
	g, err := graph.BarabasiAlbert(300, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	x := mat.NewDense(300, 3, nil)
	for i := range 300 {
		x.SetRow(i, []float64{math.Sin(float64(i)), math.Cos(float64(i * i)), float64(i % 5)})
	}
	grf := newGRF(t, sampled(t, g, nil, same), kernel.Diffusion{})
	smooth := kernel.Smooth(x, []int{0, 0, 1}, kernel.Matern32, "a", "b")
	scales := newMultiscale(t, g, nil, kernel.Diffusion{}, 20)
	var rows, cols []int
	for i := range 280 {
		rows = append(rows, (i*7)%300)
	}
	for i := range 45 {
		cols = append(cols, (i*11)%300)
	}
	for name, k := range map[string]kernel.Kernel{
		"features": grf, "smooth": smooth, "scales": scales, "unit variance": kernel.UnitVariance(grf),
		"sum": kernel.Sum(scales, kernel.Linear(x), smooth, kernel.Constant(300)),
	} {
		theta := kernel.Starts(k)[0]
		for _, lists := range [][2][]int{{rows, cols}, {cols, rows}, {cols, cols}, {upTo(300), cols}, {nil, cols}, {cols, nil}} {
			cov := kernel.WithConstant(at(t, k, theta), 0.7)
			op := cov.Cross(lists[0], lists[1])
			n, m := op.Dims()
			if n == 0 || m == 0 {
				if err := kernel.Entries(t.Context(), &mat.Dense{}, cov, lists[0], lists[1]); err != nil {
					t.Errorf("%s, %d × %d: %v", name, n, m, err)
				}
				continue
			}
			one := mat.NewDense(m, m, nil)
			for i := range m {
				one.Set(i, i, 1)
			}
			want, got := mat.NewDense(n, m, nil), mat.NewDense(n, m, nil)
			got.Apply(func(_, _ int, _ float64) float64 { return math.NaN() }, got)
			if err := op.Apply(t.Context(), want, one); err != nil {
				t.Fatal(err)
			}
			if err := kernel.Entries(t.Context(), got, cov, lists[0], lists[1]); err != nil {
				t.Fatal(err)
			}
			got.Sub(got, want)
			if d := mat.Norm(got, math.Inf(1)); !(d <= 1e-12*float64(m)*mat.Max(want)) {
				t.Errorf("%s, %d × %d: entries differ by %v", name, n, m, d)
			}
		}
	}
}
