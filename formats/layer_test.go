package formats

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"archive/zip"
)

// readFile reads a file of testdata, which make_geo.py made.
func readFile(t *testing.T, name string, opts Options) *File {
	t.Helper()
	path := filepath.Join("testdata", name)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	format := Detect(name, data[:min(len(data), Head)])
	if format == nil {
		t.Fatalf("%s: the format is not detected", name)
	}
	f, err := format.Read(context.Background(), Input{Name: name, Path: path, Data: data}, opts)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return f
}

// shown are the edges of a network by the names of the junctions, which are those of the
// streets that meet there: forms of a map with other ids and coordinates have the same.
func shown(t *testing.T, f *File, digits int) []string {
	t.Helper()
	names := map[string]string{}
	label := slices.Index(f.Nodes.Names, "name")
	for _, row := range f.Nodes.Rows {
		names[row[0]] = row[label]
	}
	var out []string
	for _, row := range f.Edges.Rows {
		length, err := strconv.ParseFloat(row[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		ends := []string{names[row[0]], names[row[1]]}
		slices.Sort(ends)
		out = append(out, fmt.Sprintf("%s – %s: %.*f m", ends[0], ends[1], digits, length))
	}
	slices.Sort(out)
	return out
}

// Expected lengths were computed apart from this program, from chords of the sphere.
func TestTownInEveryForm(t *testing.T) {
	t.Parallel()
	want := shown(t, readFile(t, "town.geojson", Options{}), 3)
	if len(want) != 18 {
		t.Fatalf("%d edges: %q", len(want), want)
	}
	for _, line := range []string{
		"Bogen / Markt / Ostring – Bogen / Südstraße: 592.540 m",                                       // along the curve
		"Bogen / Südstraße – Ostring / Südstraße: 140.635 m",                                           // not the Umweg
		"Brücke / Nordstraße / Rue de l'Église – Brücke / Sackgasse / Südstraße / Westring: 478.911 m", // over the Markt
		"Insel – Insel: 201.862 m",
	} {
		if !slices.ContainsFunc(want, func(s string) bool { return strings.HasPrefix(s, line) }) {
			t.Errorf("no edge %s in\n%s", line, strings.Join(want, "\n"))
		}
	}
	for _, name := range []string{"town.shp", "town.csv", "town.geojsonl", "town.osm", "town.osm.pbf", "town_plain.osm.pbf"} {
		if got := shown(t, readFile(t, name, Options{}), 3); !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	// A plane: the same edges, with lengths that differ by less than 0.4 %.
	plane := readFile(t, "town_utm.shp", Options{})
	if plane.Nodes.Names[1] != "x" || plane.Nodes.Names[2] != "y" {
		t.Errorf("columns %q", plane.Nodes.Names)
	}
	for k, line := range shown(t, plane, 3) {
		var a, b float64
		edge, length, _ := strings.Cut(line, ": ")
		other, otherLength, _ := strings.Cut(want[k], ": ")
		if _, err := fmt.Sscanf(length+" "+otherLength, "%f m %f m", &a, &b); err != nil || edge != other || a/b < 0.996 || a/b > 1.004 {
			t.Errorf("%s, want about %s (%v)", line, want[k], err)
		}
	}
}

// TestOrderOfFeatures checks that tables do not depend on the order of features.
func TestOrderOfFeatures(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"town.geojson", "districts.geojson", "sensors.geojson"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Type     string            `json:"type"`
			Features []json.RawMessage `json:"features"`
		}
		if err := json.Unmarshal(data, &doc); err != nil {
			t.Fatal(err)
		}
		want := ""
		r := rand.New(rand.NewPCG(1, 1))
		for range 10 {
			text, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			f, err := readGeoJSON(context.Background(), Input{Data: text}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if want = cmp.Or(want, f.String()); f.String() != want {
				t.Fatalf("%s:\n%s\nwant\n%s", name, f, want)
			}
			r.Shuffle(len(doc.Features), func(i, j int) { doc.Features[i], doc.Features[j] = doc.Features[j], doc.Features[i] })
		}
	}
}

func TestDistricts(t *testing.T) {
	t.Parallel()
	want := readFile(t, "districts.geojson", Options{})
	var borders []string
	for _, row := range want.Edges.Rows {
		borders = append(borders, strings.Join(row, " "))
	}
	slices.Sort(borders)
	if got := strings.Join(borders, "; "); got != "D01 D03 444.780; D02 D01 421.906; D02 D03 444.780; D03 D04 726.057" {
		t.Errorf("borders %s", got)
	}
	if !want.Equal || want.Nodes.Names[0] != "code" || len(want.Nodes.Rows) != 6 {
		t.Errorf("%+v", want)
	}
	shape := slices.Index(want.Nodes.Names, "geometry")
	for _, row := range want.Nodes.Rows {
		kind := "Polygon"
		if row[0] == "D05" {
			kind = "MultiPolygon"
		}
		if !strings.HasPrefix(row[shape], `{"type":"`+kind+`","coordinates":[[[`) {
			t.Errorf("%s: geometry %s", row[0], row[shape])
		}
	}
	zipped := readFile(t, "districts.zip", Options{})
	if !slices.EqualFunc(zipped.Edges.Rows, want.Edges.Rows, slices.Equal) {
		t.Errorf("%v, want %v", zipped.Edges.Rows, want.Edges.Rows)
	}
	if asked := readFile(t, "districts.geojson", Options{ID: "name"}); asked.Nodes.Names[0] != "name" {
		t.Errorf("ids are %q", asked.Nodes.Names)
	}
}

func TestGTFS(t *testing.T) {
	t.Parallel()
	f := readFile(t, "gtfs.zip", Options{})
	// From the Dom to the Markt: 2, 2 and 0 minutes; to the Wald and on to the Uni: half of the time between
	// the stops that have one. Beyond midnight, hours go on counting.
	want := "edges by edge: source,target,travel_time,length,trips / bhf,markt,200.0,281.295,3 / dom,markt,80.0,358.581,3 / " +
		"dom,uni,210.0,281.283,2 / markt,wald,300.0,1075.716,1 / uni,wald,300.0,526.253,1"
	got, _, _ := strings.Cut(f.String(), "; nodes")
	if got != want || f.Distance != "travel_time" {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got, want := strings.Join(f.Nodes.Names, ","), "stop_id,lat,lon,stop_name,zone_id"; got != want || len(f.Nodes.Rows) != 6 {
		t.Errorf("columns %s, want %s; %d rows", got, want, len(f.Nodes.Rows))
	}
	for _, note := range []string{"platforms that belong to a station: 2", "stops that no trip serves: 1"} {
		if !strings.Contains(strings.Join(f.Notes, "\n"), note) {
			t.Errorf("notes %q have no %q", f.Notes, note)
		}
	}
	// The same as a folder.
	z, err := zip.OpenReader(filepath.Join("testdata", "gtfs.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	folder := t.TempDir()
	if err := os.CopyFS(folder, z); err != nil {
		t.Fatal(err)
	}
	format := DetectFolder(folder)
	if format != gtfsFormat || DetectFolder(t.TempDir()) != nil {
		t.Fatalf("the folder is detected as %v", format)
	}
	again, err := format.Read(context.Background(), Input{Path: folder}, Options{})
	if err != nil || again.String() != f.String() {
		t.Errorf("%v, %v, want %v", again, err, f)
	}
}

func TestGTFSErrors(t *testing.T) {
	t.Parallel()
	const stops, times = "stop_id,stop_lat,stop_lon\na,50,6\nb,50.1,6\n",
		"trip_id,stop_id,stop_sequence,arrival_time,departure_time\nt,a,1,08:00:00,08:00:00\nt,b,2,08:05:00,08:05:00\n"
	for _, c := range []struct{ stops, times, want string }{
		{"stop_id,stop_lat\na,50\n", times, "stops.txt, line 1: there is no column stop_lon; fetch the timetable again"},
		{stops + "a,1,2\n", times, `stops.txt, line 4: the stop "a" is listed twice; correct or remove the row`},
		{stops + "c,91,2\n", times, `stops.txt, line 4: the stop "c" has the latitude "91" and the longitude "2"; correct or remove the row`},
		{stops + "c,NaN,2\n", times, `stops.txt, line 4: the stop "c" has the latitude "NaN" and the longitude "2"; correct or remove the row`},
		{stops, times + "t,x,3,08:00:00,08:00:00\n", `stop_times.txt, line 4: the stop "x" is not in stops.txt; correct or remove the row`},
		{stops, times + "t,a,x,08:00:00,08:00:00\n", `stop_times.txt, line 4: the stop_sequence "x" is not a whole number; correct or remove ` +
			`the row`},
		{stops, times + "t,a,3,8 am,08:00:00\n", `stop_times.txt, line 4: "8 am" is not a time such as 07:35:00; correct or remove the row`},
		{stops, "trip_id,stop_id,stop_sequence\nt,a,1\n", "no trip has two stops; check stop_times.txt"},
		{stops, "trip_id,stop_id,stop_sequence\nt,a,1\nt,b,2\n", "stop_times.txt gives no times of arrival and departure; give them"},
		{strings.Replace(stops, "stop_lon\na,50,6", "stop_lon,parent_station\na,50,6,x", 1), times,
			`stops.txt: the stop "a" belongs to the station "x", which is not listed; add the station, or clear parent_station`},
		{stops, "", "stop_times.txt, line 1: there is no header; fetch the timetable again"},
	} {
		_, err := readGTFS(context.Background(), fstest.MapFS{"stops.txt": {Data: []byte(c.stops)}, "stop_times.txt": {Data: []byte(c.times)}})
		if err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestGeoJSON(t *testing.T) {
	t.Parallel()
	collection := func(features ...string) string {
		return `{"type":"FeatureCollection","features":[` + strings.Join(features, ",") + `]}`
	}
	at := func(properties, geometry string) string {
		return fmt.Sprintf(`{"type":"Feature","properties":%s,"geometry":%s}`, properties, geometry)
	}
	point := func(x, y string) string { return fmt.Sprintf(`{"type":"Point","coordinates":[%s,%s]}`, x, y) }
	square := func(x int) string {
		return fmt.Sprintf(`{"type":"Polygon","coordinates":[[[%d,0],[%d,1],[%d,1],[%d,0],[%d,0]]]}`, x, x, x+1, x+1, x)
	}
	named := "points are named by the property "
	for _, c := range []readCase{
		{name: "points", text: collection(at(`{"id":"a","v":1.50,"on":true,"tags":["x","y"]}`, point("6", "50")),
			at(`{"id":"b","v":null}`, point("7", "51"))),
			want: "nodes by feature: id,lat,lon,v,on,tags / a,50,6,1.50,true,x|y / b,51,7,,,; " + named + "id"},
		{name: "own ids", text: collection(`{"type":"Feature","id":7,"properties":null,"geometry":`+point("6", "50")+`}`,
			`{"type":"Feature","id":"x","properties":{},"geometry":`+point("7", "50")+`}`),
			want: "nodes by feature: id,lat,lon / 7,50,6 / x,50,7"},
		{name: "running numbers are no ids", text: collection(`{"type":"Feature","id":0,"properties":{"code":"A"},"geometry":`+point("6", "50")+
			`}`, `{"type":"Feature","id":1,"properties":{"code":"B"},"geometry":`+point("7", "50")+`}`),
			want: "nodes by feature: code,lat,lon / A,50,6 / B,50,7; " + named + "code"},
		{name: "no ids", text: collection(at(`{"v":1}`, point("6.12345678", "50.10")), at(`{"v":2}`, point("6.12345678", "50.10")),
			at(`{"v":3}`, point("6.12345679", "50.10"))),
			want: "nodes by feature: id,lat,lon,v / 50.1_6.12345678,50.1,6.12345678,1 / 50.1_6.12345678,50.1,6.12345678,2 / " +
				"50.1_6.12345679,50.1,6.12345679,3; " +
				"points have no property that names each of them; they are named by their coordinates: latitude_longitude"},
		{name: "several ids", text: collection(at(`{"zip_code":1,"geo_id":2}`, point("6", "50"))),
			want: "the ids of the points may be the properties geo_id, zip_code; say which, or say which"},
		{name: "the id as asked", opts: Options{ID: "zip_code"}, text: collection(at(`{"zip_code":1,"geo_id":2}`, point("6", "50"))),
			want: "nodes by feature: zip_code,lat,lon,geo_id / 1,50,6,2"},
		{name: "no such property", opts: Options{ID: "x"}, text: collection(at(`{"a":1,"b":2}`, point("6", "50"))),
			want: `features have no property "x" that could be their id; the properties are a, b`},
		{name: "id missing", opts: Options{ID: "a"}, text: collection(at(`{"a":1}`, point("6", "50")), at(`{"a":null}`, point("6", "51"))),
			want: "feature 2: it has no a, which is to be its id; give it one, or name another property"},
		{name: "a geometry alone", text: `{"type":"LineString","coordinates":[[0,0],[0,1]]}`,
			want: "edges by edge: source,target,length / 0_0,1_0,111195.080; nodes by node: id,lat,lon / 0_0,0,0 / 1_0,1,0; " +
				"lines meet at common vertices and where a line ends on another, within 0.1 m; lines that merely cross do not meet; nodes are " +
				"junctions and ends of lines: 2; the length of an edge is along its line, in metres"},
		{name: "properties named as columns", text: collection(at(`{"id":"a","lat":9,"geometry":"x"}`, point("6", "50"))),
			want: "nodes by feature: id,lat,lon,lat (property),geometry (property) / a,50,6,9,x; " + named + "id"},
		{name: "metres", text: collection(at(`{"id":"a"}`, point("400000", "5600000"))),
			want: "nodes by feature: id,x,y / a,400000,5600000; coordinates such as (400000, 5.6e+06) are not degrees: they are taken as x and y " +
				"in metres; " + named + "id"},
		{name: "an old reference system", text: `{"type":"FeatureCollection","crs":{"type":"name",` +
			`"properties":{"name":"urn:ogc:def:crs:EPSG::25832"}},"features":[` + at(`{"id":"a"}`, point("400000", "5600000")) + `]}`,
			want: "nodes by feature: id,x,y / a,400000,5600000; coordinates are x and y of urn:ogc:def:crs:EPSG::25832, in units of 1 m; they " +
				"are not changed into degrees; " + named + "id"},
		{name: "mixed coordinates", text: collection(at(`{}`, point("6", "50")), at(`{}`, point("6", "51")), at(`{}`, point("500", "51"))),
			want: "feature 3: (500, 51) is not a longitude and a latitude, as other coordinates are; correct or remove the feature"},
		{name: "without geometry", text: collection(at(`{"id":"a"}`, "null"), at(`{"id":"b"}`, point("6", "50")),
			at(`{"id":"c"}`, `{"type":"Polygon","coordinates":[]}`)),
			want: "nodes by feature: id,lat,lon / b,50,6; features without geometry: 2; left out; " + named + "id"},
		{name: "nothing with geometry", text: collection(at(`{}`, "null")), want: "no feature has a geometry; name another file"},
		{name: "no features", text: collection(), want: "no feature has a geometry; name another file"},
		{name: "lines and areas", text: collection(at(`{}`, square(0)), at(`{}`, `{"type":"LineString","coordinates":[[0,0],[0,1]]}`)),
			want: `it holds lines (1 features) and areas (1); keep the lines alone for a network, or the areas alone for their borders; with ` +
				`ogr2ogr: -where "OGR_GEOMETRY='LINESTRING'"`},
		{name: "areas with points", text: collection(at(`{"id":"p"}`, point("0", "0")), at(`{"id":"a"}`, square(0)), at(`{"id":"b"}`, square(1))),
			want: `edges by border: source,target,border / a,b,111195.080; nodes by feature: id,lat,lon,geometry / a,0.5,0.5,` + square(0) +
				` / b,0.5,1.5,` + square(1) +
				"; features that are not areas: 1; left out; areas are named by the property id; edges join areas with a common border; the column " +
				"border is its length in metres"},
		{name: "an area in parts and in rows", opts: Options{ID: "id"},
			text: collection(at(`{"id":"a","y":1}`, square(0)), at(`{"id":"a","y":2}`, square(0)), at(`{"id":"a","y":1}`, square(5))),
			want: `edges by border: source,target,border; nodes by feature: id,lat,lon,y,geometry / a,0.5,3,1,G / a,0.5,3,2,G / a,0.5,3,1,G; ` +
				`features that repeat an area: 1; features that are another part of an area with the same id: 1; ` +
				"edges join areas with a common border; the column border is its length in metres; areas without a common border with another: 1; " +
				"islands, or outlines that differ by more than 0.1 m"},
		{name: "a ring that is open", text: collection(at(`{}`, `{"type":"Polygon","coordinates":[[[0,0],[0,1],[1,1],[1,0]]]}`)),
			want: "feature 1: a ring is not closed: it begins at (0, 0) and ends at (1, 0); correct or remove the feature"},
		{name: "a coordinate that is null", text: collection(at(`{}`, point("null", "1"))),
			want: `feature 1: "null,1]" in the list of coordinates, where a number is expected; correct or remove the feature`},
		{name: "TopoJSON", text: `{"type":"Topology","objects":{}}`,
			want: "is TopoJSON, which is not read; write it as GeoJSON; with ogr2ogr: ogr2ogr out.geojson FILE, with mapshaper: mapshaper FILE " +
				"-o format=geojson"},
		{name: "cut short", text: `{"type":"FeatureCollection","features":[{"type":"Feature",`,
			want: "the document ends in the middle; the file was cut short: fetch or write it again"},
		{name: "no JSON", text: "{\"type\":\"FeatureCollection\",\n\"features\":[{]}",
			want: "line 2: is not well-formed JSON: invalid character ']' looking for beginning of object key string; correct the line, or write " +
				"the file again"},
		{
			name: "no object", text: collection(`5`),
			want: "feature 1: it is not an object with type, properties and geometry; correct or remove it"},
	} {
		if c.name == "an area in parts and in rows" {
			both := `{"type":"MultiPolygon","coordinates":[[[[0,0],[0,1],[1,1],[1,0],[0,0]]],[[[5,0],[5,1],[6,1],[6,0],[5,0]]]]}`
			c.want = strings.ReplaceAll(c.want, ",G", ","+both)
		}
		c.run(t, geoJSONFormat, "f.geojson")
	}
}

func TestSnap(t *testing.T) {
	t.Parallel()
	const text = "WKT,name\n\"LINESTRING (0 0,0.001 0)\",a\n\"LINESTRING (0.00101 0,0.002 0)\",b\n" // a gap of 1.1 m
	for _, c := range []struct {
		snap  float64
		edges int
	}{{0, 2}, {-1, 2}, {1, 2}, {2, 1}} {
		f, err := readWKT(context.Background(), Input{Data: []byte(text)}, Options{Snap: c.snap})
		if err != nil || len(f.Edges.Rows) != c.edges {
			t.Errorf("within %g m: %v, %v; want %d edges", c.snap, f, err, c.edges)
		}
	}
}

func TestAbsurdSnap(t *testing.T) {
	t.Parallel()
	_, err := readWKT(context.Background(), Input{Data: []byte("WKT,name\nPOINT (1 2),a\n")}, Options{Snap: 1e6})
	if err == nil || err.Error() != "a tolerance of 1e+06 m is more than 10 km; give fewer metres" {
		t.Errorf("%v", err)
	}
}

func TestWKTErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []readCase{
		{name: "points with semicolons", text: "id;geom;v\na;POINT (6 50);1,5\nb;;2\n",
			want: "nodes by feature: id,lat,lon,v / a,50,6,1,5; features without geometry: 1; left out; points are named by the property id"},
		{name: "not closed", text: "id,geom\na,POINT (6 50)\nb,\"POLYGON ((0 0,0 1,1 1,0 2))\"\n",
			want: "line 3: column geom: a ring is not closed: it begins at (0, 0) and ends at (0, 2); correct or remove the line"},
		{name: "too few fields", text: "id,geom,x\na,POINT (6 50),1\nb,POINT (6 50)\n",
			want: "line 3: is not a row of delimited text (wrong number of fields); correct the line"},
	} {
		c.run(t, wktFormat, "f.csv")
	}
	for _, text := range []string{"u,v,key,geometry\n1,2,0,\"LINESTRING (6 50,6 51)\"\n", "id,v\na,1\n", "source,target\nPoint (x),b\n", ""} {
		if f := Detect("f.csv", []byte(text)); f != nil {
			t.Errorf("%q is detected as %s", text, f.Name)
		}
	}
}

func TestShapefileErrors(t *testing.T) {
	t.Parallel()
	parts := map[string][]byte{}
	for _, ending := range []string{".shp", ".dbf", ".prj", ".cpg"} {
		data, err := os.ReadFile(filepath.Join("testdata", "town"+ending))
		if err != nil {
			t.Fatal(err)
		}
		parts[ending] = data
	}
	read := func(change func(files fstest.MapFS)) (*File, error) {
		files := fstest.MapFS{}
		for ending, data := range parts {
			files["town"+ending] = &fstest.MapFile{Data: slices.Clone(data)}
		}
		change(files)
		return readShapefileIn(context.Background(), files, "town.shp", Options{})
	}
	for _, c := range []struct {
		name   string
		change func(files fstest.MapFS)
		want   string // in the error, or in the notes
	}{
		{"no properties", func(f fstest.MapFS) { delete(f, "town.dbf") }, "there is no file .dbf beside it"},
		{"no reference system", func(f fstest.MapFS) { delete(f, "town.prj") }, "there is no file .prj beside it"},
		{"endings in capitals", func(f fstest.MapFS) { f["town.DBF"] = f["town.dbf"]; delete(f, "town.dbf") }, "nodes are junctions"},
		{"cut short", func(f fstest.MapFS) { f["town.shp"].Data = parts[".shp"][:400] }, "bytes, but"},
		{"rows of another file", func(f fstest.MapFS) { f["town.dbf"].Data[4]-- }, "more shapes than the 12 rows"},
		{"more rows than shapes", func(f fstest.MapFS) { f["town.shp"].Data = parts[".shp"][:100] }, "has 0 shapes, but the file .dbf 13 rows"},
		{"a deleted row", func(f fstest.MapFS) { f["town.dbf"].Data[len(parts[".dbf"])-347] = '*' }, ""},
		{"absurd number of points", func(f fstest.MapFS) { copy(f["town.shp"].Data[100+8+4+36:], []byte{255, 255, 255, 127}) },
			"too short for 2147483647 points"},
		{"unknown shape", func(f fstest.MapFS) { f["town.shp"].Data[108] = 99 }, "feature 1: its shape type 99 is not known"},
		{"surface", func(f fstest.MapFS) { f["town.shp"].Data[108] = 31 }, "MultiPatch"},
		{"encoding", func(f fstest.MapFS) { f["town.cpg"].Data = []byte("Big5") }, `encoding "Big5", which is not read`},
		{"wrong encoding", func(f fstest.MapFS) { copy(f["town.dbf"].Data[400:], "\xff\xff") }, "is not UTF-8, as the file .cpg says"},
		{"table cut short", func(f fstest.MapFS) { f["town.dbf"].Data = parts[".dbf"][:500] }, "the file .dbf ends in the middle"},
	} {
		f, err := read(c.change)
		got := fmt.Sprint(err)
		if err == nil {
			got = f.String()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %q in it", c.name, got, c.want)
		}
	}
	for _, cpg := range []string{"1252", "ISO-8859-1", "ISO 8859-1", "88591", "LATIN1", "ANSI 1252", "cp1252", "CP850"} {
		f, err := read(func(f fstest.MapFS) { f["town.cpg"].Data = []byte(cpg) })
		if err != nil || !strings.Contains(f.String(), "Nordstra") {
			t.Errorf("encoding %s: %v", cpg, err)
		}
	}
	l := newLayer()
	l.readReference(`PROJCS["NAD83 / Texas",GEOGCS["NAD83",UNIT["degree",0.0174532925199433]],UNIT["US survey foot",0.3048006096012192]]`)
	if l.metric.Unit != 0.3048006096012192 || !strings.Contains(l.notes[0], "NAD83 / Texas") {
		t.Errorf("a plane in feet: %v, %q", l.metric, l.notes)
	}
	if f := readFile(t, "town_utm.shp", Options{}); !strings.Contains(f.String(), "Rue de l'Église") {
		t.Error("text is not Latin 1 without a .cpg file")
	}
	if _, err := readShapefile(context.Background(), Input{Data: parts[".shp"]}, Options{}); err == nil {
		t.Error("a stream cannot have files beside it")
	}
	if _, err := readShapefile(context.Background(), Input{Path: "town.SHX"}, Options{}); err == nil ||
		err.Error() != "is the index of a shapefile; name the .shp file beside it" {
		t.Errorf("an index: %v", err)
	}
}

func TestOSMErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []readCase{
		{name: "no roads", text: `<osm><node id="1" lat="1" lon="1"/></osm>`,
			want: "it holds no roads for motor traffic (highway = motorway, trunk, primary, secondary, tertiary, unclassified, residential, " +
				"living_street, road); check which part of the map it is"},
		{name: "a bad id", text: "<osm>\n<node id=\"x\" lat=\"1\" lon=\"1\"/></osm>",
			want: `line 2: a node has the id "x", which is not a whole number; fetch the file again`},
		{name: "a bad place", text: `<osm><node id="1" lat="NaN" lon="1"/></osm>`,
			want: `line 1: node 1 has the latitude "NaN" and the longitude "1"; fetch the file again`},
		{name: "cut short", text: `<osm><way id="1"><nd ref="1"/>`,
			want: "line 1: the document ends in the middle; the file was cut short: fetch it again"},
		{name: "roads that leave the map", text: `<osm><node id="1" lat="0" lon="0"/><node id="2" lat="0" lon="0.001"/><node id="9" lat="5" ` +
			`lon="5" visible="false"/><way id="1"><nd ref="1"/><nd ref="2"/><nd ref="9"/><tag k="highway" v="trunk_link"/><tag k="maxspeed" ` +
			`v="30 mph"/></way></osm>`,
			want: "edges by edge: source,target,length,name,ref,highway,maxspeed,lanes,oneway / 1,2,111.195,,,trunk_link,30 mph,,; nodes by " +
				"node: id,lat,lon,name,highway,maxspeed,lanes / 1,0,0,,trunk,48.28, / 2,0,0.001,,trunk,48.28,; " +
				"nodes of roads that are not in the file: 1; roads end there; roads for motor traffic: 1 ways; paths, tracks, service roads and " +
				"private roads are left out; nodes are junctions and ends of lines: 2; the length of an edge is along its line, in metres"},
	} {
		c.run(t, osmXMLFormat, "f.osm")
	}
	data, err := os.ReadFile(filepath.Join("testdata", "town.osm.pbf"))
	if err != nil {
		t.Fatal(err)
	}
	for n := range data { // cut short anywhere
		if f, err := readOSMPBF(context.Background(), Input{Data: data[:n]}, Options{}); err == nil {
			t.Fatalf("%d of %d bytes are read as %v", n, len(data), f)
		}
	}
}

func fuzzFormat(f *testing.F, format *Format, names ...string) {
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		format.Detect("f", data)
		file, err := format.Read(context.Background(), Input{Name: "f", Data: data}, Options{})
		checkRead(t, file, err)
	})
}

// checkRead checks that a file is read whole, or not at all with a reason.
func checkRead(t *testing.T, file *File, err error) {
	if err != nil {
		if e, ok := err.(*Error); !ok || e.What == "" || len(e.Remedies) == 0 {
			t.Fatalf("%#v", err)
		}
		return
	}
	ids := map[string]bool{}
	for _, row := range file.Nodes.Rows {
		if len(row) != len(file.Nodes.Names) {
			t.Fatalf("%d cells for %q", len(row), file.Nodes.Names)
		}
		ids[row[0]] = true
	}
	if file.Edges == nil {
		return
	}
	for _, row := range file.Edges.Rows {
		if length, err := strconv.ParseFloat(row[2], 64); len(row) != len(file.Edges.Names) || !ids[row[0]] || !ids[row[1]] || row[0] == row[1] ||
			err != nil || !(length >= 0) {
			t.Fatalf("edge %q", row)
		}
	}
}

func FuzzGeoJSON(f *testing.F) {
	fuzzFormat(f, geoJSONFormat, "town.geojson", "districts.geojson", "sensors.geojson", "town.geojsonl")
}
func FuzzWKT(f *testing.F)    { fuzzFormat(f, wktFormat, "town.csv") }
func FuzzOSMXML(f *testing.F) { fuzzFormat(f, osmXMLFormat, "town.osm") }
func FuzzOSMPBF(f *testing.F) { fuzzFormat(f, osmPBFFormat, "town.osm.pbf", "town_plain.osm.pbf") }
func FuzzZip(f *testing.F) {
	fuzzFormat(f, zippedShapefileFormat, "districts.zip", "gtfs.zip")
}

func FuzzShapefile(f *testing.F) {
	for _, name := range []string{"town", "town_utm"} {
		shp, err := os.ReadFile(filepath.Join("testdata", name+".shp"))
		if err != nil {
			f.Fatal(err)
		}
		dbf, err := os.ReadFile(filepath.Join("testdata", name+".dbf"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(shp, dbf, "", "")
	}
	f.Fuzz(func(t *testing.T, shp, dbf []byte, prj, cpg string) {
		if len(shp)+len(dbf) > 1<<16 {
			return
		}
		files := fstest.MapFS{"f.shp": {Data: shp}, "f.dbf": {Data: dbf}, "f.prj": {Data: []byte(prj)}, "f.cpg": {Data: []byte(cpg)}}
		file, err := readShapefileIn(context.Background(), files, "f.shp", Options{})
		checkRead(t, file, err)
	})
}

func FuzzGTFS(f *testing.F) {
	f.Add("stop_id,stop_lat,stop_lon,parent_station\na,50,6,\nb,50.1,6,a\n",
		"trip_id,stop_id,stop_sequence,arrival_time,departure_time\nt,a,1,08:00:00,08:00:00\nt,b,2,08:05:00,08:05:00\n")
	f.Fuzz(func(t *testing.T, stops, times string) {
		var files fs.FS = fstest.MapFS{"stops.txt": {Data: []byte(stops)}, "stop_times.txt": {Data: []byte(times)}}
		file, err := readGTFS(context.Background(), files)
		checkRead(t, file, err)
	})
}
