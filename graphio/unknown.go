package graphio

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"grfgp/graph"
)

// unknownIDs are ids that the graph, or the node table, does not have.
type unknownIDs struct {
	ids  []string
	seen map[string]bool
}

// unknownKept is how many are kept to explain them.
const unknownKept = 1000

func (s *unknownIDs) add(id []byte) {
	if len(s.ids) >= unknownKept || s.seen[string(id)] {
		return
	}
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	s.seen[string(id)] = true
	s.ids = append(s.ids, string(id))
}

func (s *unknownIDs) examples() string {
	return quoteAll(s.ids[:min(3, len(s.ids))])
}

// unknownShare is the reciprocal of the largest share of rows of unknown nodes that are skipped unasked.
const unknownShare = 100

// judgeUnknown warns of rows of unknown nodes that were skipped, or is an error about them.
func (t *table) judgeUnknown(s *unknownIDs, known *graph.IDs, treat Unknown) error {
	l := t.report.Ledger
	rows := l.Rows + l.Repeats + l.Missing + l.Unknown
	if l.Unknown == 0 {
		return nil
	}
	have := "have ids that are"
	if l.Unknown == 1 {
		have = "has an id that is"
	}
	what := fmt.Sprintf("%d of %d rows %s not in the graph, such as %s", l.Unknown, rows, have, s.examples())
	why := s.explain(known, "the graph")
	if treat != UnknownSkip && unknownShare*l.Unknown > rows {
		remedies := []Remedy{do(s.hint(known, "the graph")),
			do("leave such rows out", Setting{Option: OptionUnknown, Value: string(UnknownSkip)})}
		if why == "" {
			remedies = slices.Insert(remedies, 1, do("list nodes that have no edge in a node table"))
		}
		return t.in.fail(CodeIDs, what, remedies...)
	}
	t.report.lose(what + "; they are left out")
	if why == "" {
		why = "a node without an edge is part of the graph if a node table lists it"
	}
	t.report.lose(why)
	return nil
}

// spellings are differences between two files that may mean the same ids. Each
// has a function that removes the difference.
var spellings = []struct {
	differ string
	common func(string) string
}{
	{"in upper and lower case", strings.ToLower},
	{"by leading zeros", func(id string) string { return strings.TrimLeft(id, "0") }},
	{"by a trailing .0", func(id string) string { return strings.TrimSuffix(id, ".0") }},
	{"by blanks", func(id string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) || r == '\u200b' || r == '\ufeff' {
				return -1
			}
			return r
		}, id)
	}},
	{"by quotes", func(id string) string { return strings.Trim(id, `"'`) }},
	{"by letters before the number", func(id string) string {
		if i := strings.IndexAny(id, "0123456789"); i > 0 {
			return id[i:]
		}
		return id
	}},
}

// hint says how to make the ids match those of the named place.
func (s *unknownIDs) hint(known *graph.IDs, place string) string {
	if why := s.explain(known, place); why != "" {
		return why
	}
	return "check that both files use the same ids; " + neverChanged
}

const neverChanged = "ids are text and are never changed silently: rewrite one of the files"

// explain says how most of the ids differ from those of the named place, "" if no
// spelling explains them.
func (s *unknownIDs) explain(known *graph.IDs, place string) string {
	best, hits, example := "", 0, ""
	for k, matches := range s.match(known) {
		if len(matches) <= hits {
			continue
		}
		best, hits = spellings[k].differ, len(matches)
		first := slices.IndexFunc(s.ids, func(id string) bool { _, ok := matches[id]; return ok })
		example = fmt.Sprintf("%q here, %q in %s", s.ids[first], known.At(matches[s.ids[first]]), place)
	}
	switch {
	case hits > 0 && 2*hits >= len(s.ids):
		differ := "differ"
		if hits == 1 {
			differ = "differs"
		}
		return fmt.Sprintf("%d of %d such ids %s from those of %s only %s (%s); %s", hits, len(s.ids), differ, place, best, example, neverChanged)
	case s.countFromZero(known):
		return place + " has no node 0: are ids here counted from 0, and there from 1? " + neverChanged
	}
	return ""
}

// match returns, for each spelling, the unknown ids that it makes equal to a known
// one, with the number of the first such id. The unknown ids are indexed, because
// they are few.
func (s *unknownIDs) match(known *graph.IDs) []map[string]int {
	forms, matches := make([]map[string][]string, len(spellings)), make([]map[string]int, len(spellings))
	for k, way := range spellings {
		forms[k], matches[k] = map[string][]string{}, map[string]int{}
		for _, id := range s.ids {
			form := way.common(id)
			forms[k][form] = append(forms[k][form], id)
		}
	}
	for i := range known.Len() {
		id := known.At(i)
		for k, way := range spellings {
			form := way.common(id)
			for _, unknown := range forms[k][form] {
				matches[k][unknown] = i
			}
			delete(forms[k], form)
		}
	}
	return matches
}

// countFromZero reports whether 0 is the only unknown id among ids counted from 1.
func (s *unknownIDs) countFromZero(known *graph.IDs) bool {
	if len(s.ids) != 1 || s.ids[0] != "0" {
		return false
	}
	_, one := known.Lookup([]byte("1"))
	_, last := known.Lookup(fmt.Append(nil, known.Len()))
	return one && last
}
