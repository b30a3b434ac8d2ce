package covariate

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"grfgp/internal/enum"
)

// Kind is what the cells of a column are.
type Kind int

// The kinds of columns.
const (
	Number     Kind = iota // numbers
	Category               // one of a few levels
	Date                   // days since 1 January 1970, with fractions for the time of day
	Words                  // a set of words per node
	Identifier             // nearly one value per node: says nothing about other nodes
	Empty                  // no values
)

var kinds = enum.New("kind of column", "number", "category", "date", "words", "identifier", "empty")

// String returns the name of the kind, in lower case.
func (k Kind) String() string { return kinds.Name(int(k)) }

// MarshalText returns the name of the kind.
func (k Kind) MarshalText() ([]byte, error) { return kinds.Marshal(int(k)) }

// UnmarshalText reads the name of a kind.
func (k *Kind) UnmarshalText(text []byte) error { return kinds.Unmarshal((*int)(k), text) }

// Column is one column of the node table. Which of the slices are set depends on the
// kind; they have one entry per node. Columns are not changed once they are made.
type Column struct {
	Name string
	Kind Kind
	Role string // another role of the column in its table, such as "group"; "" for most

	Numbers []float64 // number and date; NaN where missing
	Levels  []string  // category and words: the levels or words, sorted
	Codes   []uint32  // category: 0 where missing, k + 1 for Levels[k]
	Start   []int     // words: those of node i are Items[Start[i]:Start[i+1]], increasing numbers of Levels
	Items   []uint32

	Distinct int      // identifier: how many distinct values there were
	Notes    []string // what was decided when the cells were read
}

// NewNumbers returns a column of numbers; NaN is missing. Infinite numbers count as
// missing too.
func NewNumbers(name string, values []float64) Column {
	c := Column{Name: name, Kind: Number, Numbers: slices.Clone(values)}
	for i, v := range c.Numbers {
		if math.IsInf(v, 0) {
			c.Numbers[i] = math.NaN()
		}
	}
	return c
}

// NewDates returns a column of days since 1 January 1970; NaN is missing.
func NewDates(name string, days []float64) Column {
	c := NewNumbers(name, days)
	c.Kind = Date
	return c
}

// NewCategory returns a column of levels; "" is missing.
func NewCategory(name string, cells []string) Column {
	t := newTexts()
	codes := make([]uint32, len(cells))
	for i, cell := range cells {
		if cell != "" {
			codes[i] = t.code(cell)
		}
	}
	c := Column{Name: name, Kind: Category}
	c.Levels, c.Codes = t.sorted(codes)
	return c
}

// NewWords returns a column of words: cells[i] are those of node i. Order and repeats
// within a node do not matter, and empty words are dropped.
func NewWords(name string, cells [][]string) Column {
	t := newTexts()
	var codes []uint32
	start := make([]int, len(cells)+1)
	for i, words := range cells {
		for _, w := range words {
			if w != "" {
				codes = append(codes, t.code(w))
			}
		}
		start[i+1] = len(codes)
	}
	c := Column{Name: name, Kind: Words}
	c.Levels, codes = t.sorted(codes)
	c.Start, c.Items = wordSets(start, codes)
	return c
}

// wordSets sorts the words of each node, drops repeats, and turns codes from 1 into
// numbers from 0. It reuses codes.
func wordSets(start []int, codes []uint32) ([]int, []uint32) {
	out := codes[:0]
	sets := make([]int, len(start))
	for i := range len(start) - 1 {
		words := codes[start[i]:start[i+1]]
		slices.Sort(words)
		for k, w := range words {
			if w != 0 && (k == 0 || w != words[k-1]) {
				out = append(out, w)
			}
		}
		sets[i+1] = len(out)
	}
	for p := range out {
		out[p]--
	}
	return sets, slices.Clip(out)
}

// texts numbers texts from 1, in the order in which they are first seen.
type texts struct {
	of  map[string]uint32
	all []string
}

func newTexts() *texts { return &texts{of: map[string]uint32{}} }

func (t *texts) code(text string) uint32 {
	k, ok := t.of[text]
	if !ok {
		k = uint32(len(t.all) + 1)
		t.of[text] = k
		t.all = append(t.all, text)
	}
	return k
}

// sorted returns the texts in order, and the codes that they have then.
func (t *texts) sorted(codes []uint32) ([]string, []uint32) { return sortLevels(t.all, codes) }

// sortLevels sorts the levels that codes use, drops the others, and renumbers the codes.
func sortLevels(levels []string, codes []uint32) ([]string, []uint32) {
	used := make([]bool, len(levels))
	for _, c := range codes {
		if c > 0 {
			used[c-1] = true
		}
	}
	order := make([]int, 0, len(levels))
	for k := range levels {
		if used[k] {
			order = append(order, k)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		if levels[a] < levels[b] {
			return -1
		} else if levels[a] > levels[b] {
			return 1
		}
		return 0
	})
	out, to := make([]string, len(order)), make([]uint32, len(levels)+1)
	for rank, k := range order {
		out[rank], to[k+1] = levels[k], uint32(rank+1)
	}
	for i, c := range codes {
		codes[i] = to[c]
	}
	return out, codes
}

// Len returns the number of nodes; -1 for a column that keeps no cells.
func (c Column) Len() int {
	switch c.Kind {
	case Number, Date:
		return len(c.Numbers)
	case Category:
		return len(c.Codes)
	case Words:
		return len(c.Start) - 1
	}
	return -1
}

// Missing returns the number of nodes without a value.
func (c Column) Missing() int {
	n := 0
	for i := range max(0, c.Len()) {
		if !c.Has(i) {
			n++
		}
	}
	return n
}

// Has reports whether node i has a value.
func (c Column) Has(i int) bool {
	switch c.Kind {
	case Number, Date:
		return !math.IsNaN(c.Numbers[i])
	case Category:
		return c.Codes[i] != 0
	case Words:
		return c.Start[i] < c.Start[i+1]
	}
	return false
}

// Pick returns the column for other nodes: row k of the result is row nodes[k], or
// missing if that is negative.
func (c Column) Pick(nodes []int) Column {
	out := c
	switch c.Kind {
	case Number, Date:
		out.Numbers = make([]float64, len(nodes))
		for k, i := range nodes {
			out.Numbers[k] = math.NaN()
			if i >= 0 {
				out.Numbers[k] = c.Numbers[i]
			}
		}
	case Category:
		out.Codes = make([]uint32, len(nodes))
		for k, i := range nodes {
			if i >= 0 {
				out.Codes[k] = c.Codes[i]
			}
		}
	case Words:
		out.Start, out.Items = make([]int, len(nodes)+1), make([]uint32, 0, len(c.Items))
		for k, i := range nodes {
			if i >= 0 {
				out.Items = append(out.Items, c.Items[c.Start[i]:c.Start[i+1]]...)
			}
			out.Start[k+1] = len(out.Items)
		}
	}
	return out
}

// As returns the column as another kind: numbers as a category, a category as words of
// one word each, or levels that are all numbers as numbers.
func (c Column) As(kind Kind) (Column, error) {
	switch {
	case kind == c.Kind:
		return c, nil
	case kind == Category && c.Kind == Number:
		cells := make([]string, len(c.Numbers))
		for i, v := range c.Numbers {
			if !math.IsNaN(v) {
				cells[i] = strconv.FormatFloat(v, 'g', -1, 64)
			}
		}
		return c.renewed(NewCategory(c.Name, cells)), nil
	case kind == Words && c.Kind == Category:
		cells := make([][]string, len(c.Codes))
		for i, k := range c.Codes {
			if k > 0 {
				cells[i] = []string{c.Levels[k-1]}
			}
		}
		return c.renewed(NewWords(c.Name, cells)), nil
	case kind == Number && c.Kind == Category:
		values := make([]float64, len(c.Codes))
		for i, k := range c.Codes {
			values[i] = math.NaN()
			if k == 0 {
				continue
			}
			v, err := strconv.ParseFloat(c.Levels[k-1], 64)
			if err != nil {
				return Column{}, fmt.Errorf("covariate %s cannot be read as numbers: %q is none", c.Name, c.Levels[k-1])
			}
			values[i] = v
		}
		return c.renewed(NewNumbers(c.Name, values)), nil
	}
	return Column{}, fmt.Errorf("covariate %s, of kind %v, cannot be read as %v; numbers can be a category, a category words or numbers",
		c.Name, c.Kind, kind)
}

// renewed gives a column the role of c.
func (c Column) renewed(as Column) Column {
	as.Role = c.Role
	return as
}

// Check returns an error unless the column is whole: slices that fit its kind and the
// number of nodes, finite numbers, levels in order.
func (c Column) Check(nodes int) error {
	bad := func(what string, args ...any) error {
		return fmt.Errorf("covariate %q, of kind %v: %s", c.Name, c.Kind, fmt.Sprintf(what, args...))
	}
	if !kinds.Valid(int(c.Kind)) {
		return bad("there is no such kind")
	}
	if c.Len() >= 0 && c.Len() != nodes || c.Kind == Words && len(c.Start) == 0 {
		return bad("%d rows for %d nodes", max(0, c.Len()), nodes)
	}
	for i, v := range c.Numbers {
		if math.IsInf(v, 0) {
			return bad("node %d has %v", i, v)
		}
	}
	for i, k := range c.Codes {
		if int(k) > len(c.Levels) {
			return bad("node %d has level %d of %d", i, k, len(c.Levels))
		}
	}
	if !slices.IsSorted(c.Levels) || len(slices.Compact(slices.Clone(c.Levels))) != len(c.Levels) {
		return bad("its levels are not sorted or repeat")
	}
	if c.Kind != Words {
		return nil
	}
	if c.Start[0] != 0 || c.Start[nodes] != len(c.Items) || !slices.IsSorted(c.Start) {
		return bad("its rows do not fit its words")
	}
	for i := range nodes {
		words := c.Items[c.Start[i]:c.Start[i+1]]
		for k, w := range words {
			if int(w) >= len(c.Levels) || k > 0 && words[k-1] >= w {
				return bad("the words of node %d do not increase or are not among its %d", i, len(c.Levels))
			}
		}
	}
	return nil
}
