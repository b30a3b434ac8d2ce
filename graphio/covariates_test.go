package graphio

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"grfgp/covariate"
	"grfgp/internal/rng"
)

// kindsOf returns "name:kind" of columns.
func kindsOf(columns []covariate.Column) string {
	var out []string
	for _, c := range columns {
		text := fmt.Sprintf("%s:%v", c.Name, c.Kind)
		if c.Role != "" {
			text += "/" + c.Role
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func mustReadNodes(t testing.TB, text string) *NodeTable {
	t.Helper()
	n, err := readNodes(text, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestCovariates(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("id;zone;lat;lon;capacity;lanes;built;type;oneway;tags;osmid;note\n")
	for i := range 60 {
		zone := []string{"north", "south"}[i%2]
		fmt.Fprintf(&b, "s%d;%s;48,%d;9,5;%d,5;%d;%d.03.2011;%d;%s;a|b%d|c%d;way%d;%s\n", i, zone, i, 100*i, 1+i%4, 1+i%28, 1+i%3,
			[]string{"yes", "no"}[i%2], i%5, i%7, i*i, []string{"", "x"}[i%2])
	}
	n := mustReadNodes(t, b.String())
	if got, want := kindsOf(n.Columns), "capacity:number lanes:number built:date type:category oneway:category tags:words osmid:identifier "+
		"note:category"; got != want {
		t.Fatalf("columns %s, want %s", got, want)
	}
	if n.Columns[0].Numbers[7] != 700.5 || n.Columns[2].Numbers[0] != 15034 {
		t.Errorf("capacity %v, built %v", n.Columns[0].Numbers[7], n.Columns[2].Numbers[0])
	}
	if got, want := kindsOf(n.Covariates()[len(n.Columns):]), "zone:category/group lat:number/lat lon:number/lon"; got != want {
		t.Errorf("columns with a role %s, want %s", got, want)
	}
	var said []string
	for _, c := range n.Report.Covariates {
		said = append(said, fmt.Sprintf("%s %v %d", c.Name, c.Kind, c.Missing))
	}
	if said[0] != "capacity number 0" || said[7] != "note category 30" || n.Report.Missing != 0 {
		t.Errorf("the report says %q, %d missing", said, n.Report.Missing)
	}
	if got := n.Report.Ledger.String(); got != "61 lines = 1 header + 60 rows" {
		t.Errorf("ledger %s", got)
	}
	chosen, err := covariate.Select(n.Covariates(), []string{"all", "zone"})
	if err != nil || len(chosen) != 9 {
		t.Errorf("%s, %v", kindsOf(chosen), err)
	}
}

// A table in which ids repeat is a list of words.
func TestLongTable(t *testing.T) {
	t.Parallel()
	n := mustReadNodes(t, "node,word\n0,19\n1,19\n0,81\n2,4\n1,4\n0,19\n2,81\n2,\n")
	if got := kindsOf(n.Columns); got != "word:words" {
		t.Fatal(got)
	}
	c := n.Columns[0]
	if !slices.Equal(c.Levels, []string{"19", "4", "81"}) || !slices.Equal(c.Start, []int{0, 2, 4, 6}) ||
		!slices.Equal(c.Items, []uint32{0, 2, 0, 1, 1, 2}) {
		t.Errorf("%+v", c)
	}
	if got := n.Report.Ledger.String(); got != "9 lines = 1 header + 3 rows + 5 repeats" {
		t.Errorf("ledger %s", got)
	}
	// Readings that repeat are not words.
	n = mustReadNodes(t, "node,speed\n0,1.5\n1,2.5\n0,3\n1,7\n")
	if c := n.Columns[0]; c.Kind != covariate.Empty || !strings.Contains(c.Notes[0], "speed: left out: nodes have several values each") {
		t.Errorf("%+v", c)
	}
	// One repeated node contradicts itself.
	var b strings.Builder
	b.WriteString("node,lanes,colour\n")
	for i := range 50 {
		fmt.Fprintf(&b, "%d,%d,n%d\n", i, i%5, i%3)
	}
	b.WriteString("7,4,n0\n")
	n = mustReadNodes(t, b.String())
	if c := n.Columns[0]; c.Kind != covariate.Number || !math.IsNaN(c.Numbers[7]) || c.Missing() != 1 ||
		!slices.Contains(c.Notes, "lanes: 1 node with several values, taken as missing") {
		t.Errorf("%+v", c)
	}
}

func TestDecimalCommaOfCovariates(t *testing.T) {
	t.Parallel()
	n := mustReadNodes(t, "id;height\na;1,5\nb;2,5\nc;3\n")
	if !slices.Equal(n.Columns[0].Numbers, []float64{1.5, 2.5, 3}) || n.Report.Decimal != "comma" {
		t.Errorf("%+v, decimal %q", n.Columns[0], n.Report.Decimal)
	}
	n = mustReadNodes(t, "id;height;version\na;1,5;1.2\nb;2,5;1.3\nc;3;1.4\n")
	if c := n.Columns[1]; !slices.Equal(c.Numbers, []float64{1.2, 1.3, 1.4}) {
		t.Errorf("%+v", c)
	}
}

// The separator of a list of words is not the delimiter of the file, even if all lists
// have the same length.
func TestListsAndDelimiters(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"id,tags\na,x;y\nb,y;z\nc,z;x\n", "id,tags\na,x|y\nb,y|z\nc,z|x\n", "id;tags\na;x|y\nb;y|z\nc;z|x\n",
		"id\ttags\na\tx y\nb\ty z\nc\tz x\n"} {
		n := mustReadNodes(t, text)
		if n.IDs.At(0) != "a" || kindsOf(n.Columns) != "tags:words" || !slices.Equal(n.Columns[0].Levels, []string{"x", "y", "z"}) {
			t.Errorf("%q: delimiter %s, columns %+v", text, n.Report.Delimiter, n.Columns)
		}
	}
}

// Shuffled rows give the same network with the same covariates, bit by bit.
func TestCovariatesOfShuffledRows(t *testing.T) {
	t.Parallel()
	r := rand.New(rng.New(1, "shuffle"))
	const n = 5000 // more distinct numbers than are kept as texts
	nodes, edges := make([]string, n), make([]string, n)
	for i := range n {
		nodes[i] = fmt.Sprintf("v%d,%v,%d,%s,w%d w%d w%d\n", i, r.NormFloat64(), i*7919%n, []string{"a", "b", "", "1.50"}[r.IntN(4)], r.IntN(9),
			r.IntN(99), r.IntN(999))
		edges[i] = fmt.Sprintf("v%d,v%d\n", i, r.IntN(n))
	}
	read := func() (*Network, *covariate.Set) {
		table := mustReadNodes(t, "id,normal,hash,level,text\n"+strings.Join(nodes, ""))
		if got, want := kindsOf(table.Columns), "normal:number hash:identifier level:category text:words"; got != want {
			t.Fatalf("%s, want %s", got, want)
		}
		net, err := ReadGraph(t.Context(), Reader("e", strings.NewReader("u,v\n"+strings.Join(edges, ""))), Options{Nodes: table})
		if err != nil {
			t.Fatal(err)
		}
		set, err := covariate.Encode(net.Nodes.Covariates(), net.Graph.Len(), covariate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return net, set
	}
	net, set := read()
	for range 3 {
		r.Shuffle(n, func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		r.Shuffle(n, func(i, j int) { edges[i], edges[j] = edges[j], edges[i] })
		other, shuffled := read()
		if other.Graph.Hash() != net.Graph.Hash() || shuffled.Hash() != set.Hash() || !slices.Equal(shuffled.Notes, set.Notes) {
			t.Errorf("the order of the rows shows:\n%q\n%q", set.Notes, shuffled.Notes)
		}
	}
}

func TestJoinNodes(t *testing.T) {
	t.Parallel()
	first := mustReadNodes(t, "id,x,y,lanes\na,1,2,3\nb,3,4,1\n")
	words := mustReadNodes(t, "id,word\nb,red\nc,red\nb,blue\na,blue\n")
	costs := mustReadNodes(t, "id,cost,x,y\nc,7,9,9\na,5,1,2\n")
	n, err := JoinNodes(first, words, costs)
	if err != nil {
		t.Fatal(err)
	}
	if got := kindsOf(n.Covariates()); got != "lanes:number word:words x:number/x y:number/y cost:number/cost" {
		t.Error(got)
	}
	if n.IDs.Len() != 3 || n.IDs.At(2) != "c" || n.X[2] != 9 || n.Cost[0] != 5 || !math.IsNaN(n.Cost[1]) ||
		!math.IsNaN(n.Columns[0].Numbers[2]) || n.Columns[1].Start[3] != 4 {
		t.Errorf("%+v", n)
	}
	if len(words.Report.Warnings) != 1 || words.Report.Warnings[0].What != `nodes that are not in n: 1, such as "c"` {
		t.Errorf("%v", words.Report.Warnings)
	}
	if len(first.X) != 2 || first.Cost != nil {
		t.Error("joining changed a table")
	}
	for _, c := range []struct {
		name, text, want string
		code             Code
	}{
		{"column", "id,lanes\na,9\n", `n: it has a column "lanes", and so has n; rename or remove one of them`, CodeContent},
		{"role", "id,x,y\nb,3,5\n", `n: node "b" has another y in n; correct one of the two, or leave the column out of one of them`,
			CodeContent},
		{"ids", "id,h\nA,1\nB,2\n", "none of its ids", CodeIDs},
	} {
		_, err := JoinNodes(first, mustReadNodes(t, c.text))
		var e *Error
		if !errors.As(err, &e) || e.Code != c.code || !strings.Contains(err.Error(), c.want) || len(e.Remedies) == 0 {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if one, err := JoinNodes(first); one != first || err != nil {
		t.Errorf("one table: %v", err)
	}
}

func TestGraphMLCovariates(t *testing.T) {
	t.Parallel()
	text := `<graphml><key id="d0" for="node" attr.name="lanes" attr.type="int"><default>2</default></key><key id="d1" for="node" ` +
		`attr.name="surface" attr.type="string"/>` +
		`<key id="d2" for="node" attr.name="x" attr.type="double"/><key id="d3" for="node" attr.name="y" attr.type="double"/><graph ` +
		`edgedefault="undirected">`
	for i := range 12 {
		text += fmt.Sprintf(`<node id="n%d"><data key="d2">%d</data><data key="d3">0</data>`, i, i)
		if i > 0 {
			text += fmt.Sprintf(`<data key="d0">%d</data><data key="d1">%s</data>`, 3+i%3, []string{"asphalt", "gravel"}[i%2])
		}
		text += "</node>"
	}
	for i := range 11 {
		text += fmt.Sprintf(`<edge source="n%d" target="n%d"/>`, i, i+1)
	}
	net, err := ReadGraph(context.Background(), Reader("g", strings.NewReader(text+"</graph></graphml>")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := kindsOf(net.Nodes.Covariates()); got != "lanes:number surface:category x:number/x y:number/y" {
		t.Fatal(got)
	}
	i := net.Graph.InputOrder()[0]
	if c := net.Nodes.Columns; c[0].Numbers[i] != 2 || c[1].Codes[i] != 0 || net.Nodes.X[i] != 0 {
		t.Errorf("node n0: lanes %v, surface %v", c[0].Numbers[i], c[1].Codes[i])
	}
	if len(net.Report.Covariates) != 2 {
		t.Errorf("%+v", net.Report.Covariates)
	}
}

func TestDatasetCovariates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, want string }{
		{"transport/chicago_nodes.csv.gz", "from_junction:number to_junction:number capacity:number length:number free_flow_time:number " +
			"speed:number type:category volume:number"},
		{"twitch_small/engb_nodes.csv.gz", "views:number days:number mature:category partner:category"},
		{"cora_words/words.csv.gz", "word:words"},
		{"lip_cancer/districts.csv", "cases:number expected:number outdoor_work_percent:number"},
	} {
		n, err := ReadNodes(t.Context(), dataset(t, c.file), Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		if got := kindsOf(n.Columns); got != c.want {
			t.Errorf("%s: %s, want %s", c.file, got, c.want)
		}
		if c.file == "cora_words/words.csv.gz" && (len(n.Columns[0].Items) != 49216 || len(n.Columns[0].Levels) != 1432) {
			t.Errorf("%d pairs, %d words", len(n.Columns[0].Items), len(n.Columns[0].Levels))
		}
	}
}
