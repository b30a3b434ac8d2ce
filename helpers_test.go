package grfgp_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"grfgp/graph"
	"grfgp/graphio"
)

// heavy skips experiments on real data where they would take too long.
func heavy(t testing.TB) {
	t.Helper()
	if raced || testing.Short() {
		t.Skip("experiments on real data are run without -race and -short")
	}
}

// slowWhenRaced skips what is about numbers, and takes a minute or so under the race
// detector: smaller tests run the same code at once.
func slowWhenRaced(t testing.TB) {
	t.Helper()
	if raced {
		t.Skip("smaller tests do for the race detector")
	}
}

// full runs what takes minutes or writes the pictures of the documentation.
func full(t testing.TB) {
	t.Helper()
	if os.Getenv("GRFGP_FULL") == "" {
		t.Skip("set GRFGP_FULL=1 for what takes minutes")
	}
}

// dataset returns the path of a data file, or skips the test.
func dataset(t testing.TB, path string) string {
	t.Helper()
	file := filepath.Join("..", "shared", "datasets", filepath.FromSlash(path))
	if _, err := os.Stat(file); err != nil {
		t.Skipf("the data set %s is not here: %v", path, err)
	}
	return file
}

func readGraph(t testing.TB, path string, opts graphio.Options) *graph.Graph {
	t.Helper()
	net, err := graphio.ReadGraph(context.Background(), graphio.File(dataset(t, path)), opts)
	if err != nil {
		t.Fatal(err)
	}
	return net.Graph
}

// table reads the rows of a small gzipped CSV file without its header.
func table(t testing.TB, path string) [][]string {
	t.Helper()
	f, err := os.Open(dataset(t, path))
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
