package graphio

import (
	"fmt"
	"slices"
	"strings"

	"grfgp/graph"
)

// edgeColumns are the columns of the two ends of an edge and of its weight.
type edgeColumns struct {
	source, target int
	weight         int  // -1: all edges are equal
	distance       bool // the weight is a distance
}

// chooseEdges decides which columns are used, and adds the reasons to the report.
func (s *sheet) chooseEdges(known *graph.IDs, opts Options, r *Report) (edgeColumns, error) {
	c := edgeColumns{weight: -1}
	if s.columns < 2 {
		return c, s.in.fail(CodeContent, "an edge needs two ends, but there is only one column",
			do("name the delimiter", Setting{Option: OptionDelimiter}), do("give a file of edges"))
	}
	if dict := s.findCell(func(cell string) bool {
		return strings.HasPrefix(cell, "{'") || strings.HasPrefix(cell, `{"`) || strings.Contains(cell, " {'")
	}); dict != "" && s.fixed == 0 {
		return c, s.in.fail(CodeFormat, "edges carry Python dictionaries ("+quote([]byte(dict))+")",
			do("write plain columns, with networkx: write_weighted_edgelist or to_pandas_edgelist(G).to_csv"))
	}
	if s.looksLikeMatrix() && !s.keyed && len(opts.Columns) == 0 {
		return c, s.in.fail(CodeFormat, fmt.Sprintf("looks like a matrix of %d columns, not like edges", s.columns),
			do("write one edge per line (source,target,weight)"), do("name the columns", nameColumn(RoleSource, "1"), nameColumn(RoleTarget, "2")))
	}
	if s.fixed == 0 && s.looksLikeLabelledMatrix(s.sample, 1) && len(opts.Columns) == 0 {
		return c, s.labelledMatrix()
	}
	_, source := opts.Columns[RoleSource]
	_, target := opts.Columns[RoleTarget]
	if looks := s.looksLike(); s.fixed == 0 && !source && !target && looks != "" && looks != TableEdges {
		return c, s.other(looks)
	}
	why, err := s.chooseEnds(&c, known, opts)
	if err != nil {
		return c, err
	}
	r.Columns = append(r.Columns, s.told(RoleSource, c.source, why[0]), s.told(RoleTarget, c.target, why[1]))
	if err := s.chooseWeight(&c, opts, r); err != nil {
		return c, err
	}
	if c.weight >= 0 {
		if err := s.findDecimal(opts, c.weight); err != nil {
			return c, err
		}
	}
	s.unused(r, c.source, c.target, c.weight)
	s.tellDirections(r, c)
	return c, nil
}

// looksLikeMatrix reports whether the file is a square or wide table of numbers
// without names rather than a list of edges.
func (s *sheet) looksLikeMatrix() bool {
	const few, wide = 4, 20
	if s.names != nil || s.columns < few || len(s.sample) != s.columns && s.columns < wide {
		return false
	}
	return !slices.ContainsFunc(s.types, func(t columnType) bool { return !t.number() })
}

// looksLikeLabelledMatrix reports whether the file is an adjacency matrix with named
// rows and columns: the first column repeats the header from the given column on.
func (s *sheet) looksLikeLabelledMatrix(rows [][]string, from int) bool {
	n := len(s.names) - from
	if n < 2 || len(rows) < min(n, sampleRows) || len(rows) > n {
		return false
	}
	for i, row := range rows {
		if len(row) == 0 || row[0] != s.names[from+i] {
			return false
		}
	}
	return true
}

func (s *sheet) labelledMatrix() error {
	return s.in.fail(CodeFormat, "is an adjacency matrix with names, which is not supported: its first column repeats the header",
		do("write one edge per line: source,target,weight; with pandas: m.stack().rename_axis(['source', "+
			"'target']).reset_index(name='weight').to_csv('edges.csv', index=False)"))
}

func (s *sheet) findCell(is func(string) bool) string {
	for _, row := range s.sample {
		if i := slices.IndexFunc(row, is); i >= 0 {
			return row[i]
		}
	}
	return ""
}

// told returns an entry of the report.
func (s *sheet) told(role Role, column int, why string) Column {
	c := Column{Role: role, Number: column + 1, Why: why}
	if s.keyed {
		c.Number = 0 // attributes have names, not places
	}
	if column < len(s.names) {
		c.Name = s.names[column]
	}
	return c
}

// unused tells the report which columns are not used.
func (s *sheet) unused(r *Report, used ...int) {
	for j := range s.columns {
		if !slices.Contains(used, j) && s.types[j] != typeEmpty {
			r.Unused = append(r.Unused, s.nameOf(j))
		}
	}
}

const asTold = "as requested"

// chooseEnds finds the two ends: as told, by name, by type, by known ids.
func (s *sheet) chooseEnds(c *edgeColumns, known *graph.IDs, opts Options) (why [2]string, err error) {
	fixed := [2]int{-1, -1}
	if s.fixed == 2 {
		fixed, why = [2]int{0, 1}, [2]string{s.defined(), s.defined()}
	}
	for k, role := range []Role{RoleSource, RoleTarget} {
		if spec, ok := opts.Columns[role]; ok {
			if fixed[k], err = s.column(role, spec); err != nil {
				return why, err
			}
			why[k] = asTold
		}
	}
	if fixed[0] >= 0 && fixed[0] == fixed[1] {
		return why, s.in.fail(CodeOption, "source and target are the same column", do("give two columns"))
	}
	pairs, reason, err := s.endCandidates(fixed, known)
	if err != nil {
		return why, err
	}
	if len(pairs) > 1 {
		var choices []string
		var ways []Remedy
		for _, p := range pairs {
			choices = append(choices, s.nameOf(p[0])+" and "+s.nameOf(p[1]))
			ways = append(ways, s.nameEnds("say which", p[0], p[1]))
		}
		return why, s.in.fail(CodeAmbiguous, "the ends of an edge may be "+list(choices, "or"), ways...)
	}
	c.source, c.target = pairs[0][0], pairs[0][1]
	for k := range why {
		if why[k] == "" {
			why[k] = reason
		}
	}
	return why, nil
}

// endCandidates returns the pairs of columns that may be the ends, given those
// that are fixed (−1: not fixed), and the reason.
func (s *sheet) endCandidates(fixed [2]int, known *graph.IDs) (pairs [][2]int, why string, err error) {
	if fixed[0] >= 0 && fixed[1] >= 0 {
		return [][2]int{fixed}, asTold, nil
	}
	pairs, fractions := s.namedEnds(fixed)
	if len(pairs) > 0 {
		return pairs, "by name", nil
	}
	ids := s.idColumns(fixed)
	if shapes := s.shapes(); shapes >= 0 && fixed[0] < 0 && fixed[1] < 0 {
		return nil, "", s.in.fail(CodeAmbiguous, fmt.Sprintf("column %s holds shapes, and no columns are named as the two ends of an edge, "+
			"among %s", s.nameOf(shapes), s.describe(nil)),
			do("give a file of edges"), do("name both ends", nameColumn(RoleSource, ""), nameColumn(RoleTarget, "")))
	}
	if len(fractions) == 1 && len(ids) < 2 {
		p := fractions[0]
		return nil, "", s.in.fail(CodeAmbiguous, fmt.Sprintf("columns %s and %s are named as the ends of an edge, but hold numbers with a "+
			"sign or a fraction", s.nameOf(p[0]), s.nameOf(p[1])),
			do("write ids as whole numbers"), s.nameEnds("take them as they are", p[0], p[1]))
	}
	why = "by type: it holds ids"
	if matching := slices.DeleteFunc(slices.Clone(ids), func(j int) bool { return s.overlap(j, known) < 0.5 }); len(matching) > 0 &&
		len(matching) < len(ids) {
		ids, why = matching, "it holds ids of the nodes"
	}
	if pair, why, ok := s.endsByType(fixed, ids, why); ok {
		return [][2]int{pair}, why, nil
	}
	return nil, "", s.unclearEnds(fixed, ids)
}

// namedEnds returns the pairs of columns that are named as ends. Pairs that hold
// fractions, which cannot be ids, are returned separately if their names are sure.
func (s *sheet) namedEnds(fixed [2]int) (pairs, fractions [][2]int) {
	for _, p := range endPairs(s.names) {
		pair := [2]int{p.source, p.target}
		switch fraction := s.types[p.source] == typeNumber || s.types[p.target] == typeNumber; {
		case fixed[0] >= 0 && fixed[0] != p.source, fixed[1] >= 0 && fixed[1] != p.target:
		case !fraction:
			pairs = append(pairs, pair)
		case p.rank == rankSure:
			fractions = append(fractions, pair)
		}
	}
	return pairs, fractions
}

// idColumns returns the columns that may hold ids, without those that are fixed.
func (s *sheet) idColumns(fixed [2]int) (ids []int) {
	for j := range s.columns {
		if s.mayBeEnd(j) && j != fixed[0] && j != fixed[1] {
			ids = append(ids, j)
		}
	}
	return ids
}

// endsByType returns the ends that follow from the columns that may hold ids: the
// first rule that holds decides.
func (s *sheet) endsByType(fixed [2]int, ids []int, why string) (pair [2]int, reason string, ok bool) {
	free := fixed[0] < 0 && fixed[1] < 0
	id := func(k int) int { return append(slices.Clone(ids), -1, -1)[k] }
	for _, rule := range []struct {
		when bool
		pair [2]int
		why  string
	}{
		{fixed[0] >= 0 && len(ids) == 1, [2]int{fixed[0], id(0)}, why},
		{fixed[1] >= 0 && len(ids) == 1, [2]int{id(0), fixed[1]}, why},
		{free && len(ids) == 2, [2]int{id(0), id(1)}, why},
		{free && s.columns == 2, [2]int{0, 1}, "there are two columns"},
		{free && s.names == nil && s.pairThenNumbers(ids), [2]int{0, 1}, "no names: the first two columns, numbers follow"},
	} {
		if rule.when {
			return rule.pair, rule.why, true
		}
	}
	return pair, "", false
}

// unclearEnds is the error where no rule decides.
func (s *sheet) unclearEnds(fixed [2]int, ids []int) error {
	name := do("name both ends", nameColumn(RoleSource, ""), nameColumn(RoleTarget, ""))
	switch {
	case len(ids) == 1:
		return s.in.fail(CodeAmbiguous, fmt.Sprintf("only column %s looks like the end of an edge, among %s", s.nameOf(ids[0]), s.describe(nil)),
			do("give a file of edges"), name)
	case len(ids) == 0:
		return s.in.fail(CodeAmbiguous, "no column looks like the end of an edge, among "+s.describe(nil), name)
	}
	source, target := ids[0], ids[len(ids)-1]
	if fixed[0] >= 0 {
		source = fixed[0]
	}
	if fixed[1] >= 0 {
		target = fixed[1]
	}
	if a, b, ok := s.alike(ids); ok && fixed[0] < 0 && fixed[1] < 0 {
		source, target = a, b
	} else if fixed[0] < 0 && fixed[1] < 0 && len(s.sample) >= enoughRows {
		return s.in.fail(CodeAmbiguous, fmt.Sprintf("no two columns name the two ends of an edge, among %s: none have values in common",
			s.describe(nil)), do("give a file of edges"), name)
	}
	return s.in.fail(CodeAmbiguous, "the ends of an edge may be any two of "+s.describe(nil),
		s.nameEnds("name both, for example", source, target))
}

// nameEnds is the remedy that names both ends of an edge.
func (s *sheet) nameEnds(what string, source, target int) Remedy {
	return do(what, nameColumn(RoleSource, s.nameOf(source)), nameColumn(RoleTarget, s.nameOf(target)))
}

// pairThenNumbers reports whether a row is two ids of one type and numbers, as
// in "1 2 5", and not a triple such as "ann,knows,bob".
func (s *sheet) pairThenNumbers(ids []int) bool {
	return len(ids) > 2 && ids[1] == 1 && s.types[0] == s.types[1] &&
		!slices.ContainsFunc(ids[2:], func(j int) bool { return !s.types[j].number() })
}

// mayBeEnd reports whether a column may hold ids: it is not empty, holds no fractions
// and not only "{}" (written by networkx for no data), holds neither shapes nor times, and
// its name is not that of a weight or a distance.
func (s *sheet) mayBeEnd(column int) bool {
	if t := s.types[column]; t == typeEmpty || t == typeNumber {
		return false
	}
	if !slices.ContainsFunc(s.sample, func(row []string) bool { return column < len(row) && row[column] != "{}" }) {
		return false
	}
	if s.geometry(column) || s.clearTimes(column) {
		return false
	}
	return column >= len(s.names) ||
		RoleWeight.rank(s.names[column]) == rankNone && RoleDistance.rank(s.names[column]) == rankNone
}

// overlap returns the share of a column's values that are known ids.
func (s *sheet) overlap(column int, known *graph.IDs) float64 {
	if known == nil {
		return 0
	}
	hits, all := 0, 0
	for _, row := range s.sample {
		if column < len(row) && row[column] != "" {
			all++
			if _, ok := known.Lookup([]byte(row[column])); ok {
				hits++
			}
		}
	}
	return float64(hits) / float64(max(1, all))
}
