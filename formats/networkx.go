package formats

import (
	"context"
	"fmt"
	"strings"
)

// The text formats of networkx. Attributes are dictionaries as Python prints them.
var (
	// write_edgelist: "a b {'weight': 1.5}"
	edgelistFormat = &Format{Name: "networkx edge list", Detect: detectEdgelist, Read: readEdgelist}
	// write_multiline_adjlist: "a 2", then "b {'weight': 1.5}" and "c {}"
	multilineFormat = &Format{Name: "networkx multiline adjacency list", Detect: detectMultiline, Read: readMultiline}
	// write_adjlist: "a b c"
	adjlistFormat = &Format{Name: "networkx adjacency list", Detect: detectAdjlist, Read: readAdjlist}
)

// cutDict cuts the dictionary off the end of a line.
func cutDict(line string) (before, dict string, ok bool) {
	i := strings.IndexByte(line, '{')
	if i < 1 || !strings.HasSuffix(line, "}") || !strings.ContainsAny(line[i-1:i], " \t,;|") {
		return line, "", false
	}
	return line[:i], line[i:], true
}

// ends cuts what stands before a dictionary into nodes: by the character before the
// dictionary, or by blanks.
func ends(before string) []string {
	last := before[len(before)-1:]
	if trimmed := strings.TrimRight(before, " \t"); len(trimmed) > 0 && strings.ContainsAny(trimmed[len(trimmed)-1:], ",;|") {
		before, last = trimmed, trimmed[len(trimmed)-1:]
	}
	if last == " " {
		return strings.Fields(before)
	}
	cells := strings.Split(strings.TrimSuffix(before, last), last)
	for i, cell := range cells {
		cells[i] = strings.TrimSpace(cell)
	}
	return cells
}

// dataLines returns the sampled lines that are neither blank nor comments.
func dataLines(head []byte) []string {
	var data []string
	for _, line := range sampleLines(head) {
		if line != "" && line[0] != '#' {
			data = append(data, line)
		}
	}
	return data
}

func detectEdgelist(_ string, head []byte) bool {
	data := dataLines(head)
	for _, line := range data {
		before, dict, ok := cutDict(line)
		if !ok || len(ends(before)) != 2 || dict != "{}" && !strings.HasPrefix(dict, "{'") {
			return false
		}
	}
	return len(data) > 0
}

func readEdgelist(ctx context.Context, in Input, _ Options) (*File, error) {
	s := newScanner(ctx, in.Data)
	edges := newAttributes("edge", "source", "target").reserve()
	for s.nextData("#") {
		before, dict, ok := cutDict(s.line)
		if !ok {
			return nil, s.fail(Damaged, quote(s.line)+" is not two nodes and a dictionary", correctLine)
		}
		row := ends(before)
		if len(row) != 2 {
			return nil, s.fail(Damaged, fmt.Sprintf("%s are not two nodes", quote(before)),
				"write ids without blanks: nx.write_edgelist(G, path, delimiter=',')")
		}
		if !pythonDict(dict, func(key, value string) { row = edges.set(row, key, value) }) {
			return nil, s.fail(Damaged, quote(dict)+" is not a dictionary of numbers and texts",
				"write plain columns: nx.to_pandas_edgelist(G).to_csv(path, index=False)")
		}
		edges.Rows = append(edges.Rows, row)
	}
	return &File{Edges: &edges.Table}, s.err
}

// node reads "a 2": a node and the number of lines about its edges.
func (s *scanner) node() (id string, count int64, ok bool) {
	words := strings.Fields(s.line)
	if len(words) != 2 {
		return "", 0, false
	}
	count, ok = wholeNumber(words[1])
	return words[0], count, ok
}

func detectMultiline(_ string, head []byte) bool {
	data := dataLines(head)
	found := false
	for i := 0; i < len(data); {
		s := scanner{line: data[i]}
		_, count, ok := s.node()
		if !ok {
			return false
		}
		for i++; count > 0 && i < len(data); i++ {
			before, _, ok := cutDict(data[i])
			if !ok || len(ends(before)) != 1 {
				return false
			}
			found = true
			count--
		}
	}
	return found
}

func readMultiline(ctx context.Context, in Input, _ Options) (*File, error) {
	s := newScanner(ctx, in.Data)
	edges, nodes := newAttributes("edge", "source", "target").reserve(), []string(nil)
	for s.nextData("#") {
		id, count, ok := s.node()
		if !ok {
			return nil, s.fail(Damaged, quote(s.line)+" is not a node and its number of lines", correctLine)
		}
		nodes = append(nodes, id)
		for ; count > 0; count-- {
			if !s.nextData("#") {
				if s.err != nil {
					return nil, s.err
				}
				return nil, s.fail(Damaged, fmt.Sprintf("node %s promises %d more lines", quote(id), count), "was the file cut short? fetch it again")
			}
			before, dict, ok := cutDict(s.line)
			other := strings.Fields(before)
			if !ok || len(other) != 1 {
				return nil, s.fail(Damaged, quote(s.line)+" is not a node and a dictionary", correctLine)
			}
			row := []string{id, other[0]}
			if !pythonDict(dict, func(key, value string) { row = edges.set(row, key, value) }) {
				return nil, s.fail(Damaged, quote(dict)+" is not a dictionary of numbers and texts",
					"write plain columns: nx.to_pandas_edgelist(G).to_csv(path, index=False)")
			}
			edges.Rows = append(edges.Rows, row)
		}
	}
	return &File{Edges: &edges.Table, Nodes: withLone(&edges.Table, nodes)}, s.err
}

// detectAdjlist goes by the comments that networkx writes, or by the name of the file.
func detectAdjlist(name string, head []byte) bool {
	lines := sampleLines(head)
	stamped := len(lines) > 1 && strings.HasPrefix(lines[0], "#") && strings.HasPrefix(lines[1], "# GMT ")
	return stamped || hasExtension(name, ".adjlist")
}

func readAdjlist(ctx context.Context, in Input, _ Options) (*File, error) {
	edges, nodes := &Table{Names: []string{"source", "target"}, Unit: "edge"}, []string(nil)
	split := strings.Fields
	for _, d := range []string{"\t", ","} {
		if strings.Contains(strings.Join(dataLines(in.Data[:min(len(in.Data), Head)]), "\n"), d) {
			split = func(line string) []string { return strings.Split(line, d) }
			break
		}
	}
	for s := newScanner(ctx, in.Data); ; {
		if !s.nextData("#") {
			return &File{Edges: edges, Nodes: withLone(edges, nodes)}, s.err
		}
		if strings.HasSuffix(s.line, "}") {
			return nil, s.fail(Unsupported, "an adjacency list with attributes, which has no fixed form",
				"write it with nx.write_edgelist or nx.write_graphml")
		}
		words := split(s.line)
		nodes = append(nodes, words[0])
		for _, other := range words[1:] {
			if strings.TrimSpace(other) != "" {
				edges.Rows = append(edges.Rows, []string{words[0], other})
			}
		}
	}
}
