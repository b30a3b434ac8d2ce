package table

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
)

// newGeoJSON writes a FeatureCollection (RFC 7946), a feature per line: the geometry of the
// row, null if it is unknown, and the cells as properties. Missing cells are null.
func newGeoJSON(w io.Writer, columns []Column) (Writer, error) {
	var names [][]byte // quoted
	for _, c := range columns {
		name, err := json.Marshal(c.Name)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	if _, err := io.WriteString(w, `{"type":"FeatureCollection","features":[`); err != nil {
		return nil, err
	}
	return &textWriter{out: w, separator: len(","), end: "\n]}\n", add: func(to []byte, row Row) ([]byte, error) {
		to = append(to, ",\n{\"type\":\"Feature\",\"geometry\":"...)
		if row.Geometry == "" {
			to = append(to, "null"...)
		} else {
			to = append(to, row.Geometry...)
		}
		to = append(to, `,"properties":{`...)
		for k, column := range columns {
			if k > 0 {
				to = append(to, ',')
			}
			to = append(append(to, names[k]...), ':')
			switch c := row.Cells[k]; {
			case !c.known:
				to = append(to, "null"...)
			case column.Kind == Text:
				text, err := json.Marshal(c.text)
				if err != nil {
					return to, err
				}
				to = append(to, text...)
			default:
				to = c.append(to, column)
			}
		}
		return append(to, "}}"...), nil
	}}, nil
}

// Point returns the GeoJSON of a place, "" if its coordinates are not known.
func Point(lat, lon float64) string {
	if math.IsNaN(lat) || math.IsNaN(lon) {
		return ""
	}
	return fmt.Sprintf(`{"type":"Point","coordinates":[%s,%s]}`, strconv.FormatFloat(lon, 'f', -1, 64), strconv.FormatFloat(lat, 'f', -1, 64))
}
