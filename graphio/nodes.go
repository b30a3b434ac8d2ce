package graphio

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"grfgp/covariate"
	"grfgp/graph"
)

// NodeTable holds attributes of nodes: row i is about node IDs.At(i). A column that
// the file does not have is nil; a missing number is NaN.
type NodeTable struct {
	IDs      *graph.IDs // the ids
	Name     []string   // name or class to display (role "label")
	Lat, Lon []float64  // degrees
	X, Y     []float64
	Cost     []float64
	Allowed  []bool // may be suggested for measurement
	Group    []string
	Shapes   []string           // GeoJSON geometries as text, "" where there is none
	Columns  []covariate.Column // the other columns, and a column such as "type" that is also the label
	Texts    []TextColumn       // columns that Options.Keep names, as they were read
	Report   *Report            // nil when the nodes came with the graph

	names map[Role]string // names of the columns above in their file, as far as known
	rows  *rowIDs         // ids of points; nil: the file has ids
}

// ids returns the ids, nil without a table.
func (n *NodeTable) ids() *graph.IDs {
	if n == nil {
		return nil
	}
	return n.IDs
}

// text returns the column of a role that is text.
func (n *NodeTable) text(role Role) *[]string {
	switch role {
	case RoleLabel:
		return &n.Name
	case RoleShape:
		return &n.Shapes
	}
	return &n.Group
}

// drop forgets the column of a role.
func (n *NodeTable) drop(role Role) {
	switch role {
	case RoleLabel, RoleGroup, RoleShape:
		*n.text(role) = nil
	case RoleAllowed:
		n.Allowed = nil
	default:
		*n.numbers(role) = nil
	}
}

// numbers returns the column of a role that is a number.
func (n *NodeTable) numbers(role Role) *[]float64 {
	switch role {
	case RoleLat:
		return &n.Lat
	case RoleLon:
		return &n.Lon
	case RoleX:
		return &n.X
	case RoleY:
		return &n.Y
	}
	return &n.Cost
}

// has reports whether there is a column for the role.
func (n *NodeTable) has(role Role) bool {
	switch role {
	case RoleLabel, RoleGroup, RoleShape:
		return *n.text(role) != nil
	case RoleAllowed:
		return n.Allowed != nil
	}
	return *n.numbers(role) != nil
}

// grow extends the columns of the given roles to size nodes. New nodes have missing
// values and are not allowed.
func (n *NodeTable) grow(size int, roles []Role) {
	for _, role := range roles {
		switch role {
		case RoleLabel, RoleGroup, RoleShape:
			for col := n.text(role); len(*col) < size; {
				*col = append(*col, "")
			}
		case RoleAllowed:
			for len(n.Allowed) < size {
				n.Allowed = append(n.Allowed, false)
			}
		default:
			for col := n.numbers(role); len(*col) < size; {
				*col = append(*col, math.NaN())
			}
		}
	}
}

// cell is one value of a node, as read.
type cell struct {
	role    Role
	text    string
	number  float64
	allowed bool
}

// readCell reads a cell of a node table; a missing number is NaN.
func readCell(role Role, text []byte, comma bool, codes missingCodes) (c cell, missing bool, reason reasonCode) {
	c = cell{role: role, number: math.NaN()}
	switch role {
	case RoleLabel, RoleGroup, RoleShape:
		if codes.hasText(text) {
			return c, true, noFault
		}
		c.text = string(text)
		return c, len(text) == 0, noFault
	case RoleAllowed:
		var ok bool
		if c.allowed, ok = yesNo(text); !ok {
			return c, false, notYesNo
		}
		return c, false, noFault
	}
	v, state := codes.parse(text, comma)
	switch state {
	case numberMissing:
		return c, true, noFault
	case numberInfinite:
		return c, false, infinite
	case numberDecimal:
		return c, false, otherDecimal
	case numberNone:
		return c, false, notNumber
	}
	switch {
	case role == RoleLat && math.Abs(v) > 90, role == RoleLon && (v < -180 || v > 360):
		return c, false, outOfRange
	case role == RoleCost && v < 0:
		return c, false, negative
	}
	c.number = v
	return c, false, noFault
}

func yesNo(text []byte) (yes, ok bool) {
	switch strings.ToLower(string(text)) {
	case "yes", "y", "true", "t", "1":
		return true, true
	case "no", "n", "false", "f", "0":
		return false, true
	}
	return false, false
}

// put stores a cell of node i.
func (n *NodeTable) put(i int, c cell) {
	switch c.role {
	case RoleLabel, RoleGroup, RoleShape:
		(*n.text(c.role))[i] = c.text
	case RoleAllowed:
		n.Allowed[i] = c.allowed
	default:
		(*n.numbers(c.role))[i] = c.number
	}
}

// agrees reports whether node i has the same value as the cell.
func (n *NodeTable) agrees(i int, c cell) bool {
	switch c.role {
	case RoleLabel, RoleGroup, RoleShape:
		return (*n.text(c.role))[i] == c.text
	case RoleAllowed:
		return n.Allowed[i] == c.allowed
	}
	v := (*n.numbers(c.role))[i]
	return v == c.number || math.IsNaN(v) && math.IsNaN(c.number)
}

// extend returns the table with rows for all nodes of a graph, which has the nodes
// of the table first and then those that only the edges name.
func (n *NodeTable) extend(ids *graph.IDs, r *Report) *NodeTable {
	if n == nil {
		return nil
	}
	had, now := n.IDs.Len(), ids.Len()
	all := n.sized(ids)
	if now > had {
		extra := ""
		if n.Allowed != nil {
			extra = "; they are taken as not allowed"
		}
		r.warn("nodes that are in the edges but not in the node table: %d, such as %s%s", now-had, examples(ids, had), extra)
		if why := beyond(ids, had).explain(n.IDs, "the node table"); why != "" {
			r.warn("%s", why)
		}
	}
	return all
}

// follow puts the table into the order of a graph: row k becomes row InputOrder()[k].
func (n *NodeTable) follow(g *graph.Graph) *NodeTable {
	if n == nil {
		return nil
	}
	to := g.InputOrder()
	from := make([]int, len(to))
	for k, i := range to {
		from[i] = k
	}
	return &NodeTable{IDs: g.IDs(), Report: n.Report, names: n.names, rows: n.rows, Columns: picked(n.Columns, from),
		Texts: resized(n.Texts, from),
		Name:  reordered(n.Name, to), Lat: reordered(n.Lat, to), Lon: reordered(n.Lon, to), X: reordered(n.X, to),
		Y: reordered(n.Y, to), Cost: reordered(n.Cost, to), Allowed: reordered(n.Allowed, to), Group: reordered(n.Group, to),
		Shapes: reordered(n.Shapes, to)}
}

// reordered puts column[k] at to[k]; nil stays nil.
func reordered[T any](column []T, to []int) []T {
	if column == nil {
		return nil
	}
	out := make([]T, len(column))
	for k, v := range column {
		out[to[k]] = v
	}
	return out
}

// tellLone warns of nodes of the table without edges; their ids may be mistyped.
func (n *NodeTable) tellLone(g *graph.Graph, r *Report) {
	if n == nil {
		return
	}
	count, such := 0, []string{}
	for i, degree := range g.Degrees()[:n.IDs.Len()] {
		if degree > 0 {
			continue
		}
		if count++; count <= 3 {
			such = append(such, quote(n.IDs.Bytes(i)))
		}
	}
	switch {
	case count > 0 && n.Report != nil && n.Report.File == r.File:
		r.warn("nodes without an edge to another node: %d, such as %s", count, list(such, "and"))
	case count > 0:
		r.warn("nodes of the node table that have no edge to another node: %d, such as %s; check their ids against those of the edges", count,
			list(such, "and"))
	}
}

// meet returns an error if no end of an edge is in the table. The ids are those of
// the table and then those that only the edges have.
func (n *NodeTable) meet(edges *graph.Edges, ids *graph.IDs, r *Report) error {
	if n == nil || n.IDs.Len() == 0 {
		return nil
	}
	known := func(node uint32) bool { return int(node) < n.IDs.Len() }
	if slices.ContainsFunc(edges.U, known) || slices.ContainsFunc(edges.V, known) {
		return nil
	}
	had := n.IDs.Len()
	return &Error{Code: CodeIDs, Table: TableEdges, File: r.File,
		What: fmt.Sprintf("none of its ids, such as %s, is in the node table, which has ids such as %s", examples(ids, had),
			examples(n.IDs, 0)),
		Remedies: []Remedy{do(beyond(ids, had).hint(n.IDs, "the node table"))}}
}

// beyond returns the ids from number first on.
func beyond(ids *graph.IDs, first int) *unknownIDs {
	s := &unknownIDs{}
	for i := first; i < ids.Len() && len(s.ids) < unknownKept; i++ {
		s.add(ids.Bytes(i))
	}
	return s
}

// examples quotes a few ids, from the given number on.
func examples(ids *graph.IDs, from int) string {
	var out []string
	for i := from; i < ids.Len() && len(out) < 3; i++ {
		out = append(out, quote(ids.Bytes(i)))
	}
	return list(out, "and")
}

// ReadNodes reads a node table: a column of ids and any of label, lat, lon, x, y,
// cost, allowed and group; all other columns become covariates. A node may have several
// rows if they agree in the columns that have a role; in the other columns, several
// values of a node are its words.
func ReadNodes(ctx context.Context, src Source, opts Options) (*NodeTable, error) {
	t, err := openTable(ctx, src, nodeTable, opts)
	if err != nil {
		return nil, err
	}
	defer t.in.close()
	return t.readNodes(ctx, opts)
}

// readNodes reads an open node table.
func (t *table) readNodes(ctx context.Context, opts Options) (*NodeTable, error) {
	used, err := t.chooseNodes(opts)
	if err != nil {
		return nil, err
	}
	n := &NodeTable{IDs: graph.NewIDs(0), Report: t.report}
	roles := make([]Role, 0, len(used))
	if used[0].column < 0 {
		n.rows = &rowIDs{id: map[int64]string{}, at: map[[2]uint64]string{}}
	}
	for _, u := range used[1:] {
		roles = append(roles, u.role)
	}
	reader := nodeReader{NodeTable: n, table: t, id: used[0].column, used: used[1:], roles: roles, columns: t.otherColumns(used, opts),
		texts: t.textColumns(used, opts)}
	n.names = t.namesOf(used)
	if err := t.read(ctx, reader.row, opts); err != nil {
		return nil, err
	}
	t.report.Ledger.Repeats = reader.repeats
	t.report.Ledger.Rows = t.lines.rows - reader.repeats
	t.report.Nodes = n.IDs.Len()
	if err := t.report.Ledger.close(t.in.name); err != nil {
		return nil, err
	}
	if n.IDs.Len() == 0 {
		return nil, t.empty()
	}
	reader.finish()
	if n.rows != nil {
		n.rows.tell(t.report)
	}
	if (n.Lat == nil) != (n.Lon == nil) || (n.X == nil) != (n.Y == nil) {
		t.report.offer("only one of two coordinates was found", t.nameCoordinate(n))
	}
	return n, nil
}

type nodeReader struct {
	*NodeTable
	table   *table
	id      int
	used    []usedColumn
	roles   []Role
	columns []otherColumn
	texts   []textColumn
	lines   []int64 // where each node was first seen
	cells   []cell
	scratch []byte
	repeats int64
}

func (r *nodeReader) row(line []byte, fields []field, at int64) fault {
	r.cells = r.cells[:0]
	gaps := int64(0)
	for _, u := range r.used {
		f := field{start: len(line), end: len(line)}
		if u.column < len(fields) {
			f = fields[u.column]
		}
		c, missing, reason := readCell(u.role, f.text(line, &r.scratch), r.table.layout.comma, r.table.layout.missing)
		if reason != noFault {
			return fault{reason: reason, role: u.role, start: f.start, end: f.end}
		}
		if missing {
			gaps++
		}
		r.cells = append(r.cells, c)
	}
	if r.rows != nil {
		id, again := r.rows.name(at, at-r.table.sheet.firstRow+1, r.cells)
		if again {
			r.repeats++
			return fault{}
		}
		r.addNode([]byte(id), line, fields, at, gaps)
		return fault{}
	}
	f := fields[r.id]
	id := f.text(line, &r.scratch)
	if len(id) == 0 {
		return fault{reason: emptyID, role: RoleID, start: f.start, end: f.end}
	}
	if i, ok := r.IDs.Lookup(id); ok {
		for _, c := range r.cells {
			if !r.agrees(i, c) {
				return fault{reason: repeatedNode, role: RoleID, start: f.start, end: f.end, count: int(r.lines[i])}
			}
		}
		r.repeats++
		r.collect(i, line, fields)
		r.keep(i, line, fields)
		return fault{}
	}
	r.addNode(id, line, fields, at, gaps)
	return fault{}
}

// addNode adds a node with the cells of its row.
func (r *nodeReader) addNode(id, line []byte, fields []field, at, gaps int64) {
	i := r.IDs.Intern(id)
	r.grow(i+1, r.roles)
	for _, c := range r.cells {
		r.put(i, c)
	}
	r.lines = append(r.lines, at)
	r.table.report.Missing += gaps
	r.collect(i, line, fields)
	r.keep(i, line, fields)
}

// chooseNodes returns the columns of a node table that are used; the first is the id.
func (t *table) chooseNodes(opts Options) ([]usedColumn, error) {
	s := t.sheet
	if _, told := opts.Columns[RoleID]; !told && s.fixed == 0 && s.looksLike() == TableEdges {
		return nil, s.other(TableEdges)
	}
	id, why, err := -1, "", error(nil)
	if s.fixed > 0 || !s.numberedRows(opts) {
		if id, why, err = s.chooseID(RoleID, nil, opts); err != nil {
			return nil, err
		}
	}
	used := []usedColumn{{RoleID, id, why}}
	if used, err = s.chooseOptional(used, nodeTable.roles[1:], opts); err != nil {
		return nil, err
	}
	return used, t.use(used, opts)
}

// empty is the error of a table in which no row could be used.
func (t *table) empty() error {
	code, what, next := CodeEmpty, fmt.Sprintf("it contains no %ss", t.in.table.row()), otherFile
	switch {
	case len(t.report.BadRows) > 0:
		next = do("the first bad row is " + t.report.BadRows[0])
	case t.report.Ledger.Header > 0:
		what += ", only a header"
	}
	if t.lines.hidden > 0 && len(t.report.BadRows) == 0 {
		next = do(t.lines.unhide())
	}
	if t.report.Ledger.Bad > 0 || t.lines.hidden > 0 {
		code = CodeContent
	}
	return t.in.fail(code, what, next)
}

// nameCoordinate is the remedy for the coordinate that was not found.
func (t *table) nameCoordinate(n *NodeTable) Remedy {
	for _, role := range []Role{RoleLat, RoleLon, RoleX, RoleY} {
		other := map[Role]Role{RoleLat: RoleLon, RoleLon: RoleLat, RoleX: RoleY, RoleY: RoleX}[role]
		if n.has(role) && !n.has(other) {
			return do("name the other", nameColumn(other, ""))
		}
	}
	return do("name the other")
}
