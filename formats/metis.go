package formats

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// metisFormat is the format of METIS, KaHIP and Chaco: the first line holds the numbers
// of nodes and edges, and line i of the others the neighbours of node i.
//
//	3 2 001
//	2 7
//	1 7 3 4
//	2 4
var metisFormat = &Format{
	Name: "METIS",
	Detect: func(name string, head []byte) bool {
		if hasExtension(name, ".metis") {
			return true
		}
		return looksLikeMETIS(head, hasExtension(name, ".graph"))
	},
	Read: readMETIS,
}

// metisHeader is the first line.
type metisHeader struct {
	nodes, edges       int64
	sizes, edgeWeights bool
	weights            int // of a node
	line               int64
}

// parseMETISHeader reads "nodes edges [fmt [ncon]]", where fmt has a digit for sizes
// of nodes, weights of nodes and weights of edges.
func parseMETISHeader(line string) (h metisHeader, ok bool) {
	words := strings.Fields(line)
	if len(words) < 2 || len(words) > 4 {
		return h, false
	}
	if h.nodes, ok = wholeNumber(words[0]); !ok {
		return h, false
	}
	if h.edges, ok = wholeNumber(words[1]); !ok {
		return h, false
	}
	if len(words) > 2 {
		if len(words[2]) > 3 || strings.Trim(words[2], "01") != "" {
			return h, false
		}
		code := strings.Repeat("0", 3-len(words[2])) + words[2]
		h.sizes, h.edgeWeights = code[0] == '1', code[2] == '1'
		if code[1] == '1' {
			h.weights = 1
		}
	}
	if len(words) == 4 {
		n, ok := wholeNumber(words[3])
		if !ok || n > 1000 || h.weights == 0 && n > 0 {
			return h, false
		}
		h.weights = int(n)
	}
	return h, true
}

// looksLikeMETIS reports whether each line is a list of neighbours that are neighbours
// of it in turn, as far as the head of the file shows. An edge list is not like that. A
// file with the name of the format is in it, too, unless all its lines have as many words
// as the first.
func looksLikeMETIS(head []byte, named bool) bool {
	var h metisHeader
	var rows [][]int64
	lines := slices.DeleteFunc(sampleLines(head), func(line string) bool { return strings.HasPrefix(line, "%") })
	named = named && len(lines) > 0 && slices.ContainsFunc(lines, func(line string) bool {
		return line != "" && len(strings.Fields(line)) != len(strings.Fields(lines[0]))
	})
	for _, line := range lines {
		if h.nodes == 0 {
			var ok bool
			if h, ok = parseMETISHeader(line); !ok || h.nodes == 0 {
				return false
			}
			continue
		}
		if int64(len(rows)) == h.nodes && line == "" {
			continue
		}
		row, ok := h.neighbours(line)
		if !ok {
			return named // it is to be, and Read says what is wrong with it
		}
		rows = append(rows, row)
	}
	whole := len(head) < Head
	if h.nodes == 0 || int64(len(rows)) > h.nodes || whole && int64(len(rows)) != h.nodes {
		return named && h.nodes > 0
	}
	met, entries := 0, int64(0)
	for i, row := range rows {
		entries += int64(len(row))
		for _, j := range row {
			if j <= int64(len(rows)) {
				if !slices.Contains(rows[j-1], int64(i+1)) {
					return named
				}
				met++
			}
		}
	}
	return named || met > 0 && (!whole || entries == 2*h.edges)
}

// neighbours reads the neighbours of a node.
func (h *metisHeader) neighbours(line string) ([]int64, bool) {
	words := strings.Fields(line)
	skip, step := h.weights, 1
	if h.sizes {
		skip++
	}
	if h.edgeWeights {
		step = 2
	}
	if len(words) < skip || (len(words)-skip)%step != 0 {
		return nil, false
	}
	var row []int64
	for k := skip; k < len(words); k += step {
		j, ok := wholeNumber(words[k])
		if !ok || j < 1 || j > h.nodes {
			return nil, false
		}
		row = append(row, j)
	}
	return row, true
}

func readMETIS(ctx context.Context, in Input, _ Options) (*File, error) {
	s := newScanner(ctx, in.Data)
	if !s.nextData("%") {
		return nil, fail(Damaged, "there is no first line with the numbers of nodes and edges", "write: nodes edges")
	}
	h, ok := parseMETISHeader(s.line)
	if !ok {
		return nil, s.fail(Damaged, fmt.Sprintf("%s is not a first line of METIS", quote(s.line)),
			"write: nodes edges [fmt [weights]], as in 3 2 001")
	}
	h.line = s.at
	if err := checkSize(s.at, h.nodes, max(h.edges, int64(len(in.Data)))); err != nil {
		return nil, err
	}
	f := &File{Edges: &Table{Names: []string{"source", "target"}, Unit: "edge"}}
	if h.edgeWeights {
		f.Edges.Names = append(f.Edges.Names, "weight")
	}
	nodes := h.nodeTable()
	check := newMirror()
	node := int64(0)
	for s.next() {
		switch {
		case strings.HasPrefix(s.line, "%"):
			continue
		case node == h.nodes && s.line == "":
			continue
		case node == h.nodes:
			return nil, s.fail(Damaged, fmt.Sprintf("the first line promises %d nodes, but there are more lines", h.nodes), correctLine)
		}
		node++
		row, ok := h.neighbours(s.line)
		if !ok {
			return nil, s.fail(Damaged, fmt.Sprintf("%s are not the neighbours of node %d: numbers from 1 to %d%s", quote(s.line), node, h.nodes,
				h.words()), correctLine)
		}
		id, words := strconv.FormatInt(node, 10), strings.Fields(s.line)
		skip := len(nodes.Names) - 1
		nodes.Rows = append(nodes.Rows, append([]string{id}, words[:skip]...))
		for k, j := range row {
			edge := []string{id, words[skip+k]}
			if h.edgeWeights {
				edge = []string{id, words[skip+2*k], words[skip+2*k+1]}
			}
			if check.add(node, j, edge[2:]...) {
				f.Edges.Rows = append(f.Edges.Rows, edge)
			}
		}
	}
	if s.err != nil {
		return nil, s.err
	}
	if node < h.nodes {
		return nil, failAt(h.line, Damaged, fmt.Sprintf("the first line promises %d nodes, but there are %d", h.nodes, node),
			"was the file cut short? fetch it again, or correct the line")
	}
	if err := h.check(check); err != nil {
		return nil, err
	}
	if len(nodes.Names) > 1 {
		f.Nodes = nodes
	} else {
		f.Nodes = lone(f.Edges, h.nodes, 1)
	}
	return f, nil
}

// words says what stands beside neighbours.
func (h *metisHeader) words() string {
	switch {
	case h.edgeWeights:
		return ", each followed by its weight"
	case h.weights > 0 || h.sizes:
		return ", after the weights of the node"
	}
	return ""
}

// nodeTable returns the empty table of nodes.
func (h *metisHeader) nodeTable() *Table {
	t := &Table{Names: []string{"id"}, Unit: "node"}
	if h.sizes {
		t.Names = append(t.Names, "vertex_size")
	}
	for k := range h.weights {
		name := "vertex_weight"
		if h.weights > 1 {
			name += fmt.Sprintf("_%d", k+1)
		}
		t.Names = append(t.Names, name)
	}
	return t
}

// check compares the two lists of edges with what the first line promises.
func (h *metisHeader) check(c *mirror) error {
	switch {
	case !c.same():
		return fail(Damaged, "some edge is listed at one of its ends only, and METIS lists each at both", "write the file again")
	case c.n[0] != h.edges:
		return failAt(h.line, Damaged, fmt.Sprintf("the first line promises %d edges, but there are %d", h.edges, c.n[0]), correctLine)
	case !c.sameWeights():
		return fail(Damaged, "some edge has another weight at its other end", "write the file again")
	}
	return nil
}
