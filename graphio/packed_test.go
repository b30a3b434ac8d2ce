package graphio_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"grfgp/graph"
	"grfgp/graphio"
)

const packedEdges = "from,to,weight\nzeta,a,2\na,b,1.5\nb,007,3\n7,a,1\nb,c,0.25\nc,d,4\n"
const packedNodes = "id,x,y,label,allowed,lanes,kind\n" +
	"a,1,2,Alpha,yes,2,road\nb,2,2,,no,3,rail\nlone,5,5,Lone,yes,,road\nc,3,1,C,yes,1,road\n"

// packedFile reads a network from text and packs it.
func packedFile(t testing.TB) (plain *graphio.Network, path string) {
	t.Helper()
	nodes, err := graphio.ReadNodes(t.Context(), graphio.Reader("nodes", strings.NewReader(packedNodes)), graphio.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plain, err = graphio.ReadGraph(t.Context(), graphio.Reader("edges", strings.NewReader(packedEdges)), graphio.Options{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "g.packed")
	var b bytes.Buffer
	if err := graphio.WritePacked(t.Context(), &b, plain); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return plain, path
}

// TestPacked: a packed network is the same network: numbers, weights, ids, order of the
// file, hash and node table.
func TestPacked(t *testing.T) {
	t.Parallel()
	plain, path := packedFile(t)
	net, err := graphio.ReadGraph(t.Context(), graphio.File(path), graphio.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g, h := plain.Graph, net.Graph
	if g.Hash() != h.Hash() || h.Ordered() != h || !slices.Equal(g.InputOrder(), h.InputOrder()) || net.Report.Edges != g.Edges() {
		t.Error("the packed graph is another graph")
	}
	for i := range g.Len() {
		a, b := cells(g.Adjacency().Row(i)), cells(h.Adjacency().Row(i))
		if g.IDs().At(i) != h.IDs().At(i) || !slices.Equal(a, b) {
			t.Errorf("node %d differs", i)
		}
		if k, ok := h.IDs().Lookup(g.IDs().Bytes(i)); !ok || k != i {
			t.Errorf("id %q is number %d", g.IDs().At(i), k)
		}
	}
	same := func(a, b []float64) bool {
		return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y })
	}
	p, q := plain.Nodes, net.Nodes
	if !same(p.X, q.X) || !same(p.Y, q.Y) || !slices.Equal(p.Name, q.Name) || !slices.Equal(p.Allowed, q.Allowed) || len(p.Columns) != 2 ||
		len(q.Columns) != 2 {
		t.Fatalf("node table %+v, want %+v", q, p)
	}
	if !same(p.Columns[0].Numbers, q.Columns[0].Numbers) || !slices.Equal(p.Columns[1].Codes, q.Columns[1].Codes) {
		t.Error("covariates differ")
	}
}

func cells(cols []uint32, vals []float64) []float64 {
	all := slices.Clone(vals)
	for _, j := range cols {
		all = append(all, float64(j))
	}
	return all
}

// TestPackedWithNodes: a node table is joined to a packed graph by ids; ids that the
// graph does not have are an error.
func TestPackedWithNodes(t *testing.T) {
	t.Parallel()
	_, path := packedFile(t)
	read := func(table string) (*graphio.Network, error) {
		nodes, err := graphio.ReadNodes(t.Context(), graphio.Reader("more", strings.NewReader(table)), graphio.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return graphio.ReadGraph(t.Context(), graphio.File(path), graphio.Options{Nodes: nodes})
	}
	net, err := read("id,cost\nzeta,4\nb,2\n")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := net.Graph.IDs().Lookup([]byte("b"))
	d, _ := net.Graph.IDs().Lookup([]byte("d"))
	if net.Nodes.Cost[b] != 2 || !math.IsNaN(net.Nodes.Cost[d]) || net.Nodes.X[b] != 2 {
		t.Errorf("joined table %+v", net.Nodes)
	}
	if _, err := read("id,cost\nb,2\nnowhere,3\n"); !errors.Is(err, graphio.ErrData) || !strings.Contains(err.Error(), `"nowhere"`) {
		t.Errorf("an id outside the graph: %v", err)
	}
}

// TestPackedDamaged: a packed file that is cut off anywhere, or has any byte changed, is
// refused with an error that names the file.
func TestPackedDamaged(t *testing.T) {
	t.Parallel()
	_, path := packedFile(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	read := func(data []byte) error {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := graphio.ReadGraph(t.Context(), graphio.File(path), graphio.Options{})
		return err
	}
	if err := read(whole); err != nil {
		t.Fatal(err)
	}
	var padding int // bytes between sections, which nothing reads
	for at := range whole {
		damaged := slices.Clone(whole)
		damaged[at] ^= 0x41
		err := read(damaged)
		if err == nil && whole[at] == 0 {
			padding++
			continue
		}
		if !errors.Is(err, graphio.ErrData) || !strings.Contains(err.Error(), "g.packed") {
			t.Fatalf("byte %d of %d changed: %v", at, len(whole), err)
		}
	}
	if padding > 8*64 {
		t.Errorf("%d bytes may change unnoticed", padding)
	}
	for _, size := range []int{1, 15, 16, 31, 32, 100, len(whole) / 2, len(whole) - 1} {
		if err := read(whole[:size]); !errors.Is(err, graphio.ErrData) {
			t.Errorf("cut off after %d bytes: %v", size, err)
		}
	}
	if err := read(append(slices.Clone(whole), 0)); !errors.Is(err, graphio.ErrData) {
		t.Errorf("a byte too many: %v", err)
	}
	if _, err := graphio.ReadGraph(t.Context(), graphio.Reader("pipe", bytes.NewReader(whole)), graphio.Options{}); err == nil ||
		!strings.Contains(err.Error(), "packed graph") {
		t.Errorf("a packed graph as a stream: %v", err)
	}
}

// TestPackedUnordered: a graph that was left in the order of its file is packed to the
// same bytes as one that was ordered first, with ids that are texts, numbers, or 0, 1, 2, ….
func TestPackedUnordered(t *testing.T) {
	t.Parallel()
	pack := func(net *graphio.Network) []byte {
		var b bytes.Buffer
		if err := graphio.WritePacked(t.Context(), &b, net); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	grid, err := graph.Grid(300, 251) // several blocks of rows
	if err != nil {
		t.Fatal(err)
	}
	edges := "from,to\n"
	for i := range 5000 {
		edges += fmt.Sprintf("%d,%d\n%d,%d\n", 7*i, 7*(i*i%5000), 7*i, 7*(i*17%5000))
	}
	for name, c := range map[string]struct{ edges, nodes string }{
		"texts": {packedEdges, packedNodes}, "numbers": {edges, ""},
		"large numbers": {"a b\n4294967295 1\n1 2\n2 4294967295\n2 3000000000\n", ""},
	} {
		read := func(unordered bool) *graphio.Network {
			opts := graphio.Options{Unordered: unordered}
			if c.nodes != "" {
				if opts.Nodes, err = graphio.ReadNodes(t.Context(), graphio.Reader("nodes", strings.NewReader(c.nodes)),
					graphio.Options{}); err != nil {
					t.Fatal(err)
				}
			}
			net, err := graphio.ReadGraph(t.Context(), graphio.Reader("edges", strings.NewReader(c.edges)), opts)
			if err != nil {
				t.Fatal(err)
			}
			return net
		}
		if !bytes.Equal(pack(read(true)), pack(read(false))) {
			t.Errorf("%s: other bytes", name)
		}
	}
	want := graphio.NewNetwork(grid, nil, nil)
	data := pack(&graphio.Network{Graph: grid})
	if !bytes.Equal(data, pack(want)) {
		t.Error("grid: other bytes")
	}
	path := filepath.Join(t.TempDir(), "grid.packed")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	net, err := graphio.ReadGraph(t.Context(), graphio.File(path), graphio.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if g := net.Graph; g.Hash() != want.Graph.Hash() || !slices.Equal(g.InputOrder(), want.Graph.InputOrder()) {
		t.Error("the packed grid is another graph")
	}
	for _, i := range []int{0, 1, 7000, 75299} {
		id := want.Graph.IDs().Bytes(i)
		if k, ok := net.Graph.IDs().Lookup(id); !ok || k != i || net.Graph.IDs().At(i) != string(id) {
			t.Errorf("id %q is number %d, want %d", id, k, i)
		}
	}
	if bytesPerNode := float64(len(data)) / 75300; bytesPerNode > 8+4*12+4+4+1 {
		t.Errorf("%.1f bytes per node", bytesPerNode)
	}
}

// TestArrays: arrays that lead outside each other are refused.
func TestArrays(t *testing.T) {
	t.Parallel()
	g, err := graph.Grid(3, 4)
	if err != nil {
		t.Fatal(err)
	}
	letters, _ := graph.IDsOf(strings.Split("abcdefghijkl", ""))
	if g, err = graph.New(g.Adjacency(), letters); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Arrays(); !errors.Is(err, graph.ErrInvalid) {
		t.Errorf("arrays of a graph that is not ordered: %v", err)
	}
	g = g.Ordered()
	for name, spoil := range map[string]func(a *graph.Arrays){
		"column":   func(a *graph.Arrays) { a.Col[3] = 12 },
		"row":      func(a *graph.Arrays) { a.RowPtr[2] = 1 << 40 },
		"weight":   func(a *graph.Arrays) { a.Val[0] = -1 },
		"id":       func(a *graph.Arrays) { a.End[1] = 1000 },
		"id order": func(a *graph.Arrays) { a.End[1], a.End[2] = a.End[2], a.End[1] },
		"text":     func(a *graph.Arrays) { a.Text = a.Text[:3] },
		"numbers":  func(a *graph.Arrays) { a.Num = make([]uint32, 12) },
		"no ids":   func(a *graph.Arrays) { a.End, a.Text = nil, nil },
		"order":    func(a *graph.Arrays) { a.From[0] = a.From[1] },
		"length":   func(a *graph.Arrays) { a.From = a.From[1:] },
	} {
		a, err := g.Arrays()
		if err != nil {
			t.Fatal(err)
		}
		a.Col, a.RowPtr, a.Val, a.End, a.From = slices.Clone(a.Col), slices.Clone(a.RowPtr), slices.Clone(a.Val), slices.Clone(a.End),
			slices.Clone(a.From)
		spoil(&a)
		if _, err := graph.FromArrays(a); !errors.Is(err, graph.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
