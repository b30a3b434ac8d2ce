package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"grfgp/internal/testkit"
)

// Suggestions that ranks share are those of one process, byte by byte, for all goals,
// with costs, groups, pending nodes and few allowed ones.
func TestRanksShareSuggestions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	values, sites, pending, costs := "node,value\n", "node\n", "node\n", "node,cost\n"
	for i := range 30 {
		values += fmt.Sprintf("%d,%.2f\n", 1000+i*53, 0.17*float64(i%8))
		sites += fmt.Sprintf("%d\n", i*90)
	}
	for i := range 3000 {
		costs += fmt.Sprintf("%d,%d\n", i, 1+i%5)
	}
	for i := range 4 {
		pending += fmt.Sprintf("%d\n", 17+i*600)
	}
	ring := []string{"--generate", "ring:3000", "--measurements", write("values.csv", values), "--family", "diffusion", "--method", "grf",
		"--scales", "one"}
	tests := []struct {
		name  string
		flags []string
		slow  bool
	}{
		{"maximize", []string{"--goal", "maximize", "-n", "3"}, false},
		{"sites", []string{"--goal", "maximize", "-n", "4", "--allowed", write("sites.csv", sites), "--pending", write("pending.csv", pending)},
			false},
		{"costs", []string{"--goal", "minimize", "-n", "4", "--cost", write("costs.csv", costs), "--budget", "20", "--pending",
			filepath.Join(dir, "pending.csv")}, false},
		{"threshold", []string{"--goal", "threshold=0.6", "-n", "3"}, false},
		{"learn", []string{"--goal", "learn", "-n", "2"}, false},
		{"no model", []string{"--goal", "maximize", "--measurements", write("none.csv", "node,value\n")}, false},
		// So large that each rank has features of its own nodes only.
		{"large", []string{"--generate", "ring:34000", "--goal", "maximize", "-n", "2"}, true},
	}
	for _, test := range testkit.FewIfRaced(2, tests) {
		t.Run(test.name, func(t *testing.T) {
			if test.slow {
				testkit.Full(t) // several fits
			}
			line := append(append([]string{"suggest", "--json"}, ring...), test.flags...)
			want := runLine(t, "", line...)
			if want.code != exitOK {
				t.Fatalf("%+v", want)
			}
			for _, size := range []int{2, 4} {
				if (!testkit.IsFull() || test.slow) && size == 2 {
					continue
				}
				if got := runRanks(t, size, line...); got.code != exitOK || got.out != want.out {
					t.Errorf("%d ranks: %s", size, differ(got, want))
				}
			}
		})
	}
}
