package formats

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"grfgp/internal/geometry"
)

// geoJSONFormat is GeoJSON: a FeatureCollection, a single feature or geometry, or one
// feature per line. Lines become a network, areas a graph of borders, and points a table.
var geoJSONFormat = &Format{
	Name: "GeoJSON",
	Detect: func(name string, head []byte) bool {
		return isGeoJSON(head) || bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) && hasExtension(name, ".geojson", ".geojsonl", ".geojsons")
	},
	Read: readGeoJSON,
}

// isGeoJSON reports whether the outermost object is of a type of GeoJSON, or TopoJSON, which gets a
// better message here. A sequence may begin with a record separator.
func isGeoJSON(head []byte) bool {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimLeft(head, "\x1e")))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return false
		}
		if key == "features" {
			return true
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return false
		}
		var kind string
		if key == "type" && json.Unmarshal(value, &kind) == nil {
			return slices.Contains([]string{"FeatureCollection", "Feature", "GeometryCollection", "Point", "MultiPoint", "LineString",
				"MultiLineString", "Polygon", "MultiPolygon", "Topology"}, kind)
		}
	}
	return false
}

// geoJSONReader reads a document, feature by feature.
type geoJSONReader struct {
	ctx   context.Context
	json  *json.Decoder
	data  []byte
	layer *layer
	crs   string
}

func readGeoJSON(ctx context.Context, in Input, opts Options) (*File, error) {
	g := &geoJSONReader{ctx: ctx, data: bytes.ReplaceAll(in.Data, []byte{0x1e}, []byte{' '}), layer: newLayer()}
	g.json = json.NewDecoder(bytes.NewReader(g.data))
	for {
		err := g.object()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	g.reference()
	return g.layer.file(opts)
}

// broken is the error about a document that is not JSON.
func (g *geoJSONReader) broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fail(Damaged, "the document ends in the middle", "the file was cut short: fetch or write it again")
	}
	line := int64(1 + bytes.Count(g.data[:min(int64(len(g.data)), g.json.InputOffset())], []byte{'\n'}))
	return failAt(line, Damaged, "is not well-formed JSON: "+strings.TrimPrefix(err.Error(), "json: "),
		"correct the line, or write the file again")
}

// object reads an object at the top level: a collection, a feature or a geometry.
func (g *geoJSONReader) object() error {
	token, err := g.json.Token()
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	if err != nil {
		return g.broken(err)
	}
	if token != json.Delim('{') {
		return fail(Unsupported, fmt.Sprintf("holds %v where a feature is expected", token), "write a FeatureCollection")
	}
	var f rawFeature
	collection := false
	for g.json.More() {
		key, err := g.json.Token()
		if err != nil {
			return g.broken(err)
		}
		if key == "features" {
			collection = true
			if err := g.features(); err != nil {
				return err
			}
			continue
		}
		var value json.RawMessage
		if err := g.json.Decode(&value); err != nil {
			return g.broken(err)
		}
		if err := f.set(key, value); err != nil {
			return fail(Damaged, err.Error(), "write the file again")
		}
	}
	if _, err := g.json.Token(); err != nil {
		return g.broken(err)
	}
	if f.CRS.Properties.Name != "" {
		g.crs = f.CRS.Properties.Name
	}
	switch {
	case f.Type == "Topology":
		return fail(Unsupported, "is TopoJSON, which is not read",
			"write it as GeoJSON; with ogr2ogr: ogr2ogr out.geojson FILE, with mapshaper: mapshaper FILE -o format=geojson")
	case collection:
		return nil
	case f.Type == "FeatureCollection":
		return fail(Content, "the collection has no features", "name another file")
	case f.Type == "Feature":
		return g.feature(&f)
	}
	whole, err := json.Marshal(map[string]json.RawMessage{
		"type": quoted(f.Type), "coordinates": orNull(f.Coordinates), "geometries": orNull(f.Geometries)})
	if err != nil {
		return g.broken(err)
	}
	f.Geometry = whole
	return g.feature(&f)
}

func quoted(text string) json.RawMessage {
	out, _ := json.Marshal(text) // a string is always written
	return out
}

func orNull(text json.RawMessage) json.RawMessage {
	if len(text) == 0 {
		return json.RawMessage("null")
	}
	return text
}

// rawFeature holds the members of a feature or a geometry.
type rawFeature struct {
	Type        string          `json:"type"`
	ID          json.RawMessage `json:"id"`
	Properties  json.RawMessage `json:"properties"`
	Geometry    json.RawMessage `json:"geometry"`
	Coordinates json.RawMessage `json:"coordinates"`
	Geometries  json.RawMessage `json:"geometries"`
	CRS         struct {
		Properties struct {
			Name string `json:"name"`
		} `json:"properties"`
	} `json:"crs"`
}

func (f *rawFeature) set(key json.Token, value json.RawMessage) error {
	switch key {
	case "type":
		if err := json.Unmarshal(value, &f.Type); err != nil {
			return errors.New("the type is not a text")
		}
	case "id":
		f.ID = value
	case "properties":
		f.Properties = value
	case "geometry":
		f.Geometry = value
	case "coordinates":
		f.Coordinates = value
	case "geometries":
		f.Geometries = value
	case "crs":
		if err := json.Unmarshal(value, &f.CRS); err != nil {
			return errors.New("the reference system (crs) is not read")
		}
	}
	return nil
}

// features reads the features of a collection.
func (g *geoJSONReader) features() error {
	token, err := g.json.Token()
	if err != nil {
		return g.broken(err)
	}
	if token != json.Delim('[') {
		return fail(Damaged, "the features are not a list", "write the file again")
	}
	for n := 0; g.json.More(); n++ {
		if n%1024 == 0 {
			if err := g.ctx.Err(); err != nil {
				return err
			}
		}
		var f rawFeature
		if err := g.json.Decode(&f); err != nil {
			var kind *json.UnmarshalTypeError
			if errors.As(err, &kind) {
				return failFeature(int64(n+1), Damaged, "it is not an object with type, properties and geometry", "correct or remove it")
			}
			return g.broken(err)
		}
		if err := g.feature(&f); err != nil {
			return err
		}
	}
	if _, err := g.json.Token(); err != nil {
		return g.broken(err)
	}
	return nil
}

func (g *geoJSONReader) feature(f *rawFeature) error {
	l := g.layer
	at := int64(len(l.features)+l.empty) + 1
	shape := &geometry.Shape{}
	if len(f.Geometry) > 0 {
		var err error
		if shape, err = geometry.ParseGeoJSON(f.Geometry); err != nil {
			return failFeature(at, Content, err.Error(), "correct or remove the feature")
		}
	}
	row, err := g.properties(f.Properties)
	if err != nil {
		return failFeature(at, Damaged, err.Error(), "correct or remove the feature")
	}
	l.add(feature{shape: shape, id: cellOfJSON(f.ID), row: row})
	return nil
}

// properties reads an object in the order of its names.
func (g *geoJSONReader) properties(text json.RawMessage) ([]string, error) {
	if len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return nil, errors.New("the properties are not an object")
	}
	var row []string
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		row = g.layer.properties.set(row, fmt.Sprint(name), cellOfJSON(value))
	}
	return row, nil
}

// cellOfJSON writes a value as a cell: text without quotes, nothing for null, and the
// items of a list with "|" between them.
func cellOfJSON(value json.RawMessage) string {
	text := strings.TrimSpace(string(value))
	switch {
	case text == "null", text == "":
		return ""
	case text[0] == '"':
		var s string
		if json.Unmarshal(value, &s) != nil {
			return text
		}
		return s
	case text[0] == '[':
		var items []json.RawMessage
		if json.Unmarshal(value, &items) != nil {
			return text
		}
		cells := make([]string, len(items))
		for k, item := range items {
			cells[k] = cellOfJSON(item)
		}
		return strings.Join(cells, "|")
	}
	return text
}

// geographic matches names of reference systems in degrees of longitude and latitude.
var geographic = regexp.MustCompile(`(?i)(CRS:?84|EPSG:+(4326|4269|4258|4979|4283|4167|4171|4619|4737)|CRS83)$`)

// reference judges the reference system that files of an older standard state.
func (g *geoJSONReader) reference() {
	if g.crs == "" || geographic.MatchString(g.crs) {
		return
	}
	degrees := true
	for _, f := range g.layer.features {
		f.shape.All(func(p geometry.Point) { degrees = degrees && isDegrees(p) })
	}
	if !degrees {
		g.layer.decide(g.crs, 1)
	}
}
