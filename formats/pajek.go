package formats

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// pajekFormat is the format of Pajek, also written by networkx, igraph and UCINET.
//
//	*Vertices 3
//	1 "a" 0.1 0.2
//	2 "b" 0.5 0.5
//	*Edges
//	1 2 0.5
var pajekFormat = &Format{
	Name: "Pajek",
	Detect: func(_ string, head []byte) bool {
		return pajekStart.Match(bytes.TrimSpace(head))
	},
	Read: readPajek,
}

var pajekStart = regexp.MustCompile(`^(?:%[^\n]*\n|\s*\n)*(?i:\*(?:vertices|network)\b)`)

type pajekReader struct {
	*scanner
	n        int64
	vertices int64 // line of *Vertices
	nodes    *attributes
	edges    *Table
	weighted bool
	row      int64 // of a matrix
	section  string
	notes    []string
}

func readPajek(ctx context.Context, in Input, opts Options) (*File, error) {
	r := &pajekReader{scanner: newScanner(ctx, in.Data), nodes: newAttributes("node", "id", "label").reserve(),
		edges: &Table{Names: []string{"source", "target", "weight"}, Unit: "edge"}}
	for r.nextData("%") {
		var err error
		if r.line[0] == '*' {
			err = r.begin()
		} else {
			err = r.take()
		}
		if err != nil {
			return nil, err
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	if r.vertices == 0 {
		return nil, fail(Damaged, "there is no *Vertices", "write the file again")
	}
	return r.finish(opts)
}

// note adds a note once.
func (r *pajekReader) note(text string) {
	if !slices.Contains(r.notes, text) {
		r.notes = append(r.notes, text)
	}
}

// begin reads the line that begins a section.
func (r *pajekReader) begin() error {
	words := strings.Fields(r.line)
	name := strings.ToLower(words[0])
	switch name {
	case "*network":
		if r.vertices > 0 {
			return r.fail(Unsupported, "a second network in one file", "save one network as a .net file")
		}
		r.section = name
		return nil
	case "*vertices":
		if r.section == "*partition" || r.section == "*vector" || r.section == "*permutation" || r.section == "*cluster" {
			return nil // of that section, which is left out
		}
		if r.vertices > 0 {
			return r.fail(Unsupported, "a second *Vertices in one file", "save one network as a .net file")
		}
		r.vertices = r.at
		var ok bool
		if len(words) > 1 {
			r.n, ok = wholeNumber(words[1])
		}
		if !ok {
			return r.fail(Damaged, quote(r.line)+" does not hold the number of vertices", correctLine)
		}
	case "*arcs", "*arcslist":
		r.note(directed)
		fallthrough
	case "*edges", "*edgeslist":
		if len(words) > 1 && strings.HasPrefix(words[1], ":") {
			r.note("several relations are merged into one graph")
		}
	case "*matrix":
		r.row = 0
		if r.n > 20_000 {
			return r.fail(Unsupported, fmt.Sprintf("a matrix of %d vertices, which are too many", r.n), "save the network with *Edges")
		}
	case "*partition", "*vector", "*permutation", "*cluster":
		r.note("left out: " + words[0])
	default:
		return r.fail(Unsupported, fmt.Sprintf("%s is a section that is not read", quote(words[0])),
			"save the network with *Vertices and *Edges, or as GraphML or CSV")
	}
	if r.vertices == 0 {
		return r.fail(Damaged, words[0]+" comes before *Vertices", correctLine)
	}
	r.section = name
	return nil
}

// take reads a line of a section.
func (r *pajekReader) take() error {
	words, ok := pajekWords(r.line)
	if !ok {
		return r.fail(Damaged, "a text that does not end", "close the quote")
	}
	switch r.section {
	case "*vertices":
		return r.vertex(words)
	case "*edges", "*arcs":
		return r.edge(words)
	case "*edgeslist", "*arcslist":
		for _, other := range words[1:] {
			if err := r.edge([]string{words[0], other}); err != nil {
				return err
			}
		}
		return nil
	case "*matrix":
		return r.matrix(words)
	case "*partition", "*vector", "*permutation", "*cluster":
		return nil
	}
	return r.fail(Damaged, quote(r.line)+" belongs to no section", correctLine)
}

// pajekWords cuts a line at blanks, but not within quotes.
func pajekWords(line string) (words []string, ok bool) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if line[0] == '"' {
			end := strings.IndexByte(line[1:], '"')
			if end < 0 {
				return nil, false
			}
			words, line = append(words, line[1:1+end]), line[2+end:]
			continue
		}
		end := strings.IndexAny(line, " \t")
		if end < 0 {
			end = len(line)
		}
		words, line = append(words, line[:end]), line[end:]
	}
	return words, true
}

// known checks the number of a vertex.
func (r *pajekReader) known(text string) error {
	if i, ok := wholeNumber(text); !ok || i < 1 || i > r.n {
		return r.fail(Damaged, fmt.Sprintf("%s is not a vertex: a number from 1 to %d", quote(text), r.n), correctLine)
	}
	return nil
}

// pajekDrawing are the parameters that say how a vertex is drawn.
var pajekDrawing = strings.Fields("s x_fact y_fact phi r q ic bc bw lc la lr lphi fos font hks url")

// vertex reads number, label, up to three coordinates, a shape, and pairs of names and
// values, as networkx writes them.
func (r *pajekReader) vertex(words []string) error {
	if err := r.known(words[0]); err != nil {
		return err
	}
	row := []string{words[0], ""}
	if len(words) > 1 {
		row[1] = words[1]
	}
	words = words[min(2, len(words)):]
	for k := 0; k < 3 && len(words) > 0; k++ {
		if _, err := strconv.ParseFloat(words[0], 64); err != nil {
			break
		}
		row = r.nodes.set(row, []string{"x", "y", "z"}[k], words[0])
		words = words[1:]
	}
	if len(words)%2 == 1 {
		words = words[1:] // the shape
	}
	for ; len(words) > 1; words = words[2:] {
		if !slices.Contains(pajekDrawing, words[0]) {
			row = r.nodes.set(row, words[0], words[1])
		}
	}
	r.nodes.Rows = append(r.nodes.Rows, row)
	return nil
}

func (r *pajekReader) edge(words []string) error {
	if len(words) < 2 {
		return r.fail(Damaged, quote(r.line)+" is not an edge of two vertices", correctLine)
	}
	for _, end := range words[:2] {
		if err := r.known(strings.TrimPrefix(end, "-")); err != nil { // a minus marks a dotted line
			return err
		}
	}
	row := []string{strings.TrimPrefix(words[0], "-"), strings.TrimPrefix(words[1], "-"), "1"}
	if len(words) > 2 {
		row[2], r.weighted = words[2], true
	}
	r.edges.Rows = append(r.edges.Rows, row)
	return nil
}

// matrix reads a row of the adjacency matrix.
func (r *pajekReader) matrix(words []string) error {
	if r.row++; r.row > r.n || int64(len(words)) != r.n {
		return r.fail(Damaged, fmt.Sprintf("row %d of the matrix has %d numbers, and there are %d vertices", r.row, len(words), r.n), correctLine)
	}
	for j, w := range words {
		v, err := strconv.ParseFloat(w, 64)
		if err != nil {
			return r.fail(Damaged, quote(w)+" is not a number", correctLine)
		}
		if v != 0 {
			r.edges.Rows = append(r.edges.Rows, []string{strconv.FormatInt(r.row, 10), strconv.Itoa(j + 1), w})
			r.weighted = true
		}
	}
	return nil
}

func (r *pajekReader) finish(opts Options) (*File, error) {
	if r.section == "*matrix" && r.row != r.n {
		return nil, fail(Damaged, fmt.Sprintf("the matrix has %d rows, and there are %d vertices", r.row, r.n),
			"was the file cut short? fetch it again")
	}
	if err := checkSize(r.vertices, r.n, int64(len(r.edges.Rows)+len(r.nodes.Rows))); err != nil {
		return nil, err
	}
	if !r.weighted {
		r.edges.Names = r.edges.Names[:2]
		for i, row := range r.edges.Rows {
			r.edges.Rows[i] = row[:2]
		}
	}
	r.dropOrigin()
	r.addMissing()
	edges := &attributes{Table: *r.edges}
	return nameNodes(r.nodes, edges, opts, r.notes, "label")
}

// dropOrigin removes coordinates that are all zero, which networkx writes for none.
func (r *pajekReader) dropOrigin() {
	zero := func(j int) bool {
		return !slices.ContainsFunc(r.nodes.Rows, func(row []string) bool {
			return j < len(row) && row[j] != "" && strings.Trim(row[j], "0.") != ""
		})
	}
	all := true
	for _, name := range []string{"x", "y", "z"} {
		if j, ok := r.nodes.column[name]; ok {
			all = all && zero(j)
		}
	}
	for _, name := range []string{"x", "y", "z"} {
		j := slices.Index(r.nodes.Names, name)
		if j < 0 || !all {
			continue
		}
		r.nodes.Names = slices.Delete(r.nodes.Names, j, j+1)
		for i, row := range r.nodes.Rows {
			if j < len(row) {
				r.nodes.Rows[i] = slices.Delete(row, j, j+1)
			}
		}
	}
}

// addMissing adds the vertices that are counted but not listed.
func (r *pajekReader) addMissing() {
	if int64(len(r.nodes.Rows)) >= r.n {
		return
	}
	listed := make(map[string]bool, len(r.nodes.Rows))
	for _, row := range r.nodes.Rows {
		listed[row[0]] = true
	}
	for i := int64(1); i <= r.n; i++ {
		if id := strconv.FormatInt(i, 10); !listed[id] {
			r.nodes.Rows = append(r.nodes.Rows, []string{id, ""})
		}
	}
}
