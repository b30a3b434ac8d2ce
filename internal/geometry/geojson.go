package geometry

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// ParseGeoJSON reads a GeoJSON geometry; null has no parts. Heights are left out.
func ParseGeoJSON(text []byte) (*Shape, error) {
	s := &Shape{}
	return s, s.addGeoJSON(text, 0)
}

func (s *Shape) addGeoJSON(text []byte, depth int) error {
	var g struct {
		Type        string            `json:"type"`
		Coordinates json.RawMessage   `json:"coordinates"`
		Geometries  []json.RawMessage `json:"geometries"`
	}
	if err := json.Unmarshal(text, &g); err != nil {
		return errors.New("the geometry is not an object with a type and coordinates")
	}
	type reader = func(c *coordinates, s *Shape) error
	many := func(one reader) reader {
		return func(c *coordinates, s *Shape) error { return c.list(func() error { return one(c, s) }) }
	}
	add, known := map[string]reader{
		"Point": (*coordinates).point, "LineString": (*coordinates).line, "Polygon": (*coordinates).polygon,
		"MultiPoint": many((*coordinates).point), "MultiLineString": many((*coordinates).line), "MultiPolygon": many((*coordinates).polygon),
	}[g.Type]
	switch {
	case known && len(g.Coordinates) == 0:
		return fmt.Errorf("a %s has no coordinates", g.Type)
	case known:
		return add(&coordinates{scanner{text: string(g.Coordinates)}}, s)
	case g.Type == "GeometryCollection" && depth == deepest:
		return fmt.Errorf("collections within collections, more than %d deep", deepest)
	case g.Type == "GeometryCollection":
		for _, part := range g.Geometries {
			if err := s.addGeoJSON(part, depth+1); err != nil {
				return err
			}
		}
		return nil
	case g.Type == "" && string(text) == "null":
		return nil
	}
	return fmt.Errorf("the geometry is of type %q, which is not one of GeoJSON", g.Type)
}

// coordinates reads nested lists of numbers, which JSON's own rules have passed.
type coordinates struct{ scanner }

// list reads [item, item, …].
func (c *coordinates) list(item func() error) error {
	if !c.take('[') {
		return c.unexpected("list of coordinates", "a list")
	}
	if c.take(']') {
		return nil
	}
	for {
		if err := item(); err != nil {
			return err
		}
		if !c.take(',') {
			if !c.take(']') {
				return c.unexpected("list of coordinates", "]")
			}
			return nil
		}
	}
}

// position reads [x, y] or [x, y, z, …]; [] is no point.
func (c *coordinates) position() (p Point, ok bool, err error) {
	n := 0
	err = c.list(func() error {
		x, ok := c.number()
		if !ok {
			return c.unexpected("list of coordinates", "a number")
		}
		switch n++; n {
		case 1:
			p.X = x
		case 2:
			p.Y = x
		}
		return nil
	})
	if err == nil && n == 1 {
		err = errors.New("a position has 1 number, not 2")
	}
	return p, n > 0, err
}

func (c *coordinates) points() (points []Point, err error) {
	err = c.list(func() error {
		p, ok, err := c.position()
		if err == nil && !ok {
			err = errors.New("a position is empty")
		}
		points = append(points, p)
		return err
	})
	return points, err
}

func (c *coordinates) line(s *Shape) error {
	points, err := c.points()
	if err != nil || len(points) == 0 {
		return err
	}
	return s.AddLine(points)
}

func (c *coordinates) polygon(s *Shape) error {
	var rings Polygon
	err := c.list(func() error {
		ring, err := c.points()
		rings = append(rings, ring)
		return err
	})
	if err != nil || len(rings) == 0 {
		return err
	}
	return s.AddPolygon(rings)
}

func (c *coordinates) point(s *Shape) error {
	p, ok, err := c.position()
	if err != nil || !ok {
		return err
	}
	return s.AddPoint(p)
}

// AreasJSON returns the areas as the text of a GeoJSON Polygon, or MultiPolygon if there are
// several; "" without areas.
func (s *Shape) AreasJSON() string {
	switch len(s.Areas) {
	case 0:
		return ""
	case 1:
		return string(append(appendPolygon([]byte(`{"type":"Polygon","coordinates":`), s.Areas[0]), '}'))
	}
	out := []byte(`{"type":"MultiPolygon","coordinates":`)
	for k, polygon := range s.Areas {
		out = append(out, "[,"[min(k, 1)])
		out = appendPolygon(out, polygon)
	}
	return string(append(out, "]}"...))
}

func appendPolygon(out []byte, polygon Polygon) []byte {
	for k, ring := range polygon {
		out = append(out, "[,"[min(k, 1)])
		for i, p := range ring {
			out = append(out, "[,"[min(i, 1)], '[')
			out = strconv.AppendFloat(out, p.X, 'f', -1, 64)
			out = append(out, ',')
			out = strconv.AppendFloat(out, p.Y, 'f', -1, 64)
			out = append(out, ']')
		}
		out = append(out, ']')
	}
	return append(out, ']')
}
