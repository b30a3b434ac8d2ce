package graphio

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"grfgp/formats"
	"grfgp/graph"
)

// table is an open file of delimited text that is read row by row.
type table struct {
	in     *input
	cutter *cutter
	sheet  *sheet
	layout rowLayout
	report *Report
	lines  tally
}

// usedColumn is a column that has a role.
type usedColumn struct {
	role   Role
	column int
	why    string
}

func openTable(ctx context.Context, src Source, kind tableKind, opts Options) (*table, error) {
	in, err := open(ctx, src, kind.kind, opts)
	if err != nil {
		return nil, err
	}
	format := ""
	if in.kind == nil {
		format, err = in.format()
	}
	if format == formatGraphML {
		in.kind = formats.GraphMLNodes
	}
	if err == nil && in.kind != nil {
		t, err := in.openForeign(ctx, kind, opts)
		if err != nil {
			in.close()
		}
		return t, err
	}
	if err == nil && format != formatDelimited {
		err = in.fail(CodeFormat, fmt.Sprintf("is %s, but a table of %s is expected", format, kind.kind),
			do("give a table of delimited text"), do("read it as a graph", Setting{Option: OptionReader, Value: "ReadGraph"}))
	}
	if err == nil {
		c := in.cut(opts.blockSize)
		var s *sheet
		if s, err = inspect(c, kind, opts); err == nil {
			return &table{in: in, cutter: c, sheet: s, report: s.report()}, nil
		}
	}
	in.close()
	return nil, err
}

// use fixes the columns, and detects the decimal sign of their numbers.
func (t *table) use(used []usedColumn, opts Options) error {
	var all, numbers []int
	for _, u := range used {
		if u.column < 0 {
			continue // ids of rows
		}
		all = append(all, u.column)
		t.report.Columns = append(t.report.Columns, t.sheet.told(u.role, u.column, u.why))
		if !slices.Contains([]Role{RoleID, RoleNode, RoleLabel, RoleGroup, RoleShape, RoleAllowed, RoleClass, RoleTime}, u.role) {
			numbers = append(numbers, u.column)
		}
	}
	if err := t.sheet.findDecimal(opts, numbers...); err != nil {
		return err
	}
	if t.sheet.comma {
		t.report.Decimal = "comma"
	}
	t.sheet.unused(t.report, all...)
	t.layout = t.sheet.layout(all[0])
	return nil
}

// read calls row for each row, in the order of the file.
func (t *table) read(ctx context.Context, row func(line []byte, fields []field, at int64) fault, opts Options) error {
	rejects := newRejects(t.report, &t.layout, opts)
	err := t.cutter.stream(ctx, func(*block) {}, func(b *block) error {
		t.layout.each(b, row)
		t.report.Ledger.add(b)
		t.lines.gather(b)
		return rejects.take(b.bad)
	})
	t.report.tellLines(&t.lines)
	return err
}

// chooseID finds the column of ids: as told, by name, by known ids, by place.
func (s *sheet) chooseID(role Role, known *graph.IDs, opts Options) (column int, why string, err error) {
	if spec, ok := opts.Columns[role]; ok {
		column, err = s.column(role, spec)
		return column, asTold, err
	}
	if s.fixed == 1 {
		return 0, s.defined(), nil
	}
	named := s.best(role, func(int) bool { return true })
	matching := s.matching(known)
	switch {
	case len(named) == 1:
		column, why = named[0], "by name"
		if known != nil && s.overlap(column, known) < 0.5 {
			for _, j := range matching {
				if s.overlap(j, known) >= 0.9 {
					return 0, "", s.ask(fmt.Sprintf("the ids may be in column %s, by its name, or in column %s, whose values are ids of the graph",
						s.nameOf(column), s.nameOf(j)),
						role, []int{column, j})
				}
			}
		}
		return column, why, nil
	case len(named) > 1:
		if both := slices.DeleteFunc(slices.Clone(named), func(j int) bool { return !slices.Contains(matching, j) }); len(both) == 1 {
			return both[0], "by name, and its values are ids of the graph", nil
		}
		return 0, "", s.ask("the ids may be in column "+list(s.someOf(named), "or"), role, named)
	case slices.Contains(matching, 0):
		return 0, "the first column; its values are ids of the graph", nil
	case len(matching) == 1:
		return matching[0], "its values are ids of the graph", nil
	case len(matching) > 1:
		return 0, "", s.ask("the ids may be in column "+list(s.someOf(matching), "or"), role, matching)
	}
	return 0, "the first column", nil
}

// matching returns the columns in which most values are known ids, except columns that
// are named as values or classes: values may be small numbers, as ids are.
func (s *sheet) matching(known *graph.IDs) []int {
	value := func(j int) bool {
		return j < len(s.names) && (RoleValue.rank(s.names[j]) < rankNone || RoleSD.rank(s.names[j]) < rankNone ||
			RoleClass.rank(s.names[j]) == rankSure)
	}
	var found []int
	for j := range s.columns {
		if !value(j) && s.overlap(j, known) >= 0.5 {
			found = append(found, j)
		}
	}
	return found
}

// best returns the columns whose names fit a role best, among those that may have it.
func (s *sheet) best(role Role, may func(column int) bool) []int {
	rank, found := rankNone, []int(nil)
	for j, name := range s.names {
		r := role.rank(name)
		if r == rankNone || !may(j) {
			continue
		}
		if r < rank {
			rank, found = r, nil
		}
		if r == rank {
			found = append(found, j)
		}
	}
	return found
}

// chooseOptional adds optional columns, which are found by name only. Of several that
// fit, it takes the one with the name of the role, or else the first.
func (s *sheet) chooseOptional(used []usedColumn, roles []Role, opts Options) ([]usedColumn, error) {
	taken := func(column int) bool {
		return slices.ContainsFunc(used, func(u usedColumn) bool { return u.column == column })
	}
	for _, role := range roles {
		if spec, ok := opts.Columns[role]; ok {
			column, err := s.column(role, spec)
			if err != nil {
				return nil, err
			}
			used = append(used, usedColumn{role, column, asTold})
			continue
		}
		found := s.best(role, func(j int) bool {
			if role == RoleShape && !s.holdsShapes(j) {
				return false
			}
			text := slices.Contains([]Role{RoleLabel, RoleGroup, RoleShape, RoleAllowed}, role)
			return !taken(j) && s.types[j] != typeEmpty && (text || s.types[j].number() || role.rank(s.names[j]) == rankSure)
		})
		if len(found) == 0 {
			continue
		}
		column := found[0]
		for _, j := range found {
			if strings.EqualFold(s.names[j], string(role)) {
				column = j
			}
		}
		used = append(used, usedColumn{role, column, "by name"})
	}
	return used, nil
}
