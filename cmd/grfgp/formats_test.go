package main

import (
	"os"
	"strings"
	"testing"
)

const formatFiles = "../../formats/testdata/"

// A file of another program does all that tables of text do: its edges are the graph, its
// attributes of nodes the measurements.
func TestForeignFiles(t *testing.T) {
	t.Parallel()
	want := runLine(t, "", "predict", "--edges", formatFiles+"edges.csv", "--nodes", formatFiles+"nodes.csv", "--measurements", formatFiles+
		"nodes.csv", "--column", "value=speed", "-q")
	if want.code != 0 || strings.Count(want.out, "\n") != 13 {
		t.Fatalf("%d: %s%s", want.code, want.out, want.err)
	}
	for _, file := range []string{"networkx.graphml", "networkx.gml", "networkx.gexf", "networkx.net", "node-link.json"} {
		got := runLine(t, "", "predict", "--edges", formatFiles+file, "--measurements", formatFiles+file, "--column", "value=speed", "-q")
		if got.code != 0 || got.out != want.out {
			t.Errorf("%s: %d, %s%s\nwant\n%s", file, got.code, got.out, got.err, want.out)
		}
	}
	data, err := os.ReadFile(formatFiles + "csr.npz")
	if err != nil {
		t.Fatal(err)
	}
	got := runLine(t, string(data), "predict", "--edges", "-", "--measurements", formatFiles+"speeds.npy", "-q")
	if got.code != 0 || strings.Count(got.out, "\n") != 13 {
		t.Errorf("%d: %s%s", got.code, got.out, got.err)
	}
}

// Errors name the row of such a file, and flags.
func TestForeignErrors(t *testing.T) {
	t.Parallel()
	r := runLine(t, `graph [ node [ id 1 ] edge [ source 1 target 2 weight -1 ] ]`, "check", "--edges", "-")
	want := "standard input: edge 1: weight \"-1\" is negative; correct the edge, or leave such rows out with --on-bad-row skip\n"
	if r.code == 0 || !strings.HasSuffix(r.err, want) {
		t.Errorf("%s\nwant %s", r.err, want)
	}
}
