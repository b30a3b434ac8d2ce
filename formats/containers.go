package formats

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// named is a table of a file that may hold several.
type named struct {
	name    string
	columns []string // or the cells of its first row
}

// chooseTable returns which of the tables to read: the one that is asked for, or the only
// one. The noun is what the format calls a table.
func chooseTable(tables []named, want, noun string) (int, error) {
	const most = 12
	ask := func(kind Kind, what string) *Error {
		e := fail(kind, what)
		for _, t := range tables[:min(len(tables), most)] {
			e.Remedies = append(e.Remedies, Remedy{Do: "say which", Option: "Table", Value: t.name})
		}
		return e
	}
	var list []string
	for _, t := range tables[:min(len(tables), most)] {
		text := quote(t.name)
		if columns := slices.DeleteFunc(slices.Clone(t.columns), func(c string) bool { return c == "" }); len(columns) > 0 {
			rest := ""
			if len(columns) > 8 {
				columns, rest = columns[:8], ", …"
			}
			text += " (" + strings.Join(columns, ", ") + rest + ")"
		}
		list = append(list, text)
	}
	if len(tables) > most {
		list = append(list, fmt.Sprintf("and %d more", len(tables)-most))
	}
	switch {
	case len(tables) == 0:
		return 0, fail(Content, fmt.Sprintf("it has no %s with anything in it", noun), "name another file")
	case want != "":
		for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
			if k := slices.IndexFunc(tables, func(t named) bool { return same(t.name, want) }); k >= 0 {
				return k, nil
			}
		}
		return 0, ask(Unknown, fmt.Sprintf("it has no %s %s, but %s", noun, quote(want), strings.Join(list, ", ")))
	case len(tables) > 1:
		return 0, ask(Ambiguous, fmt.Sprintf("it has %d %ss: %s", len(tables), noun, strings.Join(list, ", ")))
	}
	return 0, nil
}

// shortest returns a number as the shortest text that means the same: digits without an
// exponent, as ids have, unless there are very many.
func shortest(v float64, bits int) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return "" // how pandas and others write a missing number
	case a == 0:
		return "0"
	case a >= 1e-6 && a < 1e21:
		return strconv.FormatFloat(v, 'f', -1, bits)
	}
	return strconv.FormatFloat(v, 'g', -1, bits)
}

// mostText bounds the memory that a table of text may take.
const mostText = 16 << 30

// budget counts the memory of a table as it grows.
type budget int64

// take counts the cells of a row, and returns an error if a table is absurdly large.
func (b *budget) take(row []string) error {
	const cell, slice = 16, 24 // bytes of a string and of a slice
	bytes := slice + cell*len(row)
	for _, text := range row {
		bytes += len(text)
	}
	return b.add(bytes)
}

// add counts bytes, and returns an error like take.
func (b *budget) add(bytes int) error {
	if *b += budget(bytes); *b > mostText {
		return tooLarge(fmt.Sprintf("its table needs more than %d GiB of memory", mostText>>30))
	}
	return nil
}

func tooLarge(what string) *Error {
	return fail(Unsupported, what, "write the columns that are needed as CSV")
}

// leftOut is the note about columns that are no text.
func leftOut(columns []string, what string) []string {
	if len(columns) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("columns that hold %s are left out: %s", what, strings.Join(columns, ", "))}
}
