package report

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/internal/chart"
)

const (
	clockwiseSquare = `{"type":"Polygon","coordinates":[[[0,0],[0,2],[2,2],[2,0],[0,0]],[[0.5,0.5],[1.5,0.5],[1.5,1.5],[0.5,1.5],[0.5,0.5]]]}`
	twoSquares      = `{"type":"MultiPolygon","coordinates":[[[[2,0],[3,0],[3,1],[2,1],[2,0]]],[[[4,0,9],[5,0,9],[5,1,9],[4,1,9],[4,0,9]]]]}`
	road            = `{"type":"MultiLineString","coordinates":[[[0,3],[1,3],[2,4]]]}`
)

func TestParseShape(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		// The outer ring turns left, and the hole right.
		{clockwiseSquare, "[{true [2 2 0 0] [0 2 2 0]} {true [0.5 1.5 1.5 0.5] [1.5 1.5 0.5 0.5]}]"},
		{twoSquares, "[{true [2 3 3 2] [0 0 1 1]} {true [4 5 5 4] [0 0 1 1]}]"},
		{road, "[{false [0 1 2] [3 3 4]}]"},
		{`{"type":"GeometryCollection","geometries":[` + road + `,{"type":"Point","coordinates":[1,1]}]}`, "[{false [0 1 2] [3 3 4]}]"},
		{`{"type":"Polygon","coordinates":[[[0,0],[1,1],[0,0]]]}`, "[]"},
		{`{"type":"Point","coordinates":[1,1]}`, "[]"},
	} {
		got, err := parseShape(c.text)
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, %v; want %s", c.text, got, err, c.want)
		}
	}
	for _, bad := range []string{"", "{", `{"type":"Circle"}`, `{"type":"Polygon","coordinates":[[[1]]]}`,
		`{"type":"Polygon","coordinates":7}`} {
		if _, err := parseShape(bad); err == nil {
			t.Errorf("%q is taken as a geometry", bad)
		}
	}
}

// Points on a line are dropped, corners stay, and too many points make the grid coarser.
func TestOnGrid(t *testing.T) {
	t.Parallel()
	line := chart.Outline{Closed: true}
	for k := range 100 {
		line.X, line.Y = append(line.X, float64(k)/100), append(line.Y, 0)
	}
	line.X, line.Y = append(line.X, 1, 0), append(line.Y, 1, 1)
	moved, grid := onGrid([][]chart.Outline{{line}, nil})
	if grid != 1<<15 || len(moved[0][0].X) > 60 || moved[1] != nil {
		t.Errorf("grid %d, %d points", grid, len(moved[0][0].X))
	}
	rough := chart.Outline{Closed: true}
	for k := range 2 * mostPoints {
		rough.X, rough.Y = append(rough.X, float64(k%7)/20000), append(rough.Y, float64(k%5)/20000)
	}
	if _, grid := onGrid([][]chart.Outline{{rough}}); grid >= 1<<15 {
		t.Errorf("a grid of %d for %d points", grid, len(rough.X))
	}
}

// Areas give the places of nodes that have no coordinates, in degrees if they can be.
func TestPlacesOfAreas(t *testing.T) {
	t.Parallel()
	g, err := graph.Ring(3)
	if err != nil {
		t.Fatal(err)
	}
	network := func(shapes ...string) *graphio.Network {
		return graphio.NewNetwork(g, &graphio.NodeTable{IDs: g.IDs(), Shapes: shapes}, nil)
	}
	net := network(clockwiseSquare, twoSquares, "")
	at := net.Graph.InputOrder()
	p, err := placesOf(net, 1)
	if err != nil || len(p.areas) != 3 || p.areas[at[2]] != nil || !math.IsNaN(p.X[at[2]]) || !(p.kilometres > 500) ||
		p.note != "Nodes are drawn as their areas." {
		t.Errorf("%+v, %v", p, err)
	}
	// The border that two areas share stays one.
	if a, b := p.areas[at[0]][0].X[0], p.areas[at[1]][0].X[0]; a != b {
		t.Errorf("a shared border is at %v and %v", a, b)
	}
	wide := strings.ReplaceAll(clockwiseSquare, "2,", "2000,")
	if p, err = placesOf(network(wide, wide, wide), 1); err != nil || p.kilometres != 0 {
		t.Errorf("metres were taken for degrees: %v, %v", p.kilometres, err)
	}
	if _, err := placesOf(network("{", "", ""), 1); err == nil || !strings.Contains(err.Error(), `area of node "0"`) {
		t.Error(err)
	}
	if p, err = placesOf(network("", "", ""), 1); err != nil || p.areas != nil || !strings.Contains(p.note, "no coordinates") {
		t.Errorf("%+v, %v", p, err)
	}
}
