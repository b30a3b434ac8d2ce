package graphio

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// rowsOf returns a table with n rows of a form that takes the number of the row and the next.
func rowsOf(header, form string, n int) string {
	var b strings.Builder
	b.WriteString(header + "\n")
	for i := range n {
		fmt.Fprintf(&b, form+"\n", i, (i+1)%n)
	}
	return b.String()
}

func TestLooksLike(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       Table
	}{
		{"edges", rowsOf("source,target", "%d,%d", 20), TableEdges},
		{"weighted edges", rowsOf("from_node,to_node,length", "%d,%d,2.5", 20), TableEdges},
		{"measurements", rowsOf("station,speed_mph", "%d,%d.5", 20), TableMeasurements},
		{"whole measurements", rowsOf("station,speed", "s%d,%d", 20), TableMeasurements},
		{"measurements without names", rowsOf("s0,1.5", "n%d,%d.5", 20), TableMeasurements},
		{"nodes", rowsOf("id,lat,lon", "%d,5%d.1,8.5", 9), TableNodes},
		{"nodes without places", rowsOf("node,lanes,income", "n%d,2,%d.5", 20), TableNodes},
		{"edges with coordinates", rowsOf("u,v,lat,lon", "%d,%d,50.1,8.2", 20), TableEdges},
		{"neighbours with values", rowsOf("node,neighbour,value", "n%d,n%d,1.5", 20), ""},
		{"links", rowsOf("link_id,from_node,to_node", "l%d,%d,2", 20), ""},
		{"anything", rowsOf("p,q", "a%d,b%d", 20), ""},
	} {
		if got := LooksLike(t.Context(), Reader("f", strings.NewReader(c.text))); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A file under the name of another is said to be one.
func TestSwappedFiles(t *testing.T) {
	t.Parallel()
	edges, nodes := rowsOf("source,target", "%d,%d", 20), rowsOf("id,lat,lon", "%d,5%d.1,8.5", 9)
	for _, c := range []struct {
		name, text string
		read       func(src Source) error
		looks      Table
		says       string
	}{
		{"measurements as edges", rowsOf("node,speed", "%d,%d.5", 20),
			func(src Source) error { _, err := ReadGraph(t.Context(), src, Options{}); return err }, TableMeasurements,
			"looks like a table of measurements, with columns node and speed; it was given as a table of edges"},
		{"nodes as edges", nodes, func(src Source) error { _, err := ReadGraph(t.Context(), src, Options{}); return err }, TableNodes,
			"NearestNeighbours"},
		{"edges as nodes", edges, func(src Source) error { _, err := ReadNodes(t.Context(), src, Options{}); return err }, TableEdges,
			"columns source and target name the two ends; it was given as a table of nodes"},
		{"edges as measurements", edges, func(src Source) error {
			_, err := ReadMeasurements(t.Context(), src, numberRing(20), Options{})
			return err
		}, TableEdges, "given as a table of measurements"},
		{"edges as labels", edges, func(src Source) error {
			_, err := ReadLabels(t.Context(), src, numberRing(20), Options{})
			return err
		}, TableEdges, "given as a table of labels"},
	} {
		err := c.read(Reader("f", strings.NewReader(c.text)))
		var file *Error
		if !errors.As(err, &file) || file.Looks != c.looks || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Advice about the ends of edges is not nonsense.
func TestEndsOfOtherFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want, not string }{
		"stop times": {rowsOf("trip_id,arrival_time,departure_time,stop_id,stop_sequence", "t%d,08:15:00,08:15:30,s%d,3", 20),
			"none have values in common; give a file of edges", "source\"] = "},
		"triples": {rowsOf("kind,here,there", "road,p%d,p%d", 20), `Options.Columns["source"] = "here" and Options.Columns["target"] = "there"`,
			"kind\""},
	} {
		_, err := ReadGraph(t.Context(), Reader("f", strings.NewReader(c.text)), Options{Header: HeaderYes})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), c.not) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Directions are not used, and this is said.
func TestDirections(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"column":      {rowsOf("u,v,oneway", "%d,%d,True", 20), "column oneway: edges have no direction here"},
		"some return": {rowsOf("u,v", "%d,%d", 20) + "1,0\n", "1 edge is listed in both directions, and others in one"},
		"undirected":  {rowsOf("u,v", "%d,%d", 20), ""},
	} {
		net, err := ReadGraph(t.Context(), Reader("f", strings.NewReader(c.text)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		for _, w := range net.Report.Warnings {
			if strings.Contains(w.What, "direction") {
				said = w.What
			}
		}
		if !strings.Contains(said, c.want) || (said == "") != (c.want == "") {
			t.Errorf("%s: %q", name, said)
		}
	}
}

// A question about the value offers all columns of numbers.
func TestAllValuesOffered(t *testing.T) {
	t.Parallel()
	_, err := readMeasurements(numberRing(50), rowsOf("node,income,lanes,score,rating,age,volume", "%d,%d.5,2,0.5,0.25,33,9.5", 20), Options{})
	var file *Error
	if !errors.As(err, &file) || len(file.Remedies) != 6 || !strings.Contains(file.What, "income, lanes, score, rating, age or volume") {
		t.Errorf("%v", err)
	}
}
