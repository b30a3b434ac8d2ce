package graphio

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hasUnit reports whether the numbers of a role may have a unit.
func (role Role) hasUnit() bool {
	return role == RoleValue || role == RoleWeight || role == RoleDistance
}

// withoutUnit takes the unit off a cell; false if the cell does not have it.
func withoutUnit(cell []byte, unit string) ([]byte, bool) {
	if unit == "" {
		return cell, true
	}
	if rest, ok := bytes.CutSuffix(cell, []byte(unit)); ok {
		return bytes.TrimSpace(rest), true
	}
	sign := []byte(nil) // -$5
	rest := cell
	if len(cell) > 0 && (cell[0] == '-' || cell[0] == '+') {
		sign, rest = cell[:1:1], cell[1:]
	}
	if rest, ok := bytes.CutPrefix(bytes.TrimSpace(rest), []byte(unit)); ok {
		return append(sign, bytes.TrimSpace(rest)...), true
	}
	return cell, false
}

// longestUnit is the number of bytes of the longest text that is taken for a unit.
const longestUnit = 12

// unitOf returns the unit of a cell that is a number with a unit or a sign before or after
// it, such as "44.5 mph", "44.5%" or "$12"; "" for other cells.
func unitOf(cell string) string {
	digit := func(r rune) bool { return '0' <= r && r <= '9' }
	first, last := strings.IndexFunc(cell, digit), strings.LastIndexFunc(cell, digit)
	if first < 0 {
		return ""
	}
	before, after := strings.TrimSpace(strings.TrimRight(cell[:first], ".,+-")), strings.TrimSpace(cell[last+1:])
	before = strings.TrimSpace(strings.TrimLeft(before, "+-"))
	unit := after
	if before != "" {
		if after != "" {
			return ""
		}
		unit = before
	}
	if i := strings.IndexFunc(cell[first:], func(r rune) bool { return unicode.IsLetter(r) || r == '/' }); before == "" && i >= 0 && first+
		i < last {
		unit = strings.TrimSpace(cell[first+i:]) // m2, W/m^2
	}
	if unit == "" || len(unit) > longestUnit || !utf8.ValidString(unit) || strings.ContainsAny(unit, `"'{}[]()=:_`) ||
		len(strings.Fields(unit)) > 2 {
		return ""
	}
	if i := strings.IndexFunc(unit, digit); i >= 0 && (i < len(unit)-1 || unit[i-1] == ' ') { // 2 of m2 may end a unit
		return ""
	}
	rest, ok := withoutUnit([]byte(cell), unit)
	if !ok || cellType(string(rest)) == typeText && !isGrouped(string(rest)) || len(rest) == 0 {
		return ""
	}
	return unit
}

// isGrouped reports whether a cell is a whole number with separators of thousands, such as
// "1,234,567", "1 234" or "1.234.567".
func isGrouped(cell string) bool {
	cell = strings.TrimLeft(cell, "+-")
	for _, sep := range []string{",", " ", "'", ".", "\u00a0", "\u202f", "\u2019"} {
		groups := strings.Split(cell, sep)
		if len(groups) < 2 || len(groups[0]) > 3 || groups[0] == "" {
			continue
		}
		if fraction := strings.IndexAny(groups[len(groups)-1], ".,"); fraction >= 0 && sep != "." {
			groups[len(groups)-1] = groups[len(groups)-1][:fraction]
		}
		whole := true
		for k, g := range groups {
			whole = whole && (k == 0 || len(g) == 3) && strings.Trim(g, "0123456789") == ""
		}
		if whole {
			return true
		}
	}
	return false
}

// thousands reports whether commas in the given columns may separate thousands: three digits
// follow each, no number begins with 0, and none of 1,000 or more has no comma.
func (s *sheet) thousands(columns []int) bool {
	const few = 3
	count := 0
	for _, row := range s.sample {
		for _, j := range columns {
			if j < 0 || j >= len(row) {
				continue
			}
			cell, _ := withoutUnit([]byte(row[j]), s.strip)
			digits := strings.TrimLeft(string(cell), "+-")
			switch sign, state := scanNumber(cell); {
			case state != numberOK:
			case sign == ',' && isGrouped(digits) && digits[0] != '0':
				count++
			case sign == ',', len(digits) > 3:
				return false
			}
		}
	}
	return count >= few
}

// unitColumn returns the unit that nearly all cells of a column have, and one of them.
func (s *sheet) unitColumn(column int) (unit, example string) {
	count, units := 0, map[string]int{}
	for _, row := range s.sample {
		if column >= len(row) || cellType(row[column]) == typeEmpty {
			continue
		}
		count++
		u := unitOf(row[column])
		if units[u]++; example == "" && u != "" {
			example = row[column]
		}
	}
	for u, n := range units {
		if u != "" && 10*n >= 9*count {
			if unitOf(example) != u {
				example = s.findIn(column, func(cell string) bool { return unitOf(cell) == u })
			}
			return u, example
		}
	}
	return "", ""
}

// findIn returns the first cell of a column that is as asked for, "" without one.
func (s *sheet) findIn(column int, is func(string) bool) string {
	for _, row := range s.sample {
		if column < len(row) && is(row[column]) {
			return row[column]
		}
	}
	return ""
}

// takeOff is the remedy that takes a unit off numbers.
func takeOff(unit string) Remedy {
	return do("take "+quote([]byte(unit))+" off the numbers", Setting{Option: OptionUnit, Value: unit})
}

// noNumbers is the error about a table without a column of values. It shows what is in the
// way of columns that nearly are numbers.
func (s *sheet) noNumbers(taken func(int) bool) error {
	name := do("name the column of values", nameColumn(RoleValue, ""))
	cells := []string(nil)
	for j := range s.columns {
		if taken(j) || s.noValue(j) {
			continue
		}
		if unit, example := s.unitColumn(j); unit != "" {
			return s.in.fail(CodeContent, fmt.Sprintf("there is no column of plain numbers beside the ids: in column %s numbers have %s beside "+
				"them, as in %s", s.nameOf(j), quote([]byte(unit)), quote([]byte(example))),
				takeOff(unit), name)
		}
		if grouped := s.findIn(j, isGrouped); grouped != "" {
			return s.in.fail(CodeContent, fmt.Sprintf("there is no column of plain numbers beside the ids: in column %s numbers have separators "+
				"of thousands, as in %s", s.nameOf(j), quote([]byte(grouped))),
				do("write them without separators"), name)
		}
		if text := s.findIn(j, func(cell string) bool { return cellType(cell) == typeText }); text != "" && len(cells) < 3 {
			cells = append(cells, fmt.Sprintf("%s (such as %s)", s.nameOf(j), quote([]byte(text))))
		}
	}
	if len(cells) > 0 {
		return s.in.fail(CodeContent, "there is no column of numbers beside the ids; the other columns hold text: "+list(cells, "and"),
			name, do("read classes", Setting{Option: OptionReader, Value: "ReadLabels"}))
	}
	return s.in.fail(CodeContent, "there is no column of numbers beside the ids, among "+s.describe(nil), name)
}
