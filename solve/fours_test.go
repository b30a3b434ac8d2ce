package solve

import (
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestFours: four columns alone have the bits that they have beside a fifth.
func TestFours(t *testing.T) {
	t.Parallel()
	const n, m = 3000, 60
	p, err := NewCoarse(cells(t, n, m, 6, 1), gramOf(m, 100, 2), variances(n))
	if err != nil {
		t.Fatal(err)
	}
	jacobi, err := NewJacobi(make([]float64, n), variances(n))
	if err != nil {
		t.Fatal(err)
	}
	wide := normals(n, 5, 3)
	alone := mat.DenseCopyOf(wide.Slice(0, n, 0, 4))
	for name, apply := range map[string]func(dst, x *mat.Dense){
		"coarse": p.Apply, "whitened": p.Whiten, "whitened by the transpose": p.WhitenT, "diagonal": jacobi.Apply} {
		got, want := mat.NewDense(n, 4, nil), mat.NewDense(n, 5, nil)
		apply(got, alone)
		apply(want, wide)
		if !mat.Equal(got, want.Slice(0, n, 0, 4)) {
			t.Errorf("%s: other bits", name)
		}
	}
}
