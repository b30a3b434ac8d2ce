package covariate

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	linalg "grfgp/internal/dense"
	"grfgp/internal/eigen"
	"grfgp/internal/testkit"
)

// topics returns the words of n nodes, of which node i is about topic i·count/n: most words are
// from the topic's own ten, others from a common vocabulary. One node in fifteen has none.
func topics(n, count, each, common int, seed string) [][]string {
	r := random(seed)
	cells := make([][]string, n)
	for i := range cells {
		if i%15 == 7 {
			continue
		}
		for range each {
			word := fmt.Sprint("common", r.IntN(common))
			if r.IntN(3) > 0 {
				word = fmt.Sprintf("topic%d-%d", i*count/n, r.IntN(10))
			}
			cells[i] = append(cells[i], word)
		}
	}
	return cells
}

func wordSet(t testing.TB, cells [][]string) *Set {
	t.Helper()
	return mustEncode(t, []Column{NewWords("w", cells)}, len(cells), Options{})
}

// spreadExactly returns S by a dense solve, from its definition.
func spreadExactly(t testing.TB, g *graph.Graph) *mat.Dense {
	t.Helper()
	n := g.Len()
	system := mat.NewDense(n, n, nil)
	for i := range n {
		nodes, weights := g.Adjacency().Row(i)
		sum := 0.0
		for _, w := range weights {
			sum += w
		}
		loop := 1.0
		if len(nodes) > 0 {
			loop = sum / float64(len(nodes))
		}
		system.Set(i, i, 1-0.9*loop/(sum+loop))
		for p, j := range nodes {
			system.Set(i, int(j), system.At(i, int(j))-0.9*weights[p]/(sum+loop))
		}
	}
	var s mat.Dense
	if err := s.Inverse(system); err != nil {
		t.Fatal(err)
	}
	s.Scale(0.1, &s)
	return &s
}

// exactWordVectors returns k columns by a dense decomposition, and all singular values.
func exactWordVectors(t testing.TB, s *Set, g *graph.Graph, k int) (*mat.Dense, []float64) {
	t.Helper()
	n, words := s.Words.Dims()
	m, mean, having := mat.NewDense(n, words, nil), make([]float64, words), 0.0
	for i := range n {
		cols, vals := s.Words.Row(i)
		for p, w := range cols {
			m.Set(i, int(w), vals[p])
			mean[w] += vals[p]
		}
		having += min(1, float64(len(cols)))
	}
	for i := range n {
		if cols, _ := s.Words.Row(i); len(cols) > 0 {
			for w := range words {
				m.Set(i, w, m.At(i, w)-mean[w]/having)
			}
		}
	}
	if g != nil {
		var spread mat.Dense
		spread.Mul(spreadExactly(t, g), m)
		m = &spread
	}
	var d mat.SVD
	if !d.Factorize(m, mat.SVDThin) {
		t.Fatal("gonum does not converge")
	}
	var u mat.Dense
	d.UTo(&u)
	values := d.Values(nil)
	out := mat.NewDense(n, k, nil)
	for i := range n {
		row, squares := out.RawRowView(i), 0.0
		for c := range row {
			row[c] = u.At(i, c) * values[c]
			squares += row[c] * row[c]
		}
		for c := range row {
			if row[c] *= math.Sqrt(float64(k) / squares); squares < 1e-20 {
				row[c] = 0
			}
		}
	}
	return out, values
}

// apart returns the largest and the root mean square difference of the cosines of rows of a and b,
// where row i of b belongs to row order[i] of a; nil means the same order.
func apart(t testing.TB, a, b *mat.Dense, order []int) (largest, rms float64) {
	t.Helper()
	n, k := a.Dims()
	if rows, cols := b.Dims(); rows != n || cols != k {
		t.Fatalf("%d × %d numbers, want %d × %d", rows, cols, n, k)
	}
	var x, y mat.Dense
	x.Mul(a, a.T())
	y.Mul(b, b.T())
	for i := range n {
		for j := range n {
			oi, oj := i, j
			if order != nil {
				oi, oj = order[i], order[j]
			}
			d := math.Abs(x.At(oi, oj)-y.At(i, j)) / float64(k)
			largest, rms = max(largest, d), rms+d*d
		}
	}
	return largest, math.Sqrt(rms) / float64(n)
}

// checkRows: rows have length √k or 0, and are zero exactly where told.
func checkRows(t testing.TB, x *mat.Dense, zero func(i int) bool) {
	t.Helper()
	n, k := x.Dims()
	for i := range n {
		want := math.Sqrt(float64(k))
		if zero(i) {
			want = 0
		}
		if got := mat.Norm(x.RowView(i), 2); !(math.Abs(got-want) <= 1e-12*float64(k)) {
			t.Fatalf("row %d has length %v, want %v", i, got, want)
		}
	}
}

// TestWordVectors compares with a dense decomposition by the cosines of rows, which do
// not depend on signs and bases. After a gap, and where all singular values are
// taken, they agree closely.
func TestWordVectors(t *testing.T) {
	t.Parallel()
	ok := made(t)
	preferential := ok(graph.BarabasiAlbert(300, 3, 1))
	blocks := ok(graph.StochasticBlock([]int{60, 60, 60, 60, 60}, func(a, b int) float64 {
		if a == b {
			return 0.1
		}
		return 0.002
	}, 4))
	hub := make([][2]int, 299)
	for i := range hub {
		hub[i] = [2]int{0, i + 1}
	}
	planted := wordSet(t, topics(300, 5, 12, 60, "planted"))
	few := wordSet(t, topics(300, 1, 4, 8, "few"))
	for _, c := range []struct {
		name string
		s    *Set
		g    *graph.Graph
		want int
		tol  float64
	}{
		{"topics", planted, nil, 4, 1e-3},
		{"all words", few, nil, 64, 1e-9},
		{"topics over blocks", planted, blocks, 4, 2e-3},
		{"topics over blocks, six decades", planted, reweighted(t, blocks, 6, 1), 2, 1e-2},
		{"all words over a preferential graph", few, preferential, 64, 2e-2},
		{"all words over six decades", few, reweighted(t, preferential, 6, 2), 64, 2e-2},
		{"all words over a star", few, fromEdges(t, 300, hub, nil), 64, 2e-2},
	} {
		got, err := c.s.wordVectors(context.Background(), c.g, c.want)
		if err != nil || got == nil {
			t.Fatal(c.name, got, err)
		}
		_, k := got.Dims()
		want, values := exactWordVectors(t, c.s, c.g, k)
		largest, rms := apart(t, want, got, nil)
		t.Logf("%s: %d columns, cosines differ by %.2g at most, rms %.2g; singular values %.4g", c.name, k, largest, rms,
			values[:min(len(values), k+2)])
		if largest > c.tol {
			t.Errorf("%s: cosines of %d columns differ by %.2g", c.name, k, largest)
		}
		if c.g == nil {
			checkRows(t, got, func(i int) bool { return i%15 == 7 })
		}
	}
}

// TestSpread: the polynomial is close to the series, and so is its transpose.
func TestSpread(t *testing.T) {
	t.Parallel()
	g := reweighted(t, made(t)(graph.BarabasiAlbert(200, 3, 1)), 3, 1)
	exactly := spreadExactly(t, g)
	o := newWordOperator(wordSet(t, topics(200, 3, 5, 20, "spread")).Words, g)
	o.size(200)
	ones := make([]float64, 200)
	for i := range ones {
		ones[i] = 1
	}
	identity := mat.NewDense(200, 200, nil)
	identity.Copy(mat.NewDiagDense(200, ones))
	var got, transposed mat.Dense
	got.CloneFrom(identity)
	transposed.CloneFrom(identity)
	o.spread(&got, identity, o.walk)
	o.spread(&transposed, identity, o.walk.T())
	for i := range 200 {
		sum := 0.0
		for j := range 200 {
			sum += got.At(i, j)
			if d := math.Abs(got.At(i, j) - exactly.At(i, j)); d > 1e-3 {
				t.Fatalf("S at %d, %d differs by %v", i, j, d)
			}
			if d := math.Abs(got.At(i, j) - transposed.At(j, i)); d > 1e-12 {
				t.Fatalf("Sᵀ at %d, %d differs by %v", j, i, d)
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Fatalf("row %d of S sums to %v", i, sum)
		}
	}
}

// TestWordVectorsRenumbered: another numbering of nodes, which changes the start as well,
// changes cosines by little, even without a gap after the last column.
func TestWordVectorsRenumbered(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const n = 900
	cells := topics(n, 6, 12, 200, "renumbered")
	g := made(t)(graph.BarabasiAlbert(n, 3, 3))
	h, order := renumbered(t, g, 1)
	mixed := make([][]string, n)
	for i, old := range order {
		mixed[i] = cells[old]
	}
	a, b := wordSet(t, cells), wordSet(t, mixed)
	for _, c := range []struct {
		name     string
		g, h     *graph.Graph
		want     int
		tol, rms float64
	}{
		{"words, at a gap", nil, nil, 5, 1e-9, 1e-9},
		{"words", nil, nil, 32, 2e-2, 2e-3},
		{"spread words", g, h, 32, 2e-2, 2e-3},
	} {
		x, err := a.wordVectors(context.Background(), c.g, c.want)
		if err != nil {
			t.Fatal(err)
		}
		y, err := b.wordVectors(context.Background(), c.h, c.want)
		if err != nil {
			t.Fatal(err)
		}
		largest, rms := apart(t, x, y, order)
		t.Logf("%s: %.2g, rms %.2g", c.name, largest, rms)
		if largest > c.tol || rms > c.rms {
			t.Errorf("%s: cosines move by %.2g, rms %.2g, under another numbering", c.name, largest, rms)
		}
	}
}

// TestWordVectorsOddities: nothing panics, and every row has length √k or 0.
func TestWordVectorsOddities(t *testing.T) {
	t.Parallel()
	const n = 40
	lonely := fromEdges(t, n, nil, nil)
	ring := made(t)(graph.Ring(n))
	heavy := reweighted(t, ring, 6, 1)
	pair := fromEdges(t, n, [][2]int{{0, 1}, {2, 3}, {4, 4}}, []float64{1e-300, 1e300, 5})
	each := func(words func(i int) []string) [][]string {
		cells := make([][]string, n)
		for i := range cells {
			cells[i] = words(i)
		}
		return cells
	}
	for name, c := range map[string]struct {
		cells [][]string
		cols  int // -1: any
	}{
		"no words":        {each(func(int) []string { return nil }), 0},
		"a word of two":   {each(func(i int) []string { return []string{"a", "b"}[min(1, i/2):1] }), -1},
		"all alike":       {each(func(int) []string { return []string{"a", "b"} }), 0},
		"words of one":    {each(func(i int) []string { return []string{fmt.Sprint(i)} }), 0},
		"two kinds":       {each(func(i int) []string { return []string{[]string{"a", "b"}[i%2]} }), 1},
		"equal levels":    {each(func(i int) []string { return []string{fmt.Sprint(i % 20)} }), 10},
		"one has none":    {each(func(i int) []string { return []string{"a", "b", "c"}[i%3 : min(3, i)] }), -1},
		"few have any":    {each(func(i int) []string { return []string{"a", "b"}[min(i/2, 2):] }), -1},
		"three of twelve": {topics(n, 2, 3, 12, "odd"), -1},
	} {
		s := wordSet(t, c.cells)
		for kind, g := range map[string]*graph.Graph{"": nil, "no edges": lonely, "ring": ring, "six decades": heavy, "pairs": pair} {
			x, err := s.wordVectors(context.Background(), g, 0)
			if err != nil {
				t.Fatal(name, kind, err)
			}
			cols := 0
			if x != nil {
				_, cols = x.Dims()
				for i := range n {
					if got := mat.Norm(x.RowView(i), 2); got != 0 && !(math.Abs(got-math.Sqrt(float64(cols))) < 1e-12) {
						t.Errorf("%s, %s: row %d has length %v", name, kind, i, got)
					}
				}
			}
			if (g == nil || g == lonely) && c.cols >= 0 && cols != c.cols {
				t.Errorf("%s, %s: %d columns, want %d", name, kind, cols, c.cols)
			}
		}
	}
	// The same words at all nodes, as no Set made by Encode has them.
	same := &Set{Nodes: n, Words: matrix(n, 1, upTo(n+1), make([]uint32, n), slices.Repeat([]float64{1}, n)), Vocabulary: []string{"a"}}
	if x, err := same.WordVectors(context.Background(), 0); x != nil || err != nil {
		t.Errorf("nodes with the same words: %v, %v", x, err)
	}
	if x, err := same.SpreadWordVectors(context.Background(), heavy, 0); x != nil || err != nil {
		t.Errorf("nodes with the same words: %v, %v", x, err)
	}
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// TestSpreadReaches: a node without words takes those of its component; without any
// there, its row is zero.
func TestSpreadReaches(t *testing.T) {
	t.Parallel()
	const n = 60
	cells := topics(n, 2, 5, 10, "reaches")
	var edges [][2]int
	for i := range n - 4 {
		edges = append(edges, [2]int{i, i + 1})
	}
	for i := n - 3; i < n; i++ {
		cells[i] = nil
	}
	edges = append(edges, [2]int{n - 3, n - 2})
	x, err := wordSet(t, cells).SpreadWordVectors(context.Background(), fromEdges(t, n, edges, nil), 0)
	if err != nil {
		t.Fatal(err)
	}
	checkRows(t, x, func(i int) bool { return i >= n-3 })
}

// TestFewProducts: where products are costly, as at a million nodes, three of them find singular
// values nearly as large as the exact ones, which no block exceeds, and exact vectors before a gap.
func TestFewProducts(t *testing.T) {
	t.Parallel()
	const n, want, gap = 300, 24, 4
	s := wordSet(t, topics(n, 5, 12, 60, "planted"))
	_, values := exactWordVectors(t, s, nil, want)
	count := &stopping{Operator: newWordOperator(s.Words, nil)}
	b := eigen.Start(count, upTo(n), want+8, blockName)
	if squares, err := iterate(context.Background(), b, count, want, 1e12, 1); squares != nil || err != nil {
		t.Fatal(squares, err)
	}
	squares, err := b.Ritz(eigen.Falling)
	if err != nil {
		t.Fatal(err)
	}
	const columns = 32 // of a product
	if most := 3 * (want + 8 + columns - 1) / columns; count.products > most {
		t.Errorf("%d products, want at most %d", count.products, most)
	}
	for k := range want {
		least := 0.8
		if k < gap {
			least = 0.999
		}
		if share := squares[k] / (values[k] * values[k]); share < least || share > 1+1e-9 {
			t.Errorf("square %d is %.4f of the exact one", k, share)
		}
	}
}

func TestWordVectorsThreads(t *testing.T) { // sets the number of threads, so runs alone
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	n := testkit.Size(4200, 6000) // three blocks of rows
	s, g := wordSet(t, topics(n, 9, 12, 300, "threads")), made(t)(graph.BarabasiAlbert(n, 3, 1))
	for _, g := range []*graph.Graph{nil, g} {
		var want *mat.Dense
		for _, procs := range testkit.FewIfRaced(2, []int{1, 5, 2}) {
			runtime.GOMAXPROCS(procs)
			x, err := s.wordVectors(context.Background(), g, 16)
			if err != nil {
				t.Fatal(err)
			}
			if want = cmp.Or(want, x); !slices.Equal(want.RawMatrix().Data, x.RawMatrix().Data) {
				t.Errorf("word vectors on %d processors differ from those on one; a graph: %v", procs, g != nil)
			}
		}
	}
}

func TestWordVectorsCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	s := wordSet(t, topics(2000, 9, 12, 300, "cancelled"))
	o := newWordOperator(s.Words, nil)
	// The first product after the start cancels.
	stop := &stopping{Operator: o, after: 2, stop: cancel}
	b := eigen.Start(stop, upTo(2000), 40, blockName)
	if _, err := iterate(ctx, b, stop, 24, 1, 1e9); !errors.Is(err, context.Canceled) || stop.products > 4 {
		t.Errorf("after cancellation: %v, after %d products", err, stop.products)
	}
	if _, err := s.WordVectors(ctx, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancellation: %v", err)
	}
	if _, err := s.SpreadWordVectors(ctx, made(t)(graph.Ring(2000)), 10); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancellation: %v", err)
	}
}

// stopping counts products and calls stop.
type stopping struct {
	eigen.Operator
	products, after int
	stop            func()
}

func (s *stopping) Mul(dst, x *mat.Dense) {
	if s.products++; s.products == s.after {
		s.stop()
	}
	s.Operator.Mul(dst, x)
}

// TestDirections compares with a dense decomposition, hubs included, whose entries
// in X are compressed.
func TestDirections(t *testing.T) {
	t.Parallel()
	g := made(t)(graph.BarabasiAlbert(300, 2, 1))
	v, err := singularVectors(context.Background(), g.Adjacency(), g.Nodes(), 30)
	if err != nil || v == nil {
		t.Fatal(v, err)
	}
	values, u := exact(t, g.Adjacency())
	x := v.Directions(20)
	_, k := x.Dims()
	want := mat.NewDense(300, k, nil)
	want.Mul(u.Slice(0, 300, 0, k), mat.NewDiagDense(k, values[:k]))
	for i := range 300 {
		multiply(want.RawRowView(i), math.Sqrt(float64(k))/length(want.RawRowView(i)))
	}
	if largest, _ := apart(t, want, x, nil); k != 20 || largest > 1e-9 {
		t.Errorf("cosines of %d columns differ by %v", k, largest)
	}
	checkRows(t, x, func(int) bool { return false })
}

// TestDirectionsGroups: equal singular values are not parted; rows of zeros stay.
func TestDirectionsGroups(t *testing.T) {
	t.Parallel()
	v := &Vectors{
		unscaled: mat.NewDense(3, 4, []float64{1, 2, 3, 4, 0, 0, 0, 0, -1, 1, 1, 2}),
		Values:   []float64{-2, 2, 1e-300, -1e-301}, Group: []int{0, 0, 1, 2},
	}
	for most, want := range []int{4, 2, 2, 3, 4, 4} {
		x := v.Directions(most)
		if _, k := x.Dims(); k != want {
			t.Errorf("at most %d: %d columns, want %d", most, k, want)
		}
		checkRows(t, x, func(i int) bool { return i == 1 })
	}
	if v.unscaled.At(0, 0) != 1 {
		t.Error("the vectors were changed")
	}
}

func TestEmbeddingBySize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{0: 64, 50_000: 64, 100_000: 32, 1_000_000: 24, 10_000_000: 3} {
		if got := EmbeddingBySize(n); got != want {
			t.Errorf("%d nodes: %d columns, want %d", n, got, want)
		}
	}
}

// cora reads Cora with its words.
func cora(t testing.TB) (*Set, *graph.Graph, []string) {
	t.Helper()
	read := func(name string) [][]string {
		f, err := os.Open(testkit.Data(t, "cora_words/"+name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(z).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return rows[1:]
	}
	const n = 2708
	number := func(text string) int {
		i, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	cells := make([][]string, n)
	for _, row := range read("words.csv.gz") {
		cells[number(row[0])] = append(cells[number(row[0])], row[1])
	}
	var edges [][2]int
	for _, row := range read("edges.csv.gz") {
		edges = append(edges, [2]int{number(row[0]), number(row[1])})
	}
	class := make([]string, n)
	for _, row := range read("labels.csv.gz") {
		class[number(row[0])] = row[1]
	}
	return wordSet(t, cells), fromEdges(t, n, edges, nil), class
}

// TestWordVectorsOfCora: most of the ten papers with the most similar rows have the class of a
// paper: more by word vectors than by words, and still more by those spread over
// citations. The quick suite asks about 400 of the 2,708 papers.
func TestWordVectorsOfCora(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	s, g, class := cora(t)
	papers := testkit.Size(400, s.Nodes)
	n := s.Nodes
	words := mat.NewDense(n, len(s.Vocabulary), nil)
	for i := range n {
		cols, vals := s.Words.Row(i)
		for p, w := range cols {
			words.Set(i, int(w), vals[p])
		}
	}
	right := []float64{alike(words, class, papers)}
	for _, g := range []*graph.Graph{nil, g} {
		start := time.Now()
		x, err := s.wordVectors(context.Background(), g, 0)
		took := time.Since(start)
		if err != nil || x == nil {
			t.Fatal(x, err)
		}
		_, k := x.Dims()
		if k != 64 {
			t.Errorf("%d columns", k)
		}
		right = append(right, alike(x, class, papers))
		t.Logf("%d columns in %v, spread: %v, of the same class: %.3f", k, took, g != nil, right)
	}
	if !(right[1] > right[0]+0.03 && right[2] > right[1]+0.1) {
		t.Errorf("of the same class: %.3f by words, %.3f by word vectors, %.3f by spread ones", right[0], right[1], right[2])
	}
}

// alike returns which share of the ten rows nearest to one of the first rows by the cosine have its class.
func alike(x *mat.Dense, class []string, first int) float64 {
	const near = 10
	n, width := x.Dims()
	gram := mat.NewDense(first, n, nil)
	linalg.Mul(linalg.View(gram), linalg.View(x.Slice(0, first, 0, width).(*mat.Dense)), linalg.View(x).T())
	same := 0
	for i := range first {
		row := gram.RawRowView(i)
		row[i] = math.Inf(-1)
		for range near {
			best := floats.MaxIdx(row)
			if row[best] = math.Inf(-1); class[best] == class[i] {
				same++
			}
		}
	}
	return float64(same) / float64(near*first)
}
