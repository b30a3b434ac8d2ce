package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"grfgp/internal/cli"
	"grfgp/internal/testkit"
)

// Features that ranks sample are those of one process: the file, the summary and the row
// of a node, also of a shard, and where there are more ranks than blocks of rows.
func TestRanksShareFeatures(t *testing.T) {
	dir := t.TempDir()
	seconds := regexp.MustCompile(`"seconds":[^,}]*|time +[0-9.]+ s`)
	for _, flags := range [][]string{
		{"--generate", "grid:50x70", "--walks", "20", "--hops", "4"},
		{"--generate", "ba:2500,3", "--walks", "10", "--hops", "3", "--rows", "100:2300"},
		{"--generate", "ring:300"},
	} {
		file := filepath.Join(dir, "features")
		summary := append([]string{"features", "-o", file}, flags...)
		row := append([]string{"features", "--json", "--show", "130"}, flags...)
		whole := append([]string{"features", "--json"}, flags...)
		want := runLine(t, "", summary...)
		if want.code != cli.ExitOK {
			t.Fatalf("%+v", want)
		}
		wanted, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{3, 2, 4}[:testkit.Size(1, 3)] {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			got := runRanks(t, size, summary...)
			if got.code != cli.ExitOK || seconds.ReplaceAllString(got.out, "") != seconds.ReplaceAllString(want.out, "") {
				t.Errorf("%v, %d ranks: %+v, alone %+v", flags, size, got, want)
			}
			if written, err := os.ReadFile(file); err != nil || string(written) != string(wanted) {
				t.Errorf("%v, %d ranks write another file: %v", flags, size, err)
			}
			for _, line := range [][]string{row, whole} {
				want, got := runLine(t, "", line...), runRanks(t, size, line...)
				if want.code != cli.ExitOK || got.code != cli.ExitOK ||
					seconds.ReplaceAllString(got.out, "") != seconds.ReplaceAllString(want.out, "") {
					t.Errorf("%v, %d ranks: %+v, alone %+v", line, size, got, want)
				}
			}
		}
	}
}
