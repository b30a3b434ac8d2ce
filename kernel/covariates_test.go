package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel"
	"grfgp/kernel/kerneltest"
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

// words is a matrix of n rows of unit length with few entries; one row has none.
func words(n, vocabulary, each int) *mat.Dense {
	random := rand.New(rand.NewPCG(9, uint64(n)))
	x := mat.NewDense(n, vocabulary, nil)
	for i := range n {
		if i == 3 {
			continue
		}
		for _, j := range random.Perm(vocabulary)[:each] {
			x.Set(i, j, 1/math.Sqrt(float64(each)))
		}
	}
	return x
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
	denseWords := words(n, 30, 4)
	all := map[string]leaf{
		"constant":      {kernel.Constant(n), []float64{0.7}, func(i, j int) float64 { return 0.7 }},
		"linear":        {kernel.Linear(x), []float64{0.7}, func(i, j int) float64 { return 0.7 * inner(x, i, j) }},
		"linear, wide":  {kernel.Linear(wide), []float64{0.7}, func(i, j int) float64 { return 0.7 * inner(wide, i, j) }},
		"linear, words": {kernel.Linear(denseWords), []float64{0.7}, func(i, j int) float64 { return 0.7 * inner(denseWords, i, j) }},
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
		all["smooth, wide by groups "+shape.String()] = leaf{
			kernel.Smooth(wide, wideGroup, shape), []float64{1.3, 6, 9, 2}, func(i, j int) float64 {
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
	t.Parallel()
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
