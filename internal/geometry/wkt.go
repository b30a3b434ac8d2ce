package geometry

import (
	"fmt"
	"slices"
	"strings"
)

// ParseWKT reads well-known text such as "LINESTRING (2.35 48.86, 2.36 48.87)", with or
// without Z and M, which are left out, and with the prefix "SRID=4326;" of PostGIS.
func ParseWKT(text string) (*Shape, error) {
	if srid, rest, ok := strings.Cut(text, ";"); ok && len(srid) > 5 && strings.EqualFold(srid[:5], "SRID=") {
		text = rest
	}
	w := &wkt{scanner{text: text}}
	s := &Shape{}
	if err := w.geometry(s, 0); err != nil {
		return nil, err
	}
	if w.word() != "" || w.at < len(w.text) {
		return nil, w.expected("the end")
	}
	return s, nil
}

// IsWKT reports whether a text begins as well-known text does.
func IsWKT(text string) bool {
	w := &wkt{scanner{text: text}}
	if strings.HasPrefix(strings.ToUpper(text), "SRID=") {
		_, w.text, _ = strings.Cut(text, ";")
	}
	kind := strings.ToUpper(w.word())
	kind = strings.TrimSuffix(strings.TrimSuffix(kind, "M"), "Z")
	if !slices.Contains([]string{"POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON", "GEOMETRYCOLLECTION"},
		kind) {
		return false
	}
	next := strings.ToUpper(w.word())
	if next == "Z" || next == "M" || next == "ZM" {
		next = strings.ToUpper(w.word())
	}
	if next != "" || !w.take('(') {
		return next == "EMPTY"
	}
	w.blanks()
	return kind == "GEOMETRYCOLLECTION" || w.at < len(w.text) && strings.IndexByte("(+-.0123456789", w.text[w.at]) >= 0
}

// wkt reads well-known text.
type wkt struct{ scanner }

func (w *wkt) expected(what string) error { return w.unexpected("well-known text", what) }

const deepest = 20 // collections within collections

func (w *wkt) geometry(s *Shape, depth int) error {
	kind := strings.ToUpper(w.word())
	kind = strings.TrimSuffix(strings.TrimSuffix(kind, "M"), "Z") // POINTZ
	from := w.at
	switch strings.ToUpper(w.word()) {
	case "", "Z", "M", "ZM":
		from = w.at
		if strings.EqualFold(w.word(), "EMPTY") {
			return nil
		}
		w.at = from
	case "EMPTY":
		return nil
	default:
		w.at = from
		return w.expected("(")
	}
	switch kind {
	case "POINT":
		return w.list(func() error { return w.point(s) })
	case "MULTIPOINT":
		return w.list(func() error {
			if !w.take('(') {
				return w.point(s)
			}
			if err := w.point(s); err != nil {
				return err
			}
			return w.close()
		})
	case "LINESTRING":
		return w.line(s)
	case "MULTILINESTRING":
		return w.list(func() error { return w.line(s) })
	case "POLYGON":
		return w.polygon(s)
	case "MULTIPOLYGON":
		return w.list(func() error { return w.polygon(s) })
	case "GEOMETRYCOLLECTION":
		if depth == deepest {
			return fmt.Errorf("collections within collections, more than %d deep", deepest)
		}
		return w.list(func() error { return w.geometry(s, depth+1) })
	}
	return fmt.Errorf("%q is not a point, a line or an area", kind)
}

func (w *wkt) close() error {
	if !w.take(')') {
		return w.expected(")")
	}
	return nil
}

// list reads (item, item, …).
func (w *wkt) list(item func() error) error {
	if !w.take('(') {
		return w.expected("(")
	}
	for {
		if err := item(); err != nil {
			return err
		}
		if !w.take(',') {
			return w.close()
		}
	}
}

func (w *wkt) point(s *Shape) error {
	p, err := w.position()
	if err != nil {
		return err
	}
	return s.AddPoint(p)
}

func (w *wkt) points() (points []Point, err error) {
	err = w.list(func() error {
		p, err := w.position()
		points = append(points, p)
		return err
	})
	return points, err
}

func (w *wkt) line(s *Shape) error {
	points, err := w.points()
	if err != nil {
		return err
	}
	return s.AddLine(points)
}

func (w *wkt) polygon(s *Shape) error {
	var rings Polygon
	err := w.list(func() error {
		ring, err := w.points()
		rings = append(rings, ring)
		return err
	})
	if err != nil {
		return err
	}
	return s.AddPolygon(rings)
}

// position reads two to four numbers and keeps two.
func (w *wkt) position() (Point, error) {
	var numbers []float64
	for {
		x, ok := w.number()
		if !ok {
			break
		}
		numbers = append(numbers, x)
	}
	if len(numbers) < 2 || len(numbers) > 4 {
		return Point{}, w.expected("a pair of numbers")
	}
	return Point{numbers[0], numbers[1]}, nil
}
