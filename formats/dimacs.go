package formats

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// dimacsFormat is the format of the DIMACS challenges: shortest paths (.gr, and .co for
// coordinates), graph colouring and cliques (.col, .clq, .edge) and maximum flow.
//
//	c a comment
//	p sp 3 2
//	a 1 2 7
//	a 2 3 4
var dimacsFormat = &Format{
	Name: "DIMACS",
	Detect: func(_ string, head []byte) bool {
		return dimacsStart.Match(head)
	},
	Read: readDIMACS,
}

// dimacsStart matches comments, up to the problem.
var dimacsStart = regexp.MustCompile(`^(?:\s*\n|c(?:[ \t][^\n]*)?\r?\n)*p[ \t]+(?:aux[ \t]+)?[a-z]+[ \t]+(?:co[ \t]+)?\d+`)

// dimacsProblems are the problems whose graphs are read, with the name of the number that
// an edge has.
var dimacsProblems = map[string]string{"sp": "length", "max": "capacity", "edge": "", "col": "", "clq": ""}

type dimacsReader struct {
	*scanner
	problem      string
	nodes, edges int64
	header       int64
	file         File
	values       *attributes // of nodes
}

func readDIMACS(ctx context.Context, in Input, _ Options) (*File, error) {
	r := &dimacsReader{scanner: newScanner(ctx, in.Data), values: newAttributes("node", "id")}
	for r.next() {
		words := strings.Fields(r.line)
		if len(words) == 0 || words[0] == "c" {
			continue
		}
		if err := r.take(words); err != nil {
			return nil, err
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	if r.problem == "" {
		return nil, fail(Damaged, "there is no line of the problem", "write: p sp NODES EDGES")
	}
	return r.finish()
}

func (r *dimacsReader) take(words []string) error {
	if (r.problem == "") != (words[0] == "p") {
		return r.fail(Damaged, quote(r.line)+" before the line of the problem, or a second one", correctLine)
	}
	switch words[0] {
	case "p":
		return r.start(words[1:])
	case "a", "e":
		return r.edge(words)
	case "v":
		if len(words) != 4 || r.problem != "co" {
			return r.fail(Damaged, quote(r.line)+" is not a node with its coordinates", correctLine)
		}
		r.values.Rows = append(r.values.Rows, words[1:])
		return nil
	case "n":
		if len(words) != 3 || r.problem == "sp" {
			return r.fail(Damaged, quote(r.line)+" is not a node with its value", correctLine)
		}
		if r.problem != "max" { // there, source and sink
			r.values.Rows = append(r.values.Rows, r.values.set([]string{words[1]}, "value", words[2]))
		}
		return nil
	case "d", "x":
		return nil // parameters of generators
	}
	return r.fail(Damaged, quote(r.line)+" is not a line of DIMACS", correctLine)
}

// start reads the line of the problem: "sp 3 2" or "aux sp co 3".
func (r *dimacsReader) start(words []string) error {
	r.header = r.at
	if len(words) == 4 && words[0] == "aux" && words[2] == "co" {
		r.problem = "co"
		r.values = newAttributes("node", "id", "x", "y")
		r.file.Notes = []string{"coordinates are taken as x and y; those of roads are often longitude and latitude in millionths of a degree"}
		return nil
	}
	number, known := "", false
	if len(words) == 3 {
		number, known = dimacsProblems[words[0]]
	}
	if !known {
		return r.fail(Unsupported, fmt.Sprintf("%s is a problem of DIMACS that is not read", quote(r.line)),
			"give a graph of shortest paths (sp), colouring (edge, col) or maximum flow (max)", "write one edge per line: source,target,weight")
	}
	nodes, ok := wholeNumber(words[1])
	edges, ok2 := wholeNumber(words[2])
	if !ok || !ok2 {
		return r.fail(Damaged, quote(r.line)+" does not hold the numbers of nodes and edges", correctLine)
	}
	r.problem, r.nodes, r.edges = words[0], nodes, edges
	r.file.Edges = &Table{Names: []string{"source", "target"}, Unit: "edge"}
	if number != "" {
		r.file.Edges.Names = append(r.file.Edges.Names, number)
	}
	return nil
}

func (r *dimacsReader) edge(words []string) error {
	if r.file.Edges == nil || len(words)-1 < 2 || len(words)-1 > 3 || (words[0] == "a") != (len(r.file.Edges.Names) == 3) || words[0] == "a" &&
		len(words) != 4 {
		return r.fail(Damaged, quote(r.line)+" is not an edge of this problem", correctLine)
	}
	for _, end := range words[1:3] {
		if i, ok := wholeNumber(end); !ok || i < 1 || i > r.nodes {
			return r.fail(Damaged, fmt.Sprintf("%s is not a node: a number from 1 to %d", quote(end), r.nodes), correctLine)
		}
	}
	r.file.Edges.Rows = append(r.file.Edges.Rows, words[1:len(r.file.Edges.Names)+1])
	return nil
}

func (r *dimacsReader) finish() (*File, error) {
	if r.problem == "co" {
		r.file.Nodes = &r.values.Table
		return &r.file, nil
	}
	found := int64(len(r.file.Edges.Rows))
	// Files of cliques and colourings count an edge twice, or list it twice.
	if found != r.edges && (r.problem == "sp" || r.problem == "max" || found*2 != r.edges && found != r.edges*2) {
		return nil, failAt(r.header, Damaged, fmt.Sprintf("the line promises %d edges, but there are %d", r.edges, found),
			"was the file cut short? fetch it again, or correct the line")
	}
	if err := checkSize(r.header, r.nodes, found); err != nil {
		return nil, err
	}
	if len(r.values.Rows) > 0 {
		r.file.Nodes = r.everyNode()
	} else {
		r.file.Nodes = lone(r.file.Edges, r.nodes, 1)
	}
	return &r.file, nil
}

// everyNode returns the values of nodes, and the nodes without one.
func (r *dimacsReader) everyNode() *Table {
	t := numbered(r.nodes, 1)
	t.Names = r.values.Names
	for _, row := range r.values.Rows {
		if i, ok := wholeNumber(row[0]); ok && i >= 1 && i <= r.nodes && len(t.Rows[i-1]) == 1 {
			t.Rows[i-1] = slices.Clone(row)
			t.Rows[i-1][0] = fmt.Sprint(i)
		}
	}
	return t
}
