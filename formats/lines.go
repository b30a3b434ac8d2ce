package formats

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// scanner goes through the lines of a text.
type scanner struct {
	ctx  context.Context
	rest string
	line string // the current one, without its end and blanks around it
	at   int64  // its number
	err  error  // of the context
}

func newScanner(ctx context.Context, data []byte) *scanner {
	return &scanner{ctx: ctx, rest: string(data)}
}

// next moves to the next line; false at the end, or when the context has ended.
func (s *scanner) next() bool {
	if s.at%4096 == 0 && s.ctx.Err() != nil {
		s.err = s.ctx.Err()
	}
	if s.rest == "" || s.err != nil {
		return false
	}
	line, rest, _ := strings.Cut(s.rest, "\n")
	s.line, s.rest = strings.TrimSpace(line), rest
	s.at++
	return true
}

// nextData is next without blank lines and comments, which begin with one of the given
// characters.
func (s *scanner) nextData(comments string) bool {
	for s.next() {
		if s.line != "" && !strings.ContainsAny(s.line[:1], comments) {
			return true
		}
	}
	return false
}

func (s *scanner) fail(kind Kind, what string, do ...string) error {
	return failAt(s.at, kind, what, do...)
}

// correctLine is what to do about a line that breaks the rules of its format.
const correctLine = "correct the line, or write the file again"

// sampleLines returns the lines of the head of a file that are whole, without blanks
// around them.
func sampleLines(head []byte) []string {
	lines := strings.Split(string(head), "\n")
	if len(head) >= Head || lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return lines
}

// wholeNumber reads a number of digits alone, up to 10¹⁸.
func wholeNumber(text string) (int64, bool) {
	if text == "" || len(text) > 18 || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// checkSize refuses a number of nodes that a file claims and does not have: nearly all
// of them would have no edge.
func checkSize(line, nodes, entries int64) error {
	const some, most = 1 << 20, 1<<31 - 1
	if nodes > most || nodes > some && nodes > 100*entries {
		return failAt(line, Content, fmt.Sprintf("%d nodes, but only %d edges: nearly all nodes would have no edge", nodes, entries),
			"correct the number of nodes")
	}
	return nil
}

// lone returns a table of the nodes first, …, first+n−1 if some of them have no edge,
// so that these are not lost; nil otherwise.
func lone(edges *Table, n, first int64) *Table {
	seen := make([]bool, n)
	left := n
	for _, row := range edges.Rows {
		for _, end := range row[:2] {
			if i, ok := wholeNumber(end); ok && i >= first && i < first+n && !seen[i-first] {
				seen[i-first] = true
				left--
			}
		}
	}
	if left == 0 {
		return nil
	}
	return numbered(n, first)
}

// numbered returns a table of the nodes first, …, first+n−1.
func numbered(n, first int64) *Table {
	nodes := &Table{Names: []string{"id"}, Unit: "node", Rows: make([][]string, n)}
	for i := range nodes.Rows {
		nodes.Rows[i] = []string{strconv.FormatInt(first+int64(i), 10)}
	}
	return nodes
}

// withLone returns a table of all nodes if some of those listed have no edge, so that
// these are not lost; nil otherwise.
func withLone(edges *Table, listed []string) *Table {
	nodes, seen, found := &Table{Names: []string{"id"}, Unit: "node"}, map[string]bool{}, false
	add := func(id string) bool {
		if seen[id] {
			return false
		}
		seen[id] = true
		nodes.Rows = append(nodes.Rows, []string{id})
		return true
	}
	for _, row := range edges.Rows {
		add(row[0])
		add(row[1])
	}
	for _, id := range listed {
		found = add(id) || found
	}
	if !found {
		return nil
	}
	return nodes
}
