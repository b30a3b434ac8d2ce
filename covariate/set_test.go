package covariate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/sparse"
)

func TestSelect(t *testing.T) {
	t.Parallel()
	columns := []Column{
		NewNumbers("capacity", nil), NewNumbers("Length", nil), NewNumbers("volume", nil),
		{Name: "district", Kind: Category, Role: "group"}, {Name: "all_day", Kind: Number},
	}
	for _, c := range []struct {
		names, except []string
		want          string
	}{
		{nil, nil, "capacity Length volume all_day"},
		{[]string{"all"}, []string{"volume"}, "capacity Length all_day"},
		{[]string{"all", "district"}, []string{"volume"}, "capacity Length district all_day"},
		{[]string{"length", "capacity"}, nil, "capacity Length"},
		{[]string{"group"}, nil, "district"},
	} {
		got, err := Select(columns, c.names, c.except...)
		var names []string
		for _, column := range got {
			names = append(names, column.Name)
		}
		if err != nil || strings.Join(names, " ") != c.want {
			t.Errorf("%q except %q: %q, %v", c.names, c.except, names, err)
		}
	}
	for name, want := range map[string]string{
		"capacty": `there is no column "capacty"; did you mean "capacity"? The columns are capacity, Length, volume, district, all_day`,
		"zzz":     `there is no column "zzz"; the columns are capacity, Length, volume, district, all_day`,
		"volume":  `"volume" is what is to be predicted; leave it out`,
	} {
		if _, err := Select(columns, []string{name}, "volume"); !errors.Is(err, ErrColumns) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want … %s", err, want)
		}
	}
	if _, err := Select(nil, []string{"a"}); !errors.Is(err, ErrColumns) {
		t.Error(err)
	}
}

func TestSuspicious(t *testing.T) {
	t.Parallel()
	const n = 300
	r := random("suspicious")
	y, disguised, monotone, honest, level := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]string, n)
	for i := range n {
		y[i] = float64(i%7) + 0.01*r.NormFloat64()
		disguised[i] = 3*y[i] + 100 + 0.001*r.NormFloat64()
		monotone[i] = 1 / (1 + math.Exp(-3*y[i]))
		honest[i] = y[i] + r.NormFloat64()
		level[i] = fmt.Sprint("level", i%7)
	}
	s := mustEncode(t, []Column{NewNumbers("volume_total", disguised), NewNumbers("monotone", monotone), NewNumbers("honest", honest),
		NewCategory("bin", level)}, n, Options{})
	nodes := make([]int, 0, n)
	values := make([]float64, 0, n)
	for i := 0; i < n; i += 2 {
		nodes, values = append(nodes, i), append(values, y[i])
	}
	got := s.Suspicious(values, nodes)
	if len(got) != 3 || !strings.HasPrefix(got[0], "volume_total explains practically all of the variance of the measurements: is it the "+
		"target in disguise?") ||
		!strings.HasPrefix(got[1], "monotone puts the measurements in their order (rank correlation ") ||
		!strings.HasPrefix(got[2], "the levels of bin explain 99.99 % of the variance") {
		t.Errorf("%q", got)
	}
	if got := s.Suspicious(values[:5], nodes[:5]); got != nil {
		t.Errorf("five measurements: %q", got)
	}
	if got := s.Suspicious(make([]float64, 20), nodes[:20]); got != nil {
		t.Errorf("constant measurements: %q", got)
	}
}

func TestSuspiciousClasses(t *testing.T) {
	t.Parallel()
	const n = 400
	r := random("classes")
	class, copied, level, honest, fine := make([]int, n), make([]float64, n), make([]string, n), make([]string, n), make([]float64, n)
	nodes := make([]int, n)
	for i := range n {
		nodes[i], class[i] = i, r.IntN(4)
		copied[i], fine[i] = float64(10-class[i]), float64(class[i])+0.1*r.Float64()
		level[i] = fmt.Sprint("group", class[i])
		if honest[i] = level[i]; r.IntN(10) == 0 {
			honest[i] = "group0"
		}
	}
	s := mustEncode(t, []Column{NewNumbers("code", copied), NewCategory("level", level), NewCategory("honest", honest),
		NewNumbers("fine", fine)}, n, Options{})
	want := []string{
		"code tells the class of practically all of the labelled nodes: is it the class in disguise?",
		"level tells the class of practically all of the labelled nodes: is it the class in disguise?",
	}
	if got := s.SuspiciousClasses(class, nodes); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := s.SuspiciousClasses(make([]int, n), nodes); got != nil {
		t.Errorf("one class: %q", got)
	}
}

// path returns a weighted graph with a node without neighbours at the end.
func path(t *testing.T, n int) *graph.Graph {
	t.Helper()
	var e graph.Edges
	for i := range n - 2 {
		e.U, e.V, e.W = append(e.U, uint32(i)), append(e.V, uint32(i+1)), append(e.W, 1+float64(i%3))
	}
	g, _, err := graph.FromEdges(graph.NumberIDs(n), e, graph.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestNeighbourhood(t *testing.T) {
	t.Parallel()
	const n = 600
	s := mustEncode(t, everyKind(n, 2), n, Options{})
	g := path(t, n)
	got := s.Neighbourhood(g)
	words := s.NeighbourhoodWords(g)
	for i := range n {
		nodes, weights := g.Adjacency().Row(i)
		want, total := make([]float64, s.Dim()), 0.0
		mean := make([]float64, len(s.Vocabulary))
		for k, j := range nodes {
			total += weights[k]
			for d := range want {
				want[d] += weights[k] * s.X.At(int(j), d)
			}
			cols, vals := s.Words.Row(int(j))
			for p, w := range cols {
				mean[w] += weights[k] * vals[p]
			}
		}
		if total == 0 {
			want, total = s.X.RawRowView(i), 1
			cols, vals := s.Words.Row(i)
			for p, w := range cols {
				mean[w] = vals[p]
			}
		}
		for d := range want {
			if math.Abs(got.At(i, d)-want[d]/total) > 1e-14 {
				t.Fatalf("node %d, column %d: %v, want %v", i, d, got.At(i, d), want[d]/total)
			}
		}
		largest, squares := slices.Max(mean), 0.0
		for _, v := range mean {
			if v >= wordShare*largest {
				squares += v * v
			}
		}
		for w, v := range mean {
			if v < wordShare*largest || v == 0 {
				v = 0
			} else {
				v /= math.Sqrt(squares)
			}
			if math.Abs(words.At(i, w)-v) > 1e-12 {
				t.Fatalf("node %d, word %d: %v, want %v", i, w, words.At(i, w), v)
			}
		}
	}
}

// A hub with many words keeps the hundred largest.
func TestNeighbourhoodOfAHub(t *testing.T) {
	t.Parallel()
	const leaves = 150
	cells := make([][]string, leaves+1)
	var e graph.Edges
	for i := range leaves {
		for k := range 2 {
			cells[i+1] = append(cells[i+1], fmt.Sprintf("w%03d", (i+k)%leaves))
		}
		e.U, e.V, e.W = append(e.U, 0), append(e.V, uint32(i+1)), append(e.W, 1)
	}
	s := mustEncode(t, []Column{NewWords("w", cells)}, leaves+1, Options{})
	g, _, err := graph.FromEdges(graph.NumberIDs(leaves+1), e, graph.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cols, vals := s.NeighbourhoodWords(g).Row(0)
	if len(cols) != wordsKept || cols[0] != 0 || cols[99] != 99 || math.Abs(vals[0]-0.1) > 1e-12 {
		t.Errorf("%d words, the last is %d, the first weighs %v", len(cols), cols[len(cols)-1], vals[0])
	}
}

func TestNothingOfNeighbours(t *testing.T) {
	t.Parallel()
	s := mustEncode(t, nil, 5, Options{})
	g := path(t, 5)
	if x, w := s.Neighbourhood(g), s.NeighbourhoodWords(g); x != (*mat.Dense)(nil) || w != (*sparse.CSR)(nil) {
		t.Error("neighbours of nothing have something")
	}
	defer func() {
		if recover() == nil {
			t.Error("a graph of another size is no panic")
		}
	}()
	s.Neighbourhood(path(t, 6))
}

func TestGrouped(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", -12: "-12", 999: "999", 1000: "1,000", -1234567: "-1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}

// Any numbers, levels and words can be encoded: everything is finite and bounded.
func FuzzEncode(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\xf0\x3f\xff\xff\xff\xff\xff\xff\xef\x7f\x01\x00\x00\x00\x00\x00\x00\x00"), uint64(1))
	f.Add(slices.Repeat([]byte{1, 2, 3, 4, 5, 6, 7, 8}, 40), uint64(2))
	f.Add([]byte("abc;def|x y 2024-01-01 007 1e308 -1e308 NA"), uint64(3))
	f.Fuzz(func(t *testing.T, raw []byte, seed uint64) {
		n := len(raw)/8 + 1
		if n > 2000 {
			return
		}
		r := rand.New(rand.NewPCG(seed, 1))
		numbers, lattice, cells, lists := make([]float64, n), make([]float64, n), make([]string, n), make([][]string, n)
		for i := range n {
			piece := raw[min(len(raw), 8*i):min(len(raw), 8*i+8)]
			cells[i] = string(piece)
			numbers[i] = math.NaN()
			if len(piece) == 8 {
				numbers[i] = math.Float64frombits(binary.LittleEndian.Uint64(piece))
				lattice[i] = float64(piece[0] % 4)
			}
			for _, b := range piece {
				lists[i] = append(lists[i], string(rune('a'+b%16)))
			}
		}
		columns := []Column{NewNumbers("numbers", numbers), NewNumbers("lattice", lattice), Detect("cells", cells), NewCategory("levels", cells),
			NewWords("words", lists), NewDates("dates", numbers)}
		r.Shuffle(len(columns), func(i, j int) { columns[i], columns[j] = columns[j], columns[i] })
		s := mustEncode(t, columns, n, Options{})
		for _, c := range columns {
			if err := c.Check(n); err != nil {
				t.Fatal(err)
			}
		}
		order := r.Perm(n)
		for k, c := range columns {
			columns[k] = c.Pick(order)
		}
		mixed := mustEncode(t, columns, n, Options{})
		if !slices.Equal(s.Names, mixed.Names) || !slices.Equal(s.Notes, mixed.Notes) {
			t.Fatalf("the order of nodes shows: %q and %q", s.Notes, mixed.Notes)
		}
		for k, i := range order {
			if s.X != nil && !slices.Equal(s.X.RawRowView(i), mixed.X.RawRowView(k)) {
				t.Fatal("the order of nodes shows in X")
			}
		}
	})
}
