package table

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"grfgp/internal/parquet"
)

var columns = []Column{{Name: "node"}, {Name: `odd, "name"`}, {Name: "mean", Kind: Number, Digits: 8}, {Name: "lat", Kind: Number},
	{Name: "n", Kind: Whole}, {Name: "measured", Kind: Truth}}

var rows = []Row{
	{Cells: []Cell{TextCell("a"), TextCell("x, \"y\"\nz"), NumberCell(1.0 / 3), NumberCell(50.123456789), WholeCell(3), TruthCell(true)},
		Geometry: Point(50.123456789, -7)},
	{Cells: []Cell{TextCell("b"), {}, NumberCell(math.NaN()), NumberCell(math.Inf(1)), WholeAt(nil), TruthCell(false)}},
	{Cells: []Cell{TextCell("ü<&"), TextCell(""), NumberCell(1e-7), NumberCell(1e22), WholeCell(-1 << 40), TruthCell(true)},
		Geometry: Point(math.NaN(), 1)},
}

func written(t *testing.T, f Format, rows []Row) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := New(&out, f, columns)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestCSV(t *testing.T) {
	t.Parallel()
	got, err := csv.NewReader(bytes.NewReader(written(t, CSV, rows))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"node", `odd, "name"`, "mean", "lat", "n", "measured"},
		{"a", "x, \"y\"\nz", "0.33333333", "50.123456789", "3", "true"},
		{"b", "", "", "", "", "false"},
		{"ü<&", "", "1e-07", "1e+22", "-1099511627776", "true"},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestGeoJSON(t *testing.T) {
	t.Parallel()
	for _, count := range []int{0, 1, len(rows)} {
		var got struct {
			Type     string
			Features []struct {
				Type       string
				Geometry   *struct{ Coordinates []float64 }
				Properties map[string]any
			}
		}
		text := written(t, GeoJSON, rows[:count])
		if err := json.Unmarshal(text, &got); err != nil || got.Type != "FeatureCollection" || len(got.Features) != count {
			t.Fatalf("%v: %s", err, text)
		}
		if count < len(rows) {
			continue
		}
		a, b, c := got.Features[0], got.Features[1], got.Features[2]
		if a.Type != "Feature" || fmt.Sprint(a.Geometry.Coordinates) != "[-7 50.123456789]" ||
			fmt.Sprint(a.Properties) != "map[lat:50.123456789 mean:0.33333333 measured:true n:3 node:a odd, \"name\":x, \"y\"\nz]" {
			t.Errorf("%+v", a)
		}
		if b.Geometry != nil || b.Properties["mean"] != nil || b.Properties["n"] != nil || len(b.Properties) != len(columns) ||
			c.Geometry != nil || c.Properties["node"] != "ü<&" {
			t.Errorf("%+v and %+v", b, c)
		}
	}
}

// parquetColumns opens a Parquet file, and reads all values of its groups, column after column.
func parquetColumns(t *testing.T, text []byte) (*parquet.File, [][]string) {
	t.Helper()
	f, err := parquet.Open(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	values := make([][]string, len(f.Columns))
	for g := range f.Groups() {
		for k, c := range f.Columns {
			if err := f.Read(t.Context(), g, k, func(v parquet.Value) error {
				word := "missing"
				switch {
				case v.Known && c.Type == parquet.ByteArray:
					word = strconv.Quote(string(v.Bytes))
				case v.Known && c.Type == parquet.Double:
					word = fmt.Sprint(v.Float())
				case v.Known:
					word = fmt.Sprint(v.Whole())
				}
				values[k] = append(values[k], word)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return f, values
}

// A Parquet file has the columns in their order and with their types.
func TestParquet(t *testing.T) {
	t.Parallel()
	f, values := parquetColumns(t, written(t, Parquet, rows))
	var got []string
	for k, c := range f.Columns {
		got = append(got, fmt.Sprintf("%s %d %d: %s", c.Name, c.Type, c.Meaning, strings.Join(values[k], ", ")))
	}
	want := []string{
		`node 6 1: "a", "b", "ü<&"`,
		`odd, "name" 6 1: "x, \"y\"\nz", missing, ""`,
		`mean 5 0: 0.3333333333333333, missing, 1e-07`,
		`lat 5 0: 50.123456789, missing, 1e+22`,
		`n 2 0: 3, missing, -1099511627776`,
		`measured 0 0: 1, 0, 1`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Many rows are in several groups, and the same rows are the same bytes.
func TestParquetGroups(t *testing.T) {
	t.Parallel()
	many := make([]Row, parquet.GroupRows+5)
	for k := range many {
		many[k] = Row{Cells: []Cell{TextCell(fmt.Sprint(k)), {}, NumberCell(float64(k)), {}, WholeCell(k), TruthCell(k%2 == 0)}}
	}
	text := written(t, Parquet, many)
	f, values := parquetColumns(t, text)
	if got := f.Groups(); !slices.Equal(got, []int64{parquet.GroupRows, 5}) {
		t.Fatalf("groups of %d rows", got)
	}
	for k := range many {
		if values[0][k] != strconv.Quote(fmt.Sprint(k)) || values[1][k] != "missing" || values[4][k] != fmt.Sprint(k) ||
			values[5][k] != fmt.Sprint(1-k%2) {
			t.Fatalf("row %d is %s, %s, %s, %s", k, values[0][k], values[1][k], values[4][k], values[5][k])
		}
	}
	if !bytes.Equal(text, written(t, Parquet, many)) {
		t.Error("the second file differs")
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]Format{"a.csv": CSV, "b/a.GeoJSON": GeoJSON, "a.parquet": Parquet, "a.csv.gz": CSV,
		"a.geojson.zst": GeoJSON, "a.json": "", "a": "", "csv": "", "a.gz": ""} {
		if got := FormatOf(path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	if _, err := New(io.Discard, CSV, []Column{{Name: "a"}, {Name: "a"}}); err == nil {
		t.Error("two columns have one name")
	}
	if _, err := New(io.Discard, "xml", nil); err == nil {
		t.Error("an unknown format")
	}
}

func TestCompress(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := Compress(&out, "x.csv.zst", func(w io.Writer) error { _, err := io.WriteString(w, "hello"); return err }); err != nil {
		t.Fatal(err)
	}
	r, err := zstd.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if text, err := io.ReadAll(r); err != nil || string(text) != "hello" {
		t.Errorf("%q, %v", text, err)
	}
}
