package graphio

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"grfgp/graph"
)

// Repeats is the treatment of repeated measurements of a node.
type Repeats string

// The choices for repeats.
const (
	RepeatsMean  Repeats = ""      // one value: their mean, with their number and scatter
	RepeatsKeep  Repeats = "keep"  // one value each
	RepeatsLast  Repeats = "last"  // one value: the last measurement
	RepeatsError Repeats = "error" // the second measurement of a node is a bad row
)

// Measurements are values at some nodes of a graph: Values[k] was measured at
// node Nodes[k]. Nodes come in the order in which they are first seen. gp.DataOf
// makes them the data of a model.
type Measurements struct {
	Nodes   []int
	Values  []float64
	SD      []float64 // standard deviation of the noise of each value, NaN where it is missing; nil without such a column
	Count   []int     // number of measurements of which each value is the mean
	Scatter []float64 // sum of squared deviations of these measurements from the value; nil with SD
	Report  *Report
}

// ReadMeasurements reads a table of measurements at nodes of g: node, value and an
// optional sd, the standard deviation of the noise. Rows with a missing value and
// rows with an unknown id are counted and skipped.
//
// With [RepeatsMean], measurements of one node with standard deviations s_i become
// their mean with weights 1/s_i², which has the standard deviation 1/√(Σ 1/s_i²). A
// measurement with sd 0 is exact: it is the value of the node, and a second, different
// exact measurement is a bad row. If one of the measurements has no sd, or if
// opts.IgnoreSD is set, weights are equal and the mean has no sd.
func ReadMeasurements(ctx context.Context, src Source, g *graph.Graph, opts Options) (*Measurements, error) {
	t, err := openTable(ctx, src, measurementTable, opts)
	if err != nil {
		return nil, err
	}
	defer t.in.close()
	m := &measurementReader{table: t, ids: g.IDs(), repeats: opts.Repeats, ignoreSD: opts.IgnoreSD, sd: -1, at: map[int]int{}, exact: map[int]float64{}}
	m.result.Report = t.report
	if err := m.choose(opts); err != nil {
		return nil, err
	}
	if err := t.read(ctx, m.row, opts); err != nil {
		return nil, err
	}
	l := &t.report.Ledger
	l.Missing, l.Unknown, l.Repeats = m.missing, m.unknown, m.repeated
	l.Rows = t.lines.rows - m.missing - m.unknown - m.repeated
	if err := l.close(t.in.name); err != nil {
		return nil, err
	}
	t.report.Missing += m.missing
	m.finish()
	return &m.result, m.judge()
}

type measurementReader struct {
	table     *table
	ids       *graph.IDs
	repeats   Repeats
	ignoreSD  bool
	id, value int
	sd        int // column, -1 without one
	result    Measurements
	again     []repeatedValue // further measurements of nodes, for their means
	exact     map[int]float64
	weighted  []float64   // mean with weights 1/sd² for each place; the result has the plain one
	at        map[int]int // node → its place in result
	lines     []int64     // of the first measurement of each place

	missing, unknown, repeated int64
	unknownIDs                 unknownIDs
	scratch                    []byte
}

// repeatedValue is one more measurement of a node.
type repeatedValue struct {
	place     int // in result
	value, sd float64
}

func (m *measurementReader) row(line []byte, fields []field, at int64) fault {
	f := fields[m.id]
	id := f.text(line, &m.scratch)
	if len(id) == 0 {
		return fault{reason: emptyID, role: RoleNode, start: f.start, end: f.end}
	}
	node, known := m.ids.Lookup(id)
	value, present, bad := m.table.layout.number(line, fields[m.value], RoleValue, &m.scratch)
	if bad.reason != noFault {
		return bad
	}
	sd := math.NaN()
	if m.sd >= 0 && m.sd < len(fields) {
		v, ok, bad := m.table.layout.number(line, fields[m.sd], RoleSD, &m.scratch)
		switch {
		case bad.reason != noFault:
			return bad
		case ok && v < 0:
			return fault{reason: negative, role: RoleSD, start: fields[m.sd].start, end: fields[m.sd].end}
		case ok:
			sd = v
		default:
			m.table.report.Missing++
		}
	}
	switch {
	case !known:
		m.unknown++
		m.unknownIDs.add(f.text(line, &m.scratch))
	case !present:
		m.missing++
	default:
		return m.put(node, value, sd, f, at)
	}
	return fault{}
}

// put records a measurement.
func (m *measurementReader) put(node int, value, sd float64, f field, at int64) fault {
	r := &m.result
	k, again := m.at[node]
	switch {
	case again && m.repeats == RepeatsError:
		return fault{reason: repeatedMeasurement, role: RoleNode, start: f.start, end: f.end, count: int(m.lines[k])}
	case again && m.repeats == RepeatsMean && sd == 0 && !m.agrees(k, value):
		return fault{reason: otherExact, role: RoleSD, start: f.start, end: f.end, count: int(m.lines[k])}
	case again && m.repeats == RepeatsLast:
		r.Values[k], r.SD[k], m.weighted[k] = value, sd, value
		m.repeated++
		return fault{}
	case again && m.repeats == RepeatsMean:
		m.again = append(m.again, repeatedValue{k, value, sd})
		m.repeated++
		return fault{}
	}
	m.at[node] = len(r.Nodes)
	if sd == 0 {
		m.agrees(len(r.Nodes), value)
	}
	m.lines = append(m.lines, at)
	r.Nodes, r.Values, m.weighted = append(r.Nodes, node), append(r.Values, value), append(m.weighted, value)
	r.SD, r.Count, r.Scatter = append(r.SD, sd), append(r.Count, 1), append(r.Scatter, 0)
	return fault{}
}

// agrees records the exact value of a place and reports whether it equals an
// earlier one, if there is one.
func (m *measurementReader) agrees(k int, value float64) bool {
	if m.ignoreSD {
		return true
	}
	if before, known := m.exact[k]; known {
		return before == value
	}
	m.exact[k] = value
	return true
}

// average adds all repeats to the means. Those of a node are added in the order of
// their values, so that the result does not depend on the order of rows.
func (m *measurementReader) average() {
	r := &m.result
	first := map[int]bool{}
	for _, more := range m.again {
		if k := more.place; !first[k] {
			first[k] = true
			m.again = append(m.again, repeatedValue{k, r.Values[k], r.SD[k]})
		}
	}
	order := func(v float64) float64 { // NaN has no order
		if math.IsNaN(v) {
			return -1
		}
		return v
	}
	slices.SortFunc(m.again, func(a, b repeatedValue) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.value, b.value), cmp.Compare(order(a.sd), order(b.sd)))
	})
	for _, more := range m.again {
		if k := more.place; first[k] {
			first[k] = false
			r.Values[k], r.SD[k], m.weighted[k] = more.value, more.sd, more.value
			continue
		}
		m.add(more.place, more.value, more.sd)
	}
}

// add updates the means of place k by one more measurement.
func (m *measurementReader) add(k int, value, sd float64) {
	r := &m.result
	r.Count[k]++
	before := r.Values[k]
	r.Values[k] += (value - before) / float64(r.Count[k])
	r.Scatter[k] += (value - before) * (value - r.Values[k])
	if sd == 0 && r.SD[k] == 0 {
		return // the same exact value again
	}
	// Inverse-variance weights of two values: a² = s₂²/(s₁²+s₂²), b² = s₁²/(s₁²+s₂²).
	both := math.Hypot(r.SD[k], sd)
	a, b := sd/both, r.SD[k]/both
	m.weighted[k] = a*a*m.weighted[k] + b*b*value
	r.SD[k] = b * sd
}

// finish keeps the weighted means where sds are known, the plain ones elsewhere.
func (m *measurementReader) finish() {
	m.average()
	r := &m.result
	if m.sd < 0 || m.ignoreSD {
		r.SD = nil
		return
	}
	r.Scatter = nil
	for k, sd := range r.SD {
		if sd >= 0 { // not missing
			r.Values[k] = m.weighted[k]
		}
	}
}

// judge returns an error about values that no model can use, and adds warnings.
func (m *measurementReader) judge() error {
	t, r := m.table, &m.result
	l := t.report.Ledger
	switch {
	case len(r.Nodes) == 0 && m.unknown > 0:
		return t.in.fail(CodeIDs, fmt.Sprintf("none of its ids, such as %s, is a node of the graph, which has ids such as %s", m.unknownIDs.examples(), examples(m.ids, 0)),
			do(m.unknownIDs.hint(m.ids, "the graph")))
	case len(r.Nodes) == 0 && m.missing > 0:
		return t.in.fail(CodeContent, "all its values are missing", do("name the column of values", nameColumn(RoleValue, "")))
	case len(r.Nodes) == 0:
		return t.empty()
	}
	t.report.Nodes = len(m.at)
	if m.unknown > 0 {
		t.report.warn("rows whose ids are not in the graph: %d, such as %s", m.unknown, m.unknownIDs.examples())
		if few := 2*m.unknown > l.Rows+l.Repeats+l.Missing+l.Unknown; few || m.unknownIDs.countFromZero(m.ids) {
			t.report.warn("%s", m.unknownIDs.hint(m.ids, "the graph"))
		}
	}
	if slices.ContainsFunc(r.Values, tooLarge) {
		return t.in.fail(CodeContent, "the values of a node are too far apart for their mean to be a number", do("give the values in another unit"))
	}
	if slices.ContainsFunc(r.Scatter, tooLarge) {
		return t.in.fail(CodeContent, "the values of a node are too far apart for their variance to be a number", do("correct them"), do("give the values in another unit"))
	}
	if what := r.idle(); what != "" {
		t.report.warn("%s", what)
	}
	return nil
}

// tooLarge reports whether a value is infinite or NaN.
func tooLarge(v float64) bool { return !(math.Abs(v) <= math.MaxFloat64) }

// Statistics returns the data for a model (see gp.DataOf): for each value its node,
// the variance sd² of its noise (nil without a column of standard deviations), the
// number of measurements behind it, and their scatter. It is an error if only some
// values have a standard deviation.
func (m *Measurements) Statistics() (nodes []int, values, noiseVar []float64, count []int, scatter []float64, err error) {
	missing := 0
	for _, sd := range m.SD {
		noiseVar = append(noiseVar, sd*sd)
		if !(sd >= 0) {
			missing++
		}
	}
	if missing > 0 {
		return nil, nil, nil, nil, nil, &Error{Code: CodeContent, Table: TableMeasurements, File: m.Report.File,
			What:     fmt.Sprintf("%d of %d values have no sd, or are means of measurements of which some have no sd", missing, len(m.SD)),
			Remedies: []Remedy{do("fill them in"), do("leave these rows out"), do("take the column out of the file")}}
	}
	return m.Nodes, m.Values, noiseVar, m.Count, m.Scatter, nil
}

// Enough returns an error if a model cannot learn its mean and noise from the
// measurements: there is only one measured node, or all values are equal. There
// is no error if both are known; standard deviations of the values count as known
// noise. The arguments say whether the mean and the noise are known.
func (m *Measurements) Enough(mean, noise bool) error {
	if what := m.idle(); what != "" && !(mean && (noise || m.SD != nil)) {
		return &Error{Code: CodeContent, Table: TableMeasurements, File: m.Report.File, What: what,
			Remedies: []Remedy{do("measure more nodes"), do("name another column", nameColumn(RoleValue, ""))}}
	}
	return nil
}

// idle returns why nothing can be learned, "" if something can.
func (m *Measurements) idle() string {
	switch {
	case !slices.ContainsFunc(m.Nodes, func(node int) bool { return node != m.Nodes[0] }):
		return "only one node was measured: there is nothing to learn from unless mean and noise are known"
	case slices.Min(m.Values) == slices.Max(m.Values) && (m.Scatter == nil || slices.Max(m.Scatter) == 0):
		return fmt.Sprintf("all values are %g: there is nothing to learn from unless mean and noise are known", m.Values[0])
	}
	return ""
}

// choose finds the columns of ids, values and standard deviations.
func (m *measurementReader) choose(opts Options) error {
	s := m.table.sheet
	id, why, err := s.chooseID(RoleNode, m.ids, opts)
	if err != nil {
		return err
	}
	used := []usedColumn{{RoleNode, id, why}}
	with, err := s.chooseOptional(used, []Role{RoleSD}, opts)
	if err != nil {
		return err
	}
	if len(with) > 1 {
		m.sd = with[1].column
	}
	value, why, err := s.chooseValue(id, m.sd, opts)
	if err != nil {
		return err
	}
	if value == id || m.sd == id || m.sd == value {
		return s.in.fail(CodeOption, "one column has two roles", do("give different columns for node, value and sd"))
	}
	m.id, m.value = id, value
	used = append([]usedColumn{used[0], {RoleValue, value, why}}, with[1:]...)
	if err := m.table.use(used, opts); err != nil {
		return err
	}
	m.table.layout.needed = max(id, value) + 1
	return nil
}

// chooseValue finds the column of values: as told, by name, or because it is the
// only other column of numbers. If no column holds numbers only, one with mostly
// numbers is taken, and its other cells are bad rows.
func (s *sheet) chooseValue(id, sd int, opts Options) (column int, why string, err error) {
	if spec, ok := opts.Columns[RoleValue]; ok {
		column, err = s.column(RoleValue, spec)
		return column, asTold, err
	}
	coordinates := len(s.best(RoleX, func(int) bool { return true })) > 0
	named := func(fits func(j int) bool) []int {
		return s.best(RoleValue, func(j int) bool {
			return j != id && j != sd && !(coordinates && RoleY.rank(s.names[j]) == rankSure) && fits(j)
		})
	}
	others := func(fits func(j int) bool) (all []int) {
		for j := range s.types {
			if j != id && j != sd && !s.noValue(j) && fits(j) {
				all = append(all, j)
			}
		}
		return all
	}
	number := func(j int) bool { return s.types[j].number() }
	why = "by name"
	found := named(func(j int) bool { return number(j) || RoleValue.rank(s.names[j]) == rankSure })
	if len(found) == 0 {
		found = named(s.mostlyNumbers)
	}
	if len(found) == 0 {
		why, found = "the only other column of numbers", others(number)
	}
	if len(found) == 0 {
		why, found = "the only other column that is mostly numbers", others(s.mostlyNumbers)
	}
	switch len(found) {
	case 0:
		if s.names != nil && len(s.sample) == 0 {
			return 0, "", s.in.fail(CodeEmpty, fmt.Sprintf("it contains no %ss, only a header", s.in.table.row()), otherFile)
		}
		return 0, "", s.in.fail(CodeContent, "there is no column of numbers beside the ids, among "+s.describe(nil), do("name the column of values", nameColumn(RoleValue, "")))
	case 1:
		return found[0], why, nil
	}
	return 0, "", s.ask("the value may be "+list(s.namesOf(found), "or"), RoleValue, found)
}

// mostlyNumbers reports whether more cells of a column are numbers than text.
func (s *sheet) mostlyNumbers(column int) bool {
	numbers, texts := 0, 0
	for _, row := range s.sample {
		if column >= len(row) {
			continue
		}
		switch t := cellType(row[column]); {
		case t.number():
			numbers++
		case t == typeText:
			texts++
		}
	}
	return numbers > texts
}

// noValue reports whether the name of a column says that it holds no values.
func (s *sheet) noValue(column int) bool {
	if column >= len(s.names) {
		return false
	}
	name := s.names[column]
	for _, role := range []Role{RoleNode, RoleLat, RoleLon, RoleSD} {
		if role.rank(name) < rankNone {
			return true
		}
	}
	return anyOf(words(name), timeWords) || anyOf(words(name), notSDs)
}
