package graphio

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"archive/zip"
)

func geographic(name string) Source { return File(filepath.Join("..", "formats", "testdata", name)) }

// Lengths of roads are distances without a question; numbers of borders are no weights.
func TestGeographicWeights(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file    string
		opts    Options
		weights string
	}{
		{"town.geojson", Options{}, "mean distance / distance; the mean distance is 238.8"},
		{"town.osm.pbf", Options{Weights: WeightsDistance}, "mean distance / distance; the mean distance is 238.8"},
		{"town.shp", Options{Weights: WeightsIgnore}, "all edges are equal, as requested"},
		{"town.shp", Options{Columns: map[Role]string{RoleWeight: "lanes"}}, "as given: larger means more similar"},
		{"gtfs.zip", Options{}, "mean distance / distance; the mean distance is 218"},
		{"gtfs.zip", Options{Columns: map[Role]string{RoleWeight: "trips"}}, "as given: larger means more similar"},
		{"districts.geojson", Options{}, "all edges are equal"},
		{"districts.zip", Options{Columns: map[Role]string{RoleWeight: "border"}}, "as given: larger means more similar"},
	} {
		n, err := ReadGraph(context.Background(), geographic(c.file), c.opts)
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
		} else if n.Report.Weights != c.weights {
			t.Errorf("%s: weights %q, want %q", c.file, n.Report.Weights, c.weights)
		}
	}
}

// Areas keep their shapes, which a map of values needs.
func TestGeographicShapes(t *testing.T) {
	t.Parallel()
	n, err := ReadGraph(context.Background(), geographic("districts.geojson"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, shape := range n.Nodes.Shapes {
		if !strings.HasPrefix(shape, `{"type":"Polygon","coordinates":[[[`) &&
			!strings.HasPrefix(shape, `{"type":"MultiPolygon","coordinates":[[[[`) || math.IsNaN(n.Nodes.Lat[i]) {
			t.Errorf("shape of %s: %s", n.Graph.IDs().At(i), shape)
		}
	}
	if len(n.Nodes.Shapes) != 6 || n.Nodes.Name == nil || n.Nodes.Columns[1].Name != "people" {
		t.Errorf("%+v", n.Nodes)
	}
	roads, err := ReadGraph(context.Background(), geographic("town.geojson"), Options{})
	if err != nil || roads.Nodes.Shapes != nil || len(roads.Nodes.Lat) != roads.Graph.Len() {
		t.Errorf("%+v, %v", roads, err)
	}
}

// The same file can be edges and measurements; an id that is not clear is asked for, once for both.
func TestGeographicIDs(t *testing.T) {
	t.Parallel()
	areas := func(properties ...string) string {
		var features []string
		for k, p := range properties {
			x := []string{"0", "1", "2", "3"}
			features = append(features, `{"type":"Feature","properties":`+p+`,"geometry":{"type":"Polygon","coordinates":[[[`+x[k]+`,0],[`+x[k]+
				`,1],[`+x[k+1]+`,1],[`+x[k+1]+`,0],[`+x[k]+`,0]]]}}`)
		}
		return `{"type":"FeatureCollection","features":[` + strings.Join(features, ",") + `]}`
	}
	text := areas(`{"geo_id":"a","zip_code":"1","rate":5}`, `{"geo_id":"b","zip_code":"2","rate":6}`,
		`{"geo_id":"c","zip_code":"3","rate":null}`)
	_, err := readNamed("a.geojson", text, Options{})
	checkError(t, err, ErrUsage, `a.geojson: the ids of the areas may be the properties geo_id, zip_code; say which with `+
		`Options.Columns["id"] = "geo_id" or Options.Columns["id"] = "zip_code"`)
	opts := Options{Columns: map[Role]string{RoleID: "zip_code"}}
	n, err := readNamed("a.geojson", text, opts)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := edgesOf(n), "1-2 2-3"; got != want {
		t.Errorf("edges %s, want %s", got, want)
	}
	m, err := ReadMeasurements(context.Background(), Reader("a.geojson", strings.NewReader(text)), n.Graph, opts)
	if err != nil || !slices.Equal(m.Values, []float64{5, 6}) {
		t.Errorf("%+v, %v", m, err)
	}
	m, err = ReadMeasurements(context.Background(), Reader("a.geojson", strings.NewReader(text)), n.Graph,
		Options{Columns: map[Role]string{RoleNode: "zip_code"}})
	if err != nil || len(m.Values) != 2 {
		t.Errorf("%+v, %v", m, err)
	}
	// A node table whose column of ids has the same name.
	opts.Nodes, err = ReadNodes(context.Background(), Reader("n.csv", strings.NewReader("zip_code,income\n1,10\n2,20\n3,30\n")),
		Options{Columns: opts.Columns})
	if err != nil {
		t.Fatal(err)
	}
	if n, err = readNamed("a.geojson", text, opts); err != nil || edgesOf(n) != "1-2 2-3" {
		t.Errorf("with a node table: %v", err)
	}
}

// A folder with a timetable is a graph; another folder is not.
func TestFolder(t *testing.T) {
	t.Parallel()
	z, err := zip.OpenReader(filepath.Join("..", "formats", "testdata", "gtfs.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	folder := t.TempDir()
	if err := os.CopyFS(folder, z); err != nil {
		t.Fatal(err)
	}
	n, err := ReadGraph(context.Background(), File(folder), Options{})
	if err != nil || n.Report.Format != "GTFS" || n.Graph.Len() != 6 {
		t.Fatalf("%+v, %v", n, err)
	}
	nodes, err := ReadNodes(context.Background(), File(folder), Options{})
	if err != nil || nodes.IDs.Len() != 6 {
		t.Errorf("%+v, %v", nodes, err)
	}
	if err := os.Remove(filepath.Join(folder, "stops.txt")); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadGraph(context.Background(), File(folder), Options{}); err == nil ||
		!strings.Contains(err.Error(), "is a directory; name a file in it") {
		t.Errorf("%v", err)
	}
}
