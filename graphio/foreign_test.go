package graphio

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
)

const smallGML = `graph [
  directed 1
  node [ id 1 label "a" lat 50.8 lon 6.1 speed 30 kind "x" ]
  node [ id 2 label "b" lat 50.9 lon 6.2 speed 31.5 kind "y" ]
  node [ id 3 label "c" lat 51 lon 6.3 speed "NA" kind "x" ]
  node [ id 4 label "lone" lat 52 lon 6.3 ]
  edge [ source 1 target 2 weight 0.5 ]
  edge [ source 2 target 3 weight 2 ]
  edge [ source 3 target 3 weight 1 ]
  edge [ source 2 target 1 weight 0.5 ]
]`

func readNamed(name, text string, opts Options) (*Network, error) {
	return ReadGraph(context.Background(), Reader(name, strings.NewReader(text)), opts)
}

func TestForeignGraph(t *testing.T) {
	t.Parallel()
	n, err := readNamed("net.gml", smallGML, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := edgesOf(n), "a-b b-c:2"; got != want {
		t.Errorf("edges %s, want %s", got, want)
	}
	if got, want := n.Report.Ledger.String(), "4 edges = 2 edges + 1 repeat + 1 self loop"; got != want {
		t.Errorf("ledger %s, want %s", got, want)
	}
	if got, want := n.Nodes.Report.Ledger.String(), "4 nodes = 4 rows"; got != want {
		t.Errorf("ledger %s, want %s", got, want)
	}
	if got, want := n.Report.Columns[0].String(), `source: "source" (as GML defines it)`; got != want {
		t.Errorf("column %s, want %s", got, want)
	}
	i, _ := n.Graph.IDs().Lookup([]byte("lone"))
	if n.Graph.Len() != 4 || n.Nodes.Lat[i] != 52 || n.Report.Format != "GML" || len(n.Nodes.Columns) != 2 {
		t.Errorf("%d nodes, lat %v, %+v", n.Graph.Len(), n.Nodes.Lat, n.Report)
	}
	want := []string{"the graph is directed; directions are dropped",
		"nodes are named by their label, which is different for each, and not by the id",
		"repeated edges: 1; their weights were added up", "edges from a node to itself: 1; left out; keep them with Options.KeepLoops",
		`nodes without an edge to another node: 1, such as "lone"`}
	if !slices.Equal(warnings(n.Report), want) {
		t.Errorf("warnings %q, want %q", warnings(n.Report), want)
	}
}

// A node table that is given is right where the file says something else.
func TestForeignGraphWithNodes(t *testing.T) {
	t.Parallel()
	nodes, err := ReadNodes(context.Background(), Reader("nodes.csv", strings.NewReader("id,lat,lon,kind\na,1,2,z\nb,3,4,z\nd,5,6,z\n")),
		Options{})
	if err != nil {
		t.Fatal(err)
	}
	n, err := readNamed("net.gml", smallGML, Options{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	at := func(id string) int { i, _ := n.Graph.IDs().Lookup([]byte(id)); return i }
	if n.Graph.Len() != 5 || n.Nodes.Lat[at("a")] != 1 ||
		!slices.Contains(warnings(n.Report), `nodes that are not in nodes.csv: 2, such as "c" and "lone"`) {
		t.Errorf("%d nodes, lat %v, warnings %q", n.Graph.Len(), n.Nodes.Lat, warnings(n.Report))
	}
	if len(n.Nodes.Columns) != 2 || n.Nodes.Columns[1].Name != "speed" || n.Nodes.Columns[1].Numbers[at("b")] != 31.5 {
		t.Errorf("columns %+v", n.Nodes.Columns)
	}
}

func TestForeignTables(t *testing.T) {
	t.Parallel()
	ctx, src := context.Background(), func() Source { return Reader("net.gml", strings.NewReader(smallGML)) }
	g := ring("a", "b", "c", "lone")
	m, err := ReadMeasurements(ctx, src(), g, Options{Columns: map[Role]string{RoleValue: "speed"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.Report.Ledger.String(), "4 nodes = 2 rows + 2 missing values"; got != want ||
		!slices.Equal(m.Values, []float64{30, 31.5}) {
		t.Errorf("ledger %s, values %v", got, m.Values)
	}
	l, err := ReadLabels(ctx, src(), g, Options{Columns: map[Role]string{RoleClass: "kind"}})
	if err != nil || !slices.Equal(l.Classes, []string{"x", "y"}) || len(l.Nodes) != 3 {
		t.Errorf("labels %+v, %v", l, err)
	}
	n, err := ReadNodes(ctx, src(), Options{})
	if err != nil || n.IDs.Len() != 4 || n.Report.Format != "GML" {
		t.Errorf("nodes %+v, %v", n, err)
	}
}

// Rows of other programs' files are named by their unit, and rejected as CSV.
func TestForeignRows(t *testing.T) {
	t.Parallel()
	text := strings.Replace(smallGML, "weight 2 ", `weight -2 note "x, y" `, 1)
	_, err := readNamed("net.gml", text, Options{})
	checkError(t, err, ErrData, `net.gml: edge 2: weight "-2" is negative; correct the edge, or leave such rows out with Options.BadRows = `+
		`"skip"`)
	var rejects bytes.Buffer
	n, err := readNamed("net.gml", text, Options{BadRows: BadRowsSkip, Rejects: &rejects})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := rejects.String(), "b,c,-2,\"x, y\"\n"; got != want {
		t.Errorf("rejects %s, want %s", got, want)
	}
	if got, want := n.Report.Ledger.String(), "4 edges = 1 edge + 1 repeat + 1 self loop + 1 bad"; got != want ||
		n.Report.BadRows[0] != `net.gml: edge 2: weight "-2" is negative` {
		t.Errorf("ledger %s, want %s; bad rows %q", got, want, n.Report.BadRows)
	}
	_, err = readNamed("net.gml", strings.Replace(smallGML, `label "c" lat 51`, `label "c" lat 151`, 1), Options{})
	checkError(t, err, ErrData, `net.gml: node 3: lat "151" is out of range; are lat and lon swapped? planar coordinates are called x and y`)
	_, err = readNamed("net.gml", strings.Replace(smallGML, "weight", "length", -1), Options{})
	if err == nil || !strings.HasPrefix(err.Error(), "net.gml: column length looks like a distance;") {
		t.Errorf("%v", err)
	}
	_, err = readNamed("net.gml", "graph [\n node [ id 1 ]\n", Options{})
	checkError(t, err, ErrData, "net.gml:1: the list that begins here does not end; was the file cut short? fetch or write it again")
}

// Shapes are carried along with nodes and are no covariates.
func TestShapes(t *testing.T) {
	t.Parallel()
	table := "id,geometry,height\n" + `a,"{""type"":""Point"",""coordinates"":[1,2]}",1` + "\nb,,2\n"
	nodes, err := ReadNodes(context.Background(), Reader("nodes.csv", strings.NewReader(table)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	n, err := readText("source,target\nb,a\nb,c\n", Options{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	data, err := Encode(n)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, net := range []*Network{n, back} {
		i, _ := net.Graph.IDs().Lookup([]byte("a"))
		if len(net.Nodes.Shapes) != 3 || net.Nodes.Shapes[i] != `{"type":"Point","coordinates":[1,2]}` || len(net.Nodes.Covariates()) != 1 {
			t.Errorf("shapes %q, covariates %v", net.Nodes.Shapes, net.Nodes.Covariates())
		}
	}
	wkt, err := ReadNodes(context.Background(), Reader("nodes.csv", strings.NewReader("id,geometry\na,POINT (1 2)\nb,POINT (2 2)\n")),
		Options{})
	if err != nil || wkt.Shapes != nil || len(wkt.Columns) != 0 || !slices.Equal(wkt.Lon, []float64{1, 2}) {
		t.Errorf("well-known text: %+v, %v", wkt, err)
	}
}
