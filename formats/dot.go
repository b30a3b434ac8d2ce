package formats

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// dotFormat is the language of Graphviz, also written by networkx, igraph and many
// programs that draw graphs.
//
//	graph { a -- b [weight=2]; b -- {c d} }
var dotFormat = &Format{
	Name: "Graphviz",
	Detect: func(_ string, head []byte) bool {
		return dotStart.Match(head)
	},
	Read: readDOT,
}

var dotStart = regexp.MustCompile(
	`^(?:\s+|//[^\n]*\n|/\*(?s:.*?)\*/|#[^\n]*\n)*(?i:strict\s+)?(?i:(?:di)?graph)\b\s*(?:"[^"]*"|[\w.-]+)?\s*\{`)

// dotDrawing are attributes that say how a node or an edge is drawn.
var dotDrawing = strings.Fields("arrowhead arrowsize arrowtail bb color colorscheme dir fillcolor fixedsize fontcolor fontname fontsize " +
	"head_lp height image labelangle labeldistance labelfloat labelfontcolor lp margin penwidth peripheries pos regular shape sides skew " +
	"style tail_lp width xlp")

type dotReader struct {
	ctx          context.Context
	text         string
	at           int
	line         int64
	token        string // the current one; "" at the end
	isName       bool   // it is a name or a text, and no punctuation
	plain        bool   // it is without quotes, and may be a keyword
	nodes, edges *attributes
	row          map[string]int // of a node
	defaults     [2]map[string]string
	depth        int
	steps        int
	notes        []string
}

// The kinds of defaults.
const (
	dotNode = iota
	dotEdge
)

func readDOT(ctx context.Context, in Input, opts Options) (*File, error) {
	r := &dotReader{
		ctx: ctx, text: string(in.Data), line: 1, row: map[string]int{},
		nodes: newAttributes("node", "id").reserve(), edges: newAttributes("edge", "source", "target").reserve(),
	}
	if err := r.next(); err != nil {
		return nil, err
	}
	for !(r.plain && strings.HasSuffix(strings.ToLower(r.token), "graph")) {
		if r.token == "" {
			return nil, fail(Damaged, "there is no graph", "write the file again")
		}
		if err := r.next(); err != nil { // strict
			return nil, err
		}
	}
	if strings.EqualFold(r.token, "digraph") {
		r.notes = append(r.notes, directed)
	}
	for r.token != "{" {
		if r.token == "" {
			return nil, r.fail("the graph has no {")
		}
		if err := r.next(); err != nil {
			return nil, err
		}
	}
	if _, err := r.block(); err != nil {
		return nil, err
	}
	if r.token != "" {
		return nil, failAt(r.line, Unsupported, quote(r.token)+" after the end of the graph", "put one graph into a file")
	}
	if slices.ContainsFunc(r.nodes.Rows, func(row []string) bool { _, number := wholeNumber(row[0]); return !number }) {
		return nameNodes(r.nodes, r.edges, opts, r.notes)
	}
	return nameNodes(r.nodes, r.edges, opts, r.notes, "name") // igraph numbers the nodes
}

func (r *dotReader) fail(what string) error { return failAt(r.line, Damaged, what, correctLine) }

// next reads a token.
func (r *dotReader) next() error {
	if r.steps++; r.steps%4096 == 0 && r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	r.isName, r.plain, r.token = false, false, ""
	if err := r.skip(); err != nil || r.at == len(r.text) {
		return err
	}
	rest := r.text[r.at:]
	switch c := rest[0]; {
	case c == '"':
		return r.quoted()
	case c == '<':
		return r.html()
	case strings.HasPrefix(rest, "--") || strings.HasPrefix(rest, "->"):
		r.take(2)
	case strings.IndexByte("{}[];,=:+", c) >= 0:
		r.take(1)
	default:
		end := strings.IndexAny(rest[1:], " \t\r\n{}[];,=:\"<>")
		if end < 0 {
			end = len(rest) - 1
		}
		word := rest[:end+1]
		if i := strings.Index(word[1:], "--"); i >= 0 {
			word = word[:i+1] // a--b
		} else if strings.HasSuffix(word, "-") && len(word) > 1 && strings.HasPrefix(rest[len(word):], ">") {
			word = word[:len(word)-1] // a->b
		}
		r.take(len(word))
		r.isName, r.plain = true, true
	}
	return nil
}

// take makes a token of the next characters.
func (r *dotReader) take(n int) {
	r.token = r.text[r.at : r.at+n]
	r.at += n
}

// skip moves past blanks and comments.
func (r *dotReader) skip() error {
	for r.at < len(r.text) {
		rest := r.text[r.at:]
		switch {
		case rest[0] == '\n':
			r.line++
			r.at++
		case rest[0] <= ' ':
			r.at++
		case strings.HasPrefix(rest, "//"), rest[0] == '#':
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			r.at += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return r.fail("a comment that does not end")
			}
			r.line += int64(strings.Count(rest[:end], "\n"))
			r.at += end + 4
		default:
			return nil
		}
	}
	return nil
}

// quoted reads a text in quotes. Only \" and a line end after \ are undone, as Graphviz
// does.
func (r *dotReader) quoted() error {
	var b strings.Builder
	for i := r.at + 1; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '"':
			r.line += int64(strings.Count(r.text[r.at:i], "\n"))
			r.token, r.isName, r.at = b.String(), true, i+1
			if r.token == "" {
				r.token = " " // the end is ""
			}
			return nil
		case c == '\\' && i+1 < len(r.text) && (r.text[i+1] == '"' || r.text[i+1] == '\n'):
			i++
			if r.text[i] == '"' {
				b.WriteByte('"')
			}
		default:
			b.WriteByte(c)
		}
	}
	return r.fail("a text that does not end")
}

// html reads a label between < and >, as it is.
func (r *dotReader) html() error {
	depth := 0
	for i := r.at; i < len(r.text); i++ {
		switch r.text[i] {
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				r.line += int64(strings.Count(r.text[r.at:i], "\n"))
				r.token, r.isName, r.at = r.text[r.at:i+1], true, i+1
				return nil
			}
		}
	}
	return r.fail("a label that does not end")
}

const dotDepth = 100 // of subgraphs

// block reads statements between braces, and returns the nodes that they name.
func (r *dotReader) block() ([]string, error) {
	if r.depth++; r.depth > dotDepth {
		return nil, r.fail(fmt.Sprintf("subgraphs within subgraphs, more than %d deep", dotDepth))
	}
	before := r.defaults
	for k := range r.defaults {
		r.defaults[k] = maps.Clone(before[k])
	}
	defer func() { r.depth--; r.defaults = before }()
	var named []string
	if err := r.next(); err != nil {
		return nil, err
	}
	for r.token != "}" {
		switch r.token {
		case "":
			return nil, failAt(r.line, Damaged, "the graph does not end", "was the file cut short? fetch or write it again")
		case ";", ",":
			if err := r.next(); err != nil {
				return nil, err
			}
			continue
		}
		nodes, err := r.statement()
		if err != nil {
			return nil, err
		}
		named = append(named, nodes...)
	}
	return named, r.next()
}

// statement reads attributes of the graph, defaults, a node, or edges.
func (r *dotReader) statement() ([]string, error) {
	if word := strings.ToLower(r.token); r.plain && (word == "graph" || word == "node" || word == "edge") {
		if err := r.next(); err != nil {
			return nil, err
		}
		set, err := r.attributes()
		if err != nil || word == "graph" {
			return nil, err
		}
		kind := map[string]int{"node": dotNode, "edge": dotEdge}[word]
		if r.defaults[kind] == nil {
			r.defaults[kind] = map[string]string{}
		}
		maps.Copy(r.defaults[kind], set)
		return nil, nil
	}
	first, single, err := r.operand()
	if err != nil {
		return nil, err
	}
	if r.token == "=" && single { // an attribute of the graph
		if err := r.next(); err != nil {
			return nil, err
		}
		if !r.isName {
			return nil, r.fail(fmt.Sprintf("%s has no value", quote(first[0])))
		}
		return nil, r.next()
	}
	r.declare(first)
	all, pairs, left := first, [][2]string(nil), first
	for r.token == "--" || r.token == "->" {
		if err := r.next(); err != nil {
			return nil, err
		}
		right, _, err := r.operand()
		if err != nil {
			return nil, err
		}
		r.declare(right)
		const most = 1 << 24
		if len(left)*len(right)+len(pairs) > most {
			return nil, failAt(r.line, Unsupported, fmt.Sprintf("one statement with more than %d edges", most), "list the edges one by one")
		}
		for _, u := range left {
			for _, v := range right {
				pairs = append(pairs, [2]string{u, v})
			}
		}
		all, left = append(slices.Clone(all), right...), right
	}
	set, err := r.attributes()
	if err != nil {
		return nil, err
	}
	for _, p := range pairs {
		row := []string{p[0], p[1]}
		for _, values := range []map[string]string{r.defaults[dotEdge], set} {
			row = r.put(r.edges, row, values)
		}
		r.edges.Rows = append(r.edges.Rows, row)
	}
	if pairs == nil && single {
		i := r.row[first[0]]
		r.nodes.Rows[i] = r.put(r.nodes, r.nodes.Rows[i], set)
	}
	return all, nil
}

// operand reads a node, or a subgraph.
func (r *dotReader) operand() (nodes []string, single bool, err error) {
	if r.plain && strings.EqualFold(r.token, "subgraph") {
		if err := r.next(); err != nil {
			return nil, false, err
		}
		if r.isName {
			if err := r.next(); err != nil {
				return nil, false, err
			}
		}
		if r.token != "{" {
			return nil, false, r.fail("a subgraph without {")
		}
	}
	if r.token == "{" {
		nodes, err = r.block()
		slices.Sort(nodes)
		return slices.Compact(nodes), false, err
	}
	if !r.isName {
		return nil, false, r.fail(fmt.Sprintf("%s where a node is expected", quote(r.token)))
	}
	id := strings.TrimSpace(r.token)
	if err := r.next(); err != nil {
		return nil, false, err
	}
	for r.token == ":" { // a port of the node
		if err := r.next(); err != nil {
			return nil, false, err
		}
		if err := r.next(); err != nil {
			return nil, false, err
		}
	}
	return []string{id}, true, nil
}

// declare adds nodes that are new, with the defaults.
func (r *dotReader) declare(nodes []string) {
	for _, id := range nodes {
		if _, known := r.row[id]; !known {
			r.row[id] = len(r.nodes.Rows)
			r.nodes.Rows = append(r.nodes.Rows, r.put(r.nodes, []string{id}, r.defaults[dotNode]))
		}
	}
}

// put sets the attributes of a row that do not say how it is drawn; later ones are
// right.
func (r *dotReader) put(t *attributes, row []string, set map[string]string) []string {
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if slices.Contains(dotDrawing, name) || name == "label" && set[name] == `\N` {
			continue
		}
		if j, known := t.column[name]; known && j < len(row) {
			row[j] = ""
		}
		if set[name] != "" {
			row = t.set(row, name, set[name])
		}
	}
	return row
}

// attributes reads lists such as [weight=2, label="x"], none or several.
func (r *dotReader) attributes() (map[string]string, error) {
	set := map[string]string{}
	for r.token == "[" {
		if err := r.next(); err != nil {
			return nil, err
		}
		for r.token != "]" {
			switch {
			case r.token == "":
				return nil, failAt(r.line, Damaged, "a list of attributes that does not end", "was the file cut short? fetch or write it again")
			case r.token == "," || r.token == ";":
				if err := r.next(); err != nil {
					return nil, err
				}
				continue
			case !r.isName:
				return nil, r.fail(fmt.Sprintf("%s where the name of an attribute is expected", quote(r.token)))
			}
			name, value := r.token, "true"
			if err := r.next(); err != nil {
				return nil, err
			}
			if r.token == "=" {
				if err := r.next(); err != nil {
					return nil, err
				}
				if !r.isName {
					return nil, r.fail(fmt.Sprintf("%s has no value", quote(name)))
				}
				value = strings.TrimSpace(r.token)
				if err := r.next(); err != nil {
					return nil, err
				}
			}
			set[name] = value
		}
		if err := r.next(); err != nil {
			return nil, err
		}
	}
	return set, nil
}
