package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grfgp/graphio"
	"grfgp/internal/cli"
	"grfgp/internal/mmap"
	"grfgp/walk"
)

// chain is a small file with what files have: a comment, a blank line, a repeat
// in the other direction, a self loop.
const chain = "# a chain\nsource,target\na,b\nb,c\nc,d\n\nb,a\nd,d\n"

func TestFeaturesSummary(t *testing.T) {
	r := runLine(t, chain, "features", "--edges", "-", "--hops", "2")
	if r.code != cli.ExitOK {
		t.Fatalf("%+v", r)
	}
	for _, want := range []string{"4 nodes, 3 edges", "8 lines = 1 header + 3 edges + 1 repeat + 1 self loop + 1 blank + 1 comment",
		"exact rows  100.0 %"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("no %q in\n%s", want, r.out)
		}
	}
	for _, said := range []string{
		"reading edges", "pilot run", "sampling features",
		"repeated edges: 1; the first of each is used", "edges from a node to itself: 1; left out",
	} {
		if !strings.Contains(r.err, said) {
			t.Errorf("no %q in\n%s", said, r.err)
		}
	}
	if loops := runLine(t, chain, "features", "--edges", "-", "--hops", "2", "--keep-loops"); !strings.Contains(loops.err,
		"edges from a node to itself: 1; kept") {
		t.Errorf("kept loops are not counted: %+v", loops)
	}
	if quiet := runLine(t, chain, "features", "--edges", "-", "--hops", "2", "--quiet"); quiet.err != "" {
		t.Errorf("--quiet said %q", quiet.err)
	}
}

func TestFeaturesOfOneNode(t *testing.T) {
	r := runLine(t, chain, "features", "--edges", "-", "--hops", "2", "--show", "a")
	want := strings.Join([]string{
		"reached from a (exact to hop 2)  hops  values",
		"a                                0 2   1 0.5",
		"b                                1     0.70710677",
		"c                                2     0.35355338",
		"",
	}, "\n")
	if r.code != cli.ExitOK || r.out != want {
		t.Errorf("exit %d, got\n%s\nwant\n%s", r.code, r.out, want)
	}
}

// The same command gives the same bytes at any number of threads.
func TestFeaturesAreTheSameAtAnyNumberOfThreads(t *testing.T) {
	dir := t.TempDir()
	var first []byte
	for _, threads := range []string{"1", "2", "5"} {
		path := filepath.Join(dir, threads)
		r := runLine(t, "", "features", "--generate", "ba:3000,3", "--threads", threads, "-o", path)
		if r.code != cli.ExitOK {
			t.Fatalf("%+v", r)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = data
		}
		if string(data) != string(first) {
			t.Errorf("%s threads give another file", threads)
		}
	}
}

func TestFeaturesFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.grf")
	r := runLine(t, "", "features", "--generate", "grid:20x20", "--json", "-o", path)
	if r.code != cli.ExitOK {
		t.Fatalf("%+v", r)
	}
	var answer featuresAnswer
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil {
		t.Fatal(err)
	}
	file, err := mmap.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	f, matrix, err := walk.Decode(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if f.Size() != answer.Size || answer.Version != 1 || answer.Nodes != 400 || !strings.HasPrefix(matrix, "normalized-adjacency ") {
		t.Errorf("file has %+v of %s, the answer says %+v", f.Size(), matrix, answer)
	}
}

// Shards put together are the whole, and have its settings, also where those are
// left to the program and where rows differ much.
func TestFeaturesShards(t *testing.T) {
	for _, flags := range [][]string{{"--walks", "10"}, {"--error", "0.02"}} {
		run := func(args ...string) featuresAnswer {
			args = append([]string{"features", "--generate", "ba:1500,3", "--json"}, args...)
			r := runLine(t, "", append(args, flags...)...)
			var answer featuresAnswer
			if err := json.Unmarshal([]byte(r.out), &answer); r.code != cli.ExitOK || err != nil {
				t.Fatalf("%v %+v", err, r)
			}
			return answer
		}
		whole := run()
		entries := int64(0)
		for _, rows := range []string{"0:40", "40:1500"} {
			part := run("--rows", rows)
			entries += part.Size.Entries
			if part.Options.Walks != whole.Options.Walks || part.Options.Budget != whole.Options.Budget {
				t.Errorf("%v: rows %s are made with %+v, all with %+v", flags, rows, part.Options, whole.Options)
			}
		}
		if entries != whole.Size.Entries {
			t.Errorf("%v: %d entries in all, %d in the shards", flags, whole.Size.Entries, entries)
		}
	}
}

// What was kept in a file is what was sampled, and belongs to one graph.
func TestFeaturesFrom(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f.grf")
	show := []string{"features", "--edges", "-", "--show", "a"}
	sampled := runLine(t, chain, append(show, "-o", path)...)
	if kept := runLine(t, chain, append(show, "--from", path)...); kept.code != cli.ExitOK || kept.out != sampled.out {
		t.Errorf("%+v, want\n%s", kept, sampled.out)
	}
	r := runLine(t, chain, "features", "--edges", "-", "--from", path, "--json")
	var answer featuresAnswer
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil || answer.Size.Rows != 4 || answer.Matrix != "normalized-adjacency" ||
		answer.File != path {
		t.Errorf("%v, %+v", err, r)
	}
	if r := runLine(t, chain+"d,e\n", "features", "--edges", "-", "--from", path); r.code != cli.ExitBadData ||
		!strings.Contains(r.err, "another graph") {
		t.Errorf("another graph: %+v", r)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data[:len(data)-8], 0o600); err != nil {
		t.Fatal(err)
	}
	if r := runLine(t, chain, "features", "--edges", "-", "--from", path); r.code != cli.ExitBadData || !strings.Contains(r.err,
		"incomplete") {
		t.Errorf("cut short: %+v", r)
	}
	if r := runLine(t, chain, "features", "--edges", "-", "--from", filepath.Join(dir, "none")); r.code != cli.ExitUsage {
		t.Errorf("no file: %+v", r)
	}
}

// How files were understood is said, not only by check.
func TestFeaturesTellWhatWasRead(t *testing.T) {
	nodes := filepath.Join(t.TempDir(), "n.csv")
	if err := os.WriteFile(nodes, []byte("id,label\na,A\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const edges = "source,target,weight\na,b,2\nb,a,3\nb,c,-1\n"
	r := runLine(t, edges, "features", "--edges", "-", "--nodes", nodes, "--on-bad-row", "skip", "--json", "--verbose")
	for _, want := range []string{"source: column 1", "weights: ", "bad rows skipped: 1", "note: ", `label: column 2 "label"`} {
		if !strings.Contains(r.err, want) {
			t.Errorf("no %q in\n%s", want, r.err)
		}
	}
	var answer featuresAnswer
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil || answer.NodesInput == nil || answer.NodesInput.File != nodes {
		t.Errorf("%v, %+v", err, r)
	}
	if !strings.Contains(r.out, `"walks":`) || !strings.Contains(r.out, `"hops":`) {
		t.Errorf("names other than those of the flags in %s", r.out)
	}
}

func TestFeaturesTooLarge(t *testing.T) {
	r := runLine(t, "", "features", "--generate", "ba:2000,3", "--walks", "100", "--memory", "10K")
	if r.code != cli.ExitTooLarge || !strings.Contains(r.err, "the limit is 10 KiB") || !strings.Contains(r.err, "--rows") {
		t.Errorf("%+v", r)
	}
	// With the choice left to it, it takes what fits and says so.
	r = runLine(t, "", "features", "--generate", "ba:2000,3", "--memory", "1M", "--error", "0.001")
	if r.code != cli.ExitOK || !strings.Contains(r.out, "do not reach the target error of 0.001") {
		t.Errorf("%+v", r)
	}
}

func TestFeaturesOfNearestNeighbours(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.csv")
	nodes := "id,lat,lon\nparis,48.9,2.4\nlondon,51.5,-0.1\nrome,41.9,12.5\nmadrid,40.4,-3.7\n"
	if err := os.WriteFile(path, []byte(nodes), 0o600); err != nil {
		t.Fatal(err)
	}
	r := runLine(t, "", "features", "--nodes", path, "--knn", "1", "--show", "paris", "--hops", "1")
	if r.code != cli.ExitOK || !strings.Contains(r.out, "london") {
		t.Errorf("%+v", r)
	}
	gap := strings.Replace(nodes, "41.9", "", 1)
	if err := os.WriteFile(path, []byte(gap), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := runLine(t, "", "features", "--nodes", path, "--knn", "1"); r.code != cli.ExitBadData || !strings.Contains(r.err, `"rome"`) {
		t.Errorf("%+v", r)
	}
}

func TestGenerate(t *testing.T) {
	for spec, want := range map[string]string{
		"ring:10": "10 nodes, 10 edges", "ring:10,2": "10 nodes, 20 edges", "grid:3x4": "12 nodes, 17 edges",
		"ba:50,2": "50 nodes", "rmat:5,60": "32 nodes", "blocks:40,4,5,1": "40 nodes",
	} {
		if r := runLine(t, "", "features", "--generate", spec); r.code != cli.ExitOK || !strings.Contains(r.out, want) {
			t.Errorf("%s: %+v, want %s", spec, r, want)
		}
	}
}

// A packed graph has the features of its text.
func TestFeaturesOfPackedGraph(t *testing.T) {
	dir := t.TempDir()
	edges, packed := write(t, dir, "edges.csv", chain), filepath.Join(dir, "packed")
	net, err := graphio.ReadGraph(t.Context(), graphio.File(edges), graphio.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := graphio.WritePacked(t.Context(), &file, net); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "packed", file.String())
	want := runLine(t, "", "features", "--edges", edges, "--show", "b")
	if got := runLine(t, "", "features", "--edges", packed, "--show", "b"); got.code != cli.ExitOK || got.out != want.out {
		t.Errorf("%+v, want %+v", got, want)
	}
}
