package graphio

import (
	"math"
	"strconv"
)

// Points in one file: a node table without ids that is a table of measurements, too. A row
// is a place, and rows have their numbers, from 1, as ids. Rows at the same place are one
// node, with the number of the first: a map can have only one value there, and kriging takes
// several measurements at a place as repeats with noise.

// rowIDs gives rows their ids by the line that they stand on.
type rowIDs struct {
	id     map[int64]string     // by line
	at     map[[2]uint64]string // by place
	shared int64                // rows at the place of an earlier one
}

// numberedRows reports whether rows of a node table have numbers as ids: no column is named as
// one of ids.
func (s *sheet) numberedRows(opts Options) bool {
	_, told := opts.Columns[RoleID]
	return opts.Points && !told && s.hasPlacesBy(opts) && len(s.best(RoleID, func(int) bool { return true })) == 0
}

// hasPlacesBy is hasPlaces, or the options name the columns.
func (s *sheet) hasPlacesBy(opts Options) bool {
	for _, pair := range [][2]Role{{RoleLat, RoleLon}, {RoleX, RoleY}} {
		_, first := opts.Columns[pair[0]]
		_, second := opts.Columns[pair[1]]
		if first && second {
			return true
		}
	}
	sure := func(role Role) bool { // cells that are no numbers are bad rows
		return len(s.best(role, func(j int) bool { return role.rank(s.names[j]) == rankSure })) > 0
	}
	return s.hasPlaces() || sure(RoleLat) && sure(RoleLon) || sure(RoleX) && sure(RoleY)
}

// name returns the id of the row on a line, whose number is given, and whether an earlier row
// is at the same place.
func (r *rowIDs) name(line, number int64, cells []cell) (id string, again bool) {
	id = strconv.FormatInt(number, 10)
	var place [2]uint64
	for _, c := range cells {
		switch c.role {
		case RoleLat, RoleX:
			place[0] = math.Float64bits(c.number + 0) // 0 is -0
		case RoleLon, RoleY:
			place[1] = math.Float64bits(c.number + 0)
		}
		if math.IsNaN(c.number) && (c.role == RoleLat || c.role == RoleLon || c.role == RoleX || c.role == RoleY) {
			r.id[line] = id
			return id, false
		}
	}
	if first, ok := r.at[place]; ok {
		r.shared++
		r.id[line] = first
		return first, true
	}
	r.id[line], r.at[place] = id, id
	return id, false
}

// of returns the id of a row: by its line, or from a column where the file has ids.
func (r *rowIDs) of(column int, line []byte, fields []field, at int64, scratch *[]byte) (f field, id []byte, bad fault) {
	if r != nil {
		id, ok := r.id[at]
		if !ok {
			bad.reason = noPlace
		}
		return field{}, []byte(id), bad
	}
	f = fields[column]
	if id = f.text(line, scratch); len(id) == 0 {
		bad = fault{reason: emptyID, role: RoleNode, start: f.start, end: f.end}
	}
	return f, id, bad
}

// rowColumn is the entry of a report about ids of rows.
var rowColumn = Column{Role: RoleNode, Name: "row number", Why: "no column holds ids"}

// tell says how rows became nodes.
func (r *rowIDs) tell(report *Report) {
	report.Columns = append([]Column{{Role: RoleID, Name: "row number", Why: "no column holds ids"}}, report.Columns...)
	if r.shared > 0 {
		report.warn("rows at the place of an earlier row: %d; they are one node, with repeated measurements", r.shared)
	}
}

// isPlace reports whether a column of the same file is a coordinate of the node table. Names
// decide where columns have no numbers.
func (n *NodeTable) isPlace(s *sheet, column int) bool {
	if n.Report == nil {
		return false
	}
	name := ""
	if column < len(s.names) {
		name = s.names[column]
	}
	for _, c := range n.Report.Columns {
		place := c.Role == RoleLat || c.Role == RoleLon || c.Role == RoleX || c.Role == RoleY
		if place && (c.Number == column+1 || c.Number == 0 && c.Name == name) {
			return true
		}
	}
	return false
}
