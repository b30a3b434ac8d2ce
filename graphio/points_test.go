package graphio

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// Points in one file are nodes and measurements: rows without ids have their numbers, and
// rows at the same place are repeats of one node.
func TestPoints(t *testing.T) {
	t.Parallel()
	read := func(nodes, values string, opts Options) (*Network, *Measurements) {
		t.Helper()
		n, err := ReadNodes(t.Context(), Reader("p", strings.NewReader(nodes)), opts)
		if err != nil {
			t.Fatal(err)
		}
		net, err := NearestNeighbours(n, 2)
		if err != nil {
			t.Fatal(err)
		}
		opts.Nodes = net.Nodes
		m, err := ReadMeasurements(t.Context(), Reader("p", strings.NewReader(values)), net.Graph, opts)
		if err != nil {
			t.Fatal(err)
		}
		return net, m
	}
	points := "x,y,value,soil\n0,0,1.5,clay\n1,0,2.5,sand\n\n0,1,,clay\n1,0,3.5,sand\n5,5,4.5,clay\n"
	net, m := read(points, points, Options{Points: true})
	twoNodes := "id,x,y\n1,0,0\n2,1,0\n4,0,1\n6,5,5\n"
	twoValues := "node,value\n1,1.5\n2,2.5\n4,\n2,3.5\n6,4.5\n"
	net2, m2 := read(twoNodes, twoValues, Options{})
	for i := range net.Graph.Len() {
		cols, vals := net.Graph.Adjacency().Row(i)
		cols2, vals2 := net2.Graph.Adjacency().Row(i)
		if !slices.Equal(cols, cols2) || !slices.Equal(vals, vals2) || net.Graph.IDs().At(i) != net2.Graph.IDs().At(i) {
			t.Errorf("node %d differs from that of two files", i)
		}
	}
	if !slices.Equal(m.Nodes, m2.Nodes) || !slices.Equal(m.Values, m2.Values) || !slices.Equal(m.Count, m2.Count) ||
		m.Report.Ledger.Missing != 1 {
		t.Errorf("%+v, want %+v", m, m2)
	}
	warned := slices.ContainsFunc(net.Nodes.Report.Warnings, func(w Warning) bool {
		return strings.Contains(w.What, "rows at the place of an earlier row: 1; they are one node")
	})
	if !warned || net.Nodes.Report.Columns[0].Name != "row number" {
		t.Errorf("%+v", net.Nodes.Report)
	}
	if !net.Nodes.Report.Ledger.Balanced() || !m.Report.Ledger.Balanced() {
		t.Error(net.Nodes.Report.Ledger, m.Report.Ledger)
	}
	// A bad row is left out of both, and written once.
	bad := strings.Replace(points, "0,1,,", "0,north,,", 1)
	var rejects bytes.Buffer
	n, err := ReadNodes(t.Context(), Reader("p", strings.NewReader(bad)), Options{Points: true, BadRows: BadRowsSkip})
	if err != nil {
		t.Fatal(err)
	}
	badNet, err := NearestNeighbours(n, 2)
	if err != nil {
		t.Fatal(err)
	}
	m, err = ReadMeasurements(t.Context(), Reader("p", strings.NewReader(bad)), badNet.Graph,
		Options{BadRows: BadRowsSkip, Rejects: &rejects, Nodes: badNet.Nodes})
	if err != nil || len(m.Nodes) != 3 || rejects.String() != "0,north,,clay\n" {
		t.Errorf("%+v, %v, %q", m, err, rejects.String())
	}
	// Files with ids keep them, and labels of points are read as well.
	net, _ = read("site,lat,lon,level\na,50,8,1\nb,51,8,2\nc,52,9,3\n", "site,lat,lon,level\na,50,8,1\nb,51,8,2\nc,52,9,3\n",
		Options{Points: true})
	if _, ok := net.Graph.IDs().Lookup([]byte("b")); !ok {
		t.Error("the ids of the file are not used")
	}
	labels := "x,y,class\n0,0,oak\n1,0,beech\n0,1,\n"
	n, err = ReadNodes(t.Context(), Reader("p", strings.NewReader(labels)), Options{Points: true})
	if err != nil {
		t.Fatal(err)
	}
	if net, err = NearestNeighbours(n, 1); err != nil {
		t.Fatal(err)
	}
	l, err := ReadLabels(t.Context(), Reader("p", strings.NewReader(labels)), net.Graph, Options{Nodes: net.Nodes})
	if err != nil || len(l.Nodes) != 2 || !slices.Equal(l.Classes, []string{"beech", "oak"}) {
		t.Errorf("%+v, %v", l, err)
	}
}
