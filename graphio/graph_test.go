package graphio

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"grfgp/graph"
)

func readText(text string, opts Options) (*Network, error) {
	return ReadGraph(context.Background(), Reader("edges.csv", strings.NewReader(text)), opts)
}

// edgesOf lists the edges of a graph as "a-b:weight", in the order of its rows;
// the weight 1 is left out.
func edgesOf(n *Network) string {
	var out []string
	g := asInput(n.Graph)
	for i := range g.Len() {
		cols, vals := g.Adjacency().Row(i)
		for p, j := range cols {
			if int(j) < i {
				continue
			}
			e := g.IDs().At(i) + "-" + g.IDs().At(int(j))
			if vals[p] != 1 {
				e += fmt.Sprintf(":%g", vals[p])
			}
			out = append(out, e)
		}
	}
	return strings.Join(out, " ")
}

// asInput returns a graph with its nodes numbered as in the file.
func asInput(g *graph.Graph) *graph.Graph {
	h, err := g.Permute(g.InputOrder())
	if err != nil {
		panic(err)
	}
	return h
}

func repeat(n int, line func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i))
	}
	return b.String()
}

// The files that people really have.
func TestReadGraph(t *testing.T) {
	t.Parallel()
	similar := Options{Weights: WeightsSimilarity}
	for _, c := range []struct {
		name, text string
		opts       Options
		edges      string
		ledger     string
	}{
		{"plain", "a,b\nb,c\n", Options{}, "a-b b-c", "2 lines = 2 edges"},
		{"no newline at the end", "a,b\nb,c", Options{}, "a-b b-c", "2 lines = 2 edges"},
		{"one line", "a b", Options{}, "a-b", "1 line = 1 edge"},
		{"Windows line ends", "u,v\r\n0,1\r\n1,2\r\n", Options{}, "0-1 1-2", "3 lines = 1 header + 2 edges"},
		{"byte-order mark", "\ufeffsource,target\n0,1\n", Options{}, "0-1", "2 lines = 1 header + 1 edge"},
		{"byte-order mark before quotes", "\ufeff\"source\",\"target\"\n\"0\",\"1\"\n", Options{}, "0-1", "2 lines = 1 header + 1 edge"},
		{"semicolons and decimal commas", "from;to;weight\na;b;1,5\nb;c;2\n", Options{}, "a-b:1.5 b-c:2", "3 lines = 1 header + 2 edges"},
		{"blanks and decimal commas", "a b 1,5\nb c 2,25\n", similar, "a-b:1.5 b-c:2.25", "2 lines = 2 edges"},
		{"tabs and decimal commas", "a\tb\t1,5\nb\tc\t2\n", similar, "a-b:1.5 b-c:2", "2 lines = 2 edges"},
		{"pipes", "a|b\nb|c\n", Options{}, "a-b b-c", "2 lines = 2 edges"},
		{"blanks of any width", "  1   2\n\t2 \t 3  \n", Options{}, "1-2 2-3", "2 lines = 2 edges"},
		{"blanks around fields", "a , b\n b,c \n", Options{}, "a-b b-c", "2 lines = 2 edges"},
		{"names with blanks", "New York,Los Angeles\nLos Angeles,San Jose\n", Options{}, "New York-Los Angeles Los Angeles-San Jose",
			"2 lines = 2 edges"},
		{"# within an id", "a#1,b\nb,c#2\n", Options{}, "a#1-b b-c#2", "2 lines = 2 edges"},
		{"# before an id in quotes", "\"#tag\",b\nb,c\n", Options{}, "#tag-b b-c", "2 lines = 2 edges"},
		{"comments", "# one\n% two\na,b\n# three\nb,c\n", Options{}, "a-b b-c", "5 lines = 2 edges + 3 comments"},
		{"SNAP", "# Directed graph: x.txt\n# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n", Options{}, "0-1 1-2",
			"5 lines = 2 edges + 3 comments"},
		{"Twitch", "numeric_id_1,numeric_id_2\n98343,141493\n98343,58736\n", Options{}, "98343-141493 98343-58736",
			"3 lines = 1 header + 2 edges"},
		{"MUSAE", "id_1,id_2\n0,1\n", Options{}, "0-1", "2 lines = 1 header + 1 edge"},
		{"index column of pandas", ",source,target\n0,a,b\n1,b,c\n", Options{}, "a-b b-c", "3 lines = 1 header + 2 edges"},
		{"ids are text", "007,7\n7,07\n", Options{}, "007-7 7-07", "2 lines = 2 edges"},
		{"large ids", "9999999999,1000000000\n1000000000,999999999\n", Options{}, "9999999999-1000000000 1000000000-999999999",
			"2 lines = 2 edges"},
		{"quotes", "source,target\n\"a,b\",\"say \"\"hi\"\"\"\n\"a,b\",c\n", Options{}, `a,b-say "hi" a,b-c`, "3 lines = 1 header + 2 edges"},
		{"a quote within an id", "5\" pipe,b\nb,6\" pipe\n", Options{}, `5" pipe-b b-6" pipe`, "2 lines = 2 edges"},
		{"reversed duplicates", "a,b\nb,a\nb,c\nc,b\n", Options{}, "a-b b-c", "4 lines = 2 edges + 2 repeats"},
		{"reversed duplicates with weights", "u,v,w\na,b,2\nb,a,2\nb,c,3\nc,b,3\n", Options{}, "a-b:2 b-c:3",
			"5 lines = 1 header + 2 edges + 2 repeats"},
		{"parallel edges", "u,v,w\na,b,2\na,b,3\nb,c,1\n", Options{}, "a-b:5 b-c", "4 lines = 1 header + 2 edges + 1 repeat"},
		{"self loops", "a,b\nb,b\n", Options{}, "a-b", "2 lines = 1 edge + 1 self loop"},
		{"kept self loops", "a,b\nb,b\n", Options{KeepLoops: true}, "a-b b-b", "2 lines = 2 edges"},
		{"zero weights", "u,v,w\na,b,0\nb,c,1\n", Options{}, "b-c", "3 lines = 1 header + 1 edge + 1 zero weight"},
		{"trailing delimiters", "u,v,\n0,1,\n1,2,\n", Options{}, "0-1 1-2", "3 lines = 1 header + 2 edges"},
		{"trailing delimiters below the header", "u,v\n0,1,\n1,2,,\n", Options{}, "0-1 1-2", "3 lines = 1 header + 2 edges"},
		{"rows of nothing", "u,v\n0,1\n,\n  \n\n1,2\n", Options{}, "0-1 1-2", "6 lines = 1 header + 2 edges + 3 blank"},
		{"other columns", "year,source,target,type\n2001,a,b,x\n2002,b,c,y\n", Options{}, "a-b b-c", "3 lines = 1 header + 2 edges"},
		{"a distance beside a weight", "u,v,length_m,weight\na,b,10,2\nb,c,20,1\n", Options{}, "a-b:2 b-c", "3 lines = 1 header + 2 edges"},
		{"distances", "u,v,km\na,b,1\nb,c,3\n", Options{Weights: WeightsDistance}, "a-b:2 b-c:0.6666666666666666",
			"3 lines = 1 header + 2 edges"},
		{"distances as told by a column", "a;b;1\nb;c;3\n", Options{Columns: map[Role]string{RoleDistance: "3"}}, "a-b:2 b-c:0.6666666666666666",
			"2 lines = 2 edges"},
		{"the distance of a self loop is zero", "u,v,km\na,a,0\na,b,3\n", Options{Weights: WeightsDistance}, "a-b",
			"3 lines = 1 header + 1 edge + 1 self loop"},
		{"a strange name is a weight as told", "u,v,gewicht\na,b,2\n", similar, "a-b:2", "2 lines = 1 header + 1 edge"},
		{"times and numbers of rows", "id,source,target,start_time,year\n1,a,b,5,2001\n2,b,c,6,2002\n", Options{}, "a-b b-c",
			"3 lines = 1 header + 2 edges"},
		{"weights ignored", "u,v,km\na,b,1\n", Options{Weights: WeightsIgnore}, "a-b", "2 lines = 1 header + 1 edge"},
		{"columns by number", "x;9;y\nz;9;x\n", Options{Columns: map[Role]string{RoleSource: "1", RoleTarget: "3"}, Weights: WeightsIgnore},
			"x-y x-z", "2 lines = 2 edges"},
		{"columns by name", "p,q,r\nx,9,y\nz,9,x\n", Options{Columns: map[Role]string{RoleSource: "p", RoleTarget: "R"}, Weights: WeightsIgnore},
			"x-y x-z", "3 lines = 1 header + 2 edges"},
		{"header as told", "Person,Friend\nAnn,Bob\nCid,Dan\n", Options{Header: HeaderYes}, "Ann-Bob Cid-Dan", "3 lines = 1 header + 2 edges"},
		{"no header as told", "from,to\na,b\n", Options{Header: HeaderNo}, "from-to a-b", "2 lines = 2 edges"},
		{"ids that look like a header", "a,b\nb,a\na,c\n", Options{}, "a-b a-c", "3 lines = 2 edges + 1 repeat"},
		{"numbered ids without header", repeat(6, func(i int) string { return fmt.Sprintf("user-%d,user-%d\n", 2*i, 2*i+1) }), Options{},
			"user-0-user-1 user-2-user-3 user-4-user-5 user-6-user-7 user-8-user-9 user-10-user-11", "6 lines = 6 edges"},
		{"recurring ids that are known names", "node1,node2\nnode2,node3\n", Options{}, "node1-node2 node2-node3", "2 lines = 2 edges"},
		{"joined files", "source,target,weight\na,b,2\nsource,target,weight\nb,c,3\n", Options{BadRows: BadRowsSkip}, "a-b:2 b-c:3",
			"4 lines = 1 header + 2 edges + 1 bad"},
		{"joined files with byte-order marks", "\ufeffvon,nach,count\na,b,2\n\ufeffvon,nach,count\nb,c,3\n", Options{BadRows: BadRowsSkip},
			"a-b:2 b-c:3", "4 lines = 1 header + 2 edges + 1 bad"},
		{"joined files, the second far down", "source,target\n" + strings.Repeat("a,b\n", 2*sampleRows) + "source,target\nb,c\n",
			Options{BadRows: BadRowsSkip}, "a-b b-c", "2003 lines = 1 header + 2 edges + 1999 repeats + 1 bad"},
		{"networkx without data", "1 2 {}\n2 3 {}\n", Options{}, "1-2 2-3", "2 edges = 2 edges"},
		{"bad rows skipped", "u,v,w\na,b,1\na,b\nb,c,x\n\"a,b\nb,c,-1\nc,d,2\n", Options{BadRows: BadRowsSkip}, "a-b c-d:2",
			"7 lines = 1 header + 2 edges + 4 bad"},
		{"bad rows are no nodes", "u,v,w\nx,y,oops\na,b,1\n", Options{BadRows: BadRowsSkip}, "a-b", "3 lines = 1 header + 1 edge + 1 bad"},
		{"small integer weights", "u,v,count\n0,1,3\n", Options{}, "0-1:3", "2 lines = 1 header + 1 edge"},
		{"exponents", "u,v,w\n0,1,1e-2\n1,2,+2.5E+1\n2,3,.5\n3,4,5.\n", Options{}, "0-1:0.01 1-2:25 2-3:0.5 3-4:5",
			"5 lines = 1 header + 4 edges"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := readText(c.text, c.opts)
			if err != nil {
				t.Fatal(err)
			}
			if got := edgesOf(n); got != c.edges {
				t.Errorf("edges %s, want %s", got, c.edges)
			}
			if got := n.Report.Ledger.String(); got != c.ledger {
				t.Errorf("ledger %s, want %s", got, c.ledger)
			}
			if !n.Report.Ledger.Balanced() || n.Report.Nodes != n.Graph.Len() || n.Report.Edges != n.Graph.Edges() {
				t.Errorf("report says %v, %d nodes and %d edges; the graph has %d and %d", n.Report.Ledger, n.Report.Nodes, n.Report.Edges,
					n.Graph.Len(), n.Graph.Edges())
			}
		})
	}
}

func TestReportSaysWhy(t *testing.T) {
	t.Parallel()
	n, err := readText("# FromNodeId ToNodeId\n0 1\n1 2\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := n.Report.Columns[0].String(), `source: column 1 "FromNodeId" (by name)`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if want := "the comment before the first row"; n.Report.Header != want {
		t.Errorf("names from %s, want %s", n.Report.Header, want)
	}
	for _, c := range []struct{ name, text, warning string }{
		{"hidden rows", "a,b\nb,c\n#c,d\n", "comments among the rows that look like rows: 1, first on line 3; put quotes around ids that " +
			"begin with # or %"},
		{"Latin-1", "M\xfcnchen,Ulm\nUlm,Aalen\n", "lines that are not UTF-8: 1; ids are compared byte by byte, but to show them right " +
			"convert the file: iconv -f LATIN1 -t UTF-8 FILE > NEW"},
		{"both ways", "a,b\nb,a\n", "every edge is listed in both directions; each counts once"},
		{"weights add up", "u,v,w\na,b,1\na,b,2\n", "repeated edges: 1; their weights were added up"},
		{"numbers that are not used", "u,v,p,q\na,b,1,2\n",
			`columns p and q hold numbers and are not used; name the weight, if it is one of them, with Options.Columns["weight"] = "p"`},
		{"short rows", "source,target,note\na,b\nb,c,x\nc,d,y\n",
			"rows with fewer fields than there are columns: 1 (all fields in use are present)"},
		{"wide weights", "u,v,w\na,b,1e-12\nb,c,1\n", "the largest weight is 1e+12 times the smallest; a few edges will dominate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := readText(c.text, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(warnings(n.Report), c.warning) {
				t.Errorf("warnings %q, want %q", n.Report.Warnings, c.warning)
			}
		})
	}
}

// Verbatim, but for a newline that the last line may lack.
func TestRejectsAreVerbatim(t *testing.T) {
	t.Parallel()
	var rejects bytes.Buffer
	text := "u,v,w\r\na,b,1\r\n  a, b ,x\r\nb,c,2\r\n\"q,c\r\nc,d,"
	n, err := readText(text, Options{BadRows: BadRowsSkip, Rejects: &rejects})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := rejects.String(), "  a, b ,x\r\n\"q,c\r\nc,d,\n"; got != want {
		t.Errorf("rejects %q, want %q", got, want)
	}
	want := []string{
		`edges.csv:3:9: weight "x" is not a number`,
		`edges.csv:5:1: a quoted field does not end on its line`,
		`edges.csv:6:5: the weight is missing`,
	}
	if !slices.Equal(n.Report.BadRows, want) {
		t.Errorf("bad rows %q, want %q", n.Report.BadRows, want)
	}
	if n.Report.Missing != 1 {
		t.Errorf("%d missing values, want 1", n.Report.Missing)
	}
}

func TestPackedFiles(t *testing.T) {
	t.Parallel()
	text := []byte("u,v\n0,1\n1,2\n")
	var members, zipped bytes.Buffer
	for _, part := range [][]byte{text[:6], text[6:]} { // a line across two members
		w := gzip.NewWriter(&members)
		_, _ = w.Write(part)
		_ = w.Close()
		z, _ := zstd.NewWriter(&zipped)
		_, _ = z.Write(part)
		_ = z.Close()
	}
	for _, c := range []struct {
		packed      []byte
		compression string
	}{{text, ""}, {members.Bytes(), "gzip"}, {zipped.Bytes(), "zstd"}} {
		n, err := ReadGraph(context.Background(), Reader("e", bytes.NewReader(c.packed)), Options{})
		if err != nil {
			t.Errorf("%s: %v", c.compression, err)
			continue
		}
		if got := edgesOf(n); got != "0-1 1-2" || n.Report.Compression != c.compression {
			t.Errorf("%s: edges %s, compression %q", c.compression, got, n.Report.Compression)
		}
	}
}

func TestNodesComeFirst(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	nodes, err := ReadNodes(ctx, Reader("nodes.csv", strings.NewReader("id,allowed\nc,yes\nlone,no\na,yes\n")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	n, err := readText("a,b\nb,c\n", Options{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	var allowed []bool
	for _, i := range n.Graph.InputOrder() {
		ids, allowed = append(ids, n.Graph.IDs().At(i)), append(allowed, n.Nodes.Allowed[i])
		if n.Nodes.IDs.At(i) != n.Graph.IDs().At(i) {
			t.Errorf("row %d of the table is about %s", i, n.Nodes.IDs.At(i))
		}
	}
	if got := strings.Join(ids, " "); got != "c lone a b" {
		t.Errorf("nodes %s, want c lone a b", got)
	}
	if want := []bool{true, false, true, false}; !slices.Equal(allowed, want) {
		t.Errorf("allowed %v, want %v", allowed, want)
	}
	want := `nodes that are in the edges but not in the node table: 1, such as "b"; they are taken as not allowed`
	if !slices.Contains(warnings(n.Report), want) {
		t.Errorf("warnings %q, want %q", n.Report.Warnings, want)
	}
	want = `nodes of the node table that have no edge to another node: 1, such as "lone"; check their ids against those of the edges`
	if !slices.Contains(warnings(n.Report), want) {
		t.Errorf("warnings %q, want %q", n.Report.Warnings, want)
	}
	if nodes.IDs.Len() != 3 || len(nodes.Allowed) != 3 {
		t.Error("reading edges changed the node table")
	}
}

// Rows in another order, or a node table before them, give the same graph and
// table; what is the first of the file stays the first of InputOrder.
func TestRowsInAnyOrder(t *testing.T) {
	t.Parallel()
	rows := strings.Split(strings.TrimSuffix(repeat(60, func(i int) string { return fmt.Sprintf("n%d,n%d,%d\n", i%50, (7*i+3)%50, i%4+1) }),
		"\n"), "\n")
	table := "id,cost\n" + repeat(50, func(i int) string { return fmt.Sprintf("n%d,%d\n", 49-i, i) })
	read := func(rows []string, table string) *Network {
		opts := Options{}
		if table != "" {
			nodes, err := ReadNodes(context.Background(), Reader("nodes.csv", strings.NewReader(table)), Options{})
			if err != nil {
				t.Fatal(err)
			}
			opts.Nodes = nodes
		}
		n, err := readText("source,target,weight\n"+strings.Join(rows, "\n"), opts)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	want := read(rows, "")
	if first := want.Graph.IDs().At(want.Graph.InputOrder()[0]); first != "n0" {
		t.Errorf("the first node of the file is %s", first)
	}
	slices.Reverse(rows)
	if got := read(rows, ""); got.Graph.Hash() != want.Graph.Hash() {
		t.Error("rows in another order give another graph")
	}
	got := read(rows, table)
	if got.Graph.Hash() != want.Graph.Hash() {
		t.Error("a node table gives another graph")
	}
	for i, cost := range got.Nodes.Cost {
		if id := fmt.Sprintf("n%d", 49-int(cost)); got.Graph.IDs().At(i) != id || got.Nodes.IDs.At(i) != id {
			t.Errorf("node %d is %s and has the cost of %s", i, got.Graph.IDs().At(i), id)
		}
	}
	if first := got.Graph.IDs().At(got.Graph.InputOrder()[0]); first != "n49" {
		t.Errorf("the first node of the table is %s", first)
	}
}
