package graphio

import (
	"encoding/xml"

	"grfgp/covariate"
)

// graphMLKey declares an attribute.
type graphMLKey struct {
	id, name, kind string
	forEdge        bool
	forNode        bool
	fallback       string
	hasFallback    bool
}

func (g *graphML) key(t xml.StartElement) error {
	k := graphMLKey{id: attr(t, "id"), name: attr(t, "attr.name"), kind: attr(t, "attr.type")}
	if k.name == "" {
		k.name = k.id
	}
	domain := attr(t, "for")
	k.forEdge = domain == "edge" || domain == "all" || domain == ""
	k.forNode = domain == "node" || domain == "all" || domain == ""
	for {
		token, err := g.inner()
		if err != nil {
			return err
		}
		switch inner := token.(type) {
		case xml.StartElement:
			if inner.Name.Local != "default" {
				if err := g.skip(); err != nil {
					return err
				}
				continue
			}
			text, err := g.text()
			if err != nil {
				return err
			}
			k.fallback, k.hasFallback = text, true
		case xml.EndElement:
			g.keys = append(g.keys, k)
			return nil
		}
	}
}

// choose decides, before the first graph, which keys are used.
func (g *graphML) choose() error {
	if g.chosen {
		return nil
	}
	g.chosen = true
	edges, index := g.keySheet(func(k graphMLKey) bool { return k.forEdge }, edgeTable)
	c := edgeColumns{source: -1, target: -1, weight: -1}
	if err := edges.chooseWeight(&c, g.opts, g.r); err != nil {
		return err
	}
	g.columns = c
	if c.weight >= 0 {
		g.columns.weight = index[c.weight]
	}
	edges.unused(g.r, c.weight)
	if g.opts.Nodes == nil {
		nodes, index := g.keySheet(func(k graphMLKey) bool { return k.forNode }, nodeTable)
		used, err := nodes.chooseOptional(nil, nodeTable.roles[1:], Options{})
		if err != nil {
			return err
		}
		for _, u := range used {
			g.roles[g.keys[index[u.column]].id] = u.role
			g.nodes.setName(u.role, g.keys[index[u.column]].name)
			g.r.Columns = append(g.r.Columns, nodes.told(u.role, u.column, u.why))
		}
		g.chooseOthers(nodes, index, used)
	}
	for i := range g.r.Columns {
		g.r.Columns[i].Number = 0 // attributes have names, not places
	}
	return nil
}

// keySheet presents attributes as the columns of a table, to choose from them
// by the same rules.
func (g *graphML) keySheet(use func(graphMLKey) bool, kind tableKind) (*sheet, []int) {
	s := &sheet{in: g.in, table: kind, names: []string{}}
	var index []int
	for i, k := range g.keys {
		if !use(k) {
			continue
		}
		index = append(index, i)
		s.names = append(s.names, k.name)
		switch k.kind {
		case "int", "long":
			s.types = append(s.types, typeInteger)
		case "float", "double":
			s.types = append(s.types, typeNumber)
		default:
			s.types = append(s.types, typeText)
		}
	}
	s.columns = len(s.names)
	return s, index
}

// graphMLColumn is an attribute of nodes that becomes a covariate.
type graphMLColumn struct {
	key   graphMLKey
	cells *covariate.Builder
	has   []bool // per node: it has the attribute
}

// chooseOthers makes covariates of the attributes without a role.
func (g *graphML) chooseOthers(nodes *sheet, index []int, used []usedColumn) {
	names := uniqueNames{}
	for _, j := range nodes.otherThan(used) {
		g.others = append(g.others, &graphMLColumn{key: g.keys[index[j]],
			cells: covariate.NewBuilder(names.of(nodes, j), parseCell(false, newMissingCodes(g.opts.Missing)))})
	}
}

// collect takes an attribute of a node.
func (g *graphML) collect(i int, key, text string) {
	for _, c := range g.others {
		if c.key.id != key {
			continue
		}
		for len(c.has) <= i {
			c.has = append(c.has, false)
		}
		c.has[i] = true
		c.cells.Add(i, []byte(text))
	}
}

// finishColumns makes the covariates of a number of nodes. Declared nodes without an attribute
// have its default value, if there is one.
func (g *graphML) finishColumns(nodes int) {
	for _, c := range g.others {
		for i := range g.declared {
			if c.key.hasFallback && g.declared[i] && (i >= len(c.has) || !c.has[i]) {
				c.cells.Add(i, []byte(c.key.fallback))
			}
		}
		g.nodes.addColumn(c.cells.Column(nodes), g.r)
	}
}
