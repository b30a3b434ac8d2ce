package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grfgp/internal/rng"
	"grfgp/internal/testkit"
)

// rankCase is a graph with measurements, by flags.
type rankCase struct {
	name  string
	flags []string
	slow  bool // for the full suite
}

// rankCases are graphs of several kinds, with few measurements: so that ranks share
// large and small graphs, every kind of kernel, components, and no nodes at all.
func rankCases(t *testing.T) []rankCase {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	// values returns measurements at some of n numbered nodes, none in the first third:
	// some rank then has none.
	values := func(name string, n, count int) string {
		draw := rand.New(rng.New(7, name))
		text := "node,value\n"
		for range count {
			i := n/3 + draw.IntN(n-n/3)
			text += fmt.Sprintf("%d,%.3f\n", i, 2+math.Sin(float64(i)/300)+0.1*draw.NormFloat64())
		}
		return write(name+".csv", text)
	}
	generated := func(name, graph string, n, count int, slow bool, flags ...string) rankCase {
		return rankCase{name, append([]string{"--generate", graph, "--measurements", values(name, n, count)}, flags...), slow}
	}
	// Components of 30 nodes in paths, more than there are ranks, and lone nodes.
	edges, nodes := "from,to\n", "node,height\n"
	for i := range 3000 {
		if i%30 > 0 {
			edges += fmt.Sprintf("%d,%d\n", i, i-1)
		}
		nodes += fmt.Sprintf("%d,%d\n", i, i%7)
	}
	for i := 3000; i < 4500; i++ {
		nodes += fmt.Sprintf("%d,%d\n", i, i%5)
	}
	parts := []string{"--edges", write("edges.csv", edges), "--nodes", write("nodes.csv", nodes)}
	times := "node,value,day\n"
	for i := range 60 {
		times += fmt.Sprintf("%d,%.2f,%d\n", i*5, 0.31*float64(i%9), i%3)
	}
	cases := []rankCase{
		generated("ring", "ring:3000", 3000, 30, true, "--family", "diffusion"),
		generated("few", "grid:20x25", 500, 25, false, "--family", "diffusion"), // dense, and all on one rank
		generated("hubs", "ba:4000,3", 4000, 40, true, "--method", "grf", "--family", "diffusion", "--roles", "none"),
		generated("scales", "grid:70x70", 4900, 60, true, "--method", "grf", "--scales", "many", "--family", "diffusion"),
		generated("large", "grid:190x180", 34200, 40, true, "--method", "grf", "--hops", "3", "--scales", "one", "--family", "diffusion",
			"--roles", "none"),
		generated("large, many scales", "grid:190x180", 34200, 40, true, "--method", "grf", "--hops", "3", "--scales", "many", "--solver",
			"iterative", "--family", "diffusion", "--roles", "none"),
		generated("large, sampled", "ring:34000", 34000, 40, true, "--method", "grf", "--hops", "3", "--scales", "one", "--solver", "iterative",
			"--family", "diffusion", "--roles", "none"),
		generated("large hubs", "ba:34000,2", 34000, 40, true, "--method", "grf", "--hops", "2", "--scales", "one", "--trend", "degree",
			"--family", "diffusion", "--roles", "none"),
		{"components and lone nodes", append(parts, "--measurements", values("parts", 4500, 50), "--covariates", "height", "--family",
			"diffusion"), true},
		{"time", []string{"--generate", "ring:300", "--measurements", write("times.csv", times), "--time", "day", "--at", "all", "--family",
			"diffusion"}, true},
	}
	if edges := "../../../shared/datasets/traffic_sanjose/road_edges.csv.gz"; exists(edges) {
		cases = append(cases, rankCase{"San Jose", []string{
			"--edges", edges, "--measurements", "../../../shared/datasets/traffic_sanjose/sensor_speeds.csv.gz", "--family", "diffusion"}, true})
	}
	if edges := "../../../shared/datasets/snap/musae_facebook_edges.csv.gz"; exists(edges) {
		cases = append(cases, rankCase{"Facebook", []string{
			"--edges", edges, "--measurements", values("facebook", 22470, 40), "--method", "grf", "--hops", "2", "--scales", "one", "--family",
			"diffusion", "--roles", "none"}, true})
	}
	if dir := "../../../shared/datasets/lip_cancer/"; exists(dir) {
		cases = append(cases, rankCase{"counts", []string{
			"--edges", dir + "edges.csv", "--measurements", dir + "districts.csv", "--values", "count", "--exposure", "expected", "--above", "1",
			"--roles", "none"}, false})
	}
	return cases
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Predictions that ranks share are those of one process, byte by byte; so are the
// messages, except that they count the ranks.
func TestRanksSharePredictions(t *testing.T) {
	t.Parallel()
	for _, c := range rankCases(t) {
		t.Run(c.name, func(t *testing.T) {
			if c.slow {
				testkit.Full(t) // several models of larger graphs
			}
			if c.name == "counts" {
				testkit.Unraced(t)
			}
			model := filepath.Join(t.TempDir(), "model")
			line := append([]string{"predict", "--json", "--save-model", model}, c.flags...)
			want := runLine(t, "", line...)
			if want.code != exitOK {
				t.Fatalf("%+v", want)
			}
			saved, err := os.ReadFile(model)
			if err != nil {
				t.Fatal(err)
			}
			if !c.slow { // a fit is the same work on all ranks
				if got := runRanks(t, 2, line...); got.code != exitOK || got.out != want.out {
					t.Errorf("2 ranks: %s", differ(got, want))
				}
				if again, err := os.ReadFile(model); err != nil || string(again) != string(saved) {
					t.Errorf("2 ranks save another model: %v", err)
				}
			}
			// The rest with the saved model, as a table.
			var again []string
			for k := 0; k < len(c.flags); k += 2 {
				switch c.flags[k] {
				case "--generate", "--edges", "--nodes", "--at", "--above":
					again = append(again, c.flags[k:k+2]...)
				}
			}
			line = append([]string{"predict", "--model", model}, again...)
			if want = runLine(t, "", line...); want.code != exitOK {
				t.Fatalf("%+v", want)
			}
			sizes := []int{1, 2, 4}
			switch {
			case c.slow:
				sizes = []int{3}
			case !testkit.IsFull():
				sizes = []int{2}
			}
			for _, size := range sizes {
				got := runRanks(t, size, line...)
				if got.code != exitOK || got.out != want.out {
					t.Errorf("%d ranks: %s", size, differ(got, want))
				}
				if shared := fmt.Sprintf("shared by %d ranks", size); strings.Contains(got.err, shared) != (size > 1) {
					t.Errorf("%d ranks: %s", size, got.err)
				}
			}
		})
	}
}

// differ shows where two answers begin to differ.
func differ(got, want result) string {
	at := 0
	for at < min(len(got.out), len(want.out)) && got.out[at] == want.out[at] {
		at++
	}
	near := func(s string) string { return s[max(0, at-60):min(len(s), at+60)] }
	return fmt.Sprintf("code %d; from byte %d of %d and %d on: …%s… alone: …%s…\n%s", got.code, at, len(got.out), len(want.out), near(got.out),
		near(want.out), got.err)
}
