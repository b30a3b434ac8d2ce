package grfgp_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"os"
	"strconv"
	"strings"
	"testing"

	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/internal/testkit"
)

func readGraph(t testing.TB, path string, opts graphio.Options) *graph.Graph {
	t.Helper()
	net, err := graphio.ReadGraph(context.Background(), graphio.File(testkit.Data(t, path)), opts)
	if err != nil {
		t.Fatal(err)
	}
	return net.Graph
}

// table reads the rows of a small gzipped CSV file without its header.
func table(t testing.TB, path string) [][]string {
	t.Helper()
	f, err := os.Open(testkit.Data(t, path))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for lines := bufio.NewScanner(z); lines.Scan(); {
		rows = append(rows, strings.Split(lines.Text(), ","))
	}
	return rows[1:]
}

func number(t testing.TB, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// at returns the number of the node with that id.
func at(t testing.TB, g *graph.Graph, id string) int {
	t.Helper()
	i, ok := g.IDs().Lookup([]byte(id))
	if !ok {
		t.Fatalf("no node %q", id)
	}
	return i
}
