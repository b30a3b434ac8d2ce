package kernel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel"
	"grfgp/kernel/kerneltest"
	"grfgp/sparse"
)

// covariates is a fixed matrix of n rows without structure; the last row is like the
// first.
func covariates(n, columns int) *mat.Dense {
	x, random := mat.NewDense(n, columns, nil), rand.New(rand.NewPCG(4, uint64(columns)))
	for i := range n {
		for d := range columns {
			x.Set(i, d, random.NormFloat64())
		}
	}
	x.SetRow(n-1, x.RawRowView(0))
	return x
}

// words is a sparse matrix of n rows of unit length, and the same as a dense one.
// Its rows are not sorted; one has a word twice, and one has none.
func words(t *testing.T, n, vocabulary, each int) (*sparse.CSR, *mat.Dense) {
	t.Helper()
	random := rand.New(rand.NewPCG(9, uint64(n)))
	ptr := []int{0}
	var col []uint32
	var val []float64
	dense := mat.NewDense(n, vocabulary, nil)
	for i := range n {
		if i != 3 {
			for _, j := range random.Perm(vocabulary)[:each] {
				col, val = append(col, uint32(j)), append(val, 1/math.Sqrt(float64(each)))
			}
			if i == 5 {
				col[len(col)-1] = col[len(col)-2]
			}
		}
		for p := ptr[i]; p < len(col); p++ {
			dense.Set(i, int(col[p]), dense.At(i, int(col[p]))+val[p])
		}
		ptr = append(ptr, len(col))
	}
	x, err := sparse.NewCSR(n, vocabulary, ptr, col, val)
	if err != nil {
		t.Fatal(err)
	}
	return x, dense
}

const covariateNodes = 60

// leaves are kernels of covariates with hyperparameters and the entries that their
// definitions give.
type leaf struct {
	kernel kernel.Kernel
	theta  []float64
	entry  func(i, j int) float64
}

func leaves(t *testing.T) map[string]leaf {
	n := covariateNodes
	x, wide := covariates(n, 7), covariates(n, 40)
	inner := func(x *mat.Dense, i, j int) float64 { return mat.Dot(x.RowView(i), x.RowView(j)) }
	sparseWords, denseWords := words(t, n, 30, 4)
	all := map[string]leaf{
		"constant":      {kernel.Constant(n), []float64{0.7}, func(i, j int) float64 { return 0.7 }},
		"linear":        {kernel.Linear(x), []float64{0.7}, func(i, j int) float64 { return 0.7 * inner(x, i, j) }},
		"linear, wide":  {kernel.Linear(wide), []float64{0.7}, func(i, j int) float64 { return 0.7 * inner(wide, i, j) }},
		"linear, words": {kernel.LinearSparse(sparseWords), []float64{0.7}, func(i, j int) float64 { return 0.7 * inner(denseWords, i, j) }},
	}
	group, wideGroup := []int{0, 1, 1, 0, 2, 2, 2}, make([]int, 40)
	for d := range wideGroup { // two groups to cache, one not
		wideGroup[d] = d % 2
	}
	wideGroup[7] = 2
	for _, shape := range kernel.Shapes() {
		all["smooth "+shape.String()] = leaf{kernel.Smooth(x, nil, shape), []float64{1.3, 2.5}, func(i, j int) float64 {
			return 1.3 * correlation(shape, x, make([]int, 7), []float64{2.5}, i, j)
		}}
		all["smooth by groups "+shape.String()] = leaf{kernel.Smooth(x, group, shape), []float64{1.3, 2, 3, 1.5}, func(i, j int) float64 {
			return 1.3 * correlation(shape, x, group, []float64{2, 3, 1.5}, i, j)
		}}
		all["smooth, wide "+shape.String()] = leaf{kernel.Smooth(wide, nil, shape), []float64{1.3, 8}, func(i, j int) float64 {
			return 1.3 * correlation(shape, wide, make([]int, 40), []float64{8}, i, j)
		}}
		all["smooth, wide by groups "+shape.String()] = leaf{kernel.Smooth(wide, wideGroup, shape), []float64{1.3, 6, 9, 2}, func(i, j int) float64 {
			return 1.3 * correlation(shape, wide, wideGroup, []float64{6, 9, 2}, i, j)
		}}
	}
	return all
}

// correlation is k(r) as in the documentation of the shapes.
func correlation(shape kernel.Shape, x *mat.Dense, group []int, length []float64, i, j int) float64 {
	r2 := 0.0
	for d, g := range group {
		v := (x.At(i, d) - x.At(j, d)) / length[g]
		r2 += v * v
	}
	switch r := math.Sqrt(r2); shape {
	case kernel.Matern32:
		return (1 + math.Sqrt(3)*r) * math.Exp(-math.Sqrt(3)*r)
	case kernel.Matern52:
		return (1 + math.Sqrt(5)*r + 5*r*r/3) * math.Exp(-math.Sqrt(5)*r)
	}
	return math.Exp(-r2 / 2)
}

// Kernels of covariates have the entries that their definitions give, with and
// without a cache.
func TestCovariateEntries(t *testing.T) {
	for name, l := range leaves(t) {
		t.Run(name, func(t *testing.T) {
			rows := make([]int, l.kernel.Nodes())
			for i := range rows {
				rows[i] = i
			}
			for _, k := range []kernel.Kernel{l.kernel, kernel.Cached(l.kernel, rows, 1<<24)} {
				gram := gramOfAll(t, k, l.theta)
				for i := range rows {
					for j := range rows {
						if want := l.entry(i, j); math.Abs(gram.At(i, j)-want) > 1e-12 {
							t.Fatalf("entry %d, %d is %v, want %v", i, j, gram.At(i, j), want)
						}
					}
				}
			}
		})
	}
}

// Kernels of covariates satisfy the contract of kernels.
func TestCovariateContract(t *testing.T) {
	for name, l := range leaves(t) {
		t.Run(name, func(t *testing.T) {
			kerneltest.Run(t, l.kernel, kerneltest.Options{Theta: l.theta})
		})
	}
}

// Lengths are named, and start so that typical nodes are correlated.
func TestSmoothParams(t *testing.T) {
	x := covariates(20, 4)
	names := func(k kernel.Kernel) string {
		var all []string
		for _, p := range k.Params() {
			all = append(all, fmt.Sprintf("%s %.3g", p.Name, p.Start))
		}
		return fmt.Sprint(all)
	}
	for got, want := range map[string]string{
		names(kernel.Smooth(x, nil, kernel.RBF)):                                       "[smooth variance 1 length 3]",
		names(kernel.Smooth(x, []int{0, 1, 1, 1}, kernel.RBF)):                         "[smooth variance 1 length of group 1 2.12 length of group 2 3.67]",
		names(kernel.Smooth(x, []int{0, 1, 1, 1}, kernel.Matern32, "lanes", "income")): "[smooth variance 1 length of lanes 2.12 length of income 3.67]",
		names(kernel.Sum(kernel.Linear(x), kernel.Linear(x), kernel.Sum(kernel.Linear(x), kernel.Smooth(x, nil, kernel.RBF)), kernel.Product(kernel.Smooth(x, nil, kernel.RBF), kernel.Smooth(x, nil, kernel.RBF)))): "[linear variance 1 linear variance (2) 1 linear variance (3) 1 smooth variance 1 length 3 smooth variance (2) 1 length (2) 3 length (2) (2) 3]",
	} {
		if got != want {
			t.Errorf("parameters %s, want %s", got, want)
		}
	}
}

// What cannot be a kernel of covariates is refused.
func TestSmoothRefuses(t *testing.T) {
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

// The features of Fourier estimate Smooth without bias, with a variance of at most
// 1/(2·pairs) per entry: the mean square over 190 entries, which are not
// independent, must be below three times that. Its diagonal is exact.
func TestFourierEntries(t *testing.T) {
	const n, pairs = 20, 4000
	x, group := covariates(n, 5), []int{0, 0, 1, 1, 1}
	theta := []float64{1, 2, 2.5}
	for _, shape := range kernel.Shapes() {
		got := gramOfAll(t, kernel.Fourier(x, group, shape, pairs, 3), theta)
		want := gramOfAll(t, kernel.Smooth(x, group, shape), theta)
		square := 0.0
		for i := range n {
			if math.Abs(got.At(i, i)-1) > 1e-12 {
				t.Errorf("%v: variance %v, want 1", shape, got.At(i, i))
			}
			for j := range i {
				off := got.At(i, j) - want.At(i, j)
				square += off * off / 190
			}
		}
		if square > 3./(2*pairs) {
			t.Errorf("%v: mean square error %v, want at most %v", shape, square, 3./(2*pairs))
		}
	}
}

// Features satisfy the contract of kernels, few and many.
func TestFourierContract(t *testing.T) {
	x, group := covariates(50, 5), []int{0, 0, 1, 1, 1}
	for _, shape := range kernel.Shapes() {
		for _, pairs := range []int{3, 60} {
			t.Run(fmt.Sprint(shape, pairs), func(t *testing.T) {
				kerneltest.Run(t, kernel.Fourier(x, group, shape, pairs, 1), kerneltest.Options{})
			})
		}
	}
}

// Rows in blocks give the derivatives of one pass.
func TestSmoothGradBlocks(t *testing.T) {
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
	near := covariates(40, 2)
	far := mat.DenseCopyOf(near)
	far.Apply(func(_, _ int, v float64) float64 { return v + 1e6 }, far)
	theta := []float64{1, 2}
	if a, b := gramOfAll(t, kernel.Smooth(near, nil, kernel.RBF), theta), gramOfAll(t, kernel.Smooth(far, nil, kernel.RBF), theta); !mat.EqualApprox(a, b, 1e-9) {
		t.Error("the kernel changes when a column is shifted")
	}
}

// graphKernels are hubKernels on the same number of nodes.
func graphKernels(t *testing.T) (map[string]kernel.Kernel, int) {
	hubs := hubKernels(t)
	n := hubs["series"].Nodes()
	hubs["features"] = newGRF(t, features(t, n), kernel.Diffusion{})
	hubs["free coefficients"] = newGRF(t, features(t, n), kernel.Free{Len: 3})
	return hubs, n
}

// compositions are sums and products of kernels of all kinds.
func compositions(t *testing.T) map[string]kernel.Kernel {
	hubs, n := graphKernels(t)
	x, wide := covariates(n, 5), covariates(n, 24)
	text, _ := words(t, n, 40, 5)
	smooth := kernel.Smooth(x, []int{0, 0, 1, 1, 1}, kernel.Matern52)
	return map[string]kernel.Kernel{
		"a sum of covariates":         kernel.Sum(kernel.Linear(x), kernel.LinearSparse(text), kernel.Smooth(wide, nil, kernel.RBF), smooth),
		"a sum of low rank":           kernel.Sum(kernel.Linear(x), kernel.Constant(n), kernel.Linear(wide)),
		"graph and covariates":        kernel.Sum(hubs["series"], kernel.Linear(wide), smooth, kernel.Linear(x), kernel.Smooth(wide, nil, kernel.RBF)),
		"scales and covariates":       kernel.Sum(hubs["many scales"], kernel.Linear(wide), kernel.Linear(x)),
		"covariates and features":     kernel.Sum(kernel.Linear(x), smooth, hubs["features"]),
		"graph × linear":              kernel.Product(hubs["features"], kernel.Linear(x)),
		"linear × graph":              kernel.Product(kernel.Linear(x), hubs["features"]),
		"unit variance × linear":      kernel.Product(kernel.UnitVariance(hubs["features"]), kernel.Sum(kernel.Constant(n), kernel.Linear(x))),
		"sum × constant and few":      kernel.Product(kernel.Sum(hubs["series"], kernel.Linear(x)), kernel.Sum(kernel.Constant(n), kernel.Linear(x))),
		"graph + linear + product":    kernel.Sum(hubs["features"], kernel.Linear(wide), smooth, kernel.Product(hubs["series"], kernel.Linear(x))),
		"free coefficients × linear":  kernel.Product(hubs["free coefficients"], kernel.Linear(x)),
		"a product of three":          kernel.Product(kernel.Product(hubs["series"], kernel.Linear(x)), kernel.Sum(kernel.Constant(n), kernel.Linear(x))),
		"unit variance of a sum":      kernel.UnitVariance(kernel.Sum(hubs["features"], kernel.Linear(wide), smooth)),
		"unit variance × a constant":  kernel.Product(kernel.UnitVariance(hubs["many scales"]), kernel.Constant(n)),
		"features and Fourier":        kernel.Sum(hubs["features"], kernel.Fourier(x, []int{0, 0, 1, 1, 1}, kernel.RBF, 30, 1), kernel.Linear(x)),
		"scales and Fourier":          kernel.Sum(hubs["many scales"], kernel.Fourier(x, nil, kernel.Matern52, 30, 1)),
		"features × few Fourier":      kernel.Product(hubs["features"], kernel.Fourier(x, []int{0, 0, 1, 1, 1}, kernel.RBF, 5, 1)),
		"few Fourier × many features": kernel.Product(kernel.Fourier(x, []int{0, 0, 1, 1, 1}, kernel.Matern32, 5, 1), hubs["features"]),
	}
}

// Sums and products of graph kernels and kernels of covariates satisfy the contract.
func TestCovariateCompositions(t *testing.T) {
	for name, k := range compositions(t) {
		t.Run(name, func(t *testing.T) { kerneltest.Run(t, k, kerneltest.Options{Draws: 2000}) })
	}
}

// Products without a factor of low rank draw 128 products for each draw: fewer draws
// keep the test short.
func TestDenseProducts(t *testing.T) {
	hubs, n := graphKernels(t)
	x := covariates(n, 5)
	text, _ := words(t, n, 1100, 5)
	smooth := kernel.Smooth(x, []int{0, 0, 1, 1, 1}, kernel.Matern52)
	for name, k := range map[string]kernel.Kernel{
		"graph × smooth":             kernel.Product(hubs["series"], smooth),
		"unit variance × smooth":     kernel.Product(kernel.UnitVariance(hubs["features"]), smooth),
		"graph × constant and words": kernel.Product(hubs["features"], kernel.Sum(kernel.Constant(n), kernel.LinearSparse(text))),
		"features × many Fourier":    kernel.Product(hubs["features"], kernel.Fourier(x, nil, kernel.RBF, 80, 1)),
	} {
		t.Run(name, func(t *testing.T) { kerneltest.Run(t, k, kerneltest.Options{Draws: 400}) })
	}
}

// The entries of a product are products of entries, with 1 for the variance of the
// second factor.
func TestProductEntries(t *testing.T) {
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
	if want := []string{"variance", "kappa", "smooth variance", "length"}; !slices.Equal(names, want) {
		t.Fatalf("parameters %q, want %q", names, want)
	}
	left, right := gramOfAll(t, a, []float64{2, 1.5}), gramOfAll(t, b, []float64{1, 0.3, 2.5})
	var want mat.Dense
	want.MulElem(left, right)
	if got := gramOfAll(t, k, []float64{2, 1.5, 0.3, 2.5}); !mat.EqualApprox(got, &want, 1e-13) {
		t.Error("a product is not the product of its factors")
	}
}

// Sums and products keep the abilities of their parts.
func TestCovariateAbilitiesAreForwarded(t *testing.T) {
	for name, k := range hubKernels(t) {
		t.Run(name, func(t *testing.T) {
			n := k.Nodes()
			x, wide := covariates(n, 3), covariates(n, 20)
			kerneltest.Forwards(t, k, kernel.Sum(kernel.Linear(x), k))
			for _, inner := range []kernel.Kernel{kernel.Linear(wide), kernel.Smooth(wide, nil, kernel.RBF), kernel.Fourier(x, nil, kernel.RBF, 20, 1)} {
				kerneltest.Forwards(t, inner, kernel.Sum(k, inner))
			}
			product := kernel.Product(k, kernel.Smooth(wide, nil, kernel.RBF))
			of, in := kernel.AbilitiesOf(at(t, product, kernel.Starts(product)[0])), kernel.AbilitiesOf(at(t, k, kernel.Starts(k)[0]))
			if (of.DiagFlops == nil) != (in.DiagFlops == nil) || of.LongRange != in.LongRange || of.Fine != nil != (in.Fine != nil) || len(of.Coarse) != len(in.Coarse) {
				t.Errorf("a product has %+v, its factor %+v", of, in)
			}
			if before, after := kernel.TrainingOf(k), kernel.TrainingOf(product); len(after.Starts) != len(before.Starts) || after.Cache == nil {
				t.Error("a product loses starts or caches")
			}
		})
	}
}

// Terms that correlate all nodes are no part of the local covariance; alone they are
// all there is.
func TestEverywhere(t *testing.T) {
	k := newGRF(t, ringFeatures(t, 60, 3), kernel.Diffusion{})
	x := covariates(60, 3)
	linear, smooth := kernel.Linear(x), kernel.Smooth(x, nil, kernel.RBF)
	for name, c := range map[string]struct {
		kernel     kernel.Kernel
		everywhere bool
		connected  bool // to a node far away
	}{
		"graph":                  {k, false, false},
		"graph and covariates":   {kernel.Sum(linear, k, smooth, kernel.Constant(60)), false, false},
		"covariates":             {kernel.Sum(linear, smooth, kernel.Constant(60)), true, true},
		"graph × covariates":     {kernel.Product(k, smooth), false, false},
		"graph × 1 + covariates": {kernel.Sum(kernel.Product(k, kernel.Sum(kernel.Constant(60), linear)), linear), false, false},
		"sum × covariates":       {kernel.Product(kernel.Sum(k, linear), smooth), false, false},
		"covariates × same":      {kernel.Product(linear, smooth), true, true},
	} {
		cov := at(t, c.kernel, kernel.Starts(c.kernel)[0])
		if got := kernel.AbilitiesOf(cov).Everywhere; got != c.everywhere {
			t.Errorf("%s: everywhere is %v, want %v", name, got, c.everywhere)
		}
		connected, err := kernel.Connected(t.Context(), cov, []int{0, 30}, []int{1})
		if err != nil {
			t.Fatal(err)
		}
		if !connected[0] || connected[1] != c.connected {
			t.Errorf("%s: neighbours and distant nodes are connected: %v", name, connected)
		}
	}
}
