package graphio

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// MissingNone, as one of Options.Missing, says that no other number stands for a missing
// value.
const MissingNone = "none"

// missingCodes are the cells that stand for a missing value by the options.
type missingCodes struct {
	texts   []string
	numbers []float64
	none    bool // no other number does
}

func newMissingCodes(codes []string) (m missingCodes) {
	for _, code := range codes {
		if strings.EqualFold(code, MissingNone) {
			m.none = true
			continue
		}
		m.texts = append(m.texts, code)
		if v, state := parseNumber([]byte(code), false); state == numberOK {
			m.numbers = append(m.numbers, v)
		}
	}
	return m
}

// hasText reports whether the cell is one of the codes as text.
func (m *missingCodes) hasText(cell []byte) bool {
	for _, text := range m.texts {
		if text == string(cell) {
			return true
		}
	}
	return false
}

// hasNumber reports whether the value is one of the codes: -9999 is -9999.0 too.
func (m *missingCodes) hasNumber(v float64) bool {
	return len(m.numbers) > 0 && slices.Contains(m.numbers, v)
}

// word is wordState with the codes: whether a cell of text is a missing value.
func (m *missingCodes) word(cell []byte) bool {
	if wordState(cell) == numberMissing || m.hasText(cell) {
		return true
	}
	if len(m.numbers) == 0 {
		return false
	}
	v, state := parseNumber(cell, false)
	return state == numberOK && m.hasNumber(v)
}

// parse is parseNumber with the codes.
func (m *missingCodes) parse(cell []byte, comma bool) (float64, numberState) {
	if m.hasText(cell) {
		return 0, numberMissing
	}
	v, state := parseNumber(cell, comma)
	if state == numberOK && m.hasNumber(v) {
		return 0, numberMissing
	}
	return v, state
}

// A number may stand for a missing value although nobody said so. Values are real data in
// nearly all files, so that the rules are strict.
//
//   - A code is -99, or three nines or more with either sign, as in -999, 9999 or -999.9. It
//     lies farther from every value that is no code than these lie from each other, and it
//     occurs at least twice; a negative one need occur only once if all other values are
//     zero or more. It is an error until somebody says what it means.
//   - Exact zeros stand for missing values if there are at least three of them but fewer than
//     half of all values, all other values are positive, and the least of these is at least
//     half of their median, or more than four times every gap between neighbouring values up
//     to the median. There may be true zeros of this kind, such as stopped cars: it is a
//     warning, to be shown even where little is. Counts have zeros: there is no such rule for them.
const (
	codeRepeats = 2
	zeroRepeats = 3
	zeroGaps    = 4
)

// missingCode reports whether a number is written as codes for missing values are: all
// digits are nines.
func missingCode(v float64) bool {
	digits := strconv.FormatFloat(math.Abs(v), 'f', -1, 64)
	whole, _, _ := strings.Cut(digits, ".")
	return strings.Trim(digits, "9.") == "" && (len(whole) >= 3 || v < 0 && digits == "99")
}

// doubtful is a number that may stand for a missing value.
type doubtful struct {
	value float64
	count int
	line  int64 // the first
}

// doubts collects values for the rules.
type doubts struct {
	codes  []doubtful // few different ones
	zeros  doubtful
	others []float64
}

func (d *doubts) add(v float64, line int64) {
	seen := func(x *doubtful) {
		if x.count++; x.count == 1 {
			x.value, x.line = v, line
		}
	}
	switch {
	case missingCode(v):
		k := slices.IndexFunc(d.codes, func(x doubtful) bool { return x.value == v })
		if k < 0 {
			k = len(d.codes)
			d.codes = append(d.codes, doubtful{})
		}
		seen(&d.codes[k])
	case v == 0:
		seen(&d.zeros)
	default:
		d.others = append(d.others, v)
	}
}

// found returns the codes and the zeros that may stand for missing values, by the rules above.
func (d *doubts) found(counts bool) (codes []doubtful, zeros *doubtful, lo, hi float64) {
	if len(d.others) == 0 {
		return nil, nil, 0, 0
	}
	slices.Sort(d.others)
	lo, hi = d.others[0], d.others[len(d.others)-1]
	least := lo
	if d.zeros.count > 0 {
		least = min(lo, 0)
	}
	for _, c := range d.codes {
		from := max(least-c.value, c.value-max(hi, least))
		if from > max(hi, least)-least && (c.count >= codeRepeats || c.value < 0 && least >= 0) {
			codes = append(codes, c)
		}
	}
	slices.SortFunc(codes, func(a, b doubtful) int { return cmp.Compare(a.value, b.value) })
	if d.zeros.count < zeroRepeats || d.zeros.count >= len(d.others) || lo <= 0 || counts {
		return codes, nil, lo, hi
	}
	middle, gap, different := d.others[len(d.others)/2], 0.0, 1
	for k, v := range d.others[1:] {
		if v > d.others[k] {
			different++
		}
		if v <= middle {
			gap = max(gap, v-d.others[k])
		}
	}
	if different >= zeroRepeats && (lo >= middle/2 || lo > zeroGaps*gap) {
		return codes, &d.zeros, lo, hi
	}
	return codes, nil, lo, hi
}

// judgeCodes is the error about numbers that may stand for missing values; a warning about
// zeros.
func (m *measurementReader) judgeCodes() error {
	t := m.table
	if t.layout.missing.none {
		return nil
	}
	codes, zeros, lo, hi := m.doubts.found(m.counts)
	set := func(value string) Setting { return Setting{Option: OptionMissing, Value: value} }
	real := do("keep them as values", set(MissingNone))
	rest := fmt.Sprintf("all other values lie from %g to %g", lo, hi)
	if zeros != nil {
		what := fmt.Sprintf("%d values are 0 (first on line %d), and %s: do zeros stand for missing values? They are used as values", zeros.count,
			zeros.line, rest)
		t.report.doubt(what, do("count them as missing", set("0")), do("if they are real, say so", set(MissingNone)))
	}
	if len(codes) == 0 {
		return nil
	}
	var parts []string
	missing := do("count them as missing")
	for _, c := range codes {
		parts = append(parts, fmt.Sprintf("%s %s %g (first on line %d)", counted(c.count, "value"),
			map[bool]string{true: "is", false: "are"}[c.count == 1], c.value, c.line))
		missing.Set = append(missing.Set, set(strconv.FormatFloat(c.value, 'f', -1, 64)))
	}
	if len(codes) == 1 && codes[0].count == 1 {
		missing.Do, real.Do = "count it as missing", "keep it as a value"
	}
	return t.in.fail(CodeAmbiguous, fmt.Sprintf("%s, and %s: such numbers often stand for missing values", list(parts, "and"), rest), missing,
		real)
}
