package formats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"grfgp/internal/geometry"
)

// layer is a list of features, as maps have them: shapes with properties.
type layer struct {
	properties *attributes
	features   []feature
	metric     geometry.Metric
	notes      []string
	edgeNotes  []string // about lines and borders
	empty      int      // features without geometry, left out
}

// feature is a row of properties with a shape.
type feature struct {
	shape *geometry.Shape
	id    string   // of the feature itself; "" without
	row   []string // of properties
	at    int64    // number in the file, from 1
}

func newLayer() *layer { return &layer{properties: newAttributes("feature")} }

// add appends a feature; one without geometry is counted.
func (l *layer) add(f feature) {
	f.at = int64(len(l.features)+l.empty) + 1
	if f.shape == nil || f.shape.Empty() {
		l.empty++
		return
	}
	l.features = append(l.features, f)
}

// failFeature is an error about a feature, by its number in the file.
func failFeature(at int64, kind Kind, what string, do ...string) *Error {
	e := failAt(at, kind, what, do...)
	e.Unit = "feature"
	return e
}

func (l *layer) note(format string, args ...any) {
	l.notes = append(l.notes, fmt.Sprintf(format, args...))
}

func (l *layer) noteEdges(format string, args ...any) {
	l.edgeNotes = append(l.edgeNotes, fmt.Sprintf(format, args...))
}

const largestSnap = 1e4 // metres: beyond it everything is near everything

// file makes a graph of lines or of areas, or a table of points.
func (l *layer) file(opts Options) (*File, error) {
	if l.empty > 0 {
		l.note("features without geometry: %d; left out", l.empty)
	}
	if l.properties.gaps != nil {
		return nil, l.properties.gaps
	}
	if opts.snap() > largestSnap {
		return nil, fail(Unknown, fmt.Sprintf("a tolerance of %g m is more than 10 km", opts.snap()), "give fewer metres")
	}
	if len(l.features) == 0 {
		return nil, fail(Content, "no feature has a geometry", "name another file")
	}
	if err := l.locate(); err != nil {
		return nil, err
	}
	l.sort()
	points, lines, areas := l.count()
	switch {
	case lines > 0 && areas > 0:
		return nil, fail(Ambiguous, fmt.Sprintf("it holds lines (%d features) and areas (%d)", lines, areas),
			"keep the lines alone for a network, or the areas alone for their borders; with ogr2ogr: -where \"OGR_GEOMETRY='LINESTRING'\"")
	case lines > 0:
		return l.network(points, opts)
	case areas > 0:
		return l.borders(points, opts)
	}
	return l.places(opts)
}

func (l *layer) count() (points, lines, areas int) {
	for _, f := range l.features {
		switch {
		case len(f.shape.Areas) > 0 && len(f.shape.Lines) > 0:
			lines, areas = lines+1, areas+1
		case len(f.shape.Areas) > 0:
			areas++
		case len(f.shape.Lines) > 0:
			lines++
		default:
			points++
		}
	}
	return points, lines, areas
}

// only keeps the features of a kind and notes that the others are left out.
func (l *layer) only(kind string, is func(s *geometry.Shape) bool) {
	n := len(l.features)
	l.features = slices.DeleteFunc(l.features, func(f feature) bool { return !is(f.shape) })
	if left := n - len(l.features); left > 0 {
		l.note("features that are not %s: %d; left out", kind, left)
	}
}

// sort puts features into an order that does not depend on the file. Properties are compared
// by name, because the order of their columns may depend on that of the features.
func (l *layer) sort() {
	names := slices.Sorted(slices.Values(l.properties.Names))
	slices.SortStableFunc(l.features, func(a, b feature) int {
		if c := cmp.Or(geometry.Compare(a.shape, b.shape), cmp.Compare(a.id, b.id)); c != 0 {
			return c
		}
		for _, name := range names {
			if c := cmp.Compare(l.properties.get(a.row, name), l.properties.get(b.row, name)); c != 0 {
				return c
			}
		}
		return 0
	})
}

// locate finds out whether coordinates are degrees, unless the file says it, and refuses
// a file that mixes degrees and other coordinates.
func (l *layer) locate() error {
	if l.metric.Unit > 0 {
		return nil
	}
	outside, total := 0, 0
	var first feature
	var where geometry.Point
	for _, f := range l.features {
		f.shape.All(func(p geometry.Point) {
			total++
			if isDegrees(p) {
				return
			}
			if outside++; outside == 1 {
				first, where = f, p
			}
		})
	}
	switch {
	case outside == 0:
		return nil
	case 2*outside < total:
		return failFeature(first.at, Content, fmt.Sprintf("(%v, %v) is not a longitude and a latitude, as other coordinates are", where.X,
			where.Y), "correct or remove the feature")
	}
	l.metric = geometry.Metric{Unit: 1}
	l.note("coordinates such as (%v, %v) are not degrees: they are taken as x and y in metres", where.X, where.Y)
	return nil
}

// isDegrees reports whether a point may be a longitude and a latitude.
func isDegrees(p geometry.Point) bool { return math.Abs(p.Y) <= 90 && p.X >= -180 && p.X <= 360 }

// planar reports whether coordinates are x and y in a plane.
func (l *layer) planar() bool { return l.metric.Unit > 0 }

// coordinateNames are those of the columns for a place.
func (l *layer) coordinateNames() []string {
	if l.planar() {
		return []string{"x", "y"}
	}
	return []string{"lat", "lon"}
}

// coordinates are the cells of a place, in the order of coordinateNames.
func (l *layer) coordinates(p geometry.Point) []string {
	x, y := strconv.FormatFloat(p.X, 'f', -1, 64), strconv.FormatFloat(p.Y, 'f', -1, 64)
	if l.planar() {
		return []string{x, y}
	}
	return []string{y, x}
}

// placeNames names places by their coordinates, such as 48.856610_2.352220, latitude first, or
// x first in a plane: with as many digits as tell them apart, at least to a centimetre.
func (l *layer) placeNames(places []geometry.Point) []string {
	digits := 7
	if l.planar() {
		digits = 2
	}
	names := make([]string, len(places))
	for ; ; digits++ {
		seen := make(map[string]geometry.Point, len(places))
		clash := false
		for k, p := range places {
			a, b := p.Y, p.X
			if l.planar() {
				a, b = p.X, p.Y
			}
			names[k] = fixedDigits(a, digits) + "_" + fixedDigits(b, digits)
			if q, ok := seen[names[k]]; ok && q != p {
				clash = true
				break
			}
			seen[names[k]] = p
		}
		if !clash || digits > 17 {
			return names
		}
	}
}

// fixedDigits writes a number with a fixed number of digits, without zeros at the end.
func fixedDigits(x float64, digits int) string {
	text := strings.TrimRight(strconv.FormatFloat(x, 'f', digits, 64), "0")
	if text = strings.TrimSuffix(text, "."); text == "-0" {
		return "0"
	}
	return text
}

// decide sets the plane that a file states in words; a unit of 0 means degrees.
func (l *layer) decide(name string, unit float64) {
	l.metric = geometry.Metric{Unit: unit}
	if unit > 0 {
		l.note("coordinates are x and y of %s, in units of %g m; they are not changed into degrees", name, unit)
	}
}

// declare adds a column, so that columns have the order of the file even where first rows
// lack a value.
func (a *attributes) declare(name string) {
	if _, known := a.column[name]; !known {
		a.column[name] = len(a.Names)
		a.Names = append(a.Names, name)
	}
}
