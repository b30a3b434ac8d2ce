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
	Nodes    []int
	Values   []float64
	SD       []float64 // standard deviation of the noise of each value, NaN where it is missing; nil without such a column
	Count    []int     // number of measurements of which each value is the mean
	Scatter  []float64 // sum of squared deviations of these measurements from the value; nil with SD, and for counts
	Time     []float64 // when each value was measured, in TimeUnit; nil unless times are kept
	TimeUnit TimeUnit
	Exposure []float64 // of each count: the expected number, the time or the people at risk; nil unless values are counts
	Tested   []float64 // of each number of positives: how many were tested; nil without such a column
	Report   *Report

	seen valuesSeen // the values as they were read
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
//
// # Coordinates
//
// With opts.Places, a table with coordinates and without ids of the graph is read, too: a
// row belongs to the area that contains it, or to the nearest node within opts.Within
// metres. The report says how far away nodes are.
//
// # Times
//
// With opts.Times, or if opts.Columns names a column of times, every value has its
// time, and only measurements of a node at the same time are repeats. Times are
// numbers, or dates in one of these forms: 2024-01-31, with or without the time of day
// and the zone; 2024/01/31, 2024-01, 2024-W05, 2024-Q1; 31.01.2024; 31 Jan 2024;
// 01/31/2024 if a day above 12 shows which number is the month; 13:45. The table may
// also be wide: times × nodes, with a column of times and one column for each node,
// or nodes × times, with a column of ids and one column for each time. Without opts,
// such a table, and measurements of a node at different times, are an error: their
// mean is no measurement.
//
// # Counts
//
// If opts.Columns names a column of exposures, or one of numbers tested, or with
// opts.Counts, values are counts: whole numbers from 0 on. With [RepeatsMean] the counts
// of repeated measurements are added, and so are their exposures; without a column of
// exposures each measurement has the exposure 1. The sum is enough for Poisson counts
// and for shares; [RepeatsKeep] is for counts that are more dispersed. A row of 0 positives among 0 tested is one
// without a value.
func ReadMeasurements(ctx context.Context, src Source, g *graph.Graph, opts Options) (*Measurements, error) {
	t, err := openTable(ctx, src, measurementTable, opts)
	if err != nil {
		return nil, err
	}
	defer t.in.close()
	m := newMeasurementReader(t, g, opts)
	if err := m.choose(opts); err != nil {
		return nil, err
	}
	row := m.row
	if m.wide != nil {
		row = m.wideRow
	}
	if err := t.read(ctx, row, opts); err != nil {
		return nil, err
	}
	l := &t.report.Ledger
	l.Missing, l.Unknown, l.Repeats = m.missing, m.unknown, m.repeated
	l.Rows = t.lines.rows - m.missing - m.unknown - m.repeated
	if err := l.close(t.in.name); err != nil {
		return nil, err
	}
	t.report.Missing += m.missing + m.gaps
	if m.conflict != nil {
		return nil, m.conflict
	}
	m.finish()
	if err := m.judge(); err != nil {
		return nil, err
	}
	return &m.result, m.judgeCodes()
}

type measurementReader struct {
	table     *table
	ids       *graph.IDs
	treat     Unknown
	repeats   Repeats
	times     Times
	ignoreSD  bool
	counts    bool // values are counts
	id, value int
	near      *nearby // finds nodes by coordinates; nil: by ids
	sd        int     // column, -1 without one
	size      int     // column of exposures or numbers tested, -1 without one
	tested    bool
	time      int         // column, -1 without one
	wide      *wideLayout // nil: one measurement for each row
	watched   []int       // columns of times that are not used
	result    Measurements
	again     []repeatedValue // further measurements of nodes, for their means or sums
	exact     map[int]float64
	weighted  []float64 // mean with weights 1/sd² for each place; the result has the plain one
	sizes     []float64 // exposure or number tested for each place
	at        map[moment]int
	lines     []int64  // of the first measurement of each place
	when      []string // what its row has in the watched columns
	conflict  error    // the first measurement of a node at another time, if times are not used
	differ    bool     // there are such measurements, and they are not averaged

	missing, unknown, repeated int64 // rows
	gaps                       int64 // cells without a value in rows that have one
	unknownIDs                 unknownIDs
	scratch                    []byte
	cells                      []reading
	rows                       *rowIDs // of points, whose rows have no ids; nil elsewhere
	doubts                     doubts
}

// moment is a node at a time; 0 where times are not used. It has one place in the result.
type moment struct {
	node int
	time float64
}

// reading is one measurement of a row.
type reading struct {
	moment
	read            readTime
	value, sd, size float64
	field           field // of the id, or of the value in a wide table
}

// repeatedValue is one more measurement of a moment.
type repeatedValue struct {
	place           int // in result
	value, sd, size float64
}

func newMeasurementReader(t *table, g *graph.Graph, opts Options) *measurementReader {
	m := &measurementReader{table: t, ids: g.IDs(), treat: opts.Unknown, repeats: opts.Repeats, times: opts.Times, ignoreSD: opts.IgnoreSD,
		counts: opts.Counts,
		sd:     -1, size: -1, time: -1, at: map[moment]int{}, exact: map[int]float64{}}
	if opts.Nodes != nil {
		m.rows = opts.Nodes.rows
	}
	if _, told := opts.Columns[RoleTime]; told && m.times == TimesAuto {
		m.times = TimesKeep
	}
	m.result.Report = t.report
	return m
}

// timed reports whether times are used.
func (m *measurementReader) timed() bool { return m.times == TimesKeep || m.times == TimesLatest }

func (m *measurementReader) row(line []byte, fields []field, at int64) fault {
	node, known, f, bad := m.node(line, fields, at)
	if bad.reason != noFault {
		return bad
	}
	value, present, bad := m.table.layout.number(line, fields[m.value], RoleValue, &m.scratch)
	if bad.reason != noFault {
		return bad
	}
	r := reading{moment: moment{node: node}, value: value, sd: math.NaN(), size: 1, field: f}
	for _, read := range []func(*reading, []byte, []field) fault{m.readSD, m.readSize, m.readTime} {
		if bad := read(&r, line, fields); bad.reason != noFault && (present || bad.reason != missingCell) {
			return bad
		}
	}
	switch {
	case !known:
		m.unknown++
		if m.near == nil {
			m.unknownIDs.add(f.text(line, &m.scratch))
		}
	case !present || m.tested && r.size == 0:
		m.missing++
	default:
		if bad := m.refuses(r); bad.reason != noFault {
			return bad
		}
		if m.put(r, at, m.watch(line, fields)) {
			m.repeated++
		}
	}
	return fault{}
}

// node returns the node of the row at a line: by its id, by its coordinates, or by the line
// itself where rows are nodes.
func (m *measurementReader) node(line []byte, fields []field, at int64) (node int, known bool, f field, bad fault) {
	if m.near != nil {
		return m.near.node(&m.table.layout, line, fields, &m.scratch)
	}
	f, id, bad := m.rows.of(m.id, line, fields, at, &m.scratch)
	if bad.reason != noFault {
		return 0, false, f, bad
	}
	node, known = m.ids.Lookup(id)
	return node, known, f, fault{}
}

// readSD reads the standard deviation, if there is such a column.
func (m *measurementReader) readSD(r *reading, line []byte, fields []field) fault {
	if m.sd < 0 || m.sd >= len(fields) {
		return fault{}
	}
	v, ok, bad := m.table.layout.number(line, fields[m.sd], RoleSD, &m.scratch)
	switch {
	case bad.reason != noFault:
		return bad
	case ok && v < 0:
		return fault{reason: negative, role: RoleSD, start: fields[m.sd].start, end: fields[m.sd].end}
	case ok:
		r.sd = v
	default:
		m.table.report.Missing++
	}
	return fault{}
}

// refuses returns the fault of a measurement that may not follow an earlier one of the
// same moment.
func (m *measurementReader) refuses(r reading) fault {
	k, again := m.at[r.moment]
	bad := fault{start: r.field.start, end: r.field.end}
	switch {
	case again && m.repeats == RepeatsError:
		bad.reason, bad.role, bad.count = repeatedMeasurement, RoleNode, int(m.lines[k])
	case again && m.repeats == RepeatsMean && r.sd == 0 && !m.agrees(k, r.value):
		bad.reason, bad.role, bad.count = otherExact, RoleSD, int(m.lines[k])
	}
	return bad
}

// put records a measurement, and reports whether it repeats an earlier one. When is what
// its row has in the watched columns.
func (m *measurementReader) put(r reading, at int64, when string) (repeats bool) {
	out := &m.result
	out.seen.add(r.value)
	m.doubts.add(r.value, at)
	out.TimeUnit.take(r.read)
	k, again := m.at[r.moment]
	if again && when != m.when[k] {
		m.otherTime(r, k, at)
	}
	switch {
	case again && m.repeats == RepeatsLast:
		out.Values[k], out.SD[k], m.weighted[k], m.sizes[k] = r.value, r.sd, r.value, r.size
		return true
	case again && m.repeats == RepeatsMean:
		m.again = append(m.again, repeatedValue{k, r.value, r.sd, r.size})
		return true
	}
	m.at[r.moment] = len(out.Nodes)
	if r.sd == 0 {
		m.agrees(len(out.Nodes), r.value)
	}
	m.lines, m.when = append(m.lines, at), append(m.when, when)
	out.Nodes, out.Values, m.weighted = append(out.Nodes, r.node), append(out.Values, r.value), append(m.weighted, r.value)
	out.SD, out.Count, out.Scatter = append(out.SD, r.sd), append(out.Count, 1), append(out.Scatter, 0)
	out.Time, m.sizes = append(out.Time, r.time), append(m.sizes, r.size)
	return false
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

// average adds all repeats to the means, or to the sums of counts. Those of a node are
// added in the order of their values, so that the result does not depend on the order of
// rows.
func (m *measurementReader) average() {
	r := &m.result
	first := map[int]bool{}
	for _, more := range m.again {
		if k := more.place; !first[k] {
			first[k] = true
			m.again = append(m.again, repeatedValue{k, r.Values[k], r.SD[k], m.sizes[k]})
		}
	}
	order := func(v float64) float64 { // NaN has no order
		if math.IsNaN(v) {
			return -1
		}
		return v
	}
	slices.SortFunc(m.again, func(a, b repeatedValue) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.value, b.value), cmp.Compare(a.size, b.size),
			cmp.Compare(order(a.sd), order(b.sd)))
	})
	for _, more := range m.again {
		if k := more.place; first[k] {
			first[k] = false
			r.Values[k], r.SD[k], m.weighted[k], m.sizes[k] = more.value, more.sd, more.value, more.size
			continue
		}
		if m.counts {
			r.Values[more.place] += more.value
			m.sizes[more.place] += more.size
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
	m.finishTimes()
	m.finishCounts()
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
	if m.near != nil {
		if err := m.near.tell(t, m.treat); err != nil {
			return err
		}
	}
	switch {
	case len(r.Nodes) == 0 && m.unknown > 0:
		return t.in.fail(CodeIDs, fmt.Sprintf("none of its ids, such as %s, is a node of the graph, which has ids such as %s",
			m.unknownIDs.examples(), examples(m.ids, 0)),
			do(m.unknownIDs.hint(m.ids, "the graph")))
	case len(r.Nodes) == 0 && m.missing > 0:
		return t.in.fail(CodeContent, "all its values are missing", do("name the column of values", nameColumn(RoleValue, "")))
	case len(r.Nodes) == 0:
		return t.empty()
	}
	t.report.Nodes = distinct(r.Nodes)
	if m.near == nil {
		if err := t.judgeUnknown(&m.unknownIDs, m.ids, m.treat); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(r.Values, tooLarge) {
		return t.in.fail(CodeContent, "the values of a node are too far apart for their mean to be a number",
			do("give the values in another unit"))
	}
	if slices.ContainsFunc(r.Scatter, tooLarge) {
		return t.in.fail(CodeContent, "the values of a node are too far apart for their variance to be a number", do("correct them"),
			do("give the values in another unit"))
	}
	if slices.ContainsFunc(r.Exposures(), tooLarge) {
		return t.in.fail(CodeContent, "the exposures of a node are too large for their sum to be a number", do("give them in another unit"))
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
// number of measurements behind it, and their scatter (nil if each is single). It is an error if only some
// values have a standard deviation, or if a node has values of different times: see
// Latest, InPeriod and OverTime. Exposures returns the exposures of counts.
func (m *Measurements) Statistics() (nodes []int, values, noiseVar []float64, count []int, scatter []float64, err error) {
	if err := m.severalTimes(); err != nil {
		return nil, nil, nil, nil, nil, err
	}
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
	if scatter = m.Scatter; !slices.ContainsFunc(m.Count, func(n int) bool { return n > 1 }) {
		scatter = nil // single measurements have none
	}
	return m.Nodes, m.Values, noiseVar, m.Count, scatter, nil
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
