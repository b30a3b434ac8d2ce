package formats

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// jsonFormat is JSON in one of these forms: nodes and links (networkx, D3, JSON Graph
// Format, Cytoscape), records (a list, or one on each line), lists of cells, or columns
// (pandas).
//
//	{"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "a", "target": "b", "weight": 2}]}
//	[{"node": "a", "speed": 3.5}, {"node": "b", "speed": 4}]
var jsonFormat = &Format{
	Name: "JSON",
	Detect: func(_ string, head []byte) bool {
		return jsonStart.Match(head)
	},
	Read: readJSON,
}

var jsonStart = regexp.MustCompile(`^\s*(?:\{\s*["'}]|\[\s*[{\["'])`)

type jsonReader struct {
	ctx   context.Context
	data  []byte
	steps int
}

func readJSON(ctx context.Context, in Input, opts Options) (*File, error) {
	r := &jsonReader{ctx: ctx, data: in.Data}
	dec := json.NewDecoder(bytes.NewReader(in.Data))
	var values []json.RawMessage
	for {
		var value json.RawMessage
		err := dec.Decode(&value)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, r.broken(err, dec.InputOffset())
		}
		if values = append(values, value); len(values)%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	switch {
	case len(values) == 0:
		return nil, fail(Damaged, "the document is empty", "write it again")
	case len(values) == 1 && values[0][0] == '[':
		return r.records(items(values[0]))
	case len(values) == 1:
		return r.document(values[0], opts)
	}
	return r.records(values)
}

// broken is the error about a text that is not JSON.
func (r *jsonReader) broken(err error, at int64) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.Is(err, io.ErrUnexpectedEOF):
		at = int64(len(r.data))
	}
	at = max(0, min(at, int64(len(r.data))))
	line := int64(bytes.Count(r.data[:at], []byte("\n"))) + 1
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return failAt(line, Damaged, "the document ends in the middle", "the file was cut short: fetch or write it again")
	}
	return failAt(line, Damaged, "is not JSON: "+err.Error(), correctLine)
}

// cutValue cuts the first value off a part of a document that is known to be JSON.
func cutValue(text json.RawMessage) (value, rest json.RawMessage) {
	text = trimJSON(text)
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if depth == 0 && i < len(text) {
				return text[:i+1], text[i+1:]
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return text[:i+1], text[i+1:]
			} else if depth < 0 {
				return text[:i], text[i:]
			}
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return text[:i], text[i:]
			}
		}
	}
	return text, nil
}

// trimJSON removes what stands before a value: blanks, commas, colons.
func trimJSON(text json.RawMessage) json.RawMessage { return bytes.TrimLeft(text, " \t\r\n,:") }

// items returns the values of a list.
func items(list json.RawMessage) (all []json.RawMessage) {
	for rest := trimJSON(list[1:]); len(rest) > 1; rest = trimJSON(rest) {
		var value json.RawMessage
		value, rest = cutValue(rest)
		all = append(all, value)
	}
	return all
}

// member is a name and a value of an object.
type member struct {
	name  string
	value json.RawMessage
}

// members returns those of an object, in their order; nil for another value.
func (r *jsonReader) members(object json.RawMessage) ([]member, error) {
	if r.steps++; r.steps%4096 == 0 && r.ctx.Err() != nil {
		return nil, r.ctx.Err()
	}
	if !isObject(object) {
		return nil, nil
	}
	all := []member{}
	for rest := trimJSON(object[1:]); len(rest) > 1; rest = trimJSON(rest) {
		var name, value json.RawMessage
		name, rest = cutValue(rest)
		value, rest = cutValue(rest)
		all = append(all, member{r.text(name), value})
	}
	return all, nil
}

// find returns the value of a name, nil if there is none.
func find(members []member, name string) json.RawMessage {
	for _, m := range members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

func isList(value json.RawMessage) bool   { return len(value) > 0 && value[0] == '[' }
func isObject(value json.RawMessage) bool { return len(value) > 0 && value[0] == '{' }

// document reads a file that is one object.
func (r *jsonReader) document(value json.RawMessage, opts Options) (*File, error) {
	top, err := r.members(value)
	if err != nil {
		return nil, err
	}
	var kind string
	if json.Unmarshal(find(top, "type"), &kind) == nil && (kind == "Topology" || kind == "FeatureCollection" || kind == "Feature") {
		return nil, fail(Unsupported, "is JSON of type "+kind+", which is not read as a graph", "save it as GeoJSON with lines or points, or write the edges as CSV")
	}
	for _, within := range []string{"", "graph", "elements"} { // networkx, JSON Graph Format, Cytoscape
		graph := top
		if within != "" {
			if graph, err = r.members(find(top, within)); err != nil {
				return nil, err
			}
		}
		nodes, links := find(graph, "nodes"), find(graph, "links")
		if links == nil {
			links = find(graph, "edges")
		}
		if (isList(nodes) || isObject(nodes)) && isList(links) {
			return r.graph(append(slices.Clone(graph), top...), nodes, links, opts)
		}
	}
	if find(top, "nodes") != nil && find(top, "adjacency") != nil {
		return nil, fail(Unsupported, "is JSON with an adjacency, which is not read", "write nodes and links: networkx.node_link_data(G)")
	}
	return r.columns(top)
}

// graph reads nodes and links.
func (r *jsonReader) graph(graph []member, nodes, links json.RawMessage, opts Options) (*File, error) {
	var notes []string
	if string(find(graph, "directed")) == "true" {
		notes = append(notes, directed)
	}
	n, err := r.nodes(nodes)
	if err != nil {
		return nil, err
	}
	e, err := r.links(links)
	if err != nil {
		return nil, err
	}
	if r.byIndex(n, e) {
		for i, row := range n.Rows {
			name := row[0]
			row[0] = strconv.Itoa(i)
			if name != "" {
				n.Rows[i] = n.set(row, "name", name)
			}
		}
		n.Names[0] = "index"
		n.column = map[string]int{}
		for j, name := range n.Names {
			n.column[name] = j
		}
		return nameNodes(n, e, opts, notes, "name", "label")
	}
	return nameNodes(n, e, opts, notes)
}

// byIndex reports whether links name nodes by their places in the list, as in older
// files of D3: no node has an id, or some end is no id and all are places.
func (r *jsonReader) byIndex(nodes, edges *attributes) bool {
	ids := make(map[string]bool, len(nodes.Rows))
	for _, row := range nodes.Rows {
		ids[row[0]] = true
	}
	stranger := false
	for _, row := range edges.Rows {
		for _, end := range row[:2] {
			i, ok := wholeNumber(end)
			if !ok || i >= int64(len(nodes.Rows)) {
				return false
			}
			stranger = stranger || !ids[end]
		}
	}
	return stranger && len(nodes.Rows) > 0
}

// nodes reads a list of nodes, or an object of nodes by id.
func (r *jsonReader) nodes(value json.RawMessage) (*attributes, error) {
	t := newAttributes("node", "id")
	if isObject(value) {
		t.reserve()
		all, err := r.members(value)
		if err != nil {
			return nil, err
		}
		for _, m := range all {
			row, err := r.record(t, []string{m.name}, m.value, true)
			if err != nil {
				return nil, err
			}
			t.Rows = append(t.Rows, row)
		}
		return t, nil
	}
	for i, item := range items(value) {
		if !isObject(item) {
			return nil, r.notRecord(t.Unit, i, item)
		}
		row, err := r.record(t, []string{""}, item, true)
		if err != nil {
			return nil, err
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// links reads a list of edges.
func (r *jsonReader) links(value json.RawMessage) (*attributes, error) {
	t := newAttributes("edge", "source", "target")
	for i, item := range items(value) {
		if !isObject(item) {
			return nil, r.notRecord(t.Unit, i, item)
		}
		row, err := r.record(t, []string{"", ""}, item, true)
		if err != nil {
			return nil, err
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

func (r *jsonReader) notRecord(unit string, i int, item json.RawMessage) error {
	e := failAt(int64(i+1), Unsupported, quote(string(item))+" is not an object with names and values", "write the file again")
	e.Unit = unit
	return e
}

// records reads a list of objects, or of lists of cells.
func (r *jsonReader) records(all []json.RawMessage) (*File, error) {
	if len(all) > 0 && isList(all[0]) {
		return r.cells(all)
	}
	t := newAttributes("record")
	for i, item := range all {
		if !isObject(item) {
			return nil, r.notRecord(t.Unit, i, item)
		}
		row, err := r.record(t, nil, item, false)
		if err != nil {
			return nil, err
		}
		t.Rows = append(t.Rows, row)
	}
	if len(t.Names) == 0 {
		return nil, fail(Content, "the records are empty", "name another file")
	}
	return &File{Rows: &t.Table}, nil
}

// cells reads a list of lists, of which the first may hold names.
func (r *jsonReader) cells(all []json.RawMessage) (*File, error) {
	t := &Table{Unit: "row"}
	for i, item := range all {
		if !isList(item) {
			return nil, r.notRecord(t.Unit, i, item)
		}
		cells := items(item)
		row := make([]string, len(cells))
		for j, cell := range cells {
			row[j] = r.text(cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return &File{Rows: t}, nil
}

// columns reads an object of columns, each with cells "0", "1", …, as pandas writes it.
func (r *jsonReader) columns(top []member) (*File, error) {
	other := fail(Unsupported, "is JSON, but neither nodes and links, nor records, nor columns of pandas",
		`write a list of records: [{"source": "a", "target": "b", "weight": 1}, …]`, "write it as CSV")
	t := &Table{Unit: "row"}
	for j, m := range top {
		cells, err := r.members(m.value)
		if err != nil {
			return nil, err
		}
		if j == 0 {
			t.Rows = make([][]string, len(cells))
		}
		if len(cells) == 0 || len(cells) != len(t.Rows) {
			return nil, other
		}
		t.Names = append(t.Names, m.name)
		for i, cell := range cells {
			if cell.name != strconv.Itoa(i) || isList(cell.value) || isObject(cell.value) {
				return nil, other
			}
			t.Rows[i] = append(t.Rows[i], r.text(cell.value))
		}
	}
	if len(t.Names) == 0 {
		return nil, other
	}
	return &File{Rows: t}, nil
}

const jsonDepth = 20

// record puts the members of an object into a row. Those of data and metadata belong to
// the object itself in a graph, and other objects within it have names with dots.
func (r *jsonReader) record(t *attributes, row []string, object json.RawMessage, graph bool) ([]string, error) {
	return r.flatten(t, row, object, "", graph, 0)
}

func (r *jsonReader) flatten(t *attributes, row []string, object json.RawMessage, prefix string, graph bool, depth int) ([]string, error) {
	if depth > jsonDepth {
		return nil, fail(Unsupported, fmt.Sprintf("objects within objects, more than %d deep", jsonDepth), "flatten the records")
	}
	all, err := r.members(object)
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		name := prefix + m.name
		switch {
		case isObject(m.value) && graph && depth == 0 && slices.Contains([]string{"data", "metadata", "position"}, m.name):
			row, err = r.flatten(t, row, m.value, prefix, graph, depth+1)
		case isObject(m.value) && graph && depth == 0 && (m.name == "source" || m.name == "target"):
			var end []member
			if end, err = r.members(m.value); err == nil {
				row = r.put(t, row, name, r.text(find(end, "id")))
			}
		case isObject(m.value):
			row, err = r.flatten(t, row, m.value, name+".", graph, depth+1)
		default:
			if depth > 0 && prefix == "" && t.get(row, name) != "" {
				name = "metadata." + name // the object itself says something else
			}
			row = r.put(t, row, name, r.text(m.value))
		}
		if err != nil {
			return nil, err
		}
	}
	return row, nil
}

// put sets an attribute; of one that is there twice, the last is used, as JSON readers do.
func (r *jsonReader) put(t *attributes, row []string, name, text string) []string {
	if j, known := t.column[name]; known && j < len(row) {
		row[j] = text
		return row
	}
	return t.set(row, name, text)
}

// text returns a value as text: null is empty, and the items of a list are separated
// by |.
func (r *jsonReader) text(value json.RawMessage) string {
	switch {
	case len(value) == 0 || string(value) == "null":
		return ""
	case value[0] == '"':
		if bytes.IndexByte(value, '\\') < 0 && utf8.Valid(value) {
			return string(value[1 : len(value)-1])
		}
		var text string
		if json.Unmarshal(value, &text) != nil {
			return string(value)
		}
		return text
	case value[0] == '[':
		var all []string
		for _, item := range items(value) {
			if isList(item) || isObject(item) {
				return string(value)
			}
			all = append(all, r.text(item))
		}
		return strings.Join(all, "|")
	}
	return string(value)
}
