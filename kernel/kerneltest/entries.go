package kerneltest

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel"
	"grfgp/solve"
)

// testTheta: At refuses values that make no kernel, and copies those it takes.
func (s *suite) testTheta(t *testing.T) {
	refuse := func(theta []float64, why string) {
		t.Helper()
		cov, err := s.At(theta)
		if !errors.Is(err, kernel.ErrTheta) {
			t.Errorf("%s: error %v, want %v", why, err, kernel.ErrTheta)
		}
		if err != nil && cov != nil {
			t.Errorf("%s: a covariance of type %T beside an error, want nil", why, cov)
		}
	}
	refuse(append(slices.Clone(s.Theta), 1), "a value too many")
	if len(s.Theta) > 0 {
		refuse(s.Theta[1:], "a value too few")
	}
	for j, p := range s.Params() {
		bad := []float64{math.NaN(), math.Inf(1)}
		if p.Positive {
			bad = append(bad, 0, -1)
		}
		for _, v := range bad {
			theta := slices.Clone(s.Theta)
			theta[j] = v
			refuse(theta, p.Name)
		}
	}
	theta := slices.Clone(s.Theta)
	cov, err := s.At(theta)
	if err != nil {
		t.Fatal(err)
	}
	for j := range theta {
		theta[j] *= 2
	}
	if !mat.Equal(s.gram(t, cov, s.all), s.k) {
		t.Error("a covariance changed with the theta it was made from")
	}
}

// testVariances: K is linear in every parameter that is marked as a variance, and
// grows with it.
func (s *suite) testVariances(t *testing.T) {
	for j, p := range s.Params() {
		if !p.Variance {
			continue
		}
		var k [3]*mat.SymDense
		for step := range k {
			theta := slices.Clone(s.Theta)
			theta[j] *= float64(1 + step)
			cov, err := s.At(theta)
			if err != nil {
				t.Fatalf("At(%v): %v", theta, err)
			}
			k[step] = s.gram(t, cov, s.all)
		}
		for a := range s.all {
			for b := range a + 1 {
				first, second := k[1].At(a, b)-k[0].At(a, b), k[2].At(a, b)-k[1].At(a, b)
				s.close(t, second, first, 3*exact*s.size, "K at nodes %d, %d from twice to thrice %s", a, b, p.Name)
			}
		}
		if grown := mat.Trace(k[1]) - mat.Trace(k[0]); !(grown > 0) {
			t.Errorf("K grows by %v with %s, want more than nothing", grown, p.Name)
		}
	}
}

// testEntries: Gram of a list and Diag are entries of K.
func (s *suite) testEntries(t *testing.T) {
	k := s.gram(t, s.cov, s.rows)
	diag := make([]float64, len(s.rows))
	fill(diag)
	if err := s.cov.Diag(t.Context(), diag, s.rows); err != nil {
		t.Fatalf("Diag: %v", err)
	}
	for a, i := range s.rows {
		s.close(t, diag[a], s.k.At(i, i), exact*s.size, "Diag of node %d", i)
		for b, j := range s.rows {
			s.close(t, k.At(a, b), s.k.At(i, j), exact*s.size, "Gram of nodes %d, %d", i, j)
		}
	}
}

// testProducts: Cross acts as the entries of K say, for lists of all kinds.
func (s *suite) testProducts(t *testing.T) {
	lists := []struct {
		name       string
		rows, cols []int
	}{
		{"rows × cols", s.rows, s.cols},
		{"cols × rows", s.cols, s.rows},
		{"rows × rows", s.rows, s.rows},
		{"all × rows", s.all, s.rows},
		{"rows × all", s.rows, s.all},
		{"all × all", s.all, s.all},
		{"one × cols", s.rows[:1], s.cols},
		{"rows × one", s.rows, s.cols[:1]},
	}
	for _, l := range lists {
		op := s.cov.Cross(l.rows, l.cols)
		if r, c := op.Dims(); r != len(l.rows) || c != len(l.cols) {
			t.Errorf("%s: dimensions %d×%d, want %d×%d", l.name, r, c, len(l.rows), len(l.cols))
			continue
		}
		for _, width := range []int{1, 3, 17} {
			x := wave(len(l.cols), width, float64(width))
			before := mat.DenseCopyOf(x)
			got := s.apply(t, op, x)
			if !mat.Equal(x, before) {
				t.Errorf("%s: Apply changed x", l.name)
			}
			for a, i := range l.rows {
				for c := range width {
					want, scale := 0.0, 0.0
					for b, j := range l.cols {
						want += s.k.At(i, j) * x.At(b, c)
						scale += math.Abs(s.k.At(i, j) * x.At(b, c))
					}
					s.close(t, got.At(a, c), want, exact*(s.size+scale), "%s, %d right-hand sides: entry %d, %d", l.name, width, a, c)
				}
			}
		}
	}
}

func (s *suite) apply(t *testing.T, op solve.Operator, x *mat.Dense) *mat.Dense {
	t.Helper()
	r, _ := op.Dims()
	_, width := x.Dims()
	dst := poisoned(r, width)
	if err := op.Apply(t.Context(), dst, x); err != nil {
		t.Fatalf("Apply: %v", err)
	}
	return dst
}

// testSemidefinite: K has no eigenvalue below −1e-10 of the largest.
func (s *suite) testSemidefinite(t *testing.T) {
	var eig mat.EigenSym
	if !eig.Factorize(s.k, false) {
		t.Fatal("no eigenvalues")
	}
	values := eig.Values(nil)
	least, most := values[0], values[len(values)-1]
	if !(most > 0) || least < -exact*most {
		t.Errorf("eigenvalues from %v to %v", least, most)
	}
}
