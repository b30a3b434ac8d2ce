package graphio

import (
	"fmt"
	"math"
	"strings"
)

// countWords are names of columns of counts.
var countWords = strings.Fields("case cases death deaths positive positives incident incidents")

// readSize reads the exposure or the number tested, if there is such a column, and checks
// that the value is a count.
func (m *measurementReader) readSize(r *reading, line []byte, fields []field) fault {
	if !m.counts {
		return fault{}
	}
	value := fields[m.value]
	if r.value < 0 || r.value != math.Trunc(r.value) {
		return fault{reason: notCount, role: RoleValue, start: value.start, end: value.end}
	}
	if m.size < 0 {
		return fault{}
	}
	role, f := RoleExposure, field{start: len(line), end: len(line)}
	if m.tested {
		role = RoleTested
	}
	if m.size < len(fields) {
		f = fields[m.size]
	}
	v, present, bad := m.table.layout.number(line, f, role, &m.scratch)
	reason := noFault
	switch {
	case bad.reason != noFault:
		return bad
	case !present:
		reason = missingCell
	case m.tested && (v < 0 || v != math.Trunc(v)):
		reason = notCount
	case m.tested && r.value > v:
		return fault{reason: aboveTested, role: RoleValue, start: value.start, end: value.end, count: int(min(v, latestTime))}
	case !m.tested && v <= 0:
		reason = notPositive
	}
	r.size = v
	return fault{reason: reason, role: role, start: f.start, end: f.end}
}

// finishCounts moves exposures and numbers tested to the result. Sums have no scatter.
func (m *measurementReader) finishCounts() {
	if m.counts {
		m.result.Scatter = nil
	}
	switch {
	case m.tested:
		m.result.Tested = m.sizes
	case m.counts:
		m.result.Exposure = m.sizes
	}
}

// Exposures returns the exposures of counts, or the numbers tested of positives; nil for
// other values.
func (m *Measurements) Exposures() []float64 {
	if m.Tested != nil {
		return m.Tested
	}
	return m.Exposure
}

// offerSizes names columns that look like exposures or numbers tested and are not used.
func (m *measurementReader) offerSizes(used []usedColumn) {
	s := m.table.sheet
	if m.counts || s.types[m.value] != typeInteger {
		return
	}
	for j, name := range s.names {
		taken := false
		for _, u := range used {
			taken = taken || u.column == j
		}
		if taken || !s.types[j].number() {
			continue
		}
		for _, role := range []Role{RoleExposure, RoleTested} {
			if role.rank(name) != rankSure {
				continue
			}
			what := "an exposure, the number of cases to expect or the people at risk"
			if role == RoleTested {
				what = "the number tested, of which the values are positive"
			}
			m.table.report.offer(fmt.Sprintf("column %q looks like %s; it is not used", name, what),
				do("name it to use it", nameColumn(role, s.nameOf(j))))
		}
	}
}
