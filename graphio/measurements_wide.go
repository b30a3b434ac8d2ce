package graphio

import (
	"fmt"
	"math"
	"slices"
)

// wideLayout is that of a table with several measurements in a row: times × nodes or
// nodes × times.
type wideLayout struct {
	byTime  bool // a row is a time, and a column a node
	columns []wideColumn
}

// wideColumn holds the measurements of a node, or of a time.
type wideColumn struct {
	column int
	node   int
	time   readTime
}

// wideRow reads a row of a wide table.
func (m *measurementReader) wideRow(line []byte, fields []field, at int64) fault {
	var row reading
	if m.wide.byTime {
		if bad := m.readTime(&row, line, fields); bad.reason != noFault {
			return bad
		}
	} else {
		f := fields[m.id]
		id := f.text(line, &m.scratch)
		if len(id) == 0 {
			return fault{reason: emptyID, role: RoleNode, start: f.start, end: f.end}
		}
		node, known := m.ids.Lookup(id)
		if !known {
			m.unknown++
			m.unknownIDs.add(id)
			return fault{}
		}
		row.node = node
	}
	if bad := m.readCells(row, line, fields); bad.reason != noFault {
		return bad
	}
	gaps := int64(len(m.wide.columns) - len(m.cells))
	if len(m.cells) == 0 {
		m.missing++
		m.gaps += gaps - 1
		return fault{}
	}
	m.gaps += gaps
	m.table.report.Cells += int64(len(m.cells))
	repeats := true
	for _, r := range m.cells {
		if !m.put(r, at, "") {
			repeats = false
		}
	}
	if repeats {
		m.repeated++
	}
	return fault{}
}

// readCells sets m.cells to the measurements of a row.
func (m *measurementReader) readCells(row reading, line []byte, fields []field) fault {
	m.cells = m.cells[:0]
	for _, c := range m.wide.columns {
		if c.column >= len(fields) {
			continue
		}
		f := fields[c.column]
		value, present, bad := m.table.layout.number(line, f, RoleValue, &m.scratch)
		switch {
		case bad.reason != noFault:
			return bad
		case !present:
			continue
		case m.counts && (value < 0 || value != math.Trunc(value)):
			return fault{reason: notCount, role: RoleValue, start: f.start, end: f.end}
		}
		r := row
		r.value, r.sd, r.size, r.field = value, math.NaN(), 1, f
		if m.wide.byTime {
			r.node = c.node
		} else if m.timed() {
			r.read, r.time = c.time, c.time.at
		}
		if bad := m.refuses(r); bad.reason != noFault {
			return bad
		}
		m.cells = append(m.cells, r)
	}
	return fault{}
}

// chooseWide finds out whether the table is wide, and uses it so.
func (m *measurementReader) chooseWide(opts Options) error {
	s := m.table.sheet
	for _, role := range []Role{RoleValue, RoleSD, RoleExposure, RoleTested} {
		if _, told := opts.Columns[role]; told {
			return nil
		}
	}
	if s.names == nil || m.rows != nil {
		return nil
	}
	lead, what, err := m.timesByNodes(opts)
	if m.wide == nil && err == nil {
		lead, what, err = m.nodesByTimes(opts)
	}
	if m.wide == nil || err != nil {
		return err
	}
	if m.times == TimesAuto {
		set := func(t Times) Setting { return Setting{Option: OptionTimes, Value: string(t)} }
		return s.in.fail(CodeAmbiguous, what, do("use the times", set(TimesKeep)), do("take the latest of each node", set(TimesLatest)),
			do("take one column", nameColumn(RoleValue, "")))
	}
	return m.useWide(lead, opts)
}

// useWide fixes the columns of a wide table.
func (m *measurementReader) useWide(lead usedColumn, opts Options) error {
	s, r := m.table.sheet, m.table.report
	all := []int{lead.column}
	for _, c := range m.wide.columns {
		all = append(all, c.column)
	}
	if err := s.findDecimal(opts, all[1:]...); err != nil {
		return err
	}
	if s.comma {
		r.Decimal = "comma"
	}
	first, named := s.told(RoleValue, all[1], ""), "nodes"
	if !m.wide.byTime {
		named = "times"
	}
	first.Why = fmt.Sprintf("the first of %s named by %s", counted(len(m.wide.columns), "column"), named)
	r.Columns = append(r.Columns, s.told(lead.role, lead.column, lead.why), first)
	s.unused(r, all...)
	if m.wide.byTime {
		m.tellStrangers(all)
	}
	m.table.layout = s.layout(lead.column)
	m.result.TimeUnit.comma = s.comma
	m.id, m.time = -1, -1
	if m.wide.byTime {
		m.time = lead.column
	} else {
		m.id = lead.column
	}
	return nil
}

// tellStrangers warns of columns of numbers that are named by no node.
func (m *measurementReader) tellStrangers(used []int) {
	s := m.table.sheet
	var names []string
	for j, name := range s.names {
		if !slices.Contains(used, j) && s.types[j].number() {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		m.table.report.warn("columns whose names are not ids of the graph: %d, such as %s", len(names), quoteAll(names[:min(3, len(names))]))
	}
}

// timesByNodes recognises a table of times × nodes: a column of times beside columns
// that are mostly named by ids of the graph.
func (m *measurementReader) timesByNodes(opts Options) (lead usedColumn, what string, err error) {
	s := m.table.sheet
	spec, told := opts.Columns[RoleTime]
	if _, node := opts.Columns[RoleNode]; node {
		return lead, "", nil
	}
	layout, names := &wideLayout{byTime: true}, []string(nil)
	ids, seen := map[int]bool{}, map[int]int{}
	for j, name := range s.names {
		if node, known := m.ids.Lookup([]byte(name)); known {
			ids[j], seen[node] = true, seen[node]+1
			layout.columns = append(layout.columns, wideColumn{column: j, node: node})
			names = append(names, name)
		}
	}
	if len(ids) == 0 || s.long(m) {
		return lead, "", nil
	}
	lead = usedColumn{RoleTime, -1, asTold}
	if told {
		if lead.column, err = s.column(RoleTime, spec); err != nil {
			return lead, "", err
		}
	} else if clear := s.timeColumns(func(j int) bool { return ids[j] }); len(clear) > 0 {
		lead.column, lead.why = clear[0], "it holds times, and other columns are named by nodes"
	}
	if lead.column < 0 || ids[lead.column] || 2*len(ids) < s.columns-1 || len(ids) < 2 && !m.timed() {
		return lead, "", nil
	}
	for node, times := range seen {
		if times > 1 {
			return lead, "", s.in.fail(CodeContent, fmt.Sprintf("%d columns are named by node %s", times, quote(m.ids.Bytes(node))),
				do("give every node one column"))
		}
	}
	m.wide = layout
	if m.timed() {
		err = m.fixForm(s.cellsOf(lead.column), s.names[lead.column], "column "+s.nameOf(lead.column))
	}
	return lead, fmt.Sprintf("columns are named by nodes, such as %s: it is a table of times × nodes", quoteAll(names[:min(3, len(names))])),
		err
}

// long reports whether a column that is named as one of ids holds ids: then a row is a
// measurement, whatever other columns are called.
func (s *sheet) long(m *measurementReader) bool {
	return slices.ContainsFunc(s.best(RoleNode, func(int) bool { return true }), func(j int) bool { return s.overlap(j, m.ids) >= 0.5 })
}

// nodesByTimes recognises a table of nodes × times: a column of ids beside columns that
// are mostly named by times: dates or years, or any numbers if times are asked for.
func (m *measurementReader) nodesByTimes(opts Options) (lead usedColumn, what string, err error) {
	s := m.table.sheet
	if _, told := opts.Columns[RoleTime]; told {
		return lead, "", nil
	}
	id, why, err := s.chooseID(RoleNode, m.ids, opts)
	if err != nil {
		return lead, "", nil // another reading may fit
	}
	var names []string
	for j, name := range s.names {
		if j != id && name != "" {
			names = append(names, name)
		}
	}
	form, _, _ := detectForm(names, "")
	if form == formNone {
		return lead, "", nil
	}
	layout, years, used := &wideLayout{}, true, []string(nil)
	for j, name := range s.names {
		if j == id || name == "" {
			continue
		}
		if t, ok := form.parse(name, false); ok && math.Abs(t.at) <= latestTime {
			layout.columns = append(layout.columns, wideColumn{column: j, time: t})
			used = append(used, name)
			years = years && len(name) == 4 && t.at >= 1800 && t.at <= 2200
		}
	}
	if len(used) < 2 || 2*len(used) < len(names) || form == formNumber && !years && !m.timed() || form == formClock && !m.timed() {
		return lead, "", nil
	}
	m.wide = layout
	if m.timed() {
		err = m.fixForm(used, "", "the header")
	}
	return usedColumn{RoleNode, id, why}, fmt.Sprintf("columns are named by times, such as %s: it is a table of nodes × times",
		quoteAll(used[:min(3, len(used))])), err
}
