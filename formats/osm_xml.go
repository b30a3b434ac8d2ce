package formats

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// osmXMLFormat is OpenStreetMap data as XML, of which the roads are read.
var osmXMLFormat = &Format{
	Name: "OpenStreetMap XML",
	Detect: func(_ string, head []byte) bool {
		return bytes.HasPrefix(bytes.TrimSpace(head), []byte("<")) &&
			(bytes.Contains(head, []byte("<osm ")) || bytes.Contains(head, []byte("<osm>")))
	},
	Read: readOSMXML,
}

// osmElement is a node or a way.
type osmElement struct {
	ID      string `xml:"id,attr"`
	Lat     string `xml:"lat,attr"`
	Lon     string `xml:"lon,attr"`
	Visible string `xml:"visible,attr"`
	Action  string `xml:"action,attr"` // of JOSM
	Refs    []struct {
		Ref string `xml:"ref,attr"`
	} `xml:"nd"`
	Tags []struct {
		Key   string `xml:"k,attr"`
		Value string `xml:"v,attr"`
	} `xml:"tag"`
}

func readOSMXML(ctx context.Context, in Input, _ Options) (*File, error) {
	d := xml.NewDecoder(bytes.NewReader(in.Data))
	r := &osmRoads{}
	for n := 0; ; n++ {
		if n%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		line, _ := d.InputPos()
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, osmBroken(err, line)
		}
		t, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch t.Name.Local {
		case "node":
			err = r.xmlNode(t)
		case "way":
			err = r.xmlWay(d, t)
		case "relation":
			err = d.Skip()
		}
		if err != nil {
			return nil, osmBroken(err, line)
		}
	}
	wanted := r.wanted()
	r.nodes = slices.DeleteFunc(r.nodes, func(n osmNode) bool { _, ok := slices.BinarySearch(wanted, n.id); return !ok })
	return r.file()
}

func osmBroken(err error, line int) error {
	var syntax *xml.SyntaxError
	switch {
	case errors.As(err, &syntax) && strings.Contains(syntax.Msg, "unexpected EOF"):
		return failAt(int64(line), Damaged, "the document ends in the middle", "the file was cut short: fetch it again")
	case errors.As(err, &syntax):
		return failAt(int64(syntax.Line), Damaged, "is not well-formed XML: "+syntax.Msg, "fetch the file again")
	}
	return failAt(int64(line), Damaged, err.Error(), "fetch the file again")
}

// xmlNode reads a node from its attributes; its tags are not used.
func (r *osmRoads) xmlNode(t xml.StartElement) error {
	e := osmElement{}
	for _, a := range t.Attr {
		switch a.Name.Local {
		case "id":
			e.ID = a.Value
		case "lat":
			e.Lat = a.Value
		case "lon":
			e.Lon = a.Value
		case "visible":
			e.Visible = a.Value
		case "action":
			e.Action = a.Value
		}
	}
	if e.gone() {
		return nil
	}
	id, err := osmID(e.ID, "a node")
	if err != nil {
		return err
	}
	lat, ok := osmDegrees(e.Lat, 90)
	lon, ok2 := osmDegrees(e.Lon, 180)
	if !ok || !ok2 {
		return fmt.Errorf("node %d has the latitude %s and the longitude %s", id, quote(e.Lat), quote(e.Lon))
	}
	r.nodes = append(r.nodes, osmNode{id, lat, lon})
	return nil
}

func (r *osmRoads) xmlWay(d *xml.Decoder, t xml.StartElement) error {
	var e osmElement
	if err := d.DecodeElement(&e, &t); err != nil {
		return err
	}
	if e.gone() {
		return nil
	}
	id, err := osmID(e.ID, "a way")
	if err != nil {
		return err
	}
	refs := make([]int64, len(e.Refs))
	for k, ref := range e.Refs {
		if refs[k], err = osmID(ref.Ref, fmt.Sprintf("a node of way %d", id)); err != nil {
			return err
		}
	}
	r.add(id, refs, func(key string) string {
		for _, tag := range e.Tags {
			if tag.Key == key {
				return tag.Value
			}
		}
		return ""
	})
	return nil
}

// gone reports whether an element is deleted.
func (e *osmElement) gone() bool { return e.Visible == "false" || e.Action == "delete" }

func osmID(text, what string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s has the id %s, which is not a whole number", what, quote(text))
	}
	return id, nil
}

// osmDegrees reads a coordinate in billionths of a degree.
func osmDegrees(text string, most float64) (int64, bool) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(math.Abs(x) <= most) {
		return 0, false
	}
	return int64(math.Round(x * 1e9)), true
}
