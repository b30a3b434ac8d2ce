package graphio

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// sheet describes a file of delimited text, from its first lines.
type sheet struct {
	in         *input
	delim      separator
	comma      bool     // numbers have decimal commas
	names      []string // nil when the columns have none
	namesFrom  string   // in words
	headerLine int64    // 0 without a header
	header     []byte   // that line
	firstRow   int64    // line of the first row of data
	columns    int
	types      []columnType
	sample     [][]string // the first rows of data
	table      tableKind
	strip      string // unit of values, weights and distances, which is taken off; "": none
	missing    missingCodes
	fixed      int    // columns that have their role by the format: 2 ends of an edge, 1 id of a node
	keyed      bool   // the format names the columns
	distances  string // column that holds real distances, by the format
	equal      bool   // edges are equal unless options say otherwise, by the format
}

// tableKind is a kind of table with the roles of its columns.
type tableKind struct {
	kind  Table
	roles []Role
}

var (
	edgeTable = tableKind{TableEdges, []Role{RoleSource, RoleTarget, RoleWeight, RoleDistance}}
	nodeTable = tableKind{TableNodes, []Role{RoleID, RoleLabel, RoleLat, RoleLon, RoleX, RoleY, RoleCost, RoleAllowed, RoleGroup,
		RoleShape}}
	measurementTable = tableKind{TableMeasurements, []Role{RoleNode, RoleValue, RoleSD, RoleTime, RoleExposure, RoleTested}}
	labelTable       = tableKind{TableLabels, []Role{RoleNode, RoleClass}}
)

// columnType is the type of all values of a column in the sample.
type columnType uint8

const (
	typeEmpty   columnType = iota // nothing in it
	typeInteger                   // digits alone
	typeNumber                    // numbers, some with a sign or a fraction
	typeText
)

func (t columnType) number() bool { return t == typeInteger || t == typeNumber }

// sampleRows is the number of rows from which columns are detected.
const sampleRows = 1000

// mostAsked is how many columns a question offers.
const mostAsked = 12

// columnsTold is how many columns an error names for programs.
const columnsTold = 200

// inspect detects delimiter, header and column types.
func inspect(c *cutter, table tableKind, opts Options) (*sheet, error) {
	s := &sheet{in: c.in, table: table, strip: opts.Unit, missing: newMissingCodes(opts.Missing)}
	for size := lookAhead; ; size *= 2 {
		head, err := c.peek(size)
		if err != nil {
			return nil, err
		}
		if bytes.IndexByte(head, '\r') >= 0 && bytes.IndexByte(head, '\n') < 0 && c.end {
			return nil, c.in.fail(CodeFormat, "its lines end in a carriage return alone, as on old Macs",
				do(`convert it: tr '\r' '\n' < FILE > NEW`))
		}
		rows, comment := dataLines(head)
		if len(rows) == 0 && !c.end && size < longestLine {
			continue // nothing but comments so far
		}
		if len(rows) == 0 {
			return nil, c.in.fail(CodeContent, fmt.Sprintf("it contains no %ss, only comments and blank lines", c.in.table.row()), otherFile)
		}
		return s, s.read(rows, comment, opts)
	}
}

// numbered is a line and its number.
type numbered struct {
	text []byte
	at   int64
}

// dataLines returns the first lines that are neither blank nor comments, and
// the last comment before them.
func dataLines(head []byte) (rows []numbered, comment []byte) {
	for at := int64(1); len(head) > 0 && len(rows) <= sampleRows; at++ {
		var line []byte
		_, line, head = cutLine(head)
		switch byBlanks.classify(line) {
		case dataLine:
			rows = append(rows, numbered{line, at})
		case commentLine:
			if len(rows) == 0 {
				comment = line
			}
		}
	}
	return rows, comment
}

func (s *sheet) read(rows []numbered, comment []byte, opts Options) error {
	s.delim = separators[opts.Delimiter]
	if opts.Delimiter == DelimiterAuto {
		d, err := s.findDelimiter(rows)
		if err != nil {
			return err
		}
		s.delim = d
	}
	rows = slices.DeleteFunc(rows, func(row numbered) bool { return s.delim.classify(row.text) != dataLine })
	if len(rows) == 0 {
		return s.in.fail(CodeContent, fmt.Sprintf("it contains no %ss, only delimiters", s.in.table.row()), otherFile)
	}
	cells := make([][]string, len(rows))
	for i, row := range rows {
		cells[i] = s.cells(row.text)
	}
	return s.arrange(rows, cells, comment, opts)
}

// arrange detects the header of rows, which have these cells, and the types of columns.
func (s *sheet) arrange(rows []numbered, cells [][]string, comment []byte, opts Options) error {
	first := rows[0]
	var others [][]string // without copies of the first
	s.firstRow = first.at
	for i, row := range rows {
		if i > 0 && !sameHeader(row.text, first.text) {
			others = append(others, cells[i])
		}
	}
	header, err := s.hasHeader(cells[0], others, len(rows)-1-len(others), first.at, opts)
	if err != nil {
		return err
	}
	if header {
		s.headerLine, s.header = first.at, bytes.Clone(first.text)
		s.names, cells = trimEmpty(cells[0]), others
		s.namesFrom = s.in.place(s.headerLine)
		if len(rows) > 1 {
			s.firstRow = rows[1].at
		}
	}
	s.columns, _ = mode(cells)
	if header {
		if err := s.fitHeader(cells); err != nil {
			return err
		}
	} else {
		s.namesFromComment(comment)
	}
	s.settle(cells)
	return nil
}

// settle keeps the first rows, and finds the types of the columns in them.
func (s *sheet) settle(cells [][]string) {
	s.sample = cells
	for j := range min(s.columns, columnsTold) {
		s.in.columns = append(s.in.columns, s.nameOf(j))
	}
	s.types = make([]columnType, s.columns)
	for j := range s.types {
		s.types[j] = s.typeOf(j)
	}
}

// defined is the reason for a role that the format gives to a column.
func (s *sheet) defined() string { return "as " + s.in.kind.Name + " defines it" }

// sameHeader reports whether a line repeats the header, as in concatenated files;
// the second header may have kept its byte-order mark.
func sameHeader(line, header []byte) bool {
	return bytes.Equal(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")), header)
}

// cells splits a line into text; a line with broken quotes has no cells.
func (s *sheet) cells(line []byte) []string {
	fields, bad := s.delim.split(line, nil)
	if bad.reason != noFault {
		return nil
	}
	var scratch []byte
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = string(f.text(line, &scratch))
	}
	return out
}

func trimEmpty(cells []string) []string {
	for len(cells) > 0 && cells[len(cells)-1] == "" {
		cells = cells[:len(cells)-1]
	}
	return cells
}

// mode returns the commonest number of cells of a row, and the share of rows
// that have it.
func mode(rows [][]string) (cells int, share float64) {
	counts := map[int]int{}
	for _, row := range rows {
		counts[len(row)]++
	}
	best := 0
	for n, count := range counts {
		if count > best || count == best && n > cells {
			cells, best = n, count
		}
	}
	return cells, float64(best) / float64(max(1, len(rows)))
}

// fitHeader compares the number of names with that of fields in the rows.
func (s *sheet) fitHeader(rows [][]string) error {
	n, longer := len(s.names), 0
	for _, row := range rows {
		if len(trimEmpty(row)) > n {
			longer++
		}
	}
	if 2*longer > len(rows) {
		if s.looksLikeLabelledMatrix(rows, 0) {
			return s.labelledMatrix() // as R writes it
		}
		ways := []Remedy{do("name all columns"), do(fmt.Sprintf("take %s as a row", s.in.place(s.headerLine)),
			Setting{Option: OptionHeader, Value: string(HeaderNo)})}
		if n == s.columns-1 {
			ways = slices.Insert(ways, 0, do("write it with row.names = FALSE if R wrote it"))
		}
		return s.in.fail(CodeContent, fmt.Sprintf("%s names %s, but the rows have %d", s.in.place(s.headerLine), counted(n, "column"), s.columns),
			ways...)
	}
	s.columns = n // what is beyond is empty or bad
	return nil
}

// namesFromComment reads column names from the last comment before the data, as in
// the files of SNAP ("# FromNodeId ToNodeId").
func (s *sheet) namesFromComment(comment []byte) {
	text := bytes.TrimLeft(comment, "#% \t")
	for _, d := range []separator{s.delim, byBlanks} {
		other := sheet{delim: d}
		if names := trimEmpty(other.cells(text)); len(names) == s.columns && s.table.knows(names) {
			s.names, s.namesFrom = names, "the comment before the first row"
			return
		}
	}
}

// knows reports whether one of the names is known for this kind of table.
func (t tableKind) knows(names []string) bool {
	if slices.Contains(t.roles, RoleSource) {
		return len(endPairs(names)) > 0
	}
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(t.roles, func(r Role) bool { return r.rank(name) <= rankLikely })
	})
}

func (s *sheet) typeOf(column int) columnType {
	t := typeEmpty
	for _, row := range s.sample {
		if column >= len(row) {
			continue
		}
		t = max(t, s.cellType(row[column]))
	}
	return t
}

// cellType is the type of a cell, without the unit of the options and with their codes for
// missing values.
func (s *sheet) cellType(cell string) columnType {
	if s.strip == "" && len(s.missing.texts) == 0 {
		return cellType(cell)
	}
	text := []byte(cell)
	if s.missing.word(text) {
		return typeEmpty
	}
	if bare, ok := withoutUnit(text, s.strip); ok && cellType(string(bare)).number() {
		return cellType(string(bare))
	}
	return cellType(cell)
}

func cellType(cell string) columnType {
	switch _, state := scanNumber([]byte(cell)); state {
	case numberMissing:
		return typeEmpty
	case numberOK, numberInfinite:
		if strings.Trim(cell, "0123456789") == "" {
			return typeInteger
		}
		return typeNumber
	}
	return typeText
}

// findDecimal detects the decimal sign of the given columns.
func (s *sheet) findDecimal(opts Options, columns ...int) error {
	switch {
	case opts.Decimal == DecimalComma && s.delim == byComma:
		return s.in.fail(CodeOption, "decimal commas cannot be told from commas between fields", do("put another delimiter between fields"))
	case opts.Decimal != DecimalAuto || s.delim == byComma:
		s.comma = opts.Decimal == DecimalComma
		return nil
	}
	points, commas := "", ""
	for _, row := range s.sample {
		for _, j := range columns {
			if j < 0 || j >= len(row) {
				continue
			}
			bare, _ := withoutUnit([]byte(row[j]), s.strip)
			switch sign, state := scanNumber(bare); {
			case state != numberOK:
			case sign == '.':
				points = row[j]
			case sign == ',':
				commas = row[j]
			}
		}
	}
	if points != "" && commas != "" {
		return s.in.fail(CodeAmbiguous, fmt.Sprintf("some numbers have a point (%s) and others a comma (%s)", points, commas),
			do("write them alike"),
			do("read decimal points", Setting{Option: OptionDecimal, Value: string(DecimalPoint)}),
			do("read decimal commas", Setting{Option: OptionDecimal, Value: string(DecimalComma)}))
	}
	if commas != "" && s.thousands(columns) {
		return s.in.fail(CodeAmbiguous, fmt.Sprintf("numbers such as %s may have separators of thousands, or decimal commas", commas),
			do("write them without separators"),
			do("read decimal commas", Setting{Option: OptionDecimal, Value: string(DecimalComma)}))
	}
	s.comma = commas != ""
	return nil
}

// column finds a column by its name or its number from 1.
func (s *sheet) column(role Role, spec string) (int, error) {
	var found []int
	for i, name := range s.names {
		if name == spec {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		for i, name := range s.names {
			if strings.EqualFold(name, spec) {
				found = append(found, i)
			}
		}
	}
	switch n, err := strconv.Atoi(spec); {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return 0, s.in.fail(CodeOption, fmt.Sprintf("%d columns are called %q", len(found), spec),
			do("give the number", nameColumn(role, strconv.Itoa(found[0]+1))))
	case err == nil && n >= 1 && n <= s.columns:
		return n - 1, nil
	}
	ways := []Remedy{do("the columns are " + s.describe(nil))}
	if s.names == nil {
		ways = []Remedy{do(fmt.Sprintf("give a number from 1 to %d", s.columns)),
			do("take names from the first line", Setting{Option: OptionHeader, Value: string(HeaderYes)})}
	}
	return 0, s.in.fail(CodeOption, fmt.Sprintf("there is no column %q for %s", spec, role), ways...)
}

// ask is the error about a role that each of several columns may have.
func (s *sheet) ask(what string, role Role, columns []int) error {
	var ways []Remedy
	for _, j := range columns[:min(len(columns), mostAsked)] {
		ways = append(ways, do("say which", nameColumn(role, s.nameOf(j))))
	}
	return s.in.fail(CodeAmbiguous, what, ways...)
}

// describe names columns for a message; nil means all.
func (s *sheet) describe(columns []int) string {
	if columns == nil {
		for j := range min(s.columns, 20) {
			columns = append(columns, j)
		}
	}
	out := make([]string, len(columns))
	for i, j := range columns {
		out[i] = s.nameOf(j)
	}
	if s.columns > len(out) && len(columns) == 20 {
		out = append(out, "…")
	}
	return list(out, "and")
}

// nameOf returns the name of a column, or its number if the name is not unique:
// both are valid in Options.Columns.
func (s *sheet) nameOf(column int) string {
	if column < len(s.names) && s.names[column] != "" {
		same := func(name string) bool { return strings.EqualFold(name, s.names[column]) }
		if first := slices.IndexFunc(s.names, same); first == column && !slices.ContainsFunc(s.names[first+1:], same) {
			return s.names[column]
		}
	}
	return fmt.Sprint(column + 1)
}
