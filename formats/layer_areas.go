package formats

import (
	"math"
	"slices"
	"strconv"

	"grfgp/internal/geometry"
)

// places makes a table of points: a row for each feature, with its coordinates.
func (l *layer) places(opts Options) (*File, error) {
	ids, property, err := l.chooseIDs("points", opts)
	if err != nil {
		return nil, err
	}
	several := 0
	nodes := l.nodeTable(property, false)
	for k, f := range l.features {
		if len(f.shape.Points) > 1 {
			several++
		}
		nodes.Rows = append(nodes.Rows, l.nodeRow(ids[k], f.shape.Center(), "", property, f.row, false))
	}
	if several > 0 {
		l.note("features of several points: %d; each is at the mean of its points", several)
	}
	return &File{Nodes: nodes, Notes: l.notes}, nil
}

// borders makes a graph of areas: edges join those that have a common border.
func (l *layer) borders(points int, opts Options) (*File, error) {
	if points > 0 {
		l.only("areas", func(s *geometry.Shape) bool { return len(s.Areas) > 0 })
	}
	ids, property, err := l.chooseIDs("areas", opts)
	if err != nil {
		return nil, err
	}
	areas, of := l.unite(ids)
	centers := make([]geometry.Point, len(areas.names))
	shapes := make([]string, len(areas.names))
	for k, polygons := range areas.polygons {
		s := geometry.Shape{Areas: polygons}
		c := s.Center()
		centers[k], shapes[k] = geometry.Point{X: rounded(c.X), Y: rounded(c.Y)}, s.AreasJSON()
	}
	nodes := l.nodeTable(property, true)
	for k, f := range l.features {
		nodes.Rows = append(nodes.Rows, l.nodeRow(ids[k], centers[of[k]], shapes[of[k]], property, f.row, true))
	}
	edges := &Table{Names: []string{"source", "target", "border"}, Unit: "border"}
	common, touching := geometry.Borders(areas.polygons, l.metric, opts.snap())
	joined := make([]bool, len(areas.names))
	for _, b := range common {
		edges.Rows = append(edges.Rows, []string{areas.names[b.A], areas.names[b.B], metres(b.Length)})
		joined[b.A], joined[b.B] = true, true
	}
	l.noteEdges("edges join areas with a common border; the column border is its length in metres")
	if touching > 0 {
		l.noteEdges("pairs of areas that meet in corners only: %d; they are not joined", touching)
	}
	lone := 0
	for _, ok := range joined {
		if !ok {
			lone++
		}
	}
	if lone > 0 {
		l.noteEdges("areas without a common border with another: %d; islands, or outlines that differ by more than %g m", lone, opts.snap())
	}
	return &File{Edges: edges, Nodes: nodes, Equal: true, Notes: l.notes, EdgeNotes: l.edgeNotes}, nil
}

// rounded is a coordinate to seven decimals, a centimetre on the globe.
func rounded(x float64) float64 { return math.Round(x*1e7) / 1e7 }

// metres writes a length to a millimetre.
func metres(length float64) string { return strconv.FormatFloat(length, 'f', 3, 64) }

// namedAreas are the areas of a layer.
type namedAreas struct {
	names    []string
	polygons [][]geometry.Polygon
}

// unite makes one area of the features with the same id: the parts of an area, or rows
// that repeat it. It returns the areas and that of each feature.
func (l *layer) unite(ids []string) (areas namedAreas, of []int) {
	number := map[string]int{}
	var shapes [][]*geometry.Shape // parts of each area
	parts, repeats := 0, 0
	for k, f := range l.features {
		i, seen := number[ids[k]]
		if !seen {
			i = len(areas.names)
			number[ids[k]] = i
			areas.names, areas.polygons, shapes = append(areas.names, ids[k]), append(areas.polygons, nil), append(shapes, nil)
		}
		of = append(of, i)
		if slices.ContainsFunc(shapes[i], func(s *geometry.Shape) bool { return geometry.Compare(s, f.shape) == 0 }) {
			repeats++
			continue
		}
		if seen {
			parts++
		}
		shapes[i] = append(shapes[i], f.shape)
		areas.polygons[i] = append(areas.polygons[i], f.shape.Areas...)
	}
	if repeats > 0 {
		l.note("features that repeat an area: %d", repeats)
	}
	if parts > 0 {
		l.note("features that are another part of an area with the same id: %d", parts)
	}
	return areas, of
}

// nodeTable returns an empty table with the columns of nodes: the id, coordinates, the
// properties other than the id, and the geometry.
func (l *layer) nodeTable(property string, geometry bool) *Table {
	t := &Table{Names: append([]string{"id"}, l.coordinateNames()...), Unit: "feature"}
	if property != "" {
		t.Names[0] = property
	}
	for _, name := range l.properties.Names {
		if name != property {
			t.Names = append(t.Names, l.otherName(name))
		}
	}
	if geometry {
		t.Names = append(t.Names, "geometry")
	}
	return t
}

// otherName is the name of a property in a table that has columns of its own.
func (l *layer) otherName(name string) string {
	if slices.Contains(append(l.coordinateNames(), "id", "geometry", "source", "target", "length"), name) {
		return name + " (property)"
	}
	return name
}

func (l *layer) nodeRow(id string, at geometry.Point, shape, property string, values []string, geometry bool) []string {
	row := append([]string{id}, l.coordinates(at)...)
	for _, name := range l.properties.Names {
		if name != property {
			row = append(row, l.properties.get(values, name))
		}
	}
	if geometry {
		row = append(row, shape)
	}
	return row
}
