package solve

import (
	"math"

	"grfgp/internal/dense"
)

// leaf is the size up to which plain loops do the work.
const leaf = 24

// corner is a small lower triangle at hand. Its products are converted to
// float64, which forbids the compiler to fuse them with a sum on some
// processors and not on others.
type corner [leaf][leaf]float64

func (t *corner) load(l dense.Matrix) {
	for i := range l.Rows {
		for j := range i + 1 {
			t[i][j] = *l.At(i, j)
		}
	}
}

func (t *corner) store(l dense.Matrix) {
	for i := range l.Rows {
		for j := range i + 1 {
			*l.At(i, j) = t[i][j]
		}
	}
}

// factorLeaf is factor for at most leaf rows.
func factorLeaf(a dense.Matrix) int {
	var t corner
	t.load(a)
	defer t.store(a)
	for i := range a.Rows {
		for j := range i {
			t[i][j] = t.rest(i, j) / t[j][j]
		}
		t[i][i] = t.rest(i, i)
		if d := t[i][i]; !(d > 0) || math.IsInf(d, 1) {
			return i
		}
		t[i][i] = math.Sqrt(t[i][i])
	}
	return -1
}

// rest is element (i, j) less the contribution of the columns before j.
func (t *corner) rest(i, j int) float64 {
	sum := t[i][j]
	for k, v := range t[i][:j] {
		sum -= float64(v * t[j][k])
	}
	return sum
}

// invertLeaf is invert for at most leaf rows.
func invertLeaf(l dense.Matrix) {
	var t corner
	t.load(l)
	for i := range l.Rows {
		// Row i of the inverse is −l[i, :i]/l[i, i] times the rows above it.
		from, d := t[i], 1/t[i][i]
		clear(t[i][:])
		t[i][i] = d
		for k, v := range from[:i] {
			for j, w := range t[k][:k+1] {
				t[i][j] -= float64(float64(d*v) * w)
			}
		}
	}
	t.store(l)
}
