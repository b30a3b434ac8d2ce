package graphio

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// take adjusts the precision to that of one more time.
func (u *TimeUnit) take(r readTime) {
	u.grain, u.zoned = max(u.grain, r.grain), u.zoned || r.zoned
}

// latestTime is the largest number that is a time.
const latestTime = 1e15

// readTime reads the time, if times are used.
func (m *measurementReader) readTime(r *reading, line []byte, fields []field) fault {
	if !m.timed() {
		return fault{}
	}
	f := field{start: len(line), end: len(line)}
	if m.time < len(fields) {
		f = fields[m.time]
	}
	text, unit := f.text(line, &m.scratch), &m.result.TimeUnit
	if wordState(text) == numberMissing {
		return fault{reason: missingCell, role: RoleTime, start: f.start, end: f.end}
	}
	read, ok := unit.form.parse(string(text), unit.comma)
	if !ok || math.Abs(read.at) > latestTime {
		return fault{reason: notTime, role: RoleTime, start: f.start, end: f.end, count: int(unit.form)}
	}
	r.read, r.time = read, read.at
	return fault{}
}

// watch returns what a row has in the columns of times that are not used.
func (m *measurementReader) watch(line []byte, fields []field) string {
	if len(m.watched) == 0 {
		return ""
	}
	var all []byte
	for _, j := range m.watched {
		if j < len(fields) {
			all = append(append(all, fields[j].text(line, &m.scratch)...), 0)
		}
	}
	return string(all)
}

// otherTime notes that a node, which has a place in the result, was measured again at
// another time by a column that is not used. It is an error if nothing says what to do
// then.
func (m *measurementReader) otherTime(r reading, place int, line int64) {
	if m.repeats != RepeatsMean || m.timed() {
		m.differ = true
		return
	}
	if m.conflict != nil {
		return
	}
	on := fmt.Sprintf("on line %d", m.lines[place])
	if m.table.in.unit != "" {
		on = "in " + m.table.in.place(m.lines[place])
	}
	err := m.table.in.fail(CodeAmbiguous, fmt.Sprintf("node %s was measured before, %s, at another time (column %s)",
		quote(m.ids.Bytes(r.node)), on, list(m.table.sheet.namesOf(m.watched), "or")), m.timeRemedies()...)
	var file *Error
	if errors.As(err, &file) {
		file.Line, file.Unit = line, m.table.in.unit
	}
	m.conflict = err
}

// timeRemedies are the ways to treat measurements at different times.
func (m *measurementReader) timeRemedies() (ways []Remedy) {
	set := func(t Times) Setting { return Setting{Option: OptionTimes, Value: string(t)} }
	if len(m.watched) > 1 {
		for _, j := range m.watched {
			ways = append(ways, do("use the times", nameColumn(RoleTime, m.table.sheet.nameOf(j))))
		}
	} else {
		ways = append(ways, do("use the times", set(TimesKeep)))
	}
	return append(ways, do("take the latest of each node", set(TimesLatest)), do("take them as repeats of one value", set(TimesIgnore)))
}

// finishTimes removes times that are not used, and all but the latest values if these
// are asked for.
func (m *measurementReader) finishTimes() {
	r := &m.result
	m.tellDifferent()
	if !m.timed() {
		r.Time, r.TimeUnit = nil, TimeUnit{}
		return
	}
	if m.times != TimesLatest || len(r.Time) == 0 {
		return
	}
	rows, all := latest(r.Nodes, r.Time), len(r.Nodes)
	*r = *r.choose(rows)
	m.weighted, m.sizes = pick(m.weighted, rows), pick(m.sizes, rows)
	m.table.report.warn("of each node the latest values are used: %d of %d, from %s to %s",
		len(rows), all, r.TimeUnit.Format(slices.Min(r.Time)), r.TimeUnit.Format(slices.Max(r.Time)))
}

// tellDifferent warns of measurements at different times that are combined.
func (m *measurementReader) tellDifferent() {
	column := list(m.table.sheet.namesOf(m.watched), "or")
	switch {
	case !m.differ:
	case m.timed():
		m.table.report.warn("measurements of a node that differ in column %s, but not in the column of times, are taken as repeats", column)
	case m.repeats == RepeatsLast:
		m.table.report.offer(
			fmt.Sprintf("nodes were measured at different times (column %s), and the last row of each is used, whatever its time", column),
			m.timeRemedies()...)
	default:
		m.table.report.offer(fmt.Sprintf("nodes were measured at different times (column %s), and their values are taken as repeats", column),
			m.timeRemedies()...)
	}
}

// latest returns the rows of each node's latest time.
func latest(nodes []int, times []float64) (rows []int) {
	last := map[int]float64{}
	for k, i := range nodes {
		if t, seen := last[i]; !seen || times[k] > t {
			last[i] = times[k]
		}
	}
	for k, i := range nodes {
		if times[k] == last[i] {
			rows = append(rows, k)
		}
	}
	return rows
}

// choose returns some of the values, in the order of rows.
func (m *Measurements) choose(rows []int) *Measurements {
	some := *m
	some.Nodes, some.Values, some.SD = pick(m.Nodes, rows), pick(m.Values, rows), pick(m.SD, rows)
	some.Count, some.Scatter, some.Time = pick(m.Count, rows), pick(m.Scatter, rows), pick(m.Time, rows)
	some.Exposure, some.Tested = pick(m.Exposure, rows), pick(m.Tested, rows)
	return &some
}

func pick[T any](all []T, rows []int) []T {
	if all == nil {
		return nil
	}
	some := make([]T, len(rows))
	for k, r := range rows {
		some[k] = all[r]
	}
	return some
}

// Latest returns the values of each node's latest time; m itself without times.
func (m *Measurements) Latest() *Measurements {
	if m.Time == nil {
		return m
	}
	return m.choose(latest(m.Nodes, m.Time))
}

// InPeriod returns the values of one period, without times: the data of a model of that
// period alone.
func (m *Measurements) InPeriod(p *Periods, period int) *Measurements {
	var rows []int
	for k, of := range p.Of {
		if of == period {
			rows = append(rows, k)
		}
	}
	some := m.choose(rows)
	some.Time = nil
	return some
}

// OverTime returns all values, without times, at numbers that stand for a node and a
// period: node i of so many nodes in period p becomes p·nodes + i, as in kernel.OverTime.
func (m *Measurements) OverTime(p *Periods, nodes int) *Measurements {
	all := *m
	all.Time, all.Nodes = nil, slices.Clone(m.Nodes)
	for k, of := range p.Of {
		all.Nodes[k] += of * nodes
	}
	return &all
}

// severalTimes returns an error if a node has values of different times, which are not
// the data of a model without time.
func (m *Measurements) severalTimes() error {
	first := map[int]float64{}
	for k, t := range m.Time {
		i := m.Nodes[k]
		if before, again := first[i]; again && before != t {
			return &Error{Code: CodeContent, Table: TableMeasurements, File: m.Report.File,
				What: fmt.Sprintf("nodes were measured at different times, such as %s and %s, and a model without time has one value for each node",
					m.TimeUnit.Format(before), m.TimeUnit.Format(t)),
				Remedies: []Remedy{do("choose a period"), do("take the latest of each node", Setting{Option: OptionTimes, Value: string(TimesLatest)}),
					do("take them as repeats of one value", Setting{Option: OptionTimes, Value: string(TimesIgnore)})}}
		}
		first[i] = t
	}
	return nil
}

// distinct returns the number of different nodes.
func distinct(nodes []int) int { return len(slices.Compact(slices.Sorted(slices.Values(nodes)))) }

// timeColumns returns the columns that clearly hold times, by what is in them or by name,
// except those that are taken.
func (s *sheet) timeColumns(taken func(column int) bool) (found []int) {
	for j := range s.columns {
		if !taken(j) && s.clearTimes(j) {
			found = append(found, j)
		}
	}
	return found
}

// clearTimes reports whether a column holds dates, or numbers under the name of a time.
func (s *sheet) clearTimes(column int) bool {
	rank, name := rankNone, ""
	if column < len(s.names) {
		name = s.names[column]
		rank = RoleTime.rank(name)
	}
	if s.types[column] == typeEmpty || s.types[column].number() && rank != rankSure {
		return false
	}
	form, _, share := detectForm(s.cellsOf(column), name)
	if rank == rankSure {
		return form != formNone // the rest are bad rows
	}
	return share >= 0.9 && (form != formClock || rank < rankNone)
}

// cellsOf returns the cells of a column in the sample.
func (s *sheet) cellsOf(column int) (cells []string) {
	for _, row := range s.sample {
		if column < len(row) {
			cells = append(cells, row[column])
		}
	}
	return cells
}

// fixForm decides how the times of a column, or the given names of columns, are written.
func (m *measurementReader) fixForm(texts []string, name, where string) error {
	form, other, _ := detectForm(texts, name)
	in := m.table.in
	switch {
	case form == formNone:
		example := slices.IndexFunc(texts, func(text string) bool { return text != "" })
		if example < 0 {
			return in.fail(CodeContent, where+" is empty", do("name the column of times", nameColumn(RoleTime, "")))
		}
		return in.fail(CodeContent, fmt.Sprintf("%s holds no times: %s is neither a number nor a date", where, quote([]byte(texts[example]))),
			do("write dates like 2024-01-31"), do("name the column of times", nameColumn(RoleTime, "")))
	case other != formNone:
		return in.fail(CodeAmbiguous, fmt.Sprintf("in dates such as %s either number may be the month", quote([]byte(texts[0]))),
			do("write dates like 2024-01-31"))
	}
	m.result.TimeUnit.form, m.result.TimeUnit.Dates = form, form.dates()
	return nil
}
