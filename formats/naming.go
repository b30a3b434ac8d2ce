package formats

import (
	"fmt"
	"slices"
	"strings"
)

// nameNodes makes a file of nodes and edges whose ids are numbers that the format
// demands, such as those of GML. The nodes get the names that their owner knows: those of
// opts.ID, or of the first of the given attributes that every node has and no two share.
func nameNodes(nodes, edges *attributes, opts Options, notes []string, candidates ...string) (*File, error) {
	f := &File{Edges: &edges.Table, Nodes: &nodes.Table, Notes: notes}
	id := nodes.Names[0]
	column := 0
	if opts.ID != "" {
		column = slices.Index(nodes.Names, opts.ID)
		if column < 0 {
			return nil, fail(Unknown, fmt.Sprintf("nodes have no attribute %q that could be their id", opts.ID), "the attributes are "+
				strings.Join(nodes.Names, ", "))
		}
		if what := nodes.unfit(column); what != "" {
			return nil, fail(Unknown, fmt.Sprintf("%s cannot be the id of nodes: %s", opts.ID, what), "name another attribute")
		}
	} else {
		for _, name := range candidates {
			if j := slices.Index(nodes.Names, name); j > 0 && nodes.unfit(j) == "" {
				column = j
				f.Notes = append(f.Notes, fmt.Sprintf("nodes are named by their %s, which is different for each, and not by the %s", name, id))
				break
			}
		}
	}
	if column == 0 {
		return f, nil
	}
	if what := nodes.unfit(0); what != "" {
		return nil, fail(Damaged, fmt.Sprintf("the %ss of nodes cannot be used: %s", id, what), "give every node its own "+id)
	}
	names := make(map[string]string, len(nodes.Rows))
	for _, row := range nodes.Rows {
		names[row[0]] = row[column]
	}
	for i, row := range edges.Rows {
		for k := range 2 {
			name, known := names[row[k]]
			if !known && row[k] != "" {
				e := failAt(int64(i+1), Damaged, fmt.Sprintf("there is no node with the %s %s", id, quote(row[k])), "add that node, or remove the edge")
				e.Unit = edges.Unit
				return nil, e
			}
			row[k] = name
		}
	}
	nodes.Names[0] = nodes.Names[column]
	nodes.Names = slices.Delete(nodes.Names, column, column+1)
	for i, row := range nodes.Rows {
		row[0] = row[column]
		nodes.Rows[i] = slices.Delete(row, column, column+1)
	}
	return f, nil
}

// unfit says why a column cannot hold the ids, or nothing.
func (a *attributes) unfit(column int) string {
	seen := make(map[string]bool, len(a.Rows))
	for _, row := range a.Rows {
		if column >= len(row) || row[column] == "" {
			return "some nodes have none"
		}
		if seen[row[column]] {
			return fmt.Sprintf("%s occurs twice", quote(row[column]))
		}
		seen[row[column]] = true
	}
	return ""
}
