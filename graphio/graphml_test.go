package graphio

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"
)

const small = `<?xml version="1.0" encoding="UTF-8"?>
<!-- by hand -->
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="edge" attr.name="weight" attr.type="double"><default>2</default></key>
  <key id="d1" for="node" attr.name="label" attr.type="string"/>
  <key id="d2" for="node" attr.name="lat" attr.type="double"/>
  <key id="d3" for="node" attr.name="lon" attr.type="double"/>
  <graph id="G" edgedefault="directed">
    <node id="a"><data key="d1">Aachen</data><data key="d2">50.8</data><data key="d3">6.1</data></node>
    <node id="lone"/>
    <node id="b&amp;c"><data key="d1">Bonn</data></node>
    <edge source="a" target="b&amp;c"><data key="d0">0.5</data></edge>
    <edge source="a" target="x"/>
    <edge source="x" target="x"/>
    <edge source="b&amp;c" target="a"><data key="d0">1</data></edge>
  </graph>
</graphml>
`

func TestGraphML(t *testing.T) {
	t.Parallel()
	n, err := readText(small, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := edgesOf(n), "a-b&c:1.5 a-x:2"; got != want {
		t.Errorf("edges %s, want %s", got, want)
	}
	if got, want := n.Report.Ledger.String(), "4 edge elements = 2 edges + 1 repeat + 1 self loop"; got != want {
		t.Errorf("ledger %s, want %s", got, want)
	}
	var labels []string
	order := n.Graph.InputOrder()
	for _, i := range order {
		labels = append(labels, n.Nodes.Name[i])
	}
	if !slices.Equal(labels, []string{"Aachen", "", "Bonn", ""}) || n.Nodes.Lat[order[0]] != 50.8 || !math.IsNaN(n.Nodes.Lat[order[3]]) ||
		len(n.Nodes.Lon) != 4 {
		t.Errorf("labels %q, lat %v, lon %v", n.Nodes.Name, n.Nodes.Lat, n.Nodes.Lon)
	}
	want := []string{"the graph is directed; directions are dropped", "repeated edges: 1; their weights were added up",
		"edges from a node to itself: 1; left out; keep them with Options.KeepLoops", "nodes that edges name but no node element declares: 1"}
	if !slices.Equal(warnings(n.Report), want) {
		t.Errorf("warnings %q, want %q", n.Report.Warnings, want)
	}
	if got, want := n.Report.Columns[0].String(), `weight: "weight" (by name)`; got != want {
		t.Errorf("column %s, want %s", got, want)
	}
}

func TestGraphMLRejects(t *testing.T) {
	t.Parallel()
	bad := `<edge source="a" target="b"><data key="d0">x</data></edge>`
	doc := `<graphml><key id="d0" for="edge" attr.name="weight"/><graph><node id="n"><graph>` + bad + `</graph></node>` + "\n " + bad +
		`<edge source="a" target=""/><edge source="a" target="c"/><edge source="a" target="b"><data key="d0">1</data></edge></graph></graphml>`
	var rejects bytes.Buffer
	n, err := readText(doc, Options{BadRows: BadRowsSkip, Rejects: &rejects})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := rejects.String(), bad+"\n"+bad+"\n"+`<edge source="a" target=""/>`+"\n"+`<edge source="a" target="c"/>`+"\n"; got != want {
		t.Errorf("rejects\n%s\nwant\n%s", got, want)
	}
	if got, want := n.Report.Ledger.String(), "5 edge elements = 1 edge + 4 bad"; got != want {
		t.Errorf("ledger %s, want %s", got, want)
	}
	if got, want := n.Report.BadRows[1], `edges.csv:2:2: weight "x" is not a number`; got != want {
		t.Errorf("bad row %s, want %s", got, want)
	}
}

func TestGraphMLErrors(t *testing.T) {
	t.Parallel()
	wrap := func(text string) string { return `<graphml>` + text + `</graphml>` }
	for _, c := range []struct {
		name, text string
		kind       error
		want       string
	}{
		{"other XML", `<?xml version="1.0"?><kml/>`, ErrData,
			"e: is XML, but begins with <kml>, not with <graphml>; save the graph as GraphML or as CSV"},
		{"cut short", `<graphml><graph><edge source="a"`, ErrData,
			"e:1:17: the document ends in the middle; the file was cut short: fetch or write it again"},
		{"not closed", "<graphml><graph>\n<node id=\"a\">", ErrData,
			"e:2:14: the document ends in the middle; the file was cut short: fetch or write it again"},
		{"crossed", "<graphml><graph>\n</graphml>", ErrData,
			"e:2:1: is not well-formed XML: element <graph> closed by </graphml>; correct the line, or write the file again"},
		{"encoding", `<?xml version="1.0" encoding="ISO-8859-1"?><graphml/>`, ErrData,
			`e:1:1: is in an encoding that is not read (xml: encoding "ISO-8859-1" declared but Decoder.CharsetReader is nil); convert it to ` +
				`UTF-8 with iconv, and change its first line`},
		{"no edges", wrap(`<graph><node id="a"/></graph>`), ErrData,
			"e: it contains no edges; name another file, or build the edges from coordinates with NearestNeighbours"},
		{"node without id", wrap(`<graph><node/></graph>`), ErrData, "e:1:17: a node without id; give every node an id"},
		{"node twice", wrap("<graph><node id=\"a\"/>\n<node id=\"a\"/></graph>"), ErrData,
			`e:2:1: node "a" is declared twice; give every node its own id`},
		{"hyperedge", wrap(`<graph><hyperedge/></graph>`), ErrData, "e:1:17: a hyperedge, which joins more than two nodes; replace it by edges"},
		{"distance", wrap(`<key id="k" for="edge" attr.name="length" attr.type="double"/><graph/>`), ErrUsage,
			`e: column length looks like a distance; as a weight it would make distant nodes similar; use it as a similarity (larger means more ` +
				`similar) with Options.Weights = "similarity", use it as a distance (w = mean distance / distance) with Options.Weights = ` +
				`"distance", or treat all edges as equal with Options.Weights = "ignore"`},
		{
			"latitude",
			wrap(`<key id="k" for="node" attr.name="lat" attr.type="double"/><graph><node id="a"><data key="k">123</data></node></graph>`), ErrData,
			`e:1:89: lat "123" is out of range; are lat and lon swapped? planar coordinates are called x and y`},
		{"deep", wrap(strings.Repeat(`<graph><node id="a">`, 3)), ErrData, `e:1:37: node "a" is declared twice; give every node its own id`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadGraph(context.Background(), Reader("e", strings.NewReader(c.text)), Options{})
			checkError(t, err, c.kind, c.want)
		})
	}
	var deep strings.Builder
	for i := range 200 {
		deep.WriteString(`<graph><node id="` + strings.Repeat("x", i+1) + `">`)
	}
	_, err := readText(wrap(deep.String()), Options{})
	if err == nil || !strings.Contains(err.Error(), "nodes within nodes, more than 100 deep") {
		t.Errorf("deep nesting: %v", err)
	}
}
