package covariate

import (
	"bytes"
	"math"
	"strconv"

	"grfgp/graph"
)

// Parse reads a cell as a number. A word for a missing value, such as NA, is missing.
type Parse func(cell []byte) (v float64, missing, ok bool)

// ParsePoint reads numbers with decimal points. Empty cells and na, n/a, #n/a, nan,
// null, none and - are missing, in upper or lower case.
func ParsePoint(cell []byte) (v float64, missing, ok bool) {
	switch string(bytes.ToLower(cell)) {
	case "", "-", "na", "n/a", "#n/a", "nan", "null", "none":
		return math.NaN(), true, false
	}
	if bytes.ContainsAny(cell, "_xXpPnN") { // what ParseFloat reads beyond decimal numbers
		return 0, false, false
	}
	v, err := strconv.ParseFloat(string(cell), 64)
	if err != nil || math.IsInf(v, 0) {
		return 0, false, false
	}
	return v, false, true
}

// Builder collects the cells of a column, in any order of nodes, and finds out what
// kind of column they make. A node may have several cells, which then are words.
//
// Distinct texts are kept once. A column of many distinct numbers is kept as numbers.
type Builder struct {
	name  string
	parse Parse

	texts *graph.IDs // the distinct cells
	codes []uint32   // per node: 0, or 1 + number of its first text
	check int        // number of texts at which to look for numbers again

	numbers []float64      // per node, instead of codes; nil before the switch
	odd     map[int]string // per node: a cell that is no number
	more    []second       // further cells of nodes
	zeros   bool           // some whole number has a leading zero

	rewritten bool // texts were written by toTexts, with decimal points
}

// second is a further cell of a node.
type second struct {
	node int
	code uint32
}

// firstCheck is the number of distinct texts from which on numbers are kept as such.
const firstCheck = 4096

// share of cells that must be of a kind.
const fits = 0.95

// NewBuilder returns a builder for a column; nil means ParsePoint.
func NewBuilder(name string, parse Parse) *Builder {
	if parse == nil {
		parse = ParsePoint
	}
	return &Builder{name: name, parse: parse, texts: graph.NewIDs(0), check: firstCheck, odd: map[int]string{}}
}

// Detect returns the column of the given cells, one per node; "" is missing.
func Detect(name string, cells []string) Column {
	b := NewBuilder(name, nil)
	for i, cell := range cells {
		b.Add(i, []byte(cell))
	}
	return b.Column(len(cells))
}

// Add takes a cell of a node, which it does not keep. An empty cell is missing.
func (b *Builder) Add(node int, cell []byte) {
	if len(cell) == 0 {
		return
	}
	if b.numbers != nil {
		b.addNumber(node, cell)
		return
	}
	had := b.texts.Len()
	code := uint32(b.texts.Intern(cell) + 1)
	if b.texts.Len() > had && leadingZero(cell) {
		b.zeros = true
	}
	for len(b.codes) <= node {
		b.codes = append(b.codes, 0)
	}
	switch b.codes[node] {
	case 0:
		b.codes[node] = code
	case code:
	default:
		b.more = append(b.more, second{node, code})
	}
	if b.texts.Len() >= b.check {
		b.check *= 2
		b.toNumbers()
	}
}

// leadingZero recognizes codes such as 007.
func leadingZero(cell []byte) bool {
	return len(cell) > 1 && cell[0] == '0' && len(bytes.Trim(cell, "0123456789")) == 0
}

// toNumbers keeps numbers instead of texts if most texts are numbers and no node has two.
func (b *Builder) toNumbers() {
	if b.zeros || len(b.more) > 0 {
		return
	}
	values, count := make([]float64, b.texts.Len()), 0
	for k := range values {
		v, _, ok := b.parse(b.texts.Bytes(k))
		if values[k] = math.NaN(); ok {
			values[k] = v
			count++
		}
	}
	if float64(count) < fits*float64(len(values)) {
		return
	}
	b.numbers = make([]float64, len(b.codes), 2*len(b.codes))
	for i, code := range b.codes {
		b.numbers[i] = math.NaN()
		if code > 0 {
			if b.numbers[i] = values[code-1]; math.IsNaN(b.numbers[i]) {
				b.odd[i] = b.texts.At(int(code - 1))
			}
		}
	}
	b.codes, b.texts = nil, graph.NewIDs(0)
}

// addNumber is Add once numbers are kept.
func (b *Builder) addNumber(node int, cell []byte) {
	for len(b.numbers) <= node {
		b.numbers = append(b.numbers, math.NaN())
	}
	v, _, ok := b.parse(cell)
	if b.numbers[node] == v && ok {
		return
	}
	if _, had := b.odd[node]; had || !math.IsNaN(b.numbers[node]) {
		b.toTexts()
		b.Add(node, cell)
		return
	}
	if leadingZero(cell) {
		b.zeros, ok = true, false
	}
	if ok {
		b.numbers[node] = v
	} else {
		b.odd[node] = string(cell)
	}
}

// toTexts keeps texts again, for good: numbers turn out to be words or codes.
func (b *Builder) toTexts() {
	numbers, odd := b.numbers, b.odd
	b.numbers, b.odd, b.check, b.rewritten = nil, map[int]string{}, math.MaxInt, true
	for i, v := range numbers {
		if !math.IsNaN(v) {
			b.Add(i, []byte(writeNumber(v)))
		} else if cell, ok := odd[i]; ok {
			b.Add(i, []byte(cell))
		}
	}
}

// writeNumber writes whole numbers without an exponent.
func writeNumber(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
