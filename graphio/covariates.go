package graphio

import (
	"fmt"
	"slices"
	"strings"

	"grfgp/covariate"
	"grfgp/internal/parallel"
)

// otherColumn is a column of a node table that becomes a covariate.
type otherColumn struct {
	column int
	cells  *covariate.Builder
}

// otherColumns returns builders for the columns without a role.
func (t *table) otherColumns(used []usedColumn, opts Options) []otherColumn {
	columns := t.sheet.otherThan(used)
	t.decimalOf(len(columns) > 0, opts)
	parse := parseCell(t.layout.comma, t.layout.missing)
	names, out := uniqueNames{}, make([]otherColumn, len(columns))
	for k, j := range columns {
		out[k] = otherColumn{j, covariate.NewBuilder(names.of(t.sheet, j), parse)}
	}
	return out
}

// otherThan returns the columns that become covariates: those without a role, and a
// column that is the label because of a name such as "type"; "label" and "class" are not.
func (s *sheet) otherThan(used []usedColumn) []int {
	var out []int
	for j := range s.columns {
		has := slices.IndexFunc(used, func(u usedColumn) bool { return u.column == j })
		if has < 0 || used[has].role == RoleLabel && used[has].why != asTold && RoleLabel.rank(s.names[j]) > rankSure {
			out = append(out, j)
		}
	}
	return out
}

// parseCell reads cells of covariates as numbers.
func parseCell(comma bool, codes missingCodes) covariate.Parse {
	return func(cell []byte) (v float64, missing, ok bool) {
		v, state := codes.parse(cell, comma)
		return v, state == numberMissing, state == numberOK
	}
}

// uniqueNames gives columns names that differ and are UTF-8.
type uniqueNames map[string]bool

func (u uniqueNames) of(s *sheet, column int) string {
	name := strings.ToValidUTF8(s.nameOf(column), "\uFFFD")
	for u[name] {
		name += fmt.Sprintf(" (column %d)", column+1)
	}
	u[name] = true
	return name
}

// decimalOf finds decimal commas in columns without a role, where the others do not
// tell: some numbers must have a comma and none a point.
func (t *table) decimalOf(any bool, opts Options) {
	s := t.sheet
	if opts.Decimal != DecimalAuto || s.delim == byComma || s.comma {
		return
	}
	points, commas := false, false
	for j, kind := range s.types {
		if kind != typeNumber {
			continue
		}
		for _, row := range s.sample {
			if j < len(row) {
				sign, state := scanNumber([]byte(row[j]))
				points = points || state == numberOK && sign == '.'
				commas = commas || state == numberOK && sign == ','
			}
		}
	}
	if any && commas && !points {
		s.comma, t.layout.comma, t.report.Decimal = true, true, "comma"
	}
}

// namesOf returns the names of columns that have a role.
func (t *table) namesOf(used []usedColumn) map[Role]string {
	names := map[Role]string{}
	for _, u := range used[1:] {
		if u.column < len(t.sheet.names) {
			names[u.role] = strings.ToValidUTF8(t.sheet.nameOf(u.column), "\uFFFD")
		}
	}
	return names
}

// collect takes the cells of the columns without a role.
func (r *nodeReader) collect(i int, line []byte, fields []field) {
	for _, c := range r.columns {
		if c.column < len(fields) {
			c.cells.Add(i, fields[c.column].text(line, &r.scratch))
		}
	}
}

// finish makes the columns and reports them.
func (r *nodeReader) finish() {
	made := make([]covariate.Column, len(r.columns))
	parallel.Ranges(len(made), 1, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			made[k] = r.columns[k].cells.Column(r.IDs.Len())
			r.columns[k].cells = nil
		}
	})
	for _, c := range made {
		r.addColumn(c, r.table.report)
	}
	for _, c := range r.texts {
		r.Texts = append(r.Texts, c.TextColumn)
	}
}

// addColumn adds a covariate and reports it.
func (n *NodeTable) addColumn(c covariate.Column, r *Report) {
	n.Columns = append(n.Columns, c)
	r.Covariates = append(r.Covariates, Covariate{Name: c.Name, Kind: c.Kind, Missing: c.Missing(), Notes: c.Notes})
}

// Covariates returns all columns that can be used as covariates: Columns, then those
// that have a role, under their names in the file: group, label, coordinates and cost.
// [covariate.Select] takes the latter only if they are named.
func (n *NodeTable) Covariates() []covariate.Column {
	if n == nil {
		return nil
	}
	out := slices.Clone(n.Columns)
	for _, role := range []Role{RoleGroup, RoleLabel, RoleLat, RoleLon, RoleX, RoleY, RoleCost} {
		name := n.names[role]
		if name == "" {
			name = string(role)
		}
		taken := slices.ContainsFunc(out, func(c covariate.Column) bool { return c.Name == name })
		if !n.has(role) || taken {
			continue
		}
		var c covariate.Column
		if role == RoleGroup || role == RoleLabel {
			c = covariate.Detect(name, *n.text(role))
		} else {
			c = covariate.NewNumbers(name, *n.numbers(role))
		}
		c.Role = string(role)
		out = append(out, c)
	}
	return out
}

// setName keeps the name of the column of a role.
func (n *NodeTable) setName(role Role, name string) {
	if n.names == nil {
		n.names = map[Role]string{}
	}
	n.names[role] = strings.ToValidUTF8(name, "\uFFFD")
}

// picked returns the columns for other nodes, see [covariate.Column.Pick].
func picked(columns []covariate.Column, nodes []int) []covariate.Column {
	if columns == nil {
		return nil
	}
	out := make([]covariate.Column, len(columns))
	for k, c := range columns {
		out[k] = c.Pick(nodes)
	}
	return out
}

// upTo returns 0, …, had−1 and then −1 up to a length.
func upTo(had, length int) []int {
	out := make([]int, length)
	for i := range out {
		out[i] = i
		if i >= had {
			out[i] = -1
		}
	}
	return out
}
