package covariate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
)

// Column returns the column of a number of nodes. The builder must not be used afterwards.
func (b *Builder) Column(nodes int) Column {
	if b.numbers != nil {
		if cells := len(b.numbers) - b.noNumbers(); !b.zeros && float64(len(b.odd)) <= (1-fits)*float64(cells) {
			for len(b.numbers) < nodes {
				b.numbers = append(b.numbers, math.NaN())
			}
			c := Column{Name: b.name, Kind: Number, Numbers: slices.Clip(b.numbers)}
			c.tellOdd(b.oddTexts())
			return c.judgeNumbers()
		}
		b.toTexts()
	}
	for len(b.codes) < nodes {
		b.codes = append(b.codes, 0)
	}
	cells := newCells(b)
	c := cells.column()
	c.Notes = append(cells.notes, c.Notes...)
	return c
}

// noNumbers counts the nodes whose cell is missing, in numbers.
func (b *Builder) noNumbers() int {
	n := 0
	for i, v := range b.numbers {
		if math.IsNaN(v) {
			if _, odd := b.odd[i]; !odd {
				n++
			}
		}
	}
	for i, cell := range b.odd {
		if _, missing, _ := b.parse([]byte(cell)); missing {
			delete(b.odd, i)
			n++
		}
	}
	return n
}

// oddTexts returns how often each text occurs that is no number.
func (b *Builder) oddTexts() map[string]int {
	out := map[string]int{}
	for _, cell := range b.odd {
		out[cell]++
	}
	return out
}

// tellOdd notes cells that do not fit the kind and count as missing.
func (c *Column) tellOdd(counts map[string]int) {
	total, example := 0, ""
	for text, n := range counts {
		total += n
		if example == "" || n > counts[example] || n == counts[example] && text < example {
			example = text
		}
	}
	if total > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("%s: %s, such as %q, taken as missing, because the others are %ss", c.Name, counted(total, "cells"),
			brief(example), c.Kind))
	}
}

// brief cuts a long text.
func brief(text string) string {
	if runes := []rune(text); len(runes) > 30 {
		return string(runes[:30]) + "…"
	}
	return text
}

// cells are all cells of a column, as texts.
type cells struct {
	name   string
	texts  []string
	counts []int // cells per text
	value  []float64
	state  []cellState
	codes  []uint32 // per node: 0, or 1 + number of a text
	more   []second
	zeros  bool

	notes   []string
	unclear bool // dates, but whether day or month comes first is not clear
}

// cellState is what a text can be.
type cellState uint8

const (
	isText    cellState = iota
	isNumber            // value holds it
	isMissing           // in a column of numbers
)

func newCells(b *Builder) *cells {
	n := b.texts.Len()
	c := &cells{name: b.name, texts: make([]string, n), counts: make([]int, n), value: make([]float64, n), state: make([]cellState, n),
		codes: b.codes, more: b.more, zeros: b.zeros}
	for k := range n {
		c.texts[k] = b.texts.At(k)
		v, missing, ok := b.parse(b.texts.Bytes(k))
		if !ok && !missing && b.rewritten {
			v, missing, ok = ParsePoint(b.texts.Bytes(k))
		}
		switch {
		case missing:
			c.state[k] = isMissing
		case ok:
			c.value[k], c.state[k] = v, isNumber
		}
	}
	for _, code := range c.codes {
		if code > 0 {
			c.counts[code-1]++
		}
	}
	c.more = slices.DeleteFunc(c.more, func(s second) bool { // 1.0 and 1.00 are one value
		first := c.codes[s.node] - 1
		return c.state[first] == isNumber && c.state[s.code-1] == isNumber && c.value[first] == c.value[s.code-1] && !c.zeros
	})
	for _, s := range c.more {
		c.counts[s.code-1]++
	}
	return c
}

// share returns the share of cells whose texts satisfy is, among those that do not satisfy skip.
func (c *cells) share(is, skip func(k int) bool) float64 {
	yes, all := 0, 0
	for k, n := range c.counts {
		switch {
		case skip(k):
		case is(k):
			yes += n
			all += n
		default:
			all += n
		}
	}
	if all == 0 {
		return 0
	}
	return float64(yes) / float64(all)
}

// column decides on the kind.
func (c *cells) column() Column {
	missing := func(k int) bool { return c.state[k] == isMissing }
	number := func(k int) bool { return c.state[k] == isNumber }
	whole := func(k int) bool { return number(k) && c.value[k] == math.Trunc(c.value[k]) }
	if c.share(func(k int) bool { return !missing(k) }, func(int) bool { return false }) == 0 && !c.hasNone() {
		return Column{Name: c.name, Kind: Empty}
	}
	days, dated := c.dates()
	c.singles(c.share(number, missing) >= fits || dated)
	switch numbers := c.share(number, missing) >= fits; {
	case len(c.more) > 0 && (numbers && c.share(whole, missing) < 1 || dated):
		return Column{Name: c.name, Kind: Empty, Notes: []string{
			fmt.Sprintf("%s: left out: nodes have several values each, on several rows, and these are not words", c.name)}}
	case len(c.more) > 0:
		return c.long()
	case dated:
		return c.dateColumn(days)
	case numbers && !(c.zeros && c.share(whole, missing) == 1):
		return c.numberColumn()
	}
	return c.textColumn()
}

// Shares of nodes with several values from which on a column is a list of words, for
// texts and for numbers. Below, several values are a contradiction.
const (
	listsOfTexts   = 0.05
	listsOfNumbers = 0.5
)

// singles drops the values of nodes that have several, unless these are lists.
func (c *cells) singles(numbers bool) {
	several := map[int]bool{}
	for _, s := range c.more {
		several[s.node] = true
	}
	present := 0
	for _, code := range c.codes {
		if code > 0 {
			present++
		}
	}
	least := listsOfTexts
	if numbers {
		least = listsOfNumbers
	}
	if len(several) == 0 || float64(len(several)) >= least*float64(present) {
		return
	}
	for _, s := range c.more {
		c.counts[s.code-1]--
	}
	for node := range several {
		c.counts[c.codes[node]-1]--
		c.codes[node] = 0
	}
	c.more = nil
	c.notes = append(c.notes, fmt.Sprintf("%s: %s with several values, taken as missing", c.name, counted(len(several), "nodes")))
}

// hasNone reports whether there is a cell "none", a level in text.
func (c *cells) hasNone() bool {
	return slices.ContainsFunc(c.texts, func(t string) bool { return strings.EqualFold(t, "none") })
}

// absent reports whether a text is missing in a column of text: as in numbers, but
// "none" is a level.
func (c *cells) absent(k int) bool {
	return c.state[k] == isMissing && !strings.EqualFold(c.texts[k], "none")
}

func (c *cells) numberColumn() Column {
	out := Column{Name: c.name, Kind: Number, Numbers: make([]float64, len(c.codes))}
	odd := map[string]int{}
	for i, code := range c.codes {
		out.Numbers[i] = math.NaN()
		if code == 0 {
			continue
		}
		switch c.state[code-1] {
		case isNumber:
			out.Numbers[i] = c.value[code-1]
		case isText:
			odd[c.texts[code-1]]++
		}
	}
	out.tellOdd(odd)
	return out.judgeNumbers()
}

// Words in the name of a column of whole numbers that say what the numbers are.
var (
	codeWords = strings.Fields("type types class kind category cat code mode status group zone cluster region sector month weekday dow")
	dateWords = strings.Fields("date day datum")
	idWords   = strings.Fields("id ids uid guid uuid osmid index idx key fid objectid ref")
)

// The rules for whole numbers: levels at most, cells per level at least; and from how many
// cells on numbers that all differ may be ids.
const (
	codesAtMost   = 50
	cellsPerLevel = 10
	idsFrom       = 20
)

// judgeNumbers decides whether numbers are levels or ids.
func (c Column) judgeNumbers() Column {
	if slices.ContainsFunc(c.Numbers, func(v float64) bool { return v != math.Trunc(v) && !math.IsNaN(v) }) {
		return c
	}
	values := make([]float64, 0, len(c.Numbers))
	for _, v := range c.Numbers {
		if !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	cells := len(values)
	values = slices.Compact(values)
	low, high := 0.0, 0.0
	if len(values) > 0 {
		low, high = values[0], values[len(values)-1]
	}
	named := nameWords(c.Name)
	switch {
	case len(values) == 2 && low == 0 && high == 1:
		return c.asLevels("")
	case len(values) > 1 && len(values) <= codesAtMost && cells >= cellsPerLevel*len(values) && anyWord(named, codeWords):
		return c.asLevels(fmt.Sprintf("%s: whole numbers taken as levels, by its name", c.Name))
	case cells >= idsFrom && len(values) == cells && (high-low == float64(cells-1) || anyWord(named, idWords)):
		return Column{Name: c.Name, Kind: Identifier, Distinct: len(values), Notes: c.Notes}
	case len(values) > 0 && anyWord(named, dateWords):
		if days, ok := compactDates(c.Numbers); ok {
			c.Kind, c.Numbers = Date, days
		}
	}
	return c
}

// asLevels turns numbers into a category.
func (c Column) asLevels(note string) Column {
	out, _ := c.As(Category)
	out.Notes = c.Notes
	if note != "" {
		out.Notes = append(out.Notes, note)
	}
	return out
}

// nameWords cuts a name into lower-case words: "LinkType_2" is link, type, 2.
func nameWords(name string) []string {
	var out []string
	word, lower := []rune{}, false
	flush := func() {
		if len(word) > 0 {
			out = append(out, strings.ToLower(string(word)))
		}
		word = word[:0]
	}
	for _, r := range name {
		if !unicode.IsLetter(r) || unicode.IsUpper(r) && lower {
			flush()
		}
		if unicode.IsLetter(r) {
			word = append(word, r)
		}
		lower = unicode.IsLower(r)
	}
	flush()
	return out
}

func anyWord(words, of []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(of, w) })
}

// long returns the words of a table in which nodes repeat.
func (c *cells) long() Column {
	lists := make([][]uint32, len(c.codes))
	add := func(node int, code uint32) {
		if !c.absent(int(code - 1)) {
			lists[node] = append(lists[node], code)
		}
	}
	for i, code := range c.codes {
		if code > 0 {
			add(i, code)
		}
	}
	for _, s := range c.more {
		add(s.node, s.code)
	}
	out := Column{Name: c.name, Kind: Words}
	start, codes := make([]int, len(lists)+1), []uint32(nil)
	for i, list := range lists {
		codes = append(codes, list...)
		start[i+1] = len(codes)
	}
	out.Levels, codes = sortLevels(c.texts, codes)
	out.Start, out.Items = wordSets(start, codes)
	return out
}

// textColumn decides between yes and no, words, category and identifier.
func (c *cells) textColumn() Column {
	present, distinct := 0, 0
	for k, n := range c.counts {
		if n > 0 && !c.absent(k) {
			present += n
			distinct++
		}
	}
	if yesNo, ok := c.yesNo(); ok {
		return yesNo
	}
	if c.unclear {
		return Column{Name: c.name, Kind: Empty, Notes: []string{
			fmt.Sprintf("%s: left out: dates such as %s do not tell day from month; write them as 2024-05-31", c.name, brief(slices.Min(c.texts)))}}
	}
	for _, sep := range []string{";", "|"} {
		if split := func(text string) []string { return strings.Split(text, sep) }; c.areLists(split, present, 0.1) {
			return c.split(split)
		}
	}
	switch {
	case 2*distinct <= present+2:
		return c.category()
	case c.areLists(strings.Fields, present, 0.5):
		return c.split(strings.Fields)
	}
	return Column{Name: c.name, Kind: Identifier, Distinct: distinct}
}

func (c *cells) category() Column {
	out := Column{Name: c.name, Kind: Category}
	for i, code := range c.codes {
		if code > 0 && c.absent(int(code-1)) {
			c.codes[i] = 0
		}
	}
	out.Levels, out.Codes = sortLevels(c.texts, c.codes)
	return out
}

// yesNo recognizes yes and no in their common forms.
func (c *cells) yesNo() (Column, bool) {
	form := make([]string, len(c.texts))
	yes, no := false, false
	for k, text := range c.texts {
		switch strings.ToLower(text) {
		case "yes", "y", "true", "t":
			form[k], yes = "yes", true
		case "no", "n", "false", "f":
			form[k], no = "no", true
		default:
			if !c.absent(k) {
				return Column{}, false
			}
		}
	}
	if !yes || !no {
		return Column{}, false
	}
	cells := make([]string, len(c.codes))
	for i, code := range c.codes {
		if code > 0 {
			cells[i] = form[code-1]
		}
	}
	return NewCategory(c.name, cells), true
}

// Lists of words: the longest mean length, in letters, and the least number of nodes
// that a word is in on average.
const (
	longWord  = 15
	perWord   = 2
	fewTokens = 2
)

// areLists reports whether at least a share of cells are lists of several short words
// that return in other cells.
func (c *cells) areLists(split func(string) []string, present int, least float64) bool {
	if float64(c.several(split)) < max(1, least*float64(present)) {
		return false
	}
	words, letters := 0, 0
	seen := map[string]bool{}
	for k, text := range c.texts {
		if c.counts[k] == 0 || c.absent(k) {
			continue
		}
		n := 0
		for _, w := range split(text) {
			if w = strings.TrimSpace(w); w != "" {
				seen[w] = true
				n++
				letters += c.counts[k] * len([]rune(w))
			}
		}
		words += n * c.counts[k]
	}
	return words >= perWord*len(seen) && letters <= longWord*words
}

// several counts the cells of several words.
func (c *cells) several(split func(string) []string) int {
	n := 0
	for k, text := range c.texts {
		if c.counts[k] == 0 || c.absent(k) || !strings.ContainsAny(text, ";| \t") {
			continue
		}
		words := slices.DeleteFunc(split(text), func(w string) bool { return strings.TrimSpace(w) == "" })
		if len(words) >= fewTokens {
			n += c.counts[k]
		}
	}
	return n
}

// split returns the column of words.
func (c *cells) split(split func(string) []string) Column {
	t := newTexts()
	of := make([][]uint32, len(c.texts))
	for k, text := range c.texts {
		if c.absent(k) {
			continue
		}
		for _, w := range split(text) {
			if w = strings.TrimSpace(w); w != "" {
				of[k] = append(of[k], t.code(w))
			}
		}
	}
	start, codes := make([]int, len(c.codes)+1), []uint32(nil)
	for i, code := range c.codes {
		if code > 0 {
			codes = append(codes, of[code-1]...)
		}
		start[i+1] = len(codes)
	}
	out := Column{Name: c.name, Kind: Words}
	out.Levels, codes = t.sorted(codes)
	out.Start, out.Items = wordSets(start, codes)
	return out
}
