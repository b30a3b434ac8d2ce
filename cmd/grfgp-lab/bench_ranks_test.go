package main

import (
	"encoding/json"
	"strings"
	"testing"

	"grfgp/internal/cli"
	"grfgp/internal/testkit"
	"grfgp/lab/bench"
	"grfgp/partition"
)

// TestBenchRanks: several ranks measure one run, and one process alone prints the plan and says how to launch.
func TestBenchRanks(t *testing.T) {
	line := []string{"bench", "ranks", "--generate", "grid:60x60", "--hops", "2", "--columns", "2", "--json"}
	digest := ""
	for size := 2; size <= 3; size++ {
		var r bench.Ranks
		got := runRanks(t, size, line...)
		if err := json.Unmarshal([]byte(got.out), &r); err != nil || got.code != cli.ExitOK || r.Ranks != size || r.Counted != r.Model ||
			r.Counted == 0 || len(r.Plan.Shares) != size {
			t.Fatalf("%+v, %v", got, err)
		}
		if digest != "" && r.Digest != digest {
			t.Errorf("%d ranks: another solution", size)
		}
		digest = r.Digest
	}
	var plan partition.Plan
	alone := runLine(t, "", append(line, "--ranks", "3")...)
	if err := json.Unmarshal([]byte(alone.out), &plan); err != nil || alone.code != cli.ExitOK || len(plan.Shares) != 3 {
		t.Fatalf("%+v, %v", alone, err)
	}
	if r := runLine(t, "", "bench", "ranks", "--generate", "grid:60x60"); r.code != cli.ExitOK || !strings.Contains(r.err, "mpirun -n 4") ||
		!strings.Contains(r.out, "rim") {
		t.Errorf("%+v", r)
	}
	t.Setenv("OMPI_COMM_WORLD_SIZE", "1")
	var one bench.Ranks
	if r := runLine(t, "", line...); json.Unmarshal([]byte(r.out), &one) != nil || one.Ranks != 1 || one.Digest != digest {
		t.Errorf("one rank: %+v", r)
	}
	if got := runRanks(t, 3, "bench", "ranks", "--generate", "ring:2000"); got.code != cli.ExitUsage ||
		!strings.Contains(got.err, "3072 or more") {
		t.Errorf("too few nodes: %+v", got)
	}
}

// TestRanksModel: the same rates give the same table.
func TestRanksModel(t *testing.T) {
	testkit.Unraced(t)
	line := []string{"bench", "ranks", "--model", "--hops", "1", "--ram", "100"}
	a, b := runLine(t, "", line...), runLine(t, "", line...)
	if a.code != cli.ExitOK || a.out != b.out || strings.Count(a.out, "social") != 2 || !strings.Contains(a.out, "100 GB") {
		t.Errorf("%+v\n%+v", a, b)
	}
	var m modelAnswer
	if r := runLine(t, "", append(line, "--json", "--sizes", "1e7")...); json.Unmarshal([]byte(r.out), &m) != nil || len(m.Needs) != 3 ||
		m.Needs[0].Nodes != 1e7 || m.Needs[0].Machines != 1 {
		t.Errorf("%+v", r)
	}
	for _, bad := range []string{"--ram=0", "--share=2", "--measured=0", "--sizes=0", "--hops=0", "--epochs=0"} {
		if r := runLine(t, "", append(line, bad)...); r.code != cli.ExitUsage {
			t.Errorf("%s: %+v", bad, r)
		}
	}
}
