package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grfgp/internal/cli"
	"grfgp/lab/dataset"
)

// Commands that need neither data nor network.
func TestDataset(t *testing.T) {
	t.Setenv(dataset.Variable, t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	for _, c := range []struct {
		args string
		code int
		want string // in what is said or answered
	}{
		{"dataset list", cli.ExitOK, "a stand-in for twitch, not the paper's data"},
		{"dataset", cli.ExitUsage, "no command given"},
		{"dataset steal", cli.ExitUsage, `dataset has no command "steal"`},
		{"dataset fetch", cli.ExitUsage, "no data set given: name one or more of cora"},
		{"dataset fetch karate", cli.ExitUsage, `"karate"; the data sets are cora`},
		{"dataset fetch wind", cli.ExitBadData, "https://cds.climate.copernicus.eu"},
		{"dataset fetch wind traffic", cli.ExitBadData, "https://github.com/vabor112"},
		{"dataset verify", cli.ExitBadData, "no data set is on this machine"},
		{"dataset verify enron", cli.ExitBadData, "'grfgp-lab dataset fetch enron' downloads it"},
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

// A file with the name of a set but other content is rejected, and other sets are still
// checked.
func TestDatasetDamaged(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(dataset.Variable, dir)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if err := os.Mkdir(filepath.Join(dir, "snap"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := write(t, filepath.Join(dir, "snap"), "email-Enron.txt.gz", "hello")
	for _, line := range []string{"fetch enron wind", "verify enron wind"} {
		r := runLine(t, "", append([]string{"dataset"}, strings.Fields(line)...)...)
		if r.code != cli.ExitBadData || r.out != "" || strings.Contains(r.err, "--delimiter") {
			t.Errorf("%s: %+v", line, r)
		}
		for _, want := range []string{file, "remove it, and 'grfgp-lab dataset fetch enron' downloads it again", "not on this machine: wind"} {
			if !strings.Contains(r.err, want) {
				t.Errorf("%s says %s, not %q", line, r.err, want)
			}
		}
	}
	write(t, filepath.Join(dir, "snap"), "email-Enron.txt.gz", "1 2\n2 3\n")
	if r := runLine(t, "", "dataset", "verify"); r.code != cli.ExitBadData || !strings.Contains(r.err, "3 nodes and 2 edges, want 36692") ||
		!strings.Contains(r.err, file) {
		t.Errorf("%+v", r)
	}
	t.Setenv(dataset.Variable, filepath.Join(dir, "none"))
	if r := runLine(t, "", "dataset", "list"); !strings.Contains(r.err, "GRFGP_DATA is not a folder") {
		t.Errorf("%+v", r)
	}
	if r := runLine(t, "", "dataset", "verify", "wind"); !strings.Contains(r.err, "none (no such folder)") {
		t.Errorf("%+v", r)
	}
	t.Setenv(dataset.Variable, file)
	if r := runLine(t, "", "dataset", "list"); r.code != cli.ExitOK || !strings.Contains(r.err, "GRFGP_DATA is not a folder") {
		t.Errorf("%+v", r)
	}
	if r := runLine(t, "", "dataset", "verify", "wind"); r.code != cli.ExitBadData || !strings.Contains(r.err, "(not a folder)") {
		t.Errorf("%+v", r)
	}
}

// An incomplete set is listed with its missing files.
func TestDatasetInPart(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(dataset.Variable, dir)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if err := os.Mkdir(filepath.Join(dir, "cora"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "cora"), "cora.cites.gz", "hello")
	if r := runLine(t, "", "dataset", "list"); !strings.Contains(r.out, "incomplete; missing cora_labels.csv.gz") {
		t.Errorf("%+v", r)
	}
	if r := runLine(t, "", "dataset", "list", "--json"); !strings.Contains(r.out, `"lacks":["cora_labels.csv.gz"]`) {
		t.Errorf("%+v", r)
	}
}

func TestDatasetVerify(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "datasets")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no data beside the repository: %v", err)
	}
	t.Setenv(dataset.Variable, dir)
	if r := runLine(t, "", "dataset", "verify", "cora", "traffic"); r.code != cli.ExitOK ||
		!strings.Contains(r.err, "2485 nodes and 5069 edges") || strings.Count(r.out, dataset.BasisStated) != 7 {
		t.Errorf("%+v", r)
	}
	if r := runLine(t, "", "dataset", "fetch", "cora"); r.code != cli.ExitOK || !strings.Contains(r.out, "cora.cites.gz") {
		t.Errorf("what is here is fetched again: %+v", r)
	}
}
