package solve

import (
	"context"
	"errors"
	"math"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/testkit"
)

// logDetOf is System.LogDet of an operator, with a preconditioner of this process; nil: none.
func logDetOf(ctx context.Context, a Operator, noise []float64, p Factored, opts LogDetOptions) (value, se float64, err error) {
	s := SystemOf(a, noise)
	if p != nil {
		s.Precond = p
	}
	return s.LogDet(ctx, opts)
}

func TestLogDet(t *testing.T) {
	t.Parallel()
	const n = 80
	a, noise := lowRankMatrix(t, n, 40, 1), variances(n)
	want := logDet(t, a.shifted(noise))
	var errs []float64
	for _, c := range []struct {
		name    string
		precond Factored
		probes  int
		steps   int
	}{
		{"plain", nil, 32, 50},
		{"Jacobi", jacobi(t, a.diag(), noise), 32, 50},
		{"leading", leading(t, a, noise, 25), 32, 20},
	} {
		value, se, err := logDetOf(background, a, noise, c.precond, LogDetOptions{Probes: c.probes, Steps: c.steps, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %g ± %g, exactly %g", c.name, value, se, want)
		// Four standard errors: a fixed seed, so this passes always or never.
		if math.Abs(value-want) > 4*se {
			t.Errorf("%s: %g ± %g, want %g", c.name, value, se, want)
		}
		errs = append(errs, se)
	}
	if errs[2] > errs[0]/5 {
		t.Errorf("standard error %g with a preconditioner, %g without", errs[2], errs[0])
	}
}

// TestLogDetError: the standard error is that of the estimate, by its spread over
// 400 seeds, which knows a standard deviation to 3.5 %: five times that is allowed.
// It falls with the root of the number of probes.
func TestLogDetError(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const n, seeds = 60, 400
	a, noise := lowRankMatrix(t, n, 30, 1), variances(n)
	for _, probes := range []int{4, 16} {
		sum, square, said := 0.0, 0.0, 0.0
		for seed := range uint64(seeds) {
			value, se, err := SystemOf(a, noise).LogDet(background, LogDetOptions{Probes: probes, Steps: 20, Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			sum += value / seeds
			square += value * value / seeds
			said += se * se / seeds
		}
		spread := math.Sqrt((square - sum*sum) * seeds / (seeds - 1))
		if ratio := math.Sqrt(said) / spread; math.Abs(ratio-1) > 0.18 {
			t.Errorf("%d probes: standard errors are %.3f times the spread %.3g over seeds", probes, ratio, spread)
		}
	}
}

// TestLogDetExact: nothing is left to chance for a diagonal matrix, and when
// the preconditioner is the matrix; nor to quadrature with n steps.
func TestLogDetExact(t *testing.T) {
	t.Parallel()
	const n = 70
	a, noise := withCondition(t, n, 1e3, 1), variances(n)
	want := logDet(t, a.shifted(noise))
	value, se, err := logDetOf(background, a, noise, leading(t, a, noise, n), LogDetOptions{Probes: 3, Steps: 5})
	if err != nil || math.Abs(value-want) > 1e-9 || se > 1e-9 {
		t.Errorf("full preconditioner: %g ± %g, want %g: %v", value, se, want, err)
	}

	diagonal := withSpectrum(t, make([]float64, n), 1)
	sum := 0.0
	for _, v := range noise {
		sum += math.Log(v)
	}
	value, se, err = SystemOf(diagonal, noise).LogDet(background, LogDetOptions{Probes: 3, Steps: n})
	if err != nil || math.Abs(value-sum) > 1e-9 || se > 1e-9 {
		t.Errorf("diagonal: %g ± %g, want %g: %v", value, se, sum, err)
	}

	// The quadrature of one probe is zᵀ·log(H)·z, and the mean over a whole
	// orthogonal set of probes is the trace: here n = 2, probes (1,1), (1,−1).
	two := withSpectrum(t, []float64{1, 9}, 4)
	values, err := SystemOf(two, make([]float64, 2)).quadratures(background, LogDetOptions{Probes: 20, Steps: 10}, basisFloats)
	if err != nil {
		t.Fatal(err)
	}
	other := math.NaN()
	for _, v := range values {
		if math.Abs(v-values[0]) > 1e-9 {
			other = v
		}
	}
	if got := (values[0] + other) / 2; math.Abs(got-math.Log(9)) > 1e-12 {
		t.Errorf("mean of the two quadratures %g, want %g", got, math.Log(9))
	}
}

// TestLogDetGroups: the probes that share products do not show in the result,
// nor does the number of processors.
func TestLogDetGroups(t *testing.T) {
	const n, steps = 1500, 8
	noise := constant(n, 0.5)
	opts := LogDetOptions{Probes: 5, Steps: steps, Seed: 1}
	want, err := SystemOf(laplacian(n), noise).quadratures(background, opts, basisFloats)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ room, procs int }{{0, 1}, {2 * n * (steps + 1), 1}, {basisFloats, 4}} {
		func() {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(c.procs))
			got, err := SystemOf(laplacian(n), noise).quadratures(background, opts, c.room)
			if err != nil {
				t.Fatal(err)
			}
			for p := range want {
				if got[p] != want[p] {
					t.Errorf("%+v: probe %d gives %v, want %v", c, p, got[p], want[p])
				}
			}
		}()
	}
}

// TestLogDetLosesOrthogonality: the spectra make the plain recursion lose the
// orthogonality of its vectors within a few steps, and find the large eigenvalues again
// and again. Quadratures are those of the exact logarithm all the same, to 0.2 % of the
// log-determinant, which is a fifth of what likelihoods need.
func TestLogDetLosesOrthogonality(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const n, steps = 300, 120
	spectra := map[string]func(i int) float64{
		"outliers":  func(i int) float64 { return 1 + 1e6*math.Pow(0.3, float64(i)) },
		"geometric": func(i int) float64 { return math.Pow(1e6, -float64(i)/n) },
	}
	for name, spectrum := range spectra {
		values, want := make([]float64, n), 0.0
		for i := range values {
			values[i] = spectrum(i)
			want += math.Log(values[i] + 0.1)
		}
		a := withSpectrum(t, values, 1)
		var eig mat.EigenSym
		var vectors, along mat.Dense
		if !eig.Factorize(a, true) {
			t.Fatal("no eigenvalues")
		}
		eig.VectorsTo(&vectors)
		got, err := SystemOf(a, constant(n, 0.1)).quadratures(background, LogDetOptions{Probes: 4, Steps: steps, Seed: 2}, basisFloats)
		if err != nil {
			t.Fatal(err)
		}
		probes := mat.NewDense(n, 4, nil)
		signs(probes.RawMatrix().Data, n, 0, 4, 2, 0)
		along.Mul(vectors.T(), probes)
		for p, v := range got {
			exact := 0.0
			for i, value := range eig.Values(nil) {
				exact += n * along.At(i, p) * along.At(i, p) * math.Log(value+0.1)
			}
			if d := math.Abs(v - exact); d > 2e-3*math.Abs(want) {
				t.Errorf("%s: probe %d: %g, exactly %g; log-determinant %g", name, p, v, exact, want)
			}
		}
	}
}

func TestLogDetErrors(t *testing.T) {
	t.Parallel()
	const n = 20
	a, noise := withCondition(t, n, 10, 1), variances(n)
	for _, opts := range []LogDetOptions{{Probes: -1}, {Probes: 1, Steps: 5}, {Probes: 4, Steps: -1}} {
		if _, _, err := SystemOf(a, noise).LogDet(background, opts); !errors.Is(err, ErrArgument) {
			t.Errorf("%+v: %v", opts, err)
		}
	}
	if v, se, err := SystemOf(laplacian(0), nil).LogDet(background, LogDetOptions{}); v != 0 || se != 0 || err != nil {
		t.Errorf("empty matrix: %g ± %g, %v", v, se, err)
	}
	indefinite := constant(n, 1)
	indefinite[0] = -1
	for _, a := range []*matrix{withSpectrum(t, indefinite, 1), {SymDense: mat.NewSymDense(n, constant(n*n, math.NaN()))}} {
		if _, _, err := SystemOf(a, constant(n, 0)).LogDet(background, LogDetOptions{}); !errors.Is(err, ErrNotPositiveDefinite) {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	_, _, err := SystemOf(&failing{laplacian: n, left: 3, cancel: cancel}, noise).LogDet(ctx, LogDetOptions{})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	broken := errors.New("broken")
	for _, p := range []Factored{nil, jacobi(t, a.diag(), noise)} {
		_, _, err := logDetOf(background, &failing{laplacian: n, left: 2, err: broken}, noise, p, LogDetOptions{})
		if !errors.Is(err, broken) {
			t.Error(err)
		}
	}
}

// TestLogDetEarly: with a preconditioner that leaves little, fewer steps give the value of all
// of them up to a small share of its standard error.
func TestLogDetEarly(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const n, steps = 300, 60
	a, noise := withCondition(t, n, 1e4, 1), variances(n)
	p, opts := leading(t, a, noise, 40), LogDetOptions{Probes: 8, Steps: steps, Seed: 3}
	want, se, err := logDetOf(background, a, noise, p, opts)
	if err != nil {
		t.Fatal(err)
	}
	all := a.products.Swap(0)
	opts.Early = true
	got, _, err := logDetOf(background, a, noise, p, opts)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(got-want) > 0.01*se || got == want {
		t.Errorf("%v instead of %v ± %v", got, want, se)
	}
	if early := a.products.Load(); all != steps || early > steps/2 {
		t.Errorf("%d products instead of %d", early, all)
	}
}

func BenchmarkLogDet(b *testing.B) {
	const n = 1 << 15
	noise := constant(n, 0.1)
	for b.Loop() {
		if _, _, err := SystemOf(laplacian(n), noise).LogDet(background, LogDetOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
