package graphio

import (
	"fmt"
	"math"
	"slices"

	"grfgp/internal/geometry"
)

// DefaultWithin is the largest distance, in metres, between a measurement with coordinates and
// the node that it is taken to belong to.
const DefaultWithin = 100.0

// nearby finds the nodes of measurements that have coordinates and no ids of nodes.
type nearby struct {
	first, second int // columns: lat and lon, or x and y
	roles         [2]Role
	nodes         *NodeTable
	within        float64
	points        *geometry.Index
	areas         *geometry.Index // nil if nodes are no areas

	rows, far     int64
	swapped       int64   // of those far, near if latitude and longitude are exchanged
	sum, farthest float64 // of the distances
}

// chooseNearby returns how rows find their nodes by coordinates; nil if the table or the
// nodes have none, or if a column holds ids of the graph.
func (m *measurementReader) chooseNearby(id int, opts Options) *nearby {
	s := m.table.sheet
	if _, told := opts.Columns[RoleNode]; told || opts.Places == nil || s.overlap(id, m.ids) > 0 || len(s.matching(m.ids)) > 0 {
		return nil
	}
	find := func(role Role) int {
		if spec, told := opts.Columns[role]; told {
			if j, err := s.column(role, spec); err == nil {
				return j
			}
		}
		if found := s.best(role, func(j int) bool { return s.types[j].number() }); len(found) == 1 {
			return found[0]
		}
		return -1
	}
	for _, pair := range [][2]Role{{RoleLat, RoleLon}, {RoleX, RoleY}} {
		n := &nearby{first: find(pair[0]), second: find(pair[1]), roles: pair, nodes: opts.Places, within: opts.Within}
		if n.first >= 0 && n.second >= 0 && n.index() {
			if n.within == 0 {
				n.within = DefaultWithin
			}
			return n
		}
	}
	return nil
}

// index prepares the search; false if nodes lack the coordinates.
func (n *nearby) index() bool {
	x, y, metric := n.nodes.X, n.nodes.Y, geometry.Metric{Unit: 1}
	if n.roles[0] == RoleLat {
		x, y, metric = n.nodes.Lon, n.nodes.Lat, geometry.Globe
	}
	if x == nil || y == nil {
		return false
	}
	points := make([]geometry.Point, len(x))
	for i := range points {
		if points[i] = (geometry.Point{X: x[i], Y: y[i]}); math.IsNaN(x[i] + y[i]) {
			points[i] = geometry.Point{X: math.Inf(1), Y: math.Inf(1)} // near to nothing
		}
	}
	n.points = geometry.NewIndex(points, metric)
	areas, some := make([][]geometry.Polygon, len(n.nodes.Shapes)), false
	for i, text := range n.nodes.Shapes {
		if shape, err := geometry.ParseGeoJSON([]byte(text)); text != "" && err == nil && len(shape.Areas) > 0 {
			areas[i], some = shape.Areas, true
		}
	}
	if some {
		n.areas = geometry.NewAreaIndex(areas)
	}
	return true
}

// node returns the node of a row.
func (n *nearby) node(l *rowLayout, line []byte, fields []field, scratch *[]byte) (node int, known bool, f field, bad fault) {
	var at [2]float64
	for k, column := range []int{n.first, n.second} {
		f = field{start: len(line), end: len(line)}
		if column < len(fields) {
			f = fields[column]
		}
		c, missing, reason := readCell(n.roles[k], f.text(line, scratch), l.comma, l.missing)
		if missing {
			reason = emptyID
		}
		if reason != noFault {
			return 0, false, f, fault{reason: reason, role: n.roles[k], start: f.start, end: f.end}
		}
		at[k] = c.number
	}
	p := geometry.Point{X: at[0], Y: at[1]}
	if n.roles[0] == RoleLat {
		p = geometry.Point{X: at[1], Y: at[0]}
	}
	n.rows++
	node, metres := n.find(p)
	n.sum, n.farthest = n.sum+metres, max(n.farthest, metres)
	if node < 0 {
		n.far++
		if there, _ := n.find(geometry.Point{X: p.Y, Y: p.X}); there >= 0 && n.roles[0] == RoleLat {
			n.swapped++
		}
		return 0, false, f, fault{}
	}
	return node, true, f, fault{}
}

// find returns the node of a place and its distance; -1 and 0 if there is none.
func (n *nearby) find(p geometry.Point) (node int, metres float64) {
	if n.areas != nil {
		return n.areas.Containing(p), 0
	}
	if node, metres = n.points.Nearest(p, n.within); node < 0 {
		return node, 0
	}
	return node, metres
}

// tell reports the distances, or is an error about rows that are far from all nodes.
func (n *nearby) tell(t *table, treat Unknown) error {
	near := n.rows - n.far
	where := fmt.Sprintf("farther than %g m from every node", n.within)
	if n.areas != nil {
		where = "in no area"
	}
	if n.far > 0 {
		lie := "lie"
		if n.far == 1 {
			lie = "lies"
		}
		what := fmt.Sprintf("%d of %d rows %s %s", n.far, n.rows, lie, where)
		if treat != UnknownSkip && unknownShare*n.far > n.rows || near == 0 {
			ways := []Remedy{do("check the coordinates")}
			if n.swapped == n.far {
				ways[0] = do("latitude and longitude look swapped: exchange the names of these columns")
			}
			if n.areas == nil {
				ways = append(ways, do("allow a larger distance", Setting{Option: OptionWithin}))
			}
			if near > 0 {
				ways = append(ways, do("leave such rows out", Setting{Option: OptionUnknown, Value: string(UnknownSkip)}))
			}
			return t.in.fail(CodeIDs, what, ways...)
		}
		t.report.lose(what + "; they are left out")
	}
	if n.areas != nil {
		t.report.warn("no column holds ids of the graph: rows belong to the areas that contain their coordinates: %d", near)
		return nil
	}
	t.report.warn("no column holds ids of the graph: rows belong to the nodes nearest to their coordinates: %d, at a mean distance of %.0f "+
		"m, at most %.0f m", near, n.sum/float64(max(1, near)), n.farthest)
	return nil
}

// used returns the columns of the coordinates.
func (n *nearby) used() []usedColumn {
	why := "the node follows from the coordinates"
	return []usedColumn{{n.roles[0], n.first, why}, {n.roles[1], n.second, why}}
}

// nameless reports whether a column may not be a value because it names places.
func (n *nearby) nameless(s *sheet, column int) bool {
	return n != nil && s.fixed > 0 && column < s.fixed || n != nil && slices.Contains([]int{n.first, n.second}, column)
}
