package graphio

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"grfgp/covariate"
)

// KeepAll in Options.Keep stands for all columns of a node table that are neither ids,
// nor labels, nor coordinates.
const KeepAll = "all"

// TextColumn is a column of a node table as text, a cell per node: "" where the table
// says nothing.
type TextColumn struct {
	Name  string
	Cells []string
}

// textColumn is a column whose cells are kept while the table is read.
type textColumn struct {
	TextColumn
	column int
	role   Role // "" for most
}

// keeps reports whether a column of this name is to be kept as text.
func (o Options) keeps(name string, role Role) bool {
	return slices.Contains(o.Keep, name) || slices.Contains(o.Keep, KeepAll) && !placing(role)
}

// placing reports whether results have the column of a role anyway: ids, labels and places.
func placing(role Role) bool {
	return slices.Contains([]Role{RoleID, RoleLabel, RoleLat, RoleLon, RoleX, RoleY, RoleShape}, role)
}

// textColumns returns the columns whose cells are kept as text.
func (t *table) textColumns(used []usedColumn, opts Options) []textColumn {
	if len(opts.Keep) == 0 {
		return nil
	}
	var out []textColumn
	names := uniqueNames{}
	for j := range t.sheet.columns {
		var role Role
		if has := slices.IndexFunc(used, func(u usedColumn) bool { return u.column == j }); has >= 0 {
			role = used[has].role
		}
		if name := names.of(t.sheet, j); role != RoleID && opts.keeps(name, role) {
			out = append(out, textColumn{TextColumn{Name: name}, j, role})
		}
	}
	return out
}

// keep takes the cells of node i as text. Different cells of a node, in several rows, are
// joined by semicolons.
func (r *nodeReader) keep(i int, line []byte, fields []field) {
	for k := range r.texts {
		c := &r.texts[k]
		text := ""
		if c.column < len(fields) {
			text = strings.ToValidUTF8(string(fields[c.column].text(line, &r.scratch)), "\uFFFD")
		}
		switch {
		case i == len(c.Cells):
			c.Cells = append(c.Cells, text)
		case text == "" || slices.Contains(strings.Split(c.Cells[i], "; "), text):
		case c.Cells[i] == "":
			c.Cells[i] = text
		default:
			c.Cells[i] += "; " + text
		}
	}
}

// resized returns the columns for other nodes: cell k is that of node nodes[k], "" where
// that is −1.
func resized(columns []TextColumn, nodes []int) []TextColumn {
	if columns == nil {
		return nil
	}
	out := make([]TextColumn, len(columns))
	for k, c := range columns {
		out[k] = TextColumn{c.Name, make([]string, len(nodes))}
		for i, from := range nodes {
			if from >= 0 {
				out[k].Cells[i] = c.Cells[from]
			}
		}
	}
	return out
}

// joinTexts adds columns of another table; of a column that both have, cells that were empty.
func (n *NodeTable) joinTexts(more []TextColumn) {
	for _, c := range more {
		at := slices.IndexFunc(n.Texts, func(o TextColumn) bool { return o.Name == c.Name })
		if at < 0 {
			n.Texts = append(n.Texts, c)
			continue
		}
		for i, text := range c.Cells {
			if own := n.Texts[at].Cells; own[i] == "" {
				own[i] = text
			}
		}
	}
}

// TextsOf returns columns of the table by name, as they were read if Options.Keep named
// them. Of tables that came with a graph it returns what is known of them: numbers in
// their shortest form. KeepAll stands for all columns but ids, labels and coordinates.
func (n *NodeTable) TextsOf(names []string) ([]TextColumn, error) {
	if n == nil {
		return nil, fmt.Errorf("there is no node table")
	}
	known := slices.Clone(n.Texts)
	has := func(name string) bool {
		return slices.ContainsFunc(known, func(c TextColumn) bool { return c.Name == name })
	}
	for _, c := range n.Covariates() {
		if cells := textsOf(c); !has(c.Name) && cells != nil && !placing(Role(c.Role)) {
			known = append(known, TextColumn{c.Name, cells})
		}
	}
	if n.Allowed != nil && len(n.Texts) == 0 {
		cells := make([]string, len(n.Allowed))
		for i, may := range n.Allowed {
			cells[i] = strconv.FormatBool(may)
		}
		known = append(known, TextColumn{string(RoleAllowed), cells})
	}
	var out []TextColumn
	add := func(c TextColumn) {
		if !slices.ContainsFunc(out, func(o TextColumn) bool { return o.Name == c.Name }) {
			out = append(out, c)
		}
	}
	for _, name := range names {
		if name == KeepAll {
			for _, c := range known {
				add(c)
			}
			continue
		}
		at := slices.IndexFunc(known, func(c TextColumn) bool { return c.Name == name })
		if at < 0 {
			have := make([]string, len(known))
			for k, c := range known {
				have[k] = strconv.Quote(c.Name)
			}
			if len(have) == 0 {
				return nil, fmt.Errorf("the node table has no column %q, nor any other that can be kept", name)
			}
			return nil, fmt.Errorf("the node table has no column %q that can be kept; it has %s", name, list(have, "and"))
		}
		add(known[at])
	}
	return out, nil
}

// textsOf returns the cells of a covariate as text; nil if they are not known, as those
// of an identifier.
func textsOf(c covariate.Column) []string {
	var cells []string
	switch c.Kind {
	case covariate.Number, covariate.Date:
		cells = make([]string, len(c.Numbers))
		for i, v := range c.Numbers {
			switch {
			case math.IsNaN(v):
			case c.Kind == covariate.Date:
				cells[i] = dateText(v)
			default:
				cells[i] = strconv.FormatFloat(v, 'g', -1, 64)
			}
		}
	case covariate.Category:
		cells = make([]string, len(c.Codes))
		for i, code := range c.Codes {
			if code > 0 {
				cells[i] = c.Levels[code-1]
			}
		}
	case covariate.Words:
		cells = make([]string, len(c.Start)-1)
		for i := range cells {
			words := make([]string, 0, c.Start[i+1]-c.Start[i])
			for _, item := range c.Items[c.Start[i]:c.Start[i+1]] {
				words = append(words, c.Levels[item])
			}
			cells[i] = strings.Join(words, "; ")
		}
	}
	return cells
}

// dateText is a date, given in days since 1 January 1970, with the time of day if it has one.
func dateText(days float64) string {
	at := time.Unix(0, 0).UTC().Add(time.Duration(math.Round(days*86400)) * time.Second)
	if at.Equal(at.Truncate(24 * time.Hour)) {
		return at.Format("2006-01-02")
	}
	return at.Format("2006-01-02T15:04:05")
}
