package graphio

import (
	"fmt"
	"slices"
)

// choose finds the columns.
func (m *measurementReader) choose(opts Options) error {
	if err := m.chooseWide(opts); err != nil || m.wide != nil {
		return err
	}
	s := m.table.sheet
	if err := s.refuseEdges(m.ids, opts); err != nil {
		return err
	}
	id, why, err := -1, "", error(nil)
	if m.rows == nil {
		if id, why, err = s.chooseID(RoleNode, m.ids, opts); err != nil {
			return err
		}
	} else {
		m.table.report.Columns = append(m.table.report.Columns, rowColumn)
	}
	used := []usedColumn{{RoleNode, id, why}}
	if m.rows == nil {
		m.near = m.chooseNearby(id, opts)
	}
	if m.near != nil {
		used, id = m.near.used(), max(m.near.first, m.near.second)
	}
	places := len(used)
	taken := func(j int) bool {
		return m.near.nameless(s, j) || m.rows != nil && opts.Nodes.isPlace(s, j) ||
			slices.ContainsFunc(used, func(u usedColumn) bool { return u.column == j })
	}
	if m.timed() {
		if m.time, why, err = s.chooseTime(taken, opts); err != nil {
			return err
		}
		name := ""
		if m.time < len(s.names) {
			name = s.names[m.time]
		}
		if err := m.fixForm(s.cellsOf(m.time), name, "column "+s.nameOf(m.time)); err != nil {
			return err
		}
		used = append(used, usedColumn{RoleTime, m.time, why})
	}
	if used, err = m.chooseSize(used, opts); err != nil {
		return err
	}
	if _, told := opts.Columns[RoleSD]; !m.counts {
		before := len(used)
		if used, err = s.chooseOptional(used, []Role{RoleSD}, opts); err != nil {
			return err
		}
		if len(used) > before {
			m.sd = used[before].column
		}
	} else if told {
		return s.in.fail(CodeOption, "counts have no sd", do("leave the column of sds out"))
	}
	value, why, err := s.chooseValue(taken, m.counts, opts)
	if err != nil {
		return err
	}
	m.id, m.value = id, value
	used = slices.Insert(used, places, usedColumn{RoleValue, value, why})
	if err := m.oneRole(used); err != nil {
		return err
	}
	if m.times != TimesIgnore {
		m.watched = s.timeColumns(taken)
	}
	if err := m.table.use(used, opts); err != nil {
		return err
	}
	m.table.layout.needed = max(id, value) + 1
	m.result.TimeUnit.comma = s.comma
	m.offerSizes(used)
	return nil
}

// oneRole returns an error if a column has two roles.
func (m *measurementReader) oneRole(used []usedColumn) error {
	roles, twice := []string{"node", "value", "sd"}, false
	for k, u := range used {
		twice = twice || slices.ContainsFunc(used[:k], func(v usedColumn) bool { return v.column == u.column })
		if !slices.Contains(roles, string(u.role)) {
			roles = append(roles, string(u.role))
		}
	}
	if twice {
		return m.table.in.fail(CodeOption, "one column has two roles", do("give different columns for "+list(roles, "and")))
	}
	return nil
}

// chooseSize finds the column of exposures or of numbers tested, which must be named.
func (m *measurementReader) chooseSize(used []usedColumn, opts Options) ([]usedColumn, error) {
	s := m.table.sheet
	for _, role := range []Role{RoleExposure, RoleTested} {
		spec, told := opts.Columns[role]
		if !told {
			continue
		}
		if m.size >= 0 {
			return nil, s.in.fail(CodeOption, "values cannot have both an exposure and a number tested", do("name one of the two columns"))
		}
		column, err := s.column(role, spec)
		if err != nil {
			return nil, err
		}
		m.size, m.counts, m.tested = column, true, role == RoleTested
		used = append(used, usedColumn{role, column, asTold})
	}
	return used, nil
}

// chooseTime finds the column of times: as told, or the only one that clearly holds
// times.
func (s *sheet) chooseTime(taken func(int) bool, opts Options) (column int, why string, err error) {
	if spec, told := opts.Columns[RoleTime]; told {
		column, err = s.column(RoleTime, spec)
		return column, asTold, err
	}
	found := s.timeColumns(taken)
	switch len(found) {
	case 0:
		return 0, "", s.in.fail(CodeContent, "there is no column of times, among "+s.describe(nil), do("name it", nameColumn(RoleTime, "")))
	case 1:
		return found[0], "it holds times", nil
	}
	return 0, "", s.ask("the time may be "+list(s.someOf(found), "or"), RoleTime, found)
}

// chooseValue finds the column of values: as told, by name, or because it is the
// only other column of numbers. If no column holds numbers only, one with mostly
// numbers is taken, and its other cells are bad rows. Names of counts come first if
// values are counts, and last otherwise.
func (s *sheet) chooseValue(taken func(int) bool, counts bool, opts Options) (column int, why string, err error) {
	if spec, ok := opts.Columns[RoleValue]; ok {
		column, err = s.column(RoleValue, spec)
		return column, asTold, err
	}
	coordinates := len(s.best(RoleX, func(int) bool { return true })) > 0
	named := func(fits func(j int) bool) []int {
		return s.best(RoleValue, func(j int) bool {
			return !taken(j) && !(coordinates && RoleY.rank(s.names[j]) == rankSure) && fits(j)
		})
	}
	others := func(fits func(j int) bool) (all []int) {
		for j := range s.types {
			if !taken(j) && !s.noValue(j) && fits(j) {
				all = append(all, j)
			}
		}
		return all
	}
	number := func(j int) bool { return s.types[j].number() }
	why = "by name"
	var found []int
	if counts {
		found = s.countColumns(taken)
	}
	if len(found) == 0 {
		found = named(func(j int) bool { return number(j) || RoleValue.rank(s.names[j]) == rankSure })
	}
	if len(found) == 0 {
		found = named(s.mostlyNumbers)
	}
	if len(found) == 0 {
		found = s.countColumns(taken)
	}
	if len(found) == 0 {
		why, found = "the only other column of numbers", others(number)
	}
	if len(found) == 0 {
		why, found = "the only other column that is mostly numbers", others(s.mostlyNumbers)
	}
	switch len(found) {
	case 0:
		if s.names != nil && len(s.sample) == 0 {
			return 0, "", s.in.fail(CodeEmpty, fmt.Sprintf("it contains no %ss, only a header", s.in.table.row()), otherFile)
		}
		return 0, "", s.noNumbers(taken)
	case 1:
		return found[0], why, nil
	}
	for _, j := range others(number) { // names that are likely do not rule out others
		if !slices.Contains(found, j) {
			found = append(found, j)
		}
	}
	slices.Sort(found)
	return 0, "", s.ask("the value may be "+list(s.someOf(found), "or"), RoleValue, found)
}

// mostlyNumbers reports whether more cells of a column are numbers than text.
func (s *sheet) mostlyNumbers(column int) bool {
	numbers, texts := 0, 0
	for _, row := range s.sample {
		if column >= len(row) {
			continue
		}
		switch t := s.cellType(row[column]); {
		case t.number():
			numbers++
		case t == typeText:
			texts++
		}
	}
	return numbers > texts
}

// noValue reports whether the name of a column says that it holds no values.
func (s *sheet) noValue(column int) bool {
	if column >= len(s.names) {
		return false
	}
	name := s.names[column]
	for _, role := range []Role{RoleNode, RoleLat, RoleLon, RoleSD} {
		if role.rank(name) < rankNone {
			return true
		}
	}
	return anyOf(words(name), timeWords) || anyOf(words(name), notSDs) || RoleTime.rank(name) == rankSure
}

// countColumns returns the columns of numbers that are named as counts.
func (s *sheet) countColumns(taken func(int) bool) (found []int) {
	for j, name := range s.names {
		if w := words(name); !taken(j) && len(w) > 0 && s.types[j].number() && slices.Contains(countWords, w[len(w)-1]) {
			found = append(found, j)
		}
	}
	return found
}
