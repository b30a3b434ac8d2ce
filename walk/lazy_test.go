package walk_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/testkit"
	"grfgp/walk"
)

// TestLazy: lazy features are those of Sample, row by row, in lists that share rows and
// in the file.
func TestLazy(t *testing.T) {
	t.Parallel()
	g, err := graph.BarabasiAlbert(3000, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	w := g.Normalized(graph.NormalizedAdjacency)
	opts := walk.Default()
	opts.Walks, opts.Budget, opts.Scale = 20, 40, g.WalkScale(graph.NormalizedAdjacency)
	stored, err := walk.Sample(t.Context(), w, opts)
	if err != nil {
		t.Fatal(err)
	}
	lazy, err := walk.Lazy(w, opts)
	if err != nil {
		t.Fatal(err)
	}
	coeff := make([]float64, opts.MaxLen+1)
	for l := range coeff {
		coeff[l] = 1 / float64(1+l)
	}
	weight := make([]float64, 3000)
	for i := range weight {
		weight[i] = math.Sin(float64(i))
	}
	for _, rows := range [][]int{{5, 2999, 5, 17}, {17, 0, 2999, 1024}, upTo(1500)} {
		a, err := stored.List(t.Context(), rows)
		if err != nil {
			t.Fatal(err)
		}
		b, err := lazy.List(t.Context(), rows)
		if err != nil {
			t.Fatal(err)
		}
		once, err := lazy.ListOnce(t.Context(), rows)
		if err != nil {
			t.Fatal(err)
		}
		for k, i := range rows {
			if !slices.Equal(once.Reached(k), a.Reached(k)) {
				t.Fatalf("row %d reaches other nodes", i)
			}
			if !slices.Equal(a.Reached(k), b.Reached(k)) || !slices.Equal(lazy.Reached(i), a.Reached(k)) {
				t.Fatalf("row %d reaches other nodes", i)
			}
			size := len(a.Reached(k))
			x, y := make([]float64, size), make([]float64, size)
			a.CombineRow(x, coeff, k)
			b.CombineRow(y, coeff, k)
			p, q := make([]float64, len(coeff)), make([]float64, len(coeff))
			a.ProjectRow(p, weight[:size], k)
			b.ProjectRow(q, weight[:size], k)
			if !slices.Equal(x, y) || !slices.Equal(p, q) {
				t.Fatalf("row %d has other values", i)
			}
			if a.CombineRow(y, walk.Padded(coeff), k); !slices.Equal(x, y) {
				t.Fatalf("row %d has other values with padded coefficients", i)
			}
		}
	}
	if lazy.Size() != stored.Size() {
		t.Errorf("size %+v, want %+v", lazy.Size(), stored.Size())
	}
	if got, want := lazy.EntriesPerRow(), stored.EntriesPerRow(); math.Abs(got-want) > 0.2*want { // 256 rows of 3,000
		t.Errorf("%v entries per row, there are %v", got, want)
	}
	var one, two bytes.Buffer
	if _, err := stored.Encode(&one, "m"); err != nil {
		t.Fatal(err)
	}
	if _, err := lazy.Encode(&two, "m"); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Error("the file differs")
	}
}

// TestCompact: Φ with float32 entries multiplies as Φ does, to the precision of its
// entries, whole and by rows, from stored and from lazy features to the same bits.
func TestCompact(t *testing.T) {
	t.Parallel()
	grid, err := graph.Grid(70, 60)
	if err != nil {
		t.Fatal(err)
	}
	hubs, err := graph.BarabasiAlbert(70_000, 2, 1) // columns that span more than 65,536
	if err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string]*graph.Graph{"grid": grid.Ordered(), "hubs": hubs} {
		if testkit.Raced && name == "hubs" {
			continue
		}
		n := g.Len()
		w := g.Normalized(graph.NormalizedAdjacency)
		opts := walk.Default()
		opts.MaxLen, opts.Walks, opts.Budget, opts.Scale = 4, 10, 10, g.WalkScale(graph.NormalizedAdjacency)
		stored, err := walk.Sample(t.Context(), w, opts)
		if err != nil {
			t.Fatal(err)
		}
		lazy, err := walk.Lazy(w, opts)
		if err != nil {
			t.Fatal(err)
		}
		coeff := []float64{1, 0.7, 0.3, 0.2, 0.1}
		phi, err := stored.Combine(coeff)
		if err != nil {
			t.Fatal(err)
		}
		x, want, got := mat.NewDense(n, 3, nil), mat.NewDense(n, 3, nil), mat.NewDense(n, 3, nil)
		x.Apply(func(i, j int, _ float64) float64 { return math.Sin(float64(3*i + j)) }, x)
		phi.Mul(want, x)
		a, err := stored.Compact(t.Context(), coeff)
		if err != nil {
			t.Fatal(err)
		}
		a.Mul(got, x)
		// A row has at most 50 entries of at most 1, each with an error of 2⁻²⁴.
		if !mat.EqualApprox(got, want, 50*0x1p-24) {
			t.Errorf("%s: the product differs", name)
		}
		b, err := lazy.Compact(t.Context(), coeff)
		if err != nil {
			t.Fatal(err)
		}
		part := mat.NewDense(1500, 3, nil)
		b.MulRows(part, x, 2048)
		if !mat.Equal(part, got.Slice(2048, 3548, 0, 3)) {
			t.Errorf("%s: rows of lazy features differ", name)
		}
		ptr, col, val := b.Raw()
		if len(col) != b.Entries() || len(val) != b.Entries() {
			t.Fatalf("%s: %d columns and %d values of %d entries", name, len(col), len(val), b.Entries())
		}
		for i := range n {
			cols, vals := phi.Row(i)
			if !slices.Equal(cols, col[ptr[i]:ptr[i+1]]) {
				t.Fatalf("%s: row %d has other columns", name, i)
			}
			for e, v := range vals {
				if val[ptr[i]+e] != float32(v) {
					t.Fatalf("%s: entry %d of row %d is %v, want %v", name, e, i, val[ptr[i]+e], v)
				}
			}
		}
		rows := []int{7, 0, n - 1, 7, 1500}
		list, err := lazy.List(t.Context(), rows)
		if err != nil {
			t.Fatal(err)
		}
		first, num, lens, psi, ok := list.Flat()
		if !ok || len(first) != len(rows) {
			t.Fatalf("%s: %d rows, %v", name, len(first), ok)
		}
		entry, value := 0, 0
		for a, i := range rows {
			if int(first[a]) != value {
				t.Fatalf("%s: the values of row %d begin at %d, want %d", name, a, first[a], value)
			}
			for e := range stored.Row(i) {
				k := int(num[entry])
				if !slices.Equal(e.Lengths, lens[value:value+k]) || !slices.Equal(e.Values, psi[value:value+k]) {
					t.Fatalf("%s: entry %d has values %v, want %v", name, entry, psi[value:value+k], e.Values)
				}
				entry, value = entry+1, value+k
			}
		}
		if entry != len(num) || value != len(psi) || value != len(lens) {
			t.Errorf("%s: %d entries and %d values are left", name, len(num)-entry, len(psi)-value)
		}
		squares := make([]float64, n)
		b.Squares(squares)
		for i := range n {
			_, vals := phi.Row(i)
			sum := 0.0
			for _, v := range vals {
				sum += v * v
			}
			if math.Abs(squares[i]-sum) > 1e-6*sum {
				t.Fatalf("%s: node %d has the squared norm %v, want %v", name, i, squares[i], sum)
			}
		}
		if size := lazy.Size(); size != stored.Size() {
			t.Errorf("%s: size %+v, want %+v", name, size, stored.Size())
		}
		perEntry := float64(a.Bytes()-4*int64(n)) / float64(stored.Size().Entries)
		if most := map[string]float64{"grid": 6, "hubs": 8}[name]; perEntry > most {
			t.Errorf("%s: %v bytes per entry", name, perEntry)
		}
	}
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
