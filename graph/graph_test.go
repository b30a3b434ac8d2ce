package graph

import (
	"encoding/hex"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/rng"
	"grfgp/sparse"
)

// must unwraps what cannot fail in a test.
func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// build makes a graph of n numbered nodes from rows u, v, w.
func build(t testing.TB, n int, keepLoops bool, rows ...[3]float64) *Graph {
	t.Helper()
	var e Edges
	for _, r := range rows {
		e.add(int(r[0]), int(r[1]))
		e.W = append(e.W, r[2])
	}
	g, _, err := FromEdges(NumberIDs(n), e, BuildOptions{KeepLoops: keepLoops})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// randomGraph has weights in (0, 1], self loops, and some lone nodes.
func randomGraph(t testing.TB, n, m int, seed uint64) *Graph {
	t.Helper()
	e := randomEdges(n, m, true, seed)
	g, _, err := FromEdges(NumberIDs(n), e, BuildOptions{KeepLoops: true})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func randomEdges(n, m int, weighted bool, seed uint64) Edges {
	draw := rand.New(rng.New(seed, "random edges"))
	var e Edges
	for range m {
		e.add(draw.IntN(n), draw.IntN(n))
		if weighted {
			e.W = append(e.W, 1-draw.Float64())
		}
	}
	return e
}

// shuffled renumbers the nodes at random.
func shuffled(t testing.TB, g *Graph, seed uint64) *Graph {
	t.Helper()
	return must[*Graph](t)(g.Permute(rand.New(rng.New(seed, "shuffle")).Perm(g.Len())))
}

func dense(m *sparse.CSR) *mat.Dense {
	r, c := m.Dims()
	d := mat.NewDense(r, c, nil)
	for i := range r {
		cols, vals := m.Row(i)
		for p, j := range cols {
			d.Set(i, int(j), vals[p])
		}
	}
	return d
}

// sameAtAnyProcs fails if the graphs that f makes on one processor and on
// several differ in any bit.
func sameAtAnyProcs(t *testing.T, f func() *Graph) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := f().Hash()
	for _, procs := range []int{2, 5} {
		runtime.GOMAXPROCS(procs)
		if f().Hash() != want {
			t.Errorf("the graph differs at GOMAXPROCS %d", procs)
		}
	}
}

// rejected fails unless err is ErrInvalid and says what it should.
func rejected(t *testing.T, err error, says string) {
	t.Helper()
	if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), says) {
		t.Errorf("error %v, want ErrInvalid that says %q", err, says)
	}
}

func TestNewRejects(t *testing.T) {
	t.Parallel()
	two, _ := IDsOf([]string{"a", "b"})
	for _, c := range []struct {
		name       string
		rows, cols int
		rowPtr     []int
		col        []uint32
		val        []float64
		ids        *IDs
		says       string
	}{
		{"not square", 1, 2, []int{0, 0}, nil, nil, nil, "1×2"},
		{"ids", 1, 1, []int{0, 0}, nil, nil, two, "2 ids for 1 nodes"},
		{"columns out of order", 2, 2, []int{0, 2, 3}, []uint32{1, 0, 0}, []float64{1, 1, 1}, two, "row 0 do not increase at 0"},
		{"column twice", 2, 2, []int{0, 2, 4}, []uint32{1, 1, 0, 0}, []float64{1, 1, 1, 1}, two, "row 0 do not increase at 1"},
		{"negative weight", 2, 2, []int{0, 1, 2}, []uint32{1, 0}, []float64{-1, -1}, two, `weight -1 between nodes "a" and "b"`},
		{"stored zero", 2, 2, []int{0, 1, 2}, []uint32{1, 0}, []float64{0, 0}, two, "weight 0"},
		{"entry missing in a later row", 2, 2, []int{0, 1, 1}, []uint32{1}, []float64{1}, two, `not symmetric between nodes "a" and "b"`},
		{"entry missing in an earlier row", 2, 2, []int{0, 0, 1}, []uint32{0}, []float64{1}, two, `not symmetric between nodes "b" and "a"`},
		{"other entry there", 3, 3, []int{0, 1, 2, 3}, []uint32{1, 2, 0}, []float64{1, 1, 1}, nil, "not symmetric"},
		{"weights differ", 2, 2, []int{0, 1, 2}, []uint32{1, 0}, []float64{1, 2}, two, "not symmetric"},
		{"strength overflows", 2, 2, []int{0, 2, 3}, []uint32{0, 1, 0}, []float64{1e308, 1e308, 1e308}, two, `weights at node "a" add up`},
	} {
		t.Run(c.name, func(t *testing.T) {
			adj := must[*sparse.CSR](t)(sparse.NewCSR(c.rows, c.cols, c.rowPtr, c.col, c.val))
			_, err := New(adj, c.ids)
			rejected(t, err, c.says)
		})
	}
}

func TestNewAccepts(t *testing.T) {
	t.Parallel()
	g := randomGraph(t, 200, 1000, 1)
	again := must[*Graph](t)(New(g.Adjacency(), nil))
	if again.Hash() != g.Hash() {
		t.Error("a valid matrix came out as another graph")
	}
	empty := must[*Graph](t)(New(must[*sparse.CSR](t)(sparse.NewCSR(0, 0, []int{0}, nil, nil)), nil))
	if empty.Len() != 0 || empty.Edges() != 0 {
		t.Errorf("empty graph has %d nodes and %d edges", empty.Len(), empty.Edges())
	}
}

func TestEdgesDegreesStrengths(t *testing.T) {
	t.Parallel()
	g := build(t, 4, true, [3]float64{0, 1, 0.5}, [3]float64{1, 1, 2}, [3]float64{2, 1, 4})
	if g.Edges() != 3 {
		t.Errorf("%d edges, want 3", g.Edges())
	}
	if got, want := g.Degrees(), []int{1, 3, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("degrees %v, want %v", got, want)
	}
	if got, want := g.Strengths(), []float64{0.5, 6.5, 4, 0}; !slices.Equal(got, want) {
		t.Errorf("strengths %v, want %v", got, want)
	}
}

func TestHashSeesEverything(t *testing.T) {
	t.Parallel()
	ab, _ := IDsOf([]string{"a", "bc"})
	abc, _ := IDsOf([]string{"ab", "c"})
	edge := func(w float64) Edges { return Edges{U: []uint32{0}, V: []uint32{1}, W: []float64{w}} }
	make := func(l *IDs, e Edges) *Graph {
		g, _, err := FromEdges(l, e, BuildOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	graphs := []*Graph{
		make(ab, edge(1)),
		make(abc, edge(1)),
		make(ab, edge(math.Nextafter(1, 2))),
		make(ab, Edges{}),
		make(NumberIDs(2), edge(1)),
		make(NumberIDs(0), Edges{}),
		build(t, 3, false, [3]float64{0, 1, 1}),
		build(t, 3, false, [3]float64{0, 2, 1}),
	}
	for i, g := range graphs {
		for j, h := range graphs {
			if (g.Hash() == h.Hash()) != (i == j) {
				t.Errorf("graphs %d and %d: equal hashes %v", i, j, i != j)
			}
		}
	}
}

// Files and studies name graphs by their hash: it may never change.
func TestHashIsFrozen(t *testing.T) {
	t.Parallel()
	for want, g := range map[string]*Graph{
		"4810c1c66b1452d27412e5ef548f744f5afac0049ad2378dc3b3496351f673f7": must[*Graph](t)(Ring(5)),
		"b38a904d2256c6bb846d66f77c95355875bfa9ac33e553a477ff95b2adb7369b": must[*Graph](t)(BarabasiAlbert(3000, 2, 1)),
	} {
		hash := g.Hash()
		if got := hex.EncodeToString(hash[:]); got != want {
			t.Errorf("hash %s, want %s", got, want)
		}
	}
}

func TestHashIgnoresLaterLabels(t *testing.T) {
	t.Parallel()
	l := NumberIDs(3)
	g, _, err := FromEdges(l, Edges{U: []uint32{0}, V: []uint32{1}}, BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	before := g.Hash()
	l.Intern([]byte("late"))
	if g.Hash() != before || g.Len() != 3 {
		t.Error("an id that was added later changed the graph")
	}
}

// Lone nodes are found in all blocks of rows, in order: nodes without an entry, and with a loop only.
func TestLoneNodes(t *testing.T) {
	t.Parallel()
	const n = 3*rowBlock + 5
	var e Edges
	var want []int
	degrees := make([]int, n)
	for i := 0; i < n; i += 3 {
		if i%2000 == 0 {
			want = append(want, i)
			if i%4000 == 0 {
				e.U, e.V = append(e.U, uint32(i)), append(e.V, uint32(i))
				degrees[i] = 1
			}
		}
		if i+2 < n {
			e.U, e.V = append(e.U, uint32(i+1)), append(e.V, uint32(i+2))
			degrees[i+1]++
			degrees[i+2]++
		}
		if i%2000 > 0 {
			e.U, e.V = append(e.U, uint32(i)), append(e.V, 1)
			degrees[i]++
			degrees[1]++
		}
	}
	if want = append(want, n-1); degrees[n-1] > 0 {
		want = want[:len(want)-1]
	}
	g, _, err := FromEdges(NumberIDs(n), e, BuildOptions{KeepLoops: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Lone(); !slices.Equal(got, want) {
		t.Errorf("lone nodes %v, want %v", got, want)
	}
	if got := g.Degrees(); !slices.Equal(got, degrees) {
		t.Error("other degrees")
	}
}
