package kerneltest

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// testPrior: draws depend on the seed alone and have mean 0 and covariance K.
func (s *suite) testPrior(t *testing.T) {
	n := s.Nodes()
	draw := func(columns int, seed uint64) *mat.Dense {
		t.Helper()
		dst := poisoned(n, columns)
		if err := s.cov.Prior(t.Context(), dst, seed); err != nil {
			t.Fatalf("Prior: %v", err)
		}
		return dst
	}
	five := draw(5, 1)
	if !mat.Equal(five, draw(5, 1)) {
		t.Error("the same seed gave other draws")
	}
	for _, columns := range []int{1, 3} {
		if !mat.Equal(five.Slice(0, n, 0, columns), draw(columns, 1)) {
			t.Errorf("draws depend on their number: %d or 5", columns)
		}
	}
	other := draw(5, 2)
	for a := range 5 {
		for b := range 5 {
			if mat.Equal(five.ColView(a), other.ColView(b)) {
				t.Errorf("draw %d of one seed is draw %d of another", a, b)
			}
			if a != b && mat.Equal(five.ColView(a), five.ColView(b)) {
				t.Errorf("draws %d and %d are the same", a, b)
			}
		}
	}

	// A mean of S products z_i·z_j has the variance (K_ii·K_jj + K_ij²)/S. Six
	// standard deviations leave room for all entries at once.
	z := draw(s.Draws, 3)
	var second mat.SymDense
	second.SymOuterK(1/float64(s.Draws), z)
	ones := make([]float64, s.Draws)
	for i := range ones {
		ones[i] = 1 / float64(s.Draws)
	}
	var mean mat.VecDense
	mean.MulVec(z, mat.NewVecDense(s.Draws, ones))
	for i := range n {
		kii := s.k.At(i, i)
		s.close(t, mean.AtVec(i), 0, 6*math.Sqrt(kii/float64(s.Draws))+exact*s.size, "mean of %d draws at node %d", s.Draws, i)
		for j := range i + 1 {
			kij, kjj := s.k.At(i, j), s.k.At(j, j)
			sd := math.Sqrt((kii*kjj + kij*kij) / float64(s.Draws))
			s.close(t, second.At(i, j), kij, 6*sd+exact*s.size, "covariance of %d draws at nodes %d, %d", s.Draws, i, j)
		}
	}
}
