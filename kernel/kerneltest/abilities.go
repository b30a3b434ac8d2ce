package kerneltest

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/gpu"
	"grfgp/kernel"
	"grfgp/solve"
	"grfgp/space"
)

// testAbilities: every ability gives what the methods of the covariance give.
func (s *suite) testAbilities(t *testing.T) {
	a := kernel.AbilitiesOf(s.cov)
	if a.DiagFlops != nil {
		if one, ten := a.DiagFlops(1), a.DiagFlops(10); !(one > 0 && ten > one) {
			t.Errorf("the diagonal at 1 and 10 nodes takes %v and %v operations", one, ten)
		}
	}
	noise := make([]float64, len(s.rows))
	for i := range noise {
		noise[i] = s.size * (0.05 + 0.01*float64(i%4))
	}
	if a.Precondition != nil {
		p, err := a.Precondition(t.Context(), s.rows, 0.5*s.size, noise)
		if err != nil {
			t.Fatalf("Precondition: %v", err)
		}
		s.testFactored(t, space.Host(), p)
	}
	if a.Connected != nil && a.Everywhere {
		t.Error("a covariance that correlates all nodes says which nodes it connects")
	}
	connected, err := kernel.Connected(t.Context(), s.cov, s.rows, s.cols)
	if err != nil || len(connected) != len(s.rows) {
		t.Errorf("Connected: %d of %d rows, %v", len(connected), len(s.rows), err)
	}
	if a.Fine != nil && a.Fine.Features.Nodes() != s.Nodes() {
		t.Errorf("features of %d nodes for a kernel on %d", a.Fine.Features.Nodes(), s.Nodes())
	}
}

// testFactored: P⁻¹ = F⁻ᵀF⁻¹ is symmetric and positive definite, and LogDet is
// that of P.
func (s *suite) testFactored(t *testing.T, in space.Space, p solve.Factored) {
	n := len(s.rows)
	inverse, back := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for j := range n { // column by column: a card has room for a few beside each other
		one := mat.NewDense(n, 1, nil)
		one.Set(j, 0, 1)
		x := block(in, space.Rows(n), one)
		y, white := x.Like(), x.Like()
		p.Apply(y, x)
		inverse.SetCol(j, fetched(y).RawMatrix().Data)
		p.Whiten(white, x)
		p.WhitenT(y, white)
		back.SetCol(j, fetched(y).RawMatrix().Data)
	}
	top := mat.Max(inverse)
	for i := range n {
		for j := range n {
			s.close(t, inverse.At(i, j), back.At(i, j), 1e-8*top, "P⁻¹ and F⁻ᵀF⁻¹ at %d, %d", i, j)
			s.close(t, inverse.At(i, j), inverse.At(j, i), 1e-8*top, "P⁻¹ at %d, %d and its mirror image", i, j)
		}
	}
	logDet, sign := mat.LogDet(inverse)
	if sign <= 0 {
		t.Error("a preconditioner is not positive definite")
	}
	s.close(t, p.LogDet(), -logDet, 1e-6*float64(n), "LogDet of a preconditioner")
}

// cacheError is what Training.Cache allows.
const cacheError = 1e-6

// testTraining: starts make kernels, and a cache changes nothing.
func (s *suite) testTraining(t *testing.T) {
	for _, theta := range kernel.Starts(s.Kernel) {
		if _, err := s.At(theta); err != nil {
			t.Errorf("start %v: %v", theta, err)
		}
	}
	cache := kernel.TrainingOf(s.Kernel).Cache
	if cache == nil {
		return
	}
	s.testCache(t, cache(s.rows, 1<<24))
	if bytes := kernel.TrainingOf(s.Kernel).CacheBytes; bytes != nil {
		if few, many := bytes(10), bytes(20); few <= 0 || many <= few {
			t.Errorf("caches of 10 and 20 rows take %d and %d bytes", few, many)
		}
		s.testCache(t, cache(s.rows, bytes(len(s.rows))))
	}
	s.testCache(t, cache(s.rows, 0))
}

// testCache: a cached kernel is the kernel, to cacheError of its size.
func (s *suite) testCache(t *testing.T, cached kernel.Kernel) {
	t.Helper()
	if !slices.Equal(cached.Params(), s.Params()) || cached.Nodes() != s.Nodes() {
		t.Errorf("a cached kernel has the parameters %v, want %v", cached.Params(), s.Params())
	}
	cov, err := cached.At(s.Theta)
	if err != nil {
		t.Fatal(err)
	}
	got, want := s.gram(t, cov, s.rows), s.gram(t, s.cov, s.rows)
	g, by, without := waveSym(len(s.rows), 2), s.held(0), s.held(0)
	if err := cov.GramGrad(t.Context(), by, s.rows, g); err != nil {
		t.Fatal(err)
	}
	if err := s.cov.GramGrad(t.Context(), without, s.rows, g); err != nil {
		t.Fatal(err)
	}
	for a := range s.rows {
		for b := range a + 1 {
			s.close(t, got.At(a, b), want.At(a, b), cacheError*s.size, "cached entry %d, %d", a, b)
		}
	}
	for j := range by {
		s.close(t, by[j], without[j], 10*cacheError*(1+math.Abs(without[j])), "cached derivative %d", j)
	}
}

// Forwards tests that outer, a kernel that combines inner and perhaps other kernels, keeps the abilities of inner.
func Forwards(t *testing.T, inner, outer kernel.Kernel) {
	t.Helper()
	abilities := func(k kernel.Kernel) kernel.Abilities {
		cov, err := k.At(kernel.Starts(k)[0])
		if err != nil {
			t.Fatal(err)
		}
		return kernel.AbilitiesOf(cov)
	}
	in, out := abilities(inner), abilities(outer)
	before, after := kernel.TrainingOf(inner), kernel.TrainingOf(outer)
	for _, ability := range []struct {
		name    string
		in, out bool
	}{
		{"DiagFlops", in.DiagFlops != nil, out.DiagFlops != nil},
		{"LongRange", in.LongRange, out.LongRange},
		{"Fine", in.Fine != nil, out.Fine != nil},
		{"Coarse", in.Coarse != nil, out.Coarse != nil},
		{"Connected", in.Connected != nil, out.Connected != nil},
		{"Starts", before.Starts != nil, after.Starts != nil},
		{"Cache", before.Cache != nil, after.Cache != nil},
	} {
		if ability.in && !ability.out {
			t.Errorf("%T of %T loses %s", outer, inner, ability.name)
		}
	}
	s := space.Card(gpu.Simulate(gpu.Simulated{}))
	one, err := kernel.RootOf(t.Context(), inner, s, []int{0, 1}, kernel.RootOptions{})
	both, err2 := kernel.RootOf(t.Context(), outer, s, []int{0, 1}, kernel.RootOptions{})
	if err != nil || err2 != nil || one != nil && both == nil {
		t.Errorf("%T of %T has no root on a card: %v, %v", outer, inner, err, err2)
	}
}
