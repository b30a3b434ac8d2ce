package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grfgp/dataset"
)

// Lines that need no data and no network.
func TestDataset(t *testing.T) {
	t.Setenv(dataset.Variable, t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	for _, c := range []struct {
		args string
		code int
		want string // in what is said or answered
	}{
		{"dataset list", exitOK, "a stand-in for twitch, not the paper's data"},
		{"dataset", exitUsage, "say what to do"},
		{"dataset steal", exitUsage, "dataset does not steal"},
		{"dataset fetch", exitUsage, "name what to fetch: cora"},
		{"dataset fetch karate", exitUsage, `"karate"; there are cora`},
		{"dataset fetch wind", exitBadData, "https://cds.climate.copernicus.eu"},
		{"dataset verify", exitBadData, "no data is on this machine"},
		{"dataset verify enron", exitBadData, "'grfgp dataset fetch enron' downloads it"},
	} {
		if r := runLine(t, "", strings.Fields(c.args)...); r.code != c.code || !strings.Contains(r.out+r.err, c.want) {
			t.Errorf("%s: %+v, want code %d and %q", c.args, r, c.code, c.want)
		}
	}
	r := runLine(t, "", "dataset", "list", "--json")
	var answer struct {
		Version int
		Sets    []datasetAnswer
	}
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil || answer.Version != 1 || len(answer.Sets) != len(dataset.All()) {
		t.Errorf("%v in %s", err, r.out)
	}
	for _, set := range answer.Sets {
		if set.Home == "" || set.Licence == "" || set.Nodes == 0 {
			t.Errorf("%+v", set)
		}
	}
}

func TestDatasetVerify(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "datasets")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no data beside the repository: %v", err)
	}
	t.Setenv(dataset.Variable, dir)
	if r := runLine(t, "", "dataset", "verify", "cora", "traffic"); r.code != exitOK || !strings.Contains(r.err, "2485 nodes and 5069 edges") || strings.Count(r.out, "as it should be") != 7 {
		t.Errorf("%+v", r)
	}
	if r := runLine(t, "", "dataset", "fetch", "cora"); r.code != exitOK || !strings.Contains(r.out, "cora.cites.gz") {
		t.Errorf("what is here is fetched again: %+v", r)
	}
}
