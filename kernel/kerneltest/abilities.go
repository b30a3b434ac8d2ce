package kerneltest

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel"
	"grfgp/solve"
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
	if a.Draw != nil {
		t.Run("draw", func(t *testing.T) { s.testDraw(t, a) })
	}
	if a.Precondition != nil {
		p, err := a.Precondition(t.Context(), s.rows, 0.5*s.size, noise)
		if err != nil {
			t.Fatalf("Precondition: %v", err)
		}
		s.testFactored(t, p)
	}
	if a.Invert != nil {
		for _, constant := range []float64{0, 0.5 * s.size} {
			p, err := a.Invert(t.Context(), s.rows, constant, noise)
			if err != nil {
				t.Fatalf("Invert: %v", err)
			}
			s.testInverse(t, p, constant, noise)
		}
	}
	if a.Mixed != nil {
		for _, constant := range []float64{0, 0.5 * s.size} {
			s.testMixed(t, a, constant)
		}
	}
	if a.Local != nil && a.Local == s.cov {
		t.Error("the local part is the covariance itself, want nil")
	}
	if a.Local != nil && a.Everywhere {
		t.Error("a covariance that correlates all nodes has a local part")
	}
	if a.Fine != nil && a.Fine.Features.Nodes() != s.Nodes() {
		t.Errorf("features of %d nodes for a kernel on %d", a.Fine.Features.Nodes(), s.Nodes())
	}
}

// testDraw: draws are those of Prior, and Update adds K[·, x]·u.
func (s *suite) testDraw(t *testing.T, a kernel.Abilities) {
	const draws, seed = 3, 7
	d, err := a.Draw(t.Context(), draws, seed, s.rows)
	if err != nil {
		t.Fatalf("Draw: %v", err)
	}
	want := poisoned(s.Nodes(), draws)
	if err := s.cov.Prior(t.Context(), want, seed); err != nil {
		t.Fatal(err)
	}
	scale := math.Sqrt(s.size)
	for r, i := range s.rows {
		for k := range draws {
			s.close(t, d.At().At(r, k), want.At(i, k), 1e-9*scale, "draw %d at node %d", k, i)
		}
	}
	u := wave(len(s.rows), draws, 3)
	more := s.apply(t, s.cov.Cross(s.all, s.rows), u)
	got := poisoned(s.Nodes(), draws)
	if err := d.Update(t.Context(), got, u); err != nil {
		t.Fatalf("Update: %v", err)
	}
	for i := range s.all {
		for k := range draws {
			s.close(t, got.At(i, k), want.At(i, k)+more.At(i, k), 1e-9*(scale+s.size*float64(len(s.rows))), "updated draw %d at node %d", k, i)
		}
	}
}

// testFactored: P⁻¹ = F⁻ᵀF⁻¹ is symmetric and positive definite, and LogDet is
// that of P.
func (s *suite) testFactored(t *testing.T, p solve.Factored) {
	n := len(s.rows)
	one, inverse, white, back := mat.NewDense(n, n, nil), poisoned(n, n), poisoned(n, n), poisoned(n, n)
	for i := range n {
		one.Set(i, i, 1)
	}
	p.Apply(inverse, one)
	p.Whiten(white, one)
	p.WhitenT(back, mat.DenseCopyOf(white))
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

// testInverse: the inverse of K + constant·11ᵀ + diag(noise) is one.
func (s *suite) testInverse(t *testing.T, p solve.Preconditioner, constant float64, noise []float64) {
	b := wave(len(s.rows), 3, 2)
	x := poisoned(len(s.rows), 3)
	p.Apply(x, b)
	back := s.apply(t, s.cov.Cross(s.rows, s.rows), x)
	for c := range 3 {
		sum := 0.0
		for i := range s.rows {
			sum += x.At(i, c)
		}
		for i := range s.rows {
			s.close(t, back.At(i, c)+constant*sum+noise[i]*x.At(i, c), b.At(i, c), 1e-8, "(K + constant + noise)·solution at %d, %d", i, c)
		}
	}
}

// testMixed: products in mixed precision are those with K + constant·11ᵀ.
func (s *suite) testMixed(t *testing.T, a kernel.Abilities, constant float64) {
	op, err := a.Mixed(t.Context(), s.rows, constant)
	if err != nil {
		t.Fatalf("Mixed: %v", err)
	}
	if op == nil {
		return
	}
	x := wave(len(s.rows), 3, 2)
	got, want := s.apply(t, op, x), s.apply(t, s.cov.Cross(s.rows, s.rows), x)
	for c := range 3 {
		sum := 0.0
		for i := range s.rows {
			sum += x.At(i, c)
		}
		for i := range s.rows {
			s.close(t, got.At(i, c), want.At(i, c)+constant*sum, 1e-5*s.size*float64(len(s.rows)), "product in mixed precision at %d, %d", i, c)
		}
	}
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

// Forwards tests that outer, a kernel that combines inner and perhaps other
// kernels, keeps the abilities of inner, except Invert, which few compositions
// can keep.
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
		{"Draw", in.Draw != nil, out.Draw != nil},
		{"Precondition", in.Precondition != nil, out.Precondition != nil},
		{"LongRange", in.LongRange, out.LongRange},
		{"Fine", in.Fine != nil, out.Fine != nil},
		{"Coarse", in.Coarse != nil, out.Coarse != nil},
		{"Local", in.Local != nil, out.Local != nil},
		{"Starts", before.Starts != nil, after.Starts != nil},
		{"Cache", before.Cache != nil, after.Cache != nil},
	} {
		if ability.in && !ability.out {
			t.Errorf("%T of %T loses %s", outer, inner, ability.name)
		}
	}
}
