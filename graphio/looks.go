package graphio

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"grfgp/graph"
)

// LooksLike returns the kind of table that a file of delimited text plainly is, by its names
// and its first rows; "" if it may be several, or cannot be read.
func LooksLike(ctx context.Context, src Source) Table {
	in, err := open(ctx, src, TableEdges, Options{})
	if err != nil {
		return ""
	}
	defer in.close()
	if format, err := in.format(); err != nil || in.kind != nil || format != formatDelimited {
		return ""
	}
	s, err := inspect(in.cut(0), edgeTable, Options{})
	if err != nil {
		return ""
	}
	return s.looksLike()
}

// looksLike returns the kind of table that names and types plainly speak for: two named ends
// are edges, an id and coordinates are nodes, an id and a value are measurements.
func (s *sheet) looksLike() Table {
	number := func(j int) bool { return s.types[j].number() }
	pair := s.surePair()
	id := s.best(RoleNode, func(j int) bool { return !slices.Contains(pair, j) && s.types[j] != typeNumber })
	value := s.best(RoleValue, func(j int) bool { return number(j) && !slices.Contains(id, j) })
	switch {
	case pair != nil && len(id) == 0:
		return TableEdges
	case pair != nil:
		return ""
	case s.hasPlaces():
		return TableNodes
	case len(id) > 0 && len(value) > 0 && len(s.ends()) < 2:
		return TableMeasurements
	case len(id) == 1 && s.distinctIDs(id[0]) && len(s.numbers(id[0])) > 0:
		if len(s.numbers(id[0])) == 1 {
			return TableMeasurements
		}
		return TableNodes
	case s.columns == 2 && s.types[0] != typeNumber && s.types[0] != typeEmpty && s.types[1] == typeNumber:
		return TableMeasurements // a fraction is no id
	}
	return ""
}

// distinctIDs reports whether a column of ids has each once, and shares none with other
// columns: rows are about nodes, and not about edges.
func (s *sheet) distinctIDs(column int) bool {
	seen := map[string]bool{}
	for _, cell := range s.cellsOf(column) {
		if cell == "" || seen[cell] {
			return false
		}
		seen[cell] = true
	}
	for j := range s.columns {
		if j != column && slices.ContainsFunc(s.cellsOf(j), func(cell string) bool { return seen[cell] }) {
			return false
		}
	}
	return len(seen) >= enoughRows
}

// numbers returns the columns of numbers beside the ids.
func (s *sheet) numbers(id int) (found []int) {
	for j, t := range s.types {
		if j != id && t.number() {
			found = append(found, j)
		}
	}
	return found
}

// surePair returns the columns that are certainly named as the ends of an edge; nil without.
func (s *sheet) surePair() []int {
	for _, p := range endPairs(s.names) {
		if p.rank == rankSure && s.types[p.source] != typeNumber && s.types[p.target] != typeNumber {
			return []int{p.source, p.target}
		}
	}
	return nil
}

// hasPlaces reports whether there are columns of coordinates.
func (s *sheet) hasPlaces() bool {
	has := func(role Role) bool {
		return len(s.best(role, func(j int) bool { return s.types[j].number() })) > 0
	}
	return has(RoleLat) && has(RoleLon) || has(RoleX) && has(RoleY)
}

// ends returns the columns that may be ends of edges and are not named as values.
func (s *sheet) ends() []int {
	return slices.DeleteFunc(s.idColumns([2]int{-1, -1}), func(j int) bool {
		return j < len(s.names) && s.types[j].number() && RoleValue.rank(s.names[j]) < rankNone
	})
}

// other is the error about a file that looks like another kind of table than it was given as.
func (s *sheet) other(looks Table) error {
	names := map[Table]string{TableEdges: "edges: columns %s name the two ends", TableNodes: "nodes, with columns %s",
		TableMeasurements: "measurements, with columns %s"}
	columns := s.describe(nil)
	if pair := s.surePair(); looks == TableEdges && pair != nil {
		columns = list(s.namesOf(pair), "and")
	}
	err := s.in.fail(CodeAmbiguous, fmt.Sprintf("looks like a table of "+names[looks]+"; it was given as a table of %s", columns,
		s.in.table)).(*Error)
	err.Looks = looks
	switch looks {
	case TableEdges:
		err.Remedies = []Remedy{do("give another file")}
	case TableNodes:
		if !s.hasPlaces() {
			break
		}
		err.Remedies = []Remedy{do("connect the nodes to their nearest", Setting{Option: OptionReader, Value: "NearestNeighbours"})}
	}
	if s.in.table == TableEdges {
		err.Remedies = append(err.Remedies, do("if it is one of edges, name both ends", nameColumn(RoleSource, ""), nameColumn(RoleTarget, "")))
	}
	return err
}

// refuseEdges is the error about a table of edges that was given as one of measurements or
// labels: both ends are ids of the graph.
func (s *sheet) refuseEdges(known *graph.IDs, opts Options) error {
	pair := s.surePair()
	if _, told := opts.Columns[RoleNode]; told || pair == nil || s.fixed > 0 || s.looksLike() != TableEdges {
		return nil
	}
	if s.overlap(pair[0], known) < 0.5 || s.overlap(pair[1], known) < 0.5 {
		return nil
	}
	return s.other(TableEdges)
}

// geometry reports whether a column holds shapes as text, as geographic programs write them:
// LINESTRING (…).
func (s *sheet) geometry(column int) bool {
	return s.findIn(column, func(cell string) bool {
		kind, _, ok := strings.Cut(strings.ToUpper(cell), "(")
		return ok && slices.Contains([]string{"POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON",
			"GEOMETRYCOLLECTION"},
			strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(kind), " Z"), " M"))
	}) != ""
}

// shapes returns the first column of shapes, -1 without one.
func (s *sheet) shapes() int {
	for j := range s.columns {
		if s.types[j] == typeText && s.geometry(j) {
			return j
		}
	}
	return -1
}

// enoughRows is how many rows show whether columns have values in common.
const enoughRows = 10

// alike returns the two of some columns that have the most values in common, as the ends of
// edges have; false if no two have any.
func (s *sheet) alike(columns []int) (source, target int, ok bool) {
	cells := make([]map[string]bool, len(columns))
	for k, j := range columns {
		cells[k] = map[string]bool{}
		for _, cell := range s.cellsOf(j) {
			cells[k][cell] = cell != ""
		}
	}
	best := 0
	for a := range columns {
		for b := a + 1; b < len(columns); b++ {
			common := 0
			for cell := range cells[a] {
				if cells[b][cell] {
					common++
				}
			}
			if small := min(len(cells[a]), len(cells[b])); common > best && 10*common >= small && small > 2 {
				source, target, best = columns[a], columns[b], common
			}
		}
	}
	return source, target, best > 0
}

// directionNames are names of columns that say in which direction an edge leads.
var directionNames = strings.Fields("oneway direction directed directionality")

// tellDirections warns that directions of edges are not used.
func (s *sheet) tellDirections(r *Report, c edgeColumns) {
	for j, name := range s.names {
		if j != c.source && j != c.target && j != c.weight && slices.Contains(directionNames, strings.Join(words(name), "")) {
			r.warn("column %s: edges have no direction here, and lead both ways", s.nameOf(j))
			return
		}
	}
}
