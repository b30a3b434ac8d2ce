package graphio

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"grfgp/graph"
)

// MaxClasses is the largest number of classes. A class column with more distinct values
// is an error: it probably holds names or measurements.
const MaxClasses = 1000

// ClassLabels are classes of some nodes of a graph: node Nodes[k] has the class
// Classes[Class[k]]. Each node appears once, in the order of the file. gp.LabelsOf
// makes them the data of a classifier.
type ClassLabels struct {
	Nodes   []int
	Class   []int
	Classes []string // sorted: as numbers if all are numbers, otherwise as text
	Report  *Report
}

// ReadLabels reads a table of class labels at nodes of g: node and class, which is
// text. Rows with a missing class (empty, NA and the like) and rows with an unknown
// id are counted and skipped. A second, different class of a node is a bad row.
func ReadLabels(ctx context.Context, src Source, g *graph.Graph, opts Options) (*ClassLabels, error) {
	t, err := openTable(ctx, src, labelTable, opts)
	if err != nil {
		return nil, err
	}
	defer t.in.close()
	r := &labelReader{table: t, ids: g.IDs(), treat: opts.Unknown, at: map[int]int{}, number: map[string]int{}}
	r.result.Report = t.report
	if opts.Nodes != nil {
		r.rows = opts.Nodes.rows
	}
	if err := r.choose(opts); err != nil {
		return nil, err
	}
	if err := t.read(ctx, r.row, opts); err != nil {
		return nil, err
	}
	l := &t.report.Ledger
	l.Missing, l.Unknown, l.Repeats = r.missing, r.unknown, r.repeated
	l.Rows = t.lines.rows - r.missing - r.unknown - r.repeated
	if err := l.close(t.in.name); err != nil {
		return nil, err
	}
	t.report.Missing += r.missing
	if err := r.judge(); err != nil {
		return nil, err
	}
	r.sort()
	return &r.result, r.judgeClasses()
}

type labelReader struct {
	table     *table
	ids       *graph.IDs
	id, class int
	told      bool // which column holds classes
	treat     Unknown
	result    ClassLabels
	at        map[int]int    // node → its place in result
	lines     []int64        // of each place
	number    map[string]int // class → its place in result.Classes

	missing, unknown, repeated int64
	words                      unknownIDs // that stand for a missing class
	unknownIDs                 unknownIDs
	scratch                    []byte
	rows                       *rowIDs // of points, whose rows have no ids; nil elsewhere
}

func (r *labelReader) row(line []byte, fields []field, at int64) fault {
	_, id, bad := r.rows.of(r.id, line, fields, at, &r.scratch)
	if bad.reason != noFault {
		return bad
	}
	node, known := r.ids.Lookup(id)
	if !known {
		r.unknown++
		r.unknownIDs.add(id)
		return fault{}
	}
	c := field{start: len(line), end: len(line)}
	if r.class < len(fields) {
		c = fields[r.class]
	}
	class := c.text(line, &r.scratch)
	if r.table.layout.missing.word(class) {
		r.missing++
		if len(class) > 0 {
			r.words.add(class)
		}
		return fault{}
	}
	k, labelled := r.at[node]
	switch {
	case !labelled:
		r.put(node, class, at)
	case r.result.Classes[r.result.Class[k]] == string(class):
		r.repeated++
	default:
		return fault{reason: otherClass, role: RoleClass, start: c.start, end: c.end, count: int(r.lines[k])}
	}
	return fault{}
}

// put records the label of a node.
func (r *labelReader) put(node int, class []byte, at int64) {
	l := &r.result
	c, known := r.number[string(class)]
	if !known {
		c = len(l.Classes)
		l.Classes = append(l.Classes, string(class))
		r.number[string(class)] = c
	}
	r.at[node] = len(l.Nodes)
	r.lines = append(r.lines, at)
	l.Nodes, l.Class = append(l.Nodes, node), append(l.Class, c)
}

// sort puts the classes into an order that does not depend on the order of rows.
func (r *labelReader) sort() {
	l := &r.result
	value, numeric := l.numbers()
	order := make([]int, len(l.Classes))
	for c := range order {
		order[c] = c
	}
	slices.SortFunc(order, func(a, b int) int {
		if numeric && value[a] != value[b] {
			return cmp.Compare(value[a], value[b])
		}
		return strings.Compare(l.Classes[a], l.Classes[b])
	})
	names, place := make([]string, len(order)), make([]int, len(order))
	for to, from := range order {
		names[to], place[from] = l.Classes[from], to
	}
	for k, c := range l.Class {
		l.Class[k] = place[c]
	}
	l.Classes = names
}

// numbers returns the classes as numbers, and whether all of them are.
func (l *ClassLabels) numbers() (value []float64, all bool) {
	for _, name := range l.Classes {
		v, state := parseNumber([]byte(name), false)
		if state == numberDecimal {
			v, state = parseNumber([]byte(name), true)
		}
		if state != numberOK {
			return nil, false
		}
		value = append(value, v)
	}
	return value, true
}

// ClassNumbers returns the data for a classifier (see gp.LabelsOf): the labelled
// nodes, the numbers of their classes, and the number of classes.
func (l *ClassLabels) ClassNumbers() (nodes, class []int, classes int) {
	return l.Nodes, l.Class, len(l.Classes)
}

// Counts returns the number of labels of each class.
func (l *ClassLabels) Counts() []int {
	counts := make([]int, len(l.Classes))
	for _, c := range l.Class {
		counts[c]++
	}
	return counts
}

// judge returns an error about rows that no classifier can use, and adds warnings.
func (r *labelReader) judge() error {
	t := r.table
	switch {
	case len(r.result.Nodes) == 0 && r.unknown > 0 && r.missing == 0:
		return t.in.fail(CodeIDs, fmt.Sprintf("none of its ids, such as %s, is a node of the graph, which has ids such as %s",
			r.unknownIDs.examples(), examples(r.ids, 0)),
			do(r.unknownIDs.hint(r.ids, "the graph")))
	case len(r.result.Nodes) == 0 && r.missing > 0:
		return t.in.fail(CodeContent, "all its classes are missing", do("label some nodes"),
			do("name the column of classes", nameColumn(RoleClass, "")))
	case len(r.result.Nodes) == 0:
		return t.empty()
	}
	t.report.Nodes = len(r.result.Nodes)
	if err := t.judgeUnknown(&r.unknownIDs, r.ids, r.treat); err != nil {
		return err
	}
	if len(r.words.ids) > 0 {
		t.report.warn("words that stand for a missing class: %s; if one of them is a class, write it in another way", r.words.examples())
	}
	return nil
}

// judgeClasses returns an error about classes that look like something else, and
// adds warnings.
func (r *labelReader) judgeClasses() error {
	t, l := r.table, &r.result
	measure := do("read measurements", Setting{Option: OptionReader, Value: "ReadMeasurements"})
	value, numeric := l.numbers()
	switch n := len(l.Classes); {
	case n > MaxClasses && numeric:
		return t.in.fail(CodeContent, fmt.Sprintf("there are %d different numbers, and at most %d classes", n, MaxClasses), measure)
	case n > MaxClasses:
		return t.in.fail(CodeContent, fmt.Sprintf("there are %d classes, such as %s, and at most %d are possible (are these names?)", n,
			l.some(l.Classes), MaxClasses),
			do("name the column of classes", nameColumn(RoleClass, "")))
	case numeric && !r.told && likeAmounts(value, len(l.Nodes)):
		return t.in.fail(CodeAmbiguous, fmt.Sprintf("there are %d different numbers in %s, such as %s: they look like measurements, not like "+
			"classes", n, counted(len(l.Nodes), "label"), l.some(l.Classes)),
			measure, do("take them as classes", nameColumn(RoleClass, t.sheet.nameOf(r.class))))
	case numeric:
		t.report.offer("the classes look like numbers and are taken as names, not as amounts: "+l.some(l.Classes), measure)
	}
	var single, alike []string
	spelled := map[string]string{}
	for c, count := range l.Counts() {
		name := l.Classes[c]
		if count == 1 {
			single = append(single, name)
		}
		folded := strings.ToLower(name)
		if other, ok := spelled[folded]; ok {
			alike = append(alike, other, name)
		}
		spelled[folded] = name
	}
	if len(single) > 0 && len(l.Classes) > 1 {
		t.report.warn("classes with one label: %d, such as %s; little can be learned about them, and nothing if that label is held out",
			len(single), l.some(single))
	}
	if len(alike) > 0 {
		t.report.warn("classes that differ only in upper and lower case: %s; they are taken as different", l.some(alike))
	}
	return nil
}

// some quotes the first few names.
func (l *ClassLabels) some(names []string) string { return quoteAll(names[:min(3, len(names))]) }

// likeAmounts reports whether the classes of so many labels look like measurements:
// some have a fraction, or there are many and few of them recur.
func likeAmounts(values []float64, labels int) bool {
	for _, v := range values {
		if v != math.Trunc(v) {
			return true
		}
	}
	return len(values) > 20 && 5*len(values) > labels
}

// Enough returns an error if all labels are of one class: a classifier needs at
// least two.
func (l *ClassLabels) Enough() error {
	if len(l.Classes) > 1 {
		return nil
	}
	return &Error{Code: CodeContent, Table: TableLabels, File: l.Report.File,
		What:     fmt.Sprintf("all labels are %s: there is nothing to learn from", quoteAll(l.Classes)),
		Remedies: []Remedy{do("label a node of another class"), do("name another column", nameColumn(RoleClass, ""))}}
}

// choose finds the columns of ids and classes.
func (r *labelReader) choose(opts Options) error {
	s := r.table.sheet
	if err := s.refuseEdges(r.ids, opts); err != nil {
		return err
	}
	id, why, err := -1, "", error(nil)
	if r.rows == nil {
		if id, why, err = s.chooseID(RoleNode, r.ids, opts); err != nil {
			return err
		}
	} else {
		r.table.report.Columns = append(r.table.report.Columns, rowColumn)
	}
	used := []usedColumn{{RoleNode, id, why}}
	taken := func(j int) bool { return j == id || r.rows != nil && opts.Nodes.isPlace(s, j) }
	if r.class, why, err = s.chooseClass(taken, opts); err != nil {
		return err
	}
	if r.class == id {
		return s.in.fail(CodeOption, "one column has two roles", do("give different columns for node and class"))
	}
	r.id, r.told = id, why == asTold
	return r.table.use(append(used, usedColumn{RoleClass, r.class, why}), opts)
}

// chooseClass finds the column of classes: as told, by name, or by being the only
// other column.
func (s *sheet) chooseClass(taken func(int) bool, opts Options) (column int, why string, err error) {
	if spec, ok := opts.Columns[RoleClass]; ok {
		column, err = s.column(RoleClass, spec)
		return column, asTold, err
	}
	found, why := s.best(RoleClass, func(j int) bool { return !taken(j) }), "by name"
	if len(found) == 0 {
		why = "the only other column"
		for j := range s.columns {
			if !taken(j) {
				found = append(found, j)
			}
		}
	}
	switch len(found) {
	case 0:
		return 0, "", s.in.fail(CodeContent, "there is no column beside the ids", do("give a table of two columns: node and class"))
	case 1:
		return found[0], why, nil
	}
	return 0, "", s.ask("the class may be in column "+list(s.someOf(found), "or"), RoleClass, found)
}
