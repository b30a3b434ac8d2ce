package graphio

import (
	"fmt"
	"strings"
	"unicode"

	"grfgp/graph"
)

// strangers are ids that are not in the graph.
type strangers struct {
	ids  []string
	seen map[string]bool
}

// strangersKept is how many are kept to find out what is wrong with them.
const strangersKept = 1000

func (s *strangers) add(id []byte) {
	if len(s.ids) >= strangersKept || s.seen[string(id)] {
		return
	}
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	s.seen[string(id)] = true
	s.ids = append(s.ids, string(id))
}

func (s *strangers) examples() string {
	return quoteAll(s.ids[:min(3, len(s.ids))])
}

// spellings are ways in which two files may write the same id differently. Each
// brings ids into a common form.
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

// hint says what would make the ids match, if anything known would.
func (s *strangers) hint(labels *graph.Labels) string {
	const never = "ids are text and are never changed silently: rewrite one of the files"
	best, hits, example := "", 0, ""
	for _, way := range spellings {
		forms := map[string]int{}
		for i := range labels.Len() {
			forms[way.common(labels.At(i))] = i
		}
		n, first := 0, ""
		for _, id := range s.ids {
			if i, ok := forms[way.common(id)]; ok {
				if n == 0 {
					first = fmt.Sprintf("%q here, %q in the graph", id, labels.At(i))
				}
				n++
			}
		}
		if n > hits {
			best, hits, example = way.differ, n, first
		}
	}
	switch {
	case hits > 0 && 2*hits >= len(s.ids):
		return fmt.Sprintf("%d of %d such ids differ from the graph's only %s (%s); %s", hits, len(s.ids), best, example, never)
	case s.countFromZero(labels):
		return "the graph has no node 0: are the ids of the measurements counted from 0, and those of the graph from 1? " + never
	}
	return "check that both files use the same ids; " + never
}

// countFromZero reports whether 0 is the stranger among ids counted from 1.
func (s *strangers) countFromZero(labels *graph.Labels) bool {
	if len(s.ids) != 1 || s.ids[0] != "0" {
		return false
	}
	_, one := labels.Lookup([]byte("1"))
	_, last := labels.Lookup(fmt.Append(nil, labels.Len()))
	return one && last
}
