package formats

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"grfgp/internal/geometry"
)

// roads are lines with attributes that became a network. Attributes of a road are those of the
// edges that run along it for most of their length.
type roads struct {
	names  []string   // of attributes
	values [][]string // of a road
	ids    func(vertex int32) string
	place  func(vertex int32) geometry.Point
	net    *geometry.Network
}

// network makes a graph of lines: junctions and ends are nodes, and the line between two of
// them is an edge, however many vertices it has.
func (l *layer) network(points int, opts Options) (*File, error) {
	if points > 0 {
		l.only("lines", func(s *geometry.Shape) bool { return len(s.Lines) > 0 })
	}
	var lines []geometry.Line
	for k, f := range l.features {
		for _, line := range f.shape.Lines {
			lines = append(lines, geometry.Line{Points: line, Road: int32(k)})
		}
	}
	joined := geometry.JoinLines(lines, l.metric, opts.snap())
	net := geometry.Contract(joined.Paths, len(joined.At), func(u, v int32) float64 { return l.metric.Distance(joined.At[u], joined.At[v]) })
	places := make([]geometry.Point, len(net.Nodes))
	for k, v := range net.Nodes {
		places[k] = joined.At[v]
	}
	ids := make(map[int32]string, len(places))
	for k, name := range l.placeNames(places) {
		ids[net.Nodes[k]] = name
	}
	r := roads{net: net, ids: func(v int32) string { return ids[v] }, place: func(v int32) geometry.Point { return joined.At[v] }}
	for _, name := range l.properties.Names {
		if !lengthOfRoad(name) {
			r.names = append(r.names, name)
		}
	}
	for _, f := range l.features {
		row := make([]string, len(r.names))
		for j, name := range r.names {
			row[j] = l.properties.get(f.row, name)
		}
		r.values = append(r.values, row)
	}
	if joined.Short > 0 {
		l.noteEdges("lines whose points all lie within %g m of each other: %d; left out", opts.snap(), joined.Short)
	}
	l.noteEdges("lines meet at common vertices and where a line ends on another, within %g m; lines that merely cross do not meet",
		opts.snap())
	if joined.Missed > 0 {
		l.noteEdges("ends that lie within %g m of a line that they do not meet: %d; if they should, join them with a larger tolerance",
			geometry.NearMiss, joined.Missed)
	}
	return r.file(l)
}

// lengthOfRoad reports whether a property is a length of the whole line, which its pieces do
// not have.
func lengthOfRoad(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains([]string{"length", "len", "shape_leng", "shape_length", "st_length", "shape_len", "source", "target"}, name)
}

// file makes the tables of a network.
func (r *roads) file(l *layer) (*File, error) {
	if len(r.net.Edges) == 0 {
		return nil, fail(Content, "the lines do not make a network: no two junctions are joined", "check that it holds the roads")
	}
	edges := &Table{Names: []string{"source", "target", "length"}, Unit: "edge"}
	for _, name := range r.names {
		edges.Names = append(edges.Names, l.otherName(name))
	}
	for _, e := range r.net.Edges {
		edges.Rows = append(edges.Rows, append([]string{r.ids(e.U), r.ids(e.V), metres(max(e.Length, 0.001))}, r.values[e.Road]...))
	}
	l.noteEdges("nodes are junctions and ends of lines: %d; the length of an edge is along its line, in metres", len(r.net.Nodes))
	if n := r.net.Parallel; n > 0 {
		l.noteEdges("longer ways between two junctions that a shorter one joins: %d; left out", n)
	}
	if n := r.net.Loops; n > 0 {
		l.noteEdges("lines from a junction back to it: %d; left out", n)
	}
	if r.net.Pieces > 1 {
		l.noteEdges("separate pieces: %d; the largest has %d of %d junctions", r.net.Pieces, r.net.Largest, len(r.net.Nodes))
	}
	if n := r.oneWay(); n > 0 {
		l.noteEdges("one-way roads: %d; they are read as open in both directions", n)
	}
	return &File{Edges: edges, Nodes: r.nodes(l), Distance: "length", Notes: l.notes, EdgeNotes: l.edgeNotes}, nil
}

// oneWay counts the roads that are open in one direction.
func (r *roads) oneWay() (n int) {
	column := slices.IndexFunc(r.names, func(name string) bool { return strings.EqualFold(name, "oneway") })
	for _, row := range r.values {
		if column >= 0 && slices.Contains([]string{"yes", "true", "True", "1", "-1", "F", "T", "FT", "TF"}, row[column]) {
			n++
		}
	}
	return n
}

// nodes makes the table of junctions: coordinates, and what the roads that meet there say of
// them, such as "Main Street / Station Road".
func (r *roads) nodes(l *layer) *Table {
	meet := map[int32][]int32{} // roads at a node
	for _, e := range r.net.Edges {
		meet[e.U], meet[e.V] = append(meet[e.U], e.RoadU), append(meet[e.V], e.RoadV)
	}
	type carried struct {
		name   string
		column int
		of     func(values []string) string
	}
	var columns []carried
	for j, name := range r.names {
		if of := atJunction[strings.ToLower(name)]; of != nil {
			columns = append(columns, carried{strings.ToLower(name), j, of})
		}
	}
	t := &Table{Names: append([]string{"id"}, l.coordinateNames()...), Unit: "node"}
	for _, c := range columns {
		t.Names = append(t.Names, c.name)
	}
	for _, v := range r.net.Nodes {
		row := append([]string{r.ids(v)}, l.coordinates(r.place(v))...)
		for _, c := range columns {
			var values []string
			for _, road := range meet[v] {
				if value := r.values[road][c.column]; value != "" {
					values = append(values, value)
				}
			}
			row = append(row, c.of(values))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// atJunction are the attributes of roads that make sense for a junction, and how they follow
// from those of the roads that meet there.
var atJunction = map[string]func(values []string) string{
	"name":     crossing,
	"highway":  mostImportant,
	"fclass":   mostImportant,
	"lanes":    largest,
	"maxspeed": largest,
}

// crossing joins the names of roads.
func crossing(values []string) string {
	slices.Sort(values)
	return strings.Join(slices.Compact(values), " / ")
}

// mostImportant returns the first of the classes of roads of OpenStreetMap that is there.
func mostImportant(values []string) string {
	for _, class := range roadClasses {
		if slices.Contains(values, class) || slices.Contains(values, class+"_link") {
			return class
		}
	}
	if len(values) == 0 {
		return ""
	}
	return slices.Min(values)
}

// roadClasses are the values of highway for motor traffic, beside their links, by importance.
var roadClasses = []string{"motorway", "trunk", "primary", "secondary", "tertiary", "unclassified", "residential", "living_street", "road"}

// largest returns the largest number; speeds in miles per hour count as kilometres per hour.
func largest(values []string) string {
	best, text := 0.0, ""
	for _, v := range values {
		for _, one := range strings.FieldsFunc(v, func(c rune) bool { return c == ';' || c == '|' }) {
			number, mph := strings.CutSuffix(strings.TrimSpace(one), "mph")
			x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
			if err != nil {
				continue
			}
			if mph {
				x *= 1.609344
			}
			if x > best {
				best, text = x, fmt.Sprintf("%.4g", x)
			}
		}
	}
	return text
}
