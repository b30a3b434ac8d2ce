package graph

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/sparse"
)

var normalizations = []Normalization{NormalizedAdjacency, NormalizedLaplacian, RawAdjacency, RawDiffusion}

// normalizedCases are small graphs with lone nodes, self loops and weights far
// apart.
func normalizedCases(t *testing.T) map[string]*Graph {
	return map[string]*Graph{
		"empty":    build(t, 0, false),
		"lone":     build(t, 3, false),
		"pair":     build(t, 3, false, [3]float64{0, 1, 0.3}),
		"loop":     build(t, 2, true, [3]float64{0, 0, 5}),
		"ring":     must[*Graph](t)(Ring(7)),
		"weighted": randomGraph(t, 25, 60, 1),
		"apart":    build(t, 4, true, [3]float64{0, 1, 3e-18}, [3]float64{1, 2, 1e300}, [3]float64{2, 2, 1e280}, [3]float64{2, 3, 1e-300}),
	}
}

// formula computes an entry as it is written, by logarithms where numbers could
// leave the range.
func formula(n Normalization, a *mat.Dense, i, j int) float64 {
	size, _ := a.Dims()
	strength := func(i int) float64 { return mat.Sum(a.Slice(i, i+1, 0, size)) }
	di, dj := strength(i), strength(j)
	same := 0.0
	if i == j {
		same = 1
	}
	tilde := 0.0
	if i == j && di == 0 {
		tilde = 1
	} else if a.At(i, j) != 0 {
		tilde = math.Exp(math.Log(a.At(i, j)) - math.Log(di)/2 - math.Log(dj)/2)
	}
	switch n {
	case NormalizedAdjacency:
		return tilde
	case NormalizedLaplacian:
		return same - tilde
	case RawAdjacency:
		return a.At(i, j)
	}
	most := 0.0
	for k := range size {
		most = max(most, strength(k))
	}
	if most == 0 {
		return same
	}
	return same - (same*di-a.At(i, j))/most
}

func TestNormalizedEqualsFormula(t *testing.T) {
	t.Parallel()
	for name, g := range normalizedCases(t) {
		if g.Len() == 0 {
			continue
		}
		a := dense(g.Adjacency())
		for _, n := range normalizations {
			w := g.Normalized(n)
			for i := range g.Len() {
				for j := range g.Len() {
					// Logarithms of weights as far apart as 1e±300 cost three digits.
					got, want := w.At(i, j), formula(n, a, i, j)
					if math.Abs(got-want) > 1e-12*max(1, math.Abs(want)) {
						t.Errorf("%s, %v: entry (%d, %d) is %v, want %v", name, n, i, j, got, want)
					}
				}
			}
		}
	}
}

func TestNormalizedIsSymmetricToTheBit(t *testing.T) {
	t.Parallel()
	for name, g := range normalizedCases(t) {
		for _, n := range normalizations {
			w := g.Normalized(n)
			for i := range g.Len() {
				cols, vals := w.Row(i)
				if !slices.IsSorted(cols) {
					t.Errorf("%s, %v: columns of row %d are %v", name, n, i, cols)
				}
				for p, j := range cols {
					if back := w.At(int(j), i); math.Float64bits(back) != math.Float64bits(vals[p]) {
						t.Errorf("%s, %v: (%d, %d) is %v, the other way %v", name, n, i, j, vals[p], back)
					}
				}
			}
		}
	}
}

// Ãv = v for v = √D (1 at lone nodes), and every row of the diffusion sums to 1.
func TestNormalizedInvariants(t *testing.T) {
	t.Parallel()
	g := randomGraph(t, 400, 500, 2) // with lone nodes
	root := g.WalkScale(NormalizedAdjacency)
	strengths := g.Strengths()
	product := make([]float64, g.Len())
	g.Normalized(NormalizedAdjacency).MulVec(product, root)
	for i, d := range strengths {
		want := math.Sqrt(d)
		if d == 0 {
			want = 1
		}
		if math.Abs(product[i]-want) > 1e-14*max(1, want) {
			t.Errorf("(Ãv) of node %d is %v, want %v", i, product[i], want)
		}
		if root[i] != want {
			t.Errorf("walk scale of node %d is %v, strength %v", i, root[i], d)
		}
	}
	diffusion := g.Normalized(RawDiffusion)
	for i := range g.Len() {
		_, vals := diffusion.Row(i)
		if s := sum(vals); math.Abs(s-1) > 1e-14 {
			t.Errorf("row %d of the diffusion sums to %v", i, s)
		}
	}
	if !slices.Equal(g.WalkScale(NormalizedLaplacian), root) || g.WalkScale(RawAdjacency) != nil || g.WalkScale(RawDiffusion) != nil {
		t.Error("walk scales of the other normalisations")
	}
}

func TestNormalizedSpectra(t *testing.T) {
	t.Parallel()
	const tolerance = 1e-12
	bounds := map[Normalization][2]float64{NormalizedAdjacency: {-1, 1}, NormalizedLaplacian: {0, 2}, RawDiffusion: {-1, 1}}
	for name, g := range normalizedCases(t) {
		if g.Len() == 0 {
			continue
		}
		for n, bound := range bounds {
			values := eigenvalues(t, g.Normalized(n))
			if lo, hi := slices.Min(values), slices.Max(values); lo < bound[0]-tolerance || hi > bound[1]+tolerance {
				t.Errorf("%s, %v: eigenvalues from %v to %v, want %v", name, n, lo, hi, bound)
			}
		}
	}
	// An even ring is bipartite: both ends are reached.
	values := eigenvalues(t, must[*Graph](t)(Ring(8)).Normalized(NormalizedAdjacency))
	if math.Abs(slices.Min(values)+1) > tolerance || math.Abs(slices.Max(values)-1) > tolerance {
		t.Errorf("eigenvalues of an even ring: %v", values)
	}
}

func eigenvalues(t *testing.T, m *sparse.CSR) []float64 {
	t.Helper()
	n, _ := m.Dims()
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(n, dense(m).RawMatrix().Data), false) {
		t.Fatal("no eigenvalues")
	}
	return eigen.Values(nil)
}

// Whatever the weight, an edge on its own is 1, an edge of a path of three 1/√2.
func TestNormalizedAtAnyScale(t *testing.T) {
	t.Parallel()
	for _, w := range []float64{5e-324, 1e-310, 3e-18, 0.1, 1, 7, 1e150, 1e300, 8e307} {
		pair := build(t, 2, false, [3]float64{0, 1, w}).Normalized(NormalizedAdjacency)
		if got := pair.At(0, 1); got != 1 {
			t.Errorf("weight %v: a pair has %v, want 1", w, got)
		}
		path := build(t, 3, false, [3]float64{0, 1, w}, [3]float64{1, 2, w}).Normalized(NormalizedAdjacency)
		if got := path.At(0, 1); math.Abs(got-math.Sqrt(0.5)) > 1e-15 {
			t.Errorf("weight %v: a path has %v, want √½", w, got)
		}
	}
	// √(1e-300 · 1e300) = 1: nothing may vanish on the way.
	far := build(t, 3, false, [3]float64{0, 1, 1e-300}, [3]float64{1, 2, 1e300}).Normalized(NormalizedAdjacency)
	if got := far.At(0, 1); math.Abs(got/1e-300-1) > 1e-14 {
		t.Errorf("weights far apart: %v, want 1e-300", got)
	}
	for _, n := range normalizations {
		for _, v := range rawValues(build(t, 3, true, [3]float64{0, 1, 3e-18}, [3]float64{1, 2, 1e300}).Normalized(n)) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%v has the entry %v", n, v)
			}
		}
	}
}

func rawValues(m *sparse.CSR) []float64 {
	_, _, val := m.Raw()
	return val
}

// On a ring all entries are exactly ½.
func TestNormalizedRegularIsExact(t *testing.T) {
	t.Parallel()
	for _, v := range rawValues(must[*Graph](t)(Ring(9)).Normalized(NormalizedAdjacency)) {
		if v != 0.5 {
			t.Fatalf("entry %v, want 0.5", v)
		}
	}
}

func TestNormalizationNames(t *testing.T) {
	t.Parallel()
	for _, n := range normalizations {
		if got, err := ParseNormalization(n.String()); err != nil || got != n {
			t.Errorf("%q parses as %v, %v", n.String(), got, err)
		}
	}
	if NormalizedAdjacency != 0 {
		t.Error("the zero value is not the default")
	}
	for _, text := range []string{"", "laplacian", "Raw-Adjacency", "Normalization(4)"} {
		if _, err := ParseNormalization(text); err == nil || !strings.Contains(err.Error(), "raw-diffusion") {
			t.Errorf("%q: error %v, want one that lists the names", text, err)
		}
	}
	if got := Normalization(9).String(); got != "Normalization(9)" {
		t.Errorf("an unknown normalisation is called %q", got)
	}
}

func TestNormalizedPanicsOnMisuse(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("an unknown normalisation was accepted")
		}
	}()
	build(t, 1, false).Normalized(-1)
}

func BenchmarkNormalized(b *testing.B) {
	g := must[*Graph](b)(BarabasiAlbert(1<<20, 3, 1))
	for _, n := range normalizations {
		b.Run(n.String(), func(b *testing.B) {
			for b.Loop() {
				g.Normalized(n)
			}
		})
	}
}
