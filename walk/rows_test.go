package walk

import (
	"context"
	"math"
	"testing"
)

// Rows one by one are the rows of Combine, and ProjectRow is the adjoint of
// CombineRow: ⟨weight, Σ f_l Ψ_l⟩ = ⟨f, projection⟩, for every length alone.
func TestRowsOneByOne(t *testing.T) {
	t.Parallel()
	coeff := []float64{0.5, -1, 0.25, 2, 0.125}
	for _, m := range smallMedia(t) {
		opts := Options{Walks: 6, MaxLen: len(coeff) - 1, Budget: 4, Scale: m.scale}
		f, err := Sample(context.Background(), m.w, opts)
		if err != nil {
			t.Fatal(err)
		}
		phi, err := f.Combine(coeff)
		if err != nil {
			t.Fatal(err)
		}
		psi := f.dense()
		for i := range f.Nodes() {
			cols, vals := phi.Row(i)
			reached := f.Reached(i)
			got := make([]float64, len(reached))
			f.CombineRow(got, coeff, i)
			weight := make([]float64, len(reached))
			want := make([]float64, len(coeff))
			for e, j := range reached {
				if j != cols[e] || got[e] != vals[e] {
					t.Fatalf("%s: entry %d of row %d is %v at %d, want %v at %d", m.name, e, i, got[e], j, vals[e], cols[e])
				}
				weight[e] = math.Sin(float64(i + 3*e))
				for l := range want {
					want[l] += weight[e] * psi[l].At(i, int(j))
				}
			}
			if len(cols) != len(reached) {
				t.Fatalf("%s: row %d has %d entries, want %d", m.name, i, len(reached), len(cols))
			}
			const held = 2
			grad := make([]float64, len(coeff))
			for l := range grad {
				grad[l] = held
			}
			f.ProjectRow(grad, weight, i)
			for l := range want {
				if math.Abs(grad[l]-held-want[l]) > 1e-12 {
					t.Errorf("%s: row %d projects to %v at length %d, want %v", m.name, i, grad[l]-held, l, want[l])
				}
			}
		}
	}
}
