package graphio

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// findDelimiter returns the delimiter that cuts nearly all lines into the same number
// of fields.
func (s *sheet) findDelimiter(rows []numbered) (separator, error) {
	type candidate struct {
		d      separator
		fields int
		share  float64
		first  bool // the first row has it
	}
	const nearly, most = 0.9, 0.5
	var found []candidate
	for _, d := range []separator{byTab, bySemicolon, byPipe, byComma, byBlanks} {
		other := sheet{delim: d}
		cells, whole := make([][]string, len(rows)), make([][]string, len(rows))
		for i, row := range rows {
			whole[i] = other.cells(row.text)
			cells[i] = trimEmpty(whole[i])
		}
		fields, share := mode(cells)
		if all, same := mode(whole); share < nearly && same >= nearly && len(cells[0]) > 1 {
			fields, share = all, same // cells at the ends of rows are empty: missing values
		}
		if fields > 1 {
			found = append(found, candidate{d, fields, share, len(cells[0]) > 1})
		}
	}
	if slices.ContainsFunc(found, func(c candidate) bool { return c.first && c.share >= most }) {
		found = slices.DeleteFunc(found, func(c candidate) bool { return !c.first }) // it separates the words of a list
	}
	regular := func(d separator) bool {
		return slices.ContainsFunc(found, func(c candidate) bool { return c.d == d && c.share >= nearly })
	}
	for _, c := range found {
		if c.share < nearly || c.d == byComma && regular(byBlanks) && onlyDecimalCommas(rows) {
			continue
		}
		return c.d, nil
	}
	if len(found) == 0 {
		return byComma, nil // one column
	}
	best := slices.MaxFunc(found, func(a, b candidate) int { return cmp.Compare(a.share, b.share) })
	if best.share < most {
		return 0, s.in.fail(CodeContent, "its lines have very different numbers of fields",
			do(fmt.Sprintf("put one %s on each line", s.in.table.row())), do("give the file the ending .adjlist if it is an adjacency list"),
			do("name the delimiter", Setting{Option: OptionDelimiter}))
	}
	return best.d, nil
}

// onlyDecimalCommas reports whether every comma stands between two digits and
// follows a blank on its line: "a b 1,5" has three fields, not two.
func onlyDecimalCommas(rows []numbered) bool {
	digit := func(c byte) bool { return c-'0' <= 9 }
	for _, row := range rows {
		line := row.text
		for i, c := range line {
			if c != ',' {
				continue
			}
			if i == 0 || i == len(line)-1 || !digit(line[i-1]) || !digit(line[i+1]) || !bytes.ContainsAny(line[:i], " \t") {
				return false
			}
		}
	}
	return true
}

// headerClues speak for or against a header in the first row.
type headerClues struct {
	empty   bool // the row holds nothing
	asked   bool // the options name a column by a word of the row
	timed   bool // the name of a time stands above times, in a table of measurements
	numbers bool // a cell is a number, and not a name such as a year
	typed   bool // a word stands above numbers
	known   bool // the row holds names that this kind of table has
	recurs  bool // a cell stands in a later row too, as an id does
	alike   bool // the next row has ids of the same pattern, such as user-7
	copied  bool // a later row is the same
	alone   bool // there is no other row, or only one column
}

// headerRules tell names from data; the first rule that holds decides. Where none
// does, words stand above words: names, or the first row of data.
var headerRules = []struct {
	when   func(c headerClues) bool
	header bool
}{
	{func(c headerClues) bool { return c.empty }, false},
	{func(c headerClues) bool { return c.asked || c.timed }, true},
	{func(c headerClues) bool { return c.numbers }, false},
	{func(c headerClues) bool { return c.typed }, true},
	{func(c headerClues) bool { return c.known && !c.recurs && !c.alike }, true},
	{func(c headerClues) bool { return !c.known && (c.recurs || c.alike || c.copied) }, false}, // ids recur
	{func(c headerClues) bool { return c.recurs && c.alike }, false},
	{func(c headerClues) bool { return !c.known && c.alone }, false},
}

// hasHeader decides whether the first row holds names. The rest are the rows that
// are not copies of it.
func (s *sheet) hasHeader(first []string, rest [][]string, copies int, line int64, opts Options) (bool, error) {
	if opts.Header != HeaderAuto {
		return opts.Header == HeaderYes, nil
	}
	clues := s.headerClues(first, rest, copies, opts)
	for _, rule := range headerRules {
		if rule.when(clues) {
			return rule.header, nil
		}
	}
	what := fmt.Sprintf("%s (%s) may be a header or the first %s", s.in.place(line), quoteAll(first), s.in.table.row())
	if clues.recurs {
		what += ": its words are known column names, but one of them also occurs in a row"
	}
	return false, s.in.fail(CodeAmbiguous, what,
		do("take it as a header", Setting{Option: OptionHeader, Value: string(HeaderYes)}),
		do("take it as the first "+s.in.table.row(), Setting{Option: OptionHeader, Value: string(HeaderNo)}))
}

func (s *sheet) headerClues(first []string, rest [][]string, copies int, opts Options) headerClues {
	pairs := endPairs(first)
	letters := len(pairs) > 0 && pairs[0].letters && !strings.EqualFold(first[pairs[0].source], "u") // a,b may be ids
	c := headerClues{
		empty:  len(trimEmpty(first)) == 0,
		asked:  s.namedByOptions(first, opts),
		known:  s.table.knows(first) && !letters || otherTable(first),
		recurs: s.recurs(first, rest),
		alike:  len(rest) > 0 && numberedAlike(s.withoutYears(first), rest[0]),
		copied: copies > 0,
		alone:  len(rest) == 0 || len(first) == 1,
	}
	for j, cell := range first {
		below := typeEmpty
		for _, row := range rest {
			if j < len(row) {
				below = max(below, cellType(row[j]))
			}
		}
		c.numbers = c.numbers || cellType(cell).number() && !s.mayBeName(cell, first)
		c.typed = c.typed || cellType(cell) == typeText && below.number()
		c.timed = c.timed || s.table.kind == TableMeasurements && timesBelow(cell, j, rest)
	}
	return c
}

// otherTable reports whether the names are plainly those of a table, whatever it is given as:
// two ends, coordinates, or shapes.
func otherTable(names []string) bool {
	for _, p := range endPairs(names) {
		if p.rank == rankSure && !p.letters {
			return true
		}
	}
	named := func(role Role) bool {
		return slices.ContainsFunc(names, func(name string) bool { return role.rank(name) == rankSure })
	}
	return named(RoleLat) && named(RoleLon) || slices.ContainsFunc(names, func(name string) bool {
		return slices.Contains([]string{"wkt", "geometry", "geom"}, strings.ToLower(name))
	})
}

// timesBelow reports whether a cell is the name of a time and all cells below it are
// times.
func timesBelow(name string, column int, rest [][]string) bool {
	if RoleTime.rank(name) != rankSure || len(rest) == 0 {
		return false
	}
	var cells []string
	for _, row := range rest {
		if column < len(row) {
			cells = append(cells, row[column])
		}
	}
	_, _, share := detectForm(cells, name)
	return share == 1
}

// namedByOptions reports whether the options name a column by a cell of the first
// row.
func (s *sheet) namedByOptions(first []string, opts Options) bool {
	for _, role := range s.table.roles {
		spec := opts.Columns[role]
		if _, err := strconv.Atoi(spec); err != nil && spec != "" &&
			slices.ContainsFunc(first, func(cell string) bool { return strings.EqualFold(cell, spec) }) {
			return true
		}
	}
	return false
}

// mayBeName reports whether a number in the first row may be the name of a
// column: years in a header that has a known name too, and dates such as 20240131 in one
// of measurements.
func (s *sheet) mayBeName(cell string, first []string) bool {
	_, date := formCompact.parse(cell, false)
	return (len(cell) == 4 || date && s.table.kind == TableMeasurements) && s.table.knows(first)
}

// withoutYears returns the first row with numbers that may be names left empty.
func (s *sheet) withoutYears(first []string) []string {
	out := slices.Clone(first)
	for j, cell := range first {
		if cellType(cell).number() && s.mayBeName(cell, first) {
			out[j] = ""
		}
	}
	return out
}

// recurs reports whether a cell of the first row appears in a later row, as ids do.
func (s *sheet) recurs(first []string, rest [][]string) bool {
	seen := map[string]bool{}
	for _, cell := range first {
		seen[cell] = cell != ""
	}
	for _, row := range rest {
		for _, cell := range row {
			if seen[cell] {
				return true
			}
		}
	}
	return false
}

// numberedAlike reports whether two rows have ids of the same pattern with a
// number in it, such as user-12 and user-7: then neither is a header.
func numberedAlike(a, b []string) bool {
	for j := range min(len(a), len(b)) {
		if p := pattern(a[j]); strings.Contains(p, "9") && p == pattern(b[j]) {
			return true
		}
	}
	return false
}

// pattern replaces each run of digits by one 9, and each run of letters by one a.
func pattern(cell string) string {
	var out []rune
	for _, r := range cell {
		if unicode.IsDigit(r) {
			r = '9'
		} else if unicode.IsLetter(r) {
			r = 'a'
		}
		if len(out) == 0 || out[len(out)-1] != r {
			out = append(out, r)
		}
	}
	return string(out)
}

func quoteAll(cells []string) string {
	out := make([]string, len(cells))
	for i, cell := range cells {
		out[i] = quote([]byte(cell))
	}
	return list(out, "and")
}
