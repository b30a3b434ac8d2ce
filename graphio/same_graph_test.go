package graphio

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"grfgp/covariate"
)

const formatFiles = "../formats/testdata"

// weightsOf returns the weight of each edge, "N00-N01", after renaming the nodes, and
// the nodes.
func weightsOf(n *Network, name func(id string) string, scale float64) (weights map[string]float64, nodes []string) {
	weights = map[string]float64{}
	for i := range n.Graph.Len() {
		nodes = append(nodes, name(n.Graph.IDs().At(i)))
		cols, vals := n.Graph.Adjacency().Row(i)
		for p, j := range cols {
			u, v := name(n.Graph.IDs().At(i)), name(n.Graph.IDs().At(int(j)))
			weights[min(u, v)+"-"+max(u, v)] = vals[p] / scale
		}
	}
	slices.Sort(nodes)
	return weights, nodes
}

// The same graph in all formats, as other programs write it, is the same graph.
func TestSameGraph(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	read := func(name string, opts Options) *Network {
		t.Helper()
		n, err := ReadGraph(ctx, File(filepath.Join(formatFiles, name)), opts)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	table, err := ReadNodes(ctx, File(filepath.Join(formatFiles, "nodes.csv")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	same := func(id string) string { return id }
	from := func(first int) func(string) string {
		return func(id string) string {
			i, err := strconv.Atoi(id)
			if err != nil {
				t.Fatalf("node %q is not numbered", id)
			}
			return fmt.Sprintf("N%02d", i-first)
		}
	}
	csv := read("edges.csv", Options{Nodes: table})
	want, nodes := weightsOf(csv, same, 1)
	similar := Options{Weights: WeightsSimilarity}
	for _, c := range []struct {
		file    string
		format  string
		opts    Options
		name    func(string) string
		scale   float64 // 0: all weights are 1
		lone    bool    // the node without an edge is known
		columns bool    // attributes of nodes are there
	}{
		{"networkx.graphml", "GraphML", Options{}, same, 1, true, true},
		{"networkx.gml", "GML", Options{}, same, 1, true, true},
		{"igraph.gml", "GML", Options{}, same, 1, true, false},
		{"igraph.dot", "Graphviz", Options{}, same, 1, true, false},
		{"networkx.gexf", "GEXF", Options{}, same, 1, true, true},
		{"networkx.net", "Pajek", Options{}, same, 1, true, true},
		{"igraph.net", "Pajek", Options{}, same, 1, true, false},
		{"node-link.json", "JSON", Options{}, same, 1, true, true},
		{"cytoscape.json", "JSON", Options{}, same, 1, true, true},
		{"records.json", "JSON", Options{}, same, 1, false, false},
		{"records.jsonl", "JSON", Options{}, same, 1, false, false},
		{"columns.json", "JSON", Options{}, same, 1, false, false},
		{"networkx.edgelist", "networkx edge list", Options{}, same, 1, false, false},
		{"networkx-tab.edgelist", "networkx edge list", Options{}, same, 1, false, false},
		{"networkx.madjlist", "networkx multiline adjacency list", Options{}, same, 1, true, false},
		{"networkx.adjlist", "networkx adjacency list", Options{}, same, 0, true, false},
		{"csr.npz", "NumPy archive", Options{}, from(0), 1, true, false},
		{"csc.npz", "NumPy archive", Options{}, from(0), 1, true, false},
		{"coo.npz", "NumPy archive", Options{}, from(0), 1, true, false},
		{"dense.npy", "NumPy", Options{}, from(0), 1, true, false},
		{"edge_index.npy", "NumPy", Options{}, from(0), 0, false, false},
		{"plain.graph", "METIS", Options{}, from(1), 0, true, false},
		{"weights.graph", "METIS", Options{}, from(1), 2, true, false},
		{"all.graph", "METIS", Options{}, from(1), 2, true, false},
		{"roads.gr", "DIMACS", similar, from(1), 2, true, false},
		{"colours.col", "DIMACS", Options{}, from(1), 0, true, false},
	} {
		t.Run(c.file, func(t *testing.T) {
			n := read(c.file, c.opts)
			got, all := weightsOf(n, c.name, max(c.scale, 1))
			if n.Report.Format != c.format || len(got) != len(want) || !n.Report.Ledger.Balanced() {
				t.Fatalf("%s with %d edges, want %s with %d; %v", n.Report.Format, len(got), c.format, len(want), n.Report.Ledger)
			}
			for edge, w := range want {
				if c.scale == 0 {
					w = 1
				}
				if got[edge] != w {
					t.Errorf("edge %s has weight %g, want %g", edge, got[edge], w)
				}
			}
			expect := nodes
			if !c.lone {
				expect = nodes[:len(nodes)-1]
			}
			if !slices.Equal(all, expect) {
				t.Errorf("nodes %v, want %v", all, expect)
			}
			if c.columns {
				sameNodes(t, n, csv)
			}
			if strings.Contains(strings.Join(warnings(n.Report), " "), "declares") {
				t.Errorf("warnings %q", warnings(n.Report))
			}
		})
	}
}

// sameNodes compares the attributes of nodes.
func sameNodes(t *testing.T, got, want *Network) {
	t.Helper()
	if len(got.Nodes.Columns) < 2 {
		t.Fatalf("columns %+v", got.Nodes.Columns)
	}
	for i := range got.Graph.Len() {
		j, _ := want.Graph.IDs().Lookup(got.Graph.IDs().Bytes(i))
		if got.Nodes.Lat[i] != want.Nodes.Lat[j] || got.Nodes.Lon[i] != want.Nodes.Lon[j] {
			t.Errorf("node %s at %g, %g", got.Graph.IDs().At(i), got.Nodes.Lat[i], got.Nodes.Lon[i])
		}
		for _, c := range want.Nodes.Columns {
			k := slices.IndexFunc(got.Nodes.Columns, func(d covariate.Column) bool { return d.Name == c.Name })
			if k < 0 {
				t.Fatalf("there is no column %s", c.Name)
			}
			d := got.Nodes.Columns[k]
			if c.Kind != d.Kind || c.Numbers != nil && c.Numbers[j] != d.Numbers[i] && !(math.IsNaN(c.Numbers[j]) && math.IsNaN(d.Numbers[i])) {
				t.Errorf("node %s: %s differs", got.Graph.IDs().At(i), c.Name)
			}
			if c.Codes != nil && c.Levels[c.Codes[j]-1] != d.Levels[d.Codes[i]-1] {
				t.Errorf("node %s: %s differs", got.Graph.IDs().At(i), c.Name)
			}
		}
	}
}

// Values of nodes come from a file of another program, too.
func TestForeignValues(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	want := map[string][]float64{}
	for _, c := range []struct{ edges, values, column string }{
		{"networkx.gml", "nodes.csv", "speed"}, {"networkx.gml", "networkx.gml", "speed"}, {"networkx.gml", "networkx.gexf", "speed"},
		{"networkx.gml", "networkx.net", "speed"}, {"networkx.graphml", "networkx.graphml", "speed"}, {"networkx.gml", "node-link.json", "speed"},
		{"networkx.gml", "nodes.jsonl", "speed"}, {"csr.npz", "speeds.npy", "value"},
	} {
		n, err := ReadGraph(ctx, File(filepath.Join(formatFiles, c.edges)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		m, err := ReadMeasurements(ctx, File(filepath.Join(formatFiles, c.values)), n.Graph,
			Options{Columns: map[Role]string{RoleValue: c.column}})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(m.Values)
		if want[""] == nil {
			want[""] = m.Values
		}
		if !slices.Equal(m.Values, want[""]) || len(m.Values) != 9 || m.Report.Ledger.Missing != 3 {
			t.Errorf("%s: values %v, ledger %v", c.values, m.Values, m.Report.Ledger)
		}
	}
}

// A file that is not read says why, and what to do.
func TestForeignRefused(t *testing.T) {
	t.Parallel()
	_, err := ReadGraph(context.Background(), File(filepath.Join(formatFiles, "bsr.npz")), Options{})
	checkError(t, err, ErrData, filepath.Join(formatFiles, "bsr.npz")+
		`: the matrix is in the form "bsr"; save it as scipy.sparse.save_npz(path, m.tocsr())`)
	_, err = ReadGraph(context.Background(), File(filepath.Join(formatFiles, "roads.co")), Options{})
	checkError(t, err, ErrData, filepath.Join(formatFiles, "roads.co")+
		`: is a file of nodes (DIMACS): it contains no edges; name another file, or build the edges from coordinates with NearestNeighbours`)
	_, err = ReadNodes(context.Background(), File(filepath.Join(formatFiles, "networkx.edgelist")), Options{})
	checkError(t, err, ErrData, filepath.Join(formatFiles, "networkx.edgelist")+
		`: is a file of edges (networkx edge list), but a table of nodes is expected; give a table of nodes, or read it as `+
		`a graph with ReadGraph`)
}
