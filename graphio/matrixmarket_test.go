package graphio

import (
	"context"
	"strings"
	"testing"
)

func TestMatrixMarket(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		opts       Options
		nodes      int
		edges      string
		ledger     string
	}{
		{"pattern symmetric", "%%MatrixMarket matrix coordinate pattern symmetric\n% made by hand\n4 4 3\n2 1\n3 2\n3 3\n", Options{},
			4, "1-2 2-3", "6 lines = 2 header + 2 edges + 1 self loop + 1 comment"},
		{"real general", "%%MatrixMarket matrix coordinate real general\n\n3 3 4\n1 2 0.5\n2 1 0.5\n2 3 2\n3 2 2\n", Options{},
			3, "1-2:0.5 2-3:2", "7 lines = 2 header + 2 edges + 2 repeats + 1 blank"},
		{"one direction", "%%MatrixMarket matrix coordinate integer general\n3 3 2\n3 1 4\n2 3 0\n", Options{},
			3, "1-3:4", "4 lines = 2 header + 1 edge + 1 zero weight"},
		{"Windows", "%%MatrixMarket matrix coordinate pattern general\r\n2 2 1\r\n1 2\r\n", Options{}, 2, "1-2", "3 lines = 2 header + 1 edge"},
		{"weights ignored", "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 -3\n", Options{Weights: WeightsIgnore}, 2, "1-2",
			"3 lines = 2 header + 1 edge"},
		{"distances", "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1\n3 1 3\n", Options{Weights: WeightsDistance}, 3,
			"1-2:2 1-3:0.6666666666666666", "4 lines = 2 header + 2 edges"},
		{"skipped", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n1 9\nx 1\n2 1\n", Options{BadRows: BadRowsSkip}, 3, "1-2",
			"5 lines = 2 header + 1 edge + 2 bad"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := readText(c.text, c.opts)
			if err != nil {
				t.Fatal(err)
			}
			if n.Report.Format != "MatrixMarket" || n.Graph.Len() != c.nodes || edgesOf(n) != c.edges {
				t.Errorf("%s: %d nodes, edges %s, want %d, %s", n.Report.Format, n.Graph.Len(), edgesOf(n), c.nodes, c.edges)
			}
			if got := n.Report.Ledger.String(); got != c.ledger {
				t.Errorf("ledger %s, want %s", got, c.ledger)
			}
		})
	}
}

func TestMatrixMarketAfterNodes(t *testing.T) {
	t.Parallel()
	nodes, err := ReadNodes(context.Background(), Reader("n", strings.NewReader("id\n3\n1\n")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	n, err := readText("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n2 1\n", Options{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	if l := asInput(n.Graph).IDs(); l.At(0) != "3" || l.At(1) != "1" || l.At(2) != "2" || edgesOf(n) != "1-2" {
		t.Errorf("nodes %s %s %s, edges %s", l.At(0), l.At(1), l.At(2), edgesOf(n))
	}
}

func TestMatrixMarketErrors(t *testing.T) {
	t.Parallel()
	const skip = `; correct the line, or leave such rows out with Options.BadRows = "skip"`
	const square = "; a graph needs a square adjacency matrix: rows columns entries, as in 4 4 5"
	for _, c := range []struct{ name, text, want string }{
		{"banner", "%%MatrixMarket matrix\n", `e:1: the banner is not "%%MatrixMarket matrix coordinate FIELD SYMMETRY"; write the file again`},
		{"array", "%%MatrixMarket matrix array real general\n2 2\n",
			"e:1: a dense matrix (array), which is not supported; write it as coordinates, one entry per line"},
		{"complex", "%%MatrixMarket matrix coordinate complex general\n",
			"e:1: entries are complex, but a weight is a real number; write real, integer or pattern entries"},
		{"skew", "%%MatrixMarket matrix coordinate real skew-symmetric\n",
			"e:1: the matrix is skew-symmetric, but weights are the same in both directions; write it as general or symmetric"},
		{"no size", "%%MatrixMarket matrix coordinate real general\n% x\n",
			"e: there is no size line after the banner; write: rows columns entries"},
		{"size", "%%MatrixMarket matrix coordinate real general\n3 3\n", "e:2: a size line has three numbers, not 2" + square},
		{"size word", "%%MatrixMarket matrix coordinate real general\n3 3 x\n", `e:2: "x" in the size line is not a whole number` + square},
		{"rectangular", "%%MatrixMarket matrix coordinate real general\n3 4 1\n", "e:2: the matrix has 3 rows and 4 columns: it is not square" +
			square},
		{"cut short", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n",
			"e:2: the size line promises 2 entries, but there are 1; was the file cut short? fetch it again, or correct the line"},
		{"too many", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n2 3\n",
			"e:2: the size line promises 1 entry, but there are 2; correct the line, or remove what does not belong there"},
		{"outside", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 4\n", `e:3:3: target "4" is outside 1 to 3` + skip},
		{"zero", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n0 1\n", `e:3:1: source "0" is outside 1 to 3` + skip},
		{"no index", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1.0 2\n", `e:3:1: source "1.0" is not a whole number` + skip},
		{"negative", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 -1\n", `e:3:5: weight "-1" is negative` + skip},
		{"lone", "%%MatrixMarket matrix coordinate pattern general\n900000000 900000000 1\n1 2\n",
			"e:2: 900000000 nodes, but only 1 entries: nearly all nodes would have no edge; correct the size line"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadGraph(context.Background(), Reader("e", strings.NewReader(c.text)), Options{})
			checkError(t, err, ErrData, c.want)
		})
	}
}
