package kerneltest

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel"
)

// slope returns ∂K[rows, rows]/∂θ_j by central differences of Gram.
func (s *suite) slope(t *testing.T, j int) *mat.Dense {
	t.Helper()
	h := 1e-4 * math.Abs(s.Theta[j])
	if h == 0 {
		h = 1e-4
	}
	at := func(v float64) *mat.SymDense {
		theta := slices.Clone(s.Theta)
		theta[j] = v
		cov, err := s.At(theta)
		if err != nil {
			t.Fatalf("At(%v): %v", theta, err)
		}
		return s.gram(t, cov, s.rows)
	}
	var d mat.Dense
	d.Sub(at(s.Theta[j]+h), at(s.Theta[j]-h))
	d.Scale(1/(2*h), &d)
	return &d
}

// inner returns ⟨g, d⟩ and the same of absolute values.
func inner(g, d mat.Matrix) (sum, scale float64) {
	r, c := g.Dims()
	for a := range r {
		for b := range c {
			p := g.At(a, b) * d.At(a, b)
			sum += p
			scale += math.Abs(p)
		}
	}
	return sum, scale
}

// gradients are relative to the sum of the absolute values of what they add up.
const gradTolerance = 1e-6

// testGrad: Grad is Σ_s u_sᵀ(∂K/∂θ_j)w_s, added to the contents of grad.
func (s *suite) testGrad(t *testing.T) {
	for _, width := range []int{1, 4} {
		u, w := wave(len(s.rows), width, 1), wave(len(s.rows), width, 5)
		const held = 3.5
		grad, again := s.held(held), s.held(0)
		s.grad(t, s.cov, grad, u, w)
		s.grad(t, s.cov, again, u, w)
		var g mat.Dense
		g.Mul(u, w.T())
		for j, p := range s.Params() {
			want, scale := inner(&g, s.slope(t, j))
			s.close(t, again[j], want, gradTolerance*(s.size+scale), "Grad by %s, %d columns", p.Name, width)
			s.close(t, grad[j], held+again[j], exact*(held+scale), "Grad by %s on top of %v", p.Name, held)
		}
	}
}

// testGramGrad: GramGrad is ⟨g, ∂K/∂θ_j⟩, what Grad gives for u = g and w = I,
// added to the contents of grad.
func (s *suite) testGramGrad(t *testing.T) {
	g := waveSym(len(s.rows), 2)
	const held = -1.25
	grad, byGrad := s.held(held), s.held(held)
	if err := s.cov.GramGrad(t.Context(), grad, s.rows, g); err != nil {
		t.Fatalf("GramGrad: %v", err)
	}
	identity := mat.NewDense(len(s.rows), len(s.rows), nil)
	for i := range s.rows {
		identity.Set(i, i, 1)
	}
	s.grad(t, s.cov, byGrad, mat.DenseCopyOf(g), identity)
	for j, p := range s.Params() {
		want, scale := inner(g, s.slope(t, j))
		s.close(t, grad[j], held+want, gradTolerance*(s.size+scale), "GramGrad by %s", p.Name)
		s.close(t, grad[j], byGrad[j], exact*(s.size+scale), "GramGrad by %s against Grad", p.Name)
	}
}

func (s *suite) held(v float64) []float64 {
	return slices.Repeat([]float64{v}, len(s.Theta))
}

func (s *suite) grad(t *testing.T, cov kernel.Covariance, grad []float64, u, w *mat.Dense) {
	t.Helper()
	if err := cov.Grad(t.Context(), grad, s.rows, u, w); err != nil {
		t.Fatalf("Grad: %v", err)
	}
}
