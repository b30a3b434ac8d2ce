package graphio

import (
	"fmt"
	"math"
	"slices"

	"grfgp/covariate"
	"grfgp/graph"
)

// JoinNodes joins node tables by id. The result has the ids of the first table, then
// those that only later tables have, which are warned of in the reports of these. Where a
// table says nothing about a node, its columns are missing. Two tables may have the
// same role if they agree about every node; two columns of one name, or tables without
// a common id, are errors.
func JoinNodes(tables ...*NodeTable) (*NodeTable, error) {
	if len(tables) == 0 {
		return nil, nil
	}
	all := tables[0]
	for _, n := range tables[1:] {
		var err error
		if all, err = all.join(n); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (n *NodeTable) join(o *NodeTable) (*NodeTable, error) {
	fail := func(code Code, what string, remedies ...Remedy) error {
		return &Error{Code: code, Table: TableNodes, File: o.file(), What: what, Remedies: remedies}
	}
	for _, c := range o.Columns {
		if slices.ContainsFunc(n.Columns, func(d covariate.Column) bool { return d.Name == c.Name }) {
			return nil, fail(CodeContent, fmt.Sprintf("it has a column %q, and so has %s", c.Name, n.file()), do("rename or remove one of them"))
		}
	}
	had := n.IDs.Len()
	ids := graph.NewIDs(had + o.IDs.Len())
	for i := range had {
		ids.Intern(n.IDs.Bytes(i))
	}
	to := make([]int, o.IDs.Len()) // node of o → node of the join
	for k := range to {
		to[k] = ids.Intern(o.IDs.Bytes(k))
	}
	added := ids.Len() - had
	switch {
	case added == len(to) && added > 0 && had > 0:
		return nil, fail(CodeIDs, fmt.Sprintf("none of its ids, such as %s, is in %s, which has ids such as %s", examples(o.IDs, 0), n.file(),
			examples(n.IDs, 0)),
			do(beyond(ids, had).hint(n.IDs, n.file())))
	case added > 0 && o.Report != nil:
		o.Report.warn("nodes that are not in %s: %d, such as %s", n.file(), added, examples(ids, had))
	}
	all := n.sized(ids)
	from := slices.Repeat([]int{-1}, ids.Len())
	for k, i := range to {
		from[i] = k
	}
	all.Columns = slices.Concat(all.Columns, picked(o.Columns, from))
	all.joinTexts(resized(o.Texts, from))
	for _, role := range codedRoles {
		if !o.has(role) {
			continue
		}
		if !n.has(role) {
			all.grow(ids.Len(), []Role{role})
			if all.names[role] = o.names[role]; all.names[role] == "" {
				delete(all.names, role)
			}
		}
		for k, i := range to {
			c := o.cell(k, role)
			if n.has(role) && i < had && !c.empty() && !n.cell(i, role).empty() && !n.agrees(i, c) {
				return nil, fail(CodeContent, fmt.Sprintf("node %s has another %s in %s", quote(o.IDs.Bytes(k)), role, n.file()),
					do("correct one of the two"), do("leave the column out of one of them"))
			}
			if !c.empty() {
				all.put(i, c)
			}
		}
	}
	return all, nil
}

// file returns the name of the table in messages.
func (n *NodeTable) file() string {
	if n.Report == nil || n.Report.File == "" {
		return "the node table"
	}
	return n.Report.File
}

// sized returns a copy of the table with rows for more nodes.
func (n *NodeTable) sized(ids *graph.IDs) *NodeTable {
	all := &NodeTable{IDs: ids, Report: n.Report, names: map[Role]string{}, Columns: picked(n.Columns, upTo(n.IDs.Len(), ids.Len())),
		Texts: resized(n.Texts, upTo(n.IDs.Len(), ids.Len())),
		Name:  slices.Clone(n.Name), Lat: slices.Clone(n.Lat), Lon: slices.Clone(n.Lon), X: slices.Clone(n.X),
		Y: slices.Clone(n.Y), Cost: slices.Clone(n.Cost), Allowed: slices.Clone(n.Allowed), Group: slices.Clone(n.Group),
		Shapes: slices.Clone(n.Shapes)}
	for role, name := range n.names {
		all.names[role] = name
	}
	all.grow(ids.Len(), slices.DeleteFunc(slices.Clone(codedRoles), func(role Role) bool { return !n.has(role) }))
	return all
}

// cell returns the value of node i for a role that the table has.
func (n *NodeTable) cell(i int, role Role) cell {
	c := cell{role: role, number: math.NaN()}
	switch role {
	case RoleLabel, RoleGroup, RoleShape:
		c.text = (*n.text(role))[i]
	case RoleAllowed:
		c.allowed = n.Allowed[i]
	default:
		c.number = (*n.numbers(role))[i]
	}
	return c
}

// empty reports whether the value is missing.
func (c cell) empty() bool {
	return c.role != RoleAllowed && c.text == "" && math.IsNaN(c.number)
}
