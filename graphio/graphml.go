package graphio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// graphML reads a GraphML document element by element. Its ledger counts edge
// elements, because lines have no meaning in XML.
type graphML struct {
	in    *input
	opts  Options
	src   *recorder
	xml   *xml.Decoder
	r     *Report
	names *namer
	list  *edgeList
	rows  edgeBlock // edges not yet in list

	keys     []graphMLKey
	columns  edgeColumns // weight: index of the key
	roles    map[string]Role
	nodes    *NodeTable
	others   []*graphMLColumn // attributes of nodes without a role
	declared []bool           // node i has an element of its own
	directed bool
	chosen   bool // the keys
	rooted   bool // the first element was there
	depth    int  // of nodes within nodes

	line, column int // where the token at hand begins
}

func readGraphML(ctx context.Context, in *input, opts Options) (*Network, error) {
	g := &graphML{
		in: in, opts: opts, src: &recorder{in.text, nil},
		r:     &Report{table: in.table, File: in.name, Format: formatGraphML, Compression: in.compression, Ledger: Ledger{Unit: "edge elements"}},
		names: newNamer(opts.Nodes), list: newEdgeList(), columns: edgeColumns{weight: -1},
		roles: map[string]Role{}, nodes: &NodeTable{},
	}
	g.xml = xml.NewDecoder(g.src)
	for n := 0; ; n++ {
		if n%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			in.tell()
		}
		g.src.forget()
		token, err := g.token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := g.take(token); err != nil {
			return nil, err
		}
	}
	return g.finish()
}

// token returns the next token and notes where it begins.
func (g *graphML) token() (xml.Token, error) {
	g.line, g.column = g.xml.InputPos()
	token, err := g.xml.Token()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, g.broken(err)
	}
	return token, err
}

// inner is token within an element: the end of the document is an error.
func (g *graphML) inner() (xml.Token, error) {
	token, err := g.token()
	if errors.Is(err, io.EOF) {
		return nil, g.cutShort()
	}
	return token, err
}

func (g *graphML) skip() error {
	if err := g.xml.Skip(); err != nil {
		return g.broken(err)
	}
	return nil
}

// take handles a token outside of nodes, edges and keys.
func (g *graphML) take(token xml.Token) error {
	t, ok := token.(xml.StartElement)
	if !ok {
		return nil
	}
	name := t.Name.Local
	if !g.rooted && name != "graphml" {
		return g.in.fail(CodeFormat, fmt.Sprintf("is XML, but begins with <%s>, not with <graphml>", name),
			do("save the graph as GraphML or as CSV"))
	}
	g.rooted = true
	switch name {
	case "key":
		return g.key(t)
	case "graph":
		g.directed = g.directed || attr(t, "edgedefault") == "directed"
		return g.choose()
	case "node":
		return g.node(t)
	case "edge":
		return g.edge(t)
	case "hyperedge":
		return g.fail("a hyperedge, which joins more than two nodes", "replace it by edges")
	}
	return nil
}

func attr(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (g *graphML) fail(what, next string) error {
	return g.failWith(CodeFormat, what, do(next))
}

// failWith is an error at the current token.
func (g *graphML) failWith(code Code, what string, remedies ...Remedy) *Error {
	return &Error{Code: code, Table: g.in.table, File: g.in.name, Line: int64(g.line), Column: g.column, What: what, Remedies: remedies}
}

func (g *graphML) cutShort() error {
	return g.failWith(CodeDamaged, "the document ends in the middle", do("the file was cut short: fetch or write it again"))
}

// broken is the error about a document that the XML reader refuses.
func (g *graphML) broken(err error) error {
	var syntax *xml.SyntaxError
	switch {
	case errors.As(err, &syntax) && strings.Contains(syntax.Msg, "unexpected EOF"):
		return g.cutShort()
	case errors.As(err, &syntax):
		return g.fail("is not well-formed XML: "+syntax.Msg, "correct the line, or write the file again")
	case strings.Contains(err.Error(), "encoding"):
		return g.fail("is in an encoding that is not read ("+err.Error()+")", "convert it to UTF-8 with iconv, and change its first line")
	}
	return g.in.readError(err)
}

// text returns the text of the element that was just opened, up to its end.
func (g *graphML) text() (string, error) {
	var b strings.Builder
	for {
		token, err := g.inner()
		if err != nil {
			return "", err
		}
		switch t := token.(type) {
		case xml.CharData:
			b.Write(t)
		case xml.StartElement: // what yEd draws
			if err := g.skip(); err != nil {
				return "", err
			}
		case xml.EndElement:
			return strings.TrimSpace(b.String()), nil
		}
	}
}

func (g *graphML) node(t xml.StartElement) error {
	id := attr(t, "id")
	if id == "" {
		return g.fail("a node without id", "give every node an id")
	}
	const deepest = 100
	if g.depth++; g.depth > deepest {
		return g.fail(fmt.Sprintf("nodes within nodes, more than %d deep", deepest), "flatten the graph")
	}
	defer func() { g.depth-- }()
	i := g.names.ids.Intern([]byte(id))
	if i < len(g.declared) && g.declared[i] {
		return g.fail(fmt.Sprintf("node %s is declared twice", quote([]byte(id))), "give every node its own id")
	}
	for len(g.declared) <= i {
		g.declared = append(g.declared, false)
	}
	g.declared[i] = true
	return g.data("node", func(key, text string) error {
		role, ok := g.roles[key]
		g.collect(i, key, text)
		if !ok {
			return nil
		}
		c, missing, reason := readCell(role, []byte(text), false, newMissingCodes(g.opts.Missing))
		if reason != noFault {
			what, remedies := fault{reason: reason, role: role, end: len(text)}.explain([]byte(text), &rowLayout{})
			return g.failWith(CodeRow, what, remedies...)
		}
		if missing {
			g.r.Missing++
		}
		g.nodes.grow(i+1, []Role{role})
		g.nodes.put(i, c)
		return nil
	})
}

// data calls use for the data of the element that was just opened, up to its
// end. A graph within a node becomes part of the whole graph.
func (g *graphML) data(element string, use func(key, text string) error) error {
	for {
		if element == "node" {
			g.src.forget()
		}
		token, err := g.inner()
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.EndElement:
			if t.Name.Local == element {
				return nil
			}
		case xml.StartElement:
			if t.Name.Local == "data" {
				line, column := g.line, g.column
				text, err := g.text()
				g.line, g.column = line, column
				if err == nil {
					err = use(attr(t, "key"), text)
				}
				if err != nil {
					return err
				}
				continue
			}
			switch t.Name.Local {
			case "graph", "node", "edge":
				err = g.take(t)
			default:
				err = g.skip()
			}
			if err != nil {
				return err
			}
		}
	}
}

func (g *graphML) edge(t xml.StartElement) error {
	line, column := g.line, g.column
	g.r.Ledger.Total++
	source, target := attr(t, "source"), attr(t, "target")
	weight, hasWeight := "", false
	var key graphMLKey
	if g.columns.weight >= 0 {
		key = g.keys[g.columns.weight]
		weight, hasWeight = key.fallback, key.hasFallback
	}
	g.directed = g.directed || attr(t, "directed") == "true"
	if err := g.data("edge", func(id, text string) error {
		if id == key.id && g.columns.weight >= 0 {
			weight, hasWeight = text, true
		}
		return nil
	}); err != nil {
		return err
	}
	w, bad := g.strength(weight, hasWeight, source == target && !g.opts.KeepLoops)
	switch {
	case source == "":
		bad = fault{reason: emptyID, role: RoleSource}
	case target == "":
		bad = fault{reason: emptyID, role: RoleTarget}
	}
	if bad.reason != noFault {
		return g.bad(bad, weight, line, column)
	}
	if g.columns.weight >= 0 {
		g.rows.w = append(g.rows.w, w)
	}
	g.rows.u = append(g.rows.u, uint32(g.names.ids.Intern([]byte(source))))
	g.rows.v = append(g.rows.v, uint32(g.names.ids.Intern([]byte(target))))
	if len(g.rows.u) == 1<<16 {
		g.flush()
	}
	return nil
}

func (g *graphML) flush() {
	g.list.take(&g.rows, g.opts.KeepLoops)
	g.rows.u, g.rows.v, g.rows.w = g.rows.u[:0], g.rows.v[:0], g.rows.w[:0]
}

// strength reads the weight of an edge by the rules of delimited text.
func (g *graphML) strength(text string, has, dropped bool) (float64, fault) {
	if g.columns.weight < 0 {
		return 1, fault{}
	}
	if !has {
		text = ""
	}
	l := edgeLayout{edgeColumns: g.columns}
	return l.strength(&block{}, []byte(text), field{end: len(text)}, dropped)
}

// bad fails, or counts, quotes and rejects the element that was just read.
func (g *graphML) bad(bad fault, text string, line, column int) error {
	what, remedies := bad.explain([]byte(text), &rowLayout{})
	e := &Error{Code: CodeRow, Table: g.in.table, File: g.in.name, Line: int64(line), Column: column, What: what, Remedies: remedies}
	if g.opts.BadRows != BadRowsSkip {
		return e
	}
	g.r.Ledger.Bad++
	if bad.reason == missingNumber {
		g.r.Missing++
	}
	if len(g.r.BadRows) < badKept {
		e.Remedies = nil
		g.r.BadRows = append(g.r.BadRows, e.Error())
	}
	if g.opts.Rejects != nil {
		if _, err := g.opts.Rejects.Write(append(bytes.TrimSpace(g.src.kept), '\n')); err != nil {
			return fmt.Errorf("writing rejected edges of %s: %w", g.in.name, err)
		}
	}
	return nil
}

func (g *graphML) finish() (*Network, error) {
	g.flush()
	g.in.tell()
	if g.directed {
		g.r.warn("the graph is directed; directions are dropped")
	}
	undeclared := 0
	for i := range g.names.ids.Len() {
		if i >= len(g.declared) || !g.declared[i] {
			undeclared++
		}
	}
	network, err := buildNetwork(g.list, g.columns, g.names, g.r, g.opts)
	if err != nil {
		return nil, err
	}
	if g.opts.Nodes == nil {
		if undeclared > 0 {
			g.r.warn("nodes that edges name but no node element declares: %d", undeclared)
		}
		g.finishColumns(network.Graph.Len())
		if len(g.roles) > 0 || len(g.others) > 0 {
			g.nodes.grow(network.Graph.Len(), slices.DeleteFunc(slices.Clone(nodeTable.roles[1:]),
				func(role Role) bool { return !g.nodes.has(role) }))
			network.Nodes = g.nodes.follow(network.Graph)
		}
	}
	return network, nil
}

// recorder remembers what the XML reader has read since a token began, so that
// a rejected element can be written as it was.
type recorder struct {
	r    *bufio.Reader
	kept []byte
}

// forget starts a new token. The XML reader reads one byte beyond the end of text:
// that byte belongs to the new token.
func (r *recorder) forget() {
	ahead := bytes.HasSuffix(r.kept, []byte{'<'})
	r.kept = r.kept[:0]
	if ahead {
		r.kept = append(r.kept, '<')
	}
}

func (r *recorder) ReadByte() (byte, error) {
	c, err := r.r.ReadByte()
	if err == nil {
		r.kept = append(r.kept, c)
	}
	return c, err
}

// Read is there for the interface; the XML reader reads byte by byte.
func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.kept = append(r.kept, p[:n]...)
	return n, err
}
