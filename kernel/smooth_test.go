package kernel_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/testkit"
	"grfgp/kernel"
)

// Lengths are named, and start so that typical nodes are correlated.
func TestSmoothParams(t *testing.T) {
	t.Parallel()
	x := mat.NewDense(16, 4, nil) // standardised: the corners of a cube in four dimensions
	for i := range 16 {
		for d := range 4 {
			x.Set(i, d, float64(2*(i>>d&1)-1))
		}
	}
	names := func(k kernel.Kernel) string {
		var all []string
		for _, p := range k.Params() {
			all = append(all, fmt.Sprintf("%s %.3g", p.Name, p.Start))
		}
		return fmt.Sprint(all)
	}
	for got, want := range map[string]string{
		names(kernel.Smooth(x, nil, kernel.RBF)): "[smooth/variance 1 length 3]",
		names(kernel.Smooth(x, []int{0, 1, 1, 1}, kernel.RBF)): "[smooth/variance 1 length/group 1 2.12 length/" +
			"group 2 3.67]",
		names(kernel.Smooth(x, []int{0, 1, 1, 1}, kernel.Matern32, "lanes",
			"income")): "[smooth/variance 1 length/lanes 2.12 length/income 3.67]",
		names(kernel.Sum(kernel.Linear(x), kernel.Linear(x), kernel.Sum(kernel.Linear(x), kernel.Smooth(x, nil, kernel.RBF)),
			kernel.Product(kernel.Smooth(x, nil, kernel.RBF), kernel.Smooth(x, nil,
				kernel.RBF)))): "[linear/variance 0.25 linear/variance (2) 0.25 linear/variance (3) 0.25 smooth/variance 1 length 3 smooth/variance " +
			"(2) 1 length (2) 3 length (2) (2) 3]",
	} {
		if got != want {
			t.Errorf("parameters %s, want %s", got, want)
		}
	}
}

// A column of one value has a start all the same, and so has a matrix of zeros.
func TestStartsWithoutVariance(t *testing.T) {
	t.Parallel()
	x := mat.NewDense(20, 2, nil)
	for i := range 20 {
		x.Set(i, 0, float64(i%2))
	}
	for want, k := range map[string]kernel.Kernel{
		"[[1 1.061 2.121]]": kernel.Smooth(x, []int{0, 1}, kernel.RBF),
		"[[2]]":             kernel.Linear(x),
		"[[1]]":             kernel.Linear(mat.NewDense(20, 2, nil)),
	} {
		if got := fmt.Sprintf("%.4g", kernel.Starts(k)); got != want {
			t.Errorf("starts %s, want %s", got, want)
		}
	}
}

// What cannot be a kernel of covariates is refused.
func TestSmoothRefuses(t *testing.T) {
	t.Parallel()
	x := covariates(20, 3)
	for name, make := range map[string]func(){
		"groups for other columns": func() { kernel.Smooth(x, []int{0, 1}, kernel.RBF) },
		"a group without columns":  func() { kernel.Smooth(x, []int{0, 2, 2}, kernel.RBF) },
		"a negative group":         func() { kernel.Smooth(x, []int{0, -1, 1}, kernel.RBF) },
		"too few names":            func() { kernel.Smooth(x, []int{0, 0, 1}, kernel.RBF, "one") },
		"no shape":                 func() { kernel.Smooth(x, nil, kernel.Shape(9)) },
		"no features":              func() { kernel.Fourier(x, nil, kernel.RBF, 0, 1) },
		"a short trend":            func() { kernel.Trend(kernel.Constant(20), []float64{1}) },
		"factors of other sizes":   func() { kernel.Product(kernel.Constant(20), kernel.Constant(21)) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("accepted")
				}
			}()
			make()
		})
	}
}

// Many nodes, so that Cross forms several blocks and draws use features: products
// are those of the definition, and the covariance of draws is K.
func TestSmoothManyNodes(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const n, draws = 1500, 400
	x := covariates(n, 3)
	group := []int{0, 1, 1}
	lengths := []float64{2, 3}
	for _, shape := range kernel.Shapes() {
		cov := at(t, kernel.Smooth(x, group, shape), append([]float64{1.5}, lengths...))
		rows := make([]int, n)
		for i := range rows {
			rows[i] = n - 1 - i
		}
		cols := slices.Concat(rows[100:], rows, rows, rows[:400])
		v := covariates(len(cols), 2)
		got := mat.NewDense(n, 2, nil)
		if err := cov.Cross(rows, cols).Apply(t.Context(), got, v); err != nil {
			t.Fatal(err)
		}
		for _, a := range []int{0, 511, 512, 1100, n - 1} {
			want := 0.0
			for b, j := range cols {
				want += 1.5 * correlation(shape, x, group, lengths, rows[a], j) * v.At(b, 1)
			}
			if math.Abs(got.At(a, 1)-want) > 1e-9 {
				t.Errorf("%v: product at row %d is %v, want %v", shape, a, got.At(a, 1), want)
			}
		}
		// A mean over 400 draws of a product has a relative sd of at most √(2/400) =
		// 0.071, and features add 0.023: five sds of both are 0.37 of s².
		z := mat.NewDense(n, draws, nil)
		if err := cov.Prior(t.Context(), z, 5); err != nil {
			t.Fatal(err)
		}
		for p := range 300 {
			i, j := p, (p*37+11)%n
			sum := 0.0
			for s := range draws {
				sum += z.At(i, s) * z.At(j, s) / draws
			}
			off := sum/1.5 - correlation(shape, x, group, lengths, i, j)
			if math.Abs(off) > 0.37 {
				t.Errorf("%v: nodes %d and %d have the covariance %v beside %v", shape, i, j, sum, off)
			}
		}
	}
}

// Rows in blocks give the derivatives of one pass.
func TestSmoothGradBlocks(t *testing.T) {
	t.Parallel()
	const n = 1300
	x := covariates(n, 5)
	k := kernel.Smooth(x, []int{0, 0, 1, 1, 1}, kernel.Matern52)
	cov := at(t, k, []float64{1.2, 2, 3})
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
	got, want := make([]float64, 3), make([]float64, 3)
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

// Columns far from zero lose no digits.
func TestSmoothCentres(t *testing.T) {
	t.Parallel()
	near := covariates(40, 2)
	far := mat.DenseCopyOf(near)
	far.Apply(func(_, _ int, v float64) float64 { return v + 1e6 }, far)
	theta := []float64{1, 2}
	if a, b := gramOfAll(t, kernel.Smooth(near, nil, kernel.RBF), theta),
		gramOfAll(t, kernel.Smooth(far, nil, kernel.RBF), theta); !mat.EqualApprox(a, b, 1e-9) {
		t.Error("the kernel changes when a column is shifted")
	}
}
