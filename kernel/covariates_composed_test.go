package kernel_test

import (
	"maps"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/testkit"
	"grfgp/kernel"
	"grfgp/kernel/kerneltest"
	"grfgp/space"
)

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
	text := words(n, 40, 5)
	smooth := kernel.Smooth(x, []int{0, 0, 1, 1, 1}, kernel.Matern52)
	return map[string]kernel.Kernel{
		"a sum of covariates": kernel.Sum(kernel.Linear(x), kernel.Linear(text), kernel.Smooth(wide, nil, kernel.RBF), smooth),
		"a sum of low rank":   kernel.Sum(kernel.Linear(x), kernel.Constant(n), kernel.Linear(wide)),
		"graph and covariates": kernel.Sum(hubs["series"], kernel.Linear(wide), smooth, kernel.Linear(x),
			kernel.Smooth(wide, nil, kernel.RBF)),
		"scales and covariates":   kernel.Sum(hubs["many scales"], kernel.Linear(wide), kernel.Linear(x)),
		"covariates and features": kernel.Sum(kernel.Linear(x), smooth, hubs["features"]),
		"graph × linear":          kernel.Product(hubs["features"], kernel.Linear(x)),
		"linear × graph":          kernel.Product(kernel.Linear(x), hubs["features"]),
		"unit variance × linear":  kernel.Product(kernel.UnitVariance(hubs["features"]), kernel.Sum(kernel.Constant(n), kernel.Linear(x))),
		"sum × constant and few": kernel.Product(kernel.Sum(hubs["series"], kernel.Linear(x)),
			kernel.Sum(kernel.Constant(n), kernel.Linear(x))),
		"graph + linear + product": kernel.Sum(hubs["features"], kernel.Linear(wide), smooth,
			kernel.Product(hubs["series"], kernel.Linear(x))),
		"free coefficients × linear": kernel.Product(hubs["free coefficients"], kernel.Linear(x)),
		"a product of three": kernel.Product(kernel.Product(hubs["series"], kernel.Linear(x)),
			kernel.Sum(kernel.Constant(n), kernel.Linear(x))),
		"unit variance of a sum":     kernel.UnitVariance(kernel.Sum(hubs["features"], kernel.Linear(wide), smooth)),
		"unit variance × a constant": kernel.Product(kernel.UnitVariance(hubs["many scales"]), kernel.Constant(n)),
		"linear twice, one scaled":   kernel.Sum(kernel.UnitVariance(kernel.Linear(x)), kernel.Linear(x)),
		"linear within and beside": kernel.Sum(kernel.UnitVariance(kernel.Sum(hubs["features"], kernel.Linear(x))), kernel.Linear(x),
			kernel.Linear(wide)),
		"scales and features":      kernel.Sum(hubs["many scales"], hubs["features"]),
		"linear over time and not": kernel.Sum(kernel.OverTime(kernel.Linear(covariates(n/4, 5)), []float64{0, 1, 2, 4}), kernel.Linear(x)),
		"covariates over time": kernel.OverTime(kernel.Sum(kernel.Linear(covariates(30, 5)),
			kernel.Smooth(covariates(30, 20), nil, kernel.RBF)), []float64{0, 1, 3}),
		"time × covariates": kernel.Product(kernel.OverTime(kernel.Smooth(covariates(n/4, 2), nil, kernel.RBF), []float64{0, 1, 2, 4}),
			kernel.Linear(x)),
		"features and Fourier":        kernel.Sum(hubs["features"], kernel.Fourier(x, []int{0, 0, 1, 1, 1}, kernel.RBF, 30, 1), kernel.Linear(x)),
		"scales and Fourier":          kernel.Sum(hubs["many scales"], kernel.Fourier(x, nil, kernel.Matern52, 30, 1)),
		"features × few Fourier":      kernel.Product(hubs["features"], kernel.Fourier(x, []int{0, 0, 1, 1, 1}, kernel.RBF, 5, 1)),
		"few Fourier × many features": kernel.Product(kernel.Fourier(x, []int{0, 0, 1, 1, 1}, kernel.Matern32, 5, 1), hubs["features"]),
	}
}

// Sums and products of graph kernels and kernels of covariates satisfy the contract.
func TestCovariateCompositions(t *testing.T) {
	all := compositions(t)
	for _, name := range testkit.FewIfRaced(8, slices.Sorted(maps.Keys(all))) {
		t.Run(name, func(t *testing.T) { kerneltest.Run(t, all[name], kerneltest.Options{Draws: 2000}) })
	}
}

// Sums and products keep the abilities of their parts.
func TestCovariateAbilitiesAreForwarded(t *testing.T) {
	for name, k := range hubKernels(t) {
		t.Run(name, func(t *testing.T) {
			n := k.Nodes()
			x, wide := covariates(n, 3), covariates(n, 20)
			kerneltest.Forwards(t, k, kernel.Sum(kernel.Linear(x), k))
			for _, inner := range []kernel.Kernel{kernel.Linear(wide), kernel.Smooth(wide, nil, kernel.RBF),
				kernel.Fourier(x, nil, kernel.RBF, 20, 1)} {
				kerneltest.Forwards(t, inner, kernel.Sum(k, inner))
			}
			product := kernel.Product(k, kernel.Smooth(wide, nil, kernel.RBF))
			of, in := kernel.AbilitiesOf(at(t, product, kernel.Starts(product)[0])), kernel.AbilitiesOf(at(t, k, kernel.Starts(k)[0]))
			if (of.DiagFlops == nil) != (in.DiagFlops == nil) || of.LongRange != in.LongRange || of.Fine != nil != (in.Fine != nil) ||
				len(of.Coarse) != len(in.Coarse) {
				t.Errorf("a product has %+v, its factor %+v", of, in)
			}
			if before, after := kernel.TrainingOf(k), kernel.TrainingOf(product); len(after.Starts) != len(before.Starts) || after.Cache == nil {
				t.Error("a product loses starts or caches")
			}
		})
	}
}

// A preconditioner of a sum has its terms of low rank: with them the preconditioned
// system is as well conditioned as without the terms.
func TestPreconditionLowRank(t *testing.T) {
	t.Parallel()
	hubs, n := graphKernels(t)
	x := covariates(n, 5)
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	noise := slices.Repeat([]float64{0.05}, n)
	condition := func(k kernel.Kernel, theta []float64) float64 {
		p := precondition(t, k, theta, rows, 0, noise)
		h := mat.DenseCopyOf(gramOfAll(t, k, theta))
		for i := range n {
			h.Set(i, i, h.At(i, i)+noise[i])
		}
		whiten := func(x mat.Matrix) *mat.Dense {
			in := here(x)
			out := in.Like()
			p.Whiten(out, in)
			return space.DenseOf(out)
		}
		white := whiten(whiten(h).T())
		s := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				s.SetSym(i, j, (white.At(i, j)+white.At(j, i))/2)
			}
		}
		var eig mat.EigenSym
		if !eig.Factorize(s, false) {
			t.Fatal("no eigenvalues")
		}
		values := eig.Values(nil)
		return values[n-1] / values[0]
	}
	scales := hubs["many scales"]
	start := kernel.Starts(scales)[0]
	alone := condition(scales, start)
	with := condition(kernel.Sum(kernel.Linear(x), scales, kernel.Fourier(x, nil, kernel.RBF, 20, 1)),
		slices.Concat([]float64{100}, start, []float64{100, 3}))
	if with > 1.01*alone {
		t.Errorf("condition number %v with terms of low rank, %v without", with, alone)
	}
	if exact := condition(kernel.Sum(kernel.Linear(x), kernel.Constant(n), kernel.Fourier(x, nil, kernel.RBF, 20, 1)),
		[]float64{100, 10, 100, 3}); exact > 1+1e-6 {
		t.Errorf("condition number %v of a sum of low rank, want 1", exact)
	}
}

// Caches of known size leave the rest of the memory to a cache that can use all.
func TestCacheShares(t *testing.T) {
	t.Parallel()
	hubs, n := graphKernels(t)
	wide := covariates(n, 20)
	given := 0
	greedy := greedyKernel{hubs["series"], &given}
	k := kernel.Sum(greedy, kernel.Linear(wide), kernel.Smooth(wide, nil, kernel.RBF))
	rows := []int{1, 2, 3, 4}
	kernel.Cached(k, rows, 100_000)
	if want := 100_000 - 2*8*10; given != want {
		t.Errorf("the series gets %d bytes, want %d", given, want)
	}
	if kernel.TrainingOf(k).CacheBytes != nil {
		t.Error("a sum with a cache of any size has a known size")
	}
	if bytes := kernel.TrainingOf(kernel.Sum(kernel.Linear(wide), kernel.Smooth(wide, nil, kernel.RBF))).CacheBytes; bytes == nil ||
		bytes(4) != 2*8*10 {
		t.Error("a sum of caches of known size does not have their size")
	}
}

// greedyKernel notes the memory that its cache gets.
type greedyKernel struct {
	kernel.Kernel
	given *int
}

func (k greedyKernel) Training() kernel.Training {
	return kernel.Training{Cache: func(_ []int, maxBytes int) kernel.Kernel { *k.given = maxBytes; return k }}
}

// Terms that correlate all nodes are no part of the local covariance; alone they are
// all there is.
func TestEverywhere(t *testing.T) {
	t.Parallel()
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
		"graph over time":        {kernel.OverTime(newGRF(t, ringFeatures(t, 60, 3), kernel.Diffusion{}), []float64{0, 1}), false, false},
		"covariates over time":   {kernel.OverTime(linear, []float64{0, 1}), true, true},
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
