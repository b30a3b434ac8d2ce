package table

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
)

// geoWriter writes a FeatureCollection (RFC 7946), a feature per line: the geometry of
// the row, null if it is unknown, and the cells as properties. Missing cells are null.
type geoWriter struct {
	out     io.Writer
	columns []Column
	names   [][]byte // quoted
	line    []byte
	rows    int
}

func newGeoJSON(w io.Writer, columns []Column) (Writer, error) {
	g := &geoWriter{out: w, columns: columns}
	for _, c := range columns {
		name, err := json.Marshal(c.Name)
		if err != nil {
			return nil, err
		}
		g.names = append(g.names, name)
	}
	_, err := io.WriteString(w, `{"type":"FeatureCollection","features":[`)
	return g, err
}

func (g *geoWriter) Write(row Row) error {
	line := g.line[:0]
	if g.rows > 0 {
		line = append(line, ',')
	}
	g.rows++
	line = append(line, "\n{\"type\":\"Feature\",\"geometry\":"...)
	if row.Geometry == "" {
		line = append(line, "null"...)
	} else {
		line = append(line, row.Geometry...)
	}
	line = append(line, `,"properties":{`...)
	for k, column := range g.columns {
		if k > 0 {
			line = append(line, ',')
		}
		line = append(append(line, g.names[k]...), ':')
		switch c := row.Cells[k]; {
		case !c.known:
			line = append(line, "null"...)
		case column.Kind == Text:
			text, err := json.Marshal(c.text)
			if err != nil {
				return err
			}
			line = append(line, text...)
		default:
			line = append(line, c.format(column)...)
		}
	}
	g.line = append(line, "}}"...)
	_, err := g.out.Write(g.line)
	return err
}

func (g *geoWriter) Close() error {
	_, err := io.WriteString(g.out, "\n]}\n")
	return err
}

// Point returns the GeoJSON of a place, "" if its coordinates are not known.
func Point(lat, lon float64) string {
	if math.IsNaN(lat) || math.IsNaN(lon) {
		return ""
	}
	return fmt.Sprintf(`{"type":"Point","coordinates":[%s,%s]}`, strconv.FormatFloat(lon, 'f', -1, 64), strconv.FormatFloat(lat, 'f', -1, 64))
}
