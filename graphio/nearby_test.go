package graphio

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Junctions of a town, 111 m apart from south to north; c has no place.
const townNodes = "id,lat,lon\na,50,6\nb,50.001,6\nc,,\n"

func TestMeasurementsByCoordinates(t *testing.T) {
	t.Parallel()
	read := func(nodes, edges, rows string, opts Options) (*Measurements, *Network, error) {
		t.Helper()
		table, err := ReadNodes(context.Background(), Reader("nodes.csv", strings.NewReader(nodes)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		n, err := readText(edges, Options{Nodes: table})
		if err != nil {
			t.Fatal(err)
		}
		opts.Places = n.Nodes
		m, err := ReadMeasurements(context.Background(), Reader("m.csv", strings.NewReader(rows)), n.Graph, opts)
		return m, n, err
	}
	const roads = "source,target\na,b\nb,c\n"
	nearest := "no column holds ids of the graph: rows belong to the nodes nearest to their coordinates: "
	const areas = `id,lat,lon,geometry
a,0.5,0.5,"{""type"":""Polygon"",""coordinates"":[[[0,0],[0,1],[1,1],[1,0],[0,0]]]}"
b,0.5,5,"{""type"":""Polygon"",""coordinates"":[[[1,0],[1,1],[9,1],[9,0],[1,0]]]}"
`
	for _, c := range []struct {
		name, nodes, edges, rows string
		opts                     Options
		want                     string // ids of the nodes and values
		note                     string
		bad                      string
	}{
		{name: "sensors", rows: "sensor,lat,lon,speed\nS1,50.0001,6,30\nS2,50.0009,6.0001,40\n", want: "a=30 b=40", note: nearest +
			"2, at a mean distance of 12 m, at most 13 m"},
		{name: "without any names of sensors", rows: "lat,lon,speed\n50.0001,6,30\n50.0009,6,40\n", want: "a=30 b=40", note: nearest +
			"2, at a mean distance of 11 m, at most 11 m"},
		{name: "ids come first", rows: "node,lat,lon,speed\nb,50,6,30\na,50,6,40\n", want: "b=30 a=40"},
		{name: "two at a node", rows: "lat,lon,speed\n50,6,30\n50.00001,6,40\n", want: "a=35"},
		{name: "too far", rows: "lat,lon,speed\n50,6,30\n51,6,40\n",
			bad: `m.csv: 1 of 2 rows lies farther than 100 m from every node; check the coordinates, allow a larger distance with Options.Within,` +
				` or leave such rows out with Options.Unknown = "skip"`},
		{name: "too far, skipped", rows: "lat,lon,speed\n50,6,30\n51,6,40\n50.001,6,31\n", opts: Options{Unknown: UnknownSkip}, want: "a=30 b=31",
			note: "1 of 3 rows lies farther than 100 m from every node; they are left out"},
		{name: "swapped", rows: "lat,lon,speed\n6,50,30\n6,50.001,40\n",
			bad: "m.csv: 2 of 2 rows lie farther than 100 m from every node; latitude and longitude look swapped: exchange the names of these " +
				"columns, or allow a larger distance with Options.Within"},
		{name: "all too far", rows: "lat,lon,speed\n51,6,40\n", opts: Options{Unknown: UnknownSkip},
			bad: "m.csv: 1 of 1 rows lies farther than 100 m from every node; check the coordinates, or allow a larger distance " +
				"with Options.Within"},
		{name: "a larger distance", rows: "lat,lon,speed\n50,6,30\n50.01,6,40\n", opts: Options{Within: 1500}, want: "a=30 b=40", note: nearest +
			"2, at a mean distance of 500 m, at most 1001 m"},
		{name: "no latitude", rows: "lat,lon,speed\n50,6,30\n,6,40\n",
			bad: `m.csv:3:1: the lat is empty; correct the line, or leave such rows out with Options.BadRows = "skip"`},
		{name: "an impossible latitude", rows: "lat,lon,speed\n50,6,30\n95,6,40\n",
			bad: `m.csv:3:1: lat "95" is out of range; are lat and lon swapped? planar coordinates are called x and y`},
		{name: "no coordinates", rows: "sensor,speed\nS1,30\nS2,40\n",
			bad: `m.csv: none of its ids, such as "S1" and "S2", is a node of the graph, which has ids such as "a", "b" and "c"; check that both ` +
				`files use the same ids; ids are text and are never changed silently: rewrite one of the files`},
		{name: "areas", nodes: areas, edges: "source,target\na,b\n", rows: "lat,lon,v\n0.9,0.9,1\n0.9,1.1,2\n", want: "a=1 b=2",
			note: "no column holds ids of the graph: rows belong to the areas that contain their coordinates: 2"},
		{name: "in no area", nodes: areas, edges: "source,target\na,b\n", rows: "lat,lon,v\n0.9,0.9,1\n5,5,2\n",
			bad: `m.csv: 1 of 2 rows lies in no area; check the coordinates, or leave such rows out with Options.Unknown = "skip"`},
		{name: "a plane", nodes: "id,x,y\na,1000,1000\nb,1000,2000\n", edges: "source,target\na,b\n", rows: "x,y,v\n1003,1004,1\n1000,2000,2\n",
			want: "a=1 b=2", note: nearest + "2, at a mean distance of 2 m, at most 5 m"},
	} {
		if c.nodes == "" {
			c.nodes, c.edges = townNodes, roads
		}
		m, n, err := read(c.nodes, c.edges, c.rows, c.opts)
		if c.bad != "" {
			if err == nil || err.Error() != c.bad {
				t.Errorf("%s: %v, want %s", c.name, err, c.bad)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for k, node := range m.Nodes {
			got = append(got, fmt.Sprintf("%s=%g", n.Graph.IDs().At(node), m.Values[k]))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
		if c.note != "" && !slices.Contains(warnings(m.Report), c.note) {
			t.Errorf("%s: notes %q, want %q", c.name, warnings(m.Report), c.note)
		}
	}
}
