package graphio

import (
	"fmt"
	"strings"
	"testing"
)

// Columns that are to be kept are kept as they were read, also through joins and the order
// of a graph.
func TestKeptTexts(t *testing.T) {
	t.Parallel()
	first := "id,lat,lon,name,length,code,group\nb,1,2,Beta,1.50,007,g\na,1,3,Alpha,,008,g\nc,2,2,Gamma,3e1,\"x, y\",h\n"
	second := "id,color\nc,red\nz,blue\nc,dark\n"
	for _, c := range []struct {
		keep []string
		want string // "name: cells by a, b, c, z; …", or an error
	}{
		{[]string{"code"}, `code: "008" "007" "x, y" ""`},
		{[]string{"length", "color"}, `length: "" "1.50" "3e1" ""; color: "" "" "red; dark" "blue"`},
		{[]string{KeepAll}, `length: "" "1.50" "3e1" ""; code: "008" "007" "x, y" ""; group: "g" "g" "h" ""; color: "" "" "red; dark" "blue"`},
		{[]string{"name"}, `name: "Alpha" "Beta" "Gamma" ""`},
		{[]string{"nothing"}, `the node table has no column "nothing" that can be kept; it has "length", "color" and "group"`},
	} {
		var tables []*NodeTable
		for _, text := range []string{first, second} {
			n, err := ReadNodes(t.Context(), Reader("n", strings.NewReader(text)), Options{Keep: c.keep})
			if err != nil {
				t.Fatal(err)
			}
			tables = append(tables, n)
		}
		nodes, err := JoinNodes(tables...)
		if err != nil {
			t.Fatal(err)
		}
		net, err := ReadGraph(t.Context(), Reader("e", strings.NewReader("u,v\na,c\nc,b\n")), Options{Nodes: nodes})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		texts, err := net.Nodes.TextsOf(c.keep)
		for _, column := range texts {
			words := column.Name + ":"
			for _, id := range []string{"a", "b", "c", "z"} {
				i, _ := net.Graph.IDs().Lookup([]byte(id))
				words += fmt.Sprintf(" %q", column.Cells[i])
			}
			got = append(got, words)
		}
		all := strings.Join(got, "; ")
		if err != nil {
			all = err.Error()
		}
		if all != c.want {
			t.Errorf("%v: %s, want %s", c.keep, all, c.want)
		}
	}
}

// Columns that were not kept as text are given as they are known.
func TestTextsOfColumns(t *testing.T) {
	t.Parallel()
	text := "id,number,kind,when,may\na,1.50,x,2024-03-01,1\nb,,y,2024-03-02,0\nc,2,x,,1\nd,7,,2024-01-01,1\ne,1,x,2024-02-01,0\n"
	n, err := ReadNodes(t.Context(), Reader("n", strings.NewReader(text)), Options{Columns: map[Role]string{RoleAllowed: "may"}})
	if err != nil {
		t.Fatal(err)
	}
	columns, err := n.TextsOf([]string{KeepAll})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(columns), "[{number [1.5  2 7 1]} {kind [x y x  x]} {when [2024-03-01 2024-03-02  2024-01-01 2024-02-01]} "+
		"{allowed [true false true true false]}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if _, err := (*NodeTable)(nil).TextsOf([]string{"a"}); err == nil {
		t.Error("columns of no table")
	}
}

func TestUnknownLoneNodes(t *testing.T) {
	t.Parallel()
	net, err := ReadGraph(t.Context(), Reader("e", strings.NewReader("u,v\na,b\nb,c\n")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	values := "node,value\na,1\nisland,2\n"
	_, err = ReadMeasurements(t.Context(), Reader("m", strings.NewReader(values)), net.Graph, Options{})
	if err == nil || !strings.Contains(err.Error(), "list nodes that have no edge in a node table") {
		t.Errorf("%v", err)
	}
	m, err := ReadMeasurements(t.Context(), Reader("m", strings.NewReader(values)), net.Graph, Options{Unknown: UnknownSkip})
	if err != nil {
		t.Fatal(err)
	}
	if said := fmt.Sprint(m.Report.Warnings); !strings.Contains(said, "a node without an edge is part of the graph if a node table lists it") {
		t.Error(said)
	}
}
