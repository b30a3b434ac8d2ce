package covariate

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/rng"
	"grfgp/internal/testkit"
)

func mustEncode(t testing.TB, columns []Column, nodes int, opts Options) *Set {
	t.Helper()
	s, err := Encode(columns, nodes, opts)
	if err != nil {
		t.Fatal(err)
	}
	checkSet(t, s)
	return s
}

// checkSet checks what every set promises.
func checkSet(t testing.TB, s *Set) {
	t.Helper()
	if (s.X == nil) != (len(s.Names) == 0) || len(s.Readings) != len(s.Names) || len(s.Group) != len(s.Names) {
		t.Fatalf("%d names, %d readings, %d groups of columns", len(s.Names), len(s.Readings), len(s.Group))
	}
	for _, g := range s.Group {
		if g < 0 || g >= len(s.Groups) {
			t.Fatalf("group %d of %q", g, s.Groups)
		}
	}
	if s.X != nil {
		for _, v := range s.X.RawMatrix().Data {
			if !(math.Abs(v) <= bound) {
				t.Fatalf("%v in X", v)
			}
		}
	}
	for j, r := range s.Readings {
		if u := r.PerUnit(); !(u > 0) || math.IsInf(u, 0) || r.Unit() == "" {
			t.Fatalf("%s: %v %q", s.Names[j], u, r.Unit())
		}
	}
	if s.Words == nil {
		return
	}
	for i := range s.Nodes {
		cols, vals := s.Words.Row(i)
		squares := 0.0
		for p, v := range vals {
			squares += v * v
			if p > 0 && cols[p-1] >= cols[p] {
				t.Fatalf("the words of node %d do not increase", i)
			}
		}
		if len(vals) > 0 && math.Abs(squares-1) > 1e-12 {
			t.Fatalf("the words of node %d have squared length %v", i, squares)
		}
	}
}

func random(name string) *rand.Rand { return rand.New(rng.New(1, name)) }

// numbersOf makes n numbers.
func numbersOf(n int, f func(r *rand.Rand) float64) []float64 {
	r := random("numbers")
	out := make([]float64, n)
	for i := range out {
		out[i] = f(r)
	}
	return out
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	normal := numbersOf(1000, func(r *rand.Rand) float64 { return 50 + 10*r.NormFloat64() })
	lognormal := numbersOf(1000, func(r *rand.Rand) float64 { return math.Exp(3 * r.NormFloat64()) })
	cauchy := numbersOf(1000, func(r *rand.Rand) float64 { return r.NormFloat64() / r.NormFloat64() })
	s := mustEncode(t, []Column{NewNumbers("normal", normal), NewNumbers("lognormal", lognormal), NewNumbers("cauchy", cauchy)}, 1000,
		Options{})
	if !slices.Equal(s.Names, []string{"normal", "lognormal", "cauchy"}) || !slices.Equal(s.Groups, s.Names) ||
		!slices.Equal(s.Group, []int{0, 1, 2}) {
		t.Fatalf("names %q, groups %q %v", s.Names, s.Groups, s.Group)
	}
	for j, want := range []Form{Plain, Log, SignedLog} {
		r := s.Readings[j]
		if r.Form != want {
			t.Errorf("%s has form %d, want %d; %q", s.Names[j], r.Form, want, s.Notes)
		}
		col := mat.Col(nil, j, s.X)
		slices.Sort(col)
		mean, squares := 0.0, 0.0
		for _, v := range col {
			mean += v / 1000
			squares += v * v / 1000
		}
		if math.Abs(mean) > 0.01 || math.Abs(squares-1) > 0.05 {
			t.Errorf("%s: mean %v, mean square %v", s.Names[j], mean, squares)
		}
		for i := range 1000 {
			if got, want := s.X.At(i, j), r.Position([][]float64{normal, lognormal, cauchy}[j][i]); got != want {
				t.Fatalf("%s at %d: %v, position %v", s.Names[j], i, got, want)
			}
		}
	}
	// A doubling far above the base moves the column by PerUnit.
	r := s.Readings[1]
	if got := (r.transform(2e6) - r.transform(1e6)) / r.Scale; math.Abs(got-r.PerUnit()) > 1e-4 {
		t.Errorf("a doubling moves the column by %v, PerUnit says %v", got, r.PerUnit())
	}
	if r.Unit() != "per doubling of lognormal" || !strings.HasPrefix(s.Readings[0].Unit(), "per 10") {
		t.Errorf("%q, %q", r.Unit(), s.Readings[0].Unit())
	}
	if !strings.Contains(s.Notes[0], "lognormal: logged, because its upper tail is heavy (skewness ") {
		t.Errorf("%q", s.Notes)
	}
}

func TestOutliersAreClipped(t *testing.T) {
	t.Parallel()
	values := numbersOf(400, func(r *rand.Rand) float64 { return r.NormFloat64() })
	values[7] = -9
	s := mustEncode(t, []Column{NewNumbers("a", values)}, 400, Options{})
	if s.X.At(7, 0) != -bound || !slices.Contains(s.Notes, "a: 1 of 400 values beyond 4 sds, taken as 4 sds") {
		t.Errorf("%v, %q", s.X.At(7, 0), s.Notes)
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	few, many, level := make([]float64, 400), make([]float64, 400), make([]string, 400)
	for i := range 400 {
		few[i], many[i], level[i] = float64(i%17), float64(i*i%31), []string{"a", "b", "c", ""}[i%4]
		if i < 3 {
			few[i] = nan
		}
		if i%5 == 0 {
			many[i] = nan
		}
	}
	s := mustEncode(t, []Column{NewNumbers("few", few), NewNumbers("many", many), NewCategory("level", level)}, 400, Options{})
	if want := []string{"few", "many", "many missing", "level=a", "level=b", "level=c", "level missing"}; !slices.Equal(s.Names, want) {
		t.Fatalf("%q, want %q", s.Names, want)
	}
	for _, note := range []string{
		"few: 3 of 400 missing, taken as the mean", "many: 80 of 400 missing, taken as the mean, with a column that says where",
		"level: 3 levels",
		"level: 100 of 400 missing, taken as the mean, with a column that says where",
	} {
		if !slices.Contains(s.Notes, note) {
			t.Errorf("no note %q in %q", note, s.Notes)
		}
	}
	if s.X.At(0, 0) != 0 || s.X.At(0, 1) != 0 || math.Abs(s.X.At(0, 2)-0.8*math.Sqrt2) > 1e-15 ||
		math.Abs(s.X.At(1, 2)+0.2*math.Sqrt2) > 1e-15 {
		t.Errorf("row 0 %v, row 1 %v", s.X.RawRowView(0), s.X.RawRowView(1))
	}
	if row := s.X.RawRowView(3)[3:6]; row[0] != 0 || row[1] != 0 || row[2] != 0 {
		t.Errorf("a node without a level has %v", row)
	}
	if got := s.Readings[2].Unit(); got != "where many is missing" || math.Abs(s.Readings[2].PerUnit()-math.Sqrt2) > 1e-15 {
		t.Errorf("%q", got)
	}
}

func TestCategories(t *testing.T) {
	t.Parallel()
	cells := make([]string, 200)
	for i := range cells {
		cells[i] = []string{"road", "ramp", "street"}[i%3]
	}
	cells[3], cells[4], cells[5], cells[6], cells[7] = "rare1", "rare2", "rare3", "rare3", "rare4"
	two := make([]string, 200)
	for i := range two {
		two[i] = map[bool]string{true: "yes", false: "no"}[i < 20]
	}
	s := mustEncode(t, []Column{NewCategory("type", cells), NewCategory("mature", two)}, 200, Options{})
	if want := []string{"type=ramp", "type=road", "type=street", "type=other", "mature=yes"}; !slices.Equal(s.Names, want) {
		t.Fatalf("%q, want %q", s.Names, want)
	}
	if !slices.Contains(s.Notes, "type: 4 levels, one of which pools 4 rare levels") {
		t.Errorf("%q", s.Notes)
	}
	// Nodes of different levels are √2 apart, with two levels or more.
	for _, c := range []struct {
		columns []int
		a, b    int
	}{{[]int{0, 1, 2, 3}, 0, 1}, {[]int{4}, 0, 100}} {
		squares := 0.0
		for _, j := range c.columns {
			d := s.X.At(c.a, j) - s.X.At(c.b, j)
			squares += d * d
		}
		if math.Abs(squares-2) > 1e-12 {
			t.Errorf("squared distance %v by columns %v", squares, c.columns)
		}
	}
	if r := s.Readings[4]; r.Unit() != "where mature is yes" || math.Abs(r.PerUnit()-math.Sqrt2) > 1e-15 {
		t.Errorf("%q %v", r.Unit(), r.PerUnit())
	}
	// Too few nodes for "other": taken as missing.
	cells[5], cells[6], cells[7] = "road", "road", "road"
	s = mustEncode(t, []Column{NewCategory("type", cells)}, 200, Options{})
	if !slices.Contains(s.Notes, "type: 3 levels; 2 rare levels of 2 nodes taken as missing") || s.Dim() != 3 || s.X.At(3, 0) != 0 {
		t.Errorf("%q %q", s.Names, s.Notes)
	}
}

func TestLeftOut(t *testing.T) {
	t.Parallel()
	n := 100
	ids, same, base, double, negative := make([]string, n), make([]string, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		ids[i], same[i] = fmt.Sprintf("way/%d", i*i), "paved"
		base[i] = math.Sin(float64(i * i))
		double[i], negative[i] = 3*base[i]+1e6, -base[i]
	}
	constant := numbersOf(n, func(*rand.Rand) float64 { return 7 })
	s := mustEncode(t, []Column{
		Detect("osmid", ids), Detect("surface", same), NewNumbers("seven", constant), NewNumbers("base", base), NewNumbers("double", double),
		NewNumbers("negative", negative),
		Detect("nothing", make([]string, n)), NewNumbers("nan", numbersOf(n, func(*rand.Rand) float64 { return math.NaN() })),
	}, n, Options{})
	if !slices.Equal(s.Names, []string{"base"}) || s.Words != nil {
		t.Fatalf("%q", s.Names)
	}
	want := []string{
		"osmid: left out: nearly one value per node (100 distinct values)", "surface: left out: all values are paved",
		"seven: left out: all values are 7",
		"double: left out: the same as base", "negative: left out: the same as base", "nothing: left out: no values", "nan: left out: no values",
	}
	if !slices.Equal(s.Notes, want) {
		t.Errorf("notes %q, want %q", s.Notes, want)
	}
}

func TestWordsAreWeighted(t *testing.T) {
	t.Parallel()
	cells := [][]string{{"a", "b", "b"}, {"b", "a", "c", ""}, {"c", "a"}, nil, {"a", "lone"}}
	s := mustEncode(t, []Column{NewWords("topics", cells)}, 5, Options{})
	if s.X != nil || !slices.Equal(s.Vocabulary, []string{"b", "c"}) {
		t.Fatalf("%q", s.Vocabulary)
	}
	if want := `topics: 4 words, weighted by how rare they are; 1 in one node only left out; 1 in all nodes left out; "b" is in 2 nodes; 1 ` +
		`of 5 nodes have no words`; !slices.Equal(s.Notes, []string{want}) {
		t.Errorf("%q", s.Notes)
	}
	if s.Words.At(0, 0) != 1 || math.Abs(s.Words.At(1, 0)-math.Sqrt(0.5)) > 1e-15 || s.Words.At(2, 1) != 1 {
		t.Errorf("rows %v %v", s.Words.At(0, 0), s.Words.At(1, 0))
	}
	// Weights of words that differ in how rare they are.
	s = mustEncode(t, []Column{NewWords("w", [][]string{{"x", "y"}, {"x", "y"}, {"x"}, {"z"}, {"z"}})}, 5, Options{})
	ratio := s.Words.At(0, 0) / s.Words.At(0, 1)
	if want := math.Log(5.0/3) / math.Log(5.0/2); math.Abs(ratio-want) > 1e-12 {
		t.Errorf("x : y = %v, want %v", ratio, want)
	}
	// Two lists keep their words apart.
	s = mustEncode(t, []Column{NewWords("p", [][]string{{"x"}, {"x"}, {"y"}}), NewWords("q", [][]string{{"x"}, {}, {"x"}})}, 3, Options{})
	if !slices.Equal(s.Vocabulary, []string{"p=x", "q=x"}) {
		t.Errorf("%q", s.Vocabulary)
	}
}

// everyKind returns columns of all kinds, with gaps.
func everyKind(n int, seed uint64) []Column {
	r := rand.New(rng.New(seed, "every kind"))
	gap := func(text string) string {
		if r.IntN(9) == 0 {
			return ""
		}
		return text
	}
	cells := make([][]string, 6)
	for range n {
		for j, text := range []string{
			fmt.Sprint(r.NormFloat64()), fmt.Sprint(math.Exp(4 * r.NormFloat64())), fmt.Sprintf("level%d", int(3*r.ExpFloat64())),
			fmt.Sprintf("20%02d-%02d-%02d", r.IntN(20), 1+r.IntN(12), 1+r.IntN(28)), fmt.Sprintf("w%d;w%d;w%d", r.IntN(20), r.IntN(20), r.IntN(40)),
			[]string{"yes", "no"}[r.IntN(2)],
		} {
			cells[j] = append(cells[j], gap(text))
		}
	}
	var out []Column
	for j, name := range []string{"normal", "heavy", "level", "date", "words", "flag"} {
		out = append(out, Detect(name, cells[j]))
	}
	return out
}

// The order of the nodes does not change a bit of their rows, nor a note.
func TestOrderOfNodes(t *testing.T) {
	t.Parallel()
	const n = 300
	columns := everyKind(n, 1)
	for j, want := range []Kind{Number, Number, Category, Date, Words, Category} {
		if columns[j].Kind != want {
			t.Fatalf("%s is %v", columns[j].Name, columns[j].Kind)
		}
	}
	want := mustEncode(t, columns, n, Options{})
	order := random("order").Perm(n)
	mixed := make([]Column, len(columns))
	for j, c := range columns {
		mixed[j] = c.Pick(order)
	}
	got := mustEncode(t, mixed, n, Options{})
	if !slices.Equal(got.Notes, want.Notes) || !slices.Equal(got.Names, want.Names) || !slices.Equal(got.Vocabulary, want.Vocabulary) {
		t.Fatalf("%q\n%q", got.Notes, want.Notes)
	}
	for k, i := range order {
		if !slices.Equal(got.X.RawRowView(k), want.X.RawRowView(i)) {
			t.Fatalf("node %d: %v, before %v", i, got.X.RawRowView(k), want.X.RawRowView(i))
		}
		a, x := got.Words.Row(k)
		b, y := want.Words.Row(i)
		if !slices.Equal(a, b) || !slices.Equal(x, y) {
			t.Fatalf("node %d: other words", i)
		}
	}
	if got.Hash() == want.Hash() {
		t.Error("another order has the same hash")
	}
	if again := mustEncode(t, columns, n, Options{}); again.Hash() != want.Hash() {
		t.Error("the hash differs from one run to the next")
	}
}

func TestManyColumns(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const n, d = 40, 10_000
	r := random("many")
	columns := make([]Column, d)
	for j := range columns {
		values := make([]float64, n)
		for i := range values {
			values[i] = r.NormFloat64()
		}
		columns[j] = NewNumbers(fmt.Sprintf("gene%d", j), values)
	}
	columns[77] = NewNumbers("copy", columns[76].Numbers)
	s := mustEncode(t, columns, n, Options{})
	if s.Dim() != d-1 || !slices.Equal(s.Groups, []string{"numbers"}) {
		t.Errorf("%d columns, groups %q", s.Dim(), s.Groups)
	}
	if _, err := Encode(columns, n, Options{MaxDense: 5000}); !errors.Is(err, ErrColumns) ||
		!strings.Contains(err.Error(), "name fewer of them") {
		t.Errorf("%v", err)
	}
	// Levels are pooled before that.
	cells := make([]string, 1000)
	for i := range cells {
		cells[i] = fmt.Sprint("level", i%100)
	}
	s = mustEncode(t, []Column{NewCategory("level", cells)}, 1000, Options{MaxDense: 20})
	if s.Dim() > 20 || s.Dim() < 5 || !strings.Contains(s.Notes[0], "pooled more than usual") {
		t.Errorf("%d columns, %q", s.Dim(), s.Notes)
	}
}

// One column per node, or one level per node, says nothing about other nodes.
func TestOneColumnPerNode(t *testing.T) {
	t.Parallel()
	const n = 120
	columns := make([]Column, n, n+1)
	level := make([]string, n)
	for j := range columns {
		cells := slices.Repeat([]string{"0"}, n)
		cells[j] = "1"
		columns[j] = Detect(fmt.Sprintf("is%d", j), cells)
		level[j] = fmt.Sprint("level", j)
	}
	s := mustEncode(t, append(columns, NewCategory("level", level)), n, Options{})
	want := []string{"is0: left out: only one level has 5 nodes; likewise 119 more columns: is1, is2, is3 and so on",
		"level: left out: no level has 5 nodes"}
	if !slices.Equal(s.Notes, want) || !s.Empty() {
		t.Errorf("%q %q", s.Names, s.Notes)
	}
}

func TestKindsAsTold(t *testing.T) {
	t.Parallel()
	lanes := NewNumbers("lanes", numbersOf(100, func(r *rand.Rand) float64 { return float64(1 + r.IntN(4)) }))
	s := mustEncode(t, []Column{lanes}, 100, Options{Kinds: map[string]Kind{"lanes": Category}})
	if !slices.Equal(s.Names, []string{"lanes=1", "lanes=2", "lanes=3", "lanes=4"}) {
		t.Errorf("%q", s.Names)
	}
	if _, err := Encode([]Column{lanes}, 100, Options{Kinds: map[string]Kind{"lane": Category}}); !errors.Is(err, ErrColumns) ||
		!strings.Contains(err.Error(), `did you mean "lanes"?`) {
		t.Errorf("%v", err)
	}
	if _, err := Encode([]Column{lanes}, 100, Options{Kinds: map[string]Kind{"lanes": Words}}); !errors.Is(err, ErrColumns) {
		t.Errorf("%v", err)
	}
}

func TestEncodeErrors(t *testing.T) {
	t.Parallel()
	ok := NewNumbers("a", []float64{1, 2})
	for _, columns := range [][]Column{
		{ok, ok},
		{NewNumbers("b", []float64{1})},
		{{Name: "c", Kind: Number, Numbers: []float64{1, math.Inf(1)}}},
		{{Name: "d", Kind: Category, Codes: []uint32{1, 3}, Levels: []string{"x", "y"}}},
		{{Name: "e", Kind: Category, Codes: []uint32{1, 2}, Levels: []string{"y", "x"}}},
		{{Name: "f", Kind: Words, Start: []int{0, 1, 2}, Items: []uint32{0, 1}, Levels: []string{"x"}}},
		{{Name: "g", Kind: Words}},
		{{Name: "h", Kind: Kind(99)}},
	} {
		if _, err := Encode(columns, 2, Options{}); !errors.Is(err, ErrColumns) || !strings.Contains(err.Error(), columns[0].Name) {
			t.Errorf("%+v: %v", columns, err)
		}
	}
	if s := mustEncode(t, nil, 0, Options{}); !s.Empty() {
		t.Error("a set of nothing is not empty")
	}
}
