package formats

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"regexp"
	"strings"
)

// gmlFormat is the Graph Modelling Language of networkx, igraph, Gephi and yEd: nested
// lists of keys and values.
//
//	graph [
//	  node [ id 0 label "a" ]
//	  edge [ source 0 target 1 weight 2.5 ]
//	]
var gmlFormat = &Format{
	Name: "GML",
	Detect: func(name string, head []byte) bool {
		return gmlStart.Match(head) || hasExtension(name, ".gml") && !bytes.HasPrefix(bytes.TrimSpace(head), []byte("<"))
	},
	Read: readGML,
}

// gmlStart matches keys with values and comments, up to the graph.
var gmlStart = regexp.MustCompile(`^(?i:\s+|#[^\n]*\n|[a-z]\w*\s+("[^"]*"|[-+.\w]+)\s)*(?i:graph)\s*\[`)

// gmlReader reads a document key by key.
type gmlReader struct {
	text  string
	at    int
	line  int64
	nodes *attributes
	edges *attributes
	notes []string
	steps int
	ctx   context.Context
}

const gmlDepth = 100 // of lists within lists

func readGML(ctx context.Context, in Input, opts Options) (*File, error) {
	g := &gmlReader{text: string(in.Data), line: 1, ctx: ctx, nodes: newAttributes("node", "id"),
		edges: newAttributes("edge", "source", "target")}
	if err := g.keys(nil, "", "", 0, true); err != nil {
		return nil, err
	}
	return nameNodes(g.nodes, g.edges, opts, g.notes, "label", "name")
}

// skip moves to the next token, past blanks and comments, which begin with # where a key
// is expected.
func (g *gmlReader) skip() {
	for g.at < len(g.text) {
		switch c := g.text[g.at]; {
		case c == '\n':
			g.line++
			g.at++
		case c <= ' ':
			g.at++
		case c == '#':
			for g.at < len(g.text) && g.text[g.at] != '\n' {
				g.at++
			}
		default:
			return
		}
	}
}

// word returns the characters up to the next blank or bracket.
func (g *gmlReader) word() string {
	start := g.at
	for g.at < len(g.text) && g.text[g.at] > ' ' && g.text[g.at] != '[' && g.text[g.at] != ']' {
		g.at++
	}
	return g.text[start:g.at]
}

// quoted returns the string whose opening quote is next. Entities are undone.
func (g *gmlReader) quoted() (string, error) {
	start := g.line
	end := strings.IndexByte(g.text[g.at+1:], '"')
	if end < 0 {
		return "", failAt(start, Damaged, "a text that does not end", "close the quote, or write the file again")
	}
	text := g.text[g.at+1 : g.at+1+end]
	g.at += end + 2
	g.line += int64(strings.Count(text, "\n"))
	if strings.IndexByte(text, '&') >= 0 {
		text = html.UnescapeString(text)
	}
	return text, nil
}

// gmlItem is a node or an edge while it is read.
type gmlItem struct {
	of  *attributes
	row []string
}

// keys reads keys and values up to the closing bracket, or to the end of the file at the
// top. Values go to item, if there is one, under the prefix.
func (g *gmlReader) keys(item *gmlItem, within, prefix string, depth int, top bool) error {
	begin := g.line
	if depth > gmlDepth {
		return failAt(g.line, Damaged, fmt.Sprintf("lists within lists, more than %d deep", gmlDepth), "flatten the attributes")
	}
	for {
		if g.steps++; g.steps%4096 == 0 && g.ctx.Err() != nil {
			return g.ctx.Err()
		}
		g.skip()
		if g.at == len(g.text) {
			if top {
				return nil
			}
			return failAt(begin, Damaged, "the list that begins here does not end", "was the file cut short? fetch or write it again")
		}
		if g.text[g.at] == ']' {
			if top {
				return failAt(g.line, Damaged, "a ] that closes nothing", "correct the line, or write the file again")
			}
			g.at++
			return nil
		}
		key := g.word()
		if key == "" || !isKey(key) {
			return failAt(g.line, Damaged, fmt.Sprintf("%s where the name of an attribute is expected",
				quote(g.text[g.at-len(key):min(len(g.text), g.at+20)])), "correct the line, or write the file again")
		}
		if err := g.value(item, within, prefix, key, depth); err != nil {
			return err
		}
	}
}

// isKey reports whether a word is a key: letters, digits and underscores. Programs write
// hyphens, dots and colons too.
func isKey(word string) bool {
	return !strings.ContainsAny(word, `"`) && !strings.ContainsAny(word[:1], "0123456789+-.")
}

// value reads what follows a key.
func (g *gmlReader) value(item *gmlItem, within, prefix, key string, depth int) error {
	g.skip()
	if g.at == len(g.text) || g.text[g.at] == ']' {
		return failAt(g.line, Damaged, fmt.Sprintf("%s has no value", quote(key)), "was the file cut short? fetch or write it again")
	}
	if g.text[g.at] == '[' {
		g.at++
		return g.nested(item, within, prefix, key, depth)
	}
	text, err := "", error(nil)
	if g.text[g.at] == '"' {
		text, err = g.quoted()
	} else {
		text = g.word()
	}
	if err != nil {
		return err
	}
	switch {
	case item != nil:
		g.put(item, prefix+key, text)
	case within == "graph" && strings.EqualFold(key, "directed") && text == "1":
		g.notes = append(g.notes, directed)
	}
	return nil
}

// put sets an attribute of a node or an edge.
func (g *gmlReader) put(item *gmlItem, name, text string) {
	switch name {
	case "graphics.x", "graphics.y":
		name = strings.TrimPrefix(name, "graphics.") // where the node is drawn
	default:
		if strings.HasPrefix(name, "graphics.") || strings.HasPrefix(name, "LabelGraphics.") {
			return // how it is drawn
		}
	}
	if text == "_networkx_list_start" {
		return // marks a list of one value
	}
	item.row = item.of.set(item.row, name, text)
}

// nested reads a list that is the value of a key.
func (g *gmlReader) nested(item *gmlItem, within, prefix, key string, depth int) error {
	switch {
	case item != nil:
		return g.keys(item, within, prefix+key+".", depth+1, false)
	case within == "" && strings.EqualFold(key, "graph"):
		return g.keys(nil, "graph", "", depth+1, false)
	case within == "graph" && key == "node":
		node := &gmlItem{of: g.nodes, row: make([]string, 1, len(g.nodes.Names))}
		if err := g.keys(node, "node", "", depth+1, false); err != nil {
			return err
		}
		g.nodes.Rows = append(g.nodes.Rows, node.row)
		return nil
	case within == "graph" && key == "edge":
		edge := &gmlItem{of: g.edges, row: make([]string, 2, len(g.edges.Names))}
		if err := g.keys(edge, "edge", "", depth+1, false); err != nil {
			return err
		}
		g.edges.Rows = append(g.edges.Rows, edge.row)
		return nil
	}
	return g.keys(nil, "other", "", depth+1, false) // an attribute of the graph
}
