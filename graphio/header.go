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

// findDelimiter takes the delimiter that cuts nearly all lines into equally
// many fields.
func (s *sheet) findDelimiter(rows []numbered) (separator, error) {
	type candidate struct {
		d      separator
		fields int
		share  float64
	}
	var found []candidate
	for _, d := range []separator{byTab, bySemicolon, byPipe, byComma, byBlanks} {
		other := sheet{delim: d}
		cells := make([][]string, len(rows))
		for i, row := range rows {
			cells[i] = trimEmpty(other.cells(row.text))
		}
		if fields, share := mode(cells); fields > 1 {
			found = append(found, candidate{d, fields, share})
		}
	}
	const nearly = 0.9
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
	if best.share < 0.5 {
		return 0, s.in.fail(CodeContent, "its lines have very different numbers of fields",
			do(fmt.Sprintf("put one %s on each line (is it an adjacency list?)", s.in.table.row())), do("name the delimiter", Setting{Option: OptionDelimiter}))
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

// hasHeader decides whether the first row holds names. The rows do not hold
// copies of the first.
func (s *sheet) hasHeader(first []string, rest [][]string, copies int, line int64, opts Options) (bool, error) {
	switch {
	case opts.Header != HeaderAuto:
		return opts.Header == HeaderYes, nil
	case len(trimEmpty(first)) == 0:
		return false, nil
	case s.namedByOptions(first, opts):
		return true, nil
	}
	numeric, typed := false, false
	for j, cell := range first {
		numeric = numeric || cellType(cell).number() && !s.mayBeName(cell, first)
		below := typeEmpty
		for _, row := range rest {
			if j < len(row) {
				below = max(below, cellType(row[j]))
			}
		}
		typed = typed || cellType(cell) == typeText && below.number()
	}
	switch {
	case numeric:
		return false, nil
	case typed:
		return true, nil
	}
	pairs := endPairs(first)
	letters := len(pairs) > 0 && pairs[0].letters && !strings.EqualFold(first[pairs[0].source], "u")
	known := s.table.knows(first) && !letters
	again := s.recurs(first, rest)
	alike := len(rest) > 0 && numberedAlike(first, rest[0])
	switch {
	case known && !again && !alike:
		return true, nil
	case !known && (again || alike || copies > 0), again && alike:
		return false, nil // ids, which recur
	case !known && (len(rest) == 0 || len(first) == 1):
		return false, nil
	}
	// Words above words: names, or the first edge.
	what := fmt.Sprintf("line %d (%s) may be a header or the first %s", line, quoteAll(first), s.in.table.row())
	if again {
		what += ": its words are known names, but one of them stands in a row too"
	}
	return false, s.in.fail(CodeAmbiguous, what,
		do("take it as a header", Setting{Option: OptionHeader, Value: string(HeaderYes)}),
		do("take it as the first "+s.in.table.row(), Setting{Option: OptionHeader, Value: string(HeaderNo)}))
}

// namedByOptions reports whether a column was asked for by a name that stands
// in the first row.
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
// column: years in a header that has a known name too.
func (s *sheet) mayBeName(cell string, first []string) bool {
	return len(cell) == 4 && s.table.knows(first)
}

// recurs reports whether the first row holds something that stands in the same
// rows of data too, as an id does.
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
