package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// A map of roads and sensors at coordinates are all that a prediction needs.
func TestPredictGeographic(t *testing.T) {
	t.Parallel()
	data := func(name string) string { return filepath.Join("..", "..", "formats", "testdata", name) }
	quick := []string{"--family", "diffusion", "--method", "dense", "--scales", "one", "--roles", "none", "--verbose"}
	for _, c := range []struct {
		name  string
		flags []string
		code  int
		rows  int
		said  []string
	}{
		{"roads and sensors", []string{"--edges", data("town.geojson"), "--measurements", data("sensors.geojson"), "--within", "250"}, exitOK, 13,
			[]string{"distance: \"length\" (it holds real distances)",
				"rows belong to the nodes nearest to their coordinates: 12, at a mean distance of 30 m, at most 141 m"}},
		{"too far", []string{"--edges", data("town.osm.pbf"), "--measurements", data("sensors.geojson")}, exitBadData, 0,
			[]string{"2 of 12 rows lie farther than 100 m from every node; check the coordinates, allow a larger distance with --within METRES, " +
				"or leave such rows out with --on-unknown skip"}},
		{"values of areas", []string{"--edges", data("districts.geojson"), "--measurements", data("districts.zip"), "--values", "gaussian"},
			exitOK, 6, []string{"weights: all edges are equal"}},
		{"another id", []string{"--edges", data("districts.geojson"), "--measurements", data("districts.geojson"), "--column", "id=name",
			"--values", "gaussian"}, exitOK, 6, nil},
		{"a tolerance", []string{"--edges", data("town.shp"), "--measurements", data("sensors.geojson"), "--within", "250", "--snap", "2"},
			exitOK, 13, []string{"within 2 m"}},
		{"no tolerance", []string{"--edges", data("town.shp"), "--measurements", data("sensors.geojson"), "--within", "250", "--snap", "0"},
			exitOK, 13, []string{"within 0 m"}},
		{"no distance", []string{"--edges", data("town.shp"), "--measurements", data("sensors.geojson"), "--within", "-1"}, exitUsage, 0,
			[]string{"give distances in metres"}},
	} {
		r := runLine(t, "", append(append([]string{"predict", "--verbose"}, c.flags...), quick...)...)
		if rows := max(0, strings.Count(r.out, "\n")-1); r.code != c.code || rows != c.rows {
			t.Errorf("%s: exit %d, %d rows: %s", c.name, r.code, rows, r.err)
		}
		for _, text := range c.said {
			if !strings.Contains(r.err, text) {
				t.Errorf("%s: no %q in %s", c.name, text, r.err)
			}
		}
	}
}
