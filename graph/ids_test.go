package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"grfgp/internal/rng"
)

func TestLabels(t *testing.T) {
	t.Parallel()
	l := NewIDs(0)
	ids := []string{"007", "7", "", "a#b", "ü", "7 "}
	for i, id := range ids {
		if got := l.Intern([]byte(id)); got != i {
			t.Errorf("%q got number %d, want %d", id, got, i)
		}
	}
	for i, id := range ids {
		if got := l.Intern([]byte(id)); got != i {
			t.Errorf("%q got number %d the second time, want %d", id, got, i)
		}
		if got, ok := l.Lookup([]byte(id)); !ok || got != i {
			t.Errorf("lookup of %q: %d, %v, want %d", id, got, ok, i)
		}
		if l.At(i) != id {
			t.Errorf("id %d is %q, want %q", i, l.At(i), id)
		}
	}
	if _, ok := l.Lookup([]byte("8")); ok || l.Len() != len(ids) {
		t.Errorf("an unknown id was found, or kept: %d ids", l.Len())
	}
}

func TestLabelsGrow(t *testing.T) {
	t.Parallel()
	const n = 5000
	grown, numbered := NewIDs(0), NumberIDs(n)
	for i := range n {
		if got := grown.Intern(fmt.Append(nil, i)); got != i {
			t.Fatalf("id %d got number %d", i, got)
		}
	}
	for _, l := range []*IDs{grown, numbered} {
		for i := range n {
			if got, ok := l.Lookup(fmt.Append(nil, i)); !ok || got != i || l.At(i) != fmt.Sprint(i) {
				t.Fatalf("id %d: %q, lookup %d, %v", i, l.At(i), got, ok)
			}
		}
		if got := l.Intern([]byte("more")); got != n {
			t.Fatalf("a new id got number %d, want %d", got, n)
		}
	}
}

func TestLabelsOf(t *testing.T) {
	t.Parallel()
	if l, ok := IDsOf([]string{"b", "a"}); !ok || l.Len() != 2 || l.At(1) != "a" {
		t.Error("two ids were not taken")
	}
	if _, ok := IDsOf([]string{"a", "b", "a"}); ok {
		t.Error("a repeated id was taken")
	}
}

// The table of numbered ids is built by the first reader.
func TestLabelsReadAtOnce(t *testing.T) {
	t.Parallel()
	l := NumberIDs(1000)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 1000 {
				if got, ok := l.Lookup(l.Bytes(i)); !ok || got != i {
					t.Errorf("lookup of %d: %d, %v", i, got, ok)
				}
			}
		})
	}
	wg.Wait()
}

func TestLookupDoesNotAllocate(t *testing.T) {
	l := NumberIDs(1000)
	if n := testing.AllocsPerRun(100, func() { l.Lookup([]byte("123")) }); n != 0 {
		t.Errorf("%v allocations a lookup", n)
	}
}

// TestIDsAreTexts: however ids are kept, they behave as the texts that they are, while new ones of
// every kind come.
func TestIDsAreTexts(t *testing.T) {
	t.Parallel()
	draw := rand.New(rng.New(1, "ids"))
	random := func(kinds int) string {
		switch draw.IntN(kinds) {
		case 0:
			return strconv.Itoa(draw.IntN(300))
		case 1:
			return strconv.Itoa(draw.IntN(1 << 33))
		case 2:
			return fmt.Sprintf("%04d", draw.IntN(3000))
		}
		return strings.Repeat("x", draw.IntN(40))
	}
	for round := range 40 {
		l, numbers := NewIDs(round), map[string]int{}
		var all []string
		for k := range 600 {
			id := strconv.Itoa(k)
			if k > 10*round {
				id = random(1 + k/150)
			}
			want, known := numbers[id]
			if !known {
				want = len(all)
				numbers[id], all = want, append(all, id)
			}
			if got, ok := l.Lookup([]byte(id)); ok != known || ok && got != want {
				t.Fatalf("round %d: lookup of %q: %d, %v, want %d, %v", round, id, got, ok, want, known)
			}
			if got := l.Intern([]byte(id)); got != want {
				t.Fatalf("round %d: %q is number %d, want %d", round, id, got, want)
			}
		}
		for i, id := range all {
			if got, ok := l.Lookup([]byte(id)); !ok || got != i || l.At(i) != id || string(l.Bytes(i)) != id ||
				string(l.Append([]byte("-"), i)) != "-"+id {
				t.Fatalf("round %d: id %d is %q, lookup %d, %v, want %q", round, i, l.At(i), got, ok, id)
			}
			for j, other := range all[:i] {
				if l.compare(i, j) != compareIDs([]byte(id), []byte(other)) {
					t.Fatalf("round %d: %q and %q in another order", round, id, other)
				}
			}
		}
		part := pickIDs(l, []int{len(all) - 1, 0, 3})
		if part.Len() != 3 || part.At(0) != all[len(all)-1] || part.At(2) != all[3] {
			t.Fatalf("round %d: three ids are %q, %q, %q", round, part.At(0), part.At(1), part.At(2))
		}
		if i, ok := part.Lookup([]byte(all[0])); !ok || i != 1 {
			t.Fatalf("round %d: lookup among three ids: %d, %v", round, i, ok)
		}
	}
}

// TestHashOfNumbers: the hash does not tell how ids are kept.
func TestHashOfNumbers(t *testing.T) {
	t.Parallel()
	g := must[*Graph](t)(Grid(20, 30))
	texts := &IDs{form: asTexts, n: g.Len()}
	for i := range g.Len() {
		texts.text = strconv.AppendInt(texts.text, int64(i), 10)
		texts.end = append(texts.end, len(texts.text))
	}
	numbered := &Graph{adj: g.adj, ids: pickIDs(g.ids, g.Nodes())}
	if h := (&Graph{adj: g.adj, ids: texts}); h.Hash() != g.Hash() || numbered.Hash() != g.Hash() || h.Ordered().Hash() != g.Ordered().Hash() {
		t.Error("three hashes of the same graph")
	}
}

func BenchmarkIntern(b *testing.B) {
	const n, m = 1 << 20, 1 << 20
	e, ids := randomEdges(n, m, false, 1), NumberIDs(n)
	for b.Loop() {
		l := NewIDs(0)
		for k := range e.U {
			l.Intern(ids.Bytes(int(e.U[k])))
			l.Intern(ids.Bytes(int(e.V[k])))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*2*m), "ns/id")
}

// An index that several goroutines make of many ids has each id once, and takes more.
func TestIndexOfManyIDs(t *testing.T) {
	t.Parallel()
	const n = 3*rowBlock + 17
	for name, id := range map[string]func(i int) uint32{
		"small":   func(i int) uint32 { return uint32((i*7 + 3) % n) },
		"large":   func(i int) uint32 { return 1<<31 + uint32(i)*1000 },
		"mixed":   func(i int) uint32 { return uint32(i) + uint32(i%2)<<30 },
		"largest": func(i int) uint32 { return math.MaxUint32 - uint32(i) },
	} {
		numbers, texts := &IDs{form: asNumbers, n: n}, &IDs{form: asTexts, n: n}
		for i := range n {
			numbers.num = append(numbers.num, id(i))
			texts.text = fmt.Appendf(texts.text, "n%d", id(i))
			texts.end = append(texts.end, len(texts.text))
		}
		for form, l := range map[string]*IDs{"numbers": numbers, "texts": texts} {
			for i := range n {
				if got, ok := l.Lookup(l.Bytes(i)); !ok || got != i {
					t.Fatalf("%s, %s: lookup of %q: %d, %v, want %d", name, form, l.At(i), got, ok, i)
				}
			}
			for k, unknown := range []string{"4000000001", "77777777", "n4000000001", "x", "00"} {
				if _, ok := l.Lookup([]byte(unknown)); ok {
					t.Errorf("%s, %s: %q is found", name, form, unknown)
				}
				if got := l.Intern([]byte(unknown)); got != n+k {
					t.Errorf("%s, %s: %q got number %d, want %d", name, form, unknown, got, n+k)
				}
			}
			for i := range n {
				if got := l.Intern(l.Bytes(i)); got != i {
					t.Fatalf("%s, %s: %q got another number %d, not %d", name, form, l.At(i), got, i)
				}
			}
		}
	}
}

// BenchmarkIndex is the first lookup among a million ids.
func BenchmarkIndex(b *testing.B) {
	const n = 1 << 20
	var text []byte
	var end []int
	for i := range n {
		text = fmt.Appendf(text, "n%d", i)
		end = append(end, len(text))
	}
	for b.Loop() {
		l := &IDs{form: asTexts, n: n, text: text, end: end}
		if _, ok := l.Lookup([]byte("n77")); !ok {
			b.Fatal("not found")
		}
	}
}
