package main

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// places writes a path of five nodes and a lone one, a table of their places and
// measurements.
func places(t *testing.T) (dir string, graph []string) {
	t.Helper()
	dir = t.TempDir()
	edges := write(t, dir, "e.csv", "source,target\na,b\nb,c\nc,d\nd,e\n")
	nodes := write(t, dir, "n.csv",
		"id,name,lat,lon,Mean,code,group,note\na,Alpha,50.1234567,10,1,007,g,x\nb,Beta,50.2,10.1,2.50,008,g,\"y, z\"\n"+
			"c,Gamma,50.3,10.2,3,009,h,\nd,Delta,,,4,010,h,w\ne,Eps,50.5,-10.4,5,011,h,w\nlone,Lone,51,11,8,014,,alone\n")
	values := write(t, dir, "m.csv", "node,value\na,1.5\nb,1.7\nc,2.1\ne,3.3\n")
	return dir, []string{"--edges", edges, "--nodes", nodes, "--measurements", values, "--family", "diffusion", "--roles", "none"}
}

// Results have labels, coordinates and the columns of --keep as they were read.
func TestResultsRepeatTheNodeTable(t *testing.T) {
	t.Parallel()
	_, graph := places(t)
	for _, c := range []struct{ keep, head, first, second string }{
		{"", "node,label,lat,lon,mean,sd,lower,upper,reading_lower,reading_upper,measured,value,n", "a,Alpha,50.1234567,10,", "b,Beta,"},
		{"code,note", "node,label,lat,lon,mean,sd,lower,upper,reading_lower,reading_upper,measured,value,n,code,note", ",1,007,x",
			`,1,008,"y, z"`},
		{"all", "node,label,lat,lon,mean,sd,lower,upper,reading_lower,reading_upper,measured,value,n,node_Mean,code,group,note", ",1,1,007,g,x",
			`,1,2.50,008,g,"y, z"`},
	} {
		args := append([]string{"predict"}, graph...)
		if c.keep != "" {
			args = append(args, "--keep", c.keep)
		}
		r := runLine(t, "", args...)
		lines := strings.Split(r.out, "\n")
		if r.code != exitOK || lines[0] != c.head || !strings.Contains(lines[1], c.first) || !strings.Contains(lines[2], c.second) {
			t.Errorf("--keep %q: exit %d\n%s", c.keep, r.code, r.out)
		}
		if renamed := strings.Contains(r.err, `the column "Mean" of --nodes is called "node_Mean"`); renamed != (c.keep == "all") {
			t.Errorf("--keep %q: a new name was said: %v\n%s", c.keep, renamed, r.err)
		}
	}
	r := runLine(t, "", append([]string{"predict", "--json", "--keep", "Mean,group"}, graph...)...)
	var answer predictAnswer
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil {
		t.Fatalf("%v in %+v", err, r)
	}
	b, d := answer.Nodes[1], answer.Nodes[3]
	if b.Label != "Beta" || *b.Lat != 50.2 || *b.Lon != 10.1 || b.Kept["Mean"] != "2.50" || b.Kept["group"] != "g" || d.Lat != nil ||
		answer.Nodes[5].Node != "lone" {
		t.Errorf("%+v and %+v", b, d)
	}
}

// GeoJSON is a collection of features with the columns of the table as properties; a node
// without coordinates has no geometry. The same file is written twice.
func TestResultsAsGeoJSON(t *testing.T) {
	t.Parallel()
	dir, graph := places(t)
	labels := write(t, dir, "l.csv", "node,class\na,x\nb,x\nd,y\ne,y\n")
	for verb, args := range map[string][]string{
		"predict":  graph,
		"suggest":  append([]string{"--goal", "learn", "-n", "5"}, graph...),
		"classify": append([]string{"--labels", labels}, graph[:4]...),
		"labels":   append([]string{"--labels", labels, "--goal", "learn", "-n", "2"}, graph[:4]...),
	} {
		verbs := map[string]string{"labels": "suggest"}
		name := verb
		if of, ok := verbs[verb]; ok {
			name = of
		}
		out := filepath.Join(dir, verb+".geojson")
		line := append([]string{name, "-o", out, "--keep", "code"}, args...)
		r := runLine(t, "", line...)
		text, err := os.ReadFile(out)
		if r.code != exitOK || err != nil {
			t.Fatalf("%s: %v %+v", verb, err, r)
		}
		var map_ struct {
			Type     string
			Features []struct {
				Type     string
				Geometry *struct {
					Type        string
					Coordinates [2]float64
				}
				Properties map[string]any
			}
		}
		if err := json.Unmarshal(text, &map_); err != nil || map_.Type != "FeatureCollection" || len(map_.Features) == 0 {
			t.Fatalf("%s: %v in %s", verb, err, text)
		}
		for _, f := range map_.Features {
			switch f.Properties["node"] {
			case "d":
				if f.Geometry != nil || f.Properties["lat"] != nil || f.Properties["code"] != "010" {
					t.Errorf("%s: d is %+v", verb, f)
				}
			case "e":
				if f.Geometry == nil || f.Geometry.Type != "Point" || f.Geometry.Coordinates != [2]float64{-10.4, 50.5} ||
					f.Properties["label"] != "Eps" {
					t.Errorf("%s: e is %+v", verb, f)
				}
			}
			if _, has := f.Properties["reading_upper"]; has != (verb == "predict" || verb == "suggest") {
				t.Errorf("%s: properties %v", verb, f.Properties)
			}
		}
		runLine(t, "", line...)
		if again, err := os.ReadFile(out); err != nil || string(again) != string(text) {
			t.Errorf("%s: the second file differs: %v", verb, err)
		}
	}
}

// The name of the file decides its format.
func TestResultFormats(t *testing.T) {
	t.Parallel()
	dir, graph := places(t)
	plain := runLine(t, "", append([]string{"predict"}, graph...)...)
	for name, read := range map[string]func(r io.Reader) string{
		"p.csv": plainText, "p.txt": plainText, "p": plainText, "p.csv.gz": func(r io.Reader) string {
			z, err := gzip.NewReader(r)
			if err != nil {
				t.Fatal(err)
			}
			return plainText(z)
		},
	} {
		out := filepath.Join(dir, name)
		if r := runLine(t, "", append([]string{"predict", "-o", out}, graph...)...); r.code != exitOK {
			t.Fatalf("%s: %+v", name, r)
		}
		f, err := os.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		if got := read(f); got != plain.out {
			t.Errorf("%s holds %q", name, got)
		}
		f.Close()
	}
	whole := runLine(t, "", append([]string{"predict", "--json"}, graph...)...)
	out := filepath.Join(dir, "p.json")
	if r := runLine(t, "", append([]string{"predict", "-o", out}, graph...)...); r.code != exitOK {
		t.Fatalf("%+v", r)
	}
	if text, err := os.ReadFile(out); err != nil || string(text) != whole.out {
		t.Errorf("a file .json differs from --json: %v", err)
	}
	bare := append(append([]string{}, graph[:2]...), graph[4:]...)
	planar := append([]string{"--nodes", write(t, dir, "xy.csv", "id,x,y\na,1,2\nb,2,3\n")}, bare...)
	for _, c := range []struct {
		want string
		args []string
	}{
		{"the places of the nodes are not known; give --nodes FILE with columns lat and lon",
			append([]string{"-o", filepath.Join(dir, "q.geojson")}, bare...)},
		{"the nodes have x and y of an unknown projection", append([]string{"-o", filepath.Join(dir, "q.geojson")}, planar...)},
		{"is for GeoJSON and --json for JSON", append([]string{"--json", "-o", filepath.Join(dir, "q.geojson")}, graph...)},
		{"tables are written as CSV (.csv), GeoJSON (.geojson), Parquet (.parquet) or JSON (.json)",
			append([]string{"-o", filepath.Join(dir, "q.shp")}, graph...)},
		{`the node table has no column "foo" that can be kept; it has "foo`, append([]string{"--keep", "foo"}, graph...)},
		{"there is no node table", append([]string{"--keep", "all"}, bare...)},
	} {
		r := runLine(t, "", append([]string{"predict"}, c.args...)...)
		if c.want = strings.ReplaceAll(c.want, `it has "foo`, `it has `); r.code != exitUsage || !strings.Contains(r.err, c.want) ||
			strings.Contains(r.err, "fitting") {
			t.Errorf("%q: %+v", c.want, r)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "q*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func plainText(r io.Reader) string {
	text, err := io.ReadAll(r)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Suggestions have both intervals, around the same mean.
func TestSuggestionsHaveIntervals(t *testing.T) {
	t.Parallel()
	_, graph := places(t)
	r := runLine(t, "", append([]string{"suggest", "--goal", "maximize", "-n", "2", "--csv", "--keep", "note"}, graph...)...)
	rows, err := csv.NewReader(strings.NewReader(r.out)).ReadAll()
	if r.code != exitOK || err != nil {
		t.Fatalf("%v %+v", err, r)
	}
	if got := strings.Join(rows[0],
		","); got != "node,label,lat,lon,mean,sd,lower,upper,reading_lower,reading_upper,chance_best,chance_se,cost,hops,why,note" {
		t.Errorf("columns %s", got)
	}
	for _, row := range rows[1:] {
		var v []float64
		for _, cell := range row[4:10] {
			v = append(v, parseNumber(t, cell))
		}
		mean, sd, lower, upper, readingLower, readingUpper := v[0], v[1], v[2], v[3], v[4], v[5]
		if !(readingLower < lower && lower < mean && mean < upper && upper < readingUpper) || !near(upper-mean, 1.959964*sd) {
			t.Errorf("%v", row)
		}
	}
}

func near(got, want float64) bool { return got > want*(1-1e-4) && got < want*(1+1e-4) }
