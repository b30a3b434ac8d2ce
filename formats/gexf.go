package formats

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// gexfFormat is the XML format of Gephi, also written by networkx.
var gexfFormat = &Format{
	Name: "GEXF",
	Detect: func(_ string, head []byte) bool {
		return gexfStart.Match(head)
	},
	Read: readGEXF,
}

var gexfStart = regexp.MustCompile(`^\s*(?:<\?[^>]*>\s*|<!--(?s:.*?)-->\s*|<!DOCTYPE[^>]*>\s*)*<(?:\w+:)?gexf[\s>]`)

// gexfDeclared are attributes of nodes or of edges.
type gexfDeclared struct {
	Class string `xml:"class,attr"`
	List  []struct {
		ID      string  `xml:"id,attr"`
		Title   string  `xml:"title,attr"`
		Default *string `xml:"default"`
	} `xml:"attribute"`
}

// gexfElement is a node or an edge.
type gexfElement struct {
	ID     string `xml:"id,attr"`
	Label  string `xml:"label,attr"`
	Source string `xml:"source,attr"`
	Target string `xml:"target,attr"`
	Weight string `xml:"weight,attr"`
	Type   string `xml:"type,attr"`
	Values []struct {
		For   string `xml:"for,attr"`
		ID    string `xml:"id,attr"` // in place of for, up to version 1.1
		Value string `xml:"value,attr"`
	} `xml:"attvalues>attvalue"`
	Position *struct {
		X string `xml:"x,attr"`
		Y string `xml:"y,attr"`
	} `xml:"position"`
	Nodes []gexfElement `xml:"nodes>node"` // within this one
	Edges []gexfElement `xml:"edges>edge"`
}

type gexfReader struct {
	xml          *xml.Decoder
	line         int64                   // where the current token begins
	declared     map[string]gexfDeclared // by class
	nodes, edges *attributes
	directed     bool
}

func readGEXF(ctx context.Context, in Input, opts Options) (*File, error) {
	r := &gexfReader{
		xml: xml.NewDecoder(bytes.NewReader(in.Data)), declared: map[string]gexfDeclared{},
		nodes: newAttributes("node", "id").reserve(), edges: newAttributes("edge", "source", "target").reserve(),
	}
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		line, _ := r.xml.InputPos()
		r.line = int64(line)
		token, err := r.xml.Token()
		if errors.Is(err, io.EOF) {
			return r.finish(opts)
		}
		if err == nil {
			if t, ok := token.(xml.StartElement); ok {
				err = r.start(t)
			}
		}
		if err != nil {
			return nil, brokenXML(err, r.line)
		}
	}
}

func (r *gexfReader) start(t xml.StartElement) error {
	switch t.Name.Local {
	case "graph":
		for _, a := range t.Attr {
			r.directed = r.directed || a.Name.Local == "defaultedgetype" && a.Value == "directed"
		}
	case "attributes":
		var d gexfDeclared
		if err := r.xml.DecodeElement(&d, &t); err != nil {
			return err
		}
		if have := r.declared[d.Class]; have.List != nil { // static and dynamic ones are declared apart
			d.List = append(have.List, d.List...)
		}
		r.declared[d.Class] = d
	case "node", "edge":
		var e gexfElement
		if err := r.xml.DecodeElement(&e, &t); err != nil {
			return err
		}
		if t.Name.Local == "node" {
			return r.node(&e)
		}
		return r.edge(&e)
	case "hyperedge":
		return failAt(r.line, Unsupported, "a hyperedge, which joins more than two nodes", "replace it by edges")
	}
	return nil
}

func (r *gexfReader) node(e *gexfElement) error {
	row := []string{e.ID}
	if e.Label != "" && e.Label != e.ID {
		row = r.nodes.set(row, "label", e.Label)
	}
	row, err := r.attributes(r.nodes, row, "node", e)
	if err != nil {
		return err
	}
	if e.Position != nil {
		for k, name := range []string{"x", "y"} {
			if r.nodes.get(row, name) == "" {
				row = r.nodes.set(row, name, []string{e.Position.X, e.Position.Y}[k])
			}
		}
	}
	r.nodes.Rows = append(r.nodes.Rows, row)
	for i := range e.Nodes {
		if err := r.node(&e.Nodes[i]); err != nil {
			return err
		}
	}
	for i := range e.Edges {
		if err := r.edge(&e.Edges[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *gexfReader) edge(e *gexfElement) error {
	row := []string{e.Source, e.Target}
	if e.Weight != "" {
		row = r.edges.set(row, "weight", e.Weight)
	}
	r.directed = r.directed || e.Type == "directed" || e.Type == "mutual"
	row, err := r.attributes(r.edges, row, "edge", e)
	r.edges.Rows = append(r.edges.Rows, row)
	return err
}

// attributes puts the values of an element into its row.
func (r *gexfReader) attributes(to *attributes, row []string, class string, e *gexfElement) ([]string, error) {
	values := make(map[string]string, len(e.Values))
	for _, v := range e.Values {
		id := v.For
		if id == "" {
			id = v.ID
		}
		if old, twice := values[id]; twice && old != v.Value {
			return row, failAt(r.line, Unsupported, fmt.Sprintf("an attribute of this %s has several values: the graph changes with time", class),
				"export the graph at one time")
		}
		values[id] = v.Value
	}
	for _, a := range r.declared[class].List {
		value, has := values[a.ID]
		if !has && a.Default != nil {
			value = strings.TrimSpace(*a.Default)
		}
		name := a.Title
		if name == "" {
			name = a.ID
		}
		if value != "" && to.get(row, name) == "" {
			row = to.set(row, name, value)
		}
	}
	return row, nil
}

// finish gives the weight 1 to edges without one, as the format says, where others have one.
func (r *gexfReader) finish(opts Options) (*File, error) {
	if _, weighted := r.edges.column["weight"]; weighted {
		for i, row := range r.edges.Rows {
			if r.edges.get(row, "weight") == "" {
				r.edges.Rows[i] = r.edges.set(row, "weight", "1")
			}
		}
	}
	var notes []string
	if r.directed {
		notes = append(notes, directed)
	}
	return nameNodes(r.nodes, r.edges, opts, notes)
}
