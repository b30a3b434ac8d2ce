package formats

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// GraphMLNodes reads the nodes of GraphML as a table. It is not detected: package
// graphio reads GraphML itself, edge by edge, because such files may be large, and comes here for
// measurements and labels.
var GraphMLNodes = &Format{Name: "GraphML", Read: readGraphMLNodes}

// graphMLNode is a node with its attributes, and with nodes within it.
type graphMLNode struct {
	ID   string `xml:"id,attr"`
	Data []struct {
		Key  string `xml:"key,attr"`
		Text string `xml:",chardata"`
	} `xml:"data"`
	Nodes []graphMLNode `xml:"graph>node"`
}

// graphMLKey declares an attribute.
type graphMLKey struct {
	ID      string  `xml:"id,attr"`
	For     string  `xml:"for,attr"`
	Name    string  `xml:"attr.name,attr"`
	Default *string `xml:"default"`
}

func readGraphMLNodes(ctx context.Context, in Input, opts Options) (*File, error) {
	dec := xml.NewDecoder(bytes.NewReader(in.Data))
	nodes, keys, rooted := newAttributes("node", "id").reserve(), []graphMLKey(nil), false
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		line, _ := dec.InputPos()
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if t, ok := token.(xml.StartElement); ok && err == nil {
			switch {
			case !rooted && t.Name.Local != "graphml":
				return nil, failAt(int64(line), Unsupported, fmt.Sprintf("is XML, but begins with <%s>, not with <graphml>", t.Name.Local),
					"save it as CSV")
			case t.Name.Local == "key":
				var k graphMLKey
				if err = dec.DecodeElement(&k, &t); k.For == "node" || k.For == "all" || k.For == "" {
					keys = append(keys, k)
				}
			case t.Name.Local == "node":
				var node graphMLNode
				if err = dec.DecodeElement(&node, &t); err == nil {
					node.add(nodes, keys)
				}
			case t.Name.Local == "edge":
				err = dec.Skip()
			}
			rooted = true
		}
		if err != nil {
			return nil, brokenXML(err, int64(line))
		}
	}
	return nameNodes(nodes, newAttributes("edge", "source", "target"), opts, nil)
}

// add makes a row of a node, and of those within it.
func (n *graphMLNode) add(to *attributes, keys []graphMLKey) {
	row := []string{n.ID}
	for _, k := range keys {
		value := ""
		if k.Default != nil {
			value = strings.TrimSpace(*k.Default)
		}
		for _, d := range n.Data {
			if d.Key == k.ID {
				value = strings.TrimSpace(d.Text)
			}
		}
		name := k.Name
		if name == "" {
			name = k.ID
		}
		if value != "" {
			row = to.set(row, name, value)
		}
	}
	to.Rows = append(to.Rows, row)
	for i := range n.Nodes {
		n.Nodes[i].add(to, keys)
	}
}
