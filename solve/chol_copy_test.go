package solve

import (
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Copies that part grow apart: each is the factor of its own matrix, and what
// they were made from stays as it was.
func TestCholeskyCopy(t *testing.T) {
	t.Parallel()
	const n, start = 12, 5
	h := withSpectrum(t, spectrum(n), 3)
	part := h.SliceSym(0, start).(*mat.SymDense)
	first, err := NewCholesky(part)
	if err != nil {
		t.Fatal(err)
	}
	grown := []*Cholesky{first}
	for i := start; i < n; i++ {
		next := grown[len(grown)-1].Copy()
		if err := next.Append(mat.Row(nil, i, h)[:i+1]); err != nil {
			t.Fatal(err)
		}
		grown = append(grown, next)
	}
	// From the middle on, another way: the last row comes first.
	other := grown[2].Copy()
	m := start + 2
	row := append(mat.Row(nil, n-1, h)[:m], h.At(n-1, n-1))
	if err := other.Append(append(row[:m-1:m-1], row[m-1]*100, row[m])); err == nil {
		t.Fatal("a matrix that is not positive definite has a factor")
	}
	if err := other.Append(row); err != nil {
		t.Fatal(err)
	}
	for q, c := range grown {
		checkCholesky(t, c, h.SliceSym(0, start+q).(*mat.SymDense))
	}
	want := mat.NewSymDense(m+1, nil)
	for i := range m {
		for j := i; j < m; j++ {
			want.SetSym(i, j, h.At(i, j))
		}
		want.SetSym(i, m, row[i])
	}
	want.SetSym(m, m, row[m])
	checkCholesky(t, other, want)
}
