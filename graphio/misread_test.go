package graphio

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Files that look like delimited text are not read as such, whatever they are called and
// whatever the options say.
func TestNotDelimited(t *testing.T) {
	t.Parallel()
	var torus strings.Builder // more than what formats are recognized from
	const side = 60
	fmt.Fprintf(&torus, "%d %d\n", side*side, 2*side*side)
	for i := range side * side {
		x, y := i%side, i/side
		at := func(x, y int) int { return (y+side)%side*side + (x+side)%side + 1 }
		fmt.Fprintln(&torus, at(x-1, y), at(x+1, y), at(x, y-1), at(x, y+1))
	}
	for _, c := range []struct {
		name, text, format string
		nodes, edges       int
	}{
		{"two attributes", "N0 N1 {'weight': 0.5, 'length': 887.78}\nN1 N2 {'weight': 2, 'length': 8}\n", "networkx edge list", 3, 2},
		{"one attribute", "N0 N1 {'weight': 0.5}\nN1 N2 {'weight': 2}\n", "networkx edge list", 3, 2},
		{"commas", "N 0,N 1,{'weight': 0.5, 'a': 'x, {y}'}\nN 1,N 2,{'weight': 2}\n", "networkx edge list", 3, 2},
		{"METIS", "4 3\n2\n1 3 4\n2\n2\n", "METIS", 4, 3},
		{"METIS, a ring", "5 5\n2 5\n1 3\n2 4\n3 5\n4 1\n", "METIS", 5, 5},
		{"METIS, a lone node", "% ours\n4 2 001\n2 7\n1 7 4 3\n\n2 3\n", "METIS", 4, 2},
		{"METIS, large", torus.String(), "METIS", side * side, 2 * side * side},
		{"adjacency list of networkx", "#x.py\n# GMT Tue Nov 17 02:26:33 2026\n# \na b c\nb c d\nc d e\n", "networkx adjacency list", 5, 6},
		{"multiline", "a 2\nb {'weight': 1}\nc {'weight': 1}\nb 0\nc 0\n", "networkx multiline adjacency list", 3, 2},
		{"DIMACS", "c x\np sp 3 2\na 1 2 7\na 2 3 7\n", "DIMACS", 3, 2},
		// These are delimited text.
		{"edges", "5 5\n2 5\n1 3\n2 4\n3 5\n", formatDelimited, 5, 4},
		{"edges in a line", "2 1\n2 3\n3 4\n", formatDelimited, 4, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := readNamed("net.txt", c.text, Options{Weights: WeightsIgnore})
			if err != nil {
				t.Fatal(err)
			}
			if n.Report.Format != c.format || n.Graph.Len() != c.nodes || n.Graph.Edges() != c.edges {
				t.Errorf("%s: %d nodes, %d edges; want %s, %d and %d", n.Report.Format, n.Graph.Len(), n.Graph.Edges(), c.format, c.nodes, c.edges)
			}
		})
	}
	if _, err := readNamed("net.txt", "a b {'weight': 0.5, 'length': 8}\n", Options{}); err != nil {
		t.Error(err)
	}
	_, err := readNamed("net.txt", "N0 N1 {'weight': 0.5, 'length': 887.78}\nN1 N2\nN0 N2 {'weight': 0.5, 'length': 887.78}\n", Options{})
	checkError(t, err, ErrData, `net.txt: edges carry Python dictionaries ("N0 N1 {'weight': 0.5"); write plain columns, with networkx: `+
		`write_weighted_edgelist or to_pandas_edgelist(G).to_csv`)
	n, err := readNamed("net.graph", "1 2\n2 3\n3 4\n", Options{})
	if err != nil || n.Report.Format != formatDelimited || n.Graph.Edges() != 3 {
		t.Errorf("edges in net.graph: %v", err)
	}
	_, err = readNamed("net.txt", "{'source': 'a', 'target': 'b'}\n", Options{})
	checkError(t, err, ErrData, `net.txt:1: is not JSON: invalid character '\'' looking for beginning of object key string; correct the `+
		`line, or write the file again`)
}

// JSON without names of columns is a table like any other: names may stand in its first row.
func TestForeignHeader(t *testing.T) {
	t.Parallel()
	n, err := readNamed("e.json", `[["source", "target", "weight"], ["a", "b", 2], [], ["b", "c", 0.5]]`, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := n.Report.Ledger.String(), "4 rows = 1 header + 2 edges + 1 blank"; got != want || edgesOf(n) != "a-b:2 b-c:0.5" ||
		n.Report.Header != "row 1" {
		t.Errorf("%s, %s, header %s", got, edgesOf(n), n.Report.Header)
	}
	n, err = readNamed("e.json", `[[1, 2], [2, 3]]`, Options{})
	if err != nil || n.Graph.Edges() != 2 {
		t.Errorf("%v", err)
	}
	_, err = readNamed("e.json", `[["source", "target"], ["a", "b"], ["", "c"]]`, Options{})
	checkError(t, err, ErrData, `e.json: row 3: the source is empty; correct the row, or leave such rows out with Options.BadRows = "skip"`)
	_, err = readNamed("e.json", `[["Person", "Friend"], ["Ann", "Bob"], ["Cid", "Dan"]]`, Options{})
	checkError(t, err, ErrUsage, `e.json: row 1 ("Person" and "Friend") may be a header or the first edge; take it as a header with `+
		`Options.Header = "yes", or take it as the first edge with Options.Header = "no"`)
}

// Nodes can be named by another attribute.
func TestForeignID(t *testing.T) {
	t.Parallel()
	n, err := readNamed("net.gml", smallGML, Options{Columns: map[Role]string{RoleID: "id"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := edgesOf(n); got != "1-2 2-3:2" || !slices.Contains(n.Nodes.Name, "lone") {
		t.Errorf("%s, names %q", got, n.Nodes.Name)
	}
}
