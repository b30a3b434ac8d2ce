package geometry

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

var plane = Metric{Unit: 1}

func line(road int32, coordinates ...float64) Line {
	l := Line{Road: road}
	for k := 0; k < len(coordinates); k += 2 {
		l.Points = append(l.Points, Point{coordinates[k], coordinates[k+1]})
	}
	return l
}

// describe writes a network as "x,y-x,y length road" lines.
func describe(n *Network, at []Point) []string {
	var out []string
	for _, e := range n.Edges {
		a, b := at[e.U], at[e.V]
		out = append(out, fmt.Sprintf("%g,%g-%g,%g %.6g road %d", a.X, a.Y, b.X, b.Y, e.Length, e.Road))
	}
	return out
}

func network(lines []Line, m Metric, tolerance float64) (*Network, Joined) {
	j := JoinLines(lines, m, tolerance)
	return Contract(j.Paths, len(j.At), func(u, v int32) float64 { return m.Distance(j.At[u], j.At[v]) }), j
}

func TestNetworkOfLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		lines     []Line
		tolerance float64
		want      []string
		nodes     int
		check     func(n *Network, j Joined) string
	}{
		{"a chain is one edge", []Line{line(0, 0, 0, 3, 4), line(1, 3, 4, 3, 14)}, 0, []string{"0,0-3,14 15 road 1"}, 2, nil},
		{"a junction at a shared vertex", []Line{line(0, 0, 0, 10, 0, 20, 0), line(1, 10, 0, 10, 5)}, 0,
			[]string{"0,0-10,0 10 road 0", "10,0-10,5 5 road 1", "10,0-20,0 10 road 0"}, 4, nil},
		{"a bridge is no junction", []Line{line(0, 0, 0, 20, 0), line(1, 10, -5, 10, 5)}, 1,
			[]string{"0,0-20,0 20 road 0", "10,-5-10,5 10 road 1"}, 4,
			func(n *Network, _ Joined) string { return want(n.Pieces, 2) }},
		{"an end on the inside of a line", []Line{line(0, 0, 0, 20, 0), line(1, 10, 0, 10, 5)}, 0.1,
			[]string{"0,0-10,0 10 road 0", "10,0-10,5 5 road 1", "10,0-20,0 10 road 0"}, 4,
			func(_ *Network, j Joined) string { return want(j.Onto, 1) }},
		{"a gap beyond the tolerance", []Line{line(0, 0, 0, 10, 0), line(1, 10.5, 0, 20, 0)}, 0.1,
			[]string{"0,0-10,0 10 road 0", "10.5,0-20,0 9.5 road 1"}, 4,
			func(_ *Network, j Joined) string { return want(j.Missed, 2) }},
		{"a gap within the tolerance", []Line{line(0, 0, 0, 10, 0), line(1, 10.5, 0, 20, 0)}, 1, []string{"0,0-20,0 20 road 0"}, 2, nil},
		{"vertices inside of lines do not move", []Line{line(0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0), line(1, 5, 0, 5, 50), line(2, 5, 0, 55, 0)},
			2,
			[]string{"0,0-5,0 5 road 0", "5,0-5,50 50 road 1", "5,0-55,0 50 road 2"}, 4, nil},
		{"the shorter of two ways", []Line{line(0, 0, 0, 10, 0), line(1, 0, 0, 5, 5, 10, 0), line(2, 0, 0, -1, 0), line(3, 10, 0, 11, 0)}, 0,
			[]string{"-1,0-0,0 1 road 2", "0,0-10,0 10 road 0", "10,0-11,0 1 road 3"}, 4,
			func(n *Network, _ Joined) string { return want(n.Parallel, 1) }},
		{"the same line twice, once backwards", []Line{line(0, 0, 0, 5, 0, 10, 0), line(1, 10, 0, 5, 0, 0, 0)}, 0, []string{"0,0-10,0 10 road 0"},
			2, nil},
		{"a loop at a junction", []Line{line(0, 0, 0, 10, 0), line(1, 10, 0, 15, 5, 15, -5, 10, 0)}, 0, []string{"0,0-10,0 10 road 0"}, 2,
			func(n *Network, _ Joined) string { return want(n.Loops, 1) }},
		{"a ring of one line", []Line{line(0, 0, 0, 10, 0, 10, 10, 0, 0)}, 0, nil, 1,
			func(n *Network, _ Joined) string { return want(n.Loops, 1) }},
		{"a ring of three lines", []Line{line(0, 0, 0, 10, 0), line(1, 10, 0, 10, 10), line(2, 10, 10, 0, 0)}, 0,
			[]string{"0,0-10,0 10 road 0", "0,0-10,10 14.1421 road 2", "10,0-10,10 10 road 1"}, 3, nil},
		{"a line shorter than the tolerance", []Line{line(0, 0, 0, 0.01, 0), line(1, 0, 0, 5, 0)}, 0.1, []string{"0,0-5,0 5 road 1"}, 2,
			func(_ *Network, j Joined) string { return want(j.Short, 1) }},
		{"nothing", nil, 0.1, nil, 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			for range 5 { // in any order
				n, j := network(c.lines, plane, c.tolerance)
				if got := describe(n, j.At); !slices.Equal(got, c.want) {
					t.Errorf("%q, want %q", got, c.want)
				}
				if len(n.Nodes) != c.nodes {
					t.Errorf("%d nodes, want %d", len(n.Nodes), c.nodes)
				}
				if c.check != nil {
					if what := c.check(n, j); what != "" {
						t.Error(what)
					}
				}
				r.Shuffle(len(c.lines), func(i, j int) { c.lines[i], c.lines[j] = c.lines[j], c.lines[i] })
			}
		})
	}
}

func want(got, want int) string {
	if got != want {
		return fmt.Sprintf("%d, want %d", got, want)
	}
	return ""
}

// TestDistances compares great circles with known ones and distances to segments with a search.
func TestDistances(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b Point
		want float64
	}{
		{Point{0, 0}, Point{0, 1}, 111195.08},
		{Point{0, 60}, Point{1, 60}, 55595.4},
		{Point{2.3522, 48.8566}, Point{-0.1276, 51.5072}, 343556},
		{Point{179.5, 0}, Point{-179.5, 0}, 111195.08},
		{Point{5, 5}, Point{5, 5}, 0},
	} {
		if got := Globe.Distance(c.a, c.b); math.Abs(got-c.want) > 1e-4*c.want {
			t.Errorf("%v to %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
	if got := (Metric{Unit: 0.3048}).Distance(Point{0, 0}, Point{3, 4}); math.Abs(got-1.524) > 1e-12 {
		t.Errorf("5 feet are %v m", got)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		a, b := Point{10 + r.Float64()/1e3, 60 + r.Float64()/1e3}, Point{10 + r.Float64()/1e3, 60 + r.Float64()/1e3}
		p := Point{10 + r.Float64()/1e3, 60 + r.Float64()/1e3}
		best := math.Inf(1)
		for k := range 10001 {
			f := float64(k) / 10000
			best = min(best, Globe.Distance(p, Point{a.X + f*(b.X-a.X), a.Y + f*(b.Y-a.Y)}))
		}
		if got, _ := Globe.toSegment(p, a, b); math.Abs(got-best) > 0.02+1e-4*best {
			t.Errorf("distance of %v from %v–%v: %v, by search %v", p, a, b, got, best)
		}
	}
}

// TestMerge compares the sets of near points with those by all pairs, also near the pole.
func TestMerge(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for _, lat := range []float64{0, -60, 89.999} {
		var points []Point
		for range 300 {
			points = append(points, Point{20 + r.Float64()/1e4, lat + r.Float64()/1e4})
		}
		const metres = 0.5
		slow := newSets(len(points))
		for i, p := range points {
			for j, q := range points {
				if Globe.Distance(p, q) <= metres {
					slow.join(int32(i), int32(j))
				}
			}
		}
		v := merge(points, Globe, metres)
		for i, p := range points {
			for j, q := range points {
				if same := slow.find(int32(i)) == slow.find(int32(j)); same != (v.of[p] == v.of[q]) {
					t.Fatalf("latitude %v: %v and %v are one vertex: %v", lat, p, q, !same)
				}
			}
		}
		if !slices.IsSortedFunc(v.at, comparePoints) {
			t.Error("vertices are not numbered by coordinates")
		}
	}
}

func TestRTree(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{1, 8, 9, 64, 65, 1000} {
		boxes := make([]box, n)
		for k := range boxes {
			boxes[k] = boxOf(Point{r.Float64(), r.Float64()}, Point{r.Float64(), r.Float64()})
		}
		tree := newRTree(boxes)
		for range 20 {
			q := boxOf(Point{r.Float64(), r.Float64()}, Point{r.Float64(), r.Float64()})
			var got, want []int32
			tree.search(q, func(i int32) { got = append(got, i) })
			for i, b := range boxes {
				if b.meets(q) {
					want = append(want, int32(i))
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Fatalf("%d boxes: found %v, want %v", n, got, want)
			}
		}
	}
}

func square(x0, y0, x1, y1 float64, more ...Point) []Polygon {
	ring := []Point{{x0, y0}, {x0, y1}, {x1, y1}, {x1, y0}}
	ring = append(ring, more...)
	return []Polygon{{append(ring, ring[0])}}
}

func TestBorders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		areas    [][]Polygon
		want     []Border
		touching int
	}{
		{"two squares", [][]Polygon{square(0, 0, 1, 1), square(1, 0, 2, 1)}, []Border{{0, 1, 1}}, 0},
		{"four corners", [][]Polygon{square(0, 0, 1, 1), square(1, 0, 2, 1), square(0, 1, 1, 2), square(1, 1, 2, 2)},
			[]Border{{0, 1, 1}, {0, 2, 1}, {1, 3, 1}, {2, 3, 1}}, 2},
		{"an island", [][]Polygon{square(0, 0, 1, 1), square(3, 0, 4, 1)}, nil, 0},
		{"sides of different length", [][]Polygon{square(0, 0, 2, 4), square(2, 1, 3, 2), square(2, 2, 3, 4)},
			[]Border{{0, 1, 1}, {0, 2, 2}, {1, 2, 1}}, 0},
		{"within the tolerance", [][]Polygon{square(0, 0, 1, 1), square(1.001, 0, 2, 1)}, []Border{{0, 1, 1}}, 0},
		{"a hole that is filled", [][]Polygon{{append(square(0, 0, 9, 9)[0], square(3, 3, 6, 6)[0][0])}, square(3, 3, 6, 6)},
			[]Border{{0, 1, 12}}, 0},
		{"two parts of one area", [][]Polygon{append(square(0, 0, 1, 1), square(1, 0, 2, 1)...)}, nil, 0},
		{"none", nil, nil, 0},
	} {
		got, touching := Borders(c.areas, plane, 0.01)
		if !slices.Equal(got, c.want) || touching != c.touching {
			t.Errorf("%s: %v and %d, want %v and %d", c.name, got, touching, c.want, c.touching)
		}
	}
}

func TestCenter(t *testing.T) {
	t.Parallel()
	hole := Polygon{square(0, 0, 4, 4)[0][0], square(2, 0, 4, 4)[0][0]}
	for _, c := range []struct {
		shape Shape
		want  Point
	}{
		{Shape{Areas: square(1e6, 1e6, 1e6+2, 1e6+4)}, Point{1e6 + 1, 1e6 + 2}},
		{Shape{Areas: append(square(0, 0, 1, 1), square(3, 0, 4, 1)...)}, Point{2, 0.5}},
		{Shape{Areas: []Polygon{hole}}, Point{1, 2}},
		{Shape{Areas: []Polygon{{{{0, 0}, {1, 1}, {2, 2}, {0, 0}}}}}, Point{1, 1}}, // without area
		{Shape{Points: []Point{{1, 1}, {3, 3}}}, Point{2, 2}},
	} {
		if got := c.shape.Center(); math.Hypot(got.X-c.want.X, got.Y-c.want.Y) > 1e-6 {
			t.Errorf("center of %v: %v, want %v", c.shape, got, c.want)
		}
	}
}

func TestPolygons(t *testing.T) {
	t.Parallel()
	outer := square(0, 0, 9, 9)[0][0]
	hole := slices.Clone(square(3, 3, 6, 6)[0][0])
	slices.Reverse(hole)
	island := square(4, 4, 5, 5)[0][0] // in the hole
	stray := slices.Clone(square(20, 20, 21, 21)[0][0])
	slices.Reverse(stray)
	got := Polygons([][]Point{hole, outer, island, stray})
	if len(got) != 3 || len(got[0]) != 2 || len(got[1]) != 1 || len(got[2]) != 1 {
		t.Errorf("%v", got)
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ wkt, json, want, bad string }{
		{wkt: "POINT (1 2)", json: `{"type":"Point","coordinates":[1,2]}`, want: "{[{1 2}] [] []}"},
		{wkt: " point z(1 2 3) ", json: `{"type":"Point","coordinates":[1,2,3]}`, want: "{[{1 2}] [] []}"},
		{wkt: "SRID=4326;MULTIPOINT ((1 2), (-3.5e1 4))", json: `{"type":"MultiPoint","coordinates":[[1,2],[-3.5e1,4]]}`,
			want: "{[{1 2} {-35 4}] [] []}"},
		{wkt: "MULTIPOINT (1 2, 3 4)", want: "{[{1 2} {3 4}] [] []}"},
		{wkt: "LINESTRINGZ(1 2 0,3 4 0)", json: `{"type":"LineString","coordinates":[[1,2,0],[3,4,0]]}`, want: "{[] [[{1 2} {3 4}]] []}"},
		{wkt: "MULTILINESTRING ((1 2,3 4),(5 6,7 8))", json: `{"type":"MultiLineString","coordinates":[[[1,2],[3,4]],[[5,6],[7,8]]]}`,
			want: "{[] [[{1 2} {3 4}] [{5 6} {7 8}]] []}"},
		{wkt: "POLYGON ((0 0,0 1,1 1,0 0))", json: `{"type":"Polygon","coordinates":[[[0,0],[0,1],[1,1],[0,0]]]}`,
			want: "{[] [] [[[{0 0} {0 1} {1 1} {0 0}]]]}"},
		{wkt: "MULTIPOLYGON (((0 0,0 1,1 1,0 0)))", json: `{"type":"MultiPolygon","coordinates":[[[[0,0],[0,1],[1,1],[0,0]]]]}`,
			want: "{[] [] [[[{0 0} {0 1} {1 1} {0 0}]]]}"},
		{wkt: "GEOMETRYCOLLECTION (POINT (1 2), LINESTRING (1 2, 3 4))",
			json: `{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]},{"type":"LineString","coordinates":[[1,2],[3,` +
				`4]]}]}`,
			want: "{[{1 2}] [[{1 2} {3 4}]] []}"},
		{wkt: "POINT EMPTY", json: `{"type":"Point","coordinates":[]}`, want: "{[] [] []}"},
		{wkt: "POLYGON Z EMPTY", json: `null`, want: "{[] [] []}"},
		{wkt: "POLYGON ((0 0,0 1,1 1,0 2))", json: `{"type":"Polygon","coordinates":[[[0,0],[0,1],[1,1],[0,2]]]}`, bad: "not closed"},
		{wkt: "POLYGON ((0 0,0 1,0 0))", json: `{"type":"Polygon","coordinates":[[[0,0],[0,1],[0,0]]]}`, bad: "3 points"},
		{wkt: "LINESTRING (1 2)", json: `{"type":"LineString","coordinates":[[1,2]]}`, bad: "1 points"},
		{wkt: "POINT (1)", json: `{"type":"Point","coordinates":[1]}`, bad: "number"},
		{wkt: "POINT (NaN 2)", json: `{"type":"Point","coordinates":[null,2]}`, bad: "number"},
		{wkt: "POINT (1e999 2)", json: `{"type":"Point","coordinates":[1e999,2]}`, bad: "number"},
		{wkt: "CIRCULARSTRING (1 2, 3 4)", json: `{"type":"Sphere","coordinates":[1]}`, bad: "not"},
		{wkt: "POINT (1 2", json: `{"type":"Point"}`, bad: "s"},
		{wkt: "POINT (1 2) x", json: `{"type":"Point","coordinates":[[1,2]]}`, bad: "expected"},
		{wkt: strings.Repeat("GEOMETRYCOLLECTION (", 99), json: strings.Repeat(`{"type":"GeometryCollection","geometries":[`, 30) +
			strings.Repeat("]}", 30), bad: "deep"},
	} {
		for form, parse := range map[string]func() (*Shape, error){
			c.wkt:  func() (*Shape, error) { return ParseWKT(c.wkt) },
			c.json: func() (*Shape, error) { return ParseGeoJSON([]byte(c.json)) },
		} {
			if form == "" {
				continue
			}
			s, err := parse()
			switch {
			case c.bad != "":
				if err == nil || !strings.Contains(err.Error(), c.bad) {
					t.Errorf("%s: error %v, want %q in it", form, err, c.bad)
				}
			case err != nil:
				t.Errorf("%s: %v", form, err)
			case fmt.Sprint(*s) != c.want:
				t.Errorf("%s: %v, want %s", form, *s, c.want)
			}
		}
		if got := IsWKT(c.wkt); got != (!strings.HasPrefix(c.wkt, "CIRC") && !strings.Contains(c.wkt, "NaN")) {
			t.Errorf("%s is well-known text: %v", c.wkt, got)
		}
	}
	for _, text := range []string{"Point Street 5", "", "POLYGON", "highway", "point 5", "Point (x)"} {
		if IsWKT(text) {
			t.Errorf("%q is taken for well-known text", text)
		}
	}
}

func TestAreasJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"type":"Polygon","coordinates":[[[0,0],[0,1.25],[1,1],[0,0]],[[0.1,0.1],[0.2,0.2],[0.2,0.1],[0.1,0.1]]]}`,
		`{"type":"MultiPolygon","coordinates":[[[[0,0],[0,1],[1,1],[0,0]]],[[[5,5],[5,6],[6,6],[5,5]]]]}`,
	} {
		s, err := ParseGeoJSON([]byte(text))
		if err != nil || s.AreasJSON() != text {
			t.Errorf("%s, %v, want %s", s.AreasJSON(), err, text)
		}
	}
	if got := (&Shape{}).AreasJSON(); got != "" {
		t.Errorf("nothing is written as %s", got)
	}
}

func FuzzText(f *testing.F) {
	for _, text := range []string{"POINT (1 2)", "SRID=1;POLYGON ((0 0,0 1,1 1,0 0))",
		`{"type":"Polygon","coordinates":[[[0,0],[0,1],[1,1],[0,0]]]}`, `{"type":"MultiLineString","coordinates":[[[1,2],[3,4]]]}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := ParseWKT(text); err == nil {
			s.Center()
			if !s.Empty() && !IsWKT(text) {
				t.Errorf("%q is well-known text, but not taken for it", text)
			}
		}
		s, err := ParseGeoJSON([]byte(text))
		if err != nil || len(s.Areas) == 0 || len(s.Points) > 0 || len(s.Lines) > 0 {
			return
		}
		again, err := ParseGeoJSON([]byte(s.AreasJSON()))
		if err != nil || Compare(s, again) != 0 {
			t.Errorf("%q is written as %q: %v", text, s.AreasJSON(), err)
		}
		Borders([][]Polygon{s.Areas}, Globe, SameVertex)
	})
}

func TestIndex(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 10))
	var points []Point
	for range 500 {
		points = append(points, Point{6 + r.Float64()/100, 50 + r.Float64()/100})
	}
	x := NewIndex(points, Globe)
	for range 200 {
		p := Point{6 + r.Float64()/100, 50 + r.Float64()/100}
		want, least := -1, 30.0
		for i, q := range points {
			if d := Globe.Distance(p, q); d < least {
				want, least = i, d
			}
		}
		if got, d := x.Nearest(p, 30); got != want || d != least {
			t.Errorf("nearest to %v: %d at %v m, want %d at %v", p, got, d, want, least)
		}
	}
	holed := []Polygon{append(square(0, 0, 9, 9)[0], square(3, 3, 6, 6)[0][0])}
	areas := NewAreaIndex([][]Polygon{holed, square(3, 3, 6, 6), square(20, 0, 21, 1)})
	for p, want := range map[Point]int{{1, 1}: 0, {4, 4}: 1, {20.5, 0.5}: 2, {15, 5}: -1} {
		if got := areas.Containing(p); got != want {
			t.Errorf("%v is in area %d, want %d", p, got, want)
		}
	}
}
